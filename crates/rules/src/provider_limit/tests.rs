use http::HeaderValue;
use proptest::prelude::*;

use super::*;

/// 2024-03-01T12:00:00Z
const NOW: Timestamp = Timestamp::from_secs(1_709_294_400);

fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for (name, value) in lines {
        fields.append(*name, HeaderValue::from_str(value).unwrap());
    }
    fields
}

fn said(status: u16, lines: &[(&'static str, &str)]) -> Said {
    Said::of(StatusCode::from_u16(status).unwrap(), &fields(lines), NOW)
}

/// Limit, what remains, milliseconds until reset, seconds of the window; none of the latter and of the limit is zero.
type Figures = (u64, u64, u64, u64);

fn figures(said: &Said) -> Vec<Figures> {
    let figures = |quota: &SaidQuota| {
        let window = quota.window.unwrap_or_default().as_secs();
        (quota.limit.unwrap_or_default(), quota.remaining, quota.reset.as_millis() as u64, window)
    };
    said.quotas.iter().map(figures).collect()
}

#[test]
fn quotas_are_read_as_each_provider_writes_them() {
    type Dialect<'a> = (&'a str, &'a [(&'static str, &'a str)], &'a [Figures]);
    let dialects: &[Dialect<'_>] = &[
        (
            "the draft as it is",
            &[("ratelimit-policy", "\"default\";q=100;w=10"), ("ratelimit", "\"default\";r=50;t=5")],
            &[(100, 50, 5000, 10)],
        ),
        (
            "the draft, two quotas, one of them for a partition, on several lines",
            &[
                ("ratelimit-policy", "\"permin\";q=50;w=60, \"perhr\";q=1000;w=3600;pk=:cHsdsRa894==:"),
                ("ratelimit", "\"permin\";r=20;t=42"),
                ("ratelimit", "\"perhr\";r=0;t=1000;pk=:cHsdsRa894==:"),
            ],
            &[(50, 20, 42_000, 60), (1000, 0, 1_000_000, 3600)],
        ),
        (
            "the draft without a time",
            &[("ratelimit-policy", "\"a\";q=9;w=60"), ("ratelimit", "\"a\";r=3")],
            &[(9, 3, 60_000, 60)],
        ),
        ("the draft without a policy", &[("ratelimit", "a;r=3;t=2")], &[(0, 3, 2000, 0)]),
        (
            "the draft, of bytes and of calls under way",
            &[
                (
                    "ratelimit-policy",
                    "\"a\";q=9;w=60;qu=\"content-bytes\", \"b\";q=3;qu=\"concurrent-requests\"",
                ),
                ("ratelimit", "\"a\";r=3;t=2, \"b\";r=1;t=1"),
            ],
            &[],
        ),
        (
            "the seventh draft",
            &[("ratelimit-policy", "100;w=60"), ("ratelimit", "limit=100, remaining=50, reset=5")],
            &[(100, 50, 5000, 60)],
        ),
        (
            "the sixth draft",
            &[
                ("ratelimit-policy", "10;w=1, 50;w=60"),
                ("ratelimit-limit", "50"),
                ("ratelimit-remaining", "49"),
                ("ratelimit-reset", "50"),
            ],
            &[(50, 49, 50_000, 60)],
        ),
        (
            "drafts before it",
            &[
                ("ratelimit-limit", "100, 100;w=60;comment=\"a, b\", 5000;w=3600"),
                ("ratelimit-remaining", "99"),
                ("ratelimit-reset", "41"),
            ],
            &[(100, 99, 41_000, 60)],
        ),
        (
            "Envoy",
            &[
                ("x-ratelimit-limit", "10, 10;w=1;name=\"one, two\", 1000;w=60"),
                ("x-ratelimit-remaining", "9"),
                ("x-ratelimit-reset", "1"),
            ],
            &[(10, 9, 1000, 1)],
        ),
        (
            "GitHub",
            &[
                ("x-ratelimit-limit", "5000"),
                ("x-ratelimit-remaining", "4987"),
                ("x-ratelimit-reset", "1709297000"),
                ("x-ratelimit-used", "13"),
                ("x-ratelimit-resource", "core"),
            ],
            &[(5000, 4987, 2_600_000, 0)],
        ),
        (
            "Twitter",
            &[
                ("x-rate-limit-limit", "900"),
                ("x-rate-limit-remaining", "0"),
                ("x-rate-limit-reset", "1709295000"),
            ],
            &[(900, 0, 600_000, 0)],
        ),
        (
            "Discord",
            &[
                ("x-ratelimit-limit", "5"),
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "1709294464.57"),
                ("x-ratelimit-reset-after", "64.57"),
                ("x-ratelimit-bucket", "abcd1234"),
            ],
            &[(5, 0, 64_570, 0)],
        ),
        (
            "Reddit",
            &[("x-ratelimit-remaining", "595.0"), ("x-ratelimit-used", "5"), ("x-ratelimit-reset", "343")],
            &[(0, 595, 343_000, 0)],
        ),
        (
            "OpenAI",
            &[
                ("x-ratelimit-limit-requests", "60"),
                ("x-ratelimit-limit-tokens", "150000"),
                ("x-ratelimit-remaining-requests", "59"),
                ("x-ratelimit-remaining-tokens", "149984"),
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-reset-tokens", "6m0s"),
            ],
            &[(60, 59, 1000, 0), (150_000, 149_984, 360_000, 0)],
        ),
        (
            "Anthropic",
            &[
                ("anthropic-ratelimit-requests-limit", "50"),
                ("anthropic-ratelimit-requests-remaining", "49"),
                ("anthropic-ratelimit-requests-reset", "2024-03-01T12:00:02Z"),
                ("anthropic-ratelimit-input-tokens-limit", "30000"),
                ("anthropic-ratelimit-input-tokens-remaining", "28000"),
                ("anthropic-ratelimit-input-tokens-reset", "2024-03-01T12:00:04Z"),
            ],
            &[(50, 49, 2000, 0), (30_000, 28_000, 4000, 0)],
        ),
        (
            "milliseconds since 1970",
            &[("x-ratelimit-remaining", "7"), ("x-ratelimit-reset", "1709294460000")],
            &[(0, 7, 60_000, 0)],
        ),
        (
            "Rachio: ISO 8601",
            &[
                ("x-ratelimit-limit", "1700"),
                ("x-ratelimit-remaining", "4"),
                ("x-ratelimit-reset", "2024-03-02T00:00:00Z"),
            ],
            &[(1700, 4, 43_200_000, 0)],
        ),
        ("Shopify", &[("x-shopify-shop-api-call-limit", "32/40")], &[(40, 8, 16_000, 20)]),
        (
            "HubSpot",
            &[
                ("x-hubspot-ratelimit-daily", "1000000"),
                ("x-hubspot-ratelimit-daily-remaining", "999699"),
                ("x-hubspot-ratelimit-interval-milliseconds", "10000"),
                ("x-hubspot-ratelimit-max", "150"),
                ("x-hubspot-ratelimit-remaining", "148"),
            ],
            &[(150, 148, 10_000, 10)],
        ),
    ];
    for (provider, lines, expected) in dialects {
        assert_eq!(figures(&said(200, lines)), *expected, "{provider}");
    }
}

