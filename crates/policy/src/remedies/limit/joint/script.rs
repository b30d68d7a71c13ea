//! Script: Lua that runs in Redis at once, asked for by its digest. In: keys and arguments. Out: the reply. Sent whole only where
//! Redis does not know it yet: that is no second count, since a script that is not known has not run.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use message::Result;
use plan::Algorithm;
use redis_link::{Cmd, Link, Value, cmd, code};

/// See the module.
#[derive(Debug)]
pub(super) struct Script {
    text: &'static str,
    /// In hex, as `EVALSHA` wants it.
    digest: String,
}

macro_rules! counting {
    ($algorithm:literal) => {
        concat!(include_str!("scripts/prologue.lua"), include_str!(concat!("scripts/", $algorithm, ".lua")))
    };
}

impl Script {
    pub(super) fn new(text: &'static str) -> Self {
        let digest = digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
        Script { text, digest: hex(digest.as_ref()) }
    }

    /// What counts a call by this algorithm.
    pub(super) fn counting(algorithm: Algorithm) -> Self {
        Script::new(match algorithm {
            Algorithm::Gcra => counting!("gcra"),
            Algorithm::Fixed => counting!("fixed"),
            Algorithm::Sliding => counting!("sliding"),
        })
    }

    /// What runs.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        self.text
    }

    /// What says that an instance is there.
    pub(super) fn heartbeat() -> Self {
        Script::new(include_str!("scripts/heartbeat.lua"))
    }

    /// Runs it.
    pub(super) async fn run(&self, link: &Link, keys: &[&str], arguments: &[&[u8]]) -> Result<Value> {
        let command = |name, script: &str| -> Cmd {
            let mut command = cmd(name);
            command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
            command
        };
        match link.ask(&command("EVALSHA", &self.digest)).await {
            Err(error) if code(&error) == Some("NOSCRIPT") => link.ask(&command("EVAL", self.text)).await,
            reply => reply,
        }
    }
}

/// Bytes as hex digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text takes whatever is written");
        text
    })
}
