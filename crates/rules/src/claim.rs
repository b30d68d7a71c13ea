//! Claim: fields that say who asks. In come their names. `source` takes them off what strangers send, `policy` does not tell functions
//! of them, and `plan` refuses them where they would be set in vain.

use crate::alike;

/// Whether a source gets to see a field of a request, as far as that depends on whose word it is. `is_trusted`: the config trusts
/// whoever sent it. The name is in lower case.
pub fn reaches_source(name: &str, is_trusted: bool) -> bool {
    !is_never_passed(name) && (is_trusted || !is_claim(name))
}

/// Fields that no source ever gets: CGI turns `Proxy` into the variable `HTTP_PROXY`, which many programs obey ("httpoxy").
fn is_never_passed(name: &str) -> bool {
    name == "proxy" || alike::field(name.as_bytes(), "proxy-connection")
}

/// Fields in which an intermediary tells who the client is or what it asked for. Also in the spellings that CGI, WSGI and
/// Rack cannot tell from them (`X_Real_IP`, `X.Real.IP`). The name is in lower case.
pub fn is_claim(name: &str) -> bool {
    const FAMILY: &str = "x-forwarded";
    const CLAIMS: [&str; 21] = [
        "forwarded",
        "cf-connecting-ip",
        "cf-connecting-ipv6",
        "client-ip",
        "fastly-client-ip",
        "front-end-https",
        "true-client-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-host",
        "x-http-method",
        "x-http-method-override",
        "x-method-override",
        "x-original-forwarded-for",
        "x-original-host",
        "x-original-url",
        "x-proxyuser-ip",
        "x-real-ip",
        "x-rewrite-url",
        "x-scheme",
        "x-url-scheme",
    ];
    let sent = name.as_bytes();
    matches!(sent, [b'c' | b'f' | b't' | b'x', ..])
        && (sent.get(..FAMILY.len()).is_some_and(|family| alike::field(family, FAMILY))
            || CLAIMS.iter().any(|claim| alike::field(sent, claim)))
}
