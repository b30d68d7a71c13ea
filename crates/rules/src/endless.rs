//! Endless: whether an answer is of a kind that goes on for as long as somebody reads it, by its `Content-Type`. Such an
//! answer is of the moment and of one reader: it is never stored, whatever it says, and nobody reads along.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Server-sent events, and pictures that replace each other. Other types may be streamed as well, but have an end.
const TYPES: [&str; 2] = ["text/event-stream", "multipart/x-mixed-replace"];

/// Whether any line of `Content-Type` names one of them.
pub(crate) fn is_endless(response: &HeaderMap) -> bool {
    response.get_all(CONTENT_TYPE).iter().any(|line| {
        let media_type = line.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        TYPES.iter().any(|known| media_type.eq_ignore_ascii_case(known.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn streams_are_told_by_their_type() {
        for (line, expected) in [
            ("text/event-stream", true),
            ("Text/Event-Stream ; charset=utf-8", true),
            ("multipart/x-mixed-replace; boundary=x", true),
            ("text/event-streams", false),
            ("application/json", false),
            ("", false),
        ] {
            let fields = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(line))]);
            assert_eq!(is_endless(&fields), expected, "{line}");
        }
        assert!(!is_endless(&HeaderMap::new()));
    }
}
