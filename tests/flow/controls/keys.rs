//! `key`: which parts of a request tell answers apart, and that the origin sees nothing else of what is folded or left
//! out.

use http::Request;
use testkit::{Answer, Certificate, Fleetfoot, Http2Client, Origin, RawClient, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::{cached_with, config_with, each};

/// An origin that answers with the values of these fields as it saw them.
fn reflecting(names: &'static [&'static str]) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(move |request| {
        let seen: Vec<String> =
            names.iter().map(|name| request.head.all(name).collect::<Vec<_>>().join("|")).collect();
        ok("Cache-Control: max-age=600", seen.join("/"))
    });
    origin
}

fn at(way: Way, fleetfoot: &Fleetfoot, host: &str) -> Answer {
    way.ask(fleetfoot, &Asked { host, ..Asked::get("/", "") })
}

#[test]
fn each_host_has_answers_of_its_own_unless_the_key_leaves_it_out() {
    each_way(|way| {
        let origin = reflecting(&["Host"]);
        let fleetfoot = cached_with(&origin, "ttl: origin");
        assert_eq!(at(way, &fleetfoot, "www.example.test").text(), "www.example.test");
        assert_eq!(at(way, &fleetfoot, "example.test").text(), "example.test");
        assert!(at(way, &fleetfoot, "WWW.example.test").is_hit(), "case is no difference");

        let origin = reflecting(&["Host"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { host: false }");
        assert_eq!(at(way, &fleetfoot, "www.example.test").text(), "www.example.test");
        let other = at(way, &fleetfoot, "example.test");
        assert!(other.is_hit(), "{other:?}");
        assert_eq!(other.text(), "www.example.test", "the host of whoever asked first");
        assert_eq!(origin.requests().len(), 1);
    });
}

/// A fleetfoot that also speaks TLS.
fn with_https(origin: &Origin, certificate: &Certificate, cache: &str) -> Fleetfoot {
    let listen = format!(
        "listen: {{ http: 127.0.0.1:0, https: 127.0.0.1:0, admin: 127.0.0.1:0, tls: {{ certificate: {}, key: {} }} }}",
        certificate.file().display(),
        certificate.key_file().display()
    );
    Fleetfoot::start(&config_with(origin.address(), cache, &listen))
}

fn over_tls(way: Way, fleetfoot: &Fleetfoot, certificate: &Certificate) -> Answer {
    match way {
        Way::Http1 => RawClient::connect_tls(fleetfoot.https(), certificate)
            .ask("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n"),
        Way::Http2 => {
            let request = Request::get("https://example.test/").body(()).expect("a proper target");
            let mut client = Http2Client::connect_tls(fleetfoot.https(), certificate);
            client.ask(request).expect("an answer")
        }
    }
}

#[test]
fn each_scheme_has_answers_of_its_own_unless_the_key_leaves_it_out() {
    let certificate = Certificate::new();
    each_way(|way| {
        for (cache, shared) in [("ttl: origin", false), ("ttl: origin, key: { scheme: false }", true)] {
            let origin = reflecting(&["X-Forwarded-Proto"]);
            let fleetfoot = with_https(&origin, &certificate, cache);
            assert_eq!(way.get(&fleetfoot, "/", "").text(), "http");
            let secure = over_tls(way, &fleetfoot, &certificate);
            assert_eq!(secure.is_hit(), shared, "{cache}: {secure:?}");
            assert_eq!(secure.text(), if shared { "http" } else { "https" });
            assert!(over_tls(way, &fleetfoot, &certificate).is_hit());
        }
    });
}

#[test]
fn each_value_of_a_named_field_has_answers_of_its_own() {
    each_way(|way| {
        // The origin does not say `Vary`.
        let origin = reflecting(&["X-Tenant"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { headers: [X-Tenant] }");
        for fields in
            ["X-Tenant: a", "X-Tenant: b", "X-Tenant: ", "", "X-Tenant: a\nX-Tenant: b", "X-Tenant: a, b"]
        {
            let first = way.get(&fleetfoot, "/", fields);
            assert!(!first.is_hit(), "{fields:?} is answered as another: {first:?}");
            let again = way.get(&fleetfoot, "/", &format!("X-Other: 1\n{fields}"));
            assert!(again.is_hit(), "{fields:?}: {again:?}");
            assert_eq!(again.text(), first.text(), "{fields:?}");
        }
    });
}

#[test]
fn only_named_cookies_count_and_reach_the_origin() {
    each_way(|way| {
        let origin = reflecting(&["Cookie"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { cookies: [currency, group] }");
        let rows = [
            ("Cookie: session=mine; currency=eur", "currency=eur"),
            ("Cookie: currency=usd; session=mine", "currency=usd"),
            ("Cookie: group=1; x=2; currency=eur", "currency=eur; group=1"),
            ("Cookie: session=mine", ""),
        ];
        for (fields, seen) in rows {
            let first = way.get(&fleetfoot, "/", fields);
            assert_eq!((first.text().as_str(), first.is_hit()), (seen, false), "{fields}");
        }
        // What they brought is for everybody with the same values, whatever else these send.
        for (fields, seen) in [
            ("Cookie: currency=eur; session=other", "currency=eur"),
            ("Cookie: session=other; xcurrency=usd; currency=usd", "currency=usd"),
            ("Cookie: currency=eur; group=1", "currency=eur; group=1"),
            ("Cookie: session=other", ""),
            ("", ""),
        ] {
            let answer = way.get(&fleetfoot, "/", fields);
            assert_eq!((answer.text().as_str(), answer.is_hit()), (seen, true), "{fields}: {answer:?}");
        }
    });
}

#[test]
fn no_cookie_counts_where_the_list_is_empty() {
    each_way(|way| {
        let origin = reflecting(&["Cookie"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { cookies: [] }");
        assert_eq!(way.get(&fleetfoot, "/", "Cookie: session=mine").text(), "");
        assert!(way.get(&fleetfoot, "/", "Cookie: session=other").is_hit());
        assert!(
            !origin.last("GET /").head.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("Cookie"))
        );
    });
}

#[test]
fn without_a_word_on_cookies_they_are_sent_and_keep_answers_from_being_shared() {
    each_way(|way| {
        let origin = reflecting(&["Cookie"]);
        let fleetfoot = cached_with(&origin, "ttl: 1m");
        assert_eq!(way.get(&fleetfoot, "/", "Cookie: session=mine").text(), "session=mine");
        let other = way.get(&fleetfoot, "/", "");
        assert_eq!((other.text().as_str(), other.is_hit()), ("", false));
    });
}

#[test]
fn an_expression_tells_answers_apart() {
    each_way(|way| {
        let origin = reflecting(&["X-Plan"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { by: \"${header('X-Plan')}\" }");
        for fields in ["X-Plan: gold", "X-Plan: silver", ""] {
            assert!(!way.get(&fleetfoot, "/", fields).is_hit(), "{fields:?}");
            let again = way.get(&fleetfoot, "/", fields);
            assert!(again.is_hit(), "{fields:?}: {again:?}");
            assert_eq!(again.text(), fields.trim_start_matches("X-Plan: "));
        }
    });
}

#[test]
fn who_has_no_value_shares_with_those_who_have_none() {
    each_way(|way| {
        let origin = reflecting(&[]);
        let by = "${int(query.page) > 3 ? 'late' : 'early'}";
        let fleetfoot = cached_with(
            &origin,
            &format!("ttl: origin, key: {{ query: {{ except: [page] }}, by: \"{by}\" }}"),
        );
        for (target, is_hit) in [
            ("/?page=1", false),
            ("/?page=3", true),
            ("/?page=4", false),
            ("/?page=9", true),
            ("/", false),
            ("/?page=none", true),
        ] {
            assert_eq!(way.get(&fleetfoot, target, "").is_hit(), is_hit, "{target}");
        }
    });
}

#[test]
fn accept_encoding_is_folded_into_classes() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").answer(|request| {
            let seen = request.head.all("Accept-Encoding").collect::<Vec<_>>().join("|");
            ok("Cache-Control: max-age=600\nVary: Accept-Encoding", seen)
        });
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { encodings: fold }");
        // One class a row: whoever asks in one of its ways is answered with what the first of them brought.
        let rows: [(&str, &[&str]); 5] = [
            ("identity", &["", "Accept-Encoding: identity", "Accept-Encoding: deflate, gzip;q=0"]),
            (
                "gzip",
                &["Accept-Encoding: gzip", "Accept-Encoding: GZIP;q=0.5, deflate", "Accept-Encoding: x-gzip"],
            ),
            ("br", &["Accept-Encoding: br", "Accept-Encoding: gzip;q=0, br;q=0.1"]),
            (
                "br, gzip",
                &["Accept-Encoding: gzip, deflate, br", "Accept-Encoding: br\nAccept-Encoding: gzip"],
            ),
            ("zstd, br, gzip", &["Accept-Encoding: gzip, deflate, br, zstd", "Accept-Encoding: *"]),
        ];
        for (class, ways) in rows {
            for (n, fields) in ways.iter().enumerate() {
                let answer = way.get(&fleetfoot, "/", fields);
                assert_eq!(
                    (answer.text().as_str(), answer.is_hit()),
                    (class, n > 0),
                    "{fields:?}: {answer:?}"
                );
            }
        }
    });
}

#[test]
fn accept_language_is_folded_into_those_there_are() {
    each_way(|way| {
        // Some origins forget `Vary`.
        let origin = reflecting(&["Accept-Language"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { languages: [en, fr, de] }");
        let rows: [(&str, &[&str]); 3] = [
            ("en", &["", "Accept-Language: en", "Accept-Language: ja", "Accept-Language: en-GB, fr;q=0.5"]),
            (
                "fr",
                &["Accept-Language: fr-CA, en;q=0.8", "Accept-Language: de;q=0.1, fr", "Accept-Language: FR"],
            ),
            ("de", &["Accept-Language: de-AT", "Accept-Language: ja, de;q=0.5, en;q=0.2"]),
        ];
        for (language, ways) in rows {
            each(ways.iter().enumerate().map(|(n, fields)| (fields, n)), |fields, n| {
                let answer = way.get(&fleetfoot, "/", fields);
                assert_eq!((answer.text().as_str(), answer.is_hit()), (language, n > 0), "{answer:?}");
            });
        }
        assert_eq!(origin.requests().len(), 3);
    });
}

#[test]
fn what_one_policy_names_is_said_by_vary_only_for_the_rest() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").answer(|request| {
            let seen = [request.field("X-Tenant"), request.field("X-A")];
            ok("Cache-Control: max-age=600\nVary: X-Tenant, X-A", format!("{seen:?}"))
        });
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { headers: [X-Tenant] }");
        for fields in ["X-Tenant: a\nX-A: 1", "X-Tenant: a\nX-A: 2", "X-Tenant: b\nX-A: 1", "X-A: 1", ""] {
            let first = way.get(&fleetfoot, "/", fields);
            let again = way.get(&fleetfoot, "/", fields);
            assert!(!first.is_hit() && again.is_hit(), "{fields:?}: {first:?} {again:?}");
            assert_eq!(first.text(), again.text());
        }
    });
}

#[test]
fn cookies_on_several_lines_are_one_list() {
    each_way(|way| {
        // HTTP/2 clients may send each cookie as a field of its own (RFC 9113 §8.2.3).
        let origin = reflecting(&["Cookie"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, key: { cookies: [currency] }");
        assert_eq!(
            way.get(&fleetfoot, "/", "Cookie: session=mine\nCookie: currency=eur").text(),
            "currency=eur"
        );
        let same = way.get(&fleetfoot, "/", "Cookie: currency=eur\nCookie: session=other");
        assert!(same.is_hit() && same.text() == "currency=eur", "{same:?}");
        assert!(!way.get(&fleetfoot, "/", "Cookie: a=b\nCookie: currency=usd").is_hit());

        let fleetfoot = cached_with(&origin, "ttl: origin, skip_for: { cookie: session }");
        let own = way.get(&fleetfoot, "/", "Cookie: a=b\nCookie: session=mine");
        assert!(own.cache_status().ends_with("detail=skip-for"), "{own:?}");
    });
}

#[test]
fn folding_encodings_splits_nothing_where_answers_are_compressed_here() {
    each_way(|way| {
        let origin = reflecting(&["Accept-Encoding"]);
        let fleetfoot = cached_with(&origin, "ttl: origin, compress: true, key: { encodings: fold }");
        for coding in ["gzip", "br", "identity"] {
            let answer = way.get(&fleetfoot, "/", &format!("Accept-Encoding: {coding}"));
            assert_eq!(answer.text(), "identity");
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn a_write_makes_all_be_forgotten_that_the_key_tells_apart() {
    let rows = [
        ("headers: [X-Tenant]", ["X-Tenant: a", "X-Tenant: b"]),
        ("cookies: [currency]", ["Cookie: currency=eur", "Cookie: currency=usd"]),
        ("languages: [en, fr]", ["Accept-Language: en", "Accept-Language: fr"]),
        ("encodings: fold", ["Accept-Encoding: gzip", "Accept-Encoding: br"]),
        ("by: \"${header('X-Plan')}\"", ["X-Plan: gold", ""]),
        ("host: false", ["", "X-Other: 1"]),
        ("query: { except: [utm] }", ["", "X-Other: 1"]),
    ];
    each_way(|way| {
        each(rows, |key, variants| {
            let origin = reflecting(&[]);
            let fleetfoot = cached_with(&origin, &format!("ttl: origin, key: {{ {key} }}"));
            for fields in variants {
                way.get(&fleetfoot, "/", fields);
                assert!(way.get(&fleetfoot, "/", fields).is_hit(), "{fields}");
            }
            way.ask(&fleetfoot, &Asked { method: "POST", ..Asked::get("/", "") });
            for fields in variants {
                let answer = way.get(&fleetfoot, "/", &format!("Cache-Control: only-if-cached\n{fields}"));
                assert_eq!(answer.status, 504, "{fields}: {answer:?}");
            }
        });
    });
}
