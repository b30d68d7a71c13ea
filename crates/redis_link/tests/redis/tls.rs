//! TLS: whose certificate is trusted.

use std::path::PathBuf;
use std::sync::Arc;

use message::Kind;
use plan::{RedisServer, RedisSource, Topology};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use redis_link::{SharedLink, Value};
use tempfile::TempDir;

use crate::server::{Server, free_port, until};
use crate::{link, on_a_core, plan, set};

/// A certificate authority, and a server with a certificate of its.
struct Tls {
    folder: TempDir,
    port: u16,
    _server: Server,
}

impl Tls {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])
            .unwrap()
            .signed_by(&key, &Issuer::new(authority, authority_key))
            .unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let authority = write("authority.pem", authority_certificate.pem());
        let certificate = write("cert.pem", certificate.pem());
        let key = write("key.pem", key.serialize_pem());
        let port = free_port();
        let server = Server::start(&[
            "--tls-port",
            &port.to_string(),
            "--tls-cert-file",
            &certificate,
            "--tls-key-file",
            &key,
            "--tls-ca-cert-file",
            &authority,
            "--tls-auth-clients",
            "no",
        ]);
        until("the TLS port listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Tls { folder, port, _server: server }
    }

    fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    fn plan(&self) -> RedisSource {
        let host = "127.0.0.1".to_owned();
        plan(Topology::Standalone(RedisServer::Tcp { host, port: self.port, tls: true }))
    }
}

#[test]
fn a_server_of_a_known_authority_is_trusted_and_of_an_unknown_one_is_not() {
    let (server, other) = (Tls::start(), Tls::start());
    on_a_core(async {
        let known = link(RedisSource { authorities: Some(server.authority()), ..server.plan() });
        assert_eq!(known.ask(&set("a", "1")).await.unwrap(), Value::Okay);

        let unknown = link(RedisSource { authorities: Some(other.authority()), ..server.plan() });
        let error = unknown.ask(&set("a", "1")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Connect);
        assert!(error.to_string().contains("invalid peer certificate"), "{error}");

        let unverified = link(RedisSource { verify: false, ..server.plan() });
        assert_eq!(unverified.ask(&set("a", "1")).await.unwrap(), Value::Okay);
    });
}

#[test]
fn a_file_without_authorities_is_named_before_anything_is_connected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    let host = "127.0.0.1".to_owned();
    let plan = plan(Topology::Standalone(RedisServer::Tcp { host, port: 1, tls: true }));
    let plan = Arc::new(RedisSource { authorities: Some(file.clone()), ..plan });
    let error = SharedLink::new(Arc::clone(&plan)).err().unwrap();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.to_string().contains("authority.pem"), "{error}");
    std::fs::write(&file, "nothing").unwrap();
    assert!(SharedLink::new(plan).err().unwrap().to_string().contains("holds no certificate"));
}
