//! Storable: the fields of an answer that a shared cache may keep (RFC 9111 §3.1).

use http::HeaderMap;
use http::header::{HeaderName, SET_COOKIE};

use crate::{ResponseDirectives, hop_by_hop};

/// A copy of the answer's fields without hop-by-hop ones, those named in `Connection`, `Proxy-*`, those that
/// `private="…"` and `no-cache="…"` name, and, unless it is to be stored, `Set-Cookie`.
///
/// `Age` stays, since a later [`Terms::of`](crate::Terms::of) may need it; whoever serves the entry replaces it.
pub fn storable_fields(
    response: &HeaderMap,
    directives: &ResponseDirectives,
    store_set_cookie: bool,
) -> HeaderMap {
    let mut fields = response.clone();
    hop_by_hop::strip(&mut fields);
    for name in directives.unshared_fields() {
        fields.remove(name);
    }
    if !store_set_cookie {
        fields.remove(SET_COOKIE);
        fields.remove(HeaderName::from_static("set-cookie2"));
    }
    fields
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn kept(lines: &[(&'static str, &'static str)], store_set_cookie: bool) -> Vec<String> {
        let mut response = HeaderMap::new();
        for (name, value) in lines {
            response.append(*name, HeaderValue::from_static(value));
        }
        let directives = ResponseDirectives::of(&response, &[]);
        let fields = storable_fields(&response, &directives, store_set_cookie);
        let mut names: Vec<_> = fields.keys().map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn rfc9111_3_1_what_must_not_be_stored_is_left_out() {
        let lines = [
            ("connection", "x-hop"),
            ("x-hop", "1"),
            ("proxy-authenticate", "Basic"),
            ("proxy-authentication-info", "x"),
            ("proxy-authorization", "x"),
            ("content-type", "text/plain"),
            ("x-unknown", "1"),
            ("age", "5"),
        ];
        assert_eq!(kept(&lines, false), ["age", "content-type", "x-unknown"]);
    }

    #[test]
    fn rfc9111_5_2_2_4_and_7_named_fields_must_not_be_stored() {
        let lines = [
            ("cache-control", "private=\"X-User, x-name\", no-cache=\"x-time\", max-age=5"),
            ("x-user", "1"),
            ("x-name", "1"),
            ("x-time", "1"),
            ("x-other", "1"),
        ];
        assert_eq!(kept(&lines, false), ["cache-control", "x-other"]);
    }

    #[test]
    fn set_cookie_is_left_out_unless_told() {
        let lines = [("set-cookie", "a=1"), ("set-cookie", "b=1"), ("set-cookie2", "c"), ("x", "1")];
        assert_eq!(kept(&lines, false), ["x"]);
        assert_eq!(kept(&lines, true), ["set-cookie", "set-cookie2", "x"]);
        let named = [("set-cookie", "a=1"), ("cache-control", "no-cache=\"set-cookie\"")];
        assert_eq!(kept(&named, true), ["cache-control"]);
    }
}
