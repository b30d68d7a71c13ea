//! Decode: the beginning of an answer's content as it was before the origin compressed it, for looking into it. What goes
//! to clients is never decoded.

use std::borrow::Cow;
use std::io::Read;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The window of zstd that every decoder has to have (RFC 9659): 8 MiB.
const LARGEST_WINDOW: u32 = 23;

/// At most `most` bytes of the content without its coding. What is of a coding we do not know stays as it is; of what is
/// damaged there is what stands before the damage.
pub fn decoded_beginning<'c>(fields: &HeaderMap, content: &'c [u8], most: usize) -> Cow<'c, [u8]> {
    let coding = fields.get(CONTENT_ENCODING).map_or(&b""[..], |line| line.as_bytes().trim_ascii());
    // Content may begin with much that decodes to nothing.
    let content = if coding.is_empty() { content } else { &content[..content.len().min(most + most / 8)] };
    let decoded = match coding.to_ascii_lowercase().as_slice() {
        b"gzip" | b"x-gzip" => beginning(flate2::read::MultiGzDecoder::new(content), most),
        b"deflate" => beginning(flate2::read::ZlibDecoder::new(content), most),
        b"br" => beginning(brotli::Decompressor::new(content, 4096), most),
        b"zstd" => zstd::Decoder::new(content)
            .and_then(|mut decoder| decoder.window_log_max(LARGEST_WINDOW).map(|()| beginning(decoder, most)))
            .unwrap_or_default(),

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
            assert!(decoded_beginning(&fields, b"damaged", 1000).is_empty());
        }
        assert_eq!(*decoded_beginning(&HeaderMap::new(), b"plain", 3), *b"pla");
    }
}
