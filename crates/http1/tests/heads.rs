//! Heads of both directions: what we write we read back, and arbitrary bytes are refused, never a panic.

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http1::{
    Framing, HeadLimits, new_lines, parse_request, parse_response, write_fields, write_request_head,
    write_status_line,
};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMITS: HeadLimits = HeadLimits { head_size: 16 * 1024, target_size: 8 * 1024, header_count: 64 };

/// Fields that no parser gives a meaning to.
fn fields() -> impl Strategy<Value = HeaderMap> {
    vec(("x-[a-z0-9-]{1,12}", "[!-~]?|[!-~][ -~\t]{0,30}[!-~]"), 0..20).prop_map(|lines| {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a token"),
                HeaderValue::from_str(&value).expect("visible ASCII"),
            );
        }
        fields
    })
}

fn framing() -> impl Strategy<Value = Framing> {
    prop_oneof![Just(Framing::Empty), any::<u64>().prop_map(Framing::Length), Just(Framing::Chunked)]
}

/// Bytes that look somewhat like a head.
fn headlike() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"GET / HTTP/1.1\r\n".to_vec()),
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"Host: a\r\n".to_vec()),
        Just(b"Content-Length: 5\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_written_request_head_reads_back(
        method in prop_oneof![Just("GET"), Just("POST"), Just("X-OTHER")],
        target in "/[!-\"$-~]{0,40}",
        host in "[a-z][a-z0-9-]{0,10}(:[1-9][0-9]{0,3})?",
        fields in fields(),
        framing in framing(),
        content in vec(any::<u8>(), 0..20),
    ) {
        let method = Method::from_bytes(method.as_bytes())?;
        let mut wire = Vec::new();
        write_request_head(&mut wire, &method, &target, &host, &fields, framing);
        wire.extend_from_slice(b"\r\n");
        let length = wire.len();
        wire.extend_from_slice(&content);
        for end in 0..length {
            let mut lines = new_lines();
            prop_assert!(parse_request(&wire[..end], &mut lines, &LIMITS)?.is_none());
        }
        let mut lines = new_lines();
        let head = parse_request(&wire, &mut lines, &LIMITS)?.expect("complete");
        let expected = if framing == Framing::Empty && method == Method::POST { Framing::Length(0) } else { framing };
        prop_assert_eq!((head.length, head.framing), (length, expected));
        prop_assert_eq!((&head.method, head.target, head.host), (&method, target.as_str(), host.as_str()));
        let mut read = http1::to_header_map(head.fields, Some(&http::header::HOST), message::Kind::MalformedRequest)?;
        read.remove("content-length");
        read.remove("transfer-encoding");
        prop_assert_eq!(read, fields);
    }

    #[test]
    fn a_written_response_head_reads_back(status in 200_u16..600, fields in fields(), content in vec(any::<u8>(), 0..20)) {
        let status = StatusCode::from_u16(status)?;
        let mut wire = Vec::new();
        write_status_line(&mut wire, status);
        write_fields(&mut wire, &fields);
        wire.extend_from_slice(b"\r\n");
        let length = wire.len();
        wire.extend_from_slice(&content);
        for end in 0..length {
            prop_assert!(parse_response(&wire[..end], &Method::GET, &LIMITS)?.is_none());
        }
        let head = parse_response(&wire, &Method::GET, &LIMITS)?.expect("complete");
        prop_assert_eq!((head.length, head.status), (length, status));
        prop_assert_eq!(head.fields, fields);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in headlike()) {
        let mut lines = new_lines();
        if let Ok(Some(head)) = parse_request(&bytes, &mut lines, &LIMITS) {
            prop_assert!(head.length <= bytes.len());
            prop_assert!(!bytes[..head.length].windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r'));
        }
        if let Ok(Some(head)) = parse_response(&bytes, &Method::GET, &LIMITS) {
            prop_assert!(head.length <= bytes.len());
        }
    }

    #[test]
    fn a_head_is_refused_or_read_however_it_arrives(bytes in headlike()) {
        let mut lines = new_lines();
        let at_once = parse_request(&bytes, &mut lines, &LIMITS).map(|head| head.map(|head| head.length));
        // The first verdict while the bytes arrive one by one.
        let arriving = (0..=bytes.len())
            .map(|end| {
                let mut lines = new_lines();
                parse_request(&bytes[..end], &mut lines, &LIMITS).map(|head| head.map(|head| head.length))
            })
            .find(|verdict| !matches!(verdict, Ok(None)))
            .unwrap_or(Ok(None));
        prop_assert_eq!(at_once.ok(), arriving.ok());
    }
}
