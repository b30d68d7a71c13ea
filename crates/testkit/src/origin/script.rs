//! Script: what an origin does with one request, step by step.

use std::time::Duration;

use crate::Gate;

/// Steps in order. When they are through, the origin reads the next request on the connection, unless told to close.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Drip(Vec<u8>),
    Wait(Gate),
    Pause(Duration),
    Close,
    Reset,
}

impl Script {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends these bytes at once.
    #[must_use]
    pub fn send(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Send(bytes.as_ref().to_vec()))
    }

    /// Sends these bytes one by one, each in its own segment.
    #[must_use]
    pub fn drip(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Drip(bytes.as_ref().to_vec()))
    }

    /// Waits until the test opens the gate.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Waits this long: for origins that are slow as such. Prefer a gate.
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.step(Step::Pause(time))
    }

    /// Closes the connection.
    #[must_use]
    pub fn close(self) -> Self {
        self.step(Step::Close)
    }

    /// Resets the connection, so that the other side sees an error and not an end.
    #[must_use]
    pub fn reset(self) -> Self {
        self.step(Step::Reset)
    }

    /// Then does what this script says.
    #[must_use]
    pub fn then(mut self, next: Script) -> Self {
        self.steps.extend(next.steps);
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

impl<T: AsRef<[u8]>> From<T> for Script {
    fn from(bytes: T) -> Self {
        Script::new().send(bytes)
    }
}

/// A proper answer of this status, say `404 Not Found`; `fields` has one line per field, `body` gets a Content-Length.
pub fn status(status: &str, fields: &str, body: impl AsRef<[u8]>) -> Script {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{}Content-Length: {}\r\n\r\n", lines(fields), body.len());
    Script::from([head.as_bytes(), body].concat())
}

/// A proper `200 OK`.
pub fn ok(fields: &str, body: impl AsRef<[u8]>) -> Script {
    status("200 OK", fields, body)
}

/// A `304 Not Modified` with these fields, one a line.
pub fn not_modified(fields: &str) -> Script {
    Script::from(format!("HTTP/1.1 304 Not Modified\r\n{}\r\n", lines(fields)))
}

/// Fields as tests write them, one a line and indented at will, as they go over the wire.
pub(crate) fn lines(fields: &str) -> String {
    let mut wire = String::new();
    for line in fields.lines().map(str::trim).filter(|line| !line.is_empty()) {
        wire.push_str(line);
        wire.push_str("\r\n");
    }
    wire
}
