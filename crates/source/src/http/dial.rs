//! Dial: the first TCP connection that one of a target's addresses accepts. Called by `connect`.
//!
//! The addresses are tried one after another, the next one as soon as the one before failed, or after a quarter of a
//! second beside it (RFC 8305 §5): one address that swallows packets must not cost the whole connect timeout.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use message::open_files;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// How long an address may try alone (RFC 8305 §8).
const HEAD_START: Duration = Duration::from_millis(250);

/// Connects to whichever address answers first; the last failure when none does.
pub(super) async fn dial(addresses: impl Iterator<Item = SocketAddr>) -> io::Result<TcpStream> {
    let connected = race(addresses.map(TcpStream::connect)).await?;
    if open_files::is_in_reserve(&connected) { Err(open_files::exhausted()) } else { Ok(connected) }
}

async fn race<T, F: Future<Output = io::Result<T>>>(mut attempts: impl Iterator<Item = F>) -> io::Result<T> {
    let mut running: Vec<Pin<Box<F>>> = attempts.next().map(Box::pin).into_iter().collect();
    let mut last_failure = io::Error::other("the name has no address");
    let mut next = pin!(tokio::time::sleep(HEAD_START));
    poll_fn(|cx| {
        loop {
            let mut failed = false;
            let mut index = 0;
            while index < running.len() {
                match running[index].as_mut().poll(cx) {
                    Poll::Ready(Ok(connected)) => return Poll::Ready(Ok(connected)),
                    Poll::Ready(Err(error)) => {
                        last_failure = error;
                        failed = true;
                        drop(running.swap_remove(index));
                    }
                    Poll::Pending => index += 1,
                }
            }
            if (failed || running.is_empty() || next.as_mut().poll(cx).is_ready())
                && let Some(attempt) = attempts.next()
            {
                running.push(Box::pin(attempt));
                next.as_mut().reset(Instant::now() + HEAD_START);
                continue;
            }
            if running.is_empty() {
                return Poll::Ready(Err(std::mem::replace(&mut last_failure, io::ErrorKind::Other.into())));
            }
            return Poll::Pending;
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attempt that ends after so many milliseconds, well or not.
    async fn attempt(name: &'static str, after: u64, well: bool) -> io::Result<&'static str> {
        tokio::time::sleep(Duration::from_millis(after)).await;
        if well { Ok(name) } else { Err(io::Error::other(name)) }
    }

    async fn run(attempts: &[(&'static str, u64, bool)]) -> (Result<&'static str, String>, u128) {
        let start = Instant::now();
        let result = race(attempts.iter().map(|&(name, after, well)| attempt(name, after, well))).await;
        (result.map_err(|error| error.to_string()), start.elapsed().as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_address_follows_a_failure_at_once_and_silence_after_a_while() {
        assert_eq!(run(&[("first", 10, true), ("second", 0, true)]).await, (Ok("first"), 10));
        assert_eq!(run(&[("first", 10, false), ("second", 5, true)]).await, (Ok("second"), 15));
        assert_eq!(run(&[("first", 9000, true), ("second", 5, true)]).await, (Ok("second"), 255));
        assert_eq!(run(&[("first", 260, true), ("second", 50, true)]).await, (Ok("first"), 260));
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_failure_is_told_when_all_fail() {
        let (result, after) = run(&[("first", 10, false), ("second", 5, false)]).await;
        assert_eq!((result, after), (Err("second".to_owned()), 15));
        assert_eq!(run(&[]).await.0, Err("the name has no address".to_owned()));
    }
}
