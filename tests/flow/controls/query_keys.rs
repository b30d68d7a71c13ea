//! `key.query`, `key.sort` and `No-Vary-Search`: which parameters count, and that those that do not never reach the
//! origin, since it could answer them to everybody.

use testkit::{Fleetfoot, Origin, ok};

use super::ways::{Way, each_way};
use crate::setup::{cached_with, each};

/// An origin that answers with the target it saw.
fn reflecting(fields: &'static str) -> Origin {
    let origin = Origin::start();
    origin
        .on("*")
        .answer(move |request| ok(&format!("Cache-Control: max-age=600\n{fields}"), &request.target));
    origin
}

/// Asks for each target, in this order; gives what the origin saw of it and whether it was a hit.
fn check(way: Way, key: &str, rows: &[(&str, &str, bool)]) {
    let origin = reflecting("");
    let fleetfoot = cached_with(&origin, &format!("ttl: origin, key: {{ {key} }}"));
    for (target, seen, is_hit) in rows {
        let answer = way.get(&fleetfoot, target, "");
        assert_eq!((answer.text().as_str(), answer.is_hit()), (*seen, *is_hit), "{target} with {key}");
    }
}

#[test]
fn all_parameters_count_as_they_are_sent() {
    each_way(|way| {
        let rows = [
            ("/p?a=1&b=2", "/p?a=1&b=2", false),
            ("/p?b=2&a=1", "/p?b=2&a=1", false),
            ("/p", "/p", false),
            ("/p?", "/p?", false),
            ("/p?a=1&b=2", "/p?a=1&b=2", true),
        ];
        check(way, "query: true", &rows);
    });
}

#[test]
fn none_counts_and_none_is_forwarded() {
    each_way(|way| {
        let rows =
            [("/p?a=1", "/p", false), ("/p", "/p", true), ("/p?b=2&c", "/p", true), ("/q?a", "/q", false)];
        check(way, "query: false", &rows);
    });
}

#[test]
fn these_alone_count() {
    each_way(|way| {
        check(
            way,
            "query: { only: [page, 'sort_*'] }",
            &[
                ("/p?page=1&utm_source=x", "/p?page=1", false),
                ("/p?fbclid=y&page=1", "/p?page=1", true),
                ("/p?page=2", "/p?page=2", false),
                ("/p?page=1&sort_by=a", "/p?page=1&sort_by=a", false),
                ("/p?pages=1", "/p", false),
                ("/p?Page=1", "/p", true),
                ("/p?page=1&page=2", "/p?page=1&page=2", false),
            ],
        );
    });
}

#[test]
fn all_but_these_count() {
    each_way(|way| {
        check(
            way,
            "query: { except: ['utm_*', fbclid] }",
            &[
                ("/p?utm_source=x&id=1&fbclid=y&utm_medium=z", "/p?id=1", false),
                ("/p?id=1", "/p?id=1", true),
                ("/p?id=1&utm_=", "/p?id=1", true),
                ("/p?fbclid", "/p", false),
                ("/p?utm=1", "/p?utm=1", false),
                ("/p?id=1&utm_campaign=%26id=2", "/p?id=1", true),
                // The same name, written otherwise.
                ("/p?id=1&%75tm_source=x", "/p?id=1", true),
            ],
        );
    });
}

#[test]
fn sorted_parameters_are_one_entry_and_arrive_sorted() {
    each_way(|way| {
        check(
            way,
            "sort: true",
            &[
                ("/p?b=2&a=1", "/p?a=1&b=2", false),
                ("/p?a=1&b=2", "/p?a=1&b=2", true),
                // Those of one name stay in their order.
                ("/p?b=1&a=2&a=1", "/p?a=2&a=1&b=1", false),
                ("/p?a=1&b=1&a=2", "/p?a=1&a=2&b=1", false),
                ("/p?a=2&b=1&a=1", "/p?a=2&a=1&b=1", true),
            ],
        );
        check(
            way,
            "query: { except: ['utm_*'] }, sort: true",
            &[("/p?z=1&utm_source=x&a=1", "/p?a=1&z=1", false), ("/p?a=1&z=1", "/p?a=1&z=1", true)],
        );
    });
}

/// Ways to write parameters that one reader takes for something else than another.
const ODD: [&str; 14] = [
    "/p?id=1&utm_source",
    "/p?id=1&&utm_source=x",
    "/p?utm_source=x&",
    "/p?&utm_source=x",
    "/p?id=1;utm_source=x",
    "/p?utm_source=x;id=1",
    "/p?utm%5Fsource=x&id=1",
    "/p?utm%5fsource=x",
    "/p?UTM_source=x",
    "/p?utm_source[]=x",
    "/p?+utm_source=x",
    "/p?id=1?utm_source=x",
    "/p?=utm_source",
    "/p?%zz&utm_source=x&%",
];

#[test]
fn whatever_is_forwarded_is_what_counts() {
    each_way(|way| {
        for key in ["query: { except: ['utm_*'] }", "query: { only: [id] }", "query: false", "sort: true"] {
            each(ODD.map(|target| (format!("{target} with {key}"), target)), |_, target| {
                let origin = reflecting("");
                let fleetfoot = cached_with(&origin, &format!("ttl: origin, key: {{ {key} }}"));
                let forwarded = way.get(&fleetfoot, target, "").text();
                // Nobody else asks for what this one slipped in: what the origin saw finds the same entry, and the
                // origin would have seen nothing else of it.
                let answer = way.get(&fleetfoot, &forwarded, "");
                assert!(answer.is_hit() && answer.text() == forwarded, "{forwarded}: {answer:?}");
                assert_eq!(origin.requests().len(), 1);
            });
        }
    });
}

