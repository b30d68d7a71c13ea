//! Ranges: cut from stored wholes, asked for in vain, several at once (RFC 9110 §14, RFC 9111 §3.3, §3.4).

use testkit::{Answer, Fleetfoot, Origin, Script, http_date, ok};

use crate::setup::{cached, each};

const CONTENT: &str = "0123456789abcdefghij";

fn stored() -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    let fields = format!("Cache-Control: max-age=600\nETag: \"one\"\nLast-Modified: {}", http_date(-90_000));
    origin.on("*").reply(ok(&format!("{fields}\nContent-Type: text/x"), CONTENT));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    (origin, fleetfoot)
}

#[test]
fn a_range_is_cut_from_the_stored_whole() {
    let (origin, fleetfoot) = stored();
    let rows = [
        ("bytes=0-4", "bytes 0-4/20", "01234"),
        ("bytes=5-5", "bytes 5-5/20", "5"),
        ("bytes=15-", "bytes 15-19/20", "fghij"),
        ("bytes=-5", "bytes 15-19/20", "fghij"),
        ("bytes=-100", "bytes 0-19/20", CONTENT),
        ("bytes=10-100", "bytes 10-19/20", "abcdefghij"),
        ("bytes=0-", "bytes 0-19/20", CONTENT),
        ("Bytes=0-1", "bytes 0-1/20", "01"),
    ];
    each(rows.iter().map(|row| (row.0, row)), |_, (range, content_range, text)| {
        let answer = fleetfoot.get_with("/", &format!("Range: {range}"));
        assert_eq!((answer.status, answer.text().as_str()), (206, *text));
        assert_eq!(answer.field("Content-Range"), Some(*content_range));
        assert_eq!(answer.field("ETag"), Some("\"one\""));
        assert!(answer.is_hit());
    });
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_range_outside_is_a_416_that_tells_the_length() {
    let (_origin, fleetfoot) = stored();
    for range in ["bytes=20-", "bytes=100-200", "bytes=-0"] {
        let answer = fleetfoot.get_with("/", &format!("Range: {range}"));
        assert_eq!(answer.status, 416, "{range}");
        assert_eq!(answer.field("Content-Range"), Some("bytes */20"));
    }
}

#[test]
fn a_range_that_is_none_is_ignored() {
    let (_origin, fleetfoot) = stored();
    for range in
        ["bytes=5-4", "bytes=a-b", "bytes=", "bytes", "lines=1-2", "bytes=1-2-3", "bytes=--1", "bytes=+1-2"]
    {
        let answer = fleetfoot.get_with("/", &format!("Range: {range}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, CONTENT), "{range}");
    }
}

#[test]
fn several_ranges_come_in_parts() {
    let (_origin, fleetfoot) = stored();
    let answer = fleetfoot.get_with("/", "Range: bytes=0-1, 10-11,-1");
    assert_eq!(answer.status, 206);
    assert!(!answer.has("Content-Range"));
    let content_type = answer.field("Content-Type").expect("a multipart type");
    let boundary = content_type.split_once("boundary=").expect("a boundary").1.trim_matches('"');
    assert!(content_type.starts_with("multipart/byteranges"));
    let text = answer.text();
    let parts: Vec<&str> = text.split(&format!("--{boundary}")).collect();
    assert_eq!(parts.len(), 5, "{text:?}");
    for (part, range, content) in [(1, "0-1", "01"), (2, "10-11", "ab"), (3, "19-19", "j")] {
        assert!(parts[part].contains(&format!("bytes {range}/20")), "{:?}", parts[part]);
        assert!(parts[part].contains("text/x"));
        assert!(parts[part].ends_with(&format!("\r\n\r\n{content}\r\n")), "{:?}", parts[part]);
    }
    assert_eq!(parts[4].trim_end(), "--");
}

#[test]
fn a_flood_of_ranges_is_not_multiplied() {
    let (_origin, fleetfoot) = stored();
    let many = vec!["0-"; 1_000].join(",");
    let answer = fleetfoot.get_with("/", &format!("Range: bytes={many}"));
    assert!(matches!(answer.status, 200 | 206 | 416));
    assert!(answer.body.len() < 4_096, "{} bytes of content for 20", answer.body.len());
}

#[test]
fn if_range_decides_between_part_and_whole() {
    let (_origin, fleetfoot) = stored();
    let ask = |validator: &str| fleetfoot.get_with("/", &format!("Range: bytes=0-1\nIf-Range: {validator}"));
    assert_eq!(ask("\"one\"").status, 206);
    assert_eq!(ask("\"two\"").status, 200);
    assert_eq!(ask("W/\"one\"").status, 200);
    assert_eq!(ask(&http_date(-10)).status, 200);
    assert_eq!(ask("garbage").status, 200);
    let modified = fleetfoot.get("/").field("Last-Modified").expect("it was stored").to_owned();
    assert_eq!(ask(&modified).status, 206);
}

#[test]
fn a_range_does_not_matter_to_head_and_other_statuses() {
    let (_origin, fleetfoot) = stored();
    let head = fleetfoot.send("HEAD", "/", "Range: bytes=0-1");
    assert!(matches!(head.status, 200 | 206));
    let unchanged = fleetfoot.get_with("/", "Range: bytes=0-1\nIf-None-Match: \"one\"");
    assert_eq!(unchanged.status, 304);
}

#[test]
fn a_range_on_a_miss_is_answered_right_and_the_whole_stays_whole() {
    let origin = Origin::start();
    origin.on("*").answer(|request| match request.field("Range") {
        Some("bytes=0-4") => part("bytes 0-4/20", "01234"),
        Some(other) => panic!("the origin was asked for {other}"),
        None => ok("Cache-Control: max-age=600\nETag: \"one\"", CONTENT),
    });
    let fleetfoot = cached(&origin);
    let answer = fleetfoot.get_with("/", "Range: bytes=0-4");
    assert_eq!((answer.status, answer.text().as_str()), (206, "01234"));
    assert_eq!(answer.field("Content-Range"), Some("bytes 0-4/20"));
    assert_eq!(fleetfoot.get("/").text(), CONTENT);
    let again = fleetfoot.get_with("/", "Range: bytes=0-4");
    assert_eq!((again.status, again.text().as_str(), again.is_hit()), (206, "01234", true));
}

fn part(content_range: &str, content: &str) -> Script {
    Script::from(format!(
        "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=600\r\nETag: \"one\"\r\nContent-Range: {content_range}\r\n\
         Content-Length: {}\r\n\r\n{content}",
        content.len()
    ))
}

/// Whatever is kept of parts, the answers to come must be right.
#[test]
fn parts_that_do_not_fit_together_are_never_combined() {
    let origin = Origin::start();
    origin.on("*").answer(|request| match request.field("Range") {
        // The second half is of another version.
        Some("bytes=0-9") => part("bytes 0-9/20", "0123456789"),
        Some("bytes=10-19") => Script::from(
            "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=600\r\nETag: \"two\"\r\n\
             Content-Range: bytes 10-19/20\r\nContent-Length: 10\r\n\r\nABCDEFGHIJ",
        ),
        _ => ok("Cache-Control: max-age=600\nETag: \"two\"", "THE WHOLE ANEW ......"),
    });
    let fleetfoot = cached(&origin);
    let halves =
        ["bytes=0-9", "bytes=10-19"].map(|range| fleetfoot.get_with("/", &format!("Range: {range}")));
    assert_eq!(halves.map(|half| half.text()), ["0123456789", "ABCDEFGHIJ"]);
    assert_eq!(fleetfoot.get("/").text(), "THE WHOLE ANEW ......");
}

#[test]
fn parts_of_one_version_may_make_a_whole() {
    let origin = Origin::start();
    origin.on("*").answer(|request| match request.field("Range") {
        Some("bytes=0-9") => part("bytes 0-9/20", "0123456789"),
        Some("bytes=10-19") => part("bytes 10-19/20", "abcdefghij"),
        _ => ok("Cache-Control: max-age=600\nETag: \"one\"", CONTENT),
    });
    let fleetfoot = cached(&origin);
    for range in ["bytes=0-9", "bytes=10-19"] {
        assert_eq!(fleetfoot.get_with("/", &format!("Range: {range}")).status, 206);
    }
    assert_eq!(fleetfoot.get("/").text(), CONTENT);
}

#[test]
fn a_206_that_contradicts_itself_is_not_kept() {
    let rows = [
        ("a wrong length", part("bytes 0-4/20", "012")),
        ("a range beyond the whole", part("bytes 15-24/20", "0123456789")),
        ("a range backwards", part("bytes 4-0/20", "01234")),
        (
            "no Content-Range",
            Script::from(
                "HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\n01",
            ),
        ),
        ("another range than asked for", part("bytes 5-9/20", "56789")),
    ];
    each(rows, |_, script| {
        let origin = Origin::start();
        origin.on("*").replies([script, ok("Cache-Control: max-age=600\nETag: \"one\"", CONTENT)]);
        let fleetfoot = cached(&origin);
        let first: Answer = fleetfoot.get_with("/", "Range: bytes=0-4");
        assert!(matches!(first.status, 200 | 206 | 502), "{first:?}");
        let again = fleetfoot.get_with("/", "Range: bytes=0-4");
        assert!(again.text() == "01234" || again.text() == CONTENT, "{again:?}");
        assert_eq!(fleetfoot.get("/").text(), CONTENT);
    });
}
