//! Name: a target's host, and the addresses it stands for at the moment. Asked by `connect`; shared by all cores.
//!
//! An answer is used as long as its TTL says. Then whoever comes first has it looked up again, in the background and with
//! a time limit of its own: as long as DNS is slow, silent or failing, the old answer is used on, since the addresses most
//! likely still work. Only where nothing is known yet does anybody wait for the whole lookup.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use message::{Error, Kind, Result, Retry};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::dns;

/// Bounds of a TTL: a zero must not make a lookup of every connect, and a typo in a zone must heal in a working day.
const TTL: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);
/// How long a failure is answered from memory, so that those who waited for it do not all ask again in turn.
const FAILURE_TTL: Duration = Duration::from_secs(1);
/// What a lookup may take, whatever servers and repeats the system's configuration names.
const LOOKUP: Duration = Duration::from_secs(5);
/// How long whoever has a lookup made waits for something newer than the last good answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long an address stays the name's after the last answer that had it: names with many addresses tell of others each
/// time, and connections must not end for that.
const LINGER: Duration = Duration::from_secs(30);
/// Addresses remembered so; of more, the longest unseen are forgotten.
const MOST_SEEN: usize = 256;

/// Addresses, and how long they may be used.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) addresses: Vec<IpAddr>,
    pub(super) ttl: Duration,
}

/// See the module.
pub(super) struct Name {
    host: Box<str>,
    known: Mutex<Known>,
    /// Held by whoever asks DNS.
    asking: Arc<tokio::sync::Mutex<()>>,
    /// Whether connections to it may have to end: false for what never changes.
    is_looked_up: bool,
}

#[derive(Default)]
struct Known {
    addresses: Option<Arc<[IpAddr]>>,
    failure: Option<Error>,
    /// Whether the last lookup failed.
    is_failing: bool,
    /// Whether the last lookup took longer than anybody waits for it.
    is_slow: bool,
    /// When each address was last in an answer.
    seen: Vec<(IpAddr, Instant)>,
    /// Until when either of them holds; `None`: never asked, or for ever if there are addresses.
    until: Option<Instant>,
}

