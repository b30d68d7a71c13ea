//! gRPC as it is on the wire: HTTP/2 from end to end, both directions open at once, a status in the trailers.

use http::Request;
use testkit::{Certificate, Fleetfoot, Http2Client, Http2Origin};

fn config(source: &str) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nsources: {{ api: {source} }}\n\
         routes: [ {{ match: /**, proxy: api }} ]\n"
    )
}

fn converse(fleetfoot: &Fleetfoot) {
    let mut client = Http2Client::connect(fleetfoot.address());
    let request = Request::post("http://example.test/echo.Echo/Talk")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .expect("a proper request");
    let mut exchange = client.open(request);
    exchange.send(b"first");
    let head = exchange.read_head();
    assert_eq!((head.status, head.field("content-type")), (200, Some("application/grpc")));
    assert_eq!(exchange.read().as_deref(), Some(&b"first"[..]));
    for message in [&b"second"[..], &[0; 5], b"third"] {
        exchange.send(message);
        assert_eq!(exchange.read().as_deref(), Some(message));
    }
    exchange.finish(&[("sent", "4")]);
    assert_eq!(exchange.read(), None);
    let trailers = exchange.read_trailers();
    assert!(trailers.contains(&("grpc-status".to_owned(), "0".to_owned())), "{trailers:?}");
    assert!(trailers.contains(&("sent".to_owned(), "4".to_owned())), "{trailers:?}");
}

#[test]
fn a_bidirectional_call_passes_in_cleartext() {
    let origin = Http2Origin::start();
    let fleetfoot =
        Fleetfoot::start(&config(&format!("{{ http: \"http://{}\", protocol: http2 }}", origin.address())));
    converse(&fleetfoot);
    let request = &origin.requests()[0];
    assert_eq!(request.field("te"), Some("trailers"), "{request:?}");
    assert!(request.start.ends_with("/echo.Echo/Talk"), "{request:?}");
}

#[test]
fn a_bidirectional_call_passes_over_tls_to_the_origin() {
    let certificate = Certificate::new();
    let origin = Http2Origin::start_tls(&certificate);
    let source = format!(
        "{{ http: \"https://localhost:{}\", tls: {{ authorities: {} }} }}",
        origin.address().port(),
        certificate.file().display()
    );
    converse(&Fleetfoot::start(&config(&source)));
}

#[test]
fn many_calls_share_a_connection() {
    let origin = Http2Origin::start();
    let fleetfoot =
        Fleetfoot::start(&config(&format!("{{ http: \"http://{}\", protocol: http2 }}", origin.address())));
    let mut client = Http2Client::connect(fleetfoot.address());
    for n in 0..20 {
        assert_eq!(client.get(&format!("/{n}")).status, 200);
    }
    assert_eq!(origin.requests().len(), 20);
}
