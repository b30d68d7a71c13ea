//! TLS towards origins. In: what the plan says about verifying. Out: connectors, made once per source and shared by
//! all cores, so that sessions are resumed across them.

use std::sync::Arc;

use authorities::Unverified;
use message::{Error, Kind, Result};
use plan::Protocol;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// How TLS is spoken to the targets of one source.
pub(super) struct Tls {
    usual: TlsConnector,
    only_http1: TlsConnector,
}

impl Tls {
    /// Loads the authorities that the plan names, or else the system's.
    pub(super) fn new(plan: &plan::HttpSource) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::new(Kind::Internal, "TLS cannot be set up").caused_by(error))?;
        let mut config = if plan.verify {
            builder.with_root_certificates(authorities(plan)?).with_no_client_auth()
        } else {
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unverified::new(algorithms)))
                .with_no_client_auth()
        };
        config.alpn_protocols = match plan.protocol {
            Protocol::Auto => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Protocol::Http1 => vec![b"http/1.1".to_vec()],
            Protocol::Http2 => vec![b"h2".to_vec()],
        };
        let mut only_http1 = config.clone();
        only_http1.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { usual: Arc::new(config).into(), only_http1: Arc::new(only_http1).into() })
    }

    /// The connector; `only_http1` for connections that are to leave HTTP, which is a thing of HTTP/1.1.
    pub(super) fn connector(&self, only_http1: bool) -> &TlsConnector {
        if only_http1 { &self.only_http1 } else { &self.usual }
    }
}

fn authorities(plan: &plan::HttpSource) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities::load(plan.authorities.as_deref(), &plan.name)?);
    Ok(roots)
}
