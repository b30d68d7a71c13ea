//! Signatures that others made.
//!
//! The first ones are those of Google's published examples for Cloud CDN; the last three were computed with Python's `hmac`
//! and `openssl dgst -sha1 -mac HMAC`, which reproduce the published ones as well.

use message::Timestamp;

use super::{COOKIE, ask, before, gate, signer};

const URLS: [(&str, u64, &str); 4] = [
    ("http://35.186.234.33/index.html", 1_549_751_401, "CRFqQnVfFyiUyR63OQf-HRUpIwc="),
    ("http://www.example.com/", 1_549_751_401, "OqDUFfHpN5Vxga6r80bhsgxKves="),
    (
        "http://www.example.com/some/path?some=query&another=param",
        1_549_751_401,
        "9Q9TCxSju8-W5nUkk5CuTrun2_o=",
    ),
    ("https://media.example.com:8443/a%20b?x=1&y", 4_102_444_800, "ehjWr_VRsDyGIn-5i1PpL4BjsxY="),
];

const COOKIES: [(&str, &str); 3] = [
    (
        "https://media.example.com/segments/",
        "URLPrefix=aHR0cHM6Ly9tZWRpYS5leGFtcGxlLmNvbS9zZWdtZW50cy8=:Expires=1558131350:KeyName=my-key:\
         Signature=_qwhz38bxCKdiDqENLIx4ujrw-U=",
    ),
    (
        "https://video.example.com/manifests/123/",
        "URLPrefix=aHR0cHM6Ly92aWRlby5leGFtcGxlLmNvbS9tYW5pZmVzdHMvMTIzLw==:Expires=1558131350:\
         KeyName=my-key:Signature=0ZSSGg0VdRH29siXG8wiPTV5LOE=",
    ),
    (
        "https://media.example.com/videos/",
        "URLPrefix=aHR0cHM6Ly9tZWRpYS5leGFtcGxlLmNvbS92aWRlb3Mv:Expires=1558131350:KeyName=my-key:\
         Signature=5G60nLTb2S0xXzUA6HUoIc4bnz4=",
    ),
];

const PREFIX: (&str, &str) = (
    "https://media.example.com/videos/",
    "URLPrefix=aHR0cHM6Ly9tZWRpYS5leGFtcGxlLmNvbS92aWRlb3Mv&Expires=1558131350&KeyName=my-key&\
     Signature=eBT14lAnTshY-0QIGRjExVAPgXg=",
);

#[test]
fn signed_urls_are_made_and_let_in() {
    for (url, expires, signature) in URLS {
        let expires = Timestamp::from_secs(expires);
        let signed = signer().sign_url(url, expires).unwrap();
        assert!(signed.ends_with(&format!("&KeyName=my-key&Signature={signature}")), "{signed}");
        let target = &url[url.find("://").unwrap() + 3..];
        let target = &target[target.find('/').unwrap()..];
        assert_eq!(ask(&gate(), &signed, &[], before(expires)).as_deref(), Ok(target));
        let unpadded = signed.trim_end_matches('=');
        assert_eq!(ask(&gate(), unpadded, &[], before(expires)).as_deref(), Ok(target));
    }
}

#[test]
fn signed_cookies_are_made_and_let_in() {
    for (prefix, value) in COOKIES {
        let expires = Timestamp::from_secs(1_558_131_350);
        assert_eq!(signer().sign_cookie(prefix, expires).unwrap(), value);
        let cookie = format!("a=b; {COOKIE}={value}");
        let url = format!("{prefix}1.ts?quality=low");
        let target = &url[url[8..].find('/').unwrap() + 8..];
        assert_eq!(ask(&gate(), &url, &[&cookie], before(expires)).as_deref(), Ok(target));
    }
}

#[test]
fn signed_prefixes_are_made_and_let_in() {
    let (prefix, parameters) = PREFIX;
    let expires = Timestamp::from_secs(1_558_131_350);
    assert_eq!(signer().sign_prefix(prefix, expires).unwrap(), parameters);
    for (url, target) in [
        (format!("{prefix}1?{parameters}"), "/videos/1"),
        (format!("{prefix}1?quality=low&{parameters}"), "/videos/1?quality=low"),
        (format!("{prefix}?{parameters}"), "/videos/"),
    ] {
        assert_eq!(ask(&gate(), &url, &[], before(expires)).as_deref(), Ok(target));
    }
}
