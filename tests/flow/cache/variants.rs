//! `Vary`: one answer for each way of asking (RFC 9111 §4.1).

use testkit::{Fleetfoot, Origin, ok};

use crate::setup::{cached, cached_with, each};

/// Answers with the values of the fields that `vary` names, as the origin saw them.
fn varying(vary: &'static str) -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin.on("*").answer(move |request| {
        let seen: Vec<String> = ["X-A", "X-B", "Accept-Language", "Accept-Encoding"]
            .iter()
            .map(|name| request.head.all(name).collect::<Vec<_>>().join("|"))
            .collect();
        ok(&format!("Cache-Control: max-age=600\n{vary}"), seen.join("/"))
    });
    let fleetfoot = cached(&origin);
    (origin, fleetfoot)
}

#[test]
fn each_variant_is_kept_and_given_to_whom_it_fits() {
    let (origin, fleetfoot) = varying("Vary: Accept-Language");
    let languages = ["de", "fr", "en"].map(|language| format!("Accept-Language: {language}"));
    let first = languages.clone().map(|fields| fleetfoot.get_with("/", &fields).text());
    for (fields, text) in languages.iter().zip(&first) {
        let answer = fleetfoot.get_with("/", fields);
        assert!(answer.is_hit(), "{fields}");
        assert_eq!(&answer.text(), text);
    }
    assert_eq!(origin.requests().len(), 3);
    assert!(!fleetfoot.get("/").is_hit(), "no field is a variant of its own");
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn every_way_to_write_vary_is_understood() {
    let rows = [
        "Vary: X-A, X-B",
        "Vary: x-a,x-b",
        "Vary: X-A\nVary: X-B",
        "Vary: , X-A ,, X-B ,",
        "Vary:\tX-A\t,\tX-B",
    ];
    each(rows.map(|vary| (vary, vary)), |_, vary| {
        let (_origin, fleetfoot) = varying(vary);
        for fields in ["X-A: 1\nX-B: 1", "X-A: 1\nX-B: 2", "X-A: 2\nX-B: 1"] {
            assert!(!fleetfoot.get_with("/", fields).is_hit(), "{fields:?}");
            assert!(fleetfoot.get_with("/", fields).is_hit(), "{fields:?}");
        }
    });
}

#[test]
fn fields_that_vary_does_not_name_make_no_difference() {
    let (_origin, fleetfoot) = varying("Vary: X-A");
    fleetfoot.get_with("/", "X-A: 1\nX-B: 1");
    assert!(fleetfoot.get_with("/", "X-A: 1\nX-B: 2\nUser-Agent: other").is_hit());
}

#[test]
fn vary_star_matches_nothing() {
    for vary in ["Vary: *", "Vary: X-A, *", "Vary: *, X-A", "Vary: X-A\nVary: *"] {
        let (_origin, fleetfoot) = varying(vary);
        fleetfoot.get("/");
        assert!(!fleetfoot.get("/").is_hit(), "{vary}");
    }
}

#[test]
fn a_field_on_two_lines_is_the_same_list() {
    let (_origin, fleetfoot) = varying("Vary: X-A");
    fleetfoot.get_with("/", "X-A: 1, 2");
    // Combining lines is allowed (RFC 9111 §4.1), not required; what must not be is the wrong answer.
    let answer = fleetfoot.get_with("/", "X-A: 1\nX-A: 2");
    assert!(answer.is_hit() || answer.text().starts_with("1|2/"), "{answer:?}");
    assert!(!fleetfoot.get_with("/", "X-A: 2, 1").is_hit());
}

#[test]
fn an_origin_may_change_what_it_varies_on() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let vary = if request.field("X-A") == Some("new") { "X-A, X-B" } else { "X-A" };
        let seen = format!("{:?} {:?}", request.field("X-A"), request.field("X-B"));
        ok(&format!("Cache-Control: max-age=600\nVary: {vary}"), seen)
    });
    let fleetfoot = cached(&origin);
    let requests = ["X-A: old", "X-A: new\nX-B: 1", "X-A: new\nX-B: 2"];
    let texts = requests.map(|fields| fleetfoot.get_with("/", fields).text());
    for (fields, text) in requests.iter().zip(texts) {
        assert_eq!(fleetfoot.get_with("/", fields).text(), text, "{fields:?}");
    }
}

#[test]
fn an_answer_without_vary_serves_everybody() {
    let (origin, fleetfoot) = varying("");
    fleetfoot.get_with("/", "X-A: 1");
    assert!(fleetfoot.get_with("/", "X-A: 2").is_hit());
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn the_number_of_variants_is_a_setting() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nVary: X-A", "x"));
    let fleetfoot = cached_with(&origin, "ttl: origin, variants: 2");
    for value in ["1", "2", "3"] {
        fleetfoot.get_with("/", &format!("X-A: {value}"));
    }
    assert!(fleetfoot.get_with("/", "X-A: 3").is_hit());
    assert!(fleetfoot.get_with("/", "X-A: 2").is_hit());
    assert!(!fleetfoot.get_with("/", "X-A: 1").is_hit());
}
