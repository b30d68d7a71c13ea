//! Content: what decodes, what does not, and that neither depends on how the bytes arrive.

use super::*;

/// Everything a message's content decodes to, and what is left behind it.
#[derive(Debug, PartialEq)]
struct Content {
    data: Vec<u8>,
    trailers: Option<HeaderMap>,
    rest: Vec<u8>,
}

/// Decodes `bytes` arriving in pieces of these lengths.
fn decode(
    framing: Framing,
    side: Side,
    bytes: &[u8],
    pieces: impl IntoIterator<Item = usize>,
) -> Result<Content> {
    let mut decoder = Decoder::new(framing, side);
    let mut buffer = BytesMut::new();
    let mut content = Content { data: Vec::new(), trailers: None, rest: Vec::new() };
    let mut left = bytes;
    let mut pieces = pieces.into_iter();
    loop {
        match decoder.decode(&mut buffer)? {
            Decoded::Data(data) => {
                assert!(!data.is_empty());
                content.data.extend_from_slice(&data);
            }
            Decoded::Trailers(trailers) => content.trailers = Some(trailers),
            Decoded::Complete => break,
            Decoded::NeedMore if left.is_empty() => {
                decoder.end_of_input()?;
                break;
            }
            Decoded::NeedMore => {
                let length = pieces.next().unwrap_or(1).clamp(1, left.len());
                buffer.extend_from_slice(&left[..length]);
                left = &left[length..];
            }
        }
    }
    assert!(decoder.is_complete());
    content.rest = [&buffer[..], left].concat();
    Ok(content)
}

fn whole(framing: Framing, bytes: &[u8]) -> Result<Content> {
    decode(framing, Side::Client, bytes, [bytes.len().max(1)])
}

#[test]
fn each_framing_ends_where_it_should() {
    let content =
        |data: &[u8], rest: &[u8]| Content { data: data.to_vec(), trailers: None, rest: rest.to_vec() };
    assert_eq!(whole(Framing::Empty, b"next").unwrap().data, b"");
    assert_eq!(whole(Framing::Length(0), b"next").unwrap().data, b"");
    assert_eq!(whole(Framing::Length(5), b"hellonext").unwrap(), content(b"hello", b"next"));
    assert_eq!(whole(Framing::UntilClose, b"hello").unwrap(), content(b"hello", b""));
    assert_eq!(whole(Framing::Chunked, b"0\r\n\r\nnext").unwrap(), content(b"", b"next"));
    let chunks = b"5;x=\"y\"\r\nhello\r\n1\r\n!\r\n000\r\n\r\nnext";
    assert_eq!(whole(Framing::Chunked, chunks).unwrap(), content(b"hello!", b"next"));
}

#[test]
fn content_that_breaks_off() {
    let kind = |framing, side, bytes: &[u8]| decode(framing, side, bytes, [bytes.len()]).unwrap_err().kind();
    for bytes in [&b"5"[..], b"5\r\n", b"5\r\nhello", b"5\r\nhello\r\n", b"0\r\n", b"0\r\nX: y\r\n"] {
        assert_eq!(kind(Framing::Chunked, Side::Client, bytes), Kind::ClientGone);
        assert_eq!(kind(Framing::Chunked, Side::Source, bytes), Kind::BrokeOff);
    }
    assert_eq!(kind(Framing::Length(6), Side::Client, b"hello"), Kind::ClientGone);
    assert_eq!(kind(Framing::Length(6), Side::Source, b"hello"), Kind::BrokeOff);
}

#[test]
fn chunks_that_have_two_readings() {
    let long = [b"5;".as_slice(), &vec![b'a'; 64 * 1024], b"\r\nhello\r\n0\r\n\r\n"].concat();
    let many = [b"1;".as_slice(), &[b'a'; 1000], b"\r\nx\r\n"].concat().repeat(17);
    let cases: [&[u8]; 26] = [
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"-1\r\nhello\r\n0\r\n\r\n",
        b"5_\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"10000000000000005\r\nhello\r\n0\r\n\r\n",
        b"5;\r\nhello\r\n0\r\n\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5;a\0b\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b"5\rhello\r\n0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\r0\r\n\r\n",
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhellospill\r\n0\r\n\r\n",
        b"5\r\nhell\r\n0\r\n\r\n",
        b"5\r\nhello\r\n0\n\r\n",
        b"5\r\nhello\r\n0\r\n\n",
        b"5\r\nhello\r\n0\r\nX: y\n\r\n",
        b"5\r\nhello\r\n0\r\n X: y\r\n\r\n",
        b"5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        &long,
        &many,
    ];
    for (side, kind) in [(Side::Client, Kind::MalformedRequest), (Side::Source, Kind::MalformedResponse)] {
        for bytes in cases {
            let error = decode(Framing::Chunked, side, bytes, [bytes.len()]).unwrap_err();
            assert_eq!(error.kind(), kind, "{}", bytes[..bytes.len().min(80)].escape_ascii());
            let error = decode(Framing::Chunked, side, bytes, []).unwrap_err();
            assert_eq!(error.kind(), kind, "byte by byte: {}", bytes[..bytes.len().min(80)].escape_ascii());
        }
    }
}

