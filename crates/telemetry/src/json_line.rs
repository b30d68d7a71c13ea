//! JSON line: a line of the access log for machines: one object, always with the same keys in the same order, `null`
//! where there is nothing to say.
//!
//! | key | meaning |
//! |---|---|
//! | `time` | when it was finished, RFC 3339 in UTC |
//! | `client` | the client's address |
//! | `method`, `scheme`, `authority`, `target`, `version` | what it asked; secrets in the query replaced by `…` |
//! | `status`, `bytes` | what it got: the status and bytes of content |
//! | `duration_ms`, `source_ms` | how long it took, and how much of it was waiting for the source |
//! | `queued_ms` | how long it waited for its turn, where a policy has a queue |
//! | `attempts` | how often the source was asked, where a policy asked again |
//! | `account` | by which account the source was asked last, where a policy has several |
//! | `cache` | `hit`, `stale`, `revalidated`, `miss`, `pass` or `none` |
//! | `cache_fwd`, `cache_fwd_status`, `cache_detail` | why it was forwarded (RFC 9211), what came back, and more |
//! | `cache_ttl`, `cache_stored`, `cache_collapsed` | lifetime left in seconds; stored now; fetched together |
//! | `route` | the pattern of the route |
//! | `id` | what `X-Request-Id` of the answer says |
//! | `error`, `error_side`, `error_detail` | what failed, on which side (`client`, `source`, `us`), in words |
//! | `user_agent`, `referer` | as the client sent them |
//!
//! Bytes that are not UTF-8 become U+FFFD. Control characters, also those beyond ASCII, are escaped.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::date::Date;
use crate::line::{LogLine, version_word};
use crate::redacted::Redacted;

/// Appends the line with its end.
pub(crate) fn write(line: &LogLine<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, EscapeControls);
    if Object::of(line).serialize(&mut serializer).is_err() {
        out.truncate(start); // cannot be: writing to memory does not fail and every key is a string
        return;
    }
    out.push(b'\n');
}

#[derive(Serialize)]
struct Object<'a> {
    time: Shown<Date>,
    client: IpAddr,
    method: Option<&'a str>,
    scheme: Option<&'static str>,
    authority: Option<&'a str>,
    target: Option<Shown<Url<'a>>>,
    version: Option<&'static str>,
    status: u16,
    bytes: u64,
    duration_ms: Option<f64>,
    source_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    cache: &'static str,
    cache_fwd: Option<&'static str>,
    cache_fwd_status: Option<u16>,
    cache_detail: Option<&'static str>,
    cache_ttl: Option<i64>,
    cache_stored: bool,
    cache_collapsed: bool,
    route: Option<&'a str>,
    id: Option<&'a str>,
    error: Option<&'static str>,
    error_side: Option<&'static str>,
    error_detail: Option<&'a str>,
    user_agent: Option<Shown<Text<'a>>>,
    referer: Option<Shown<Url<'a>>>,
}

impl<'a> Object<'a> {
    fn of(line: &LogLine<'a>) -> Self {
        let exchange = line.exchange;
        let cache = exchange.and_then(|exchange| exchange.cache);
        Object {
            time: Shown(Date(line.now)),
            client: line.address(),
            method: exchange.map(|exchange| exchange.method.as_str()),
            scheme: exchange.map(|exchange| exchange.scheme.as_str()),
            authority: exchange.map(|exchange| exchange.authority),
            target: exchange.map(|exchange| Shown(Url(exchange.target.as_bytes()))),
            version: exchange.map(|exchange| version_word(exchange.version)),
            status: line.status.as_u16(),
            bytes: exchange.map_or(0, |exchange| exchange.bytes),
            duration_ms: exchange.map(|exchange| millis(exchange.duration)),
            source_ms: exchange.and_then(|exchange| exchange.source_time).map(millis),
            queued_ms: exchange.and_then(|exchange| exchange.queued).map(millis),
            attempts: exchange.map(|exchange| exchange.attempts).filter(|attempts| *attempts > 1),
            account: exchange.and_then(|exchange| exchange.account),
            cache: line.result().word(),
            cache_fwd: cache.and_then(|status| status.fwd).map(|fwd| fwd.word()),
            cache_fwd_status: cache.and_then(|status| status.fwd_status),
            cache_detail: cache.and_then(|status| status.detail),
            cache_ttl: cache.and_then(|status| status.ttl),
            cache_stored: cache.is_some_and(|status| status.stored),
            cache_collapsed: cache.is_some_and(|status| status.collapsed),
            route: exchange.and_then(|exchange| exchange.route),
            id: exchange.and_then(|exchange| exchange.id),
            error: line.error.map(|error| error.kind().word()),
            error_side: line.error.map(|error| error.side().word()),
            error_detail: line.error.map(message::Error::detail),
            user_agent: exchange.and_then(|exchange| exchange.user_agent).map(|bytes| Shown(Text(bytes))),
            referer: exchange.and_then(|exchange| exchange.referer).map(|bytes| Shown(Url(bytes))),
        }
    }
}

