//! ClientLifetime: what clients are told when the policy says how long they may keep an answer at most.
//!
//! [`cut`] is for what is stored here, and may give a lifetime to an answer that states none. [`lower`] is for what is
//! not: it never gives one, or a cache in front of us would hand one client's answer to the next.

use std::time::Duration;

use http::header::{CACHE_CONTROL, DATE, EXPIRES};
use http::{HeaderMap, HeaderValue};

use crate::date::FieldDate;
use crate::{ResponseDirectives, age, list, seconds};

/// Whom a lifetime is for that an answer has from the policy and not from its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody who asks for this URL, as far as `Vary` says.
    All,
    /// Those who are alike in something else too, which a cache in front of us does not know: it is marked `private`.
    Some,
}

/// Cuts `max-age` (and takes out `Expires`, `s-maxage`) in an answer on its way to a client, so that it is fresh there
/// for at most `most`, and never longer than here. `age`: the `Age` it is sent with; `fresh_for`: seconds it is still
/// fresh here. Answers that clients may not keep anyway stay as they are.
///
/// Clients count `Age` (RFC 9111 §4.2.3), so what is written is `age` and what they may have on top. An answer that
/// allows them less already keeps that; one that says nothing is told, as they would guess otherwise (§4.2.2).
pub fn cut(fields: &mut HeaderMap, most: Duration, age: u32, fresh_for: i64, audience: Audience) {
    let Some(mut cut) = Cut::of(fields, most) else { return };
    cut.give_to(audience);
    let max_age = cut.max_age(age, fresh_for);
    let directives = ResponseDirectives::of(fields, &[]);
    // What we read as 0 may be contradictions, which clients read in ways of their own.
    let is_said = max_age > 0
        && directives.max_age == Some(max_age)
        && directives.s_maxage.is_none()
        && !fields.contains_key(EXPIRES);
    if is_said {
        return;
    }
    let mut line = Vec::new();
    cut.write(age, fresh_for, &mut line);
    replace(fields, line);
}

/// Lowers what an answer states that is not stored here: `max-age` and `s-maxage`, and `Expires`, which becomes `max-age`,
/// to `most` from now on. What it does not state it is not given.
pub fn lower(fields: &mut HeaderMap, most: Duration) {
    let directives = ResponseDirectives::of(fields, &[]);
    if may_not_be_kept(&directives) {
        return;
    }
    // An `Expires` that no `Date` goes with may mean anything.
    let undated = fields.contains_key(EXPIRES).then_some(0);
    let lifetimes = [
        (&b"max-age="[..], stated(fields, &directives).or(undated)),
        (&b"s-maxage="[..], directives.s_maxage),
    ];
    if lifetimes.iter().all(|(_, lifetime)| lifetime.is_none()) {
        return;
    }
    let most = seconds::clamp(u64::from(age::stated(fields)).saturating_add(most.as_secs()));
    let mut line = others(fields);
    for (name, lifetime) in lifetimes {
        if let Some(lifetime) = lifetime {
            line.extend_from_slice(name);
            line.extend_from_slice(itoa::Buffer::new().format(lifetime.min(most)).as_bytes());
            line.extend_from_slice(b", ");
        }
    }
    line.truncate(line.len() - 2);
    replace(fields, line);
}

/// All of [`cut`] that does not depend on the age: for whoever sends one answer many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The members of `Cache-Control` but for the lifetimes, each followed by a comma.
    others: Vec<u8>,
    stated: Option<u32>,
    most: Duration,
    /// Nothing in the answer says who may keep it, so that it depends on us.
    is_ours_to_say: bool,
    is_private: bool,
}

impl Cut {
    /// `None`: clients may not keep the answer anyway.
    pub fn of(fields: &HeaderMap, most: Duration) -> Option<Self> {
        let directives = ResponseDirectives::of(fields, &[]);
        if may_not_be_kept(&directives) {
            return None;
        }
        let stated = stated(fields, &directives);
        let is_ours_to_say = stated.is_none()
            && directives.s_maxage.is_none()
            && !directives.public
            && !directives.all_private();
        Some(Cut { others: others(fields), stated, most, is_ours_to_say, is_private: false })
    }

