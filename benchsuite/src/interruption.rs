//! Interruption: Ctrl-C and SIGTERM end the suite in good order, its servers first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Servers run in process groups of their own, so that only the suite hears the terminal.
pub(crate) fn listen() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    thread::spawn(move || {
        runtime.block_on(async {
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            INTERRUPTED.store(true, Ordering::Relaxed);
        });
    });
    Ok(())
}

/// An error once somebody wants the suite to end; asked before every step.
pub(crate) fn check() -> Result<(), String> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err("interrupted".to_owned()) } else { Ok(()) }
}
