//! DANGEROUS: a certificate verifier that accepts every certificate of everybody.
//!
//! Used only for a source whose config says `verify: false`. Whoever sits between us and the origin can then read and
//! change everything: the encryption remains, but nobody knows with whom. Meant for an origin with a self-signed
//! certificate on one's own machine; naming its certificate in `authorities` is the better way even there.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

/// See the module: accepts every certificate. Signatures are still checked, since a peer that fails those does not
/// even own the certificate that it shows.
#[derive(Debug)]
pub struct Unverified(WebPkiSupportedAlgorithms);

impl Unverified {
    /// Checks signatures by these.
    pub fn new(algorithms: WebPkiSupportedAlgorithms) -> Self {
        Unverified(algorithms)
    }
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}
