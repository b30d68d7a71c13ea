//! Encoding: which content coding a client gets (RFC 9110 §12.5.3), and folding `Accept-Encoding` into few classes.

use http::HeaderValue;
use message::Fields;

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
pub fn choose(request: Fields<'_>, available: &[Encoding]) -> Option<Encoding> {
    let _ = (request, available);
    None
}

/// The one value that stands for all `Accept-Encoding` values that accept the same of our codings: one of eight.
pub fn fold(request: Fields<'_>) -> &'static HeaderValue {
    let _ = request;
    static IDENTITY: HeaderValue = HeaderValue::from_static("identity");
    &IDENTITY
}
