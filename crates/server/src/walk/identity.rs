//! Identity: what a core calls itself (`Cache-ID`) and the requests it answers (`X-Request-Id`).

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use http::{HeaderName, HeaderValue};
use message::Fields;

/// Where an answer says by which id it can be asked about.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Bytes of a client's own id at most.
const LONGEST: usize = 64;

/// See the module. One per core.
#[derive(Debug)]
pub(crate) struct Identity {
    core: u32,
    next: Cell<u64>,
}

impl Identity {
    /// From random numbers, so that neither tells how many cores or requests there are.
    pub(crate) fn new() -> Self {
        let random = || RandomState::new().hash_one(0_u8);
        Identity { core: random() as u32, next: Cell::new(random()) }
    }

    /// `<location>-<8 hex>`.
    pub(crate) fn cache_id(&self, location: &str) -> HeaderValue {
        HeaderValue::try_from(format!("{location}-{:08x}", self.core))
            .expect("a location is letters and digits, as the plan was checked")
    }

    /// The client's id of a request where it sent one that is fit for logs, else one of our own.
    pub(crate) fn of_request(&self, fields: Fields<'_>) -> HeaderValue {
        let sent = fields.first(&X_REQUEST_ID).filter(|sent| is_valid(sent));
        sent.and_then(|sent| HeaderValue::from_bytes(sent).ok()).unwrap_or_else(|| self.another())
    }

    /// 16 hex digits. Numbers in a row, scrambled one to one: never the same twice on a core, without a system call.
    fn another(&self) -> HeaderValue {
        let number = self.next.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.next.set(number);
        let digits = format!("{:016x}", scrambled(number));
        HeaderValue::try_from(digits).expect("hexadecimal digits are a valid field value")
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014), which is a bijection.
const fn scrambled(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn is_valid(id: &[u8]) -> bool {
    (1..=LONGEST).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn a_clients_id_is_kept_where_it_is_fit_for_logs() {
        let identity = Identity::new();
        let of = |sent: &str| {
            let fields = HeaderMap::from_iter([(X_REQUEST_ID, HeaderValue::from_str(sent).unwrap())]);
            identity.of_request(Fields::Map(&fields))
        };
        assert_eq!(of("Order-7.b_2"), "Order-7.b_2");
        for unfit in ["", "a b", "a\"b", "a/b", &"x".repeat(65)] {
            let own = of(unfit);
            assert!(own.len() == 16 && is_valid(own.as_bytes()), "{unfit}");
        }
    }

    #[test]
    fn ids_do_not_repeat() {
        let identity = Identity::new();
        let none = HeaderMap::new();
        let ids: std::collections::HashSet<_> =
            (0..10_000).map(|_| identity.of_request(Fields::Map(&none))).collect();
        assert_eq!(ids.len(), 10_000);
    }

    #[test]
    fn a_core_names_its_location() {
        let id = Identity::new().cache_id("KUL");
        let digits = id.to_str().unwrap().strip_prefix("KUL-").unwrap();
        assert!(digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
