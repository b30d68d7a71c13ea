//! `early`: what is asked for often is fetched anew before it goes stale; what is not is left to end.

use testkit::{Gate, Origin, Script, not_modified, ok};

use super::ways::each_way;
use crate::setup::cached_with;

/// Nine tenths of four seconds: due after less than half a second, which is as short as whole seconds allow.
const EARLY: &str = "ttl: origin, early: 90%";
const SHORT: &str = "Cache-Control: max-age=4\nETag: \"one\"";

#[test]
fn a_hot_answer_is_refreshed_once_while_the_old_one_is_served_fresh() {
    each_way(|way| {
        let origin = Origin::start();
        let gate = Gate::new();
        let next = Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "new"));
        origin.on("/hot").replies([ok(SHORT, "old"), next]);
        origin.on("/cold").reply(ok(SHORT, "old"));
        let mut fleetfoot = cached_with(&origin, EARLY);
        way.get(&fleetfoot, "/cold", "");
        way.get(&fleetfoot, "/hot", "");
        fleetfoot.wait_until("asked early", |fleetfoot| {
            let answer = way.get(fleetfoot, "/hot", "");
            assert!(answer.is_hit() && answer.ttl().is_some_and(|ttl| ttl > 0), "{answer:?}");
            origin.count("GET /hot") == 2
        });
        assert_eq!(origin.last("GET /hot").field("If-None-Match"), Some("\"one\""), "it may just confirm");
        // The origin has not answered yet, and nobody waits for it, nor asks it again.
        for _ in 0..20 {
            let answer = way.get(&fleetfoot, "/hot", "");
            assert!(answer.is_hit() && answer.text() == "old", "{answer:?}");
        }
        let cold = way.get(&fleetfoot, "/cold", "");
        assert!(cold.is_hit(), "as far through its lifetime, but nobody asks for it: {cold:?}");
        gate.open();
        fleetfoot.wait_until("refreshed", |fleetfoot| way.get(fleetfoot, "/hot", "").text() == "new");
        assert_eq!((origin.count("GET /hot"), origin.count("GET /cold")), (2, 1));
    });
}

#[test]
fn an_early_confirmation_makes_it_fresh_again() {
    each_way(|way| {
        let origin = Origin::start();
        origin
            .on("*")
            .replies([ok(SHORT, "kept"), not_modified("Cache-Control: max-age=600\nETag: \"one\"")]);
        let mut fleetfoot = cached_with(&origin, EARLY);
        fleetfoot.wait_until("confirmed early", |fleetfoot| {
            let answer = way.get(fleetfoot, "/", "");
            assert_eq!(answer.text(), "kept");
            answer.ttl().is_some_and(|ttl| ttl > 500)
        });
        assert_eq!(origin.count("GET /"), 2);
    });
}

#[test]
fn an_answer_that_is_new_is_not_refreshed_however_hot() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=600\nAge: 590", "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, early: 20%");
        for _ in 0..50 {
            way.get(&fleetfoot, "/", "");
        }
        assert_eq!(origin.count("GET /"), 1, "the share is of what it came with");
    });
}
