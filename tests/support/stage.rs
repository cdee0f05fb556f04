//! A server for pages that a test writes itself, and for signals out of a page whose main thread
//! is about to be held: the request leaves before the loop that follows it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tabvisor_cdp::budget::Budget;
use tabvisor_cdp::task::{self, Task};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::secs;

/// A server of a test's own pages; it ends when dropped.
pub struct Stage {
    address: SocketAddr,
    shared: Arc<Shared>,
    _server: Task<()>,
}

struct Shared {
    pages: Mutex<Vec<Page>>,
    signals: watch::Sender<usize>,
}

#[derive(Clone)]
struct Page {
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
}

impl Stage {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { pages: Mutex::default(), signals: watch::Sender::new(0) });
        let router = Router::new().fallback(serve).with_state(Arc::clone(&shared));
        let server = task::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, shared, _server: server }
    }

    /// The address of a page with this body.
    pub fn page(&self, body: &str) -> String {
        self.page_with(&[], body)
    }

    /// The same with headers of its own.
    pub fn page_with(&self, headers: &[(&'static str, &'static str)], body: &str) -> String {
        let mut pages = self.shared.pages.lock().unwrap();
        let own = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers = std::iter::once((CONTENT_TYPE, HeaderValue::from_static("text/html"))).chain(own);
        pages.push(Page { headers: headers.collect(), body: format!("<!doctype html>{body}") });
        format!("http://{}/{}", self.address, pages.len() - 1)
    }

    /// An address on this server as another site.
    pub fn other_site(&self, url: &str) -> String {
        url.replace(&self.address.to_string(), &format!("localhost:{}", self.address.port()))
    }

    /// Waits until pages have asked for `/signal` so many times.
    pub async fn signalled(&self, times: usize) {
        let mut signals = self.shared.signals.subscribe();
        let waiting = signals.wait_for(|seen| *seen >= times);
        Budget::new(secs(20)).run(waiting).await.expect("a signal of the page").unwrap();
    }

    /// How many signals there were.
    pub fn signals(&self) -> usize {
        *self.shared.signals.borrow()
    }
}

async fn serve(State(shared): State<Arc<Shared>>, uri: Uri) -> Response {
    match uri.path() {
        "/signal" => {
            shared.signals.send_modify(|seen| *seen += 1);
            StatusCode::NO_CONTENT.into_response()
        }
        "/signal-and-never" => {
            shared.signals.send_modify(|seen| *seen += 1);
            std::future::pending().await
        }
        path => {
            let number = path[1..].parse::<usize>().ok();
            let page = number.and_then(|it| shared.pages.lock().unwrap().get(it).cloned());
            let Some(Page { headers, body }) = page else { return StatusCode::NOT_FOUND.into_response() };
            let mut response = body.into_response();
            for (name, value) in headers {
                response.headers_mut().insert(name, value);
            }
            response
        }
    }
}
