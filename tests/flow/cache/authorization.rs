//! Requests with `Authorization`: RFC 9111 §3.5.

use testkit::{Origin, ok};

use crate::setup::{cached, each};

#[test]
fn only_an_answer_that_says_so_is_shared() {
    let rows = [
        ("Cache-Control: max-age=600", false),
        ("Cache-Control: public, max-age=600", true),
        ("Cache-Control: s-maxage=600", true),
        ("Cache-Control: must-revalidate, max-age=600", true),
        ("Cache-Control: proxy-revalidate, max-age=600", false),
        ("Cache-Control: private, max-age=600", false),
    ];
    each(rows.map(|row| (row.0, row)), |_, (fields, shared)| {
        let origin = Origin::start();
        origin.on("*").reply(ok(fields, "x"));
        let fleetfoot = cached(&origin);
        fleetfoot.get_with("/", "Authorization: Basic YWxpY2U=");
        assert_eq!(fleetfoot.get_with("/", "Authorization: Basic Ym9i").is_hit(), shared);
    });
}

#[test]
fn what_was_stored_without_credentials_is_not_given_to_those_with() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        ok("Cache-Control: max-age=600", request.field("Authorization").unwrap_or("nobody"))
    });
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert!(fleetfoot.get("/").is_hit());
    assert_eq!(fleetfoot.get_with("/", "Authorization: alice").text(), "alice");
    assert_eq!(fleetfoot.get("/").text(), "nobody");
}
