//! TLS on both sides: ALPN chooses, certificates are verified, and the scheme is part of the key.

use testkit::{Certificate, Fleetfoot, Http2Client, Http2Origin, Origin, RawClient, ok};

use crate::setup::config_with;

fn listening(origin: &Origin, certificate: &Certificate, cache: &str) -> Fleetfoot {
    let listen = format!(
        "listen: {{ http: 127.0.0.1:0, https: 127.0.0.1:0, admin: 127.0.0.1:0, tls: {{ certificate: {}, key: {} }} }}",
        certificate.file().display(),
        certificate.key_file().display()
    );
    Fleetfoot::start(&config_with(origin.address(), cache, &listen))
}

#[test]
fn alpn_chooses_the_protocol() {
    let (origin, certificate) = (Origin::start(), Certificate::new());
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = listening(&origin, &certificate, "-");
    let mut old = RawClient::connect_tls(fleetfoot.https(), &certificate);
    assert_eq!(old.ask("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n").text(), "x");
    assert_eq!(old.protocol(), Some(&b"http/1.1"[..]));
    let mut new = Http2Client::connect_tls(fleetfoot.https(), &certificate);
    assert_eq!(new.get("/2").text(), "x");
    assert_eq!(origin.last("GET /1").field("X-Forwarded-Proto"), Some("https"));
}

#[test]
fn the_scheme_is_part_of_the_key() {
    let (origin, certificate) = (Origin::start(), Certificate::new());
    origin.on("*").answer(|request| {
        ok("Cache-Control: max-age=600", request.field("X-Forwarded-Proto").unwrap_or_default())
    });
    let fleetfoot = listening(&origin, &certificate, "ttl: origin");
    assert_eq!(fleetfoot.get("/").text(), "http");
    let mut client = RawClient::connect_tls(fleetfoot.https(), &certificate);
    let request = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";
    assert_eq!(client.ask(request).text(), "https");
    let again = client.ask(request);
    assert_eq!((again.text().as_str(), again.is_hit()), ("https", true));
    assert_eq!(fleetfoot.get("/").text(), "http");
}

fn source(more: &str, port: u16) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\n\
         sources: {{ api: {{ http: \"https://localhost:{port}\"{more} }} }}\nroutes: [ {{ match: /**, proxy: api }} ]\n"
    )
}

#[test]
fn an_origin_with_a_strangers_certificate_is_refused() {
    let certificate = Certificate::new();
    let origin = Http2Origin::start_tls(&certificate);
    let fleetfoot = Fleetfoot::start(&source("", origin.address().port()));
    assert_eq!(fleetfoot.get("/").status, 502);
    assert!(origin.requests().is_empty());
}

#[test]
fn an_origin_with_a_known_certificate_is_believed() {
    let certificate = Certificate::new();
    let origin = Http2Origin::start_tls(&certificate);
    let more = format!(", tls: {{ authorities: {} }}", certificate.file().display());
    let fleetfoot = Fleetfoot::start(&source(&more, origin.address().port()));
    assert_eq!(fleetfoot.get("/").status, 200);
    let other = Certificate::new();
    let more = format!(", tls: {{ authorities: {} }}", other.file().display());
    let fleetfoot = Fleetfoot::start(&source(&more, origin.address().port()));
    assert_eq!(fleetfoot.get("/").status, 502);
}

#[test]
fn verification_can_be_switched_off() {
    let origin = Http2Origin::start_tls(&Certificate::new());
    let fleetfoot = Fleetfoot::start(&source(", tls: { verify: false }", origin.address().port()));
    assert_eq!(fleetfoot.get("/").status, 200);
}
