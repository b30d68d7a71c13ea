use proptest::prelude::*;

use super::*;

fn refuses(path: &str) -> bool {
    Target::read(path).is_none()
}

#[test]
fn what_misleads_is_refused() {
    for path in [
        "/.",
        "/..",
        "/a/../b",
        "/a/./b",
        "/a/..",
        "/%2e",
        "/%2E%2e/a",
        "/.%2e/a",
        "/a/%2e./b",
        "/static/..%2faccount",
        "/static/%2e%2e%2Faccount",
        "/static%2f..%2faccount",
        "/static/..%5caccount",
        "/static%5c..%5caccount",
        "/a\\b",
        "/a\\..\\b",
        "/..;/a",
        "/a/..;x=y/b",
        "/a/.;/b",
        "/..%3b/a",
        "/a%00.css",
        "/a%0a",
        "/a%0D%0Ab",
        "/a%7f",
        "/a\u{0}",
        "/a\n",
        "/a\u{7f}",
        "/%c0%ae%c0%ae/a",
        "/%c0%ae./a",
        "/..%c0%afa",
        "/..%e0%80%afa",
        "/..%c1%9ca",
        "/%e0%80%ae%e0%80%ae/",
        "/%c0%80",
        "/%f0%80%80%ae./a",
        "/..%f0%80%80%afa",
        "/%u002e%U002E/a",
        "/..%u002fa",
        "/%u0000",
        "/..?a",
    ] {
        assert!(refuses(path), "{path:?}");
    }
}

#[test]
fn the_rest_stays_as_it_is() {
    for path in [
        "/",
        "",
        "*",
        "//",
        "//a",
        "/a.css",
        "/.well-known/x",
        "/...",
        "/.../a",
        "/..a",
        "/a..",
        "/.a.",
        "/a/b.c/d",
        "/a%2Fb",
        "/a%5Cb",
        "/%u4F60%u002",
        "/%F0%9F%98%80",
        "/a;x=..",
        "/a;x/b",
        "/%252e%252e/",
        "/%",
        "/%2",
        "/%zz",
        "/100%",
        "/caf%C3%A9",
        "/%E4%BD%A0",
        "/%C0",
        "/%E0",
        "/%E0%A4%85",
        "/日本",
        "/a b",
        "/a?x=/../%37&b=%00\\",
    ] {
        let target = Target::read(path).unwrap_or_else(|| panic!("{path:?} is refused"));
        assert_eq!((target.as_str(), target.clone().into_changed()), (path, None));
        assert_eq!(target.path(), path.split('?').next().unwrap());
    }
}

#[test]
fn octets_that_need_no_encoding_have_none() {
    for (sent, meant) in [
        ("/products/%37", "/products/7"),
        ("/%6d%65mbers/a", "/members/a"),
        ("/%7Euser/%2D%5f", "/~user/-_"),
        ("/%2ea", "/.a"),
        ("/a%2fb%c3%a9", "/a%2Fb%C3%A9"),
        ("/%%41", "/%%41"),
        ("/%%341", "/%%341"),
        ("/%61%2%35", "/%61%2%35"),
        ("/%2541", "/%2541"),
        ("/%61?b=%61%2f", "/a?b=%61%2f"),
    ] {
        let target = Target::read(sent).unwrap();
        assert_eq!(target.as_str(), meant, "{sent}");
        assert_eq!(normalized(sent), meant);
    }
}

#[test]
fn what_servers_read_differently_is_named() {
    let plain = Shape::default();
    let encoded = Shape::ENCODED;
    for (path, shape) in [
        ("/", plain),
        ("*", encoded),
        ("/a-b.c_d~1", plain),
        ("/a?B//;%2F/", plain),
        ("/A", Shape::CAPITALS),
        ("//a", Shape::EMPTY),
        ("/a/", Shape::SLASH_AT_END),
        ("/a;b", encoded.with(Shape::PARAMETERS)),
        ("/a%3Bb", encoded.with(Shape::PARAMETERS)),
        ("/a%2fb", encoded.with(Shape::SLASH)),
        ("/a%c0%afb", encoded.with(Shape::SLASH)),
        ("/a%5Cb", encoded.with(Shape::BACKSLASH)),
        ("/a%20b", encoded),
        ("/a@b", encoded),
        ("/%61", plain),
        ("/%41", Shape::CAPITALS),
    ] {
        assert_eq!(Target::read(path).unwrap().shape(), shape, "{path}");
    }
}

#[test]
fn the_parts_of_a_shape_are_all_its_subsets() {
    let shape = Shape::CAPITALS.with(Shape::SLASH);
    let parts: Vec<_> = shape.parts().collect();
    assert_eq!(parts, [shape, Shape::SLASH, Shape::CAPITALS, Shape::default()]);
    assert_eq!(Shape::default().parts().count(), 1);
}

#[test]
fn values_are_looked_at_as_they_are() {
    for text in ["..", "a/..", "../a", "a/./b", "..\\a", "a\\..", "a/..;b", "a\0", "a\r\nb", "\u{7f}"] {
        assert!(misleads_decoded(text.as_bytes()), "{text:?}");
    }
    for text in ["", "a", "user:..", "a..b", "a\\b", "a/b", "...", "é", "a%2e"] {
        assert!(!misleads_decoded(text.as_bytes()), "{text:?}");
    }
}

proptest! {
    /// The quick pass may only skip paths that the thorough look would let through.
    #[test]
    fn the_quick_pass_misses_nothing(path in "/([a./%\\\\;25cefCEF0\u{1}]|%2e|%2f|%c0|%ae|\\.\\.){0,16}") {
        let thorough = path.bytes().any(|byte| byte == b'\\') || misleads(path.as_bytes());
        prop_assert_eq!(refuses(&path), thorough, "{:?}", path);
    }

    /// One form, and the same meaning: reading it again changes nothing, and it decodes to the same bytes.
    #[test]
    fn the_form_is_final(path in "/([a-c%/;.2-7A-F]|%[2-7][0-9a-fA-F]){0,24}") {
        let once = normalized(&path).into_owned();
        prop_assert!(matches!(normalized(&once), Cow::Borrowed(_)), "{:?} {:?}", path, once);
        prop_assert_eq!(refuses(&path), refuses(&once), "{:?}", path);
    }

    #[test]
    fn never_panics(path in "\\PC{0,40}|[%a-f0-9é]{0,20}") {
        let _ = Target::read(&path);
        let _ = normalized(&path);
    }
}
