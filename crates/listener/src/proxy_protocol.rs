//! PROXY protocol: who the client is, told by the load balancer in front in a header before the first byte of TLS or
//! HTTP. Version 1 is a line of text, version 2 is binary; both are taken.
//!
//! Reads no more of the connection than it must know of; what came behind the header is left for the next reader.

use std::fmt;
use std::net::SocketAddr;

use bytes::{Buf, BytesMut};
use ppp::{v1, v2};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::context::Addresses;

/// Longest line of version 1, its CRLF included.
const LONGEST_LINE: usize = 107;
/// Bytes of a version 2 header before its addresses.
const FIXED_PART: usize = 16;
/// Longest version 2 header taken: addresses and some KiB of extensions. Its length field could say 64 KiB.
const LONGEST_HEADER: usize = FIXED_PART + 4096;

/// Why a header was not taken.
#[derive(Debug)]
pub(crate) enum ProxyFault {
    /// The connection ended or broke within the header.
    Ended,
    /// The header is neither version 1 nor version 2, or breaks their rules.
    Malformed,
    /// The header is longer than we take.
    TooLong,
}

impl fmt::Display for ProxyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProxyFault::Ended => "the connection ended within the PROXY protocol header",
            ProxyFault::Malformed => "the PROXY protocol header is malformed",
            ProxyFault::TooLong => "the PROXY protocol header is too long",
        })
    }
}

/// Reads the header. `addresses` are those of the connection and stay where the header tells none (`LOCAL`, `UNKNOWN`,
/// sockets that are not TCP). `buffer` is empty before and holds what followed the header afterwards.
pub(crate) async fn read(
    io: &mut (impl AsyncRead + Unpin),
    buffer: &mut BytesMut,
    addresses: Addresses,
) -> Result<Addresses, ProxyFault> {
    loop {
        if let Some(length) = header_length(buffer)? {
            let told = parse(&buffer[..length])?;
            buffer.advance(length);
            return Ok(told.unwrap_or(addresses));
        }
        if io.read_buf(buffer).await.unwrap_or(0) == 0 {
            return Err(ProxyFault::Ended);
        }
    }
}

/// The length of the header these bytes begin with, once they hold all of it.
///
/// The end is found before parsing: an incomplete header is then never mistaken for a malformed one, and the other way
/// round.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, ProxyFault> {
    let signature = v2::PROTOCOL_PREFIX;
    let common = bytes.len().min(signature.len());
    if bytes[..common] == signature[..common] {
        let Some(length) = bytes.get(FIXED_PART - 2..FIXED_PART) else { return Ok(None) };
        let length = FIXED_PART + usize::from(u16::from_be_bytes([length[0], length[1]]));
        if length > LONGEST_HEADER {
            return Err(ProxyFault::TooLong);
        }
        return Ok((bytes.len() >= length).then_some(length));
    }
    let word = v1::PROTOCOL_PREFIX.as_bytes();
    let common = bytes.len().min(word.len());
    if bytes[..common] != word[..common] {
        return Err(ProxyFault::Malformed);
    }
    match bytes.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n') {
        Some(end) => Ok(Some(end + 1)),
        None if bytes.len() >= LONGEST_LINE => Err(ProxyFault::TooLong),
        None => Ok(None),
    }
}

/// The addresses a whole header tells.
fn parse(header: &[u8]) -> Result<Option<Addresses>, ProxyFault> {
    if header.starts_with(v2::PROTOCOL_PREFIX) { parse_binary(header) } else { parse_line(header) }
}

fn parse_line(line: &[u8]) -> Result<Option<Addresses>, ProxyFault> {
    // `+80` would do as a number for the library
    if line.contains(&b'+') {
        return Err(ProxyFault::Malformed);
    }
    let header = v1::Header::try_from(line).map_err(|_| ProxyFault::Malformed)?;
    if header.header.len() != line.len() {
        return Err(ProxyFault::Malformed);
    }
    Ok(match header.addresses {
        v1::Addresses::Unknown => None,
        v1::Addresses::Tcp4(told) => Some(Addresses {
            client: SocketAddr::from((told.source_address, told.source_port)),
            local: SocketAddr::from((told.destination_address, told.destination_port)),
        }),
        v1::Addresses::Tcp6(told) => Some(Addresses {
            client: SocketAddr::from((told.source_address, told.source_port)),
            local: SocketAddr::from((told.destination_address, told.destination_port)),
        }),
    })
}

