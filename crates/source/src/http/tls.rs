//! TLS towards origins. In: what the plan says about verifying. Out: connectors, made once per source and shared by
//! all cores, so that sessions are resumed across them.

use std::path::Path;
use std::sync::Arc;

use message::{Error, Kind, Result};
use plan::Protocol;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::unverified::Unverified;

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
                .with_custom_certificate_verifier(Arc::new(Unverified(algorithms)))
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
    match &plan.authorities {
        Some(file) => authorities_in(file, &plan.name),
        None => system_authorities(&plan.name),
    }
}

fn authorities_in(file: &Path, source: &str) -> Result<RootCertStore> {
    let fault = |what: &str| {
        let file = file.display();
        Error::new(Kind::Internal, format!("source {source}: the authorities file {file} {what}"))
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| fault("cannot be read").caused_by(error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| fault("is not PEM").caused_by(error))?;
        roots
            .add(certificate)
            .map_err(|error| fault("holds a certificate that is no authority").caused_by(error))?;
    }
    if roots.is_empty() { Err(fault("holds no certificate")) } else { Ok(roots) }
}

/// Single certificates that do not parse are passed over: every system's store has some.
fn system_authorities(source: &str) -> Result<RootCertStore> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _ignored) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let fault = Error::new(
        Kind::Internal,
        format!(
            "source {source}: the system has no certificate authorities; install them, or name a file in `authorities`"
        ),
    );
    Err(match found.errors.into_iter().next() {
        Some(error) => fault.caused_by(error),
        None => fault,
    })
}
