//! `examples/website.yaml` does what its comments say, but for where it listens and what it asks.

use std::fs;
use std::path::Path;

use testkit::{Answer, Fleetfoot, Origin, ok};

/// The example before these two.
fn website(api: &Origin, site: &Origin) -> Fleetfoot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/website.yaml");
    let mut example = fs::read_to_string(path).expect("it is in the repository");
    for (written, here) in [
        ("0.0.0.0:8080", "127.0.0.1:0"),
        ("127.0.0.1:9090", "127.0.0.1:0"),
        ("http://127.0.0.1:3000", &api.url()),
        ("http://127.0.0.1:4000", &site.url()),
        ("share: 5%", "share: 100%"),
    ] {
        assert!(example.contains(written), "{written}");
        example = example.replace(written, here);
    }
    Fleetfoot::start(&example)
}

#[test]
fn the_example_of_a_website_does_what_it_says() {
    let (api, site) = (Origin::start(), Origin::start());
    api.on("GET /games").reply(ok("Set-Cookie: a=b\nServer: x", "games"));
    api.on("PUT /games").reply(ok("", "put"));
    site.on("GET /").reply(ok("X-Powered-By: y", "home"));
    site.on("GET /shop/").reply(ok("", "shop"));
    let fleetfoot = website(&api, &site);
    let ask = |request: &str| -> Answer { fleetfoot.connect().ask(format!("{request}\r\n\r\n")) };

    let page = "Host: www.example.com\r\nOrigin: https://app.example.com";
    for cache in ["miss", "hit"] {
        let games = ask(&format!("GET /api/v1/games HTTP/1.1\r\n{page}"));
        assert_eq!((games.text().as_str(), games.field("X-Cache")), ("games", Some(cache)), "{games:?}");
        assert_eq!(games.field("Access-Control-Allow-Origin"), Some("https://app.example.com"));
        assert!(!games.has("Set-Cookie") && !games.has("Server"), "{games:?}");
    }
    let asked = api.last("GET /games");
    assert_eq!((asked.field("X-Api-Version"), api.count("GET /games")), (Some("1"), 1));
    assert_eq!(ask(&format!("PUT /api/v1/games HTTP/1.1\r\n{page}\r\nContent-Length: 0")).text(), "put");
    let preflight =
        ask(&format!("OPTIONS /api/v1/games HTTP/1.1\r\n{page}\r\nAccess-Control-Request-Method: PUT"));
    assert_eq!((preflight.status, preflight.field("Access-Control-Max-Age")), (204, Some("600")));
    let faulty = ask(&format!("GET /api/v1/other HTTP/1.1\r\n{page}\r\nX-Fault: yes"));
    assert!([503, 504].contains(&faulty.status), "it failed, or was late on top: {faulty:?}");
    assert_eq!(api.count("GET /other"), 0);

    let home = ask("GET / HTTP/1.1\r\nHost: www.example.com");
    assert_eq!((home.text().as_str(), home.field("X-Content-Type-Options")), ("home", Some("nosniff")));
    assert!(!home.has("X-Powered-By"));
    let moved = ask("GET /a?b HTTP/1.1\r\nHost: example.com");
    assert_eq!((moved.status, moved.field("Location")), (307, Some("https://www.example.com/a?b")));
    let robots = ask("GET /robots.txt HTTP/1.1\r\nHost: www.example.com");
    assert_eq!(
        (robots.text().as_str(), robots.field("X-Content-Type-Options")),
        ("User-agent: *", Some("nosniff"))
    );
    let blog = ask("GET /blog/2019/a HTTP/1.1\r\nHost: www.example.com");
    assert_eq!((blog.status, blog.field("Location")), (308, Some("/archive/2019")));
    let closed = ask("GET /shop/ HTTP/1.1\r\nHost: www.example.com");
    assert_eq!((closed.status, closed.field("Retry-After")), (503, Some("600")));
    let tester = ask("GET /shop/ HTTP/1.1\r\nHost: www.example.com\r\nX-Tester: yes");
    assert_eq!(tester.text(), "shop");
}
