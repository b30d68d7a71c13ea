//! A second spelling of a path, a name or a method gets round nothing: THREATS H. A route is one thing for those who ask,
//! for the cache and for whoever purges; what only some origins fold is refused where it would matter, and goes through
//! untouched where it would not.

use serde_json::json;
use testkit::{Fleetfoot, Http2Client, Origin, ok};

use crate::control_port::port::{counting, get, purge};
use crate::setup::{cached_with, each};

/// A fleetfoot before one origin, with these routes.
fn routed(origin: &Origin, routes: &str) -> Fleetfoot {
    Fleetfoot::start(&format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nsources: {{ api: {{ http: \"{}\" }} }}\n\
         policies:\n  members: {{ signed: {{ keys: {{ main: \"nZtRohdNF9m3cKM24IcK4w==\" }} }} }}\n  \
         live: {{ cache: {{ ttl: 10m }} }}\n  mine: {{ cache: {{ ttl: 10m, per: \"${{header('X-User')}}\" }} }}\n\
         routes:\n{routes}",
        origin.url()
    ))
}

/// Answers with the target it was asked for.
fn echoing() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", &request.target));
    origin
}

const MEMBERS: &str =
    "  - { match: /members/**, proxy: api, use: members }\n  - { match: /**, proxy: api }\n";

/// What some origin or other reads as `/members/a`.
const SPELLINGS: [&str; 12] = [
    "//members/a",
    "/members%2fa",
    "/members%5ca",
    "/members%c0%afa",
    "/members;x/a",
    "/members%3Bx/a",
    "/MEMBERS/a",
    "/%4d%45mbers/a",
    "/;x/members/a",
    "/Members",
    "/members;x",
    "//MEMBERS;x%2Fa",
];

#[test]
fn no_spelling_of_a_path_gets_round_a_signature() {
    let origin = echoing();
    let fleetfoot = routed(&origin, MEMBERS);
    for method in ["GET", "POST", "OPTIONS", "QUERY", "GETX"] {
        each(SPELLINGS.map(|path| (path, path)), |_, path| {
            let answer = fleetfoot.send(method, path, "");
            assert_eq!(answer.status, 400, "{answer:?}");
        });
        for plain in ["/members/a", "/%6dembers/a", "/members", "/%6D%65mbers//a%2Fb"] {
            assert_eq!(fleetfoot.send(method, plain, "").status, 403, "{method} {plain}");
        }
    }
    assert!(origin.bytes().is_empty(), "nothing of it reached the origin");
}

#[test]
fn what_leads_nowhere_else_goes_through_as_it_is() {
    let origin = echoing();
    let fleetfoot = routed(&origin, MEMBERS);
    for path in [
        "/files/a%2Fb",
        "/files//a;v=1/B%5C",
        "/a%20b/@x:y",
        "/FILES/%E4%BD%A0",
        "/a%2Fmembers",
        "/100%",
        "//",
    ] {
        assert_eq!(fleetfoot.get(path).text(), path);
    }
}

#[test]
fn octets_that_need_no_encoding_make_no_other_answer() {
    let origin = counting("");
    let fleetfoot = routed(&origin, "  - { match: \"/products/{id}\", proxy: api, use: live }\n");
    assert_eq!(fleetfoot.get("/products/%37").text(), "1");
    assert!(fleetfoot.get("/products/7").is_hit());
    assert!(fleetfoot.get("/%70roducts/7").is_hit());
    assert_eq!(origin.last("*").target, "/products/7", "the origin is asked for what the key holds");
    fleetfoot.get("/products/caf%c3%a9");
    assert!(fleetfoot.get("/products/caf%C3%A9").is_hit());
    for (call, asked) in [
        (json!({ "url": "http://example.test/products/%37" }), 2),
        (json!({ "url": "http://example.test/%70roducts/7", "exact": true }), 3),
        (json!({ "prefix": "/%70roducts/%37" }), 4),
    ] {
        purge(&fleetfoot, &call);
        assert_eq!(fleetfoot.get("/products/7").text(), asked.to_string(), "{call}");
    }
    let told = get(&fleetfoot, "/explain?url=http%3A%2F%2Fexample.test%2Fproducts%2F%2537");
    assert_eq!(told["key"], "http://example.test/products/7");
    let entry = get(&fleetfoot, "/cache/entry?url=http%3A%2F%2Fexample.test%2Fproducts%2F%2537");
    assert_eq!(entry["entries"][0]["url"], "http://example.test/products/7");
}

#[test]
fn what_a_write_makes_out_of_date_is_found_however_it_is_spelled() {
    let origin = counting("");
    let routes = "  - { match: \"PUT /users/{id}\", proxy: api, invalidate: [{ url: \"/users/${path.id}/orders\" }, { prefix: \"/%66eeds/${path.id}\" }] }\n  \
                  - { match: GET /**, proxy: api, use: live }\n";
    let fleetfoot = routed(&origin, routes);
    let pages = ["/users/a%20b", "/users/a%20b/orders", "/feeds/a%20b/new"];
    for writes in ["/users/a%20b", "/%75sers/%61%20b", "/users/a%20%62"] {
        for page in pages {
            assert!(!fleetfoot.get(page).is_hit(), "{page} before {writes}");
            assert!(fleetfoot.get(page).is_hit());
        }
        assert_eq!(fleetfoot.send("PUT", writes, "").status, 200);
    }
}

#[test]
fn a_spelling_is_refused_where_the_answer_would_be_stored_for_others() {
    let origin = echoing();
    let routes = "  - { match: /me/**, proxy: api, use: mine }\n  - { match: /open/**, proxy: api }\n  - { match: /**, proxy: api, use: live }\n";
    let fleetfoot = routed(&origin, routes);
    for path in ["/ME/orders", "//me/orders", "/me%2Forders", "/Open/x", "/open;x"] {
        let answer = fleetfoot.get(path);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.text().contains("protected differently"), "{}", answer.text());
    }
    let told = get(&fleetfoot, "/explain?url=http%3A%2F%2Fexample.test%2FME%2Forders");
    assert!(
        told["verdict"].as_str().unwrap().starts_with("refused with 400: some servers read this path"),
        "{told}"
    );
    assert_eq!(fleetfoot.get("/open/A%2Fb//").status, 200);
}

#[test]
fn a_configuration_whose_methods_get_round_a_signature_is_a_fault() {
    let origin = echoing();
    let fleetfoot = routed(&origin, MEMBERS);
    let before = fleetfoot.metrics().sum("fleetfoot_config_loads_total", &["result=\"failure\""]);
    let config = std::fs::read_to_string(fleetfoot.config_file()).unwrap();
    fleetfoot.rewrite(&config.replace("match: /members/**", "match: GET /members/**"));
    let mut fleetfoot = fleetfoot;
    fleetfoot.wait_until("refused", |fleetfoot| {
        fleetfoot.metrics().sum("fleetfoot_config_loads_total", &["result=\"failure\""]) > before
    });
    assert_eq!(fleetfoot.send("POST", "/members/a", "").status, 403, "the file before is in force");
}

/// An origin behind WSGI: it takes both spellings of a field for one, and trims the names of cookies. Its answers have
/// these fields.
fn lenient(says: &'static str) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let tenant = request.field("X-Tenant").or(request.field("X_Tenant")).unwrap_or("nobody");
        let cookies = request.field("Cookie").unwrap_or_default().to_ascii_lowercase().replace(' ', "");
        let user =
            cookies.split(';').find_map(|pair| pair.strip_prefix("session=")).unwrap_or("nobody").to_owned();
        ok(says, format!("{tenant} {user}"))
    });
    origin
}

