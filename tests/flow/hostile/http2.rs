//! THREATS B: HTTP/2 is held to the rules of HTTP/1.1, so that nothing it can carry becomes a second request there.

use testkit::{END_HEADERS, END_STREAM, Fleetfoot, Http2Client, Http2Frames, Origin, Outcome, block, ok};

use crate::setup::{cached, each};

type Field = (&'static [u8], &'static [u8]);

const METHOD: Field = (b":method", b"GET");
const SCHEME: Field = (b":scheme", b"http");
const AUTHORITY: Field = (b":authority", b"a");
const PATH: Field = (b":path", b"/");

fn good() -> Vec<Field> {
    vec![METHOD, SCHEME, AUTHORITY, PATH]
}

fn and(field: Field) -> Vec<Field> {
    [good(), vec![field]].concat()
}

fn in_place_of(place: usize, field: Field) -> Vec<Field> {
    let mut fields = good();
    fields[place] = field;
    fields
}

fn malformed() -> Vec<(&'static str, Vec<Field>)> {
    vec![
        ("CR in a value", and((b"x", b"a\rb"))),
        ("LF in a value", and((b"x", b"a\nb"))),
        ("CRLF in a value", and((b"x", b"a\r\nTransfer-Encoding: chunked"))),
        ("NUL in a value", and((b"x", b"a\0b"))),
        ("white space before a value", and((b"x", b" a"))),
        ("white space behind a value", and((b"x", b"a\t"))),
        ("CR in a name", and((b"x\ry", b"a"))),
        ("LF in a name", and((b"x\ny", b"a"))),
        ("a colon in a name", and((b"x:y", b"a"))),
        ("a space in a name", and((b"x y", b"a"))),
        ("capitals in a name", and((b"X", b"a"))),
        ("an empty name", and((b"", b"a"))),
        ("CRLF in :path", in_place_of(3, (b":path", b"/ HTTP/1.1\r\nHost: b\r\n\r\nGET /smuggled"))),
        ("a space in :path", in_place_of(3, (b":path", b"/a b"))),
        ("an absolute :path", in_place_of(3, (b":path", b"http://b/"))),
        ("a :path without slash", in_place_of(3, (b":path", b"a"))),
        ("an empty :path", in_place_of(3, (b":path", b""))),
        ("CRLF in :method", in_place_of(0, (b":method", b"GET / HTTP/1.1\r\nHost: b\r\n\r\nGET"))),
        ("a space in :method", in_place_of(0, (b":method", b"GET /smuggled"))),
        ("an empty :method", in_place_of(0, (b":method", b""))),
        ("CRLF in :authority", in_place_of(2, (b":authority", b"a\r\nX: y"))),
        ("userinfo in :authority", in_place_of(2, (b":authority", b"user@a"))),
        ("a path in :authority", in_place_of(2, (b":authority", b"a/b"))),
        ("a bad :scheme", in_place_of(1, (b":scheme", b"ht tp"))),
        ("Transfer-Encoding", and((b"transfer-encoding", b"chunked"))),
        ("Connection", and((b"connection", b"x"))),
        ("Keep-Alive", and((b"keep-alive", b"5"))),
        ("Proxy-Connection", and((b"proxy-connection", b"x"))),
        ("Upgrade", and((b"upgrade", b"websocket"))),
        ("TE other than trailers", and((b"te", b"gzip"))),
        ("host against :authority", and((b"host", b"b"))),
        ("a content length without content", and((b"content-length", b"5"))),
        ("a content length with a sign", and((b"content-length", b"+0"))),
        (
            "two content lengths",
            [good(), vec![(b"content-length", b"0"), (b"content-length", b"1")]].concat(),
        ),
        ("a second :path", and((b":path", b"/b"))),
        ("a second :method", and((b":method", b"POST"))),
        ("an unknown pseudo-header", and((b":unknown", b"x"))),
        ("a :status", and((b":status", b"200"))),
        ("a late pseudo-header", vec![METHOD, SCHEME, AUTHORITY, (b"x", b"y"), PATH]),
        ("no :method", vec![SCHEME, AUTHORITY, PATH]),
        ("no :path", vec![METHOD, SCHEME, AUTHORITY]),
        ("neither :authority nor host", vec![METHOD, SCHEME, PATH]),
    ]
}

