//! Ticker: moves the engine's epoch while anything computes, so that what computes asks whether it still may. Nothing
//! ticks while nothing computes.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::Engine;

/// Between two ticks. What is to be stopped goes on for no longer than that, and what is late is late by no more.
const TICK: Duration = Duration::from_millis(5);

/// See the module. Its thread ends when it is dropped.
pub(crate) struct Ticker(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    computing: usize,
    /// The thread waits until something computes.
    asleep: bool,
    over: bool,
}

/// Something computes, until this is dropped.
pub(crate) struct Computing<'a>(&'a Shared);

impl Ticker {
    /// Starts the thread.
    pub(crate) fn start(name: &str, engine: Engine) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let mine = Arc::clone(&shared);
        std::thread::Builder::new().name(format!("{name}-tick")).spawn(move || mine.run(&engine))?;
        Ok(Ticker(shared))
    }

    /// Has it tick as long as the guard lives.
    pub(crate) fn computing(&self) -> Computing<'_> {
        let mut state = self.0.lock();
        state.computing += 1;
        if state.asleep {
            self.0.changed.notify_one();
        }
        Computing(&self.0)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.changed.notify_one();
    }
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.0.lock().computing -= 1;
    }
}

impl Shared {
    fn run(&self, engine: &Engine) {
        let mut state = self.lock();
        while !state.over {
            if state.computing == 0 {
                state.asleep = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
            } else {
                (state, _) = self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner);
                engine.increment_epoch();
            }
        }
    }

    /// Nothing panics while it is held, so a poisoned lock still guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