#[test]
fn a_wait_is_read_of_those_who_refuse() {
    type Wait<'a> = (&'a str, u16, &'a [(&'static str, &'a str)], bool, Option<u64>);
    let waits: &[Wait<'_>] = &[
        ("seconds", 429, &[("retry-after", "30")], true, Some(30_000)),
        ("unavailable", 503, &[("retry-after", "30")], false, Some(30_000)),
        ("a date", 429, &[("retry-after", "Fri, 01 Mar 2024 12:00:37 GMT")], true, Some(37_000)),
        (
            "a date, by a clock that is a minute ahead",
            429,
            &[("retry-after", "Fri, 01 Mar 2024 12:01:37 GMT"), ("date", "Fri, 01 Mar 2024 12:01:00 GMT")],
            true,
            Some(37_000),
        ),
        ("Shopify", 429, &[("retry-after", "2.0")], true, Some(2000)),
        ("Azure", 429, &[("retry-after", "1"), ("retry-after-ms", "253")], true, Some(253)),
        ("GitHub's second limit", 403, &[("retry-after", "60")], true, Some(60_000)),
        ("no limit", 403, &[], false, None),
        ("a redirect", 301, &[("retry-after", "60")], false, None),
        ("no time", 429, &[], true, None),
        ("no time at all", 429, &[("retry-after", "0")], true, None),
        ("one that is over", 429, &[("retry-after", "Fri, 01 Mar 2024 11:00:00 GMT")], true, None),
        (
            "Twitter: with the quota alone",
            429,
            &[("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1709295000")],
            true,
            Some(600_000),
        ),
        (
            "the quota that is not used up tells nothing of the refusal",
            429,
            &[("x-rate-limit-remaining", "5"), ("x-rate-limit-reset", "1709295000")],
            true,
            None,
        ),
    ];
    for (which, status, lines, is_refused, pause) in waits {
        let said = said(*status, lines);
        assert_eq!((said.is_refused, said.pause), (*is_refused, pause.map(Duration::from_millis)), "{which}");
    }
}

