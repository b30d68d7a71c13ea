//! Decode: the beginning of an answer's content as it was before the origin compressed it, for looking into it. What goes
//! to clients is never decoded.

use std::borrow::Cow;
use std::io::Read;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// At most `most` bytes of the content without its coding. What is of a coding we do not know, or damaged, stays as it is
/// from there on.
pub fn decoded_beginning<'c>(fields: &HeaderMap, content: &'c [u8], most: usize) -> Cow<'c, [u8]> {
    let coding = fields.get(CONTENT_ENCODING).map_or(&b""[..], |line| line.as_bytes().trim_ascii());
    let decoded = match coding.to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => beginning(flate2::read::MultiGzDecoder::new(content), most),
        b"deflate" => beginning(flate2::read::ZlibDecoder::new(content), most),
        b"br" => beginning(brotli::Decompressor::new(content, 4096), most),
        b"zstd" => {
            zstd::Decoder::new(content).map_or_else(|_| Vec::new(), |decoder| beginning(decoder, most))
        }
        _ => return Cow::Borrowed(&content[..content.len().min(most)]),
    };
    Cow::Owned(decoded)
}

fn beginning(decoder: impl Read, most: usize) -> Vec<u8> {
    let mut decoded = Vec::new();
    // What came before the damage is what can be looked at.
    let _ = decoder.take(most as u64).read_to_end(&mut decoded);
    decoded
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rules::Encoding;

    use super::*;

    #[test]
    fn each_coding_is_looked_into_and_no_further_than_asked() {
        let content = vec![b'x'; 1_000_000];
        for encoding in Encoding::ALL {
            let encoded = crate::encode(&content, encoding).unwrap();
            let mut fields = HeaderMap::new();
            fields.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.word()));
            assert_eq!(*decoded_beginning(&fields, &encoded, 1000), content[..1000], "{encoding:?}");
            assert!(decoded_beginning(&fields, b"damaged", 1000).len() <= 7);
        }
        assert_eq!(*decoded_beginning(&HeaderMap::new(), b"plain", 3), *b"pla");
    }
}
