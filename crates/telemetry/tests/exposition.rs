//! What `render` gives is OpenMetrics text that a strict reader accepts, and says what was recorded.

#![allow(clippy::unwrap_used, clippy::panic, clippy::float_cmp)] // a test: exact small numbers

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode, Version};
use message::{CacheStatus, Client, Error, Fwd, Kind, Scheme, Timestamp};
use telemetry::{Errand, Exchange, Family as Figure, Metrics, PurgeKind, Recorder};

/// Samples by name and labels as written, after every rule of the format below held.
#[derive(Debug)]
struct Exposition(BTreeMap<String, f64>);

/// One family while it is being read.
#[derive(Default)]
struct Family {
    name: String,
    kind: String,
    last_bucket: Option<(f64, f64)>,
}

impl Exposition {
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("the end is marked");
        let mut samples = BTreeMap::new();
        let mut families = BTreeSet::new();
        let mut family = Family::default();
        for line in body.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let mut words = comment.splitn(3, ' ');
                let (keyword, name, rest) = (words.next(), words.next().unwrap(), words.next().unwrap());
                match keyword {
                    Some("HELP") => assert!(families.insert(name.to_owned()), "{name} stands twice"),
                    Some("TYPE") => {
                        assert!(["counter", "gauge", "histogram", "info"].contains(&rest), "{line}");
                        family = Family { name: name.to_owned(), kind: rest.to_owned(), last_bucket: None };
                    }
                    Some("UNIT") => assert!(name.ends_with(&format!("_{rest}")), "{line}"),
                    _ => panic!("no such comment: {line}"),
                }
                assert!(families.contains(name), "{line}");
                continue;
            }
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let value: f64 = value.parse().expect("a number");
            family.check(series, value);
            assert!(samples.insert(series.to_owned(), value).is_none(), "{series} stands twice");
        }
        Exposition(samples)
    }

    fn get(&self, series: &str) -> f64 {
        *self.0.get(series).unwrap_or_else(|| panic!("no {series} in {:#?}", self.0.keys()))
    }
}

impl Family {
    /// A sample stands under its own family, has the suffix of its kind, valid labels and a possible value.
    fn check(&mut self, series: &str, value: f64) {
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, parse_labels(labels.strip_suffix('}').expect("closed"))),
            None => (series, Vec::new()),
        };
        assert!(name.starts_with("fleetfoot_"), "{series}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{series}");
        let suffix = name.strip_prefix(&self.name).unwrap_or_else(|| panic!("{series} under {}", self.name));
        match (self.kind.as_str(), suffix) {
            ("counter", "_total") | ("histogram", "_count" | "_sum") => assert!(value >= 0.0, "{series}"),
            ("gauge", "") => {}
            ("info", "_info") => assert!((value - 1.0).abs() < f64::EPSILON, "{series}"),
            ("histogram", "_bucket") => {
                let (_, bound) = labels.iter().find(|(name, _)| name == "le").expect("a bound");
                let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().expect("a number") };
                if let Some((lower, below)) = self.last_bucket {
                    assert!(bound > lower && value >= below, "{series}");
                }
                self.last_bucket = Some((bound, value));
            }
            other => panic!("{other:?} in {series}"),
        }
    }
}

fn parse_labels(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a value in quotes");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next().expect("the quote is closed") {
                (at, '"') => break at,
                (_, '\\') => match chars.next().expect("an escape").1 {
                    'n' => value.push('\n'),
                    escaped @ ('"' | '\\') => value.push(escaped),
                    other => panic!("no such escape: {other}"),
                },
                (_, char) => value.push(char),
            }
        };
        labels.push((name.to_owned(), value));
        rest = after[end + 1..].strip_prefix(',').unwrap_or(&after[end + 1..]);
    }
    labels
}

const NOTHING: CacheStatus = CacheStatus {
    hit: false,
    fwd: None,
    fwd_status: None,
    ttl: None,
    stored: false,
    collapsed: false,
    detail: None,
};

fn client() -> Client {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 4000));
    Client { address, local: address, trusted: false }
}

