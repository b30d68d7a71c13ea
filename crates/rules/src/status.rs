//! Status: what the status code alone says about storing (RFC 9110 §15, RFC 9111 §3).

use std::time::Duration;

use http::StatusCode;

/// The longest that an answer is fresh whose status a client may have brought about, whatever it says itself.
pub const LONGEST_FAILURE: Duration = Duration::from_mins(1);

/// Whether we know the status, as `must-understand` asks (RFC 9111 §5.2.2.3): every final status of the registry.
///
/// Left out: 206 and 304, which have ways of their own; 226, whose instance manipulations (RFC 3229) we do not
/// implement; 306 and 418, which are registered as unused.
pub fn is_understood(status: StatusCode) -> bool {
    matches!(status.as_u16(),
        200..=205 | 207 | 208
        | 300..=303 | 305 | 307 | 308
        | 400..=417 | 421..=426 | 428 | 429 | 431 | 451
        | 500..=508 | 510 | 511)
}

/// Whether a lifetime may be chosen for an answer that states none (RFC 9111 §4.2.2): its status is heuristically
/// cacheable (RFC 9110 §15.1) or the answer is marked `public`.
///
/// Never for those that attackers provoke most, although the RFC would allow it for 405, 414 and 501.
pub fn may_get_a_lifetime(status: StatusCode, public: bool) -> bool {
    match status.as_u16() {
        400 | 405 | 413 | 414 | 500..=599 => false,
        200 | 203 | 204 | 206 | 300 | 301 | 308 | 404 | 410 => true,
        _ => public,
    }
}

/// Whether it depends on more than the key, so that one client's request could close a page for everybody: 5xx, and
/// every 4xx but the three that speak of the URL alone (404, 410, 451). Fields that a client chooses (`Accept`, `Expect`,
/// `Content-Encoding`, a length, whatever a firewall stumbles over) bring about the others. Such answers are stored only
/// when they say so themselves, and are then of use for [`LONGEST_FAILURE`] at most, stale windows included.
pub fn can_be_provoked(status: StatusCode) -> bool {
    !matches!(status.as_u16(), 404 | 410 | 451) && (status.is_client_error() || status.is_server_error())
}

/// Whether answers of this status must not be stored, whatever they say: 428, 429, 431 and 511 (RFC 6585 §3 to §6).
pub fn is_never_stored(status: StatusCode) -> bool {
    matches!(status.as_u16(), 428 | 429 | 431 | 511)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(code: u16) -> StatusCode {
        StatusCode::from_u16(code).unwrap()
    }

    #[test]
    fn rfc9110_15_1_only_heuristically_cacheable_statuses_get_a_lifetime() {
        for code in [200, 203, 204, 206, 300, 301, 308, 404, 410] {
            assert!(may_get_a_lifetime(status(code), false), "{code}");
        }
        for code in [201, 202, 302, 303, 307, 401, 403, 418, 451, 299, 499] {
            assert!(!may_get_a_lifetime(status(code), false), "{code}");
            assert!(may_get_a_lifetime(status(code), true), "{code}");
        }
    }

    #[test]
    fn poisonable_statuses_never_get_a_lifetime() {
        for code in [400, 405, 413, 414, 500, 501, 502, 503, 504, 599] {
            assert!(!may_get_a_lifetime(status(code), true), "{code}");
        }
    }

    #[test]
    fn only_what_speaks_of_the_url_alone_cannot_be_provoked() {
        for code in (100..400).chain([404, 410, 451]) {
            assert!(!can_be_provoked(status(code)), "{code}");
        }
        for code in [400, 401, 403, 405, 406, 415, 417, 421, 426, 429, 499, 500, 503, 511, 599] {
            assert!(can_be_provoked(status(code)), "{code}");
        }
    }

    #[test]
    fn rfc9111_5_2_2_3_registered_statuses_are_understood() {
        for code in [200, 204, 301, 404, 451, 503, 511] {
            assert!(is_understood(status(code)), "{code}");
        }
        for code in [100, 206, 226, 299, 304, 306, 418, 499, 509, 599, 999] {
            assert!(!is_understood(status(code)), "{code}");
        }
    }
}
