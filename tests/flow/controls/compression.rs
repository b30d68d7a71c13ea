//! `compress`: stored once as it is, sent as each client likes it, each form with a tag of its own, and never twice.

use std::io::Read;

use testkit::{Answer, Fleetfoot, Origin, not_modified, ok};

use super::ways::{Asked, Way, each_way};
use crate::setup::{cached_with, each};

const CODINGS: [&str; 3] = ["zstd", "br", "gzip"];
const COMPRESS: &str = "ttl: origin, compress: true";
const TEXT: &str = "Cache-Control: max-age=600\nContent-Type: text/plain\nETag: \"abc\"";

/// Numbers in words: it shrinks, but no part of it is like another.
fn content(length: usize) -> Vec<u8> {
    let mut content = Vec::with_capacity(length + 16);
    for number in 0.. {
        if content.len() >= length {
            break;
        }
        content.extend_from_slice(format!("line {number}\n").as_bytes());
    }
    content.truncate(length);
    content
}

/// An origin with this one answer.
fn with(fields: &str, content: &[u8]) -> Origin {
    let origin = Origin::start();
    origin.on("*").reply(ok(fields, content));
    origin
}

fn decoded(answer: &Answer) -> Vec<u8> {
    let mut content = Vec::new();
    let encoded = &*answer.body;
    match answer.joined("Content-Encoding").as_str() {
        "" => return encoded.to_vec(),
        "zstd" => {
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(encoded).expect("zstd");
            decoder.read_to_end(&mut content).expect("zstd")
        }
        "br" => brotli::Decompressor::new(encoded, 4096).read_to_end(&mut content).expect("br"),
        other => {
            assert_eq!(other, "gzip", "nobody asked for it");
            flate2::read::GzDecoder::new(encoded).read_to_end(&mut content).expect("gzip")
        }
    };
    content
}

fn accepting(way: Way, fleetfoot: &Fleetfoot, coding: &str, more: &str) -> Answer {
    way.get(fleetfoot, "/", &format!("Accept-Encoding: {coding}\n{more}"))
}

/// The tag that this form of `"abc"` has.
fn tag_of(coding: &str) -> String {
    if coding == "identity" { "\"abc\"".to_owned() } else { format!("\"abc-{coding}\"") }
}

#[test]
fn one_fetch_serves_every_coding() {
    let text = content(20_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, COMPRESS);
        let first = accepting(way, &fleetfoot, "zstd, br, gzip", "");
        assert_eq!(decoded(&first), text);
        assert_eq!(origin.last("GET /").field("Accept-Encoding"), Some("identity"));
        for coding in ["zstd", "br", "gzip", "identity", "gzip", "br", "zstd"] {
            let answer = accepting(way, &fleetfoot, coding, "");
            assert!(answer.is_hit(), "{coding}: {:?}", answer.head);
            assert_eq!(answer.field("Content-Encoding"), (coding != "identity").then_some(coding));
            assert_eq!(decoded(&answer), text, "{coding}");
            assert!(coding == "identity" || answer.body.len() < text.len() / 2, "{coding}");
            assert_eq!(answer.joined("Content-Length"), answer.body.len().to_string());
            assert_eq!(answer.joined("ETag"), tag_of(coding));
            assert_eq!(answer.joined("Vary").to_ascii_lowercase(), "accept-encoding");
            assert_eq!(answer.field("Content-Type"), Some("text/plain"));
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn each_client_gets_what_it_likes_best() {
    let text = content(5_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        let rows = [
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip, deflate, br", "br"),
            ("gzip, deflate", "gzip"),
            ("x-gzip", "gzip"),
            ("*", "zstd"),
            ("br;q=0.5, gzip;q=0.9", "gzip"),
            ("gzip;q=0, br", "br"),
            ("zstd;q=0.000, *;q=0.1, identity;q=0", "br"),
            ("identity", ""),
            ("gzip;q=0.5, identity", ""),
            ("gzip;q=0", ""),
            ("deflate", ""),
        ];
        each(rows, |accepted, coding| {
            let answer = accepting(way, &fleetfoot, accepted, "");
            assert_eq!(answer.joined("Content-Encoding"), coding);
            assert_eq!(decoded(&answer), text);
        });
        let answer = way.get(&fleetfoot, "/", "");
        assert!(!answer.has("Content-Encoding"), "who does not say so cannot decode");
        assert_eq!(answer.body, text);
    });
}

#[test]
fn only_codings_that_are_named_are_made_in_their_order() {
    let text = content(5_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, "ttl: origin, compress: { encodings: [gzip, br] }");
        fleetfoot.get("/");
        for (accepted, coding) in [("gzip, br, zstd", "gzip"), ("br, zstd", "br"), ("zstd", "")] {
            let answer = accepting(way, &fleetfoot, accepted, "");
            assert_eq!(answer.joined("Content-Encoding"), coding, "{accepted}");
        }
    });
}

