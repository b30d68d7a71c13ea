//! NotStored: why an answer is not stored. For `Cache-Status` and logs.

/// The reason, in the order in which they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotStored {
    /// Only answers to GET are stored.
    Method,
    /// An informational answer.
    Interim,
    /// A 304, which updates a stored answer but is none itself.
    NotModified,
    /// A 206: see [`Terms::of_partial`](crate::Terms::of_partial).
    PartialContent,
    /// A status that is about one client or one moment (RFC 6585).
    Status,
    /// A stream of events, which has no end.
    Endless,
    /// The request says `no-store`.
    RequestNoStore,
    /// `must-understand` on a status we do not know.
    StatusNotUnderstood,
    /// The answer says `no-store`.
    NoStore,
    /// The answer says `private`.
    Private,
    /// `Vary: *`, or a `Vary` that cannot be read.
    VaryStar,
    /// §4.1: a field that `Vary` names came in another spelling, which servers may or may not take for it.
    VarySpelling,
    /// The request carries `Authorization` and the answer does not allow sharing.
    Authorization,
    /// The request carries `Cookie` and the answer does not say that it is for everybody.
    Cookie,
    /// The answer sets a cookie.
    SetCookie,
    /// Neither the answer nor the policy gives a lifetime.
    NoLifetime,
    /// Stale from the start (or `no-cache`), with neither a validator nor a time in which stale is allowed.
    NothingToReuse,
}

impl NotStored {
    /// Every reason, for metrics that count by reason.
    pub const ALL: [NotStored; 17] = [
        NotStored::Method,
        NotStored::Interim,
        NotStored::NotModified,
        NotStored::PartialContent,
        NotStored::Status,
        NotStored::Endless,
        NotStored::RequestNoStore,
        NotStored::StatusNotUnderstood,
        NotStored::NoStore,
        NotStored::Private,
        NotStored::VaryStar,
        NotStored::VarySpelling,
        NotStored::Authorization,
        NotStored::Cookie,
        NotStored::SetCookie,
        NotStored::NoLifetime,
        NotStored::NothingToReuse,
    ];

    /// One word, for `Cache-Status: …; detail=` (where it is a valid token), logs and metrics.
    pub const fn word(&self) -> &'static str {
        match self {
            NotStored::Method => "method",
            NotStored::Interim => "interim",
            NotStored::NotModified => "not-modified",
            NotStored::PartialContent => "partial-content",
            NotStored::Status => "status",
            NotStored::Endless => "endless",
            NotStored::RequestNoStore => "request-no-store",
            NotStored::StatusNotUnderstood => "status-not-understood",
            NotStored::NoStore => "no-store",
            NotStored::Private => "private",
            NotStored::VaryStar => "vary-star",
            NotStored::VarySpelling => "vary-spelling",
            NotStored::Authorization => "authorization",
            NotStored::Cookie => "cookie",
            NotStored::SetCookie => "set-cookie",
            NotStored::NoLifetime => "no-lifetime",
            NotStored::NothingToReuse => "nothing-to-reuse",
        }
    }

    /// One sentence for people.
    pub const fn sentence(&self) -> &'static str {
        match self {
            NotStored::Method => "only answers to GET are stored (RFC 9111 §3)",
            NotStored::Interim => "an informational answer is not final (RFC 9111 §3)",
            NotStored::NotModified => "a 304 updates a stored answer and is none itself (RFC 9111 §4.3.4)",
            NotStored::PartialContent => "a 206 is only a part of an answer (RFC 9111 §3.3)",
            NotStored::Status => {
                "428, 429, 431 and 511 are about one client or one moment and are never stored (RFC 6585)"
            }
            NotStored::Endless => "a stream of events has no end and is for whoever reads it now",
            NotStored::RequestNoStore => "the request says no-store (RFC 9111 §5.2.1.5)",
            NotStored::StatusNotUnderstood => {
                "the answer says must-understand and its status is not known (RFC 9111 §5.2.2.3)"
            }
            NotStored::NoStore => "the answer says no-store (RFC 9111 §5.2.2.5)",
            NotStored::Private => "the answer says private (RFC 9111 §5.2.2.7)",
            NotStored::VaryStar => {
                "Vary is * or cannot be read, so no request is known to match (RFC 9111 §4.1)"
            }
            NotStored::VarySpelling => {
                "the request has a field like one that Vary names, in a spelling that some servers take for it and others \
                 do not (`X_Tenant` for `X-Tenant`)"
            }
            NotStored::Authorization => {
                "the request carries Authorization and the answer says neither public, s-maxage nor \
                 must-revalidate (RFC 9111 §3.5), or `mode: force` overrules what it says"
            }
            NotStored::Cookie => {
                "the request carries Cookie and the answer says neither public, s-maxage nor must-revalidate (or \
                 `mode: force` overrules what it says), so it may be one user's alone; cookies in `key.cookies` \
                 do not count"
            }
            NotStored::SetCookie => "the answer sets a cookie, which is one user's alone (RFC 9111 §7.3)",
            NotStored::NoLifetime => {
                "the answer states no lifetime and none is configured for its status and type (RFC 9111 §4.2)"
            }
            NotStored::NothingToReuse => {
                "the answer is stale at once and has no validator to ask again with (RFC 9111 §4.3.1)"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_tokens() {
        let words: std::collections::BTreeSet<_> = NotStored::ALL.iter().map(NotStored::word).collect();
        assert_eq!(words.len(), NotStored::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
        assert!(NotStored::ALL.iter().all(|reason| !reason.sentence().is_empty()));
    }
}
