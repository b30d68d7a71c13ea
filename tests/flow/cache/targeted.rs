//! `CDN-Cache-Control` and other targeted fields: strict structured fields, obeyed before the rest (RFC 9213).

use testkit::{Origin, ok};

use crate::setup::{cached_with, each};

fn is_kept(cache: &str, fields: &str) -> bool {
    let origin = Origin::start();
    origin.on("*").reply(ok(fields, "x"));
    let fleetfoot = cached_with(&origin, cache);
    fleetfoot.get("/");
    fleetfoot.get("/").is_hit()
}

#[test]
fn a_targeted_field_replaces_cache_control_and_expires() {
    let rows = [
        ("CDN-Cache-Control: max-age=600\nCache-Control: no-store", true),
        ("CDN-Cache-Control: max-age=600\nCache-Control: private", true),
        ("CDN-Cache-Control: no-store\nCache-Control: max-age=600", false),
        ("CDN-Cache-Control: private\nCache-Control: max-age=600", false),
        ("CDN-Cache-Control: max-age=0\nCache-Control: max-age=600", false),
        ("CDN-Cache-Control: max-age=600\nExpires: 0", true),
        ("CDN-Cache-Control: max-age=1\nCDN-Cache-Control: max-age=600", true),
        ("CDN-Cache-Control: max-age=600;x=y", true),
        ("CDN-Cache-Control: max-age=600, no-store=?0", true),
        // Not a dictionary, or empty: as if it were not there (§2.1).
        ("CDN-Cache-Control: max-age=600 no-store\nCache-Control: no-store", false),
        ("CDN-Cache-Control: MAX-AGE=600\nCache-Control: no-store", false),
        ("CDN-Cache-Control:\nCache-Control: max-age=600", true),
        ("CDN-Cache-Control: ,\nCache-Control: max-age=600", true),
        // Nor is it coerced into a number (§2.1): the whole field is then as if it were not there.
        ("CDN-Cache-Control: max-age=\"600\"\nCache-Control: no-store", false),
        ("CDN-Cache-Control: max-age=600.5\nCache-Control: no-store", false),
    ];
    each(rows.map(|row| (row.0, row)), |_, (fields, kept)| assert_eq!(is_kept("ttl: origin", fields), kept));
}

#[test]
fn the_list_of_targeted_fields_is_a_setting() {
    let fields = "Own-Cache-Control: max-age=600\nCDN-Cache-Control: no-store\nCache-Control: no-store";
    assert!(!is_kept("ttl: origin", fields));
    assert!(is_kept("ttl: origin, targeted: [Own-Cache-Control, CDN-Cache-Control]", fields));
    assert!(!is_kept("ttl: origin, targeted: [CDN-Cache-Control, Own-Cache-Control]", fields));
}
