//! THREATS C, parameters and paths, with two clients: what the first one writes into the query reaches nobody who wrote
//! something else, also where a policy leaves parameters out.

use testkit::Fleetfoot;

use super::two_clients::{reflecting, request, tells};
use crate::setup::{cached_with, each};

/// The second client's answer after the first one asked, and what the origin was asked for by both.
fn second(key: &str, first: &str, second: &str) -> testkit::Answer {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, &format!("ttl: origin, key: {{ {key} }}"));
    let ask = |fleetfoot: &Fleetfoot, target| {
        fleetfoot.connect().send(request(target, "")).try_answer_to("GET").ok()
    };
    let _whatever_it_is = ask(&fleetfoot, first);
    ask(&fleetfoot, second).expect("the second one asks properly")
}

#[test]
fn a_query_of_ones_own_is_an_answer_of_ones_own() {
    let rows = [
        "/?evil7731",
        "/?a=1;b=evil7731",
        "/?a=1&a=evil7731",
        "/?a=evil7731&a=1",
        "/?a=1%26b=evil7731",
        "/?a=1%00evil7731",
        "/?a=1+evil7731",
        "/?a=1%20evil7731",
        "/?A=evil7731",
        "/?=evil7731",
        "/?&evil7731",
        "/?a=1&&b=evil7731",
        "/?a=1?b=evil7731",
        "/?a=1%23evil7731",
        "/;evil7731",
        "/%3Fevil7731",
        "/./evil7731",
        "/#evil7731",
        "/?a=1#evil7731",
        "//evil7731",
    ];
    each(rows.map(|first| (first, first)), |_, first| {
        for other in ["/", "/?a=1", "/?a=", "/?"] {
            for key in ["query: true", "query: { except: [utm_*] }, sort: true"] {
                let answer = second(key, first, other);
                assert!(!tells(&answer, "evil7731"), "{other} under {key}: {answer:?}");
            }
        }
    });
}

#[test]
fn an_ignored_parameter_does_not_reach_the_origin_in_any_spelling() {
    let rows = [
        ("/?utm_source=evil7731", "/"),
        ("/?a=1&utm_source=evil7731", "/?a=1"),
        ("/?utm_source=evil7731&a=1", "/?a=1"),
        ("/?a=1&utm_source=evil7731&b=2", "/?a=1&b=2"),
        ("/?a=1&utm_a=evil7731&utm_b=evil7731&a=2", "/?a=1&a=2"),
        ("/?utm_source=x&utm_source=evil7731", "/?utm_source=y"),
        ("/?utm%5Fsource=evil7731", "/"),
        ("/?%75tm_source=evil7731", "/"),
        ("/?utm_source%3Devil7731", "/"),
        ("/?utm_source=a;b=evil7731", "/"),
        ("/?a=1;utm_source=evil7731", "/?a=1"),
        ("/?utm_source=%26b=evil7731", "/"),
        ("/?utm_source=%00evil7731", "/"),
        ("/?utm_source=+evil7731", "/"),
        ("/?utm_source=?b=evil7731", "/"),
        ("/?utm_evil7731", "/"),
        ("/?utm_source%00=evil7731", "/"),
        ("/?utm+source=evil7731", "/"),
        ("/?UTM_source=evil7731", "/"),
        ("/?&utm_source=evil7731&", "/"),
    ];
    each(rows, |first, other| {
        for key in ["query: { except: [utm_*] }", "query: { except: [utm_*] }, sort: true"] {
            let answer = second(key, first, other);
            assert!(!tells(&answer, "evil7731"), "{key}: {answer:?}");
        }
    });
}

#[test]
fn where_some_parameters_count_the_others_do_not_reach_the_origin() {
    let rows = [
        ("only: [a]", "/?b=evil7731", "/"),
        ("only: [a]", "/?a=1&b=evil7731", "/?a=1"),
        ("only: [a]", "/?b=evil7731&a=1", "/?a=1"),
        ("only: [a]", "/?a=1&A=evil7731", "/?a=1"),
        ("only: [a]", "/?a=1&a[]=evil7731", "/?a=1"),
        ("only: [a]", "/?a=1&a=evil7731", "/?a=1"),
        ("only: [a]", "/?a=1;b=evil7731", "/?a=1"),
        ("only: [a]", "/?a%00=evil7731&a=1", "/?a=1"),
        ("only: [a]", "/?%61=evil7731", "/"),
        ("only: [a]", "/?=evil7731&a=1", "/?a=1"),
        ("only: [nothing]", "/?evil7731", "/"),
    ];
    each(rows.map(|(key, first, other)| (first, (key, other))), |first, (key, other)| {
        let answer = second(&format!("query: {{ {key} }}"), first, other);
        assert!(!tells(&answer, "evil7731"), "{answer:?}");
    });
    let answer = second("query: false", "/?evil7731", "/?other");
    assert!(
        answer.is_hit() && !tells(&answer, "evil7731") && answer.text().starts_with("GET / "),
        "{answer:?}"
    );
}

#[test]
fn sorting_mixes_nobodys_values() {
    let rows = [
        ("/?a=1&a=2", "/?a=2&a=1", false),
        ("/?b=2&a=1", "/?a=1&b=2", true),
        ("/?b=1&a=2", "/?a=1&b=2", false),
        ("/?a=1&b", "/?b&a=1", true),
        ("/?a=1&b", "/?a=1&b=", false),
        ("/?ab=1", "/?a=b1", false),
        ("/?a=1%26b=2", "/?a=1&b=2", false),
        ("/?a&b=c", "/?b=c&a", true),
        ("/?a=1;b=2", "/?b=2&a=1", false),
    ];
    each(rows.map(|(first, other, shared)| (first, (other, shared))), |first, (other, shared)| {
        assert_eq!(second("sort: true", first, other).is_hit(), shared);
    });
}

#[test]
fn an_ignored_host_or_scheme_is_the_only_thing_that_is_shared() {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, "ttl: origin, key: { host: false }");
    let ask = |host: &str, path: &str| {
        fleetfoot.connect().ask(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    };
    ask("one.test", "/a");
    assert!(ask("two.test", "/a").is_hit());
    assert!(!ask("two.test", "/b").is_hit());
}
