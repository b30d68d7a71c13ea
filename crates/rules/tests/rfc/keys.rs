//! What of a request counts: properties of the query's parameters, codings, languages, entity tags and tags.

use http::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE};
use http::{HeaderMap, HeaderName, HeaderValue};
use message::Fields;
use proptest::prelude::*;
use rules::{Encoding, NamePattern, NoVarySearch, QueryKey, QueryNames, encoding, etag, language, tags};

fn target() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(&[
        "a", "b", "ab", "utm_x", "%61", "%75tm_x", "=", "=1", "&", "&&", ";", "+", "%", "?", "é", "%26",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| format!("/x?{}", pieces.concat()))
}

fn query_key() -> impl Strategy<Value = QueryKey> {
    let pattern = prop::sample::select(&["a", "utm_*", "*b", "", "*", "a*b", "%61"]);
    let patterns = prop::collection::vec(pattern, 0..3)
        .prop_map(|texts| texts.into_iter().map(NamePattern::new).collect::<Vec<_>>());
    let names = prop_oneof![
        Just(QueryNames::All),
        Just(QueryNames::None),
        patterns.clone().prop_map(QueryNames::Only),
        patterns.prop_map(QueryNames::Except),
    ];
    (names, any::<bool>()).prop_map(|(names, sort)| QueryKey { names, sort })
}

fn left(key: &QueryKey, target: &str) -> String {
    key.target(target, &mut String::new()).to_owned()
}

/// The parameters that count, in their order, without the empty ones: written down once more, the plain way.
fn kept<'t>(key: &QueryKey, target: &'t str) -> Vec<&'t str> {
    let (_, query) = target.split_once('?').expect("each has a query");
    let takes = |patterns: &[NamePattern], parameter: &str| {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        patterns.iter().any(|pattern| pattern.takes(name))
    };
    let counts = |parameter: &&str| match &key.names {
        QueryNames::All => true,
        QueryNames::None => false,
        QueryNames::Only(patterns) => takes(patterns, parameter),
        QueryNames::Except(patterns) => !takes(patterns, parameter),
    };
    query.split('&').filter(|parameter| !parameter.is_empty()).filter(counts).collect()
}

fn request(name: HeaderName, lines: &[String]) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for line in lines {
        fields.append(&name, HeaderValue::from_str(line).expect("a valid value"));
    }
    fields
}

