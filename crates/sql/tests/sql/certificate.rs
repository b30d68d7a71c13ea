//! TLS towards servers: verified against the authorities that the plan names, or not where it says so.

use message::Kind;
use plan::{Database, DatabaseAddress, DatabaseServer, SqlSource};
use testkit::{Certificate, MariaDb, Postgres};

use super::{ask, line, on_a_core, reads};
use crate::database;

fn over_tls(port: u16, host: &str) -> DatabaseServer {
    let address = DatabaseAddress::Tcp { host: host.to_owned(), port, tls: true };
    DatabaseServer { address, ..database::server(port) }
}

async fn is_verified(database: impl Fn(&str) -> Database, certificate: &Certificate, safe: &str) {
    let trusting =
        |host: &str| SqlSource { authorities: Some(certificate.file()), ..database::plan(database(host)) };
    for host in ["127.0.0.1", "localhost"] {
        assert_eq!(ask(&line(trusting(host)), &reads(safe), &[]).await.unwrap(), r#"[{"a":1}]"#, "{host}");
    }
    let other = Certificate::new();
    let stranger = SqlSource { authorities: Some(other.file()), ..trusting("127.0.0.1") };
    assert_eq!(ask(&line(stranger), &reads(safe), &[]).await.unwrap_err().kind(), Kind::Connect);
    let careless = SqlSource { verify: false, authorities: None, ..trusting("127.0.0.1") };
    assert_eq!(ask(&line(careless), &reads(safe), &[]).await.unwrap(), r#"[{"a":1}]"#);
}

#[test]
fn a_certificate_of_mariadb_is_verified() {
    let certificate = Certificate::new();
    let server = MariaDb::start_tls(&certificate);
    let safe = "SELECT COUNT(*) AS a FROM information_schema.session_status
        WHERE variable_name = 'Ssl_version' AND variable_value LIKE 'TLSv1%'";
    on_a_core(is_verified(|host| Database::MySql(over_tls(server.port(), host)), &certificate, safe));
}

#[test]
fn a_certificate_of_postgresql_is_verified() {
    let certificate = Certificate::new();
    let server = Postgres::start_tls(&certificate);
    let safe = "SELECT COUNT(*) AS a FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    on_a_core(is_verified(|host| Database::Postgres(over_tls(server.port(), host)), &certificate, safe));
}

#[test]
fn sockets_of_this_machine_do_as_well() {
    let mariadb = database::mariadb();
    let address = DatabaseAddress::Unix(mariadb.socket_path());
    let server = DatabaseServer { address, ..database::server(0) };
    on_a_core(async {
        let line = line(database::plan(Database::MySql(server)));
        assert_eq!(ask(&line, &reads("SELECT 1 AS a"), &[]).await.unwrap(), r#"[{"a":1}]"#);
    });
}
