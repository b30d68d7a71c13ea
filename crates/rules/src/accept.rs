//! Accept: whether a client wants to be told what failed in JSON (RFC 9110 §12.5.1).

use http::header::ACCEPT;
use message::Fields;

use crate::list;
use crate::quality::{self, Quality};

/// True where JSON is accepted by name and plain text is not liked better. `*/*` asks for nothing: it is what curl and
/// browsers send, and people read those. Of a type that is named twice the higher quality counts.
pub fn asks_for_json(request: Fields<'_>) -> bool {
    let mut problem = None;
    let mut json = None;
    let mut application = None;
    let mut plain = None;
    let mut text = None;
    let mut any = None;
    for (range, quality) in request.all(&ACCEPT).flat_map(list::members).filter_map(quality::weighed) {
        let is = |name: &str| range.eq_ignore_ascii_case(name.as_bytes());
        let place: &mut Option<Quality> = match range {
            _ if is("application/problem+json") => &mut problem,
            _ if is("application/json") || is_json_based(range) => &mut json,
            _ if is("application/*") => &mut application,
            _ if is("text/plain") => &mut plain,
            _ if is("text/*") => &mut text,
            _ if is("*/*") => &mut any,
            _ => continue,
        };
        *place = (*place).max(Some(quality));
    }
    // The most specific range that fits decides.
    let json = problem.or(json).or(application).unwrap_or(Quality::ZERO);
    let plain = plain.or(text).or(any).unwrap_or(Quality::ZERO);
    json > Quality::ZERO && json >= plain
}

/// Whether a type has the suffix of those that are JSON beneath (RFC 6839 §3.1).
fn is_json_based(range: &[u8]) -> bool {
    let suffix = range.len().checked_sub("+json".len()).map(|at| &range[at..]);
    range.contains(&b'/') && suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case(b"+json"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn asks(lines: &[&str]) -> bool {
        let value = |line: &&str| (ACCEPT, HeaderValue::from_str(line).unwrap());
        asks_for_json(Fields::Map(&lines.iter().map(value).collect::<HeaderMap>()))
    }

    #[test]
    fn whoever_names_json_gets_it() {
        for line in [
            "application/json",
            "application/problem+json",
            "application/*",
            "application/vnd.api+json",
            "Application/JSON; charset=utf-8",
            "APPLICATION/LD+JSON;q=0.1",
            "application/json, text/plain, */*",
            "application/json, text/javascript, */*; q=0.01",
            "text/html, application/json;q=0.9, */*;q=0.8",
            "application/json;q=0, application/problem+json",
            r#"application/ld+json;profile="a, text/plain", application/json;q=0.5"#,
        ] {
            assert!(asks(&[line]), "{line}");
        }
        assert!(asks(&["text/html", "image/*, application/json"]), "several lines are one list");
    }

    #[test]
    fn nobody_else_does() {
        for line in [
            "",
            "*/*",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "text/json",
            "+json",
            "application/json;q=0",
            "application/json;q=0.000, application/*;q=0",
            "application/problem+json;q=0, application/json",
            "application/json;q=0.5, text/plain",
            "application/json;q=0.5, text/*;q=0.6",
            "application/json;q=0.5, */*",
            // what cannot be read is as if it were not there
            "application/json;q=high",
            "application/json;q=1.5, ;q=1, ,/,json",
        ] {
            assert!(!asks(&[line]), "{line}");
        }
        assert!(!asks(&[]));
        assert!(!asks(&["application/json;q=0.2", "text/plain;q=0.3"]));
    }
}