#[test]
fn an_error_is_said_again() {
    let mut decoder = Decoder::new(Framing::Chunked, Side::Client);
    let mut buffer = BytesMut::from(&b"x\r\n5\r\nhello"[..]);
    assert!(decoder.decode(&mut buffer).is_err());
    buffer = BytesMut::from(&b"0\r\n\r\n"[..]);
    assert!(decoder.decode(&mut buffer).is_err());
    assert!(decoder.end_of_input().is_err());
    assert!(!decoder.is_complete());
}

#[test]
fn trailers_carry_no_framing() {
    let with = |side, lines: &str| {
        let bytes = format!("1\r\nx\r\n0\r\n{lines}\r\n\r\n");
        decode(Framing::Chunked, side, bytes.as_bytes(), [bytes.len()])
    };
    let trailers = with(Side::Client, "Grpc-Status: 0\r\nX-Sum: a").unwrap().trailers.unwrap();
    assert_eq!((trailers.len(), &trailers["grpc-status"]), (2, &"0".parse().unwrap()));
    let forbidden = [
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "Host: b",
        "Authorization: x",
        "Content-Type: x",
        "Cookie: a=b",
        "Set-Cookie: a=b",
        "Cache-Control: no-store",
        "Trailer: x",
        "Content_Length: 5",
        "Transfer_Encoding: chunked",
        "Connection: close",
    ];
    for line in forbidden {
        assert_eq!(with(Side::Client, line).unwrap_err().kind(), Kind::MalformedRequest, "{line}");
        assert_eq!(with(Side::Source, line).unwrap().trailers, None, "{line}");
        let kept = with(Side::Source, &format!("{line}\r\nX: y")).unwrap().trailers.unwrap();
        assert_eq!((kept.len(), &kept["x"]), (1, &"y".parse().unwrap()), "{line}");
    }
    let long = format!("X: {}", "a".repeat(9000));
    assert!(with(Side::Source, &long).is_err());
    assert!(with(Side::Source, &"X: y\r\n".repeat(33)).is_err());
}

#[test]
fn what_remains_is_known_for_a_length_only() {
    let mut decoder = Decoder::new(Framing::Length(5), Side::Client);
    assert_eq!(decoder.remaining(), Some(5));
    decoder.decode(&mut BytesMut::from("he")).unwrap();
    assert_eq!(decoder.remaining(), Some(3));
    assert_eq!(Decoder::new(Framing::Chunked, Side::Client).remaining(), None);
    assert_eq!(Decoder::new(Framing::Empty, Side::Client).remaining(), Some(0));
}

mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Encoder;

    /// A valid message's content on the wire: encoded, with trailers or not.
    fn encode(pieces: &[Vec<u8>], framing: Framing, trailers: Option<&HeaderMap>) -> Vec<u8> {
        let mut encoder = Encoder::from(framing);
        let mut out = Vec::new();
        for piece in pieces {
            encoder.chunk_prefix(piece.len(), &mut out).unwrap();
            out.extend_from_slice(piece);
            out.extend_from_slice(encoder.chunk_suffix());
        }
        encoder.finish(trailers, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding_however_the_bytes_arrive(
            pieces in vec(vec(any::<u8>(), 1..300), 0..8),
            splits in vec(1_usize..50, 0..100),
            trailer in proptest::option::of("[a-z]{0,9}"),
            next in vec(any::<u8>(), 0..20),
        ) {
            let data = pieces.concat();
            let trailers = trailer.map(|value| HeaderMap::from_iter([(
                http::HeaderName::from_static("x-sum"),
                http::HeaderValue::from_str(&value).unwrap(),
            )]));
            let mut chunked = encode(&pieces, Framing::Chunked, trailers.as_ref());
            chunked.extend_from_slice(&next);
            let content = decode(Framing::Chunked, Side::Client, &chunked, splits.clone())?;
            prop_assert_eq!(&content, &Content { data: data.clone(), trailers, rest: next.clone() });

            let length = Framing::Length(data.len() as u64);
            let mut plain = encode(&pieces, length, None);
            plain.extend_from_slice(&next);
            let content = decode(length, Side::Source, &plain, splits)?;
            prop_assert_eq!((content.data, content.rest), (data, next));
        }

        #[test]
        fn arbitrary_bytes_never_panic_and_never_yield_more_than_there_is(
            bytes in vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';')], 0..400),
            splits in vec(1_usize..50, 0..50),
        ) {
            for framing in [Framing::Empty, Framing::Length(100), Framing::Chunked, Framing::UntilClose] {
                if let Ok(content) = decode(framing, Side::Client, &bytes, splits.clone()) {
                    prop_assert!(content.data.len() + content.rest.len() <= bytes.len());
                }
            }
        }

        #[test]
        fn what_is_refused_or_read_does_not_depend_on_how_the_bytes_arrive(
            bytes in vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b'0'), Just(b'1'), Just(b';')], 0..60),
            splits in vec(1_usize..9, 0..60),
        ) {
            let at_once = decode(Framing::Chunked, Side::Client, &bytes, [bytes.len().max(1)]);
            let in_pieces = decode(Framing::Chunked, Side::Client, &bytes, splits);
            match (at_once, in_pieces) {
                (Ok(at_once), Ok(in_pieces)) => prop_assert_eq!(at_once, in_pieces),
                (Err(at_once), Err(in_pieces)) => prop_assert_eq!(at_once.kind(), in_pieces.kind()),
                (at_once, in_pieces) => prop_assert!(false, "{at_once:?} against {in_pieces:?}"),
            }
        }
    }
}
