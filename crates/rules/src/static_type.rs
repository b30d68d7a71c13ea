//! StaticType: whether an answer is of a kind that rarely changes, by its `Content-Type`; for policies that give such
//! answers a lifetime. Never by the target's extension, which anybody can write.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Whole families of types.
const FAMILIES: [&str; 4] = ["audio", "font", "image", "video"];

/// Single types: style sheets, scripts, WebAssembly, formatted documents, fonts under their older names. Neither HTML nor
/// JSON, which is what applications make for each request.
const TYPES: [&str; 16] = [
    "application/ecmascript",
    "application/font-sfnt",
    "application/font-woff",
    "application/font-woff2",
    "application/javascript",
    "application/pdf",
    "application/postscript",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-font-opentype",
    "application/x-font-ttf",
    "application/x-font-woff",
    "application/x-javascript",
    "text/css",
    "text/ecmascript",
    "text/javascript",
];

/// Whether the answer has a static content type. False without one, and with several lines that differ.
pub(crate) fn is_static(response: &HeaderMap) -> bool {
    let mut lines = response.get_all(CONTENT_TYPE).iter();
    let Some(first) = lines.next().filter(|first| lines.all(|line| line == first)) else { return false };
    let Ok(value) = first.to_str() else { return false };
    let media_type = value.split(';').next().unwrap_or_default().trim_matches([' ', '\t']);
    let is = |known: &str| media_type.eq_ignore_ascii_case(known);
    let family = media_type.split_once('/').map_or("", |(family, _)| family);
    FAMILIES.iter().any(|known| family.eq_ignore_ascii_case(known)) || TYPES.iter().any(|known| is(known))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(lines: &[&str]) -> bool {
        let mut response = HeaderMap::new();
        for line in lines {
            response.append(CONTENT_TYPE, HeaderValue::from_str(line).unwrap());
        }
        is_static(&response)
    }

    #[test]
    fn what_rarely_changes_is_static() {
        for line in [
            "text/css",
            "Text/JavaScript; charset=utf-8",
            "image/svg+xml",
            "font/woff2",
            "video/mp4 ;x",
            "application/wasm",
        ] {
            assert!(of(&[line]), "{line}");
        }
        assert!(of(&["image/png", "image/png"]));
    }

    #[test]
    fn what_applications_make_is_not() {
        for line in
            ["text/html", "application/json", "text/plain", "image", "imagex/png", "", "text/css2", "/"]
        {
            assert!(!of(&[line]), "{line}");
        }
        assert!(!of(&[]));
        assert!(!of(&["image/png", "text/html"]));
    }
}