#[test]
fn a_name_that_origins_read_alike_poisons_nobody() {
    let rows = [
        ("key", "ttl: 10m, key: { headers: X-Tenant }", "", "X_Tenant: b"),
        ("key.by", "ttl: 10m, key: { by: \"${header('X-Tenant')}\" }", "", "X_Tenant: b"),
        ("per", "ttl: 10m, per: \"${header('X-Tenant')}\"", "", "X_Tenant: b"),
        ("Vary", "ttl: 10m", "Vary: X-Tenant", "X_Tenant: b"),
        ("skip_for a field", "ttl: 10m, skip_for: [{ header: X-Tenant }]", "", "X_Tenant: b"),
        ("bypass", "ttl: 10m, bypass: X-Tenant", "", "X_Tenant: b"),
        (
            "skip_for an expression",
            "ttl: 10m, skip_for: \"${header('X-Tenant') != null}\"",
            "",
            "X_Tenant: b",
        ),
    ];
    each(rows.map(|(name, cache, says, sent)| (name, (cache, says, sent))), |_, (cache, says, sent)| {
        let origin = lenient(says);
        let fleetfoot = cached_with(&origin, cache);
        assert_eq!(fleetfoot.get_with("/", sent).text(), "b nobody");
        let next = fleetfoot.get("/");
        assert_eq!((next.text().as_str(), next.is_hit()), ("nobody nobody", false));
        // And it gets nothing that was stored for others.
        assert_eq!(fleetfoot.get_with("/", sent).text(), "b nobody");
    });
}

