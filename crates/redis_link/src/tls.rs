//! TLS towards Redis. In: what the plan says about verifying. Out: the authorities in the form the `redis` crate wants
//! them, read once and shared by all cores.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use message::Result;
use plan::{RedisServer, RedisSource};
use redis::TlsCertificates;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;

/// The authorities to trust, if any of these servers is spoken to over TLS.
pub(crate) fn certificates(plan: &RedisSource, servers: &[RedisServer]) -> Result<Option<TlsCertificates>> {
    if !servers.iter().any(|server| matches!(server, RedisServer::Tcp { tls: true, .. })) {
        return Ok(None);
    }
    // The library takes the process's provider. An error says that there is one already.
    drop(CryptoProvider::install_default(aws_lc_rs::default_provider()));
    let authorities = if plan.verify {
        pem(&authorities::load(plan.authorities.as_deref(), &plan.name)?)
    } else {
        // An empty list keeps the library from reading the system's at each connection.
        Vec::new()
    };
    Ok(Some(TlsCertificates { client_tls: None, root_cert: Some(authorities) }))
}

/// As PEM, without those of the system that do not parse: the library refuses all of them for the sake of one.
fn pem(authorities: &[CertificateDer<'_>]) -> Vec<u8> {
    let mut text = String::new();
    for certificate in authorities {
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        STANDARD.encode_string(certificate, &mut text);
        text.push_str("\n-----END CERTIFICATE-----\n");
    }
    text.into_bytes()
}