fn parse_binary(header: &[u8]) -> Result<Option<Addresses>, ProxyFault> {
    let header = v2::Header::try_from(header).map_err(|_| ProxyFault::Malformed)?;
    if header.command == v2::Command::Local || header.protocol != v2::Protocol::Stream {
        return Ok(None);
    }
    Ok(match header.addresses {
        v2::Addresses::Unspecified | v2::Addresses::Unix(_) => None,
        v2::Addresses::IPv4(told) => Some(Addresses {
            client: SocketAddr::from((told.source_address, told.source_port)),
            local: SocketAddr::from((told.destination_address, told.destination_port)),
        }),
        v2::Addresses::IPv6(told) => Some(Addresses {
            client: SocketAddr::from((told.source_address, told.source_port)),
            local: SocketAddr::from((told.destination_address, told.destination_port)),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_the_connection() -> Addresses {
        Addresses { client: "127.0.0.1:1".parse().unwrap(), local: "127.0.0.1:2".parse().unwrap() }
    }

    /// Reads a header that arrives in pieces of this size, followed by `rest`.
    async fn read_in_pieces(header: &[u8], size: usize) -> Result<Addresses, ProxyFault> {
        let (mut client, mut server) = tokio::io::duplex(size);
        let sent = [header, b"rest"].concat();
        let writing = async move {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut client, &sent).await;
        };
        let reading = async move {
            let mut buffer = BytesMut::new();
            let told = read(&mut server, &mut buffer, of_the_connection()).await?;
            let mut rest = buffer.to_vec();
            server.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"rest");
            Ok(told)
        };
        tokio::join!(writing, reading).1
    }

    fn binary(command: u8, family: u8, payload: &[u8]) -> Vec<u8> {
        let mut header = v2::PROTOCOL_PREFIX.to_vec();
        header.extend([0x20 | command, family]);
        header.extend((payload.len() as u16).to_be_bytes());
        header.extend(payload);
        header
    }

    #[tokio::test]
    async fn both_versions_tell_the_client() {
        let payload_4 = [10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 1, 187];
        let mut payload_6 = [0; 36];
        (payload_6[15], payload_6[31]) = (1, 2);
        (payload_6[33], payload_6[35]) = (80, 81);
        let mut extended = payload_4.to_vec();
        extended.extend([4, 0, 1, 0]);
        let cases: [(Vec<u8>, &str, &str); 5] = [
            (b"PROXY TCP4 10.0.0.1 10.0.0.2 80 443\r\n".to_vec(), "10.0.0.1:80", "10.0.0.2:443"),
            (b"PROXY TCP6 ::1 ::2 80 81\r\n".to_vec(), "[::1]:80", "[::2]:81"),
            (binary(1, 0x11, &payload_4), "10.0.0.1:80", "10.0.0.2:443"),
            (binary(1, 0x11, &extended), "10.0.0.1:80", "10.0.0.2:443"),
            (binary(1, 0x21, &payload_6), "[::1]:80", "[::2]:81"),
        ];
        for (header, client, local) in cases {
            for size in [1, 7, 4096] {
                let told = read_in_pieces(&header, size).await.unwrap();
                assert_eq!((told.client, told.local), (client.parse().unwrap(), local.parse().unwrap()));
            }
        }
    }

    #[tokio::test]
    async fn the_connections_own_addresses_stay_where_none_are_told() {
        let cases = [
            b"PROXY UNKNOWN\r\n".to_vec(),
            b"PROXY UNKNOWN ::1 ::2 1 2\r\n".to_vec(),
            binary(0, 0x00, &[]),
            binary(0, 0x11, &[10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 1, 187]),
            binary(1, 0x00, &[]),
            binary(1, 0x31, &[b'x'; 216]),
            binary(1, 0x12, &[10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 1, 187]),
        ];
        for header in cases {
            let told = read_in_pieces(&header, 4096).await.unwrap();
            assert_eq!(told, of_the_connection(), "{}", header.escape_ascii());
        }
    }

    #[tokio::test]
    async fn malformed_headers_are_refused() {
        let long_line = format!("PROXY UNKNOWN {}\r\n", "x".repeat(200));
        let cases: [Vec<u8>; 13] = [
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            b"PROXY\r\n".to_vec(),
            b"PROXY TCP4 10.0.0.1 10.0.0.2 80\r\n".to_vec(),
            b"PROXY TCP4 10.0.0.1 10.0.0.2 80 443\n".to_vec(),
            b"PROXY TCP4 10.0.0.1 10.0.0.2 80 99999\r\n".to_vec(),
            b"PROXY TCP4 10.0.0.1 10.0.0.2 +80 443\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::2 80 443\r\n".to_vec(),
            b"PROXY TCP4 10.0.0.1 10.0.0.2 80 443\rX\n".to_vec(),
            b"proxy TCP4 10.0.0.1 10.0.0.2 80 443\r\n".to_vec(),
            long_line.into_bytes(),
            binary(2, 0x11, &[0; 12]),
            binary(1, 0x11, &[0; 11]),
            binary(1, 0x11, &[0; 5000]),
        ];
        for header in cases {
            assert!(read_in_pieces(&header, 4096).await.is_err(), "{}", header.escape_ascii());
        }
    }

    #[tokio::test]
    async fn a_header_that_breaks_off_is_refused() {
        for header in [&b""[..], b"PROX", b"PROXY TCP4 10.0.0.1", b"\r\n\r\n\0\r\nQUIT\n\x21"] {
            let mut io = header;
            let told = read(&mut io, &mut BytesMut::new(), of_the_connection()).await;
            assert!(matches!(told, Err(ProxyFault::Ended)), "{}", header.escape_ascii());
        }
    }
}