/// Which of these targets are hits once the first has been answered with this `No-Vary-Search`.
fn found_without(way: Way, key: &str, rule: &'static str, asked: &[(&str, bool)]) -> (Origin, Fleetfoot) {
    let origin = reflecting(rule);
    let fleetfoot = cached_with(&origin, &format!("ttl: origin, key: {{ {key} }}"));
    each(asked.iter().map(|row| (format!("{} with {rule}", row.0), row)), |_, (target, is_hit)| {
        let answer = way.get(&fleetfoot, target, "");
        assert_eq!(answer.is_hit(), *is_hit, "{answer:?}");
    });
    (origin, fleetfoot)
}

#[test]
fn an_origin_may_say_itself_which_parameters_do_not_matter() {
    each_way(|way| {
        let (origin, _fleetfoot) = found_without(
            way,
            "no_vary_search: honour",
            "No-Vary-Search: params=(\"utm_source\" \"session\")",
            &[
                ("/p?id=1&utm_source=x", false),
                ("/p?id=1&utm_source=y", true),
                ("/p?session=3&id=1", true),
                ("/p?id=1", true),
                ("/p?id=2", false),
                ("/p?id=2&utm_source=x", true),
                ("/q?id=1", false),
            ],
        );
        // It takes nothing out of what reaches the origin.
        assert_eq!(origin.requests()[0].target, "/p?id=1&utm_source=x");
        for (rule, asked) in [
            ("No-Vary-Search: params", [("/p?a=1", false), ("/p?b=2", true), ("/p?", true)]),
            (
                "No-Vary-Search: params, except=(\"id\")",
                [("/p?id=1&x=1", false), ("/p?id=1", true), ("/p?id=2", false)],
            ),
            ("No-Vary-Search: key-order", [("/p?a=1&b=2", false), ("/p?b=2&a=1", true), ("/p?b=2", false)]),
        ] {
            // It is the default.
            found_without(way, "", rule, &asked);
        }
    });
}

#[test]
fn a_path_alone_is_found_as_well() {
    each_way(|way| {
        let rule = "No-Vary-Search: params=(\"utm_source\")";
        let alone_first = [("/p", false), ("/p?utm_source=x", true), ("/p", true), ("/p?id=1", false)];
        found_without(way, "", rule, &alone_first);
        // That the path alone is under the same rule is known only once it has been answered itself.
        let alone_last = [("/p?utm_source=x", false), ("/p", false), ("/p", true), ("/p?utm_source=y", true)];
        found_without(way, "", rule, &alone_last);
    });
}

#[test]
fn a_path_alone_that_says_nothing_is_left_where_it_is_found() {
    each_way(|way| {
        let origin = Origin::start();
        let said = "Cache-Control: max-age=600";
        origin.on("/p").answer(move |request| {
            let rule = if request.target == "/p" { "" } else { "No-Vary-Search: params" };
            ok(&format!("{said}\n{rule}"), &request.target)
        });
        let fleetfoot = cached_with(&origin, "ttl: origin");
        for (target, is_hit) in
            [("/p", false), ("/p?a", false), ("/p", true), ("/p?b", true), ("/p", true), ("/p?c", true)]
        {
            let answer = way.get(&fleetfoot, target, "");
            assert_eq!(answer.is_hit(), is_hit, "{target}: {answer:?}");
            assert_eq!(answer.text().contains('?'), target != "/p", "{target}: {answer:?}");
        }
    });
}

#[test]
fn an_origin_that_says_so_wrongly_can_be_ignored() {
    each_way(|way| {
        found_without(
            way,
            "no_vary_search: ignore",
            "No-Vary-Search: params=(\"utm_source\")",
            &[("/p?id=1&utm_source=x", false), ("/p?id=1&utm_source=y", false), ("/p?id=1", false)],
        );
    });
}

#[test]
fn a_rule_that_is_none_changes_nothing() {
    each_way(|way| {
        for rule in
            ["No-Vary-Search: utm_source", "No-Vary-Search: params=\"utm_source\"", "No-Vary-Search: ((("]
        {
            found_without(way, "", rule, &[("/p?utm_source=x", false), ("/p?utm_source=y", false)]);
        }
    });
}

#[test]
fn sent_parameters_are_kept_byte_by_byte_where_nothing_is_left_out() {
    each_way(|way| {
        let rows = ODD.map(|target| (target, target, false));
        check(way, "query: true", &rows);
    });
}

#[test]
fn what_the_policy_leaves_out_and_what_the_origin_does_add_up() {
    each_way(|way| {
        let (origin, _fleetfoot) = found_without(
            way,
            "query: { except: ['utm_*'] }, sort: true",
            "No-Vary-Search: params=(\"session\")",
            &[
                ("/p?session=1&utm_source=x&b=2&a=1", false),
                ("/p?a=1&b=2&session=2", true),
                ("/p?b=2&a=1&utm_medium=y", true),
                ("/p?a=2&b=1", false),
            ],
        );
        assert_eq!(origin.requests()[0].target, "/p?a=1&b=2&session=1");
    });
}
