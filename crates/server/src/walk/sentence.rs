//! Sentence: what the cache did with a request, in words that name the rule. For `explain` of requests that were
//! answered.

use message::{CacheStatus, Error, Fwd};
use rules::NotStored;

/// What came of a request.
pub(crate) fn of_outcome(cache: Option<&CacheStatus>, error: Option<&Error>) -> String {
    let Some(status) = cache else {
        return match error {
            Some(error) => format!("refused before the cache was asked: {}", error.detail()),
            None => "the client left before the cache had decided".to_owned(),
        };
    };
    let mut told = if status.hit { hit(status) } else { asked(status) };
    if status.collapsed {
        told.push_str("; it shared one fetch with other requests");
    }
    if let Some(error) = error {
        told.push_str("; the origin failed: ");
        told.push_str(error.detail());
    }
    told
}

fn hit(status: &CacheStatus) -> String {
    match status.ttl {
        Some(ttl) if ttl < 0 => {
            format!("answered with what is stored, stale for {} s, as the stale rules allow (RFC 5861)", -ttl)
        }
        Some(ttl) => format!("answered with what is stored, fresh for {ttl} s more (RFC 9111 §4.2)"),
        None => "answered with what is stored".to_owned(),
    }
}

fn asked(status: &CacheStatus) -> String {
    let why = status.fwd.map_or("the origin was asked", |fwd| because(fwd, status.detail));
    if status.ttl.is_some_and(|ttl| ttl < 0) && !status.stored {
        return format!("{why}; what was stored stood in, stale, for the origin's failure (RFC 5861 §4)");
    }
    if status.fwd_status == Some(304) {
        return format!("{why}, and confirmed what is stored with a 304 (RFC 9111 §4.3.3)");
    }
    if status.stored {
        return format!("{why}; its answer was stored");
    }
    let not_looked_up = matches!(status.fwd, Some(Fwd::Bypass | Fwd::Method));
    match status.detail.and_then(not_stored) {
        Some(reason) if !not_looked_up => format!("{why}; its answer was not stored: {}", reason.sentence()),
        _ if not_looked_up => format!("{why}; nothing was read or stored"),
        _ => match status.detail {
            Some(detail) => format!("{why}; its answer was not stored by this request: {detail}"),
            None => format!("{why}; its answer was not stored by this request"),
        },
    }
}

fn because(fwd: Fwd, detail: Option<&'static str>) -> &'static str {
    match (fwd, detail) {
        (Fwd::Bypass, Some("bypass")) => {
            "sent past the cache: the policy's `bypass` says so for this request"
        }
        (Fwd::Bypass, Some("skip-for")) => {
            "sent past the cache: the policy's `skip_for` holds for this request"
        }
        (Fwd::Bypass, Some("has-cookie")) => {
            "sent past the cache: with `mode: force`, a request with a cookie that is no part of the key may be somebody's \
             who is logged in. Write `skip_for` to say who is, or `key: { cookies: [] }` for those that count"
        }
        (Fwd::Bypass, Some("has-authorization")) => {
            "sent past the cache: with `mode: force`, a request with `Authorization` is somebody's who is logged in. Write \
             `skip_for` to say otherwise"
        }
        (Fwd::Bypass, Some("spelling")) => {
            "sent past the cache: a field or cookie that the policy goes by came in a spelling that some servers take for \
             it and others do not (`X_Tenant` for `X-Tenant`), or a cookie twice"
        }
        (Fwd::Bypass, Some("content")) => {
            "sent past the cache: a GET with content, which is no part of the key (RFC 9110 §9.3.1)"
        }
        (Fwd::Bypass, _) => "sent past the cache: the request is one that a cache does not answer",
        (Fwd::Method, _) => "sent past the cache: only GET and HEAD are looked up (RFC 9111 §4)",
        (Fwd::UriMiss, _) => "nothing was stored under its key, so the origin was asked",
        (Fwd::VaryMiss, _) => {
            "what was stored is for other values of the fields in `Vary`, so the origin was asked (RFC 9111 §4.1)"
        }
        (Fwd::Miss, _) => "nothing that was stored fits, so the origin was asked",
        (Fwd::Request, _) => {
            "the request's own directives ask for more than what is stored, so the origin was asked (RFC 9111 §5.2.1)"
        }
        (Fwd::Stale, _) => "what was stored is stale, so the origin was asked (RFC 9111 §4.3)",
        (Fwd::Partial, _) => "only parts were stored, so the origin was asked (RFC 9111 §3.3)",
    }
}

fn not_stored(word: &'static str) -> Option<NotStored> {
    NotStored::ALL.into_iter().find(|reason| reason.word() == word)
}

#[cfg(test)]
mod tests {
    use message::Kind;

    use super::*;

    #[test]
    fn every_reason_not_to_store_has_its_sentence() {
        for reason in NotStored::ALL {
            let status = CacheStatus::forward(Fwd::UriMiss).because(reason.word());
            assert!(of_outcome(Some(&status), None).contains(reason.sentence()), "{reason:?}");
        }
    }

    #[test]
    fn what_happened_is_said() {
        let forward = CacheStatus::forward;
        for (status, said) in [
            (forward(Fwd::Bypass).because("skip-for"), "`skip_for`"),
            (forward(Fwd::Method), "only GET and HEAD"),
            (CacheStatus { stored: true, ..forward(Fwd::UriMiss) }, "was stored"),
            (CacheStatus { fwd_status: Some(304), ..forward(Fwd::Stale) }, "§4.3.3"),
            (CacheStatus { ttl: Some(-3), ..forward(Fwd::Stale) }, "stood in"),
            (CacheStatus::hit(-3), "stale for 3 s"),
            (CacheStatus::hit(3), "fresh for 3 s"),
        ] {
            assert!(of_outcome(Some(&status), None).contains(said), "{status:?}");
        }
        let error = Error::new(Kind::Forbidden, "this URL must be signed");
        assert!(of_outcome(None, Some(&error)).contains("must be signed"));
    }
}
