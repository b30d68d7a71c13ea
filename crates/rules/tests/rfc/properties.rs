//! Properties: what holds for whatever comes in.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use message::{CacheStatus, Fields, Fwd, RequestView, Scheme, Timestamp};
use proptest::prelude::*;
use rules::{
    Combined, ContentRange, EntityTag, Exchange, NotStored, Policy, Ranges, RequestDirectives,
    ResponseDirectives, Reuse, Terms, Vary, date, invalidate, range, seconds, storable_fields, update,
    validate, vary,
};

const FIELDS: [&str; 26] = [
    "cache-control",
    "cache-control",
    "cdn-cache-control",
    "age",
    "date",
    "expires",
    "last-modified",
    "etag",
    "vary",
    "pragma",
    "set-cookie",
    "connection",
    "content-range",
    "content-length",
    "location",
    "content-location",
    "authorization",
    "cookie",
    "range",
    "if-range",
    "if-none-match",
    "if-modified-since",
    "accept",
    "origin",
    "access-control-allow-origin",
    "x-other",
];

/// Any bytes that a field value may have, and such as come near to meaning something.
fn value() -> impl Strategy<Value = HeaderValue> {
    let any = prop::collection::vec(any::<u8>(), 0..40).prop_map(|mut bytes| {
        bytes.iter_mut().filter(|byte| byte.is_ascii_control()).for_each(|byte| *byte |= 0x80);
        HeaderValue::from_bytes(&bytes).expect("without control bytes any value is one")
    });
    let telling = prop::sample::select(&[
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:50:37 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "0",
        "-1",
        "5",
        "99999999999999999999",
        "*",
        "\"a\"",
        "W/\"a\"",
        "a, b",
        "",
        "bytes=0-1,5-",
        "bytes=-1",
        "bytes 0-1/2",
        "bytes */7",
        "/x/../y",
        "//a.example:80/x?y#z",
        "x, close",
        "https://a.example/",
    ]);
    prop_oneof![
        2 => any,
        2 => telling.prop_map(HeaderValue::from_static),
        3 => directives().prop_map(|text| HeaderValue::from_str(&text).expect("directives are ASCII")),
    ]
}

fn directive() -> impl Strategy<Value = String> {
    let seconds = prop::sample::select(&[
        "max-age",
        "s-maxage",
        "stale-while-revalidate",
        "stale-if-error",
        "min-fresh",
        "max-stale",
    ]);
    let amount = prop_oneof![
        Just(String::new()),
        Just("\"7\"".to_owned()),
        Just("x".to_owned()),
        (0u64..1 << 40).prop_map(|n| n.to_string())
    ];
    let word = prop::sample::select(&[
        "public",
        "must-revalidate",
        "proxy-revalidate",
        "immutable",
        "no-cache",
        "private=\"x-other\"",
        "no-transform",
        "no-cache=\"set-cookie, x-other\"",
        "unknown=\"a, b\"",
        "Public",
        "only-if-cached",
        " ",
        "x y",
        "=",
    ]);
    prop_oneof![
        (seconds, amount).prop_map(|(name, amount)| format!("{name}={amount}")),
        word.prop_map(str::to_owned),
    ]
}

/// Directives that forbid storing are not among these.
fn directives() -> impl Strategy<Value = String> {
    prop::collection::vec(directive(), 0..5).prop_map(|all| all.join(", "))
}

fn fields() -> impl Strategy<Value = HeaderMap> {
    prop::collection::vec((prop::sample::select(&FIELDS), value()), 0..10).prop_map(|lines| {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(HeaderName::from_static(name), value);
        }
        map
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let duration = || {
        prop_oneof![
            Just(Duration::ZERO),
            Just(Duration::MAX),
            (0u64..100_000).prop_map(Duration::from_millis)
        ]
    };
    (
        prop::option::of(duration()),
        prop::option::of(any::<f64>()),
        duration(),
        duration(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(default_ttl, heuristic, while_revalidate, if_error, client_directives, store_set_cookie)| {
                Policy {
                    default_ttl,
                    heuristic,
                    stale_while_revalidate: while_revalidate,
                    stale_if_error: Some(if_error),
                    client_directives,
                    store_set_cookie,
                    ..Policy::default()
                }
            },
        )
}

/// Around the dates above, and anywhere.
fn moment() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        (784_111_000_000u64..784_112_000_000).prop_map(Timestamp::from_millis),
        any::<u64>().prop_map(Timestamp::from_millis),
    ]
}

