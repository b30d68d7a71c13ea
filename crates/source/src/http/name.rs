//! Name: a target's host, and the addresses it stands for at the moment. Asked by `connect`; shared by all cores.
//!
//! An answer is used as long as its TTL says. Then whoever comes first asks again and all others wait for that one
//! lookup. When DNS fails, the old answer is used on: the addresses most likely still work.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use message::{Error, Kind, Result, Retry};
use tokio::time::Instant;

use super::dns;

/// Bounds of a TTL: a zero must not make a lookup of every connect, and a typo in a zone must heal in a working day.
const TTL: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);
/// How long a failure is answered from memory, so that those who waited for it do not all ask again in turn.
const FAILURE_TTL: Duration = Duration::from_secs(1);

/// Addresses, and how long they may be used.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) addresses: Vec<IpAddr>,
    pub(super) ttl: Duration,
}

/// See the module.
pub(super) struct Name {
    host: Box<str>,
    known: Mutex<Known>,
    /// Held by whoever asks DNS.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    addresses: Option<Arc<[IpAddr]>>,
    failure: Option<Error>,
    /// Until when either of them holds; `None`: never asked, or for ever if there are addresses.
    until: Option<Instant>,
}

impl Known {
    fn for_ever(addresses: &[IpAddr]) -> Self {
        Known { addresses: Some(addresses.into()), failure: None, until: None }
    }

    /// What may be answered without asking.
    fn at(&self, now: Instant) -> Option<Result<Arc<[IpAddr]>>> {
        if self.until.is_some_and(|until| until <= now) {
            return None;
        }
        match (&self.addresses, &self.failure) {
            (Some(addresses), _) => Some(Ok(Arc::clone(addresses))),
            (None, Some(failure)) => Some(Err(failure.clone())),
            (None, None) => None,
        }
    }
}

impl Name {
    /// An address stands for itself; `localhost` and names below it never leave this machine (RFC 6761 §6.3). IPv4
    /// comes first there, since most servers that listen on one address of the loopback listen on that one.
    pub(super) fn new(host: &str) -> Self {
        let below = host.trim_end_matches('.');
        let local = below.eq_ignore_ascii_case("localhost")
            || below.len() > 10 && below.as_bytes()[below.len() - 10..].eq_ignore_ascii_case(b".localhost");
        let known = match host.parse::<IpAddr>() {
            Ok(address) => Known::for_ever(&[address]),
            Err(_) if local => Known::for_ever(&[Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
            Err(_) => Known::default(),
        };
        Name { host: host.into(), known: Mutex::new(known), asking: tokio::sync::Mutex::default() }
    }

    /// The addresses to try, in this order; at least one.
    pub(super) async fn addresses(&self) -> Result<Arc<[IpAddr]>> {
        self.addresses_by(dns::look_up).await
    }

    async fn addresses_by(&self, ask: impl AsyncFnOnce(&str) -> Result<Found>) -> Result<Arc<[IpAddr]>> {
        if let Some(known) = self.known(Instant::now()) {
            return known;
        }
        let _asking = self.asking.lock().await;
        if let Some(known) = self.known(Instant::now()) {
            return known;
        }
        let found = ask(&self.host).await;
        self.learn(found, Instant::now())
    }

    fn known(&self, now: Instant) -> Option<Result<Arc<[IpAddr]>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).at(now)
    }

    fn learn(&self, found: Result<Found>, now: Instant) -> Result<Arc<[IpAddr]>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.and_then(|found| {
            if found.addresses.is_empty() {
                return Err(
                    Error::new(Kind::Resolve, format!("{} has no address", self.host)).retry(Retry::Always)
                );
            }
            Ok(found)
        });
        match found {
            Ok(found) => {
                known.until = Some(now + found.ttl.clamp(*TTL.start(), *TTL.end()));
                known.failure = None;
                Ok(Arc::clone(known.addresses.insert(found.addresses.into())))
            }
            Err(error) => {
                known.until = Some(now + FAILURE_TTL);
                match &known.addresses {
                    Some(addresses) => {
                        tracing::warn!(host = &*self.host, %error, "DNS fails; going on with the addresses known before");
                        Ok(Arc::clone(addresses))
                    }
                    None => Err(known.failure.insert(error).clone()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn found(last: u8, ttl: u64) -> Found {
        Found { addresses: vec![Ipv4Addr::new(10, 0, 0, last).into()], ttl: Duration::from_secs(ttl) }
    }

    fn failed() -> Result<Found> {
        Err(Error::new(Kind::Resolve, "no answer"))
    }

    fn first(addresses: &Result<Arc<[IpAddr]>>) -> String {
        addresses.as_ref().unwrap()[0].to_string()
    }

    async fn never(_: &str) -> Result<Found> {
        panic!("DNS was asked")
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_as_long_as_its_ttl() {
        let name = Name::new("api.example");
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(1, 30))).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(29)).await;
        assert_eq!(first(&name.addresses_by(never).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(2, 30))).await), "10.0.0.2");
    }

    #[tokio::test(start_paused = true)]
    async fn the_old_answer_serves_while_dns_fails() {
        let name = Name::new("api.example");
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(1, 5))).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(first(&name.addresses_by(async |_| failed()).await), "10.0.0.1");
        assert_eq!(first(&name.addresses_by(never).await), "10.0.0.1");
        tokio::time::advance(FAILURE_TTL).await;
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(2, 5))).await), "10.0.0.2");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_remembered_shortly() {
        let name = Name::new("api.example");
        assert_eq!(name.addresses_by(async |_| failed()).await.unwrap_err().kind(), Kind::Resolve);
        assert_eq!(name.addresses_by(never).await.unwrap_err().kind(), Kind::Resolve);
        tokio::time::advance(FAILURE_TTL).await;
        let none = async |_: &str| Ok(Found { addresses: Vec::new(), ttl: Duration::ZERO });
        assert_eq!(name.addresses_by(none).await.unwrap_err().detail(), "api.example has no address");
    }

    #[tokio::test(start_paused = true)]
    async fn lookups_at_the_same_time_are_one() {
        let name = Name::new("api.example");
        let asked = Cell::new(0);
        let ask = async |_: &str| {
            asked.set(asked.get() + 1);
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(found(1, 0))
        };
        let (one, two, three) =
            tokio::join!(name.addresses_by(&ask), name.addresses_by(&ask), name.addresses_by(&ask));
        assert_eq!([first(&one), first(&two), first(&three)], ["10.0.0.1"; 3]);
        assert_eq!(asked.get(), 1);
    }

    #[tokio::test]
    async fn addresses_and_localhost_need_no_dns() {
        for (host, address) in [
            ("10.1.2.3", "10.1.2.3"),
            ("::1", "::1"),
            ("localhost", "127.0.0.1"),
            ("LOCALHOST.", "127.0.0.1"),
            ("api.localhost", "127.0.0.1"),
        ] {
            assert_eq!(first(&Name::new(host).addresses_by(never).await), address);
        }
        let mut asked = false;
        let ask = async |_: &str| {
            asked = true;
            failed()
        };
        assert!(Name::new("notlocalhost").addresses_by(ask).await.is_err());
        assert!(asked);
    }
}
