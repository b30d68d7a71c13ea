//! SlowLink: a relay on a free port that passes bytes on late, or not at all, as a test says while it runs.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::port::{Port, stop_listening};

/// Pieces on their way in one direction. A sender of more has to wait, as on any link.
const IN_FLIGHT: usize = 4096;

/// Ends its connections and refuses new ones on drop.
pub struct SlowLink {
    port: Port,
    shared: Arc<Shared>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    to: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    delay: Duration,
    frozen: bool,
    /// How often the link was cut: what began before the last time is over.
    cuts: usize,
    streams: HashMap<usize, [Arc<TcpStream>; 2]>,
    connections: usize,
}

/// Bytes, and when the other end gets them; no bytes mean that no more will come.
type Piece = (Instant, Vec<u8>);

impl SlowLink {
    /// A link to this port of 127.0.0.1, without a delay at first.
    pub fn to(port: u16) -> Self {
        let shared = Arc::new(Shared {
            to: SocketAddr::from(([127, 0, 0, 1], port)),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let link = SlowLink { port: Port::reserve(), shared, accepting: Mutex::default() };
        link.restore();
        link
    }

    /// The port to connect to instead.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// From now on each piece takes this long in each direction, so a round trip takes twice as long. Pieces on their
    /// way keep the delay they had, and pieces never overtake each other.
    pub fn set_delay(&self, delay: Duration) {
        self.shared.lock().delay = delay;
    }

    /// Passes nothing on, in either direction, but keeps connections and accepts new ones.
    pub fn freeze(&self) {
        self.shared.lock().frozen = true;
    }

    /// Ends all connections and refuses new ones.
    pub fn cut(&self) {
        let mut state = self.shared.lock();
        state.cuts += 1;
        state.frozen = false;
        let streams = std::mem::take(&mut state.streams);
        drop(state);
        self.shared.changed.notify_all();
        for stream in streams.into_values().flatten() {
            let _already_gone = stream.shutdown(Shutdown::Both);
        }
        if let Some(accepting) = self.accepting().take() {
            let _wakes_it = TcpStream::connect(self.address());
            accepting.join().expect("the accepting thread does not panic");
        }
    }

    /// Undoes [`SlowLink::freeze`] and [`SlowLink::cut`]; the delay stays. What was frozen goes on its way.
    pub fn restore(&self) {
        self.shared.lock().frozen = false;
        self.shared.changed.notify_all();
        let mut accepting = self.accepting();
        if accepting.is_none() {
            let (listener, shared) = (self.port.listen(), Arc::clone(&self.shared));
            *accepting = Some(std::thread::spawn(move || accept(&listener, &shared)));
        }
    }

    /// How many connections were ever accepted.
    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    fn accepting(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.accepting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SlowLink {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the other end of a connection too; false when the link was cut meanwhile.
    fn joined(&self, number: usize, client: &Arc<TcpStream>, server: &Arc<TcpStream>, cuts: usize) -> bool {
        let mut state = self.lock();
        let joined = state.cuts == cuts;
        if joined {
            state.streams.insert(number, [Arc::clone(client), Arc::clone(server)]);
        }
        joined
    }

    /// Waits until the link is not frozen and this time has come; false when it was cut meanwhile.
    fn wait_for(&self, due: Instant, cuts: usize) -> bool {
        let mut state = self.lock();
        loop {
            if state.cuts != cuts {
                return false;
            }
            let left = due.saturating_duration_since(Instant::now());
            if state.frozen {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else if left.is_zero() {
                return true;
            } else {
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let cuts = shared.lock().cuts;
    for stream in listener.incoming() {
        let mut state = shared.lock();
        if state.cuts != cuts {
            stop_listening(listener);
            return;
        }
        let Ok(stream) = stream else { continue };
        let number = state.connections;
        state.connections += 1;
        // Known from the start, so that a cut ends it before it is passed on.
        let client = Arc::new(stream);
        state.streams.insert(number, [Arc::clone(&client), Arc::clone(&client)]);
        drop(state);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || relay(&shared, client, number, cuts));
    }
}

/// Passes one connection on until both directions have ended.
fn relay(shared: &Arc<Shared>, client: Arc<TcpStream>, number: usize, cuts: usize) {
    if shared.wait_for(Instant::now(), cuts)
        && let Ok(server) = TcpStream::connect(shared.to).map(Arc::new)
        && shared.joined(number, &client, &server, cuts)
    {
        std::thread::scope(|scope| {
            scope.spawn(|| pass(shared, &client, &server, cuts));
            pass(shared, &server, &client, cuts);
        });
    }
    shared.lock().streams.remove(&number);
}

/// One direction: a thread reads and notes when each piece is due, this one writes it then.
fn pass(shared: &Shared, from: &TcpStream, to: &TcpStream, cuts: usize) {
    let _as_they_come = to.set_nodelay(true);
    let (sender, pieces) = sync_channel(IN_FLIGHT);
    std::thread::scope(|scope| {
        scope.spawn(move || take_in(shared, from, &sender));
        if !hand_out(shared, to, pieces, cuts) {
            // Nobody reads any more, or the link was cut: the reader has to notice.
            let _already_gone = from.shutdown(Shutdown::Both);
        }
    });
}

fn take_in(shared: &Shared, mut from: &TcpStream, pieces: &SyncSender<Piece>) {
    let mut bytes = [0; 16 * 1024];
    loop {
        let count = from.read(&mut bytes).unwrap_or(0);
        let due = Instant::now() + shared.lock().delay;
        if pieces.send((due, bytes[..count].to_vec())).is_err() || count == 0 {
            return;
        }
    }
}

/// Whether all went out, with the end.
fn hand_out(shared: &Shared, mut to: &TcpStream, pieces: Receiver<Piece>, cuts: usize) -> bool {
    for (due, bytes) in pieces {
        if !shared.wait_for(due, cuts) || to.write_all(&bytes).is_err() {
            return false;
        }
        if bytes.is_empty() {
            let _already_gone = to.shutdown(Shutdown::Write);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, RawClient, ok};

    const REQUEST: &str = "GET / HTTP/1.1\r\n\r\n";

    fn origin() -> Origin {
        let origin = Origin::start();
        origin.on("*").reply(ok("", "hello"));
        origin
    }

    #[test]
    fn delays_both_ways_and_may_change_while_it_runs() {
        let (origin, slow) = (origin(), Duration::from_millis(100));
        let link = SlowLink::to(origin.address().port());
        let mut client = RawClient::connect(link.address());
        assert_eq!(client.ask(REQUEST).text(), "hello");
        link.set_delay(slow);
        let start = Instant::now();
        assert_eq!(client.ask(REQUEST).text(), "hello");
        assert!(start.elapsed() >= slow * 2, "{:?}", start.elapsed());
    }

    #[test]
    fn is_slow_to_answer_but_not_narrow() {
        let (origin, slow) = (origin(), Duration::from_millis(100));
        let link = SlowLink::to(origin.address().port());
        link.set_delay(slow);
        let mut client = RawClient::connect(link.address());
        let start = Instant::now();
        client.drip(REQUEST.repeat(10));
        for _ in 0..10 {
            assert_eq!(client.read_answer().text(), "hello");
        }
        assert!(start.elapsed() < slow * 10, "{:?}", start.elapsed());
        assert_eq!(origin.bytes(), REQUEST.repeat(10).as_bytes());
    }

    #[test]
    fn a_cut_ends_and_refuses_until_restored() {
        let origin = origin();
        let link = SlowLink::to(origin.address().port());
        let mut client = RawClient::connect(link.address());
        client.ask(REQUEST);
        link.cut();
        assert!(client.is_closed());
        assert!(TcpStream::connect(link.address()).is_err());
        link.restore();
        assert_eq!(RawClient::connect(link.address()).ask(REQUEST).text(), "hello");
    }

    #[test]
    fn a_frozen_link_accepts_and_says_nothing_until_restored() {
        let origin = origin();
        let link = SlowLink::to(origin.address().port());
        let mut old = RawClient::connect(link.address());
        old.ask(REQUEST);
        link.freeze();
        old.send(REQUEST);
        let mut fresh = RawClient::connect(link.address());
        fresh.send(REQUEST);
        let mut impatient = TcpStream::connect(link.address()).unwrap();
        impatient.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        impatient.write_all(REQUEST.as_bytes()).unwrap();
        assert!(impatient.read(&mut [0]).is_err());
        assert_eq!(origin.count("GET /"), 1);
        link.restore();
        assert_eq!(old.read_answer().text(), "hello");
        assert_eq!(fresh.read_answer().text(), "hello");
    }

    #[test]
    fn an_end_passes_through() {
        let origin = origin();
        let link = SlowLink::to(origin.address().port());
        let mut client = RawClient::connect(link.address());
        client.ask(REQUEST);
        origin.drop_connections();
        assert!(client.is_closed());
    }
}
