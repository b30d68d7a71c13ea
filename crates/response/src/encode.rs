//! Encode: a stored answer's content compressed, and the fields that go with it (RFC 9110 §8.4).
//!
//! Called by `cache`, which keeps what comes out. Levels are those that pay for an answer that is compressed once and sent
//! many times, yet is waited for.

use std::io::Write;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG,
    HeaderMap, HeaderName, VARY,
};
use http::{HeaderValue, StatusCode};
use plan::Compress;
use rules::Encoding;

const ZSTD_LEVEL: i32 = 6;
const BROTLI_QUALITY: i32 = 5;
const GZIP_LEVEL: u32 = 6;

/// Fields that are of the content's very bytes: with other bytes they would be wrong.
const OF_THE_BYTES: [HeaderName; 3] = [
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("digest"),
];

/// Whether an answer may be compressed and is worth it: whole, not encoded already, of a type that shrinks, long enough as
/// far as its length is known, and without `no-transform` (RFC 9111 §5.2.2.6).
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
        && !fields.contains_key("repr-digest")
        && !forbids_transforming(fields)
        && content_type(fields)
            .is_some_and(|found| compress.types.iter().any(|pattern| takes(pattern, &found)))
}

/// Content compressed. The same content always gives the same bytes, so its entity tag may be strong.
pub fn encode(content: &[u8], encoding: Encoding) -> std::io::Result<Bytes> {
    let out = Vec::with_capacity(content.len() / 3 + 64);
    Ok(match encoding {
        Encoding::Zstd => zstd::bulk::compress(content, ZSTD_LEVEL)?,
        Encoding::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL));
            encoder.write_all(content)?;
            encoder.finish()?
        }
        Encoding::Brotli => {
            let mut out = out;
            let parameters =
                brotli::enc::BrotliEncoderParams { quality: BROTLI_QUALITY, ..Default::default() };
            brotli::BrotliCompress(&mut &*content, &mut out, &parameters)?;
            out
        }
    }
    .into_boxed_slice()
    .into())
}

/// The fields of an answer (already [`negotiate`]d) in a compressed form: each form is a representation of its own, so
/// it has an entity tag of its own (RFC 9110 §8.8.3.3).
pub fn encoded_fields(fields: &HeaderMap, encoding: Encoding) -> HeaderMap {
    let mut fields = fields.clone();
    fields.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.word()));
    fields.remove(CONTENT_LENGTH);
    // Ranges are served of the content as it is.
    fields.remove(http::header::ACCEPT_RANGES);
    for name in OF_THE_BYTES {
        fields.remove(name);
    }
    if let Some(tag) = fields.get(ETAG) {
        let tag = rules::etag::for_encoding(tag, encoding);
        fields.insert(ETAG, tag);
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

fn forbids_transforming(fields: &HeaderMap) -> bool {
    fields.get_all(CACHE_CONTROL).iter().any(|line| {
        line.as_bytes()
            .split(|byte| *byte == b',')
            .any(|directive| directive.trim_ascii().eq_ignore_ascii_case(b"no-transform"))
    })
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

    use super::*;

    const CONTENT: &[u8] = b"the same, all the same, all the same, all the same, all the same, all the same";

    fn fields(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        lines.iter().map(pair).collect()
    }

    #[test]
    fn each_coding_can_be_read_by_others_and_is_always_the_same() {
        for encoding in [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip] {
            let encoded = encode(CONTENT, encoding).unwrap();
            assert_eq!(encode(CONTENT, encoding).unwrap(), encoded);
            assert!(encoded.len() < CONTENT.len());
            let mut decoded = Vec::new();
            match encoding {
                Encoding::Zstd => decoded = zstd::bulk::decompress(&encoded, 1000).unwrap(),
                Encoding::Gzip => {
                    flate2::read::GzDecoder::new(&*encoded).read_to_end(&mut decoded).unwrap();
                }
                Encoding::Brotli => {
                    brotli::Decompressor::new(&*encoded, 4096).read_to_end(&mut decoded).unwrap();
                }
            }
            assert_eq!(decoded, CONTENT, "{encoding:?}");
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
        assert!(!worth(404, &[json], Some(1000)));
        assert!(!worth(200, &[("content-type", "image/png")], Some(1000)));
        assert!(!worth(200, &[], Some(1000)));
        for hindrance in [
            ("content-encoding", "gzip"),
            ("cache-control", "max-age=5, No-Transform"),
            ("repr-digest", "sha-256=:x:"),
            ("content-range", "bytes 0-1/2"),
        ] {
            assert!(!worth(200, &[json, hindrance], Some(1000)), "{hindrance:?}");
        }
    }

    #[test]
    fn rfc9110_8_8_3_3_each_form_has_a_tag_of_its_own() {
        let mut whole = fields(&[("etag", "\"1\""), ("vary", "accept"), ("content-length", "9")]);
        negotiate(&mut whole);
        negotiate(&mut whole);
        let vary: Vec<_> = whole.get_all(VARY).iter().collect();
        assert_eq!(vary, ["accept", "accept-encoding"]);
        let encoded = encoded_fields(&whole, Encoding::Brotli);
        assert_eq!(encoded[ETAG], "\"1-br\"");
        assert_eq!(encoded[CONTENT_ENCODING], "br");
        assert!(!encoded.contains_key(CONTENT_LENGTH));
    }
}
