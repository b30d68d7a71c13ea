//! Trouble: a step that fails, by each `on_error`, and what must come of it whatever is wrong: a status that says why,
//! in time, and nothing that says where anything is. And servers that are none.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use testkit::{Answer, Fleetfoot};

use super::support::assert_incomplete;

/// What no answer may hold: it is part of every path, statement, key and password of these stories.
pub(crate) const HIDDEN: &str = "hidden";

/// What sources of these stories say of time.
pub(crate) const SHORT: &str = "timeout: 400ms, connect_timeout: 400ms";

/// As long as any answer may take where every time limit is [`SHORT`], on a busy machine.
const LONGEST: Duration = Duration::from_secs(4);

/// Routes with this step, one for each way to go on after it.
pub(crate) fn routes(name: &str, step: &str) -> Vec<String> {
    ["fail", "null", "omit", "{ nothing: [1] }"]
        .iter()
        .zip(["fail", "null", "omit", "value"])
        .map(|(on_error, way)| {
            format!(
                "match: GET /{name}/{way}, compose: {{ it: {{ {step}, on_error: {on_error} }} }}, \
                 respond: {{ is: 1, it: \"${{it}}\" }}"
            )
        })
        .collect()
}

/// Asks all of [`routes`]: `status` where the step fails the request, and `word` says why.
#[track_caller]
pub(crate) fn assert_fails(fleetfoot: &Fleetfoot, name: &str, status: u16, word: &str) {
    let failed = ask(fleetfoot, name, "fail");
    assert_eq!((failed.status, failed.field("fleetfoot-error")), (status, Some(word)), "{name}: {failed:?}");
    assert_eq!(failed.field("cache-control"), Some("no-store"), "{name}: {failed:?}");
    assert_eq!(failed.has("retry-after"), status == 503, "{name}: {failed:?}");
    let named = format!("it;error={word}");
    assert_incomplete(&ask(fleetfoot, name, "null"), &named, r#"{"is":1,"it":null}"#);
    assert_incomplete(&ask(fleetfoot, name, "omit"), &named, r#"{"is":1}"#);
    assert_incomplete(&ask(fleetfoot, name, "value"), &named, r#"{"is":1,"it":{"nothing":[1]}}"#);
}

#[track_caller]
fn ask(fleetfoot: &Fleetfoot, name: &str, way: &str) -> Answer {
    let begun = Instant::now();
    let answer = fleetfoot.get(&format!("/{name}/{way}"));
    assert!(begun.elapsed() < LONGEST, "{name}/{way}: {:?}", begun.elapsed());
    assert_tells_nothing(&answer);
    answer
}

/// It says nothing of where anything is, nor what was asked.
#[track_caller]
pub(crate) fn assert_tells_nothing(answer: &Answer) {
    let told = format!("{:?} {}", answer.head, answer.text());
    for secret in [HIDDEN, "secret", "127.0.0.1", "/tmp"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

/// Something that listens and is no server: it says what it is told to at once, or nothing, and never hears.
pub(crate) struct Impostor {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Impostor {
    /// Says nothing at all.
    pub(crate) fn silent() -> Self {
        Self::saying(b"")
    }

    /// Says this to everybody who comes.
    pub(crate) fn saying(bytes: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(mut stream) = stream {
                    let _gone_already = stream.write_all(bytes);
                    kept.push(stream);
                }
            }
        });
        Impostor { address, is_over, thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
