//! The two ways to an answer: over HTTP/1.1 a fresh one is given right off the bytes read, over HTTP/2 it takes the
//! longer way. Whatever a policy says holds on both, so most stories of this folder run on each.

use http::Request;
use testkit::{Answer, Fleetfoot, Http2Client};

/// A protocol that clients ask in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Http1,
    Http2,
}

/// What a client asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) host: &'a str,
    pub(crate) target: &'a str,
    /// One a line.
    pub(crate) fields: &'a str,
    pub(crate) content: &'a [u8],
}

impl<'a> Asked<'a> {
    /// `GET` of `example.test`.
    pub(crate) fn get(target: &'a str, fields: &'a str) -> Self {
        Asked { method: "GET", host: "example.test", target, fields, content: b"" }
    }

    fn lines(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lines = self.fields.lines().filter(|line| !line.trim().is_empty());
        let split = |line: &'a str| line.split_once(':').expect("a field has a name and a value");
        lines.map(split).map(|(name, value)| (name.trim(), value.trim()))
    }
}

impl Way {
    /// Asks on a connection of its own.
    pub(crate) fn ask(self, fleetfoot: &Fleetfoot, asked: &Asked<'_>) -> Answer {
        let Asked { method, host, target, content, .. } = *asked;
        match self {
            Way::Http1 => {
                let lines: String =
                    asked.lines().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
                let length = if content.is_empty() {
                    String::new()
                } else {
                    format!("Content-Length: {}\r\n", content.len())
                };
                let head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{lines}{length}\r\n");
                fleetfoot.connect().ask([head.as_bytes(), content].concat())
            }
            Way::Http2 => {
                let mut request = Request::builder().method(method).uri(format!("http://{host}{target}"));
                for (name, value) in asked.lines() {
                    request = request.header(name, value);
                }
                let request = request.body(()).expect("a proper request");
                let mut client = Http2Client::connect(fleetfoot.address());
                client.ask_with(request, content).expect("an answer over HTTP/2")
            }
        }
    }

    /// `GET` with these fields, one a line.
    pub(crate) fn get(self, fleetfoot: &Fleetfoot, target: &str, fields: &str) -> Answer {
        self.ask(fleetfoot, &Asked::get(target, fields))
    }
}

/// Tells the story over HTTP/1.1, then over HTTP/2.
pub(crate) fn each_way(story: impl Fn(Way)) {
    crate::setup::each([("HTTP/1.1", Way::Http1), ("HTTP/2", Way::Http2)], |_, way| story(way));
}