#[test]
fn nonsense_says_nothing() {
    const TRIPLE: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    for values in [
        ["100", "-1", "60"],
        ["100", "many", "60"],
        ["100", "", "60"],
        ["100", "99, 98", "60"],
        ["100", "101", "60"],
        ["0", "0", "60"],
        ["none", "99", "60"],
        ["100", "99", "-60"],
        ["100", "99", "soon"],
        ["100", "99", "40000000"],
        ["10000000000000", "10000000000000", "60"],
    ] {
        let lines: Vec<_> = TRIPLE.into_iter().zip(values).collect();
        assert_eq!(figures(&said(200, &lines)), [], "{values:?}");
    }
    for lines in [
        &[("x-ratelimit-remaining", "5")][..],
        &[("ratelimit", "\"a\";r=5")],
        &[("ratelimit", "\"a\";r=-5;t=1")],
        &[("ratelimit", "\"a\";r=5;t=1, (")],
        &[("ratelimit", "5;r=5;t=1")],
        &[("ratelimit", "limit=5, remaining=a, reset=1")],
        &[("x-shopify-shop-api-call-limit", "32/0")],
        &[("x-shopify-shop-api-call-limit", "32")],
    ] {
        assert_eq!(figures(&said(200, lines)), [], "{lines:?}");
    }
}

#[test]
fn lines_that_contradict_each_other_say_nothing_and_those_that_repeat_speak_once() {
    let lines = |other| {
        [("x-ratelimit-reset", "60"), ("x-ratelimit-remaining", "5"), ("x-ratelimit-remaining", other)]
    };
    assert_eq!(figures(&said(200, &lines("5"))), [(0, 5, 60_000, 0)]);
    assert_eq!(figures(&said(200, &lines("6"))), []);
    let draft = |other| [("ratelimit", "\"a\";r=5;t=6, \"b\";r=1;t=1"), ("ratelimit", other)];
    assert_eq!(figures(&said(200, &draft("\"a\";r=5;t=6"))).len(), 2);
    assert_eq!(figures(&said(200, &draft("\"a\";r=4;t=6"))), [(0, 1, 1000, 0)]);
}

#[test]
fn a_quota_has_one_name_and_another_has_another() {
    let names = |lines: &[_]| said(200, lines).quotas.iter().map(|quota| quota.name).collect::<Vec<_>>();
    let github = |resource, remaining| {
        names(&[
            ("x-ratelimit-remaining", remaining),
            ("x-ratelimit-reset", "60"),
            ("x-ratelimit-resource", resource),
        ])
    };
    assert_eq!(github("core", "5"), github("core", "4"));
    assert_ne!(github("core", "5"), github("search", "5"));
    let partitions =
        names(&[("ratelimit", "\"a\";r=5;t=6;pk=:YQ==:, \"a\";r=5;t=6;pk=:Yg==:, \"b\";r=5;t=6")]);
    assert_eq!(std::collections::BTreeSet::from_iter(&partitions).len(), 3);
}