fn status() -> impl Strategy<Value = StatusCode> {
    prop_oneof![Just(200u16), 100u16..1000]
        .prop_map(|code| StatusCode::from_u16(code).expect("within 100..1000"))
}

prop_compose! {
    /// What `Terms::of` says of anything at all.
    fn outcome()(
        request in fields(), status in status(), response in fields(), policy in policy(),
        requested_at in moment(), received_at in moment(),
    ) -> (HeaderMap, HeaderMap, Policy, Result<Terms, NotStored>) {
        let exchange = Exchange {
            method: &Method::GET, request: Fields::Map(&request), status, response: &response, personal: false,
            requested_at, received_at, skew: message::Skew::NONE,
        };
        let terms = Terms::of(&exchange, &policy);
        (request, response, policy, terms)
    }
}

prop_compose! {
    fn terms()(outcome in outcome().prop_filter_map("stored", |(.., terms)| terms.ok())) -> Terms { outcome }
}

fn asked() -> impl Strategy<Value = RequestDirectives> {
    directives().prop_map(|text| {
        let mut map = HeaderMap::new();
        map.insert("cache-control", HeaderValue::from_str(&text).expect("directives are ASCII"));
        RequestDirectives::of(Fields::Map(&map))
    })
}

/// An answer with these directives, come at 0 on the clock.
fn answer(cache_control: &str, policy: &Policy) -> Result<Terms, NotStored> {
    let mut response = HeaderMap::new();
    response.insert("cache-control", HeaderValue::from_str(cache_control).expect("directives are ASCII"));
    response.insert("etag", HeaderValue::from_static("\"a\""));
    let exchange = Exchange {
        method: &Method::GET,
        request: Fields::Wire(&[]),
        status: StatusCode::OK,
        response: &response,
        personal: false,
        requested_at: Timestamp::default(),
        received_at: Timestamp::default(),
        skew: message::Skew::NONE,
    };
    Terms::of(&exchange, policy)
}

