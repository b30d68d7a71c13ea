//! Text line: a line of the access log for people.
//!
//! ```text
//! 2026-02-03T04:05:06.789Z 192.0.2.7 GET https://api.test/items?id=7 HTTP/1.1 200 1024B 0.012ms hit ttl=4
//! 2026-02-03T04:05:07.001Z 192.0.2.7 GET https://api.test/new HTTP/2 200 512B 201.340ms miss(uri-miss) stored id=00f1e2d3c4b5a697
//! 2026-02-03T04:05:07.444Z 192.0.2.9 - - - 400 0B - none error=malformed-request "two Content-Length fields"
//! ```
//!
//! Parts are separated by one space; what came from outside is printable ASCII without spaces, everything else of it
//! written `\xNN`, so that nobody can forge a line, a part or a terminal's command.

use std::io::Write;
use std::time::Duration;

use message::CacheStatus;

use crate::Exchange;
use crate::date::Date;
use crate::line::{LogLine, version_word};
use crate::redacted::{MARK, Redacted};

/// Appends the line with its end.
pub(crate) fn write(line: &LogLine<'_>, out: &mut Vec<u8>) {
    put(out, format_args!("{} {} ", Date(line.now), line.address()));
    match line.exchange {
        Some(exchange) => write_request(exchange, out),
        None => out.extend_from_slice(b"- - -"),
    }
    let bytes = line.exchange.map_or(0, |exchange| exchange.bytes);
    put(out, format_args!(" {} {bytes}B ", line.status.as_u16()));
    match line.exchange {
        Some(exchange) => write_millis(exchange.duration, out),
        None => out.push(b'-'),
    }
    put(out, format_args!(" {}", line.result().word()));
    if let Some(status) = line.exchange.and_then(|exchange| exchange.cache.as_ref()) {
        write_reason(status, out);
    }
    if let Some(id) = line.exchange.and_then(|exchange| exchange.id) {
        out.extend_from_slice(b" id=");
        write_escaped(id.as_bytes(), out);
    }
    if let Some(error) = line.error {
        put(out, format_args!(" error={} \"", error.kind().word()));
        write_quoted(error.detail().as_bytes(), out);
        out.push(b'"');
    }
    out.push(b'\n');
}

fn write_request(exchange: &Exchange<'_>, out: &mut Vec<u8>) {
    write_escaped(exchange.method.as_str().as_bytes(), out);
    put(out, format_args!(" {}://", exchange.scheme.as_str()));
    write_escaped(exchange.authority.as_bytes(), out);
    for piece in Redacted::new(exchange.target.as_bytes()) {
        if piece == MARK.as_bytes() { out.extend_from_slice(piece) } else { write_escaped(piece, out) }
    }
    put(out, format_args!(" {}", version_word(exchange.version)));
}

/// Milliseconds with microseconds behind the point.
fn write_millis(duration: Duration, out: &mut Vec<u8>) {
    put(out, format_args!("{}.{:03}ms", duration.as_millis(), duration.subsec_micros() % 1000));
}

/// Why it was forwarded, and what came of it.
fn write_reason(status: &CacheStatus, out: &mut Vec<u8>) {
    match (status.fwd, status.detail) {
        (Some(fwd), Some(detail)) => put(out, format_args!("({}: {detail})", fwd.word())),
        (Some(fwd), None) => put(out, format_args!("({})", fwd.word())),
        (None, Some(detail)) => put(out, format_args!("({detail})")),
        (None, None) => {}
    }
    if let Some(fwd_status) = status.fwd_status {
        put(out, format_args!(" fwd-status={fwd_status}"));
    }
    if let Some(ttl) = status.ttl {
        put(out, format_args!(" ttl={ttl}"));
    }
    if status.stored {
        out.extend_from_slice(b" stored");
    }
    if status.collapsed {
        out.extend_from_slice(b" collapsed");
    }
}

/// Printable ASCII as it is, all else as `\xNN`; a space too.
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0x21..=0x7e => out.push(*byte),
            _ => put(out, format_args!("\\x{byte:02x}")),
        }
    }
}

/// The same with spaces left as they are, for use between quotes.
fn write_quoted(bytes: &[u8], out: &mut Vec<u8>) {
    for (index, word) in bytes.split(|byte| *byte == b' ').enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        write_escaped(word, out);
    }
}

fn put(out: &mut Vec<u8>, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing to memory cannot fail, nor do the types above fail to format");
}

#[cfg(test)]
mod tests {
    use message::{Error, Kind};
    use proptest::prelude::*;

    use super::*;
    use crate::samples::{self, Sample};

    fn written(line: &LogLine<'_>) -> String {
        let mut out = Vec::new();
        write(line, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_hit() {
        let sample = Sample::hit();
        assert_eq!(
            written(&LogLine::of(samples::NOW, &sample.exchange())),
            "2026-02-03T04:05:06.789Z 192.0.2.7 GET https://api.test/items?id=7&token=… HTTP/1.1 200 1024B 0.012ms \
             hit ttl=4\n"
        );
    }

    #[test]
    fn a_miss_and_its_reason() {
        let sample = Sample::miss();
        assert_eq!(
            written(&LogLine::of(samples::NOW, &sample.exchange())),
            "2026-02-03T04:05:06.789Z 192.0.2.7 GET https://api.test/items?id=7&token=… HTTP/1.1 200 1024B 201.340ms \
             miss(uri-miss: range) fwd-status=206 collapsed id=00f1e2d3c4b5a697\n"
        );
    }

    #[test]
    fn a_refused_request() {
        let (client, error) = (samples::client(), Error::new(Kind::MalformedRequest, "a \"bare\" LF\n"));
        let status = http::StatusCode::BAD_REQUEST;
        let line =
            LogLine { now: samples::NOW, client: &client, status, error: Some(&error), exchange: None };
        assert_eq!(
            written(&line),
            "2026-02-03T04:05:06.789Z 192.0.2.7 - - - 400 0B - none error=malformed-request \"a \\\"bare\\\" LF\\x0a\"\n"
        );
    }

    proptest! {
        #[test]
        fn what_is_sent_can_forge_neither_a_line_nor_a_part(authority in any::<String>(), target in any::<String>(), detail in any::<String>()) {
            let mut sample = Sample::hit();
            (sample.authority, sample.target) = (authority, target);
            sample.error = Some(Error::new(Kind::BrokeOff, detail));
            let line = written(&LogLine::of(samples::NOW, &sample.exchange()));
            let line = line.strip_suffix('\n').unwrap();
            prop_assert!(!line.contains(char::is_control), "{line:?}");
            prop_assert!(line.chars().all(|char| char.is_ascii() || char == '…'), "{line:?}");
            let (parts, quoted) = line.split_once(" error=broke-off \"").unwrap();
            prop_assert_eq!(parts.split(' ').count(), 10, "{}", line);
            let unescaped = quoted.replace("\\\\", "").replace("\\\"", "");
            prop_assert_eq!(unescaped.find('"'), Some(unescaped.len() - 1));
        }
    }
}
