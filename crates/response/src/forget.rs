//! Forget: what fields say of content that is another one now (RFC 9110 §8.6, §8.8; RFC 9530). In: the fields of a response whose
//! content somebody has changed. Out: the same without what would be wrong. Called by `policy`.

use http::HeaderMap;
use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, LAST_MODIFIED};

use crate::encode::CHECKS;

/// Takes out length, digests and validators. Validators that are weak go, too: whoever asked with one would hear that nothing has
/// changed, when what changes the content has.
pub fn forget_content(fields: &mut HeaderMap) {
    for name in [ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, LAST_MODIFIED] {
        fields.remove(name);
    }
    for name in CHECKS.iter().chain(&["content-md5", "signature-input"]) {
        fields.remove(*name);
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn rfc9110_8_8_what_holds_for_other_content_goes_and_the_rest_stays() {
        let names = "accept-ranges content-digest content-length content-md5 digest etag last-modified repr-digest signature \
                     signature-input cache-control content-language content-type expires set-cookie vary";
        let mut fields = HeaderMap::new();
        for name in names.split_whitespace() {
            fields.append(HeaderName::from_static(name), HeaderValue::from_static("x"));
        }
        forget_content(&mut fields);
        let mut left: Vec<_> = fields.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(
            left,
            ["cache-control", "content-language", "content-type", "expires", "set-cookie", "vary"]
        );
    }
}
