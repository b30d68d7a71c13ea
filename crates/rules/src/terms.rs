//! Terms: what an entry must remember to decide on its own reuse (RFC 9111 §4; RFC 5861).
//!
//! [`Terms::of`] is asked once, when an answer arrives; the rest on every lookup, so it is arithmetic on a few numbers.

mod stored;

use std::time::Duration;

use http::StatusCode;
use message::Timestamp;

use crate::{
    Exchange, NotStored, Policy, RequestDirectives, ResponseDirectives, age, etag, freshness, permission,
    seconds, status,
};

/// How long after its end an answer may be served because the origin cannot be reached, where nobody says (RFC 9111
/// §4.2.4 leaves it to us): what is older than a day is not what anybody expects.
pub const LONGEST_DISCONNECTED: Duration = Duration::from_hours(24);
/// How long tiers keep an answer that can only be served once the origin has confirmed it.
pub const LONGEST_UNCONFIRMED: Duration = Duration::from_mins(10);

/// The terms on which a stored answer may be reused. All times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    received_at: Timestamp,
    initial_age: u64,
    lifetime: u64,
    stale_while_revalidate: u64,
    stale_if_error: u64,
    rules: Rules,
}

/// What the answer's directives demand or allow, apart from times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules(u8);

impl Rules {
    /// `no-cache`: validate before every use.
    const ALWAYS_VALIDATE: u8 = 1;
    /// `must-revalidate` or `proxy-revalidate`: never stale, whoever allows it.
    const NEVER_STALE: u8 = 2;
    /// `s-maxage`: stale only in the windows that the answer itself opens.
    const STALE_AS_STATED: u8 = 4;
    /// Requests with `Authorization` may be answered (RFC 9111 §3.5).
    const SHARED_WITH_AUTHORIZED: u8 = 8;
    /// `stale_if_error` was stated or configured, so it bounds disconnected use as well.
    const ERROR_WINDOW_KNOWN: u8 = 16;
    /// It has a validator, so that the origin can be asked whether it still holds.
    const HAS_VALIDATOR: u8 = 32;

    fn of(exchange: &Exchange<'_>, directives: &ResponseDirectives, policy: &Policy) -> Self {
        let mut rules = 0;
        let mut set = |rule: u8, holds: bool| rules |= if holds { rule } else { 0 };
        set(Rules::ALWAYS_VALIDATE, directives.always_validate());
        set(
            Rules::NEVER_STALE,
            directives.must_revalidate
                || directives.proxy_revalidate
                || status::can_be_provoked(exchange.status),
        );
        set(Rules::STALE_AS_STATED, directives.s_maxage.is_some());
        set(Rules::SHARED_WITH_AUTHORIZED, exchange.personal || permission::allows_authorized(directives));
        set(
            Rules::ERROR_WINDOW_KNOWN,
            directives.stale_if_error.is_some() || policy.stale_if_error.is_some(),
        );
        set(Rules::HAS_VALIDATOR, etag::has_validator(exchange.response));
        Rules(rules)
    }

    const fn has(self, rule: u8) -> bool {
        self.0 & rule != 0
    }

    /// Whether no window of any kind may be open.
    const fn forbids_windows(self) -> bool {
        self.has(Rules::ALWAYS_VALIDATE | Rules::NEVER_STALE)
    }

    /// Whether stale use is out that the answer itself has not allowed.
    const fn forbids_unstated_staleness(self) -> bool {
        self.has(Rules::ALWAYS_VALIDATE | Rules::NEVER_STALE | Rules::STALE_AS_STATED)
    }
}

/// What to do with a stored answer for a request (RFC 9111 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Serve it.
    Fresh,
    /// Serve it although stale: the client allows that (`max-stale`, §5.2.1.2).
    Stale,
    /// Serve it although stale, and refresh it in the background (RFC 5861 §3).
    StaleWhileRevalidate,
    /// Ask the origin first.
    Validate(Why),
    /// Neither serve nor validate: the request carries `Authorization` and the answer does not allow sharing (§3.5).
    NotForThisRequest,
}