fn start() -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "reached the origin"));
    let fleetfoot = cached(&origin);
    (origin, fleetfoot)
}

#[test]
fn a_proper_request_is_answered() {
    let (_origin, fleetfoot) = start();
    let mut frames = Http2Frames::connect(fleetfoot.address());
    let fields: Vec<(&[u8], &[u8])> = good();
    assert_eq!(frames.headers(1, &fields, true).outcome(1), Outcome::Answered(200));
}

#[test]
fn a_malformed_request_goes_nowhere() {
    let (origin, fleetfoot) = start();
    each(malformed(), |_, fields| {
        let before = origin.bytes().len();
        let mut frames = Http2Frames::connect(fleetfoot.address());
        let outcome = frames.headers(1, &fields, true).outcome(1);
        assert!(!matches!(outcome, Outcome::Answered(200..=399)), "{outcome:?}");
        let forwarded = origin.bytes().split_off(before);
        assert!(forwarded.is_empty(), "forwarded {:?}", String::from_utf8_lossy(&forwarded));
    });
}

/// The HTTP/2 library drops a fragment before anybody sees it; then it must be gone for everybody.
#[test]
fn a_fragment_reaches_neither_key_nor_origin() {
    let (origin, fleetfoot) = start();
    let mut frames = Http2Frames::connect(fleetfoot.address());
    let _refused_or_not = frames.headers(1, &in_place_of(3, (b":path", b"/a#b")), true).outcome(1);
    assert!(origin.requests().iter().all(|request| request.target == "/a"), "{:?}", origin.requests());
}

#[test]
fn content_must_be_as_long_as_promised() {
    let (origin, fleetfoot) = start();
    for content in [&b"abc"[..], b"abcdefgh"] {
        let mut frames = Http2Frames::connect(fleetfoot.address());
        let mut fields = in_place_of(0, (b":method", b"POST"));
        fields.push((b"content-length", b"5"));
        let outcome = frames.headers(1, &fields, false).data(1, content, true).outcome(1);
        assert!(!matches!(outcome, Outcome::Answered(200..=399)), "{outcome:?}");
    }
    assert!(origin.requests().iter().all(|request| !request.whole), "{:?}", origin.requests());
}

/// Opens and cancels streams as fast as it can (CVE-2023-44487): the server says stop, or at least stays well.
#[test]
fn rapid_resets_are_survived() {
    let (_origin, fleetfoot) = start();
    let mut frames = Http2Frames::connect(fleetfoot.address());
    let fields: Vec<(&[u8], &[u8])> = good();
    for stream in (1..20_001).step_by(2) {
        frames.headers(stream, &fields, true).cancel(stream);
    }
    drop(frames);
    assert_eq!(Http2Client::connect(fleetfoot.address()).get("/after").status, 200);
    assert_eq!(fleetfoot.get("/after").status, 200);
}

#[test]
fn an_endless_header_section_is_cut_off() {
    let (origin, fleetfoot) = start();
    let mut frames = Http2Frames::connect(fleetfoot.address());
    let fields: Vec<(&[u8], &[u8])> = good();
    frames.frame(1, END_STREAM, 1, &block(&fields));
    let filler = vec![b'x'; 8 * 1024];
    let more = block(&[(b"x-filler", &filler)]);
    for _ in 0..1_000 {
        frames.frame(9, 0, 1, &more);
    }
    frames.frame(9, END_HEADERS, 1, &[]);
    let outcome = frames.outcome(1);
    assert!(!matches!(outcome, Outcome::Answered(200..=399)), "{outcome:?}");
    assert!(origin.bytes().is_empty());
    assert_eq!(fleetfoot.get("/after").status, 200);
}

#[test]
fn floods_of_pings_and_settings_are_survived() {
    let (_origin, fleetfoot) = start();
    let mut frames = Http2Frames::connect(fleetfoot.address());
    for _ in 0..10_000 {
        frames.frame(6, 0, 0, b"floodddd").frame(4, 0, 0, &[]);
    }
    drop(frames);
    assert_eq!(fleetfoot.get("/after").status, 200);
}
