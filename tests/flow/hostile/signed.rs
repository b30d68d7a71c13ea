//! Signed URLs and cookies, as Cloud CDN writes them: whoever has none stays outside, also of what is stored; the signature
//! itself goes no further than the gate: not into the key, not to the origin, not into the log.
//!
//! The signatures are made here from the documentation of that form, by other means than the program's.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::Value;
use testkit::{Answer, Fleetfoot, Origin, ok};

use crate::control_port::port::ask;
use crate::setup::each;

/// base64url of 16 bytes each.
pub(crate) const MAIN: &str = "nZtRohdNF9m3cKM24IcK4w==";
const OLD: &str = "AAECAwQFBgcICQoLDA0ODw==";
const NEXT: &str = "Dw4NDAsKCQgHBgUEAwIBAA==";

/// Long after, and long before, this test runs.
const LATER: u64 = 4_000_000_000;
const EARLIER: u64 = 1_500_000_000;

fn signature(key: &str, text: &str) -> String {
    let key = URL_SAFE.decode(key).expect("the keys above are base64url");
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    URL_SAFE.encode(hmac::sign(&key, text.as_bytes()))
}

/// The target of `http://example.test` that is signed by this key under this name.
pub(crate) fn signed_as(target: &str, expires: u64, name: &str, key: &str) -> String {
    let separator = if target.contains('?') { '&' } else { '?' };
    let text = format!("{target}{separator}Expires={expires}&KeyName={name}");
    let signature = signature(key, &format!("http://example.test{text}"));
    format!("{text}&Signature={signature}")
}

fn signed(target: &str) -> String {
    signed_as(target, LATER, "main", MAIN)
}

/// What signs everything that begins so, with `&` for URLs and `:` for cookies.
fn policy(prefix: &str, separator: char, expires: u64) -> String {
    let text = format!("URLPrefix={}&Expires={expires}&KeyName=main", URL_SAFE.encode(prefix));
    let text = text.replace('&', &separator.to_string());
    let signature = signature(MAIN, &text);
    format!("{text}{separator}Signature={signature}")
}

fn cookie(prefix: &str) -> String {
    format!("Cookie: Cloud-CDN-Cookie={}", policy(prefix, ':', LATER))
}

fn config(origin: &Origin, keys: &str) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\naccess_log: json\n\
         sources: {{ api: {{ http: \"{}\" }} }}\n\
         policies:\n  members: {{ signed: {{ keys: {{ {keys} }} }} }}\n  public: {{ cache: {{ ttl: origin }} }}\n\
         routes: [ {{ match: /open/**, proxy: api, use: public }}, \
         {{ match: /**, proxy: api, use: [members, public] }} ]\n",
        origin.url()
    )
}

fn members(origin: &Origin) -> Fleetfoot {
    Fleetfoot::start(&config(origin, &format!("main: \"{MAIN}\"")))
}

fn echoing() -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600", &request.raw));
    origin
}

fn assert_refused(answer: &Answer) {
    assert_eq!((answer.status, answer.field("Cache-Control")), (403, Some("no-store")), "{answer:?}");
}

#[test]
fn a_valid_signature_opens_and_others_do_not() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    let good = signed("/video?quality=low");
    assert_eq!(fleetfoot.get(&good).status, 200);
    let asked = origin.bytes().len();
    let (text, sign) = good.split_once("&Signature=").unwrap();
    let rows = [
        ("none", "/video?quality=low".to_owned()),
        ("expired", signed_as("/video?quality=low", EARLIER, "main", MAIN)),
        ("another key", signed_as("/video?quality=low", LATER, "main", OLD)),
        ("an unknown name", signed_as("/video?quality=low", LATER, "other", MAIN)),
        ("no signature", text.to_owned()),
        ("an empty one", format!("{text}&Signature=")),
        (
            "one letter else",
            format!("{text}&Signature={}{}", if sign.starts_with('A') { "B" } else { "A" }, &sign[1..]),
        ),
        ("a parameter changed", good.replace("low", "high")),
        ("a parameter more", good.replace("quality=low", "quality=low&more=1")),
        ("a parameter behind", format!("{good}&more=1")),
        ("a parameter less", signed("/video?quality=low").replace("quality=low&", "")),
        ("another path", good.replace("/video", "/videos")),
        ("another spelling", good.replace("/video", "/%76ideo")),
        ("a longer life", good.replace(&LATER.to_string(), &(LATER + 1).to_string())),
        ("twice", format!("{good}&Signature={sign}")),
        ("of another host", {
            let signature = signature(MAIN, &format!("http://other.test{text}"));
            format!("{text}&Signature={signature}")
        }),
        ("of another scheme", {
            let signature = signature(MAIN, &format!("https://example.test{text}"));
            format!("{text}&Signature={signature}")
        }),
    ];
    each(rows, |_, target| assert_refused(&fleetfoot.get(&target)));
    assert_eq!(origin.bytes().len(), asked, "nothing of it reached the origin");
}

