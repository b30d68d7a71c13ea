//! Admin port: asks a running fleetfoot, for `cache` and `explain`. One request a connection, as the port has it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// Where the token may stand, besides in a file.
const TOKEN_VARIABLE: &str = "FLEETFOOT_ADMIN_TOKEN";

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an answer may take that looks through the cache.
pub(crate) const USUAL: Duration = Duration::from_secs(30);

/// Bytes of an answer at most.
const LONGEST_ANSWER: usize = 256 * 1024 * 1024;

/// Where the admin port is, and how to get in.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The admin port of the running fleetfoot.
    #[arg(long, global = true, value_name = "ADDRESS", default_value = DEFAULT, value_parser = address)]
    pub(crate) admin: SocketAddr,
    /// A file with the word of `listen.admin_token`; without one, the variable FLEETFOOT_ADMIN_TOKEN is looked at.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Where `listen.admin` usually is.
pub(crate) const DEFAULT: &str = "127.0.0.1:9090";

/// An address, also as fleetfoot prints it: `http://127.0.0.1:9090`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
    plan::socket_address(bare).map_err(|reason| reason.to_string())
}

/// An admin port.
pub(crate) struct AdminPort {
    address: SocketAddr,
    token: Option<HeaderValue>,
}

impl AdminPort {
    /// Reads the token, if there is one. The error says what to do.
    pub(crate) fn new(arguments: &Arguments) -> Result<Self, String> {
        let variable = || std::env::var(TOKEN_VARIABLE).ok().filter(|word| !word.is_empty());
        let word = match &arguments.token_file {
            Some(file) => Some(read_token(file)?),
            None => variable(),
        };
        let token = word.map(|word| bearer(&word)).transpose()?;
        Ok(AdminPort { address: arguments.admin, token })
    }

    /// `GET` with these parameters. `telling`: names of which the answer has one, or it is not from an admin port.
    pub(crate) fn get(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        telling: &[&str],
    ) -> Result<Value, String> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        self.ask(Method::GET, &target, Bytes::new(), USUAL).and_then(|answer| self.known(answer, telling))
    }

    /// `POST` of this JSON. `telling`: as for [`AdminPort::get`].
    pub(crate) fn post(
        &self,
        path: &str,
        content: &Value,
        longest: Duration,
        telling: &[&str],
    ) -> Result<Value, String> {
        let answer = self.ask(Method::POST, path, content.to_string().into(), longest)?;
        self.known(answer, telling)
    }

    /// On the port of clients somebody's API may answer, with JSON and 200 to all it is asked: that is no success.
    fn known(&self, answer: Value, telling: &[&str]) -> Result<Value, String> {
        if telling.iter().any(|name| answer.get(name).is_some()) {
            return Ok(answer);
        }
        Err(format!(
            "what answers at {} is no admin port of fleetfoot; name the address of `listen.admin` with --admin",
            self.address
        ))
    }

    fn ask(&self, method: Method, target: &str, content: Bytes, longest: Duration) -> Result<Value, String> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("no runtime: {error}"))?;
        let (status, answer) = runtime.block_on(async {
            let exchanged = timeout(longest, self.exchange(method, target, content)).await;
            exchanged
                .map_err(|_| format!("{} did not answer within {} s", self.address, longest.as_secs()))?
        })?;
        self.understand(status, &answer)
    }

    async fn exchange(
        &self,
        method: Method,
        target: &str,
        content: Bytes,
    ) -> Result<(StatusCode, Bytes), String> {
        let stream = match timeout(CONNECT, TcpStream::connect(self.address)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(self.nobody(&error.to_string())),
            Err(_) => return Err(self.nobody("no answer")),
        };
        let stranger = |error: hyper::Error| {
            format!(
                "what answers at {} is no admin port of fleetfoot ({error}); name it with --admin",
                self.address
            )
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(stranger)?;
        let connection = tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header(HOST, self.address.to_string())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let request =
            request.body(Full::new(content)).map_err(|error| format!("this cannot be asked for: {error}"))?;
        let response = sender.send_request(request).await.map_err(stranger)?;
        let status = response.status();
        let content = Limited::new(response.into_body(), LONGEST_ANSWER).collect().await;
        connection.abort();
        let content =
            content.map_err(|error| format!("the answer of {} broke off: {error}", self.address))?;
        Ok((status, content.to_bytes()))
    }

    fn nobody(&self, error: &str) -> String {
        format!(
            "nobody answers at {} ({error}): start fleetfoot, or name the address of its `listen.admin` with --admin",
            self.address
        )
    }

    /// The answer, or what is wrong and what to do.
    fn understand(&self, status: StatusCode, content: &[u8]) -> Result<Value, String> {
        let stranger = || {
            format!(
                "{} answered with {status} and no JSON: it is no admin port of fleetfoot, or an older one; name it with \
                 --admin",
                self.address
            )
        };
        let answer: Value = serde_json::from_slice(content).map_err(|_| stranger())?;
        if status.is_success() {
            return Ok(answer);
        }
        // How requests of clients fail, not those to the admin port.
        if answer["side"].is_string() {
            return Err(format!(
                "{} is where clients ask; name the address of `listen.admin` with --admin",
                self.address
            ));
        }
        let detail = answer["detail"].as_str().ok_or_else(stranger)?;
        let remedy = if status == StatusCode::UNAUTHORIZED {
            format!("; put it into the variable {TOKEN_VARIABLE} or into a file for --token-file")
        } else {
            String::new()
        };
        Err(format!("{}: {detail}{remedy}", status.as_u16()))
    }
}

