//! Prefix: which URLs a signature is for that is not for one alone.
//!
//! As Cloud CDN documents it: `https://media.example.com/videos` is a piece of text with which URLs begin, so it takes in
//! `/videos?id=1`, `/videos/1` and `/videos-of-others`; whoever means a folder ends it with `/`. It has a scheme and a
//! whole host, and neither `?` nor `#`.

use base64::Engine;
use message::RequestView;

use super::{BASE64URL, Refusal};

/// Bytes of a prefix.
pub(crate) const LONGEST: usize = 2048;

/// Whether the request's URL begins with the encoded prefix.
pub(crate) fn covers(encoded: &str, request: &RequestView<'_>) -> Result<bool, Refusal> {
    // Room for what the library takes for the length before it has looked.
    let mut bytes = [0; LONGEST + 4];
    if encoded.len() > LONGEST.div_ceil(3) * 4 {
        return Err(Refusal::Malformed);
    }
    let length = BASE64URL.decode_slice(encoded, &mut bytes).map_err(|_| Refusal::Malformed)?;
    let prefix = bytes.get(..length).ok_or(Refusal::Malformed)?;
    if prefix.iter().any(|byte| matches!(byte, b'?' | b'#')) {
        return Err(Refusal::Malformed);
    }
    let Some(path) = path(prefix, request) else { return Ok(false) };
    // In the form that the request's path has.
    let path = std::str::from_utf8(path).map_err(|_| Refusal::Malformed)?;
    Ok(request.target.starts_with(&*rules::path::normalized(path)))
}

/// What a prefix of this scheme and host says of the path. `https://media.example.co` is not one of
/// `media.example.com`: only paths may be cut off anywhere.
fn path<'a>(prefix: &'a [u8], request: &RequestView<'_>) -> Option<&'a [u8]> {
    let rest = without(prefix, request.scheme.as_str())?;
    let rest = without(without(rest, "://")?, request.authority)?;
    matches!(rest, [] | [b'/', ..]).then_some(rest)
}

/// Schemes and hosts are the same in capitals.
fn without<'a>(text: &'a [u8], start: &str) -> Option<&'a [u8]> {
    let (found, rest) = text.split_at_checked(start.len())?;
    found.eq_ignore_ascii_case(start.as_bytes()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use http::Method;
    use message::{Fields, Scheme};

    use super::*;

    fn request(target: &str) -> RequestView<'_> {
        RequestView {
            method: &Method::GET,
            scheme: Scheme::Https,
            authority: "media.example.com:8443",
            target,
            fields: Fields::Wire(&[]),
            client: None,
        }
    }

    fn takes(prefix: &str, target: &str) -> Result<bool, Refusal> {
        covers(&BASE64URL.encode(prefix), &request(target))
    }

    #[test]
    fn paths_may_be_cut_off_anywhere_and_hosts_nowhere() {
        let host = "https://media.example.com:8443";
        for (prefix, target, expected) in [
            ("/videos", "/videos?id=1", true),
            ("/videos", "/videos/1?quality=low", true),
            ("/videos", "/videos-of-others", true),
            ("/videos/", "/videos", false),
            ("/videos/", "/videos-of-others", false),
            ("/videos/123", "/videos/123_chunk1", true),
            ("/videos/", "/Videos/1", false),
            ("/%76ideos%7e/", "/videos~/1", true),
            ("/caf%c3%a9/", "/caf%C3%A9/1", true),
            ("/videos/", "/?/videos/", false),
            ("/", "/", true),
            ("", "/anything", true),
        ] {
            assert_eq!(takes(&format!("{host}{prefix}"), target), Ok(expected), "{prefix} {target}");
        }
        for (prefix, expected) in [
            ("HTTPS://Media.Example.COM:8443/", true),
            ("http://media.example.com:8443/", false),
            ("https://media.example.com/", false),
            ("https://media.example.com:844", false),
            ("https://media.example.com:84430/", false),
            ("https://media.example.com:8443.other.example/", false),
            ("https://media.example.com:8443@other.example/", false),
            ("https://other.example/", false),
            ("https://", false),
            ("media.example.com:8443/", false),
            ("/", false),
            ("", false),
        ] {
            assert_eq!(takes(prefix, "/"), Ok(expected), "{prefix}");
        }
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        for prefix in ["https://media.example.com:8443/a?", "https://media.example.com:8443/#a"] {
            assert_eq!(takes(prefix, "/a?"), Err(Refusal::Malformed), "{prefix}");
        }
        for encoded in ["a", "aHR0cHM6Ly9+", "aHR0 cHM6", "aHR0=", "====", "\u{e4}"] {
            assert_eq!(covers(encoded, &request("/")), Err(Refusal::Malformed), "{encoded}");
        }
        for (length, expected) in [(LONGEST, Ok(false)), (LONGEST + 3, Err(Refusal::Malformed))] {
            assert_eq!(takes(&"a".repeat(length), "/"), expected);
        }
    }
}
