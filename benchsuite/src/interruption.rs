//! Interruption: Ctrl-C and SIGTERM end the suite in good order: its servers end and their directories go with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Result, fail};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub(crate) fn listen() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut interrupt, mut terminate) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        INTERRUPTED.store(true, Ordering::Relaxed);
    });
    Ok(())
}

/// A failure once somebody wants the suite to end; asked before each step and while waiting.
pub(crate) fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::Relaxed) { fail("interrupted") } else { Ok(()) }
}
