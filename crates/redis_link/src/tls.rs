//! TLS towards Redis. In: what the plan says about verifying. Out: the authorities in the form the `redis` crate wants
//! them, read once and shared by all cores.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use message::{Error, Kind, Result};
use plan::{RedisServer, RedisSource};
use redis::TlsCertificates;
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The authorities to trust, if any of these servers is spoken to over TLS.
pub(crate) fn certificates(plan: &RedisSource, servers: &[RedisServer]) -> Result<Option<TlsCertificates>> {
    if !servers.iter().any(|server| matches!(server, RedisServer::Tcp { tls: true, .. })) {
        return Ok(None);
    }
    // The library takes the process's provider. An error says that there is one already.
    drop(CryptoProvider::install_default(aws_lc_rs::default_provider()));
    let authorities = match &plan.authorities {
        // An empty list keeps the library from reading the system's at each connection.
        _ if !plan.verify => Vec::new(),
        Some(file) => authorities_in(file, &plan.name)?,
        None => system_authorities(&plan.name)?,
    };
    Ok(Some(TlsCertificates { client_tls: None, root_cert: Some(authorities) }))
}

/// The text of the file, found to hold nothing but authorities.
fn authorities_in(file: &Path, source: &str) -> Result<Vec<u8>> {
    let fault = |what: &str| {
        let file = file.display();
        Error::new(Kind::Internal, format!("source {source}: the authorities file {file} {what}"))
    };
    let text = std::fs::read(file).map_err(|error| fault("cannot be read").caused_by(error))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|error| fault("is not PEM").caused_by(error))?;
        roots
            .add(certificate)
            .map_err(|error| fault("holds a certificate that is no authority").caused_by(error))?;
    }
    if roots.is_empty() { Err(fault("holds no certificate")) } else { Ok(text) }
}

/// Those of the system that parse, since the library refuses all of them for the sake of one.
fn system_authorities(source: &str) -> Result<Vec<u8>> {
    let mut text = String::new();
    let mut roots = RootCertStore::empty();
    for certificate in rustls_native_certs::load_native_certs().certs {
        let encoded = STANDARD.encode(&certificate);
        if roots.add(certificate).is_ok() {
            text.push_str("-----BEGIN CERTIFICATE-----\n");
            text.push_str(&encoded);
            text.push_str("\n-----END CERTIFICATE-----\n");
        }
    }
    if !roots.is_empty() {
        return Ok(text.into_bytes());
    }
    Err(Error::new(
        Kind::Internal,
        format!(
            "source {source}: the system has no certificate authorities; install them, or name a file in `authorities`"
        ),
    ))
}