#[test]
fn a_cookie_that_origins_read_alike_is_that_cookie() {
    let sent = ["session =b", "a=1;  session=b", "SESSION=b", "session=b"];
    for cache in
        ["skip_for: [{ cookie: session }]", "bypass: { cookie: session }", "per: \"${cookie.session}\""]
    {
        each(sent.map(|sent| (sent, sent)), |_, sent| {
            let origin = lenient("Cache-Control: public, max-age=600");
            let fleetfoot = cached_with(&origin, &format!("ttl: 10m, {cache}"));
            assert_eq!(fleetfoot.get_with("/", &format!("Cookie: {sent}")).text(), "nobody b");
            let next = fleetfoot.get("/");
            assert_eq!((next.text().as_str(), next.is_hit()), ("nobody nobody", false), "{cache}");
        });
    }
}

#[test]
fn what_is_written_into_urls_stays_in_its_segment() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("", format!("{:?}", request.target)));
    let routes = "  - { match: GET /one, compose: { user: { api: \"GET /users/${query.id}\" } } }\n  \
                  - { match: \"GET /two/{id}\", compose: { user: { api: \"GET /users/x-${path.id}/y?q=${query.id}\" } } }\n  \
                  - { match: GET /three, compose: { users: { for: \"${query.all('id')}\", api: \"GET /users/${item}\" } } }\n";
    let fleetfoot = routed(&origin, routes);
    for id in ["..%2Fadmin%2Fx", "..", "%2e%2e%5cadmin", "a%2F..%2Fb", "a%00", "a%0d%0ab", "..%3Bx%2Fy", ""] {
        for route in ["/one", "/three"] {
            let answer = fleetfoot.get(&format!("{route}?id={id}"));
            assert!(
                matches!((route, answer.status), ("/one", 400) | ("/three", 400 | 502)),
                "{route} {id}: {answer:?}"
            );
        }
    }
    assert!(origin.bytes().is_empty(), "nothing of it reached the origin");
    assert_eq!(fleetfoot.get("/one?id=a%2Fb;c").text(), r#"{"user":"/users/a%2Fb%3Bc"}"#);
    assert_eq!(fleetfoot.get("/two/a%2Fb?id=../x").text(), r#"{"user":"/users/x-a%2Fb/y?q=..%2Fx"}"#);
}

#[test]
fn over_http2_a_path_is_the_same() {
    let origin = echoing();
    let fleetfoot = routed(&origin, MEMBERS);
    let mut client = Http2Client::connect(fleetfoot.address());
    for (path, status) in
        [("/members/a", 403), ("/%6dembers/a", 403), ("/members%2fa", 400), ("/MEMBERS", 400)]
    {
        assert_eq!(client.get(path).status, status, "{path}");
    }
}