#[test]
fn what_is_stored_opens_to_valid_signatures_only() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    fleetfoot.get(&signed("/video"));
    let hit = fleetfoot.get(&signed_as("/video", LATER + 5, "main", MAIN));
    assert!(hit.is_hit(), "another signature for the same is the same answer: {hit:?}");
    assert!(fleetfoot.get_with("/video", &cookie("http://example.test/vid")).is_hit());
    for target in ["/video".to_owned(), signed_as("/video", EARLIER, "main", MAIN), signed("/vide") + "o"] {
        assert_refused(&fleetfoot.get(&target));
        assert_refused(&fleetfoot.send("HEAD", &target, ""));
        assert_refused(&fleetfoot.get_with(&target, "Cache-Control: only-if-cached"));
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_connection_that_was_let_in_once_is_asked_again() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    let mut client = fleetfoot.connect();
    let ask = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n\r\n");
    assert_eq!(client.ask(ask(&signed("/video"))).status, 200);
    assert!(client.ask(ask(&signed("/video"))).is_hit());
    assert_refused(&client.ask(ask("/video")));
    assert!(client.ask(ask(&signed("/video"))).is_hit());
}

#[test]
fn a_prefix_opens_what_begins_so() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    let with = |target: &str, prefix: &str| {
        let separator = if target.contains('?') { '&' } else { '?' };
        fleetfoot.get(&format!("{target}{separator}{}", policy(prefix, '&', LATER))).status
    };
    let rows = [
        ("/videos/1", "http://example.test/videos/", 200),
        ("/videos/1?quality=low", "http://example.test/videos/", 200),
        ("/videos/", "http://example.test/videos/", 200),
        ("/videos-of-others", "http://example.test/videos", 200),
        ("/videos", "http://example.test/videos/", 403),
        ("/videos-of-others", "http://example.test/videos/", 403),
        ("/other", "http://example.test/videos/", 403),
        ("/Videos/1", "http://example.test/videos/", 403),
        ("/other?x=/videos/", "http://example.test/videos/", 403),
        ("/videos/1", "https://example.test/videos/", 403),
        ("/videos/1", "http://example.tes", 403),
        ("/videos/1", "http://example.test.other/", 403),
        ("/anything", "http://example.test/", 200),
    ];
    each(
        rows.map(|(target, prefix, expected)| (target, (prefix, expected))),
        |target, (prefix, expected)| {
            assert_eq!(with(target, prefix), expected, "{prefix}");
        },
    );
    // Out of the folder there is no way: a path with dot segments is refused as such.
    assert_eq!(with("/videos/../other", "http://example.test/videos/"), 400);
    assert_eq!(with("/videos/%2e%2e/other", "http://example.test/videos/"), 400);
    let expired = policy("http://example.test/videos/", '&', EARLIER);
    assert_refused(&fleetfoot.get(&format!("/videos/1?{expired}")));
}

#[test]
fn a_cookie_opens_what_its_prefix_says() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    let good = cookie("http://example.test/videos/");
    let expired = format!("Cookie: Cloud-CDN-Cookie={}", policy("http://example.test/videos/", ':', EARLIER));
    let rows = [
        ("valid", "/videos/1", good.clone(), 200),
        ("among others", "/videos/2", good.replace("Cookie: ", "Cookie: a=b; "), 200),
        ("elsewhere", "/other", good.clone(), 403),
        ("expired", "/videos/1", expired, 403),
        ("twice", "/videos/1", format!("{good}\n{good}"), 403),
        ("changed", "/videos/1", good.replace("KeyName=main", "KeyName=mai"), 403),
        ("of another name", "/videos/1", good.replace("Cloud-CDN-Cookie", "Cloud-CDN-Cookies"), 403),
    ];
    each(
        rows.map(|(name, target, fields, status)| (name, (target, fields, status))),
        |_, (target, fields, status)| {
            assert_eq!(fleetfoot.get_with(target, &fields).status, status);
        },
    );
    // A wrong signature in the URL is wrong, whatever the cookie says.
    let wrong = signed_as("/videos/1", LATER, "main", OLD);
    assert_refused(&fleetfoot.get_with(&wrong, &good));
    // A page that is open needs neither.
    assert_eq!(fleetfoot.get("/open/x").status, 200);
}

#[test]
fn a_signature_reads_only() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_refused(&fleetfoot.send(method, &signed("/video"), ""));
    }
    assert!(origin.bytes().is_empty());
}

