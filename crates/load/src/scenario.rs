//! Scenario: what to ask, how hard and for how long. Written by whoever wants a figure; read by `run`.

use std::time::Duration;

use http::Method;

use crate::{Error, Think};

/// One load test. Fill in what differs: `Scenario { connections: 200, ..Scenario::new("direct", url) }`.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the report and the tables call it.
    pub name: String,
    /// What to ask for: `http://host[:port]/path`. Each connection walks through those of its host in order, each
    /// from another place, round and round.
    pub urls: Vec<String>,
    /// The method of every request.
    pub method: Method,
    /// Header fields of every request, beside `Host`; a `Host` here replaces it.
    pub fields: Vec<(String, String)>,
    /// The content of every request; `Content-Length` is added when there is any.
    pub body: Vec<u8>,
    /// Connections kept busy, over all threads and hosts.
    pub connections: usize,
    /// Threads that drive them. One is enough for most servers on the same machine.
    pub threads: usize,
    /// Stop after so many requests, warm-up aside; `None`: only after `duration`.
    pub requests: Option<u64>,
    /// Stop after this time in any case, warm-up aside.
    pub duration: Duration,
    /// Ask for so long before counting begins: connections get made and caches filled.
    pub warm_up: Duration,
    /// A request that takes longer has failed.
    pub timeout: Duration,
    /// Users instead of connections kept busy: each begins with the first URL and pauses after the last. `None`: none
    /// pauses.
    pub think: Option<Think>,
}

impl Scenario {
    /// The longest run, warm-up included.
    pub const LONGEST: Duration = Duration::from_hours(1);
    /// The most connections.
    pub const MOST_CONNECTIONS: usize = 50_000;
    /// The most threads.
    pub const MOST_THREADS: usize = 256;
    /// The most URLs.
    pub const MOST_URLS: usize = 1_000_000;

    /// `GET` this URL for ten seconds over 64 connections from one thread.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Scenario {
            name: name.into(),
            urls: vec![url.into()],
            method: Method::GET,
            fields: Vec::new(),
            body: Vec::new(),
            connections: 64,
            threads: 1,
            requests: None,
            duration: Duration::from_secs(10),
            warm_up: Duration::ZERO,
            timeout: Duration::from_secs(30),
            think: None,
        }
    }

    /// The same for `count` URLs: `{key}` in the pattern becomes 0, 1, 2 and so on.
    pub fn distinct_keys(name: impl Into<String>, pattern: &str, count: usize) -> Self {
        let urls = (0..count).map(|key| pattern.replace("{key}", &key.to_string())).collect();
        Scenario { urls, ..Scenario::new(name, "") }
    }

    /// Whether it can be run at all. URLs and fields are looked at when they are turned into requests.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |sentence: String| Err(Error::Scenario(sentence));
        if self.urls.is_empty() || self.urls.len() > Self::MOST_URLS {
            return refuse(format!(
                "{} URLs: between 1 and {} can be asked",
                self.urls.len(),
                Self::MOST_URLS
            ));
        }
        if self.connections == 0 || self.connections > Self::MOST_CONNECTIONS {
            return refuse(format!(
                "{} connections: between 1 and {} are possible",
                self.connections,
                Self::MOST_CONNECTIONS
            ));
        }
        if self.threads == 0 || self.threads > Self::MOST_THREADS {
            return refuse(format!(
                "{} threads: between 1 and {} are possible",
                self.threads,
                Self::MOST_THREADS
            ));
        }
        if self.requests == Some(0) {
            return refuse("0 requests: nothing would be measured".to_owned());
        }
        if self.duration.is_zero() || self.timeout.is_zero() {
            return refuse("the duration and the timeout must be longer than nothing".to_owned());
        }
        if self.think.is_some_and(|think| think.least > think.most || think.most > Self::LONGEST) {
            return refuse(format!(
                "a user pauses from a least to a most of up to {} s",
                Self::LONGEST.as_secs()
            ));
        }
        if self.duration.saturating_add(self.warm_up) > Self::LONGEST {
            return refuse(format!("warm-up and duration together may last {} s", Self::LONGEST.as_secs()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(scenario: Scenario) -> String {
        scenario.check().expect_err("must be refused").to_string()
    }

    #[test]
    fn the_defaults_are_fine() {
        assert!(Scenario::new("plain", "http://127.0.0.1/").check().is_ok());
    }

    #[test]
    fn what_has_no_end_or_no_beginning_is_refused() {
        let plain = Scenario::new("plain", "http://127.0.0.1/");
        assert!(refusal(Scenario { urls: vec![], ..plain.clone() }).contains("0 URLs"));
        assert!(refusal(Scenario { connections: 0, ..plain.clone() }).contains("0 connections"));
        assert!(refusal(Scenario { connections: 1_000_000, ..plain.clone() }).contains("50000"));
        assert!(refusal(Scenario { threads: 0, ..plain.clone() }).contains("0 threads"));
        assert!(refusal(Scenario { requests: Some(0), ..plain.clone() }).contains("0 requests"));
        assert!(refusal(Scenario { duration: Duration::ZERO, ..plain.clone() }).contains("duration"));
        assert!(refusal(Scenario { timeout: Duration::ZERO, ..plain.clone() }).contains("timeout"));
        assert!(refusal(Scenario { warm_up: Duration::MAX, ..plain.clone() }).contains("3600 s"));
        for (least, most) in
            [(Duration::from_secs(2), Duration::from_secs(1)), (Duration::ZERO, Duration::MAX)]
        {
            let think = Some(Think::between(least, most));
            assert!(refusal(Scenario { think, ..plain.clone() }).contains("pauses"), "{least:?} {most:?}");
        }
    }

    #[test]
    fn distinct_keys_are_numbered() {
        let scenario = Scenario::distinct_keys("keys", "http://127.0.0.1/item?id={key}", 3);
        assert_eq!(
            scenario.urls,
            ["http://127.0.0.1/item?id=0", "http://127.0.0.1/item?id=1", "http://127.0.0.1/item?id=2"]
        );
    }
}