/// To the microsecond; more digits would be noise.
fn millis(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e3
}

/// A JSON string of what something displays.
struct Shown<T>(T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Bytes that are text, most likely.
struct Text<'a>(&'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_str("\u{fffd}")?;
            }
        }
        Ok(())
    }
}

/// A URL without its secrets.
struct Url<'a>(&'a [u8]);

impl fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Redacted::new(self.0).try_for_each(|piece| Text(piece).fmt(f))
    }
}

/// Compact JSON that escapes control characters beyond ASCII too, and what starts a new line in some viewers.
struct EscapeControls;

impl Formatter for EscapeControls {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_awkward) {
            let (before, from) = rest.split_at(at);
            let awkward = from.chars().next().unwrap_or_default();
            write!(writer, "{before}\\u{:04x}", awkward as u32)?;
            rest = &from[awkward.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// C0 never gets here, JSON escapes it; DEL, C1, line and paragraph separators and changes of direction may.
fn is_awkward(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use message::{Error, Kind};
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::samples::{self, Sample};

    const KEYS: [&str; 25] = [
        "time",
        "client",
        "method",
        "scheme",
        "authority",
        "target",
        "version",
        "status",
        "bytes",
        "duration_ms",
        "source_ms",
        "cache",
        "cache_fwd",
        "cache_fwd_status",
        "cache_detail",
        "cache_ttl",
        "cache_stored",
        "cache_collapsed",
        "route",
        "id",
        "error",
        "error_side",
        "error_detail",
        "user_agent",
        "referer",
    ];

    fn written(line: &LogLine<'_>) -> (String, Value) {
        let mut out = Vec::new();
        write(line, &mut out);
        let text = String::from_utf8(out).unwrap();
        let value = serde_json::from_str(&text).unwrap();
        (text, value)
    }

    #[test]
    fn a_miss_word_for_word() {
        let sample = Sample::miss();
        let (text, _) = written(&LogLine::of(samples::NOW, &sample.exchange()));
        assert_eq!(
            text,
            concat!(
                r#"{"time":"2026-02-03T04:05:06.789Z","client":"192.0.2.7","method":"GET","scheme":"https","#,
                r#""authority":"api.test","target":"/items?id=7&token=…","version":"HTTP/1.1","status":200,"#,
                r#""bytes":1024,"duration_ms":201.34,"source_ms":200.0,"cache":"miss","cache_fwd":"uri-miss","#,
                r#""cache_fwd_status":206,"cache_detail":"range","cache_ttl":null,"cache_stored":false,"#,
                r#""cache_collapsed":true,"route":"/items","id":"00f1e2d3c4b5a697","error":null,"error_side":null,"error_detail":null,"#,
                r#""user_agent":"test/1","referer":"https://a.test/?key=…"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_refused_request_has_the_same_keys() {
        let (client, error) = (samples::client(), Error::new(Kind::HeadTooLarge, "65 fields"));
        let status = http::StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let line =
            LogLine { now: samples::NOW, client: &client, status, error: Some(&error), exchange: None };
        let (text, value) = written(&line);
        assert!(KEYS.iter().all(|key| value.get(key).is_some()));
        assert_eq!(value.as_object().unwrap().len(), KEYS.len());
        assert!(
            text.contains(r#""error":"head-too-large","error_side":"client","error_detail":"65 fields""#)
        );
        assert_eq!(value["method"], Value::Null);
    }

    proptest! {
        #[test]
        fn every_line_parses_back(
            authority in any::<String>(),
            target in any::<String>(),
            detail in any::<String>(),
            user_agent in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut sample = Sample::hit();
            sample.authority.clone_from(&authority);
            sample.target = target.replace(['?', '='], "_");
            sample.error = Some(Error::new(Kind::BrokeOff, detail.clone()));
            sample.user_agent.clone_from(&user_agent);
            let (text, value) = written(&LogLine::of(samples::NOW, &sample.exchange()));
            prop_assert!(!text.trim_end_matches('\n').contains(is_awkward), "{text:?}");
            prop_assert_eq!(text.matches('\n').count(), 1);
            prop_assert_eq!(value["authority"].as_str(), Some(authority.as_str()));
            prop_assert_eq!(value["target"].as_str(), Some(sample.target.as_str()));
            prop_assert_eq!(value["error_detail"].as_str(), Some(detail.as_str()));
            let lossy = String::from_utf8_lossy(&user_agent);
            prop_assert_eq!(value["user_agent"].as_str(), Some(&*lossy));
            let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
            prop_assert_eq!(keys.len(), KEYS.len());
        }

        #[test]
        fn a_referer_of_any_bytes_parses_back(referer in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut sample = Sample::hit();
            sample.referer = referer;
            let (_, value) = written(&LogLine::of(samples::NOW, &sample.exchange()));
            prop_assert!(value["referer"].is_string());
        }
    }
}
