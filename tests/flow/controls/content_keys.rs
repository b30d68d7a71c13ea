//! `body_keys`: requests with content that are answered from the cache: method, target, content type and all of the
//! content tell them apart.

use testkit::{Answer, Fleetfoot, Origin, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::cached_with;

/// An origin that answers with what it was asked, content and all.
fn reflecting() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let kind = request.field("Content-Type").unwrap_or("-");
        let text = String::from_utf8_lossy(&request.body);
        ok("Cache-Control: max-age=600", format!("{} {} {kind} {text}", request.method, request.target))
    });
    origin
}

fn ask(way: Way, fleetfoot: &Fleetfoot, method: &str, target: &str, fields: &str, content: &[u8]) -> Answer {
    way.ask(fleetfoot, &Asked { method, content, ..Asked::get(target, fields) })
}

const JSON: &str = "Content-Type: application/json";

#[test]
fn a_query_is_answered_from_the_cache_by_its_content() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin");
        let rows: [(&str, &str, &[u8]); 7] = [
            ("/s", JSON, b"{\"q\":1}"),
            ("/s", JSON, b"{\"q\":2}"),
            // The same in other words is another.
            ("/s", JSON, b"{ \"q\": 1 }"),
            ("/s", "Content-Type: text/plain", b"{\"q\":1}"),
            ("/s", "Content-Type: application/json\nContent-Encoding: x-own", b"{\"q\":1}"),
            ("/t", JSON, b"{\"q\":1}"),
            ("/s?a=1", JSON, b"{\"q\":1}"),
        ];
        for (target, fields, content) in rows {
            let first = ask(way, &fleetfoot, "QUERY", target, fields, content);
            assert!(!first.is_hit(), "{target} {fields} {content:?}: {first:?}");
            let seen = origin.last(&format!("QUERY {target}"));
            assert_eq!(seen.body, content);
        }
        for (target, fields, content) in rows {
            let kind = fields.lines().next().unwrap_or_default().trim_start_matches("Content-Type: ");
            let again = ask(way, &fleetfoot, "QUERY", target, fields, content);
            let text = String::from_utf8_lossy(content);
            assert_eq!(again.text(), format!("QUERY {target} {kind} {text}"));
            assert!(again.is_hit(), "{again:?}");
        }
        assert_eq!(origin.requests().len(), 7);
    });
}

#[test]
fn a_query_is_not_answered_with_what_a_get_brought_nor_the_other_way_round() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { methods: [QUERY, POST] }");
        let mut texts = Vec::new();
        for method in ["GET", "QUERY", "POST"] {
            let first = ask(way, &fleetfoot, method, "/s", "", b"");
            assert!(!first.is_hit(), "{method}: {first:?}");
            texts.push(first.text());
        }
        for (method, text) in ["GET", "QUERY"].iter().zip(texts) {
            let again = ask(way, &fleetfoot, method, "/s", "", b"");
            assert_eq!(again.text(), text);
        }
    });
}

#[test]
fn a_query_has_no_side_effects_on_what_is_stored() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin");
        way.get(&fleetfoot, "/s", "");
        ask(way, &fleetfoot, "QUERY", "/s", JSON, b"{}");
        assert!(way.get(&fleetfoot, "/s", "").is_hit());
    });
}

#[test]
fn a_post_goes_on_unless_the_policy_says_that_it_only_reads() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin");
        for n in 1..=2 {
            let answer = ask(way, &fleetfoot, "POST", "/graphql", JSON, b"{}");
            assert_eq!(answer.cache_status(), "fleetfoot; fwd=method");
            assert_eq!(origin.count("POST /graphql"), n);
        }

        let origin = reflecting();
        let fleetfoot =
            cached_with(&origin, "ttl: origin, body_keys: { methods: [QUERY, POST], max: 16KiB }");
        for (content, is_hit) in [("{1}", false), ("{1}", true), ("{2}", false), ("{1}", true), ("{2}", true)]
        {
            let answer = ask(way, &fleetfoot, "POST", "/graphql", JSON, content.as_bytes());
            assert_eq!(answer.is_hit(), is_hit, "{content}: {answer:?}");
            assert_eq!(answer.text(), format!("POST /graphql application/json {content}"));
        }
    });
}

#[test]
fn a_post_that_only_reads_makes_nothing_be_forgotten() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { methods: POST }");
        way.get(&fleetfoot, "/graphql", "");
        ask(way, &fleetfoot, "POST", "/graphql", JSON, b"{1}");
        ask(way, &fleetfoot, "POST", "/graphql", JSON, b"{2}");
        assert!(ask(way, &fleetfoot, "POST", "/graphql", JSON, b"{1}").is_hit());
        assert!(way.get(&fleetfoot, "/graphql", "").is_hit());
    });
}

