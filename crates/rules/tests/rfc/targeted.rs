//! Targeted fields: RFC 9213.

use http::HeaderName;
use rules::{FieldList, NotStored, Policy, ResponseDirectives};

use crate::scene::{MINUTE_LATER, answer, fields};

const CDN: HeaderName = HeaderName::from_static("cdn-cache-control");

#[test]
fn rfc9213_2_2_a_valid_targeted_field_must_be_used_alone() {
    for (lines, expected) in [
        (&[("cdn-cache-control", "max-age=60"), ("cache-control", "no-store")][..], Ok(60)),
        (&[("cdn-cache-control", "max-age=60"), ("cache-control", "private, max-age=1")], Ok(60)),
        (&[("cdn-cache-control", "no-store"), ("cache-control", "max-age=60")], Err(NotStored::NoStore)),
        (&[("cdn-cache-control", "private"), ("cache-control", "max-age=60")], Err(NotStored::Private)),
        (&[("cdn-cache-control", "immutable"), ("expires", MINUTE_LATER)], Err(NotStored::NoLifetime)),
        (&[("cdn-cache-control", "max-age=5"), ("cdn-cache-control", "s-maxage=6")], Ok(6)),
        (&[("cdn-cache-control", "max-age=5, max-age=6")], Ok(6)),
        (&[("cdn-cache-control", "max-age=60;x=1, unknown=(1 2)")], Ok(60)),
        (&[("cdn-cache-control", "max-age=999999999999999")], Ok(1 << 31)),
        (&[("cdn-cache-control", "no-store=?0, max-age=60")], Ok(60)),
    ] {
        assert_eq!(answer(lines).lifetime(), expected, "{lines:?}");
    }
}

#[test]
fn rfc9213_2_1_an_invalid_or_empty_targeted_field_must_be_ignored() {
    for value in [
        "",
        "max-age=60, &&&",
        "MAX-AGE=60",
        "max-age=\"60\"",
        "max-age=60.0",
        "max-age",
        "max-age=(60)",
        "max-age =60",
        "max-age= 60",
        "max-age=60,",
        "max-age=9999999999999999",
        "private=\"a",
        "s-maxage=a, max-age=60",
        "max-age=6 0",
    ] {
        let scene = answer(&[("cdn-cache-control", value), ("cache-control", "max-age=7")]);
        assert_eq!(scene.lifetime(), Ok(7), "{value:?}");
    }
}

#[test]
fn rfc9213_2_2_the_first_usable_of_the_list_counts() {
    let policy =
        Policy { targeted: vec![HeaderName::from_static("our-cache-control"), CDN], ..Policy::default() };
    for (lines, expected) in [
        (&[("our-cache-control", "max-age=1"), ("cdn-cache-control", "max-age=2")][..], 1),
        (&[("our-cache-control", ""), ("cdn-cache-control", "max-age=2"), ("cache-control", "max-age=3")], 2),
        (&[("our-cache-control", "?"), ("cdn-cache-control", "?"), ("cache-control", "max-age=3")], 3),
    ] {
        assert_eq!(answer(lines).policy(policy.clone()).lifetime(), Ok(expected), "{lines:?}");
    }
    let nobody = Policy { targeted: Vec::new(), ..Policy::default() };
    let scene = answer(&[("cdn-cache-control", "max-age=1"), ("cache-control", "max-age=3")]);
    assert_eq!(scene.policy(nobody).lifetime(), Ok(3));
}

#[test]
fn rfc9213_2_1_directives_in_their_structured_types() {
    let value = "public, private=\"a, b\", no-cache=c, must-revalidate, proxy-revalidate, must-understand, no-transform, \
                 immutable, max-age=1, s-maxage=-2, stale-while-revalidate=3, stale-if-error=4";
    let directives = ResponseDirectives::of(&fields(&[("cdn-cache-control", value)]), &[CDN]);
    let expected = ResponseDirectives {
        public: true,
        private: Some(FieldList::Names(vec![HeaderName::from_static("a"), HeaderName::from_static("b")])),
        no_cache: Some(FieldList::Names(vec![HeaderName::from_static("c")])),
        no_store: false,
        no_transform: true,
        must_revalidate: true,
        proxy_revalidate: true,
        must_understand: true,
        immutable: true,
        max_age: Some(1),
        s_maxage: Some(0),
        stale_while_revalidate: Some(3),
        stale_if_error: Some(4),
        targeted: true,
    };
    assert_eq!(directives, expected);
    for all in ["private", "private=(\"a\")", "private=1", "private=\"\"", "private=\"a b\""] {
        let directives = ResponseDirectives::of(&fields(&[("cdn-cache-control", all)]), &[CDN]);
        assert_eq!(directives.private, Some(FieldList::All), "{all}");
    }
}

#[test]
fn the_same_directives_in_cache_control() {
    let value = "public, private=\"a, b\", private=A, no-cache=c, must-revalidate, proxy-revalidate, must-understand, \
                 no-transform, immutable, max-age=1, s-maxage=2, stale-while-revalidate=3, stale-if-error=4, no-store";
    let directives = ResponseDirectives::of(&fields(&[("cache-control", value)]), &[CDN]);
    let names: Vec<_> = directives.unshared_fields().map(HeaderName::as_str).collect();
    assert_eq!(names, ["a", "b", "a", "c"]);
    assert!(!directives.targeted && !directives.all_private() && !directives.always_validate());
    assert!(
        directives.public && directives.no_store && directives.no_transform && directives.must_revalidate
    );
    assert!(directives.proxy_revalidate && directives.must_understand && directives.immutable);
    assert_eq!((directives.max_age, directives.s_maxage), (Some(1), Some(2)));
    assert_eq!((directives.stale_while_revalidate, directives.stale_if_error), (Some(3), Some(4)));
}