fn record(recorder: &Recorder, cache: Option<CacheStatus>, source: Option<Duration>, error: Option<&Error>) {
    recorder.record(&Exchange {
        client: &client(),
        method: &Method::GET,
        scheme: Scheme::Http,
        authority: "localhost",
        target: "/",
        version: Version::HTTP_11,
        status: if error.is_some() { StatusCode::BAD_GATEWAY } else { StatusCode::OK },
        bytes: 100,
        duration: Duration::from_micros(5) + source.unwrap_or_default(),
        head_time: Duration::from_micros(5) + source.unwrap_or_default(),
        source_time: source,
        queued: None,
        attempts: 0,
        account: None,
        cache,
        error,
        id: None,
        route: None,
        user_agent: None,
        referer: None,
    });
}

#[test]
fn nothing_recorded_is_valid_too() {
    let exposition = Exposition::parse(&Metrics::new(1).render());
    assert_eq!(exposition.get("fleetfoot_requests_total{cache=\"hit\"}"), 0.0);
    assert_eq!(exposition.get("fleetfoot_overhead_seconds_count"), 0.0);
    assert_eq!(exposition.get("fleetfoot_config_last_load_successful"), 0.0);
}

#[test]
fn cores_add_up() {
    let metrics = Metrics::new(2);
    let cores = [0, 1].map(|core| Recorder::new(Arc::clone(&metrics), core, plan::AccessLog::Off));
    let hit = CacheStatus { hit: true, ttl: Some(3), ..NOTHING };
    let miss = CacheStatus { fwd: Some(Fwd::UriMiss), fwd_status: Some(200), ..NOTHING };
    let refused = CacheStatus { detail: Some("no-store"), ..miss };
    let broken = Error::new(Kind::BrokeOff, "half an answer");
    for core in &cores {
        record(core, Some(hit), None, None);
        record(core, Some(miss), Some(Duration::from_millis(20)), None);
    }
    record(&cores[0], Some(refused), Some(Duration::from_millis(20)), None);
    record(&cores[1], None, Some(Duration::from_secs(100)), Some(&broken));
    cores[1].refused(
        &client(),
        &Error::new(Kind::HeadTooLarge, "too many"),
        StatusCode::from_u16(431).unwrap(),
    );
    cores[1].failed(&broken);
    cores[0].bytes_in(7);

    let exposition = Exposition::parse(&metrics.render());
    for (series, value) in [
        ("requests_total{cache=\"hit\"}", 2.0),
        ("requests_total{cache=\"miss\"}", 3.0),
        ("requests_total{cache=\"none\"}", 2.0),
        ("requests_total{cache=\"stale\"}", 0.0),
        ("responses_total{status=\"2xx\"}", 5.0),
        ("responses_total{status=\"4xx\"}", 1.0),
        ("responses_total{status=\"5xx\"}", 1.0),
        ("forwarded_total{reason=\"uri-miss\",detail=\"\"}", 2.0),
        ("forwarded_total{reason=\"uri-miss\",detail=\"no-store\"}", 1.0),
        ("errors_total{kind=\"broke-off\",side=\"source\"}", 2.0),
        ("errors_total{kind=\"head-too-large\",side=\"client\"}", 1.0),
        ("errors_total{kind=\"overloaded\",side=\"fleetfoot\"}", 0.0),
        ("sent_bytes_total", 600.0),
        ("received_bytes_total", 7.0),
        ("overhead_seconds_count", 6.0),
        ("overhead_seconds_bucket{le=\"0.000004\"}", 0.0),
        ("overhead_seconds_bucket{le=\"0.000006\"}", 6.0),
        ("source_wait_seconds_count", 4.0),
        ("source_wait_seconds_bucket{le=\"0.016384\"}", 0.0),
        ("source_wait_seconds_bucket{le=\"0.024576\"}", 3.0),
        ("source_wait_seconds_bucket{le=\"67.108864\"}", 3.0),
        ("source_wait_seconds_bucket{le=\"+Inf\"}", 4.0),
    ] {
        assert_eq!(exposition.get(&format!("fleetfoot_{series}")), value, "{series}");
    }
}