proptest! {
    #[test]
    fn ages_and_lifetimes_stay_within_bounds(terms in terms(), now in moment()) {
        let most = u64::from(seconds::MOST_SECONDS);
        prop_assert!(u64::from(terms.age(now)) <= most);
        prop_assert!(terms.lifetime().as_secs() <= most);
        prop_assert!(terms.fresh_for(now).unsigned_abs() <= most);
        prop_assert_eq!(terms.is_fresh(now) && terms.fresh_for(now) < 0, false);
    }

    #[test]
    fn age_grows_with_time(terms in terms(), one in moment(), other in moment()) {
        let (earlier, later) = (one.min(other), one.max(other));
        prop_assert!(terms.age(earlier) <= terms.age(later));
        prop_assert!(terms.is_fresh(earlier) || !terms.is_fresh(later));
        prop_assert!(terms.received_at() > later || terms.age(later) >= terms.age(terms.received_at()));
    }

    #[test]
    fn fresh_only_within_the_lifetime(terms in terms(), asked in asked(), authorized: bool, now in moment()) {
        match terms.reuse(&asked, authorized, now) {
            Reuse::Fresh => {
                prop_assert!(terms.is_fresh(now));
                prop_assert!(!asked.no_cache);
                prop_assert!(asked.max_age.is_none_or(|most| terms.age(now) <= most));
            }
            Reuse::Stale => prop_assert!(!terms.is_fresh(now) && asked.max_stale.is_some()),
            Reuse::StaleWhileRevalidate => prop_assert!(!terms.is_fresh(now)),
            Reuse::Validate(_) | Reuse::NotForThisRequest => {}
        }
    }

    #[test]
    fn whoever_may_be_served_is_kept(terms in terms(), asked in asked(), now in moment()) {
        let served = matches!(terms.reuse(&asked, false, now), Reuse::Fresh | Reuse::StaleWhileRevalidate);
        if served && now >= terms.received_at() {
            let until = terms.servable_until();
            prop_assert!(now < until || until.as_millis() == u64::MAX);
        }
    }

    #[test]
    fn no_store_is_never_stored(before in directives(), after in directives(), policy in policy()) {
        for word in ["no-store", "No-Store", "no-store=1", "no-store=\"x\"", "no-store;x"] {
            prop_assert_eq!(answer(&format!("{before}, {word}, {after}"), &policy), Err(NotStored::NoStore));
            prop_assert_eq!(answer(&format!("{before} ,,{word},{after}"), &policy), Err(NotStored::NoStore));
        }
    }

    #[test]
    fn private_is_never_stored(before in directives(), after in directives(), policy in policy()) {
        prop_assert_eq!(answer(&format!("{before}, private, {after}"), &policy), Err(NotStored::Private));
    }

    #[test]
    fn must_revalidate_is_never_served_stale(
        before in directives(), after in directives(), policy in policy(), asked in asked(), authorized: bool,
        millis in 0u64..1 << 50,
    ) {
        for word in ["must-revalidate", "proxy-revalidate"] {
            let Ok(terms) = answer(&format!("{before}, {word}, {after}"), &policy) else { continue };
            let now = Timestamp::from_millis(millis);
            if !terms.is_fresh(now) {
                let reuse = terms.reuse(&asked, authorized, now);
                prop_assert!(matches!(reuse, Reuse::Validate(_) | Reuse::NotForThisRequest));
                prop_assert!(!terms.may_serve_on_error(&asked, now));
                prop_assert!(!terms.may_serve_disconnected(&asked, now));
            }
        }
    }

    #[test]
    fn no_cache_is_never_served_unasked(
        before in directives(), after in directives(), policy in policy(), asked in asked(), now in moment(),
    ) {
        if let Ok(terms) = answer(&format!("{before}, no-cache, {after}"), &policy) {
            prop_assert!(matches!(terms.reuse(&asked, false, now), Reuse::Validate(_)));
            prop_assert!(!terms.may_serve_on_error(&asked, now) && !terms.may_serve_disconnected(&asked, now));
        }
    }

    #[test]
    fn what_is_stored_may_be_shared((request, response, policy, terms) in outcome()) {
        if terms.is_err() {
            return Ok(());
        }
        let directives = ResponseDirectives::of(&response, &policy.targeted);
        prop_assert!(!directives.all_private());
        prop_assert!(!directives.no_store || directives.must_understand);
        let permitted = directives.public || directives.must_revalidate || directives.s_maxage.is_some();
        prop_assert!(permitted || !request.contains_key("authorization"));
        prop_assert!(permitted || directives.targeted || !request.contains_key("cookie"));
        let kept = storable_fields(&response, &directives, policy.store_set_cookie);
        prop_assert!(policy.store_set_cookie || !kept.contains_key("set-cookie"));
        prop_assert!(!kept.contains_key("connection"));
        prop_assert!(directives.unshared_fields().all(|name| !kept.contains_key(name)));
    }

    #[test]
    fn what_must_not_be_shared_never_answers_the_authorized(terms in terms(), asked in asked(), now in moment()) {
        if terms.reuse(&RequestDirectives::default(), true, now) == Reuse::NotForThisRequest {
            prop_assert_eq!(terms.reuse(&asked, true, now), Reuse::NotForThisRequest);
        }
    }

    #[test]
    fn requests_mean_the_same_on_the_wire(request in fields()) {
        let lines: Vec<_> = request
            .iter()
            .map(|(name, value)| httparse::Header { name: name.as_str(), value: value.as_bytes() })
            .collect();
        let (wire, map) = (Fields::Wire(&lines), Fields::Map(&request));
        prop_assert_eq!(RequestDirectives::of(wire), RequestDirectives::of(map));
        let names = Vary::Names(vec![HeaderName::from_static("accept"), HeaderName::from_static("cookie")]);
        prop_assert_eq!(vary::selecting(names.names(), wire), vary::selecting(names.names(), map));
        prop_assert_eq!(range::ranges(wire, 10), range::ranges(map, 10));
    }

    #[test]
    fn requests_match_if_and_only_if_their_selecting_bytes_do(one in fields(), other in fields()) {
        let names = ["accept", "authorization", "cookie", "x-other"].map(HeaderName::from_static);
        let (one, other) = (Fields::Map(&one), Fields::Map(&other));
        let stored = vary::selecting(&names, one);
        prop_assert!(vary::matches(&names, &stored, one));
        prop_assert_eq!(vary::matches(&names, &stored, other), stored == vary::selecting(&names, other));
    }

    #[test]
    fn matching_survives_any_bytes(stored in prop::collection::vec(any::<u8>(), 0..30), request in fields()) {
        let names = ["accept", "cookie"].map(HeaderName::from_static);
        if vary::matches(&names, &stored, Fields::Map(&request)) {
            prop_assert_eq!(stored, vary::selecting(&names, Fields::Map(&request)));
        }
    }

    #[test]
    fn ranges_lie_within_the_length(
        set in prop::collection::vec((prop::option::of(any::<u8>()), prop::option::of(any::<u16>())), 0..20),
        length in prop_oneof![0u64..300, any::<u64>()],
    ) {
        let specs: Vec<_> = set
            .iter()
            .map(|(first, last)| {
                let text = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
                format!("{}-{}", text(first.map(u64::from)), text(last.map(u64::from)))
            })
            .collect();
        let value = format!("bytes={}", specs.join(", "));
        let line = [httparse::Header { name: "Range", value: value.as_bytes() }];
        if let Ranges::Of(found) = range::ranges(Fields::Wire(&line), length) {
            prop_assert!(!found.is_empty() && found.len() <= 16);
            prop_assert!(found.iter().all(|range| range.start < range.end && range.end <= length));
            let apart = |one: &std::ops::Range<u64>, other: &std::ops::Range<u64>| {
                one.end <= other.start || other.end <= one.start
            };
            for (index, one) in found.iter().enumerate() {
                prop_assert!(found[index + 1..].iter().all(|other| apart(one, other)));
            }
        }
    }

    #[test]
    fn whatever_comes_in_nothing_panics(
        request in fields(), status in status(), response in fields(), other in fields(), length: u64,
        target in "[ -~]{0,20}", method in "[A-Z]{1,7}",
    ) {
        let method = Method::from_bytes(method.as_bytes()).expect("letters are a method");
        let asked = Fields::Map(&request);
        validate::evaluate(&method, asked, status, &response);
        validate::not_modified_matches(&response, &other);
        validate::add_validators(&response, &mut request.clone());
        update::head_agrees(&response, &other);
        range::ranges(asked, length);
        range::if_range(asked, &response);
        vary::implied_vary(asked, &response);
        let view = RequestView { method: &method, scheme: Scheme::Http, authority: "a.example", target: &target, fields: asked, client: None };
        for target in invalidate::invalidated(&view, status, &response).iter().skip(1) {
            prop_assert!(target.starts_with('/') || target.starts_with('?') || !view.target.starts_with('/'));
        }
        if let Some(part) = ContentRange::of(&response) {
            prop_assert!(part.bytes.is_some() || part.complete.is_some());
        }
        if let Combined::Part(bytes) = range::combine(&response, &other) {
            prop_assert!(bytes.start < bytes.end);
        }
        let mut fresh = response.clone();
        update::freshen(&mut fresh, &other);
        let once = fresh.clone();
        update::freshen(&mut fresh, &other);
        prop_assert_eq!(once, fresh);
    }

    #[test]
    fn field_parsers_survive_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let lines: Vec<_> = ["Cache-Control", "Pragma", "Range", "If-None-Match", "If-Modified-Since", "If-Range", "Accept"]
            .map(|name| httparse::Header { name, value: &bytes })
            .into();
        let wire = Fields::Wire(&lines);
        RequestDirectives::of(wire);
        range::ranges(wire, 1000);
        range::if_range(wire, &HeaderMap::new());
        validate::evaluate(&Method::GET, wire, StatusCode::OK, &HeaderMap::new());
        let names = [HeaderName::from_static("accept")];
        prop_assert!(vary::matches(&names, &vary::selecting(&names, wire), wire));
        EntityTag::parse(&bytes);
        seconds::parse(&bytes);
        date::parse(&bytes);
    }

    #[test]
    fn cache_status_is_always_a_structured_list(
        hit: bool, stored: bool, collapsed: bool, ttl: Option<i64>, fwd_status: Option<u16>,
        detail in prop::option::of(prop::sample::select(&["no-store", "a b", "\"", "\\", "", "5", "\u{e9}", "a\tb"])),
    ) {
        let status = CacheStatus { hit, fwd: Some(Fwd::Miss), fwd_status, ttl, stored, collapsed, detail };
        let mut out = Vec::new();
        status.write(&mut out);
        prop_assert!(sfv::Parser::new(&out).parse::<sfv::List>().is_ok());
    }
}