    /// Says whom the lifetime is for, where that is ours to say: everybody, as long as nobody says otherwise.
    pub fn give_to(&mut self, audience: Audience) {
        self.is_private = self.is_ours_to_say && audience == Audience::Some;
    }

    /// The number of `max-age`; see [`cut`].
    pub fn max_age(&self, age: u32, fresh_for: i64) -> u32 {
        let left = self.most.as_secs().min(u64::try_from(fresh_for).unwrap_or(0));
        let allowed = seconds::clamp(u64::from(age).saturating_add(left));
        self.stated.map_or(allowed, |stated| stated.min(allowed))
    }

    /// Appends the value of `Cache-Control`. No allocation beyond `out`'s growth.
    pub fn write(&self, age: u32, fresh_for: i64, out: &mut Vec<u8>) {
        if self.is_private {
            out.extend_from_slice(b"private, ");
        }
        out.extend_from_slice(&self.others);
        out.extend_from_slice(b"max-age=");
        out.extend_from_slice(itoa::Buffer::new().format(self.max_age(age, fresh_for)).as_bytes());
    }

    /// Bytes it occupies besides itself.
    pub fn cost(&self) -> usize {
        self.others.len()
    }
}

fn may_not_be_kept(directives: &ResponseDirectives) -> bool {
    directives.no_store || directives.always_validate()
}

/// The line in place of all that says how long.
fn replace(fields: &mut HeaderMap, line: Vec<u8>) {
    fields.remove(EXPIRES);
    if let Ok(value) = HeaderValue::from_bytes(&line) {
        fields.insert(CACHE_CONTROL, value);
    }
}

/// What the answer allows a client, which `s-maxage` does not speak to, in seconds; `None` where it says nothing.
fn stated(fields: &HeaderMap, directives: &ResponseDirectives) -> Option<u32> {
    directives.max_age.or_else(|| match FieldDate::of(fields, &EXPIRES) {
        FieldDate::Missing => None,
        FieldDate::Invalid => Some(0),
        // Without a date to count from there is nothing to be sure of; whoever answers puts one in.
        FieldDate::At(expires) => {
            FieldDate::of(fields, &DATE).at().map(|made_at| seconds::clamp(expires.since(made_at).as_secs()))
        }
    })
}

/// See [`Cut`].
fn others(fields: &HeaderMap) -> Vec<u8> {
    let mut line = Vec::new();
    let members = fields.get_all(CACHE_CONTROL).iter().flat_map(|line| list::members(line.as_bytes()));
    for member in members.filter(|member| !is_lifetime(member)) {
        line.extend_from_slice(member);
        line.extend_from_slice(b", ");
    }
    line
}