#[test]
fn owners_are_asked_when_somebody_renders() {
    let metrics = Metrics::new(1);
    metrics.families_from(|_| vec![Figure::gauge("cache", "said before").bytes().of(12)]);
    metrics.families_from(|own| {
        let source = "a \"quoted\"\nname\\";
        let mut all = vec![
            Figure::gauge("cache", "of bytes").bytes().of(1 << 40),
            Figure::gauge("cache", "of no unit").of(true),
            Figure::counter("cache_evictions", "a counter").of(3),
        ];
        all.extend(own);
        all.push(
            Figure::counter("connections", "a label").by(["event"], [(["accepted"], 9), (["refused"], 1)]),
        );
        all.push(
            Figure::gauge("target_healthy", "two labels")
                .by(["source", "target"], [([source, "one:80"], true), ([source, "two:80"], false)]),
        );
        all.push(Figure::gauge("empty", "a heading").by(["source"], Vec::<([String; 1], u64)>::new()));
        all
    });
    metrics.config_loaded(Timestamp::from_secs(1_770_091_506), true);
    metrics.config_loaded(Timestamp::from_secs(1_770_091_999), false);

    let exposition = Exposition::parse(&metrics.render());
    for (series, value) in [
        ("cache_bytes", (1u64 << 40) as f64),
        ("cache_evictions_total", 3.0),
        ("cache", 1.0),
        ("purges_total{scope=\"tag\",mode=\"hard\"}", 0.0),
        ("connections_total{event=\"accepted\"}", 9.0),
        ("target_healthy{source=\"a \\\"quoted\\\"\\nname\\\\\",target=\"one:80\"}", 1.0),
        ("target_healthy{source=\"a \\\"quoted\\\"\\nname\\\\\",target=\"two:80\"}", 0.0),
        ("config_loads_total{result=\"success\"}", 1.0),
        ("config_loads_total{result=\"failure\"}", 1.0),
        ("config_last_load_successful", 0.0),
        ("config_last_success_timestamp_seconds", 1_770_091_506.0),
        ("build_info{version=\"0.1.0\"}", 1.0),
        ("cores", 1.0),
    ] {
        assert_eq!(exposition.get(&format!("fleetfoot_{series}")), value, "{series}");
    }
    let text = metrics.render();
    for lines in [
        "# UNIT fleetfoot_cache_bytes bytes\nfleetfoot_cache_bytes 1099511627776.0\n",
        "# TYPE fleetfoot_cache_evictions counter\nfleetfoot_cache_evictions_total 3\n# HELP fleetfoot_purges ",
        ",target=\"one:80\"} 1\n",
        "# HELP fleetfoot_empty a heading\n# TYPE fleetfoot_empty gauge\n# HELP ",
    ] {
        assert!(text.contains(lines), "{lines} in {text}");
    }
}

#[test]
fn what_was_forgotten_and_fetched_by_ourselves_is_counted() {
    let metrics = Metrics::new(1);
    let recorder = Recorder::new(Arc::clone(&metrics), 0, plan::AccessLog::Off);
    metrics.purged(PurgeKind::Tag, false);
    recorder.purged(PurgeKind::Tag, true);
    recorder.purged(PurgeKind::Tag, true);
    metrics.purged(PurgeKind::Everything, false);
    metrics.errand(Errand::Refresh);
    recorder.errand(Errand::Warm);

    let exposition = Exposition::parse(&metrics.render());
    for (series, value) in [
        ("purges_total{scope=\"tag\",mode=\"hard\"}", 1.0),
        ("purges_total{scope=\"tag\",mode=\"soft\"}", 2.0),
        ("purges_total{scope=\"everything\",mode=\"hard\"}", 1.0),
        ("purges_total{scope=\"url\",mode=\"soft\"}", 0.0),
        ("purges_total{scope=\"prefix\",mode=\"hard\"}", 0.0),
        ("purges_total{scope=\"host\",mode=\"hard\"}", 0.0),
        ("errands_total{purpose=\"refresh\"}", 1.0),
        ("errands_total{purpose=\"warm\"}", 1.0),
        ("errands_total{purpose=\"explain\"}", 0.0),
        ("requests_total{cache=\"miss\"}", 0.0),
    ] {
        assert_eq!(exposition.get(&format!("fleetfoot_{series}")), value, "{series}");
    }
}
