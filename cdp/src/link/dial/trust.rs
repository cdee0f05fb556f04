//! TLS by rustls with ring. The provider is named here and nothing global is installed, so a host
//! program keeps its own choice.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;
use url::Host;

use super::open::{OpenError, Stream};

/// Whose certificates are believed: the Mozilla roots, and those added. Clones share one store
/// and one session cache.
#[derive(Clone)]
pub struct TlsTrust(Arc<ClientConfig>);

/// A certificate that cannot serve as a root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("extra root certificate {index} cannot be used: {why}")]
pub struct BadRoot {
    /// Its place among those given, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub why: String,
}

impl TlsTrust {
    /// Believes `extra` certificates besides the Mozilla roots.
    ///
    /// # Errors
    /// [`BadRoot`] for the first one that cannot be read.
    pub fn with_roots(extra: &[CertificateDer<'_>]) -> Result<Self, BadRoot> {
        let mut roots = mozilla();
        for (index, root) in extra.iter().enumerate() {
            roots
                .add(root.clone().into_owned())
                .map_err(|error| BadRoot { index, why: error.to_string() })?;
        }
        Ok(Self::believing(roots))
    }

    fn believing(roots: RootCertStore) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has cipher suites for the default versions of TLS")
            .with_root_certificates(roots)
            .with_no_client_auth();
        // WebSockets and discovery speak HTTP/1.1; a server that prefers HTTP/2 must hear so.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self(Arc::new(config))
    }

    /// TLS over `stream`, to a server that must prove to be `host`.
    pub(crate) async fn over(&self, stream: Stream, host: &Host) -> Result<Stream, OpenError> {
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
                .map_err(|_| OpenError::Tls("the host name cannot be in a certificate".into()))?,
            Host::Ipv4(ip) => ServerName::from(std::net::IpAddr::from(*ip)),
            Host::Ipv6(ip) => ServerName::from(std::net::IpAddr::from(*ip)),
        };
        match TlsConnector::from(Arc::clone(&self.0)).connect(name, stream).await {
            Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
            Err(error) => Err(OpenError::Tls(words(&error))),
        }
    }
}

fn words(error: &std::io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidMessage(_)) => "the server does not speak tls on this port".into(),
        Some(other) => other.to_string(),
        None => error.to_string(),
    }
}

fn mozilla() -> RootCertStore {
    webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()
}

impl Default for TlsTrust {
    fn default() -> Self {
        static MOZILLA: OnceLock<TlsTrust> = OnceLock::new();
        MOZILLA.get_or_init(|| Self::believing(mozilla())).clone()
    }
}

impl fmt::Debug for TlsTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsTrust")
    }
}
