//! Certificate: a self-signed one for localhost and 127.0.0.1, for listeners and origins in tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// A certificate with its key, in memory and as PEM files.
pub struct Certificate {
    directory: tempfile::TempDir,
    der: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certificate {
    /// Makes a new one.
    pub fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("valid names");
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("cert.pem"), cert.pem()).expect("a file in it");
        std::fs::write(directory.path().join("key.pem"), signing_key.serialize_pem()).expect("a file in it");
        Certificate { directory, der: cert.der().clone(), key: signing_key.serialize_der() }
    }

    /// The PEM file with the certificate.
    pub fn file(&self) -> PathBuf {
        self.path().join("cert.pem")
    }

    /// The PEM file with the private key.
    pub fn key_file(&self) -> PathBuf {
        self.path().join("key.pem")
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// For clients that trust it, offering these protocols.
    pub(crate) fn client_config(&self, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate just made");
        let mut config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("the provider knows them")
                .with_root_certificates(roots)
                .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        config
    }

    /// For origins that show it, choosing among these protocols.
    pub(crate) fn server_config(&self, protocols: &[&str]) -> ServerConfig {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.clone()));
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("the provider knows them")
                .with_no_client_auth()
                .with_single_cert(vec![self.der.clone()], key)
                .expect("the key belongs to the certificate");
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        config
    }
}

impl Default for Certificate {
    fn default() -> Self {
        Self::new()
    }
}
