//! HttpClient: what benchmarks ask beside the load: to warm caches, to check that answers are right, and of the admin port.
//! A RawClient that tells failures instead of panicking, and for which an answer is a 200 unless said otherwise.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use testkit::{Answer, RawClient};

use crate::failure::{Failure, Result, fail};

/// How long an answer may let wait for its next bytes.
const DEADLINE: Duration = Duration::from_secs(10);

/// One kept connection.
pub(crate) struct HttpClient {
    client: RawClient,
    host: SocketAddr,
}

impl HttpClient {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        Ok(HttpClient { client: RawClient::try_connect(address)?.deadline(DEADLINE), host: address })
    }

    /// Asks for this target; gives the content.
    pub(crate) fn get(&mut self, target: &str) -> Result<Vec<u8>> {
        Ok(self.ask(target, &[])?.body)
    }

    /// Asks for this target with these fields.
    pub(crate) fn ask(&mut self, target: &str, fields: &[(&str, &str)]) -> Result<Answer> {
        self.exchange("GET", target, fields, "").and_then(of_success)
    }

    /// The same; gives the JSON in the answer.
    pub(crate) fn ask_json(&mut self, target: &str, fields: &[(&str, &str)]) -> Result<Value> {
        json(&self.ask(target, fields)?)
    }

    /// Asks for this target; gives the answer, whatever its status.
    pub(crate) fn ask_for_any(&mut self, target: &str) -> Result<Answer> {
        self.exchange("GET", target, &[], "")
    }

    /// Posts JSON; gives the JSON in the answer.
    pub(crate) fn post(&mut self, target: &str, content: &Value) -> Result<Value> {
        self.write("POST", target, content)
    }

    /// Puts JSON; gives the JSON in the answer.
    pub(crate) fn put(&mut self, target: &str, content: &Value) -> Result<Value> {
        self.write("PUT", target, content)
    }

    /// Asks for all of these at once.
    pub(crate) fn send(&mut self, targets: &[impl AsRef<str>]) -> Result<()> {
        let mut requests = String::new();
        for target in targets {
            for part in ["GET ", target.as_ref(), " HTTP/1.1\r\nHost: ", &self.host.to_string(), "\r\n\r\n"] {
                requests.push_str(part);
            }
        }
        Ok(self.client.try_send(requests)?)
    }

    /// Reads the next answer; gives its content.
    pub(crate) fn receive(&mut self) -> Result<Vec<u8>> {
        Ok(of_success(self.client.try_read_answer()?)?.body)
    }

    fn write(&mut self, method: &str, target: &str, content: &Value) -> Result<Value> {
        let content = content.to_string();
        let length = content.len().to_string();
        let fields = [("Content-Type", "application/json"), ("Content-Length", &length)];
        json(&of_success(self.exchange(method, target, &fields, &content)?)?)
    }

    fn exchange(
        &mut self,
        method: &str,
        target: &str,
        fields: &[(&str, &str)],
        content: &str,
    ) -> Result<Answer> {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for (name, value) in fields {
            for part in [name, ": ", value, "\r\n"] {
                request.push_str(part);
            }
        }
        request.push_str("\r\n");
        request.push_str(content);
        self.client.try_send(request)?;
        Ok(self.client.try_read_answer()?)
    }
}

fn of_success(answer: Answer) -> Result<Answer> {
    if answer.status == 200 {
        return Ok(answer);
    }
    let said: String = answer.text().chars().take(300).collect();
    fail(format!("not a 200 but {} {said}", answer.head.start))
}

fn json(answer: &Answer) -> Result<Value> {
    serde_json::from_slice(&answer.body).map_err(|error| Failure(format!("no JSON: {error}")))
}