#[test]
fn what_a_cache_on_the_way_remembers_is_not_what_remains() {
    let lines = |age| [("ratelimit", "\"a\";r=5;t=6"), ("retry-after", "7"), ("age", age)];
    let old = said(429, &lines("3"));
    assert_eq!((figures(&old), old.pause), (vec![], Some(Duration::from_secs(7))));
    assert_eq!(figures(&said(429, &lines("0"))), [(0, 5, 6000, 0)], "a cache that has asked for us");
}

#[test]
fn dates_are_compared_with_the_clock_that_wrote_them() {
    let lines = |date| [("x-ratelimit-remaining", "5"), ("x-ratelimit-reset", "1709294520"), ("date", date)];
    assert_eq!(figures(&said(200, &lines("Fri, 01 Mar 2024 12:01:30 GMT"))), [(0, 5, 30_000, 0)]);
    assert_eq!(figures(&said(200, &lines("today"))), [(0, 5, 120_000, 0)]);
}

#[test]
fn no_more_is_kept_than_anybody_needs() {
    let kept = |count: u32| {
        let many: Vec<_> = (0..count).map(|number| format!("\"{number}\";r=5;t=6")).collect();
        said(200, &[("ratelimit", &many.join(", "))]).quotas.len()
    };
    assert_eq!([1, 8, 9, 32, 33].map(kept), [1, 8, 8, 8, 0]);
}

const NAMES: [&str; 22] = [
    "age",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "date",
    "ratelimit",
    "ratelimit-limit",
    "ratelimit-policy",
    "ratelimit-remaining",
    "ratelimit-reset",
    "retry-after",
    "retry-after-ms",
    "x-hubspot-ratelimit-interval-milliseconds",
    "x-hubspot-ratelimit-max",
    "x-hubspot-ratelimit-remaining",
    "x-ratelimit-limit",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-shopify-shop-api-call-limit",
];

fn value() -> impl Strategy<Value = Vec<u8>> {
    // All that a field may hold (RFC 9110 §5.5).
    let byte = prop_oneof![Just(b'\t'), b' '..0x7f, 0x80..=0xff_u8];
    let bytes = proptest::collection::vec(byte, 0..40);
    let number = prop_oneof![
        any::<f64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        "[0-9]{1,30}(\\.[0-9]{0,9})?",
        "[0-9]{1,25}(ms|s|m|h|d|y)[0-9]{0,9}(ms|s)?",
        "[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,12})?Z?",
        "[0-9]{0,25}/[0-9]{0,25}",
        "\"[a-c]\";[rqw]=-?[0-9]{1,16};[tw]=-?[0-9]{1,16}(, \"[a-c]\";r=[0-9];t=[0-9])?",
        "(limit|remaining|reset)=[0-9]{1,16}, (remaining|reset)=[0-9]{1,16}",
    ];
    prop_oneof![bytes, number.prop_map(String::into_bytes)]
}

proptest! {
    /// Whatever comes, nothing panics, and what is said is within bounds.
    #[test]
    fn whatever_comes_what_is_said_makes_sense(
        status in prop_oneof![Just(200), Just(403), Just(429), Just(503), 100..1000_u16],
        lines in proptest::collection::vec((0..NAMES.len(), value()), 0..20),
        now in prop_oneof![Just(0), Just(NOW.as_millis()), any::<u64>()],
    ) {
        let mut fields = HeaderMap::new();
        for (name, value) in &lines {
            fields.append(NAMES[*name], HeaderValue::from_bytes(value).unwrap());
        }
        let said = Said::of(StatusCode::from_u16(status).unwrap(), &fields, Timestamp::from_millis(now));
        prop_assert!(said.quotas.len() <= MOST_QUOTAS);
        prop_assert!(said.quotas.iter().all(SaidQuota::makes_sense));
        prop_assert!(said.pause.is_none_or(|pause| !pause.is_zero()));
        prop_assert!(said.pause.is_none() || said.is_refused || status == 503);
    }
}