fn is_lifetime(member: &[u8]) -> bool {
    let name = list::trim(member.split(|&byte| byte == b'=').next().unwrap_or_default());
    name.eq_ignore_ascii_case(b"max-age") || name.eq_ignore_ascii_case(b"s-maxage")
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);
    const DATED: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn lowered(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut fields: HeaderMap = lines.collect();
        lower(&mut fields, MINUTE);
        fields
    }

    #[test]
    fn what_is_not_kept_here_is_lowered_by_the_age_it_says() {
        for (lines, expected) in [
            (&[("cache-control", "private, max-age=600")][..], "private, max-age=60"),
            (&[("cache-control", "max-age=600"), ("age", "100")], "max-age=160"),
            (&[("cache-control", "max-age=30")], "max-age=30"),
            (&[("cache-control", "private, no-store")], "private, no-store"),
            (&[("cache-control", "s-maxage=600")], "s-maxage=60"),
            (&[("cache-control", "s-maxage=600, x, max-age=9")], "x, max-age=9, s-maxage=60"),
            (&[("cache-control", "max-age=1, max-age=9000")], "max-age=0"),
            (&[("expires", "Sun, 06 Nov 1994 09:49:37 GMT"), DATED], "max-age=60"),
            (&[("expires", "Sun, 06 Nov 1994 08:49:47 GMT"), DATED], "max-age=10"),
            (&[("expires", "Sun, 06 Nov 1994 08:49:47 GMT")], "max-age=0"),
        ] {
            let fields = lowered(lines);
            assert_eq!(fields[CACHE_CONTROL], expected, "{lines:?}");
            assert!(!fields.contains_key(EXPIRES), "{lines:?}");
        }
    }

    #[test]
    fn what_is_not_kept_here_and_states_no_lifetime_is_given_none() {
        assert!(!lowered(&[("set-cookie", "a=1")]).contains_key(CACHE_CONTROL));
        for line in ["private", "public", "must-revalidate", "private=\"set-cookie\""] {
            assert_eq!(lowered(&[("cache-control", line)])[CACHE_CONTROL], line);
        }
    }

    #[test]
    fn a_lifetime_that_is_not_for_all_is_private() {
        for (line, expected) in [
            ("immutable", "private, immutable, max-age=60"),
            ("private", "private, max-age=60"),
            ("public", "public, max-age=60"),
            ("s-maxage=600", "max-age=60"),
            ("max-age=600", "max-age=60"),
        ] {
            let mut fields = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(line))]);
            cut(&mut fields, MINUTE, 0, 600, Audience::Some);
            assert_eq!(fields[CACHE_CONTROL], expected, "{line}");
        }
    }

    fn after(lines: &[(&'static str, &'static str)], age: u32, fresh_for: i64) -> String {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(*name, HeaderValue::from_static(value));
        }
        cut(&mut fields, MINUTE, age, fresh_for, Audience::All);
        let lines = fields.iter().filter(|(name, _)| *name != DATE);
        lines
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn clients_keep_it_for_as_long_as_they_may_whatever_its_age() {
        let hour = &[("cache-control", "public, max-age=3600, s-maxage=7200")][..];
        for (age, fresh_for, expected) in
            [(0, 3600, 60), (100, 3500, 160), (3590, 10, 3600), (3600, 0, 3600), (5000, -10, 3600)]
        {
            assert_eq!(
                after(hour, age, fresh_for),
                format!("cache-control: public, max-age={expected}"),
                "{age}"
            );
        }
    }

    #[test]
    fn never_longer_than_here_or_than_the_answer_says() {
        assert_eq!(after(&[("cache-control", "max-age=3600")], 5, 7), "cache-control: max-age=12");
        assert_eq!(
            after(&[("cache-control", "max-age=5, s-maxage=600")], 0, 600),
            "cache-control: max-age=5"
        );
        assert_eq!(after(&[("cache-control", "max-age=5")], 100, 500), "cache-control: max-age=5");
        assert_eq!(after(&[("cache-control", "max-age=1, max-age=9")], 0, 9), "cache-control: max-age=0");
    }

    #[test]
    fn what_says_nothing_to_clients_is_told() {
        assert_eq!(after(&[], 3, 100), "cache-control: max-age=63");
        assert_eq!(
            after(&[("cache-control", "s-maxage=600, public")], 0, 600),
            "cache-control: public, max-age=60"
        );
        let private = [("cache-control", "private=\"x, y\""), ("cache-control", "immutable")];
        assert_eq!(after(&private, 0, 60), "cache-control: private=\"x, y\", immutable, max-age=60");
    }

    #[test]
    fn expires_gives_way_to_max_age() {
        let expires = |at| [DATED, ("expires", at)];
        assert_eq!(after(&expires("Sun, 06 Nov 1994 09:49:37 GMT"), 10, 600), "cache-control: max-age=70");
        assert_eq!(after(&expires("Sun, 06 Nov 1994 08:49:47 GMT"), 0, 600), "cache-control: max-age=10");
        assert_eq!(after(&expires("0"), 0, 600), "cache-control: max-age=0");
        let both = [("cache-control", "max-age=9"), ("expires", "0")];
        assert_eq!(after(&both, 0, 600), "cache-control: max-age=9");
    }

    #[test]
    fn what_clients_may_not_keep_or_what_is_short_enough_stays() {
        for line in ["no-store", "no-cache, max-age=600", "max-age=60 , x", "max-age=0"] {
            assert_eq!(after(&[("cache-control", line)], 0, 600), format!("cache-control: {line}"));
        }
    }
}