#[test]
fn each_form_is_confirmed_by_its_own_tag() {
    each_way(|way| {
        let origin = with(TEXT, &content(5_000));
        let fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        for coding in CODINGS {
            accepting(way, &fleetfoot, coding, "");
        }
        for asked in ["zstd", "br", "gzip", "identity"] {
            for known in ["zstd", "br", "gzip", "identity"] {
                let condition = format!("If-None-Match: {}", tag_of(known));
                let answer = accepting(way, &fleetfoot, asked, &condition);
                let expected = if asked == known { 304 } else { 200 };
                assert_eq!(answer.status, expected, "{asked} of who has {known}: {:?}", answer.head);
                assert_eq!(answer.joined("ETag"), tag_of(asked));
                if expected == 304 {
                    assert!(answer.body.is_empty());
                    assert_eq!(answer.joined("Vary").to_ascii_lowercase(), "accept-encoding");
                }
            }
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn a_weak_tag_is_that_of_all_forms() {
    each_way(|way| {
        let fields = TEXT.replace("\"abc\"", "W/\"abc\"");
        let origin = with(&fields, &content(5_000));
        let fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        for coding in CODINGS {
            let answer = accepting(way, &fleetfoot, coding, "");
            assert_eq!(answer.joined("Content-Encoding"), coding);
            assert_eq!(answer.joined("ETag"), "W/\"abc\"");
            assert_eq!(accepting(way, &fleetfoot, coding, "If-None-Match: W/\"abc\"").status, 304);
        }
    });
}

#[test]
fn the_origin_hears_of_its_own_tag_only() {
    each_way(|way| {
        let stale = "Cache-Control: max-age=90\nAge: 100\nContent-Type: text/plain\nETag: \"abc\"";
        let origin = Origin::start();
        let text = content(5_000);
        let confirmed = not_modified("Cache-Control: max-age=600\nETag: \"abc\"");
        origin.on("*").replies([ok(stale, &text), confirmed]);
        let fleetfoot = cached_with(&origin, "ttl: origin, compress: true, bypass: Bypass-Cache");
        fleetfoot.get("/");
        // Confirmed for us, and so for the client who has the compressed form.
        let answer = accepting(way, &fleetfoot, "br", "If-None-Match: \"abc-br\"");
        assert_eq!(origin.last("GET /").field("If-None-Match"), Some("\"abc\""));
        assert!(matches!(answer.status, 200 | 304), "{answer:?}");
        assert_eq!(accepting(way, &fleetfoot, "br", "").joined("ETag"), "\"abc-br\"");
        let again = accepting(way, &fleetfoot, "br", "If-None-Match: \"abc-br\"");
        assert_eq!((again.status, again.is_hit()), (304, true), "{again:?}");
        // Past the cache too.
        accepting(way, &fleetfoot, "br", "If-None-Match: \"abc-br\"\nBypass-Cache: 1");
        let seen = origin.last("GET /");
        assert!(seen.field("If-None-Match").is_some_and(|tags| tags.contains("\"abc\"")), "{seen:?}");
    });
}

#[test]
fn what_the_origin_encoded_is_never_encoded_again() {
    let text = content(5_000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &text).expect("memory");
    let encoded = encoder.finish().expect("memory");
    each_way(|way| {
        let origin = with(&format!("{TEXT}\nContent-Encoding: gzip\nVary: Accept-Encoding"), &encoded);
        let fleetfoot = cached_with(&origin, COMPRESS);
        for coding in ["gzip", "br", "zstd, gzip", "gzip"] {
            for _ in 0..2 {
                let answer = accepting(way, &fleetfoot, coding, "");
                assert_eq!(answer.joined("Content-Encoding"), "gzip", "{coding}");
                assert_eq!((&answer.body, answer.joined("ETag").as_str()), (&encoded, "\"abc\""));
            }
        }
    });
}

#[test]
fn what_may_not_be_changed_or_is_not_worth_it_stays_as_it_is() {
    let rows: [(&str, &str, usize); 9] = [
        ("no-transform", "Cache-Control: max-age=600, no-transform\nContent-Type: text/plain", 5_000),
        (
            "No-Transform beside",
            "Cache-Control: No-Transform\nCDN-Cache-Control: max-age=600\nContent-Type: text/plain",
            5_000,
        ),
        ("an image", "Cache-Control: max-age=600\nContent-Type: image/png", 5_000),
        ("without a type", "Cache-Control: max-age=600", 5_000),
        ("short", "Cache-Control: max-age=600\nContent-Type: text/plain", 1_023),
        ("empty", "Cache-Control: max-age=600\nContent-Type: text/plain", 0),
        ("not stored", "Cache-Control: no-store\nContent-Type: text/plain", 5_000),
        (
            "with a digest",
            "Cache-Control: max-age=600\nContent-Type: text/plain\nRepr-Digest: sha-256=:eA==:",
            5_000,
        ),
        (
            "identity",
            "Cache-Control: max-age=600\nContent-Type: text/plain\nContent-Encoding: identity",
            5_000,
        ),
    ];
    each_way(|way| {
        each(rows.map(|row| (row.0, row)), |_, (_, fields, length)| {
            let text = content(length);
            let origin = with(fields, &text);
            let fleetfoot = cached_with(&origin, COMPRESS);
            for _ in 0..3 {
                let answer = accepting(way, &fleetfoot, "zstd, br, gzip", "");
                assert!(!CODINGS.contains(&answer.joined("Content-Encoding").as_str()), "{:?}", answer.head);
                assert_eq!(answer.body, text);
            }
        });
    });
}

#[test]
fn types_and_lengths_are_settings() {
    each_way(|way| {
        let cache = "ttl: origin, compress: { types: ['image/*', application/x-own], least: 100B }";
        for (kind, length, is_encoded) in [
            ("image/bmp", 100, true),
            ("application/x-own; a=b", 500, true),
            ("image/bmp", 99, false),
            ("text/plain", 5_000, false),
        ] {
            let origin = with(&format!("Cache-Control: max-age=600\nContent-Type: {kind}"), &content(length));
            let fleetfoot = cached_with(&origin, cache);
            fleetfoot.get("/");
            let answer = accepting(way, &fleetfoot, "gzip", "");
            assert_eq!(answer.has("Content-Encoding"), is_encoded, "{kind} {length}");
            assert_eq!(decoded(&answer), content(length));
        }
    });
}

#[test]
fn ranges_are_of_the_content_as_it_is() {
    let text = content(5_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        accepting(way, &fleetfoot, "br", "");
        let part = accepting(way, &fleetfoot, "br", "Range: bytes=10-19");
        assert_eq!((part.status, part.joined("Content-Encoding").as_str()), (206, ""));
        assert_eq!(part.body, text[10..20]);
        assert_eq!(part.joined("ETag"), "\"abc\"");
        let part = accepting(way, &fleetfoot, "br", "Range: bytes=10-19\nIf-Range: \"abc\"");
        assert_eq!((part.status, &*part.body), (206, &text[10..20]));
        // Half a compressed form cannot be filled up with a part of the plain one.
        let whole = accepting(way, &fleetfoot, "br", "Range: bytes=10-19\nIf-Range: \"abc-br\"");
        assert_eq!(whole.status, 200, "{:?}", whole.head);
        assert_eq!(decoded(&whole), text);
        assert!(!accepting(way, &fleetfoot, "br", "").has("Accept-Ranges"));
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn a_head_tells_what_a_get_would_bring() {
    let text = content(5_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        for coding in ["zstd", "br", "gzip", "identity"] {
            let fields = format!("Accept-Encoding: {coding}");
            let head = way.ask(&fleetfoot, &Asked { method: "HEAD", ..Asked::get("/", &fields) });
            let whole = way.get(&fleetfoot, "/", &fields);
            assert!(head.body.is_empty() && head.is_hit(), "{head:?}");
            for name in ["Content-Encoding", "Content-Length", "ETag", "Vary", "Content-Type"] {
                assert_eq!(head.joined(name), whole.joined(name), "{name} of {coding}");
            }
        }
    });
}

#[test]
fn a_long_answer_goes_out_as_it_is_until_it_is_compressed() {
    let text = content(400_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let mut fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        for coding in CODINGS {
            let first = accepting(way, &fleetfoot, coding, "");
            assert!(first.is_hit() && !first.has("Content-Encoding"), "{coding}: {:?}", first.head);
            assert_eq!((first.joined("ETag").as_str(), first.body == text), ("\"abc\"", true));
            fleetfoot.wait_until("compressed", |fleetfoot| {
                let answer = accepting(way, fleetfoot, coding, "");
                assert!(decoded(&answer) == text, "{coding}");
                answer.has("Content-Encoding")
            });
            let answer = accepting(way, &fleetfoot, coding, "");
            assert_eq!(
                (answer.joined("Content-Encoding"), answer.joined("ETag")),
                (coding.to_owned(), tag_of(coding))
            );
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn vary_of_the_origin_stays_beside_ours() {
    each_way(|way| {
        let origin = with(&format!("{TEXT}\nVary: X-A"), &content(5_000));
        let fleetfoot = cached_with(&origin, COMPRESS);
        for value in ["1", "2"] {
            let fields = format!("X-A: {value}");
            way.get(&fleetfoot, "/", &fields);
            let answer = accepting(way, &fleetfoot, "gzip", &fields);
            assert!(answer.is_hit() && answer.has("Content-Encoding"), "{answer:?}");
            assert_eq!(answer.joined("Vary").to_ascii_lowercase(), "x-a, accept-encoding");
        }
        // An origin that says `Vary: Accept-Encoding` is asked for one form all the same, once.
        let origin = with(&format!("{TEXT}\nVary: Accept-Encoding"), &content(5_000));
        let fleetfoot = cached_with(&origin, COMPRESS);
        for coding in ["identity", "gzip", "br", "gzip, br;q=0.1"] {
            let answer = accepting(way, &fleetfoot, coding, "");
            assert_eq!(answer.joined("Vary").to_ascii_lowercase(), "accept-encoding");
        }
        assert_eq!(origin.requests().len(), 1);
    });
}

#[test]
fn without_the_word_codings_pass_as_they_are_asked_for() {
    each_way(|way| {
        let origin = with(TEXT, &content(5_000));
        let fleetfoot = cached_with(&origin, "ttl: origin");
        for _ in 0..2 {
            let answer = accepting(way, &fleetfoot, "br, gzip", "");
            assert!(!answer.has("Content-Encoding") && !answer.has("Vary"), "{answer:?}");
        }
        assert_eq!(origin.last("GET /").field("Accept-Encoding"), Some("br, gzip"));
    });
}

#[test]
fn what_was_compressed_stays_so_when_it_is_confirmed() {
    let text = content(20_000);
    each_way(|way| {
        let origin = Origin::start();
        let old = "Cache-Control: max-age=90, stale-while-revalidate=600\nAge: 100\nContent-Type: text/plain\nETag: \"abc\"";
        let confirmed = not_modified("Cache-Control: max-age=600\nETag: \"abc\"\nX-New: 1");
        origin.on("*").replies([ok(old, &text), confirmed]);
        let mut fleetfoot = cached_with(&origin, COMPRESS);
        fleetfoot.get("/");
        fleetfoot.wait_until("confirmed", |fleetfoot| {
            let answer = accepting(way, fleetfoot, "gzip", "");
            assert!(decoded(&answer) == text, "{:?}", answer.head);
            answer.has("X-New")
        });
        for coding in ["gzip", "br"] {
            let answer = accepting(way, &fleetfoot, coding, "");
            assert_eq!(
                (answer.joined("Content-Encoding"), answer.joined("ETag")),
                (coding.to_owned(), tag_of(coding))
            );
            assert_eq!((answer.field("X-New"), decoded(&answer) == text), (Some("1"), true));
        }
        assert_eq!(origin.requests().len(), 2);
    });
}

#[test]
fn all_at_once_get_what_they_can_read() {
    let text = content(60_000);
    each_way(|way| {
        let origin = with(TEXT, &text);
        let fleetfoot = cached_with(&origin, COMPRESS);
        std::thread::scope(|scope| {
            let ask = |coding: &'static str| {
                let fleetfoot = &fleetfoot;
                (coding, scope.spawn(move || accepting(way, fleetfoot, coding, "")))
            };
            let codings = ["gzip", "br", "zstd", "identity"].into_iter().cycle().take(24);
            for (coding, answer) in codings.map(ask).collect::<Vec<_>>() {
                let answer = answer.join().expect("an answer");
                let sent = answer.joined("Content-Encoding");
                assert!(sent.is_empty() || sent == coding, "{sent} to who wants {coding}");
                assert!(decoded(&answer) == text, "{:?}", answer.head);
            }
        });
        assert_eq!(origin.requests().len(), 1);
    });
}
