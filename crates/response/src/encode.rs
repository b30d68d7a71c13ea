//! Encode: a stored answer's content compressed, and the fields that go with it (RFC 9110 §8.4).
//!
//! Called by `cache`, which keeps what comes out. Levels are those that pay for an answer that is compressed once and sent
//! many times, yet is waited for.

use std::io::Write;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, HeaderMap, VARY,
};
use http::{HeaderValue, StatusCode};
use plan::Compress;
use rules::{Encoding, EntityTag};

const ZSTD_LEVEL: i32 = 6;
const BROTLI_QUALITY: i32 = 5;
const GZIP_LEVEL: u32 = 6;

/// What an answer gives for its bytes to be checked by. It is not compressed then: with other bytes they would be wrong,
/// and taken out they would help nobody.
pub(crate) const CHECKS: [&str; 4] = ["content-digest", "repr-digest", "digest", "signature"];

/// Whether an answer may be compressed and is worth it: whole, not encoded already, of a type that shrinks, long enough as
/// far as its length is known, and without `no-transform` (RFC 9111 §5.2.2.6) or a digest (RFC 9530).
pub fn is_worth_encoding(
    status: StatusCode,
    fields: &HeaderMap,
    length: Option<u64>,
    compress: &Compress,
) -> bool {
    status == StatusCode::OK
        && length.is_none_or(|length| length >= compress.least)
        && !fields.contains_key(CONTENT_ENCODING)
        && !fields.contains_key(CONTENT_RANGE)
        && !CHECKS.iter().any(|name| fields.contains_key(*name))
        && !forbids_transforming(fields)
        && content_type(fields)
            .is_some_and(|found| compress.types.iter().any(|pattern| takes(pattern, &found)))
}

/// Content compressed. The same content always gives the same bytes, so its entity tag may be strong.
///
/// # Errors
/// None but for want of memory.
pub fn encode(content: &[u8], encoding: Encoding) -> std::io::Result<Bytes> {
    let encoded = match encoding {
        // Its window is 4 MiB at most at this level; clients need not have more than 8 (RFC 9659).
        Encoding::Zstd => zstd::bulk::compress(content, ZSTD_LEVEL)?,
        Encoding::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(room(content), flate2::Compression::new(GZIP_LEVEL));
            encoder.write_all(content)?;
            encoder.finish()?
        }
        Encoding::Brotli => {
            let mut out = room(content);
            let parameters = brotli::enc::BrotliEncoderParams {
                quality: BROTLI_QUALITY,
                size_hint: content.len(),
                ..Default::default()
            };
            brotli::BrotliCompress(&mut &*content, &mut out, &parameters)?;
            out
        }
    };
    // Kept for long: without the room that was not needed.
    Ok(encoded.into_boxed_slice().into())
}

fn room(content: &[u8]) -> Vec<u8> {
    Vec::with_capacity(content.len() / 3 + 64)
}

/// The fields of an answer (already [`negotiate`]d) in a compressed form: each form is a representation of its own, so
/// it has an entity tag of its own (RFC 9110 §8.8.3.3). Its length is the caller's to say.
pub fn encoded_fields(fields: &HeaderMap, encoding: Encoding) -> HeaderMap {
    let mut fields = fields.clone();
    fields.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.word()));
    fields.remove(CONTENT_LENGTH);
    // Ranges are served of the content as it is.
    fields.remove(ACCEPT_RANGES);
    fields.remove("content-md5");
    // Tags that contradict each other say nothing of this form either.
    let is_tagged = EntityTag::of(&fields).is_some();
    if let Some(tag) = fields.remove(ETAG).filter(|_| is_tagged) {
        fields.insert(ETAG, rules::etag::for_encoding(&tag, encoding));
    }
    fields
}

/// Says in `Vary` that other clients get other forms.
pub fn negotiate(fields: &mut HeaderMap) {
    let varies = fields.get_all(VARY).iter().any(|line| {
        let members = line.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        members.into_iter().any(|name| name == b"*" || name.eq_ignore_ascii_case(b"accept-encoding"))
    });
    if !varies {
        fields.append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    }
}

