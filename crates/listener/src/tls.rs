//! TLS: certificate and key → an acceptor whose certificate can be exchanged while connections go on.
//!
//! Loaded by the server at start and on reload, shared by all cores, used by `opening`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use plan::Tls;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ProducesTickets;
use rustls::version::{TLS12, TLS13};
use tokio_rustls::TlsAcceptor;

/// The protocol name of HTTP/2 in ALPN (RFC 9113 §3.2).
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Accepts TLS 1.2 and 1.3, offering HTTP/2 and HTTP/1.1. Clones share the certificate, also after a reload.
#[derive(Clone)]
pub struct Acceptor {
    current: Arc<ArcSwap<ServerConfig>>,
    /// Kept over reloads, so that clients may go on resuming their sessions.
    tickets: Arc<dyn ProducesTickets>,
}

/// Why a certificate or key could not be used: which file, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsError {
    /// The file to look into.
    pub file: PathBuf,
    /// What is wrong, as the rest of a sentence that begins with the file.
    pub problem: String,
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.problem)
    }
}

impl std::error::Error for TlsError {}

impl Acceptor {
    /// Reads both files.
    pub fn load(files: &Tls) -> Result<Self, TlsError> {
        let tickets = aws_lc_rs::Ticketer::new().map_err(|error| {
            TlsError::new(&files.key, format!("no key for session tickets could be made: {error}"))
        })?;
        let config = configure(files, &tickets)?;
        Ok(Acceptor { current: Arc::new(ArcSwap::from_pointee(config)), tickets })
    }

    /// Reads both files again, for handshakes from now on. On failure everything stays as it was.
    pub fn reload(&self, files: &Tls) -> Result<(), TlsError> {
        self.current.store(Arc::new(configure(files, &self.tickets)?));
        Ok(())
    }

    pub(crate) fn current(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acceptor")
    }
}

impl TlsError {
    fn new(file: &Path, problem: impl Into<String>) -> Self {
        TlsError { file: file.to_owned(), problem: problem.into() }
    }
}

fn configure(files: &Tls, tickets: &Arc<dyn ProducesTickets>) -> Result<ServerConfig, TlsError> {
    let chain = read_chain(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| {
        TlsError::new(&files.key, describe(error, "private key (PKCS#8, PKCS#1 or SEC1)"))
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .expect("the provider has cipher suites for both versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| explain(files, error))?;
    config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
    config.ticketer = Arc::clone(tickets);
    Ok(config)
}

fn read_chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| TlsError::new(file, describe(error, "certificate")))?;
    if certificates.is_empty() {
        return Err(TlsError::new(file, describe(pem::Error::NoItemsFound, "certificate")));
    }
    Ok(certificates)
}

/// What is wrong with a file in which `wanted` was looked for.
fn describe(error: pem::Error, wanted: &str) -> String {
    match error {
        pem::Error::Io(error) => format!("cannot be read: {error}"),
        pem::Error::NoItemsFound => format!("holds no {wanted} in PEM form (-----BEGIN ...-----)"),
        pem::Error::MissingSectionEnd { .. } => "a PEM section has no -----END ...----- line".to_owned(),
        pem::Error::Base64Decode(_) => "the text of a PEM section is not base64".to_owned(),
        other => format!("is not PEM: {other:?}"),
    }
}

/// Which of the two files made rustls refuse them.
fn explain(files: &Tls, error: rustls::Error) -> TlsError {
    match error {
        rustls::Error::InconsistentKeys(_) => TlsError::new(
            &files.key,
            format!("is not the key of the first certificate in {}", files.certificate.display()),
        ),
        rustls::Error::InvalidCertificate(error) => {
            TlsError::new(&files.certificate, format!("its first certificate cannot be used: {error}"))
        }
        other => TlsError::new(&files.key, format!("cannot be used: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Certificate;

    #[test]
    fn errors_name_the_file_and_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let good = Certificate::new("a.example").write(folder.path(), "good");
        let other = Certificate::new("b.example").write(folder.path(), "other");
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        let nothing = write("nothing.pem", "hello");
        let broken = write("broken.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
        let endless = write("endless.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
        let no_certificate =
            write("lie.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let missing = folder.path().join("missing.pem");
        let cases = [
            (&missing, &good.key, "missing.pem: cannot be read"),
            (&good.certificate, &missing, "missing.pem: cannot be read"),
            (&nothing, &good.key, "nothing.pem: holds no certificate"),
            (&good.certificate, &nothing, "nothing.pem: holds no private key"),
            (&good.key, &good.key, "good.key: holds no certificate"),
            (&broken, &good.key, "broken.pem: the text of a PEM section is not base64"),
            (&endless, &good.key, "endless.pem: a PEM section has no -----END"),
            (&no_certificate, &good.key, "lie.pem: its first certificate cannot be used"),
            (&good.certificate, &other.key, "other.key: is not the key of the first certificate in"),
        ];
        for (certificate, key, expected) in cases {
            let error =
                Acceptor::load(&Tls { certificate: certificate.clone(), key: key.clone() }).unwrap_err();
            assert!(error.to_string().contains(expected), "{error} should say {expected}");
        }
        Acceptor::load(&good).unwrap();
    }

    #[test]
    fn a_failed_reload_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let good = Certificate::new("a.example").write(folder.path(), "good");
        let acceptor = Acceptor::load(&good).unwrap();
        let before = acceptor.current.load_full();
        acceptor.reload(&Tls { key: folder.path().join("missing"), ..good.clone() }).unwrap_err();
        assert!(Arc::ptr_eq(&before, &acceptor.current.load_full()));
        acceptor.reload(&good).unwrap();
        assert!(!Arc::ptr_eq(&before, &acceptor.current.load_full()));
    }
}
