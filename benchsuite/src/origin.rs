//! Origin: where all the proxies get their answers from. Quick, predictable, and it counts.
//!
//! | path | answer |
//! |---|---|
//! | `/hit/1k`, `/hit/64k` | 1 KiB or 64 KiB of JSON, good for an hour |
//! | `/key/N` | 1 KiB of JSON that names N, good for an hour |
//! | `/proxy` | 1 KiB of JSON, `no-store` |
//! | `/slow/N` | what `/key/N` says, after a second |
//! | `/count` | how many requests came for all of these; not counted itself |

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};

use bytes::Bytes;

use crate::epoll_loop::{self, Answer, Answers};

/// The 1 KiB to be cached.
pub(crate) const SMALL_HIT: &str = "/hit/1k";
/// The 64 KiB to be cached.
pub(crate) const LARGE_HIT: &str = "/hit/64k";
/// The 1 KiB that must not be cached.
pub(crate) const PROXIED: &str = "/proxy";
/// How many requests came.
pub(crate) const COUNT: &str = "/count";

const SMALL: usize = 1024;
const LARGE: usize = 64 * 1024;
const AN_HOUR: &str = "public, max-age=3600";
const NO_STORE: &str = "no-store";

struct Origin {
    count: u64,
    small: Bytes,
    large: Bytes,
    proxied: Bytes,
    /// The answer under way, where it was made for its request.
    made: Bytes,
}

/// What a request asked for.
enum Asked {
    Small,
    Large,
    Proxied,
    Key,
    Slow,
    Count,
    Nothing,
}

/// The content of the answer for this path, as every proxy must pass it on.
pub(crate) fn content(path: &str) -> Vec<u8> {
    json(path, if path == LARGE_HIT { LARGE } else { SMALL })
}

/// Answers until the process ends.
pub(crate) fn serve(listen: SocketAddr) -> io::Result<Infallible> {
    let mut origin = Origin {
        count: 0,
        small: ok(AN_HOUR, &content(SMALL_HIT)),
        large: ok(AN_HOUR, &content(LARGE_HIT)),
        proxied: ok(NO_STORE, &content(PROXIED)),
        made: Bytes::new(),
    };
    epoll_loop::serve(TcpListener::bind(listen)?, &mut origin)
}

impl Answers for Origin {
    fn answer(&mut self, head: &[u8]) -> Answer<'_> {
        let path = std::str::from_utf8(epoll_loop::path(head)).unwrap_or_default();
        let asked = asked(path);
        self.count += u64::from(!matches!(asked, Asked::Count));
        match asked {
            Asked::Small => return Answer::Now(&self.small),
            Asked::Large => return Answer::Now(&self.large),
            Asked::Proxied => return Answer::Now(&self.proxied),
            Asked::Slow => return Answer::Later(ok(AN_HOUR, &content(path))),
            Asked::Key => self.made = ok(AN_HOUR, &content(path)),
            Asked::Count => self.made = ok(NO_STORE, self.count.to_string().as_bytes()),
            Asked::Nothing => self.made = answer("404 Not Found", NO_STORE, b"{\"error\":\"no such path\"}"),
        }
        Answer::Now(&self.made)
    }
}

fn asked(path: &str) -> Asked {
    match path {
        SMALL_HIT => Asked::Small,
        LARGE_HIT => Asked::Large,
        PROXIED => Asked::Proxied,
        COUNT => Asked::Count,
        _ if path.starts_with("/key/") => Asked::Key,
        _ if path.starts_with("/slow/") => Asked::Slow,
        _ => Asked::Nothing,
    }
}

/// JSON of exactly this size that names the path.
fn json(path: &str, size: usize) -> Vec<u8> {
    let mut json = format!("{{\"path\":\"{path}\",\"data\":\"").into_bytes();
    json.resize(size - 2, b'x');
    json.extend_from_slice(b"\"}");
    json
}

fn ok(cache_control: &str, content: &[u8]) -> Bytes {
    answer("200 OK", cache_control, content)
}

fn answer(status: &str, cache_control: &str, content: &[u8]) -> Bytes {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nCache-Control: {cache_control}\r\n\
         Content-Length: {}\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_their_size_and_name_their_path() {
        assert_eq!(content(SMALL_HIT).len(), 1024);
        assert_eq!(content(LARGE_HIT).len(), 65_536);
        assert_eq!(content("/key/1000000").len(), 1024);
        assert!(content("/key/7").starts_with(b"{\"path\":\"/key/7\",\"data\":\"xx"));
    }
}