proptest! {
    #[test]
    fn a_target_is_left_the_same_when_left_twice(key in query_key(), target in target()) {
        let once = left(&key, &target);
        prop_assert_eq!(left(&key, &once), once);
    }

    #[test]
    fn no_byte_of_a_target_is_invented_and_none_that_counts_is_lost(key in query_key(), target in target()) {
        let once = left(&key, &target);
        let mut after: Vec<_> = once.split_once('?').map_or(Vec::new(), |(_, query)| {
            query.split('&').filter(|parameter| !parameter.is_empty()).collect()
        });
        let mut before = kept(&key, &target);
        if key.sort {
            after.sort_unstable();
            before.sort_unstable();
        }
        prop_assert_eq!(after, before);
        prop_assert!(once.len() <= target.len());
    }

    #[test]
    fn targets_that_differ_in_what_counts_stay_apart(key in query_key(), one in target(), other in target()) {
        let sorted = |target| {
            let mut kept = kept(&key, target);
            if key.sort {
                kept.sort_unstable();
            }
            kept
        };
        if sorted(&one) != sorted(&other) {
            prop_assert_ne!(left(&key, &one), left(&key, &other));
        }
    }

    #[test]
    fn what_changes_nothing_copies_nothing(key in query_key(), target in target()) {
        let mut out = String::new();
        let left = key.target(&target, &mut out);
        if left == target {
            prop_assert!(std::ptr::eq(left, target.as_str()));
        }
    }

    #[test]
    fn a_pattern_takes_what_a_slow_one_takes(pattern in "[ab*]{0,8}", name in "[ab]{0,12}") {
        fn slow(pattern: &[u8], name: &[u8]) -> bool {
            match pattern {
                [] => name.is_empty(),
                [b'*', rest @ ..] => (0..=name.len()).any(|taken| slow(rest, &name[taken..])),
                [byte, rest @ ..] => name.first() == Some(byte) && slow(rest, &name[1..]),
            }
        }
        let encoded = name.replace('a', "%61").replace('b', "%62");
        let expected = slow(pattern.as_bytes(), name.as_bytes());
        let pattern = NamePattern::new(&pattern);
        prop_assert_eq!(pattern.takes(&name), expected);
        prop_assert_eq!(pattern.takes(&encoded), expected);
    }

    #[test]
    fn no_vary_search_leaves_one_form(line in "(params|key-order|params=\\(\"a\" \"b\"\\)|params, except=\\(\"a\"\\))", target in target()) {
        let rule = NoVarySearch::of(&request(HeaderName::from_static("no-vary-search"), &[line])).unwrap();
        let once = rule.target(&target, &mut String::new()).to_owned();
        let twice = rule.target(&once, &mut String::new()).to_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn no_vary_search_reads_anything(line in "[ -~]{0,40}", target in "[ -~]{0,20}") {
        if let Some(rule) = NoVarySearch::of(&request(HeaderName::from_static("no-vary-search"), &[line])) {
            rule.target(&target, &mut String::new());
        }
    }

    #[test]
    fn codings_fold_into_a_class_that_means_the_same(
        lines in prop::collection::vec("((gzip|x-gzip|br|zstd|identity|\\*|deflate)(;q=(0|0\\.5|1))?,? ?){0,5}", 0..3),
    ) {
        let fields = request(ACCEPT_ENCODING, &lines);
        let class = encoding::fold(Fields::Map(&fields));
        let mut folded = HeaderMap::new();
        folded.insert(ACCEPT_ENCODING, class.clone());
        prop_assert_eq!(encoding::fold(Fields::Map(&folded)), class);
        for known in Encoding::ALL {
            let listed = class.to_str().unwrap().split(", ").any(|word| word == known.word());
            if encoding::choose(Fields::Map(&fields), &[known]).is_some() {
                prop_assert!(listed, "{:?} {:?}", known, lines);
            }
        }
    }

    #[test]
    fn any_language_folds_into_a_known_one(line in "[ -~]{0,60}") {
        let known = ["en", "de", "fr"].map(HeaderValue::from_static);
        let fields = request(ACCEPT_LANGUAGE, &[line]);
        let folded = language::fold(Fields::Map(&fields), &known).unwrap();
        prop_assert!(known.contains(folded));
    }

    #[test]
    fn the_origin_gets_back_the_tag_it_gave(inside in "[!#-~]{0,20}", weak in any::<bool>()) {
        let etag = HeaderValue::from_str(&format!("{}\"{inside}\"", if weak { "W/" } else { "" })).unwrap();
        for encoding in Encoding::ALL {
            let made = etag::for_encoding(&etag, encoding);
            prop_assert_eq!(weak, made == etag);
            if !weak {
                prop_assert_eq!(etag::without_encoding(&made), &etag);
            }
        }
    }

    #[test]
    fn tags_are_bounded_whatever_comes(lines in prop::collection::vec("[ -~]{0,600}", 0..8)) {
        let name = HeaderName::from_static("cache-tag");
        let mut response = request(name.clone(), &lines);
        for line in &lines {
            response.append("cache-groups", HeaderValue::from_str(line).unwrap());
        }
        let joined = tags::of(&response, &[name], "a.example");
        let all: Vec<_> = joined.split('\n').collect();
        prop_assert!(all.len() <= 64);
        prop_assert!(joined.is_empty() || all.iter().all(|tag| !tag.is_empty() && tag.len() <= 256 + 11));
        let each: std::collections::BTreeSet<_> = all.iter().collect();
        prop_assert_eq!(each.len(), all.len());
    }
}
