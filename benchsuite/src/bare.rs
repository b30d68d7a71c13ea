//! Bare: the limit. An epoll loop that answers every request with prepared bytes and does nothing else a proxy does.
//!
//! Started by the suite as a process of its own. Its answers are what fleetfoot said to the same requests, byte for
//! byte, so that both move the same amount.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use bytes::Bytes;

use crate::epoll_loop::{self, Answer, Answers};
use crate::origin::LARGE_HIT;

struct Prepared {
    small: Bytes,
    large: Bytes,
}

impl Answers for Prepared {
    fn answer(&mut self, head: &[u8]) -> Answer<'_> {
        let large = epoll_loop::path(head) == LARGE_HIT.as_bytes();
        Answer::Now(if large { &self.large } else { &self.small })
    }
}

/// Answers `/hit/64k` with the bytes in the file `large`, everything else with those in `small`.
pub(crate) fn serve(listen: SocketAddr, small: &Path, large: &Path) -> io::Result<Infallible> {
    let mut prepared = Prepared { small: std::fs::read(small)?.into(), large: std::fs::read(large)?.into() };
    epoll_loop::serve(TcpListener::bind(listen)?, &mut prepared)
}
