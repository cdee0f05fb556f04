//! One GET, over the same kind of connection that a link is dialled on: the same TLS, proxy and
//! loopback rules hold for both, and their failures keep their types.

use std::convert::Infallible;
use std::error::Error as _;
use std::future::Future;

use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use url::{Position, Url};

use super::error::{DiscoveryError, Phase};
use crate::budget::Budget;
use crate::link::dial::{DialOptions, Stream, common_headers, secure, shown, tcp, tls};

/// Longest body that is read.
const MAX_BODY: usize = 1 << 20;
/// Longest head that is read.
const MAX_HEAD: usize = 64 << 10;

/// An answer of any status.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    /// What kind of body it says to have; short and printable.
    pub(super) fn content_type(&self) -> String {
        let given = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let bare = given.unwrap_or_default().split(';').next().unwrap_or_default();
        if bare.is_empty() { "no content type".into() } else { bare.chars().take(60).collect() }
    }

    /// Where it redirects to, as it may be shown.
    pub(super) fn location(&self, from: &Url) -> Option<String> {
        let given = self.headers.get(LOCATION)?.to_str().ok()?;
        from.join(given).ok().map(|to| shown(&to))
    }
}

/// Gets `url`, saying `host` instead of its own name if one is given.
pub(super) async fn get(
    url: &Url,
    options: &DialOptions,
    host: Option<&str>,
    slice: &Budget,
) -> Result<Answer, DiscoveryError> {
    let mut headers = common_headers(url, options, host).map_err(DiscoveryError::bad_address)?;
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let mut request = Request::get(&url[Position::BeforePath..Position::AfterQuery])
        .body(Empty::<Bytes>::new())
        .map_err(|_| DiscoveryError::bad_address("it has characters that cannot be sent"))?;
    *request.headers_mut() = headers;

    let opened = step(url, slice, Phase::Connect, tcp(url, options)).await?;
    let mut stream = opened.map_err(|error| DiscoveryError::open(url, error))?;
    if secure(url) {
        let opened = step(url, slice, Phase::Tls, tls(stream, url, options)).await?;
        stream = opened.map_err(|error| DiscoveryError::open(url, error))?;
    }
    exchange(url, stream, request, slice).await
}

async fn exchange(
    url: &Url,
    stream: Stream,
    request: Request<Empty<Bytes>>,
    slice: &Budget,
) -> Result<Answer, DiscoveryError> {
    let broken = |error: hyper::Error| broken(url, &error);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let talk = async {
        let answer = step(url, slice, Phase::Answer, sender.send_request(request)).await?.map_err(broken)?;
        let (parts, body) = answer.into_parts();
        let status = parts.status;
        let body = step(url, slice, Phase::Body, Limited::new(body, MAX_BODY).collect()).await?;
        let body = body.map_err(|error| {
            let too_long = error.is::<LengthLimitError>();
            let why = if too_long { "its answer is over 1 MiB" } else { "its answer broke off" };
            DiscoveryError::not_devtools(url, Some(status.as_u16()), why)
        })?;
        Ok(Answer { status, headers: parts.headers, body: body.to_bytes() })
    };
    // The connection moves the bytes; what goes wrong on it reaches `talk` as well.
    let carry = async {
        let _ = connection.await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        answer = talk => answer,
        never = carry => match never {},
    }
}

async fn step<F: Future>(
    url: &Url,
    slice: &Budget,
    phase: Phase,
    future: F,
) -> Result<F::Output, DiscoveryError> {
    slice.run(future).await.map_err(|spent| DiscoveryError::spent(shown(url), phase, spent))
}

fn broken(url: &Url, error: &hyper::Error) -> DiscoveryError {
    if error.is_parse() || spoke_first(error) {
        return DiscoveryError::not_devtools(url, None, "it does not answer in HTTP");
    }
    let why = if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        "it took the connection and closed it".to_owned()
    } else {
        format!("the connection broke: {error}")
    };
    DiscoveryError::NoAnswer { address: shown(url), why }
}

/// Bytes that came before the request was sent (a banner of SSH or SMTP) cancel the request, and
/// the cause is an error with no cause of its own.
fn spoke_first(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<hyper::Error>());
    error.is_canceled()
        && cause.is_some_and(|cause| {
            let ended = cause.is_incomplete_message() || cause.is_closed() || cause.is_canceled();
            !ended && cause.source().is_none()
        })
}