/// Said to all, or to caches such as this one (RFC 9213).
fn forbids_transforming(fields: &HeaderMap) -> bool {
    let lines = fields.get_all(CACHE_CONTROL).iter().chain(fields.get_all("cdn-cache-control"));
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .any(|directive| directive.trim_ascii().eq_ignore_ascii_case(b"no-transform"))
}

/// Type and subtype in lower case, without parameters.
fn content_type(fields: &HeaderMap) -> Option<String> {
    let line = fields.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = line.split(';').next().unwrap_or(line);
    Some(essence.trim().to_ascii_lowercase())
}

fn takes(pattern: &str, content_type: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(kind) => content_type.starts_with(kind),
        None => pattern == content_type,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use http::HeaderName;
    use proptest::prelude::*;

    use super::*;

    fn fields(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        fields
    }

    /// By decoders that have nothing to do with the encoders.
    fn decoded(encoded: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut content = Vec::new();
        match encoding {
            Encoding::Zstd => {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(encoded).unwrap();
                decoder.read_to_end(&mut content).unwrap();
            }
            Encoding::Gzip => {
                // RFC 1952 §2.3: ten bytes of head without a flag; a checksum and the length at the end.
                assert_eq!(encoded[..4], [0x1f, 0x8b, 8, 0]);
                let (deflated, end) = encoded[10..].split_at(encoded.len() - 18);
                content = miniz_oxide::inflate::decompress_to_vec(deflated).unwrap();
                assert_eq!(end[4..], (content.len() as u32).to_le_bytes());
                let mut checked = Vec::new();
                flate2::read::GzDecoder::new(encoded).read_to_end(&mut checked).unwrap();
                assert_eq!(checked, content);
            }
            Encoding::Brotli => {
                brotli::Decompressor::new(encoded, 4096).read_to_end(&mut content).unwrap();
            }
        }
        content
    }

    /// Words that repeat and numbers that do not.
    fn text(length: usize) -> Vec<u8> {
        let mut number = 1_u64;
        let mut text = Vec::with_capacity(length + 32);
        while text.len() < length {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.extend_from_slice(format!("{{\"id\":{},\"name\":\"x\"}},", number >> 40).as_bytes());
        }
        text.truncate(length);
        text
    }

    #[test]
    fn each_coding_can_be_read_by_others_and_is_always_the_same() {
        for encoding in Encoding::ALL {
            for length in [0, 1, 100, 5_000, 300_000] {
                let content = text(length);
                let encoded = encode(&content, encoding).unwrap();
                assert_eq!(encode(&content, encoding).unwrap(), encoded);
                assert!(length < 1_000 || encoded.len() < length / 2, "{encoding:?} {length}");
                assert_eq!(decoded(&encoded, encoding), content, "{encoding:?} {length}");
            }
        }
    }

    #[test]
    fn rfc9659_3_no_window_is_larger_than_clients_must_have() {
        let content = text(12 << 20);
        let encoded = encode(&content, Encoding::Zstd).unwrap();
        // RFC 8878 §3.1.1.1: a descriptor without the flag for one segment, then the window in eighths of a power of two.
        let (descriptor, window) = (encoded[4], encoded[5]);
        assert_eq!(descriptor & 0x20, 0);
        let power = 1_u64 << (10 + (window >> 3));
        assert!(power + power / 8 * u64::from(window & 7) <= 8 << 20);
        assert!(decoded(&encoded, Encoding::Zstd) == content);
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_comes_back(content in prop::collection::vec(any::<u8>(), 0..3_000)) {
            for encoding in Encoding::ALL {
                prop_assert_eq!(decoded(&encode(&content, encoding).unwrap(), encoding), &content[..]);
            }
        }
    }

    #[test]
    fn only_what_shrinks_and_may_be_changed_is_compressed() {
        let compress = Compress {
            encodings: vec![Encoding::Gzip],
            types: vec!["application/json".to_owned(), "text/*".to_owned()],
            least: 100,
        };
        let worth = |status, lines: &[(&'static str, &'static str)], length| {
            is_worth_encoding(StatusCode::from_u16(status).unwrap(), &fields(lines), length, &compress)
        };
        let json = ("content-type", "Application/JSON; charset=utf-8");
        assert!(worth(200, &[json], Some(100)) && worth(200, &[json], None));
        assert!(worth(200, &[("content-type", "text/html")], Some(1000)));
        assert!(!worth(200, &[json], Some(99)));
        for status in [203, 206, 301, 404] {
            assert!(!worth(status, &[json], Some(1000)), "{status}");
        }
        for other in ["image/png", "application/json2", "text", "", ";text/html"] {
            assert!(!worth(200, &[("content-type", other)], Some(1000)), "{other}");
        }
        assert!(!worth(200, &[], Some(1000)));
        for hindrance in [
            ("content-encoding", "gzip"),
            ("content-encoding", "identity"),
            ("cache-control", "max-age=5, No-Transform"),
            ("cdn-cache-control", "no-transform"),
            ("repr-digest", "sha-256=:x:"),
            ("content-digest", "sha-256=:x:"),
            ("digest", "sha-256=x"),
            ("content-range", "bytes 0-1/2"),
        ] {
            assert!(!worth(200, &[json, hindrance], Some(1000)), "{hindrance:?}");
        }
    }

    #[test]
    fn nothing_is_encoded_twice() {
        let compress =
            Compress { encodings: Encoding::ALL.to_vec(), types: vec!["text/*".to_owned()], least: 0 };
        let whole = fields(&[("content-type", "text/plain")]);
        assert!(is_worth_encoding(StatusCode::OK, &whole, None, &compress));
        for encoding in Encoding::ALL {
            let encoded = encoded_fields(&whole, encoding);
            assert!(!is_worth_encoding(StatusCode::OK, &encoded, None, &compress));
        }
    }

    #[test]
    fn rfc9110_8_8_3_3_each_form_has_a_tag_of_its_own() {
        let mut whole = fields(&[
            ("etag", "\"1\""),
            ("vary", "accept"),
            ("content-length", "9"),
            ("accept-ranges", "bytes"),
            ("content-md5", "x"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]);
        negotiate(&mut whole);
        negotiate(&mut whole);
        let vary: Vec<_> = whole.get_all(VARY).iter().collect();
        assert_eq!(vary, ["accept", "accept-encoding"]);
        assert_eq!(whole[ETAG], "\"1\"");
        let encoded = encoded_fields(&whole, Encoding::Brotli);
        let expected = fields(&[
            ("etag", "\"1-br\""),
            ("vary", "accept"),
            ("vary", "accept-encoding"),
            ("content-encoding", "br"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ]);
        assert_eq!(encoded, expected);
    }

    #[test]
    fn tags_that_say_nothing_say_nothing_of_an_encoded_form() {
        for (tags, expected) in [
            (&["W/\"1\""][..], Some("W/\"1\"")),
            (&["\"1\"", "\"1\""], Some("\"1-gzip\"")),
            (&["\"1\"", "\"2\""], None),
            (&["\"1\", \"2\""], None),
            (&[], None),
        ] {
            let tags: Vec<_> = tags.iter().map(|tag| ("etag", *tag)).collect();
            let encoded = encoded_fields(&fields(&tags), Encoding::Gzip);
            let left: Vec<_> = encoded.get_all(ETAG).iter().collect();
            assert_eq!(left, Vec::from_iter(expected), "{tags:?}");
        }
    }

    #[test]
    fn what_varies_by_it_already_says_so_once() {
        for line in ["Accept-Encoding", "accept, ACCEPT-ENCODING ,x", "*"] {
            let mut whole = fields(&[("vary", line)]);
            negotiate(&mut whole);
            assert_eq!(whole.get_all(VARY).iter().collect::<Vec<_>>(), [line]);
        }
        let mut whole = fields(&[("vary", "x-accept-encoding")]);
        negotiate(&mut whole);
        assert_eq!(whole.get_all(VARY).iter().count(), 2);
    }
}