/// Why the origin must be asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Its lifetime is over.
    Stale,
    /// The answer says `no-cache`.
    NoCache,
    /// The request says `no-cache`, or `Pragma: no-cache`.
    RequestNoCache,
    /// It is older than the request's `max-age`.
    RequestMaxAge,
    /// It is not fresh for as long as the request's `min-fresh` asks.
    RequestMinFresh,
}

impl Why {
    /// One word, for logs, metrics and `Cache-Status`.
    pub const fn word(&self) -> &'static str {
        match self {
            Why::Stale => "stale",
            Why::NoCache => "no-cache",
            Why::RequestNoCache => "request-no-cache",
            Why::RequestMaxAge => "request-max-age",
            Why::RequestMinFresh => "request-min-fresh",
        }
    }

    /// Whether the client asked for it, rather than the answer's own terms.
    pub const fn is_client(&self) -> bool {
        matches!(self, Why::RequestNoCache | Why::RequestMaxAge | Why::RequestMinFresh)
    }
}

impl Terms {
    /// Whether the answer may be stored by a shared cache (RFC 9111 §3), and on which terms. The error is the reason
    /// why not. Pass the answer's fields as received, before [`storable_fields`](crate::storable_fields).
    pub fn of(exchange: &Exchange<'_>, policy: &Policy) -> Result<Terms, NotStored> {
        if exchange.status == StatusCode::PARTIAL_CONTENT {
            return Err(NotStored::PartialContent);
        }
        Terms::of_final(exchange, policy)
    }

    /// The same for a 206, for a cache that stores parts (RFC 9111 §3.3). Any other status: see [`Terms::of`].
    ///
    /// Whether the part itself is sound, see [`ContentRange`](crate::ContentRange).
    pub fn of_partial(exchange: &Exchange<'_>, policy: &Policy) -> Result<Terms, NotStored> {
        Terms::of_final(exchange, policy)
    }

    fn of_final(exchange: &Exchange<'_>, policy: &Policy) -> Result<Terms, NotStored> {
        let said = ResponseDirectives::of(exchange.response, &policy.targeted);
        permission::check(exchange, &said, policy)?;
        let lifetime = freshness::lifetime(exchange, &said, policy);
        let heeded = if policy.forces(exchange) { ResponseDirectives::default() } else { said };
        let lifetime = match lifetime {
            Some((lifetime, _)) => lifetime,
            // Without a lifetime, but the origin says itself how to go about it: keep it and ask each time.
            None if heeded.always_validate()
                && status::may_get_a_lifetime(exchange.status, heeded.public) =>
            {
                Duration::ZERO
            }
            None => return Err(NotStored::NoLifetime),
        };
        let open = |stated, configured| {
            // What a client may have brought about ends when its minute is over.
            if status::can_be_provoked(exchange.status) { 0 } else { window(&heeded, stated, configured) }
        };
        let terms = Terms {
            received_at: exchange.received_at,
            initial_age: seconds::millis(age::initial(exchange)),
            lifetime: seconds::millis(lifetime),
            stale_while_revalidate: open(heeded.stale_while_revalidate, Some(policy.stale_while_revalidate)),
            stale_if_error: open(heeded.stale_if_error, policy.stale_if_error),
            rules: Rules::of(exchange, &heeded, policy),
        };
        if terms.can_be_reused() || terms.rules.has(Rules::HAS_VALIDATOR) {
            Ok(terms)
        } else {
            Err(NotStored::NothingToReuse)
        }
    }

    /// Whether there is any moment at which it may be served without asking the origin.
    fn can_be_reused(&self) -> bool {
        !self.rules.has(Rules::ALWAYS_VALIDATE)
            && self.lifetime.max(self.stale_while_revalidate).max(self.stale_if_error) > 0
    }

    /// `current_age` (RFC 9111 §4.2.3) in whole seconds, for the `Age` field. At most 2^31.
    pub fn age(&self, now: Timestamp) -> u32 {
        seconds::clamp(self.age_millis(now) / 1000)
    }

    /// How long after it was made the answer is fresh (`freshness_lifetime`, RFC 9111 §4.2.1).
    pub fn lifetime(&self) -> Duration {
        Duration::from_millis(self.lifetime)
    }