fn read_token(file: &Path) -> Result<String, String> {
    let word = std::fs::read_to_string(file)
        .map_err(|error| format!("the token cannot be read from {}: {error}", file.display()))?;
    let word = word.trim();
    if word.is_empty() {
        return Err(format!("{} is empty; write the word of `listen.admin_token` into it", file.display()));
    }
    Ok(word.to_owned())
}

fn bearer(word: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(&format!("Bearer {word}")).map_err(|_| {
        "the token has characters that cannot be sent; use letters, digits and `-._~`".to_owned()
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port() -> AdminPort {
        AdminPort { address: "127.0.0.1:9".parse().unwrap(), token: None }
    }

    #[test]
    fn every_fault_says_what_to_do() {
        let fault = |status, content: &str| {
            port().understand(StatusCode::from_u16(status).unwrap(), content.as_bytes()).unwrap_err()
        };
        assert!(fault(401, r#"{"error":"unauthorized","detail":"send it"}"#).contains(TOKEN_VARIABLE));
        let forbidden = fault(403, r#"{"error":"forbidden","detail":"set `listen.admin_token`"}"#);
        assert_eq!(forbidden, "403: set `listen.admin_token`");
        let clients = fault(404, r#"{"error":"no-route","side":"fleetfoot","detail":"no route"}"#);
        assert!(clients.contains("--admin"), "{clients}");
        assert!(fault(200, "<html>").contains("no admin port"));
        assert!(fault(502, "").contains("--admin"));
        assert!(port().nobody("refused").contains("start fleetfoot"));
    }

    #[test]
    fn somebody_elses_good_answer_is_none() {
        let known = |answer: &str| port().known(serde_json::from_str(answer).unwrap(), &["entries"]);
        assert!(known(r#"{"entries":[]}"#).is_ok());
        for answer in ["{}", "1", "[]", r#""entries""#, "null", r#"{"purged":1}"#] {
            assert!(known(answer).unwrap_err().contains("--admin"), "{answer}");
        }
    }

    #[test]
    fn a_good_answer_is_passed_on() {
        let answer = port().understand(StatusCode::OK, br#"{"entries":[]}"#).unwrap();
        assert!(answer["entries"].is_array());
    }

    #[test]
    fn a_token_is_read_and_never_shown() {
        assert!(bearer("a\nb").is_err());
        assert!(!format!("{:?}", bearer("secret").unwrap()).contains("secret"));
        assert!(read_token(Path::new("/nonexistent/token")).unwrap_err().contains("/nonexistent/token"));
    }
}
