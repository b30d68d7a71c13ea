//! Encoding: which content coding a client gets (RFC 9110 §12.5.3), and folding `Accept-Encoding` into few classes.

use http::HeaderValue;
use http::header::ACCEPT_ENCODING;
use message::Fields;

use crate::quality::{self, Quality};

/// A content coding we can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `zstd` (RFC 8878).
    Zstd,
    /// `br` (RFC 7932).
    Brotli,
    /// `gzip` (RFC 1952).
    Gzip,
}

impl Encoding {
    /// All of them, the strongest first.
    pub const ALL: [Encoding; 3] = [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip];

    /// As in `Content-Encoding`.
    pub const fn word(self) -> &'static str {
        match self {
            Encoding::Zstd => "zstd",
            Encoding::Brotli => "br",
            Encoding::Gzip => "gzip",
        }
    }
}

/// The coding this client likes best of those available; `None`: the content as it is. Of those liked alike the first
/// available.
///
/// The content as it is goes out to whoever names no coding, and to whoever likes it better; also where nothing
/// available is acceptable, even against `identity;q=0`: a server may answer so, and better than 406 it is.
pub fn choose(request: Fields<'_>, available: &[Encoding]) -> Option<Encoding> {
    let accepted = Accepted::of(request);
    let mut best = None;
    let mut most = Quality::ZERO;
    for &encoding in available {
        let quality = accepted.quality(encoding);
        if quality > most {
            (best, most) = (Some(encoding), quality);
        }
    }
    best.filter(|_| accepted.identity() <= most)
}

/// The one value that stands for all `Accept-Encoding` values that accept the same of our codings: one of eight.
/// Which of them is liked best is not in it.
pub fn fold(request: Fields<'_>) -> &'static HeaderValue {
    static CLASSES: [HeaderValue; 8] = [
        HeaderValue::from_static("identity"),
        HeaderValue::from_static("gzip"),
        HeaderValue::from_static("br"),
        HeaderValue::from_static("br, gzip"),
        HeaderValue::from_static("zstd"),
        HeaderValue::from_static("zstd, gzip"),
        HeaderValue::from_static("zstd, br"),
        HeaderValue::from_static("zstd, br, gzip"),
    ];
    let accepted = Accepted::of(request);
    let class = Encoding::ALL.iter().fold(0, |class, &encoding| {
        let accepts = accepted.quality(encoding) > Quality::ZERO;
        class << 1 | usize::from(accepts)
    });
    &CLASSES[class]
}

/// What `Accept-Encoding` says of the codings we know; `None`: not named.
#[derive(Default)]
struct Accepted {
    zstd: Option<Quality>,
    brotli: Option<Quality>,
    gzip: Option<Quality>,
    identity: Option<Quality>,
    any: Option<Quality>,
}

impl Accepted {
    /// Of a coding that is named twice the lower quality counts. Without the field nothing is named: any coding would be
    /// acceptable then, but clients that do not send it cannot decode any.
    fn of(request: Fields<'_>) -> Self {
        let mut accepted = Accepted::default();
        for (coding, quality) in request.all(&ACCEPT_ENCODING).flat_map(quality::members) {
            let is = |known: &str| coding.eq_ignore_ascii_case(known.as_bytes());
            let place = if is("gzip") || is("x-gzip") {
                &mut accepted.gzip
            } else if is("br") {
                &mut accepted.brotli
            } else if is("zstd") {
                &mut accepted.zstd
            } else if is("identity") {
                &mut accepted.identity
            } else if is("*") {
                &mut accepted.any
            } else {
                continue;
            };
            *place = Some(place.map_or(quality, |known| known.min(quality)));
        }
        accepted
    }

    fn quality(&self, encoding: Encoding) -> Quality {
        let named = match encoding {
            Encoding::Zstd => self.zstd,
            Encoding::Brotli => self.brotli,
            Encoding::Gzip => self.gzip,
        };
        named.or(self.any).unwrap_or(Quality::ZERO)
    }

    /// Where it is not named it is acceptable, but liked less than anything that is.
    fn identity(&self) -> Quality {
        self.identity.or(self.any).unwrap_or(Quality::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn request(lines: &[&str]) -> HeaderMap {
        let mut fields = HeaderMap::new();
        for line in lines {
            fields.append(ACCEPT_ENCODING, HeaderValue::from_str(line).unwrap());
        }
        fields
    }

    fn chosen(line: &str, available: &[Encoding]) -> &'static str {
        choose(Fields::Map(&request(&[line])), available).map_or("identity", Encoding::word)
    }

    #[test]
    fn rfc9110_12_5_3_the_coding_liked_best_is_chosen() {
        for (line, expected) in [
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip, deflate, br", "br"),
            ("gzip", "gzip"),
            ("X-GZip", "gzip"),
            ("GZIP;Q=0.5, br;q=0.4", "gzip"),
            ("gzip;q=1.000,br ; q=0.999", "gzip"),
            ("*", "zstd"),
            ("*, zstd;q=0", "br"),
            ("gzip;q=0.5, *;q=0.1, identity;q=0", "gzip"),
            ("*;q=0, gzip", "gzip"),
            ("deflate, compress", "identity"),
            ("", "identity"),
            ("identity", "identity"),
            ("*;q=0", "identity"),
            ("identity;q=0", "identity"),
            ("identity, gzip;q=0.5", "identity"),
            ("identity;q=0.5, gzip;q=0.5", "gzip"),
            ("gzip;q=0", "identity"),
            ("gzip;q=0.000", "identity"),
            ("gzip;q=0, gzip", "identity"),
            ("gzip;q=2, br;q=nan, zstd;q=", "identity"),
            ("gzip;level=9, ;, ,;q=1", "gzip"),
        ] {
            assert_eq!(chosen(line, &Encoding::ALL), expected, "{line:?}");
        }
    }

    #[test]
    fn rfc9110_12_5_3_without_the_field_nothing_is_encoded() {
        assert_eq!(choose(Fields::Map(&HeaderMap::new()), &Encoding::ALL), None);
        assert_eq!(fold(Fields::Map(&HeaderMap::new())), "identity");
    }

    #[test]
    fn only_what_is_available_is_chosen_and_in_its_order() {
        assert_eq!(chosen("br, gzip, zstd", &[Encoding::Gzip, Encoding::Brotli]), "gzip");
        assert_eq!(chosen("br, gzip;q=0.9", &[Encoding::Gzip, Encoding::Brotli]), "br");
        assert_eq!(chosen("br", &[Encoding::Gzip]), "identity");
        assert_eq!(chosen("gzip;q=0.5, *", &[Encoding::Gzip]), "identity");
        assert_eq!(chosen("gzip", &[]), "identity");
    }

    #[test]
    fn every_field_folds_into_one_of_eight() {
        for (lines, expected) in [
            (&["gzip, deflate, br, zstd"][..], "zstd, br, gzip"),
            (&["gzip, deflate", "br;q=0.1"], "br, gzip"),
            (&["br"], "br"),
            (&["zstd"], "zstd"),
            (&["x-gzip, zstd"], "zstd, gzip"),
            (&["*, gzip;q=0"], "zstd, br"),
            (&["*"], "zstd, br, gzip"),
            (&["gzip;q=0, deflate"], "identity"),
            (&["\"gzip\", gzip2, gz"], "identity"),
        ] {
            assert_eq!(fold(Fields::Map(&request(lines))), expected, "{lines:?}");
        }
        let junk = "x;q=0.1,\",".repeat(5_000) + "gzip";
        assert_eq!(fold(Fields::Map(&request(&[&junk]))), "gzip");
    }
}
