//! Chunks: finds the end of chunked content (RFC 9112 §7.1) and throws the content away. Called by `inbox`.

use crate::answer::Malformed;

/// Bytes between the data of two chunks (size, extension, trailers) that are read past; more are refused.
const MOST_AROUND: usize = 64 * 1024;

/// Where in the content we are.
#[derive(Debug)]
pub(crate) struct Chunks {
    place: Place,
    around: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Size { size: u64, digits: u8 },
    Extension { size: u64 },
    SizeEnd { size: u64 },
    Data { left: u64 },
    DataReturn,
    DataEnd,
    TrailerStart,
    Trailer,
    TrailerEnd,
    LastEnd,
    Done,
}

impl Chunks {
    pub(crate) fn new() -> Self {
        Chunks { place: Place::Size { size: 0, digits: 0 }, around: 0 }
    }

    /// Reads on; how many of the bytes belonged to this content. Fewer than given only when it is done.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut read = 0;
        while read < bytes.len() && self.place != Place::Done {
            if let Place::Data { left } = self.place {
                let here = left.min((bytes.len() - read) as u64);
                read += here as usize;
                self.place = if here == left { Place::DataReturn } else { Place::Data { left: left - here } };
            } else {
                self.around += 1;
                if self.around > MOST_AROUND {
                    return Err(Malformed);
                }
                self.place = self.place.after(bytes[read])?;
                read += 1;
            }
            if self.place == Place::DataReturn {
                self.around = 0;
            }
        }
        Ok(read)
    }

    /// Whether the last chunk and its trailers have been read.
    pub(crate) fn done(&self) -> bool {
        self.place == Place::Done
    }
}

impl Place {
    /// The place behind one more byte that is not data.
    fn after(self, byte: u8) -> Result<Place, Malformed> {
        let place = match (self, byte) {
            (Place::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).ok_or(Malformed)?;
                if digits == 16 {
                    return Err(Malformed);
                }
                Place::Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Place::Size { size, digits: 1.. } | Place::Extension { size }, b'\r') => Place::SizeEnd { size },
            (Place::Size { size, digits: 1.. }, b';') => Place::Extension { size },
            (Place::Extension { size }, _) if byte != b'\n' => Place::Extension { size },
            (Place::SizeEnd { size: 0 } | Place::TrailerEnd, b'\n') => Place::TrailerStart,
            (Place::SizeEnd { size }, b'\n') => Place::Data { left: size },
            (Place::DataReturn, b'\r') => Place::DataEnd,
            (Place::DataEnd, b'\n') => Place::Size { size: 0, digits: 0 },
            (Place::TrailerStart, b'\r') => Place::LastEnd,
            (Place::TrailerStart | Place::Trailer, _) if byte != b'\r' && byte != b'\n' => Place::Trailer,
            (Place::Trailer, b'\r') => Place::TrailerEnd,
            (Place::LastEnd, b'\n') => Place::Done,
            _ => return Err(Malformed),
        };
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_however_the_bytes_arrive() {
        let content = b"5\r\nhello\r\n1a;name=value\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\nTrailer: x\r\n\r\n";
        for piece in 1..=content.len() {
            let mut chunks = Chunks::new();
            for bytes in content.chunks(piece) {
                assert!(!chunks.done());
                assert_eq!(chunks.advance(bytes), Ok(bytes.len()), "pieces of {piece}");
            }
            assert!(chunks.done(), "pieces of {piece}");
        }
    }

    #[test]
    fn what_follows_is_left_alone() {
        let mut chunks = Chunks::new();
        assert_eq!(chunks.advance(b"0\r\n\r\nHTTP/1.1"), Ok(5));
        assert!(chunks.done());
    }

    #[test]
    fn broken_chunking_is_refused() {
        for content in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            " 5\r\n",
            "5 \r\n",
            "5\nhello",
            "5\r\nhello!\r\n",
            "5\r\nhello\n",
            ";x\r\n",
            "5;\nx",
            "11111111111111111\r\n",
            "0\r\n\n",
            "0\r\nA: b\n",
        ] {
            assert_eq!(Chunks::new().advance(content.as_bytes()), Err(Malformed), "{content:?}");
        }
        let endless = [b"5;".as_slice(), &vec![b'x'; MOST_AROUND]].concat();
        assert_eq!(Chunks::new().advance(&endless), Err(Malformed));
    }
}
