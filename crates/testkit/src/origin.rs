//! Origin: a server on a free loopback port that does exactly what a test tells it, and records every byte it got.

mod conversation;
mod http2_origin;
mod script;

use std::collections::{HashMap, VecDeque};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::port::stop_listening;
use crate::{DEADLINE, Head};

pub use conversation::Conversation;
pub use http2_origin::Http2Origin;
pub(crate) use script::lines;
pub use script::{Script, not_modified, ok, status};

/// Stops on drop.
pub struct Origin {
    address: SocketAddr,
    shared: Arc<OriginState>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

/// A request as the origin got it.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Case as sent.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// Start line and fields.
    pub head: Head,
    /// The head's bytes.
    pub raw: Vec<u8>,
    /// The content, as far as it has arrived.
    pub body: Vec<u8>,
    /// Whether the content arrived whole.
    pub whole: bool,
    /// Fields behind the last chunk.
    pub trailers: Vec<(String, String)>,
    /// On which connection, counted from zero.
    pub connection: usize,
}

impl Received {
    /// The first value of this field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.field(name)
    }
}

/// What to do with a request, once its key is found.
#[derive(Clone)]
pub(crate) enum Rule {
    /// Read the content, then play the next script; the last one again and again.
    Scripts(Arc<Mutex<VecDeque<Script>>>),
    /// Read the content, then play what this computes.
    Computed(Arc<dyn Fn(&Received) -> Script + Send + Sync>),
    /// Hand the connection over right behind the head.
    Talk(Arc<dyn Fn(&mut Conversation) + Send + Sync>),
}

#[derive(Default)]
pub(crate) struct OriginState {
    rules: Mutex<HashMap<String, Rule>>,
    record: Mutex<Record>,
    changed: Condvar,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Record {
    requests: Vec<Received>,
    bytes: Vec<Vec<u8>>,
    streams: HashMap<usize, Arc<TcpStream>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Origin {
    /// An origin on a free port of 127.0.0.1 that answers 404 to everything.
    pub fn start() -> Origin {
        Self::start_on("127.0.0.1:0")
    }

    /// The same on this address.
    pub fn start_on(address: &str) -> Origin {
        let listener =
            TcpListener::bind(address).unwrap_or_else(|error| panic!("cannot bind {address}: {error}"));
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(OriginState::default());
        let accepted = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || accept(&listener, &accepted));
        Origin { address, shared, accepting: Mutex::new(Some(accepting)) }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Says what happens to requests of this key: `GET /path?query`, `GET /path`, `/path?query`, `/path` or `*`,
    /// looked up in this order. A later word on the same key replaces the earlier one.
    pub fn on<'a>(&'a self, key: &'a str) -> On<'a> {
        On { origin: self, key }
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Received> {
        lock(&self.shared.record).requests.clone()
    }

    /// How many requests of this key (method and target) came so far.
    pub fn count(&self, key: &str) -> usize {
        lock(&self.shared.record).requests.iter().filter(|request| matches(request, key)).count()
    }

    /// The last request of this key; panics if there was none.
    pub fn last(&self, key: &str) -> Received {
        let record = lock(&self.shared.record);
        record
            .requests
            .iter()
            .rfind(|request| matches(request, key))
            .cloned()
            .unwrap_or_else(|| panic!("the origin never got {key}, but {:?}", record.requests))
    }

    /// Waits until this many requests of this key have arrived (their heads, that is).
    pub fn wait_for(&self, count: usize, key: &str) {
        self.wait_until(&format!("{count} of {key}"), |record| {
            record.requests.iter().filter(|request| matches(request, key)).count() >= count
        });
    }

    /// Everything that ever arrived, one connection behind the other.
    pub fn bytes(&self) -> Vec<u8> {
        lock(&self.shared.record).bytes.concat()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        lock(&self.shared.record).bytes.len()
    }

    /// Ends all connections, idle or not, but goes on listening.
    pub fn drop_connections(&self) {
        for (_, stream) in lock(&self.shared.record).streams.drain() {
            let _already_gone = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends all connections and refuses new ones.
    pub fn stop(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        if let Some(accepting) = lock(&self.accepting).take() {
            let _wakes_it = TcpStream::connect(self.address);
            accepting.join().expect("the accepting thread does not panic");
        }
        self.drop_connections();
    }

    fn wait_until(&self, what: &str, reached: impl Fn(&Record) -> bool) {
        let record = lock(&self.shared.record);
        let (record, waited) = self
            .shared
            .changed
            .wait_timeout_while(record, DEADLINE, |record| !reached(record))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!waited.timed_out(), "the origin waited in vain for {what}; it got {:?}", record.requests);
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stop();
    }
}

/// See [`Origin::on`].
pub struct On<'a> {
    origin: &'a Origin,
    key: &'a str,
}

impl On<'_> {
    /// Always this.
    pub fn reply(self, script: impl Into<Script>) {
        self.replies([script.into()]);
    }

    /// One after another; the last one again and again.
    pub fn replies(self, scripts: impl IntoIterator<Item = Script>) {
        self.rule(Rule::Scripts(Arc::new(Mutex::new(scripts.into_iter().collect()))));
    }

    /// What the closure makes of the request.
    pub fn answer(self, compute: impl Fn(&Received) -> Script + Send + Sync + 'static) {
        self.rule(Rule::Computed(Arc::new(compute)));
    }

    /// The closure takes over the connection right behind the head.
    pub fn talk(self, talk: impl Fn(&mut Conversation) + Send + Sync + 'static) {
        self.rule(Rule::Talk(Arc::new(talk)));
    }

    fn rule(self, rule: Rule) {
        lock(&self.origin.shared.rules).insert(self.key.to_owned(), rule);
    }
}

impl OriginState {
    pub(crate) fn rule(&self, request: &Received) -> Rule {
        let path = request.target.split('?').next().unwrap_or_default();
        let keys = [
            format!("{} {}", request.method, request.target),
            format!("{} {path}", request.method),
            request.target.clone(),
            path.to_owned(),
            "*".to_owned(),
        ];
        let rules = lock(&self.rules);
        keys.iter().find_map(|key| rules.get(key)).cloned().unwrap_or_else(|| {
            Rule::Scripts(Arc::new(Mutex::new(VecDeque::from([status("404 Not Found", "", "no such rule")]))))
        })
    }

    pub(crate) fn got_bytes(&self, connection: usize, bytes: &[u8]) {
        lock(&self.record).bytes[connection].extend_from_slice(bytes);
        self.changed.notify_all();
    }

    /// Records a request; gives its number.
    pub(crate) fn got_request(&self, request: Received) -> usize {
        let mut record = lock(&self.record);
        record.requests.push(request);
        self.changed.notify_all();
        record.requests.len() - 1
    }

    /// Lets go of a connection, so that dropping the conversation's handle really closes it.
    pub(crate) fn forget(&self, connection: usize) {
        lock(&self.record).streams.remove(&connection);
    }

    /// Fills in what came behind the head of a request.
    pub(crate) fn got_content(&self, number: usize, request: &Received) {
        request.clone_into(&mut lock(&self.record).requests[number]);
        self.changed.notify_all();
    }
}

fn matches(request: &Received, key: &str) -> bool {
    key == "*"
        || key.split_once(' ').map_or(request.target == key, |(method, target)| {
            request.method == method && request.target == target
        })
}

fn accept(listener: &TcpListener, shared: &Arc<OriginState>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            stop_listening(listener);
            return;
        }
        let Ok(stream) = stream.map(Arc::new) else { continue };
        let mut record = lock(&shared.record);
        let number = record.bytes.len();
        record.bytes.push(Vec::new());
        record.streams.insert(number, Arc::clone(&stream));
        drop(record);
        let shared = Arc::clone(shared);
        std::thread::spawn(move || Conversation::new(stream, number, shared).hold());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gate, RawClient, ok};

