//! Flood: counts the frames of a connection that carry nothing, and raises an alarm when they get out of proportion.
//!
//! h2 answers a `PING` or `SETTINGS` before it reads on and so keeps memory bounded, but takes any number of them;
//! neither does it count streams that are opened and reset at leisure. nginx compares all bytes of a connection with
//! those that carry content; here each idle frame costs points, which requests, content and time earn back.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::preface::PREFACE;

/// Points a connection begins with, and the most it can have.
const FULL: u32 = 10_000;
/// What a frame costs that moves nothing: PING, SETTINGS, PRIORITY, RST_STREAM, CONTINUATION, an empty DATA, one of an
/// unknown type.
const IDLE_FRAME: u32 = 5;
/// What a WINDOW_UPDATE costs: less, since some clients send one for each small piece of an answer.
const WINDOW_UPDATE_FRAME: u32 = 1;
/// What a request earns: less than half of the reset behind it costs.
const REQUEST: u32 = 2;
/// What a KiB earns, of content received or of anything sent. Sent answers to PINGs earn back a hundredth of their cost.
const KIBIBYTE: u32 = 5;
/// What a second earns.
const SECOND: u32 = 500;

const FRAME_HEAD: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;

/// Raised when a client floods us; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Alarm(Rc<AlarmState>);

