//! Language: folding `Accept-Language` into the few languages there are (RFC 9110 §12.5.4, RFC 4647 §3.4).

use http::HeaderValue;
use http::header::ACCEPT_LANGUAGE;
use message::Fields;

use crate::quality::{self, Quality};

/// Ranges of one request that are looked at; nobody speaks more languages.
const MOST_RANGES: usize = 32;

/// The language out of `known` this client likes best; the first where it asks for none of them. `None` only where
/// `known` is empty.
///
/// Lookup: a range takes the language it names, else what is left of it without its last subtags (`de-CH` takes `de`);
/// beyond the RFC it then takes the first language that is more particular (`en` takes `en-US`), which is nearer to what
/// was meant than the default. `*` takes the first that the client does not refuse with `q=0`.
pub fn fold<'k>(request: Fields<'_>, known: &'k [HeaderValue]) -> Option<&'k HeaderValue> {
    let mut best = None;
    let mut most = Quality::ZERO;
    for (range, quality) in ranges(request) {
        if quality <= most {
            continue;
        }
        let found = match range {
            b"*" => known.iter().find(|language| !is_refused(request, language.as_bytes())),
            range => looked_up(range, known),
        };
        if found.is_some() {
            (best, most) = (found, quality);
        }
    }
    best.or(known.first())
}

fn ranges(request: Fields<'_>) -> impl Iterator<Item = (&[u8], Quality)> {
    request.all(&ACCEPT_LANGUAGE).flat_map(quality::members).take(MOST_RANGES)
}

fn is_refused(request: Fields<'_>, language: &[u8]) -> bool {
    ranges(request).any(|(range, quality)| quality == Quality::ZERO && is_part(range, language))
}

fn looked_up<'k>(range: &[u8], known: &'k [HeaderValue]) -> Option<&'k HeaderValue> {
    let mut shorter = range;
    while !shorter.is_empty() {
        let named = known.iter().find(|language| language.as_bytes().eq_ignore_ascii_case(shorter));
        if named.is_some() {
            return named;
        }
        shorter = without_last(shorter);
    }
    known.iter().find(|language| is_part(range, language.as_bytes()))
}

/// Without the last subtag, and without a single letter or digit before it, which means nothing alone.
fn without_last(range: &[u8]) -> &[u8] {
    let end = range.iter().rposition(|&byte| byte == b'-').unwrap_or(0);
    let shorter = &range[..end];
    if let [rest @ .., b'-', _] = shorter { rest } else { shorter }
}

/// Whether a language is the range or more particular (RFC 4647 §3.3.1).
fn is_part(range: &[u8], language: &[u8]) -> bool {
    language.split_at_checked(range.len()).is_some_and(|(start, rest)| {
        start.eq_ignore_ascii_case(range) && rest.first().is_none_or(|&byte| byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn folded(line: &str, known: &[&'static str]) -> String {
        let mut request = HeaderMap::new();
        request.insert(ACCEPT_LANGUAGE, HeaderValue::from_str(line).unwrap());
        let known: Vec<_> = known.iter().map(|language| HeaderValue::from_static(language)).collect();
        fold(Fields::Map(&request), &known).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn rfc4647_3_4_the_language_liked_best_is_looked_up() {
        for (line, expected) in [
            ("fr", "fr"),
            ("FR-CA", "fr"),
            ("de-CH-1996, fr;q=0.9", "de"),
            ("fr;q=0.8, de;q=0.9", "de"),
            ("it, es;q=0.9, fr;q=0.1", "fr"),
            ("fr, de", "fr"),
            ("zh-Hant-x-cn", "zh-Hant"),
            ("zh-Hant-CN", "zh-Hant"),
            ("zh", "zh-Hant"),
            ("e, en-", "en"),
            ("de;q=0", "en"),
            ("*", "en"),
            ("*;q=0.5, fr;q=0.4", "en"),
            ("en;q=0, *;q=0.5", "fr"),
            ("it", "en"),
            ("", "en"),
            (";;,,q=1,-,--", "en"),
        ] {
            assert_eq!(folded(line, &["en", "fr", "de", "zh-Hant"]), expected, "{line:?}");
        }
        assert_eq!(folded("en-GB, de;q=0.9", &["de", "en-US"]), "de");
        assert_eq!(folded("en, de;q=0.9", &["de", "en-US"]), "en-US");
        assert_eq!(folded("english", &["de", "en"]), "de");
    }

    #[test]
    fn without_the_field_the_first_and_without_any_none() {
        let nobody = HeaderMap::new();
        let known = [HeaderValue::from_static("en"), HeaderValue::from_static("de")];
        assert_eq!(fold(Fields::Map(&nobody), &known), Some(&known[0]));
        assert_eq!(fold(Fields::Map(&nobody), &[]), None);
    }
}