    #[test]
    fn plays_scripts_in_turn_and_records() {
        let origin = Origin::start();
        origin.on("GET /a").replies([ok("A: 1\nB: 2", "one"), ok("", "two")]);
        let mut client = RawClient::connect(origin.address());
        let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(client.ask(request).field("b"), Some("2"));
        assert_eq!(client.ask(request).text(), "two");
        assert_eq!(client.ask(request).text(), "two");
        assert_eq!((origin.count("GET /a"), origin.connections()), (3, 1));
        assert_eq!(origin.bytes(), request.repeat(3).as_bytes());
    }

    #[test]
    fn holds_until_the_gate_opens_and_breaks_off() {
        let origin = Origin::start();
        let gate = Gate::new();
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
        origin.on("*").reply(Script::new().send(head).wait(&gate).reset());
        let mut client = RawClient::connect(origin.address());
        client.send("GET / HTTP/1.1\r\n\r\n");
        origin.wait_for(1, "GET /");
        assert_eq!(client.read_head().field("content-length"), Some("9"));
        assert_eq!(client.read_exactly(3), b"abc");
        gate.open();
        assert!(client.is_closed());
    }

    #[test]
    fn reads_chunks_with_trailers() {
        let origin = Origin::start();
        origin.on("POST /").reply(ok("", ""));
        let mut client = RawClient::connect(origin.address());
        client.ask(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nT: u\r\n\r\n",
        );
        let request = origin.last("POST /");
        assert_eq!(
            (request.body, request.trailers),
            (b"abc".to_vec(), vec![("T".to_owned(), "u".to_owned())])
        );
    }

    #[test]
    fn refuses_once_stopped() {
        let origin = Origin::start();
        let mut client = RawClient::connect(origin.address());
        client.ask("GET / HTTP/1.1\r\n\r\n");
        origin.stop();
        assert!(client.is_closed());
        assert!(TcpStream::connect(origin.address()).is_err());
    }
}
