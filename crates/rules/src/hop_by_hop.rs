//! Hop by hop: fields that are about one connection, not about the message (RFC 9110 §7.6.1).
//!
//! Left out by sources when they send a request, stripped by them from answers, and never stored (RFC 9111 §3.1).

use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue};

use crate::list;

/// Always hop-by-hop, named in `Connection` or not.
///
/// `Proxy-Authenticate`, `-Authentication-Info` and `-Authorization` are between a client and the next proxy (RFC 9110
/// §11.7): as a gateway we neither ask for credentials nor pass on what was meant for another. `HTTP2-Settings` belongs
/// to the upgrade to h2c that we do not offer. `TE` goes too; whoever wants trailers from the next hop says so anew.
/// `Trailer` stays: it describes the message, and RFC 9110 took it off the list that RFC 2616 had it on.
fn is_always_hop_by_hop(name: &HeaderName) -> bool {
    // As text: the length alone tells most fields apart from all of these.
    matches!(
        name.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "te"
            | "transfer-encoding"
            | "upgrade"
            | "http2-settings"
            | "proxy-authenticate"
            | "proxy-authentication-info"
            | "proxy-authorization"
    )
}

/// Which fields of one message are about its connection: `Connection`, those it names, and those that always are.
#[derive(Debug)]
pub struct HopByHop {
    named: Vec<HeaderName>,
}

impl HopByHop {
    /// Those of the message with these fields.
    pub fn of(fields: &HeaderMap) -> Self {
        HopByHop { named: named(fields) }
    }

    /// Whether this is one of them.
    pub fn has(&self, name: &HeaderName) -> bool {
        is_always_hop_by_hop(name) || self.named.contains(name)
    }
}

/// Removes the fields that are about the connection.
pub fn strip(fields: &mut HeaderMap) {
    let hop_by_hop = HopByHop::of(fields);
    // Names are looked at, and hashed only where something has to go.
    while let Some(name) = fields.keys().find(|name| hop_by_hop.has(name)).cloned() {
        fields.remove(name);
    }
}

/// Removes the fields that `Connection` names, but leaves it and those that are always hop-by-hop: for whoever decides by
/// a request's fields before [`strip`] takes the rest off. What the next hop will not see must not choose an answer.
pub fn strip_named(fields: &mut HeaderMap) {
    for name in named(fields).iter().filter(|name| !is_always_hop_by_hop(name)) {
        fields.remove(name);
    }
}

/// Takes a field off what `Connection` names, so that it goes on: for whoever sets it on a request, since whoever sent that would
/// else have it removed again.
pub fn keep(fields: &mut HeaderMap, name: &HeaderName) {
    let is_it = |member: &[u8]| member.eq_ignore_ascii_case(name.as_str().as_bytes());
    let lines = || fields.get_all(CONNECTION).iter();
    if !lines().any(|line| list::members(line.as_bytes()).any(is_it)) {
        return;
    }
    let members = lines().flat_map(|line| list::members(line.as_bytes()));
    let left: Vec<_> = members.filter(|member| !is_it(member)).collect();
    match HeaderValue::from_bytes(&left.join(&b", "[..])) {
        Ok(left) if !left.is_empty() => drop(fields.insert(CONNECTION, left)),
        _ => drop(fields.remove(CONNECTION)),
    }
}

/// The fields that `Connection` names, apart from those it may not.
fn named(fields: &HeaderMap) -> Vec<HeaderName> {
    fields
        .get_all(CONNECTION)
        .iter()
        .flat_map(|line| list::members(line.as_bytes()))
        .filter_map(|option| HeaderName::from_bytes(option).ok())
        .filter(|name| !is_for_every_recipient(name))
        .collect()
}

/// The fields by which caches decide. "A sender MUST NOT send a connection option corresponding to a field that is
/// intended for all recipients of the content. For example, Cache-Control is never appropriate": believing it would
/// turn `private` into nothing said at all.
fn is_for_every_recipient(name: &HeaderName) -> bool {
    name.as_str().ends_with("cache-control") || matches!(name.as_str(), "age" | "date" | "expires" | "vary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_7_6_1_fields_of_the_connection_must_be_removed() {
        let mut fields = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-One"),
            ("connection", " x-two ,, not a token"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("x-three", "3"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "keep-alive"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("http2-settings", "x"),
            ("proxy-authenticate", "Basic"),
            ("proxy-authorization", "Basic x"),
            ("proxy-authentication-info", "x"),
            ("trailer", "x-three"),
        ] {
            fields.append(name, HeaderValue::from_static(value));
        }
        strip(&mut fields);
        let mut left: Vec<_> = fields.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["trailer", "x-three"]);
    }

    #[test]
    fn only_what_connection_names_is_stripped_before_deciding() {
        let mut fields = HeaderMap::new();
        for (name, value) in [
            ("connection", "x-one, upgrade, te"),
            ("x-one", "1"),
            ("upgrade", "a"),
            ("te", "trailers"),
            ("x", "1"),
        ] {
            fields.append(name, HeaderValue::from_static(value));
        }
        strip_named(&mut fields);
        assert!(!fields.contains_key("x-one"));
        assert_eq!(fields.len(), 4);
    }

    #[test]
    fn connection_cannot_take_away_what_caches_decide_by() {
        let mut fields = HeaderMap::new();
        let kept = ["age", "cache-control", "cdn-cache-control", "date", "expires", "vary"];
        for name in kept {
            fields.insert(name, HeaderValue::from_static("x"));
            fields.append(CONNECTION, HeaderValue::from_static(name));
        }
        strip(&mut fields);
        assert_eq!(fields.len(), kept.len());
    }

    #[test]
    fn what_is_kept_is_named_no_more_and_the_rest_still_is() {
        let name = HeaderName::from_static("x-api-key");
        for (lines, left) in [
            (&["close"][..], &["close"][..]),
            (&["X-API-Key"], &[]),
            (&["upgrade, x-api-key", "x-other"], &["upgrade, x-other"]),
        ] {
            let mut fields = HeaderMap::new();
            for line in lines {
                fields.append(CONNECTION, HeaderValue::from_static(line));
            }
            fields.insert(&name, HeaderValue::from_static("ours"));
            keep(&mut fields, &name);
            assert_eq!(fields.get_all(CONNECTION).iter().collect::<Vec<_>>(), left);
            strip(&mut fields);
            assert_eq!(fields.get(&name).unwrap(), "ours", "{lines:?}");
        }
    }
}
