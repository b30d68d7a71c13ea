//! `no-cache` and `private` with field names (RFC 9111 §5.2.2.4, §5.2.2.7), and fields that are never stored (§3.1).

use testkit::{Origin, ok};

use crate::setup::cached;

#[test]
fn a_private_field_reaches_the_first_client_only() {
    for list in ["\"X-Own\"", "\"x-own\"", "\"X-Other, X-Own\"", "X-Own"] {
        let origin = Origin::start();
        origin.on("*").reply(ok(&format!("Cache-Control: max-age=600, private={list}\nX-Own: alice"), "x"));
        let fleetfoot = cached(&origin);
        assert_eq!(fleetfoot.get("/").field("X-Own"), Some("alice"));
        let second = fleetfoot.get("/");
        // Not storing at all is allowed; storing the field is not.
        assert!(!second.is_hit() || !second.has("X-Own"), "{list} {second:?}");
    }
}

#[test]
fn a_no_cache_field_is_not_given_without_asking() {
    for list in ["\"X-Own\"", "\"x-own, x-other\""] {
        let origin = Origin::start();
        origin.on("*").reply(ok(&format!("Cache-Control: max-age=600, no-cache={list}\nX-Own: alice"), "x"));
        let fleetfoot = cached(&origin);
        assert_eq!(fleetfoot.get("/").field("X-Own"), Some("alice"));
        let second = fleetfoot.get("/");
        assert!(!second.is_hit() || !second.has("X-Own"), "{list} {second:?}");
    }
}

#[test]
fn fields_of_one_connection_are_never_stored() {
    let origin = Origin::start();
    origin.on("*").reply(ok(
        "Cache-Control: max-age=600\nConnection: X-Hop, keep-alive\nX-Hop: 1\nKeep-Alive: timeout=5\n\
         Proxy-Authenticate: Basic\nProxy-Authentication-Info: x\nX-End: 1",
        "x",
    ));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let hit = fleetfoot.get("/");
    assert!(hit.is_hit() && hit.has("X-End"), "{hit:?}");
    for name in ["X-Hop", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info"] {
        assert!(!hit.has(name), "{name} in {hit:?}");
    }
}

#[test]
fn connection_cannot_take_away_what_framing_and_caching_need() {
    let origin = Origin::start();
    origin.on("*").reply(ok(
        "Connection: Cache-Control, Content-Type, Date\nCache-Control: no-store\nContent-Type: text/x",
        "x",
    ));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert!(!fleetfoot.get("/").is_hit(), "no-store counts although Connection names its field");
}
