//! Who may call: the right name, not across sites, and the secret. All of it before the body is
//! read.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use subtle::ConstantTimeEq;

use crate::config::Secret;

use super::error::ApiError;
use super::hosts::Hosts;
use super::service::Service;

const PASSWORD: HeaderName = HeaderName::from_static("x-openclaw-password");

/// What tells nothing of this machine, its pages or its callers.
const IS_THE_SAME_FOR_ALL: [&str; 3] = ["/docs", "/openapi.json", "/ui"];

/// Who may call a service.
#[derive(Clone, Debug)]
pub struct Access {
    secret: Option<Secret>,
    hosts: Hosts,
}

impl Access {
    /// Whoever knows `secret`: as bearer token, as password of HTTP Basic, or in the header
    /// `x-openclaw-password`. The service is addressed by a loopback address or localhost.
    pub fn with_secret(secret: Secret) -> Self {
        Self { secret: Some(secret), hosts: Hosts::default() }
    }

    /// Whoever reaches it. For loopback addresses, and for a host program that has authenticated
    /// its callers already.
    pub fn for_everybody() -> Self {
        Self { secret: None, hosts: Hosts::default() }
    }

    /// The address at which it listens, as a further name of it.
    #[must_use]
    pub fn listening_on(mut self, address: SocketAddr) -> Self {
        self.hosts.bound(address);
        self
    }

    /// Further names under which it may be addressed.
    #[must_use]
    pub fn named(mut self, names: &[String]) -> Self {
        self.hosts.named(names);
        self
    }

    fn check(&self, request: &Request) -> Result<(), ApiError> {
        self.hosts.check(request.method(), request.uri(), request.headers())?;
        match &self.secret {
            // A browser's address line has no token to give.
            Some(_) if is_the_same_for_all(request.uri().path()) => Ok(()),
            Some(secret) if !knows(secret, request.headers()) => Err(ApiError::unauthorized()),
            _ => Ok(()),
        }
    }
}

fn is_the_same_for_all(path: &str) -> bool {
    IS_THE_SAME_FOR_ALL.contains(&path) || path.starts_with("/ui/")
}

fn knows(secret: &Secret, headers: &HeaderMap) -> bool {
    let passwords = headers.get_all(PASSWORD).iter().map(|value| value.as_bytes().to_vec());
    let authorizations =
        headers.get_all(AUTHORIZATION).iter().filter_map(|value| credential(value.as_bytes()));
    passwords.chain(authorizations).any(|given| secret.expose().as_bytes().ct_eq(&given).into())
}

/// The token of `Bearer`, the password of `Basic`.
fn credential(value: &[u8]) -> Option<Vec<u8>> {
    let space = value.iter().position(|byte| *byte == b' ')?;
    let (scheme, rest) = (&value[..space], value[space..].trim_ascii());
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(rest.to_vec());
    }
    if scheme.eq_ignore_ascii_case(b"basic") {
        let pair = BASE64_STANDARD.decode(rest).ok()?;
        let colon = pair.iter().position(|byte| *byte == b':')?;
        return Some(pair[colon + 1..].to_vec());
    }
    None
}

/// Lets through who may call.
pub(super) async fn guard(State(service): State<Service>, request: Request, next: Next) -> Response {
    match service.access().check(&request) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            tracing::debug!(status = refused.status().as_u16(), "request refused");
            refused.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(headers: &[(HeaderName, &str)]) -> bool {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        knows(&Secret::from("s3cret"), &headers)
    }

    #[test]
    fn the_secret_is_taken_in_three_ways() {
        let basic = |pair: &str| format!("Basic {}", BASE64_STANDARD.encode(pair));
        assert!(known(&[(AUTHORIZATION, "Bearer s3cret")]));
        assert!(known(&[(AUTHORIZATION, "bearer  s3cret")]));
        assert!(known(&[(AUTHORIZATION, &basic("anybody:s3cret"))]));
        assert!(known(&[(PASSWORD, "s3cret")]));
        assert!(known(&[(AUTHORIZATION, "Bearer other"), (PASSWORD, "s3cret")]));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3crett",
            "s3cret",
            "Basic s3cret",
            "Digest s3cret",
        ] {
            assert!(!known(&[(AUTHORIZATION, wrong)]), "{wrong}");
        }
        assert!(!known(&[(AUTHORIZATION, &basic("s3cret:"))]) && !known(&[(PASSWORD, "")]) && !known(&[]));
    }
}
