//! Lines: what a program printed so far, collected by a thread, so that a test can wait for a line.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::DEADLINE;

/// Clones share what was collected.
#[derive(Clone, Debug, Default)]
pub struct Lines(Arc<(Mutex<Collected>, Condvar)>);

#[derive(Debug, Default)]
struct Collected {
    lines: Vec<String>,
    /// The program closed its end: nothing more will come.
    ended: bool,
}

impl Lines {
    /// Collects the lines of this pipe until it ends.
    pub(crate) fn collect(pipe: impl Read + Send + 'static) -> Self {
        let lines = Lines::default();
        let collected = lines.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                collected.change(|collected| collected.lines.push(line));
            }
            collected.change(|collected| collected.ended = true);
        });
        lines
    }

    /// All lines so far.
    pub fn all(&self) -> Vec<String> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }

    /// Waits for the first line that holds this text; gives the line, or nothing at the end or the deadline.
    pub fn wait_for(&self, text: &str) -> Option<String> {
        self.wait_until(|lines| lines.iter().any(|line| line.contains(text)));
        self.all().into_iter().find(|line| line.contains(text))
    }

    /// Waits until there are this many lines, or the end, or the deadline; gives all lines.
    pub fn wait_for_count(&self, count: usize) -> Vec<String> {
        self.wait_until(|lines| lines.len() >= count);
        self.all()
    }

    fn change(&self, change: impl FnOnce(&mut Collected)) {
        change(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.1.notify_all();
    }

    fn wait_until(&self, reached: impl Fn(&[String]) -> bool) {
        let collected = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |collected: &mut Collected| !collected.ended && !reached(&collected.lines);
        let _reached_or_not = self.0.1.wait_timeout_while(collected, DEADLINE, waits);
    }
}
