//! TLS: whose certificate is trusted.

use std::sync::Arc;

use message::Kind;
use plan::{RedisSource, Topology};
use redis_link::{SharedLink, Value};
use testkit::{Certificate, RedisServer};

use crate::{link, on_a_core, plan, set};

fn over_tls(port: u16) -> RedisSource {
    let host = "127.0.0.1".to_owned();
    plan(Topology::Standalone(plan::RedisServer::Tcp { host, port, tls: true }))
}

#[test]
fn a_server_of_a_known_authority_is_trusted_and_of_an_unknown_one_is_not() {
    let [certificate, other] = [Certificate::by_authority(), Certificate::by_authority()];
    let server = RedisServer::options().tls(&certificate).start();
    let plan = || over_tls(server.port());
    on_a_core(async {
        let known = link(RedisSource { authorities: Some(certificate.authority_file()), ..plan() });
        assert_eq!(known.ask(&set("a", "1")).await.unwrap(), Value::Okay);

        let unknown = link(RedisSource { authorities: Some(other.authority_file()), ..plan() });
        let error = unknown.ask(&set("a", "1")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Connect);
        assert!(error.to_string().contains("invalid peer certificate"), "{error}");

        let unverified = link(RedisSource { verify: false, ..plan() });
        assert_eq!(unverified.ask(&set("a", "1")).await.unwrap(), Value::Okay);
    });
}

#[test]
fn a_file_without_authorities_is_named_before_anything_is_connected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    let plan = Arc::new(RedisSource { authorities: Some(file.clone()), ..over_tls(1) });
    let error = SharedLink::new(Arc::clone(&plan)).err().unwrap();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.to_string().contains("authority.pem"), "{error}");
    std::fs::write(&file, "nothing").unwrap();
    assert!(SharedLink::new(plan).err().unwrap().to_string().contains("holds no certificate"));
}
