//! `body_keys: { graphql: true }`: queries by POST are answered from the cache, and whatever may change something reaches
//! the origin, every time. And `body` in conditions.

use testkit::{Answer, Fleetfoot, Gate, Origin, Script, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::{cached_with, until_taken_up};

const JSON: &str = "Content-Type: application/json";

/// An origin that counts, and may be kept for long.
fn counting() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        ok("Cache-Control: max-age=600", String::from_utf8_lossy(&request.body).into_owned())
    });
    origin
}

fn post(way: Way, fleetfoot: &Fleetfoot, target: &str, fields: &str, content: &str) -> Answer {
    way.ask(fleetfoot, &Asked { method: "POST", content: content.as_bytes(), ..Asked::get(target, fields) })
}

#[test]
fn each_mutation_reaches_the_origin_and_each_query_once() {
    each_way(|way| {
        let origin = counting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { graphql: true }");
        let both = r#"{"query":"query A { a } mutation B { b }","operationName":"#;
        let (query, mutation) = (format!("{both}\"A\"}}"), format!("{both}\"B\"}}"));
        for (content, is_query) in [
            (r#"{"query":"{ a }"}"#, true),
            (r#"{"query":"query A($n: Int) { a(n: $n) }","variables":{"n":1}}"#, true),
            (&query, true),
            (r#"{"query":"mutation { pay }"}"#, false),
            (&mutation, false),
            (r#"{"query":"subscription { a }"}"#, false),
            // What origins may read differently.
            (r#"[{"query":"mutation { pay }"}]"#, false),
            (r#"{"query":"{ a }","query":"mutation { pay }"}"#, false),
            (r#"{"query":"{ a }","Query":"mutation { pay }"}"#, false),
            ("mutation { pay }", false),
            ("", false),
        ] {
            let target = "/graphql";
            let before = origin.count("POST /graphql");
            for is_second in [false, true] {
                let answer = post(way, &fleetfoot, target, JSON, content);
                assert_eq!(answer.text(), content);
                assert_eq!(answer.is_hit(), is_query && is_second, "{content}: {answer:?}");
            }
            let asked = if is_query { 1 } else { 2 };
            assert_eq!(origin.count("POST /graphql") - before, asked, "{content}");
        }
        let answer = post(way, &fleetfoot, "/graphql", JSON, r#"{"query":"mutation { pay }"}"#);
        assert_eq!(answer.cache_status(), "fleetfoot; fwd=bypass; detail=mutation");
        let answer = post(way, &fleetfoot, "/graphql?query=mutation{pay}", JSON, r#"{"query":"{ a }"}"#);
        assert_eq!(answer.cache_status(), "fleetfoot; fwd=bypass; detail=no-query");
    });
}

#[test]
fn a_mutation_makes_the_queries_of_its_url_be_forgotten_and_a_query_does_not() {
    each_way(|way| {
        let origin = counting();
        let settings = "ttl: origin, body_keys: { graphql: true, max: 1KiB }, skip_for: [Authorization]";
        let fleetfoot = cached_with(&origin, settings);
        let (query, mutation) = (r#"{"query":"{ a }"}"#, r#"{"query":"mutation { pay }"}"#);
        let is_hit = |target| post(way, &fleetfoot, target, JSON, query).is_hit();
        for target in ["/graphql", "/other"] {
            assert!(!is_hit(target) && is_hit(target));
        }
        // Neither another query nor one of somebody who is logged in.
        post(way, &fleetfoot, "/graphql", JSON, r#"{"query":"{ b }"}"#);
        post(way, &fleetfoot, "/graphql", &format!("{JSON}\nAuthorization: x"), query);
        assert!(is_hit("/graphql"));
        let long = format!("{{\"query\":\"mutation {{ pay }} #{}\"}}", "x".repeat(2000));
        for (fields, content) in [
            (JSON.to_owned(), mutation),
            (format!("{JSON}\nAuthorization: x"), mutation),
            (JSON.to_owned(), r#"[{"query":"mutation { pay }"}]"#),
            (JSON.to_owned(), &long),
        ] {
            post(way, &fleetfoot, "/graphql", &fields, content);
            assert!(!is_hit("/graphql"), "{content}");
            assert!(is_hit("/graphql") && is_hit("/other"), "{content}");
        }
    });
}

#[test]
fn a_persisted_query_is_looked_up_once_its_text_has_come_by() {
    each_way(|way| {
        let origin = counting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { graphql: true }");
        // With the SHA-256 of each.
        for (query, hash, is_query) in [
            ("{ a }", "1c7e1e347f726166b5b1c55afd61f278cc9b45e00c108ec33d540a566379811b", true),
            ("mutation { pay }", "e359d80eae9495274b45df46b9f38affa69a537316e599f2902784cce7a97c71", false),
        ] {
            let extensions =
                format!(r#""extensions":{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}"#);
            let (short, whole) =
                (format!("{{{extensions}}}"), format!(r#"{{"query":"{query}",{extensions}}}"#));
            for _ in 0..2 {
                assert!(!post(way, &fleetfoot, "/graphql", JSON, &short).is_hit(), "{query}");
            }
            assert!(!post(way, &fleetfoot, "/graphql", JSON, &whole).is_hit());
            for is_second in [false, true] {
                let answer = post(way, &fleetfoot, "/graphql", JSON, &short);
                assert_eq!(answer.is_hit(), is_query && is_second, "{query}: {answer:?}");
            }
        }
    });
}

#[test]
fn a_mutation_is_no_search_whatever_the_policy_says_of_post() {
    each_way(|way| {
        let origin = counting();
        let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { methods: [POST] }");
        for (content, is_read) in [
            (r#"{"q":"shoes"}"#, true),
            (r#"{"query":"shoes"}"#, true),
            (r#"{"query":"{ a }"}"#, true),
            (r#"{"query":"mutation { pay }"}"#, false),
            // In any form that some origin takes it in.
            (r#"{"query":"mutation { pay }","id":1}"#, false),
            (r#"[{"query":"{ a }"},{"query":"mutation { pay }"}]"#, false),
            (r#"{"query":"query A { a } mutation B { pay }"}"#, false),
            (r#"{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#, false),
            ("mutation { pay }", false),
            ("query=%6dutation%7Bpay%7D", false),
        ] {
            for fields in [JSON, "Content-Type: text/plain", "Content-Type: application/json; charset=utf-16"]
            {
                for is_second in [false, true] {
                    let answer = post(way, &fleetfoot, "/search", fields, content);
                    assert_eq!(answer.is_hit(), is_read && is_second, "{content}: {answer:?}");
                }
            }
        }
        for _ in 0..2 {
            assert!(!post(way, &fleetfoot, "/search?query=mutation%7Bpay%7D", JSON, "{}").is_hit());
        }
    });
}

#[test]
fn a_post_that_says_another_method_is_not_answered_from_the_cache() {
    each_way(|way| {
        for keys in ["methods: [POST]", "graphql: true"] {
            let origin = counting();
            let fleetfoot = cached_with(&origin, &format!("ttl: origin, body_keys: {{ {keys} }}"));
            let ask = |fields: &str| post(way, &fleetfoot, "/graphql", fields, r#"{"query":"{ a }"}"#);
            assert!(!ask(JSON).is_hit() && ask(JSON).is_hit());
            for name in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
                let answer = ask(&format!("{JSON}\n{name}: DELETE"));
                assert_eq!(answer.cache_status(), "fleetfoot; fwd=bypass; detail=method-override");
                // It was a write.
                assert!(!ask(JSON).is_hit() && ask(JSON).is_hit());
            }
        }
    });
}

#[test]
fn errors_of_graphql_are_not_stored_whatever_the_policy_says() {
    each_way(|way| {
        for mode in ["mode: force, ttl: 10m", "ttl: origin", "ttl: 10m, compress: true"] {
            let origin = Origin::start();
            origin.on("*").answer(|request| {
                let errors = r#"{"errors":[{"message":"PersistedQueryNotFound"}]}"#;
                let is_bad = String::from_utf8_lossy(&request.body).contains("bad");
                ok("Cache-Control: max-age=600", if is_bad { errors } else { r#"{"data":{},"errors":[]}"# })
            });
            let settings = format!("{mode}, body_keys: {{ graphql: true }}");
            let fleetfoot = cached_with(&origin, &settings);
            for (content, is_stored) in [(r#"{"query":"{ good }"}"#, true), (r#"{"query":"{ bad }"}"#, false)]
            {
                for is_second in [false, true] {
                    let answer = post(way, &fleetfoot, "/graphql", JSON, content);
                    assert_eq!(answer.is_hit(), is_stored && is_second, "{mode} {content}: {answer:?}");
                }
            }
        }
    });
}

/// Clients who wait for the same fetch share its answer; a later request goes to the origin.
#[test]
fn errors_of_graphql_are_given_to_those_who_wait_and_to_nobody_later() {
    const COUNT: usize = 8;
    let errors = ok("Cache-Control: max-age=600", r#"{"errors":[{"message":"not now"}]}"#);
    let origin = Origin::start();
    let gate = Gate::new();
    origin.on("*").reply(Script::new().wait(&gate).then(errors));
    let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { graphql: true }");
    let mut clients: Vec<_> = (0..COUNT).map(|_| fleetfoot.connect()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(
            "POST /graphql HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n\
             {\"query\":\"{ bad }\"}",
        );
        if number == 0 {
            origin.wait_for(1, "POST /graphql");
        }
    }
    until_taken_up(&fleetfoot);
    gate.open();
    for client in &mut clients {
        assert!(client.read_answer().text().contains("not now"));
    }
    assert_eq!(origin.count("POST /graphql"), 1);
    assert!(!post(Way::Http1, &fleetfoot, "/graphql", JSON, r#"{"query":"{ bad }"}"#).is_hit());
    assert_eq!(origin.count("POST /graphql"), 2);
}

#[test]
fn conditions_ask_about_the_content() {
    each_way(|way| {
        let origin = counting();
        let settings = "ttl: origin, body_keys: { methods: [POST] }, bypass: [\"${body.live == true}\"], \
                        skip_for: [\"${has(body.user) && size(body.list) > 1}\"]";
        let fleetfoot = cached_with(&origin, settings);
        let many = format!(r#"{{"user":1,"list":[{}1]}}"#, "1,".repeat(1000));
        for (content, detail) in [
            (r#"{"live":false}"#, None),
            (r#"{"user":1,"list":[1]}"#, None),
            ("", None),
            (r#"{"live":true}"#, Some("bypass")),
            (r#"{"user":1,"list":[1,2]}"#, Some("skip-for")),
            // Nobody can say.
            ("live=true", Some("content-unclear")),
            (r#"{"user":1,"list":7}"#, Some("content-unclear")),
            (&many, Some("content-unclear")),
        ] {
            for is_second in [false, true] {
                let answer = post(way, &fleetfoot, "/search", JSON, content);
                assert_eq!(answer.is_hit(), is_second && detail.is_none(), "{content}: {answer:?}");
                if let Some(detail) = detail {
                    assert_eq!(answer.cache_status(), format!("fleetfoot; fwd=bypass; detail={detail}"));
                }
            }
        }
        // What has no content is looked up as ever.
        way.get(&fleetfoot, "/", "");
        assert!(way.get(&fleetfoot, "/", "").is_hit());
    });
}