#[test]
fn no_method_with_content_need_be_cached() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { methods: [] }");
        for _ in 0..2 {
            let answer = ask(way, &fleetfoot, "QUERY", "/s", JSON, b"{}");
            assert_eq!(answer.cache_status(), "fleetfoot; fwd=method");
        }
        assert_eq!(origin.count("QUERY /s"), 2);
    });
}

#[test]
fn content_over_the_limit_goes_past_the_cache_whole() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").answer(|request| ok("Cache-Control: max-age=600", request.body.len().to_string()));
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { max: 1KiB }");
        for (length, hits) in [(1024, true), (1025, false), (40_000, false)] {
            let content = vec![b'x'; length];
            for is_second in [false, true] {
                let answer = ask(way, &fleetfoot, "QUERY", "/s", JSON, &content);
                assert_eq!(answer.text(), length.to_string());
                assert_eq!(answer.is_hit(), hits && is_second, "{length}: {answer:?}");
                if !hits {
                    assert_eq!(answer.cache_status(), "fleetfoot; fwd=bypass; detail=content-too-long");
                }
            }
        }
    });
}

#[test]
fn content_may_come_in_chunks() {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, "ttl: origin");
    let chunked = "QUERY /s HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\n\r\n2\r\n{1\r\n1\r\n}\r\n0\r\n\r\n";
    let first = fleetfoot.connect().ask(chunked);
    assert_eq!(first.text(), "QUERY /s application/json {1}");
    for way in [Way::Http1, Way::Http2] {
        assert!(ask(way, &fleetfoot, "QUERY", "/s", JSON, b"{1}").is_hit());
    }
}

#[test]
fn a_get_with_content_is_neither_stored_nor_answered_from_the_cache() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin");
        let poisoning = ask(way, &fleetfoot, "GET", "/", "", b"poison");
        assert!(poisoning.text().contains("poison"));
        assert_eq!(poisoning.cache_status(), "fleetfoot; fwd=bypass; detail=content");
        let other = way.get(&fleetfoot, "/", "");
        assert_eq!((other.text().as_str(), other.is_hit()), ("GET / - ", false));
        assert!(!ask(way, &fleetfoot, "GET", "/", "", b"poison").is_hit());
        assert!(way.get(&fleetfoot, "/", "").is_hit());
    });
}

#[test]
fn a_query_obeys_what_answers_and_policies_say() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("/private").reply(ok("Cache-Control: private, max-age=600", "x"));
        origin.on("/cookie").reply(ok("Cache-Control: max-age=600\nSet-Cookie: a=b", "x"));
        origin.on("/").reply(ok("Cache-Control: max-age=600", "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, bypass: [Bypass-Cache]");
        for (target, fields) in [
            ("/private", JSON),
            ("/cookie", JSON),
            ("/", "Authorization: Bearer a"),
            ("/", "Cookie: a=b"),
            ("/", "Bypass-Cache: 1"),
        ] {
            for _ in 0..2 {
                let answer = ask(way, &fleetfoot, "QUERY", target, fields, b"{}");
                assert!(!answer.is_hit(), "{target} {fields}: {answer:?}");
            }
        }
    });
}

#[test]
fn content_is_asked_for_where_the_client_waits_for_that() {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, "ttl: origin");
    for is_hit in [false, true] {
        let mut client = fleetfoot.connect();
        client.send(
            "QUERY /s HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\
             Expect: 100-continue\r\n\r\n",
        );
        assert_eq!(client.read_head().start, "HTTP/1.1 100 Continue");
        let answer = client.send("{1}").read_answer();
        assert_eq!((answer.text().as_str(), answer.is_hit()), ("QUERY /s application/json {1}", is_hit));
    }
}

#[test]
fn content_that_breaks_off_is_never_taken_for_whole() {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, "ttl: origin");
    let head = "QUERY /s HTTP/1.1\r\nHost: example.test\r\nContent-Type: application/json\r\n";
    for broken in ["Content-Length: 9\r\n\r\n{1}", "Transfer-Encoding: chunked\r\n\r\n3\r\n{1}\r\n"] {
        let mut client = fleetfoot.connect();
        client.send(format!("{head}{broken}")).finish();
        if let Ok(answer) = client.try_answer_to("QUERY") {
            assert!(matches!(answer.status, 400 | 408), "{answer:?}");
        }
    }
    assert!(origin.requests().is_empty());
    assert!(!ask(Way::Http1, &fleetfoot, "QUERY", "/s", JSON, b"{1}").is_hit());
}

#[test]
fn a_part_of_what_a_query_found_comes_from_the_cache() {
    each_way(|way| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, "ttl: origin");
        ask(way, &fleetfoot, "QUERY", "/s", JSON, b"{1}");
        let fields = format!("{JSON}\nRange: bytes=0-4");
        let part = ask(way, &fleetfoot, "QUERY", "/s", &fields, b"{1}");
        assert!(part.is_hit(), "{part:?}");
        assert!(matches!((part.status, part.text().as_str()), (206, "QUERY") | (200, _)), "{part:?}");
    });
}