#[test]
fn keys_are_changed_without_a_restart() {
    let origin = echoing();
    let of = |name: &str, key: &str| signed_as("/video", LATER, name, key);
    let mut fleetfoot = Fleetfoot::start(&config(&origin, &format!("old: \"{OLD}\"")));
    assert_eq!(fleetfoot.get(&of("old", OLD)).status, 200);
    assert_refused(&fleetfoot.get(&of("next", NEXT)));

    fleetfoot.rewrite(&config(&origin, &format!("old: \"{OLD}\", next: \"{NEXT}\"")));
    fleetfoot.hang_up();
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get(&of("next", NEXT)).status == 200);
    assert!(fleetfoot.get(&of("old", OLD)).is_hit());

    fleetfoot.rewrite(&config(&origin, &format!("next: \"{NEXT}\"")));
    fleetfoot.hang_up();
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get(&of("old", OLD)).status == 403);
    assert!(fleetfoot.get(&of("next", NEXT)).is_hit());
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_key_may_stand_in_a_file() {
    let (origin, folder) = (echoing(), tempfile::tempdir().unwrap());
    let file = folder.path().join("main.key");
    std::fs::write(&file, format!("{MAIN}\n")).unwrap();
    let mut fleetfoot =
        Fleetfoot::start(&config(&origin, &format!("main: {{ file: \"{}\" }}", file.display())));
    assert_eq!(fleetfoot.get(&signed("/video")).status, 200);
    std::fs::write(&file, NEXT).unwrap();
    fleetfoot.hang_up();
    let fresh = signed_as("/video", LATER, "main", NEXT);
    fleetfoot.wait_until("changed", |fleetfoot| fleetfoot.get(&fresh).status == 200);
    assert_refused(&fleetfoot.get(&signed("/video")));
}

#[test]
fn the_signature_goes_no_further_than_the_gate() {
    let origin = echoing();
    let fleetfoot = members(&origin);
    let of_url = signed("/video?quality=low");
    let of_prefix = format!("/video/2?{}", policy("http://example.test/video", '&', LATER));
    let of_cookie = cookie("http://example.test/");
    let answers = [
        fleetfoot.get_with(&of_url, "X-Request-Id: by-url"),
        fleetfoot.get_with(&of_prefix, "X-Request-Id: by-prefix"),
        fleetfoot.get_with("/video/3", &format!("{of_cookie}; a=b\nX-Request-Id: by-cookie")),
        fleetfoot.get_with(&format!("{of_url}x"), "X-Request-Id: refused"),
    ];
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 200, 200, 403]);
    let secrets: Vec<&str> = [&of_url, &of_prefix, &of_cookie]
        .map(|text| text.rsplit_once("Signature=").unwrap().1.trim_end_matches('='))
        .to_vec();

    let told = String::from_utf8(origin.bytes()).unwrap();
    assert_eq!(origin.last("GET /video?quality=low").field("Host"), Some("example.test"));
    assert_eq!(origin.last("GET /video/3").field("Cookie"), Some("a=b"));
    for word in ["Signature", "URLPrefix", "Expires=", "KeyName", "Cloud-CDN-Cookie"] {
        assert!(!told.contains(word), "{word} in {told}");
    }

    let log = fleetfoot.stdout().wait_for_count(4).join("\n");
    let listed = ask(&fleetfoot, "GET", "/cache/entries", "", "").text();
    let mut all = vec![("log", log), ("list", listed.clone())];
    for id in ["by-url", "by-prefix", "by-cookie", "refused"] {
        all.push(("explain", ask(&fleetfoot, "GET", &format!("/explain?id={id}"), "", "").text()));
    }
    for answer in &answers {
        all.push(("answer", format!("{:?} {}", answer.head, answer.text())));
    }
    for (place, text) in &all {
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{place}: {text}");
    }
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let urls: Vec<&str> =
        listed["entries"].as_array().unwrap().iter().filter_map(|entry| entry["url"].as_str()).collect();
    assert!(urls.contains(&"http://example.test/video?quality=low"), "{urls:?}");
    assert!(urls.contains(&"http://example.test/video/2"), "{urls:?}");
}

/// A cache in front of us knows the URL, and not the cookie that let somebody in.
#[test]
fn a_lifetime_of_ours_is_for_whoever_was_let_in_alone() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let text = config(&origin, &format!("main: \"{MAIN}\""))
        .replace("ttl: origin", "ttl: 1h, client_ttl: 1m, key: { reflected: ignore }");
    let fleetfoot = Fleetfoot::start(&text);
    let let_in = cookie("http://example.test/members/");
    for (path, fields, expected) in
        [("/members/a", let_in.as_str(), "private, max-age=60"), ("/open/a", "", "max-age=60")]
    {
        for _ in 0..2 {
            let answer = fleetfoot.get_with(path, fields);
            assert_eq!(answer.joined("Cache-Control"), expected, "{path}: {answer:?}");
        }
    }
}
