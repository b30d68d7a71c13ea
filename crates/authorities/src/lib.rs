//! Authorities: whom TLS towards a source trusts. In: a PEM file, or none for the system's. Out: certificates, each found to
//! be an authority. Called by `source`, `sql` and `redis_link` when a plan starts.
//! `unverified` is for sources whose certificates nobody checks.

mod unverified;

use std::path::Path;

use message::{Error, Kind, Result};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

pub use unverified::Unverified;

/// The authorities of the file, or else the system's; never none. `source` is what messages call whoever needs them.
///
/// # Errors
/// `Internal`, which says which file or store is at fault.
pub fn load(file: Option<&Path>, source: &str) -> Result<Vec<CertificateDer<'static>>> {
    match file {
        Some(file) => in_file(file, source),
        None => of_the_system(source),
    }
}

fn in_file(file: &Path, source: &str) -> Result<Vec<CertificateDer<'static>>> {
    let fault = |what: &str| {
        let file = file.display();
        Error::new(Kind::Internal, format!("source {source}: the authorities file {file} {what}"))
    };
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| fault("cannot be read").caused_by(error))?;
    let mut found = Vec::new();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| fault("is not PEM").caused_by(error))?;
        RootCertStore::empty()
            .add(certificate.clone())
            .map_err(|error| fault("holds a certificate that is no authority").caused_by(error))?;
        found.push(certificate);
    }
    if found.is_empty() { Err(fault("holds no certificate")) } else { Ok(found) }
}

/// Single certificates that do not parse are passed over: every system's store has some.
fn of_the_system(source: &str) -> Result<Vec<CertificateDer<'static>>> {
    let loaded = rustls_native_certs::load_native_certs();
    let is_authority =
        |certificate: &CertificateDer<'static>| RootCertStore::empty().add(certificate.clone()).is_ok();
    let found: Vec<_> = loaded.certs.into_iter().filter(is_authority).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let fault = Error::new(
        Kind::Internal,
        format!(
            "source {source}: the system has no certificate authorities; install them, or name a file in `authorities`"
        ),
    );
    Err(match loaded.errors.into_iter().next() {
        Some(error) => fault.caused_by(error),
        None => fault,
    })
}
