//! Certificate: one for localhost and 127.0.0.1, for listeners, origins and other servers in tests; signed by itself or by
//! an authority of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Its files.
const FILE: &str = "cert.pem";
const KEY: &str = "key.pem";
const AUTHORITY: &str = "authority.pem";

/// A certificate with its key, in memory and as PEM files.
pub struct Certificate {
    directory: tempfile::TempDir,
    der: CertificateDer<'static>,
    key: Vec<u8>,
    authority: CertificateDer<'static>,
}

impl Certificate {
    /// Makes one that signs itself, so that it is its own authority.
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let certificate = params().self_signed(&key).expect("valid names");
        Self::keep(&certificate, &key, &certificate)
    }

    /// Makes one that an authority has signed, as most are: whoever trusts that trusts it.
    pub fn by_authority() -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = KeyPair::generate().and_then(|key| CertifiedIssuer::self_signed(authority, key));
        let authority = authority.expect("an authority needs no name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params().signed_by(&key, &authority).expect("valid names");
        Self::keep(&certificate, &key, authority.as_ref())
    }

    fn keep(certificate: &rcgen::Certificate, key: &KeyPair, authority: &rcgen::Certificate) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files = [(FILE, certificate.pem()), (KEY, key.serialize_pem()), (AUTHORITY, authority.pem())];
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).expect("a file in it");
        }
        let (der, authority) = (certificate.der().clone(), authority.der().clone());
        Certificate { directory, der, key: key.serialize_der(), authority }
    }

    /// The PEM file with the certificate.
    pub fn file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// The PEM file with the private key.
    pub fn key_file(&self) -> PathBuf {
        self.path().join(KEY)
    }

    /// The PEM file with the certificate of who signed it.
    pub fn authority_file(&self) -> PathBuf {
        self.path().join(AUTHORITY)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// For clients that trust it, offering these protocols.
    pub(crate) fn client_config(&self, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).expect("a certificate just made");
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

fn params() -> CertificateParams {
    CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("valid names")
}

impl Default for Certificate {
    fn default() -> Self {
        Self::new()
    }
}
