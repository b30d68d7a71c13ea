//! Target: one host with the bytes of every request it will be sent, made once so that asking copies nothing.
//!
//! A scenario's URLs come in, targets go out; called by `run` before the first thread starts.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use http::uri::{Scheme, Uri};
use http::{HeaderName, HeaderValue, Method, header};

use crate::{Error, Scenario};

/// How long the first connection to a host may take.
const REACH: Duration = Duration::from_secs(5);

/// Where to connect to, and what to send there.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Requests,
}

/// Request heads and contents, one behind another.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    /// How many there are; never zero.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of one.
    pub(crate) fn get(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[start..self.ends[place]]
    }
}

/// Reads every URL, finds an address that answers for each host, and writes the requests.
pub(crate) fn targets(scenario: &Scenario) -> Result<Vec<Target>, Error> {
    let fields = Fields::check(scenario)?;
    let mut by_authority = HashMap::new();
    let mut targets = Vec::new();
    for text in &scenario.urls {
        let url = Url::read(text)?;
        let place = if let Some(place) = by_authority.get(&url.authority) {
            *place
        } else {
            targets.push(Target { address: reach(&url)?, requests: Requests::default() });
            by_authority.insert(url.authority.clone(), targets.len() - 1);
            targets.len() - 1
        };
        let requests: &mut Requests = &mut targets[place].requests;
        fields.write_request(&url, scenario, &mut requests.bytes);
        requests.ends.push(requests.bytes.len());
    }
    if targets.len() > scenario.connections {
        return Err(Error::Scenario(format!(
            "{} hosts need at least as many connections, not {}",
            targets.len(),
            scenario.connections
        )));
    }
    Ok(targets)
}

/// A URL in the parts a request needs.
struct Url {
    authority: String,
    host: String,
    port: u16,
    path: String,
}

impl Url {
    fn read(text: &str) -> Result<Self, Error> {
        let refuse =
            |why: &str| Error::Scenario(format!("{text:?} {why}; write it like http://127.0.0.1:8080/path"));
        let uri: Uri = text.parse().map_err(|_| refuse("is not a URL"))?;
        match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => {}
            Some(_) => return Err(refuse("is not http, all this load generator speaks")),
            None => return Err(refuse("has no scheme")),
        }
        let authority = uri.authority().ok_or_else(|| refuse("has no host"))?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(refuse("has no plain host"));
        }
        let port = if authority.as_str().len() == authority.host().len() {
            80
        } else {
            authority.port_u16().ok_or_else(|| refuse("has a port out of range"))?
        };
        Ok(Url {
            authority: authority.as_str().to_owned(),
            host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            path: uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        })
    }
}

/// The first address of the host that takes a connection.
fn reach(url: &Url) -> Result<SocketAddr, Error> {
    let unreachable = |cause| Error::Unreachable { authority: url.authority.clone(), cause };
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (url.host.as_str(), url.port).to_socket_addrs().map_err(unreachable)? {
        match TcpStream::connect_timeout(&address, REACH) {
            Ok(_) => return Ok(address),
            Err(cause) => failure = cause,
        }
    }
    Err(unreachable(failure))
}

/// The scenario's fields, known to be well formed.
struct Fields {
    lines: Vec<u8>,
    has_host: bool,
}

impl Fields {
    fn check(scenario: &Scenario) -> Result<Self, Error> {
        let mut fields = Fields { lines: Vec::new(), has_host: false };
        for (name, value) in &scenario.fields {
            let refuse = |why: &str| Error::Scenario(format!("the field {name:?} {why}"));
            let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse("is not a field name"))?;
            HeaderValue::from_str(value)
                .map_err(|_| refuse("has bytes in its value that must not be there"))?;
            if known == header::CONTENT_LENGTH || known == header::TRANSFER_ENCODING {
                return Err(refuse("is set from the content, not by hand"));
            }
            fields.has_host |= known == header::HOST;
            fields.lines.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        Ok(fields)
    }

    fn write_request(&self, url: &Url, scenario: &Scenario, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{} {} HTTP/1.1\r\n", scenario.method, url.path).as_bytes());
        if !self.has_host {
            out.extend_from_slice(format!("Host: {}\r\n", url.authority).as_bytes());
        }
        out.extend_from_slice(&self.lines);
        let expects_content = [Method::POST, Method::PUT, Method::PATCH].contains(&scenario.method);
        if expects_content || !scenario.body.is_empty() {
            out.extend_from_slice(format!("Content-Length: {}\r\n", scenario.body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&scenario.body);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn refusal(url: &str) -> String {
        targets(&Scenario::new("refused", url)).expect_err(url).to_string()
    }

    #[test]
    fn urls_that_cannot_be_asked_are_refused_with_a_remedy() {
        for url in
            ["", "127.0.0.1", "/path", "https://127.0.0.1/", "http://", "http://user@127.0.0.1/", "a b"]
        {
            assert!(refusal(url).contains("write it like http://"), "{url}: {}", refusal(url));
        }
        assert!(refusal("http://127.0.0.1:99999/").contains("write it like"));
    }

    #[test]
    fn a_host_where_nothing_listens_is_named() {
        let refusal = refusal("http://127.0.0.1:1/"); // nobody uses that port
        assert!(refusal.contains("cannot connect to 127.0.0.1:1: "), "{refusal}");
    }

    #[test]
    fn requests_are_written_once_and_grouped_by_host() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [one, two] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let scenario = Scenario {
            urls: vec![format!("http://{one}"), format!("http://{two}/b?c=d"), format!("http://{one}/a")],
            fields: vec![("Accept".to_owned(), "*/*".to_owned())],
            ..Scenario::new("two hosts", "")
        };
        let targets = targets(&scenario).unwrap();
        assert_eq!(targets.len(), 2);
        assert_eq!(targets[0].requests.len(), 2);
        let first = format!("GET / HTTP/1.1\r\nHost: {one}\r\nAccept: */*\r\n\r\n");
        let second = format!("GET /a HTTP/1.1\r\nHost: {one}\r\nAccept: */*\r\n\r\n");
        let other = format!("GET /b?c=d HTTP/1.1\r\nHost: {two}\r\nAccept: */*\r\n\r\n");
        assert_eq!(targets[0].requests.get(0), first.as_bytes());
        assert_eq!(targets[0].requests.get(1), second.as_bytes());
        assert_eq!(targets[1].requests.get(0), other.as_bytes());
        let crowded = Scenario { connections: 1, ..scenario };
        assert!(super::targets(&crowded).expect_err("two hosts").to_string().contains("2 hosts need"));
    }

    #[test]
    fn content_is_framed_and_a_host_field_replaces_ours() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scenario = Scenario {
            method: Method::POST,
            body: b"hello".to_vec(),
            fields: vec![("host".to_owned(), "example.com".to_owned())],
            ..Scenario::new("post", format!("http://{}/in", listener.local_addr().unwrap()))
        };
        let expected = "POST /in HTTP/1.1\r\nhost: example.com\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(targets(&scenario).unwrap()[0].requests.get(0), expected.as_bytes());
    }

    #[test]
    fn fields_that_would_break_the_request_are_refused() {
        for (name, value) in [("a b", "c"), ("", "c"), ("a", "b\r\nc: d"), ("Content-Length", "3")] {
            let fields = vec![(name.to_owned(), value.to_owned())];
            let scenario = Scenario { fields, ..Scenario::new("fields", "http://127.0.0.1/") };
            assert!(matches!(targets(&scenario), Err(Error::Scenario(_))), "{name}: {value}");
        }
    }
}