#[derive(Debug, Default)]
struct AlarmState {
    raised: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Alarm {
    /// Resolves once it is raised.
    pub(super) async fn raised(&self) {
        poll_fn(|cx| {
            if self.0.raised.get() {
                return Poll::Ready(());
            }
            self.0.waiting.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn raise(&self) {
        self.0.raised.set(true);
        if let Some(waker) = self.0.waiting.take() {
            waker.wake();
        }
    }
}

/// A connection whose frames are counted. Reads nothing more once the alarm is raised.
#[derive(Debug)]
pub(super) struct Metered<IO> {
    io: IO,
    meter: Meter,
    alarm: Alarm,
}

impl<IO> Metered<IO> {
    pub(super) fn new(io: IO, alarm: Alarm) -> Self {
        Metered { io, meter: Meter::new(Instant::now()), alarm }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Metered<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.alarm.0.raised.get() {
            return Poll::Pending;
        }
        let before = buf.filled().len();
        std::task::ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        let received = &buf.filled()[before..];
        if !received.is_empty() && !self.meter.received(received) && !self.meter.refill(Instant::now()) {
            self.alarm.raise();
        }
        Poll::Ready(Ok(()))
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Metered<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let sent = std::task::ready!(Pin::new(&mut self.io).poll_write(cx, buf))?;
        self.meter.moved(sent);
        Poll::Ready(Ok(sent))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = std::task::ready!(Pin::new(&mut self.io).poll_write_vectored(cx, bufs))?;
        self.meter.moved(sent);
        Poll::Ready(Ok(sent))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Reads the heads of frames as the bytes pass by, and keeps the account.
#[derive(Debug)]
struct Meter {
    /// Bytes to pass before the next frame's head: of the preface first, then of payloads.
    skip: usize,
    head: [u8; FRAME_HEAD],
    /// Bytes of `head` that are there.
    filled: usize,
    points: u32,
    /// Bytes moved that did not make a whole KiB yet.
    moved: usize,
    refilled: Instant,
}

impl Meter {
    fn new(now: Instant) -> Self {
        Meter { skip: PREFACE.len(), head: [0; FRAME_HEAD], filled: 0, points: FULL, moved: 0, refilled: now }
    }

    /// Counts what came in. False when the points are used up, as far as is known without asking for the time.
    fn received(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let passed = self.skip.min(bytes.len());
                self.skip -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            let taken = (FRAME_HEAD - self.filled).min(bytes.len());
            self.head[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == FRAME_HEAD {
                self.filled = 0;
                self.frame();
            }
        }
        self.points > 0
    }

    /// A whole frame head is there (RFC 9113 §4.1): length, kind, flags, stream.
    fn frame(&mut self) {
        let [high, middle, low, kind, ..] = self.head;
        self.skip = u32::from_be_bytes([0, high, middle, low]) as usize;
        match kind {
            HEADERS => self.earn(REQUEST),
            DATA if self.skip > 0 => self.moved(self.skip),
            WINDOW_UPDATE => self.spend(WINDOW_UPDATE_FRAME),
            _ => self.spend(IDLE_FRAME),
        }
    }

    /// Counts bytes of content received, or of anything sent.
    fn moved(&mut self, bytes: usize) {
        self.moved += bytes;
        let kibibytes = self.moved / 1024;
        self.moved %= 1024;
        self.earn((kibibytes as u32).saturating_mul(KIBIBYTE));
    }

    /// Adds what the time since the last refill has earned. False when the points are used up all the same.
    fn refill(&mut self, now: Instant) -> bool {
        let millis = now.saturating_duration_since(self.refilled).as_millis();
        let earned = u32::try_from(millis * u128::from(SECOND) / 1000).unwrap_or(FULL);
        if earned > 0 {
            self.refilled = now;
            self.earn(earned);
        }
        self.points > 0
    }

    fn spend(&mut self, points: u32) {
        self.points = self.points.saturating_sub(points);
    }

    fn earn(&mut self, points: u32) {
        self.points = self.points.saturating_add(points).min(FULL);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn frame(kind: u8, length: usize) -> Vec<u8> {
        let mut frame = (length as u32).to_be_bytes()[1..].to_vec();
        frame.extend([kind, 0, 0, 0, 0, 0]);
        frame.resize(FRAME_HEAD + length, 0);
        frame
    }

    fn begun() -> Meter {
        let mut meter = Meter::new(Instant::now());
        assert!(meter.received(PREFACE));
        meter
    }

    fn frames_until_empty(meter: &mut Meter, frames: &[u8]) -> usize {
        (0..100_000).find(|_| !meter.received(frames)).unwrap_or(usize::MAX)
    }

    #[tokio::test]
    async fn idle_frames_use_the_points_up() {
        for (kind, length) in [(6, 8), (4, 0), (4, 6), (2, 5), (3, 4), (9, 100), (DATA, 0), (0xff, 3)] {
            let used_up = frames_until_empty(&mut begun(), &frame(kind, length));
            assert_eq!(used_up + 1, (FULL / IDLE_FRAME) as usize, "kind {kind}");
        }
        let used_up = frames_until_empty(&mut begun(), &frame(WINDOW_UPDATE, 4));
        assert_eq!(used_up + 1, (FULL / WINDOW_UPDATE_FRAME) as usize);
    }

    #[tokio::test]
    async fn heads_are_found_however_the_bytes_come() {
        let flood = [frame(6, 8), frame(DATA, 400), frame(6, 8)].concat().repeat(3);
        let mut whole = begun();
        whole.received(&flood);
        let mut dripping = begun();
        for byte in &flood {
            assert!(dripping.received(std::slice::from_ref(byte)));
        }
        assert_eq!(whole.points, dripping.points);
        assert_eq!(whole.points, FULL - 6 * IDLE_FRAME + KIBIBYTE);
    }

    #[tokio::test]
    async fn requests_that_are_reset_use_them_up_and_answered_ones_do_not() {
        let reset = [frame(HEADERS, 20), frame(3, 4)].concat();
        assert!(frames_until_empty(&mut begun(), &reset) < 5000);
        assert_eq!(frames_until_empty(&mut begun(), &frame(HEADERS, 20)), usize::MAX);
    }

    #[tokio::test]
    async fn a_download_with_its_window_updates_goes_on_for_ever() {
        let mut meter = begun();
        for _ in 0..100_000 {
            meter.moved(8 * 1024);
            assert!(meter.received(&[frame(8, 4), frame(8, 4)].concat()));
        }
    }

    #[tokio::test]
    async fn time_gives_points_back() {
        let mut meter = begun();
        let later = meter.refilled + Duration::from_secs(2);
        frames_until_empty(&mut meter, &frame(6, 8));
        assert!(!meter.refill(meter.refilled));
        assert!(meter.refill(later));
        assert_eq!(meter.points, 2 * SECOND);
        assert!(meter.refill(later + Duration::from_hours(24)));
        assert_eq!(meter.points, FULL);
    }
}
