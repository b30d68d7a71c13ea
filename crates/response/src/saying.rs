//! Saying: what an answer says of what the cache did: `Cache-Status` (RFC 9211), or one word and `Cache-ID`.

use http::{HeaderMap, HeaderName, HeaderValue};
use message::CacheStatus;
use plan::StatusForm;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");
const CACHE_ID: HeaderName = HeaderName::from_static("cache-id");

/// How it is said, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Saying<'a> {
    /// How.
    pub form: StatusForm,
    /// `<location>-<8 hex>`: which cache it was.
    pub id: &'a HeaderValue,
}

impl Saying<'_> {
    /// Appends it to a head, as whole lines. Allocates only where `out` has no room.
    pub fn write(&self, status: &CacheStatus, out: &mut Vec<u8>) {
        match self.form {
            StatusForm::Field => {
                out.extend_from_slice(b"cache-status: ");
                status.write(out);
            }
            StatusForm::Word => {
                out.extend_from_slice(b"cache-status: ");
                out.extend_from_slice(status.word().as_bytes());
                out.extend_from_slice(b"\r\ncache-id: ");
                out.extend_from_slice(self.id.as_bytes());
            }
            StatusForm::Off => return,
        }
        out.extend_from_slice(b"\r\n");
    }

    /// Adds it to fields. Ours comes last: each cache on the way adds its own (RFC 9211 §2); a word stands alone, and who
    /// should not know is not told by caches before us either.
    pub fn add(&self, status: &CacheStatus, fields: &mut HeaderMap) {
        match self.form {
            StatusForm::Field => drop(fields.append(CACHE_STATUS, status.to_value())),
            StatusForm::Word => {
                fields.insert(CACHE_STATUS, HeaderValue::from_static(status.word()));
                fields.insert(CACHE_ID, self.id.clone());
            }
            StatusForm::Off => {
                fields.remove(CACHE_STATUS);
                fields.remove(CACHE_ID);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use message::Fwd;

    use super::*;

    #[test]
    fn it_is_the_same_in_bytes_and_in_fields() {
        let id = HeaderValue::from_static("KUL-5a71ba6a");
        for (form, expected) in [
            (StatusForm::Field, "cache-status: fleetfoot; fwd=bypass\r\n"),
            (StatusForm::Word, "cache-status: uncacheable\r\ncache-id: KUL-5a71ba6a\r\n"),
            (StatusForm::Off, ""),
        ] {
            let saying = Saying { form, id: &id };
            let status = CacheStatus::forward(Fwd::Bypass);
            let (mut out, mut fields) = (Vec::new(), HeaderMap::new());
            saying.write(&status, &mut out);
            saying.add(&status, &mut fields);
            let lines = fields.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            assert_eq!(lines.collect::<String>(), expected);
        }
    }
}