    /// Lifetime less age in whole seconds, negative when stale, also for less than a second: `ttl` of `Cache-Status`
    /// (RFC 9211 §2.4). Both are cut to seconds first, so that it agrees with the `Age` that goes with it.
    pub fn fresh_for(&self, now: Timestamp) -> i64 {
        let left = i64::from(seconds::clamp(self.lifetime / 1000)) - i64::from(self.age(now));
        if self.is_fresh(now) { left } else { left.min(-1) }
    }

    /// `response_is_fresh` (RFC 9111 §4.2). Says nothing on whether `no-cache` demands validation all the same.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.age_millis(now) < self.lifetime
    }

    /// How much of the freshness it arrived with is left, from 1 to 0: for refreshing it early.
    ///
    /// Not of the whole lifetime: an answer that comes out of another cache with most of its lifetime gone would be
    /// refreshed at once, and again, and would come back as old as before.
    pub fn fresh_share_left(&self, now: Timestamp) -> f64 {
        let on_arrival = self.lifetime.saturating_sub(self.initial_age);
        let left = self.lifetime.saturating_sub(self.age_millis(now));
        if on_arrival == 0 {
            return 0.0;
        }
        Duration::from_millis(left).as_secs_f64() / Duration::from_millis(on_arrival).as_secs_f64()
    }

    /// With this share, from 0 to 1, taken off the freshness it arrived with, so that what was stored together does not
    /// go stale together. Never all of it: what arrived fresh stays fresh for a millisecond at least.
    #[must_use]
    pub fn shortened(self, share: f64) -> Self {
        let on_arrival = self.lifetime.saturating_sub(self.initial_age);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let off = Duration::from_millis(on_arrival).mul_f64(share).as_millis();
        let most = on_arrival.saturating_sub(1);
        let off = u64::try_from(off).map_or(most, |off| off.min(most));
        Terms { lifetime: self.lifetime - off, ..self }
    }

    /// Stale from `at` on, as if its lifetime had been over then; what was stale by then stays as stale as it is. All
    /// else holds as before: windows count from `at`, and who must revalidate still must.
    #[must_use]
    pub fn softened(self, at: Timestamp) -> Self {
        Terms { lifetime: self.lifetime.min(self.age_millis(at)), ..self }
    }

    /// When the answer had arrived.
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }

    /// What to do with the stored answer for this request (RFC 9111 §4). `authorized`: the request carries
    /// `Authorization`.
    pub fn reuse(&self, request: &RequestDirectives, authorized: bool, now: Timestamp) -> Reuse {
        if authorized && !self.rules.has(Rules::SHARED_WITH_AUTHORIZED) {
            return Reuse::NotForThisRequest;
        }
        if self.rules.has(Rules::ALWAYS_VALIDATE) {
            return Reuse::Validate(Why::NoCache);
        }
        if let Some(why) = self.refused_by(request, now) {
            return Reuse::Validate(why);
        }
        let Some(staleness) = self.staleness(now) else {
            return Reuse::Fresh;
        };
        // A window comes before max-stale: both serve at once, but only the window refreshes the entry.
        if staleness < self.stale_while_revalidate {
            return Reuse::StaleWhileRevalidate;
        }
        if request.max_stale.is_some() && !self.rules.forbids_unstated_staleness() {
            return Reuse::Stale; // how stale, refused_by has looked at
        }
        Reuse::Validate(Why::Stale)
    }

    /// Whether the stale answer may stand in for an error status: 500, 502, 503 or 504 (RFC 5861 §4).
    pub fn may_serve_on_error(&self, request: &RequestDirectives, now: Timestamp) -> bool {
        if self.rules.forbids_windows() || self.refused_by(request, now).is_some() {
            return false;
        }
        // A window that is known to be none is none for those as well who would wait for nothing.
        let is_open = !self.rules.has(Rules::ERROR_WINDOW_KNOWN) || self.stale_if_error > 0;
        let window = match request.stale_if_error {
            Some(seconds) if is_open && !self.rules.forbids_unstated_staleness() => u64::from(seconds) * 1000,
            _ => self.stale_if_error,
        };
        self.staleness(now).is_none_or(|staleness| staleness < window)
    }

    /// Whether the stale answer may be served because the origin cannot be reached (RFC 9111 §4.2.4): not when
    /// `must-revalidate`, `proxy-revalidate`, `s-maxage` or `no-cache` forbid it, nor against the client's word.
    ///
    /// Where `stale-if-error` is known it bounds this too: it says what the origin thinks is bearable, and a broken
    /// connection is an error (RFC 5861 §4). Otherwise [`LONGEST_DISCONNECTED`] does.
    pub fn may_serve_disconnected(&self, request: &RequestDirectives, now: Timestamp) -> bool {
        if self.may_serve_on_error(request, now) {
            return true;
        }
        !self.rules.forbids_unstated_staleness()
            && !self.rules.has(Rules::ERROR_WINDOW_KNOWN)
            && request.stale_if_error.is_none()
            && self.refused_by(request, now).is_none()
            && self.staleness(now).is_none_or(|staleness| staleness < seconds::millis(LONGEST_DISCONNECTED))
    }

    /// Until when a tier that costs something should keep it: as long as it may be served without the origin's word, and
    /// [`LONGEST_UNCONFIRMED`] longer where the origin can be asked whether it still holds, which spares the content.
    pub fn worth_keeping_until(&self) -> Timestamp {
        let unconfirmed =
            if self.rules.has(Rules::HAS_VALIDATOR) { LONGEST_UNCONFIRMED } else { Duration::ZERO };
        self.servable_until() + unconfirmed
    }

    /// Until when it may be served without the origin's word: fresh, or in a stale window.
    pub fn servable_until(&self) -> Timestamp {
        let stale = Duration::from_millis(self.stale_while_revalidate.max(self.stale_if_error));
        let fresh = Duration::from_millis(self.lifetime.saturating_sub(self.initial_age));
        let stale_on_arrival = Duration::from_millis(self.initial_age.saturating_sub(self.lifetime));
        (self.received_at + fresh + stale).minus(stale_on_arrival)
    }

    fn age_millis(&self, now: Timestamp) -> u64 {
        let resident = now.as_millis().saturating_sub(self.received_at.as_millis());
        resident.saturating_add(self.initial_age)
    }

    /// How long it has been stale; `None` while it is fresh.
    fn staleness(&self, now: Timestamp) -> Option<u64> {
        self.age_millis(now).checked_sub(self.lifetime)
    }

    /// What the client's directives have against this answer (RFC 9111 §5.2.1), whatever else would allow it.
    fn refused_by(&self, request: &RequestDirectives, now: Timestamp) -> Option<Why> {
        if request.is_default() {
            return None;
        }
        let age = self.age_millis(now);
        if request.no_cache {
            return Some(Why::RequestNoCache);
        }
        // max-age=0 is how a browser says reload: even an answer that is not a millisecond old is then asked about.
        if request.max_age.is_some_and(|most| most == 0 || age > u64::from(most) * 1000) {
            return Some(Why::RequestMaxAge);
        }
        if request.min_fresh.is_some_and(|least| age.saturating_add(u64::from(least) * 1000) > self.lifetime)
        {
            return Some(Why::RequestMinFresh);
        }
        let staleness = self.staleness(now)?;
        match (request.max_stale, request.max_age) {
            (Some(u32::MAX), _) | (None, None) => None,
            (Some(most), _) => (staleness > u64::from(most) * 1000).then_some(Why::Stale),
            (None, Some(_)) => Some(Why::RequestMaxAge), // max-age alone means: nothing stale (§5.2.1.1)
        }
    }
}

/// A window in which stale is allowed, in milliseconds: what the answer states, else what is configured.
///
/// `must-revalidate`, `proxy-revalidate` and `no-cache` close both kinds: they say "must not … until it has been
/// successfully validated" (RFC 9111 §5.2.2.2, §5.2.2.4), and RFC 5861 only speaks of what "may" be served.
/// `s-maxage` alone carries the sense of `proxy-revalidate` (§5.2.2.10), which an origin that adds a window to the same
/// answer has plainly not meant; but a window that only the operator opened does not overrule the origin.
fn window(directives: &ResponseDirectives, stated: Option<u32>, configured: Option<Duration>) -> u64 {
    if directives.must_revalidate || directives.proxy_revalidate || directives.always_validate() {
        return 0;
    }
    match stated {
        Some(seconds) => u64::from(seconds) * 1000,
        None if directives.s_maxage.is_some() => 0,
        None => configured.map_or(0, seconds::millis),
    }
}