impl Known {
    fn for_ever(addresses: &[IpAddr]) -> Self {
        Known { addresses: Some(addresses.into()), ..Known::default() }
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

impl Known {
    fn see(&mut self, addresses: &[IpAddr], now: Instant) {
        self.seen.retain(|(address, at)| {
            !addresses.contains(address) && now.saturating_duration_since(*at) < LINGER
        });
        self.seen.extend(addresses.iter().map(|&address| (address, now)));
        let spare = self.seen.len().saturating_sub(MOST_SEEN);
        self.seen.drain(..spare);
    }
}

async fn within_limit(host: &str, ask: impl AsyncFnOnce(&str) -> Result<Resolved>) -> Result<Resolved> {
    tokio::time::timeout(LOOKUP, ask(host)).await.unwrap_or_else(|_| {
        let detail = format!("looking up the name {host} took longer than {LOOKUP:?}");
        Err(Error::new(Kind::Resolve, detail).retry(Retry::Always))
    })
}

impl Name {
    /// An address stands for itself; `localhost` and names below it never leave this machine (RFC 6761 §6.3). IPv4
    /// comes first there, since most servers that listen on one address of the loopback listen on that one.
    pub(super) fn new(host: &str) -> Arc<Self> {
        let below = host.trim_end_matches('.');
        let local = below.eq_ignore_ascii_case("localhost")
            || below.len() > 10 && below.as_bytes()[below.len() - 10..].eq_ignore_ascii_case(b".localhost");
        let known = match host.parse::<IpAddr>() {
            Ok(address) => Known::for_ever(&[address]),
            Err(_) if local => Known::for_ever(&[Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
            Err(_) => Known::default(),
        };
        let is_looked_up = known.addresses.is_none();
        Arc::new(Name { host: host.into(), known: Mutex::new(known), asking: Arc::default(), is_looked_up })
    }

    /// The addresses to try, in this order; at least one.
    pub(super) async fn addresses(self: &Arc<Self>) -> Result<Arc<[IpAddr]>> {
        self.addresses_by(async |host: &str| dns::look_up(host).await).await
    }

    /// Has it looked up again where that is due, without waiting.
    pub(super) fn see_to(self: &Arc<Self>) {
        if self.known(Instant::now()).is_none() {
            drop(self.look_up_again(async |host: &str| dns::look_up(host).await));
        }
    }

    /// Whether a connection to this address leads to where the name does.
    pub(super) fn stands_for(&self, address: IpAddr, now: Instant) -> bool {
        if !self.is_looked_up {
            return true;
        }
        let known = self.lock();
        known.addresses.as_ref().is_some_and(|addresses| addresses.contains(&address))
            || known
                .seen
                .iter()
                .any(|(seen, at)| *seen == address && now.saturating_duration_since(*at) < LINGER)
    }

    async fn addresses_by(
        self: &Arc<Self>,
        ask: impl AsyncFnOnce(&str) -> Result<Resolved> + 'static,
    ) -> Result<Arc<[IpAddr]>> {
        if let Some(known) = self.known(Instant::now()) {
            return known;
        }
        let (last_good, is_slow) = {
            let known = self.lock();
            (known.addresses.clone(), known.is_slow)
        };
        let Some(last_good) = last_good else {
            let _asking = self.asking.lock().await;
            if let Some(known) = self.known(Instant::now()) {
                return known;
            }
            let found = within_limit(&self.host, ask).await;
            return self.learn(found, Instant::now());
        };
        if let Some(lookup) = self.look_up_again(ask)
            && !is_slow
            && let Ok(Ok(learned)) = tokio::time::timeout(PATIENCE, lookup).await
        {
            return learned;
        }
        Ok(last_good)
    }

    /// In the background, on this core. `None`: somebody does already.
    fn look_up_again(
        self: &Arc<Self>,
        ask: impl AsyncFnOnce(&str) -> Result<Resolved> + 'static,
    ) -> Option<JoinHandle<Result<Arc<[IpAddr]>>>> {
        let asking = Arc::clone(&self.asking).try_lock_owned().ok()?;
        let name = Arc::clone(self);
        Some(tokio::task::spawn_local(async move {
            let begun = Instant::now();
            let found = within_limit(&name.host, ask).await;
            let now = Instant::now();
            name.lock().is_slow = now.saturating_duration_since(begun) > PATIENCE;
            let learned = name.learn(found, now);
            drop(asking);
            learned
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, now: Instant) -> Option<Result<Arc<[IpAddr]>>> {
        self.lock().at(now)
    }

    fn learn(&self, found: Result<Resolved>, now: Instant) -> Result<Arc<[IpAddr]>> {
        let mut known = self.lock();
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
                if std::mem::take(&mut known.is_failing) {
                    tracing::info!(host = &*self.host, "DNS answers again");
                }
                known.see(&found.addresses, now);
                Ok(Arc::clone(known.addresses.insert(found.addresses.into())))
            }
            Err(error) => {
                known.until = Some(now + FAILURE_TTL);
                let was_failing = std::mem::replace(&mut known.is_failing, true);
                match &known.addresses {
                    Some(addresses) => {
                        if !was_failing {
                            tracing::warn!(host = &*self.host, %error, "DNS fails; going on with the addresses known before");
                        }
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
    use std::rc::Rc;

    use super::*;

    fn found(last: u8, ttl: u64) -> Resolved {
        Resolved { addresses: vec![Ipv4Addr::new(10, 0, 0, last).into()], ttl: Duration::from_secs(ttl) }
    }

    fn failed() -> Result<Resolved> {
        Err(Error::new(Kind::Resolve, "no answer"))
    }

    fn first(addresses: &Result<Arc<[IpAddr]>>) -> String {
        addresses.as_ref().unwrap()[0].to_string()
    }

    async fn never(_: &str) -> Result<Resolved> {
        panic!("DNS was asked")
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn an_answer_holds_as_long_as_its_ttl() {
        let name = Name::new("api.example");
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(1, 30))).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(29)).await;
        assert_eq!(first(&name.addresses_by(never).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(2, 30))).await), "10.0.0.2");
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn the_old_answer_serves_while_dns_fails() {
        let name = Name::new("api.example");
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(1, 5))).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(first(&name.addresses_by(async |_| failed()).await), "10.0.0.1");
        assert_eq!(first(&name.addresses_by(never).await), "10.0.0.1");
        tokio::time::advance(FAILURE_TTL).await;
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(2, 5))).await), "10.0.0.2");
    }

    async fn silent(_: &str) -> Result<Resolved> {
        std::future::pending().await
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn a_silent_resolver_holds_up_one_request_and_that_shortly() {
        let name = Name::new("api.example");
        assert_eq!(first(&name.addresses_by(async |_| Ok(found(1, 5))).await), "10.0.0.1");
        tokio::time::advance(Duration::from_secs(5)).await;
        let begun = Instant::now();
        assert_eq!(first(&name.addresses_by(silent).await), "10.0.0.1");
        assert_eq!(begun.elapsed(), PATIENCE);
        for _ in 0..20 {
            let begun = Instant::now();
            assert_eq!(first(&name.addresses_by(silent).await), "10.0.0.1");
            assert_eq!(begun.elapsed(), Duration::ZERO);
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        // It answers again: whoever comes next finds what is new.
        tokio::time::sleep(LOOKUP + FAILURE_TTL).await;
        name.addresses_by(async |_| Ok(found(2, 60))).await.unwrap();
        tokio::task::yield_now().await;
        assert_eq!(first(&name.addresses_by(never).await), "10.0.0.2");
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn without_any_answer_a_lookup_ends_in_time() {
        let begun = Instant::now();
        let error = Name::new("api.example").addresses_by(silent).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed()), (Kind::Resolve, LOOKUP));
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn connections_follow_a_name_that_moved_and_not_one_that_turns() {
        let (name, before) = (Name::new("api.example"), Ipv4Addr::new(10, 0, 0, 1).into());
        name.addresses_by(async |_| Ok(found(1, 5))).await.unwrap();
        assert!(name.stands_for(before, Instant::now()));
        tokio::time::advance(Duration::from_secs(5)).await;
        name.addresses_by(async |_| Ok(found(2, 60))).await.unwrap();
        assert!(name.stands_for(before, Instant::now()), "it may come back with the next answer");
        tokio::time::advance(LINGER).await;
        assert!(!name.stands_for(before, Instant::now()));
        assert!(Name::new("10.1.2.3").stands_for(before, Instant::now()), "an address never moves");
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn a_failure_is_remembered_shortly() {
        let name = Name::new("api.example");
        assert_eq!(name.addresses_by(async |_| failed()).await.unwrap_err().kind(), Kind::Resolve);
        assert_eq!(name.addresses_by(never).await.unwrap_err().kind(), Kind::Resolve);
        tokio::time::advance(FAILURE_TTL).await;
        let none = async |_: &str| Ok(Resolved { addresses: Vec::new(), ttl: Duration::ZERO });
        assert_eq!(name.addresses_by(none).await.unwrap_err().detail(), "api.example has no address");
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn lookups_at_the_same_time_are_one() {
        let name = Name::new("api.example");
        let asked = Rc::new(Cell::new(0));
        let ask = || {
            let asked = Rc::clone(&asked);
            async move |_: &str| {
                asked.set(asked.get() + 1);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(found(1, 0))
            }
        };
        let (one, two, three) =
            tokio::join!(name.addresses_by(ask()), name.addresses_by(ask()), name.addresses_by(ask()));
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
        let ask = async |_: &str| failed();
        assert!(Name::new("notlocalhost").addresses_by(ask).await.is_err());
    }
}
