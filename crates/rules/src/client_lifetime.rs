//! ClientLifetime: what clients are told when the policy says how long they may keep an answer at most.

use std::time::Duration;

use http::header::{CACHE_CONTROL, DATE, EXPIRES};
use http::{HeaderMap, HeaderValue};

use crate::date::FieldDate;
use crate::{ResponseDirectives, age, list, seconds};

/// Cuts `max-age` (and takes out `Expires`, `s-maxage`) in an answer on its way to a client, so that it is fresh there
/// for at most `most`, and never longer than here. `age`: the `Age` it is sent with; `fresh_for`: seconds it is still
/// fresh here. Answers that clients may not keep anyway stay as they are.
///
/// Clients count `Age` (RFC 9111 §4.2.3), so what is written is `age` and what they may have on top. An answer that
/// allows them less already keeps that; one that says nothing is told, as they would guess otherwise (§4.2.2).
pub fn cut(fields: &mut HeaderMap, most: Duration, age: u32, fresh_for: i64) {
    let Some(cut) = Cut::of(fields, most) else { return };
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
    fields.remove(EXPIRES);
    let mut line = cut.line;
    line.extend_from_slice(itoa::Buffer::new().format(max_age).as_bytes());
    if let Ok(value) = HeaderValue::from_bytes(&line) {
        fields.insert(CACHE_CONTROL, value);
    }
}

/// The same for an answer that is not kept here, by the age that it says itself.
pub fn cut_passing(fields: &mut HeaderMap, most: Duration) {
    let age = age::stated(fields);
    cut(fields, most, age, i64::MAX);
}

/// All of [`cut`] that does not depend on the age: for whoever sends one answer many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// `Cache-Control` in one line, without the lifetimes it had, up to the number of `max-age`, which comes last.
    pub line: Vec<u8>,
    stated: Option<u32>,
    most: Duration,
}

impl Cut {
    /// `None`: clients may not keep the answer anyway.
    pub fn of(fields: &HeaderMap, most: Duration) -> Option<Self> {
        let directives = ResponseDirectives::of(fields, &[]);
        if directives.no_store || directives.always_validate() {
            return None;
        }
        Some(Cut { line: line(fields), stated: stated(fields, &directives), most })
    }

    /// The number of `max-age`; see [`cut`].
    pub fn max_age(&self, age: u32, fresh_for: i64) -> u32 {
        let left = self.most.as_secs().min(u64::try_from(fresh_for).unwrap_or(0));
        let allowed = seconds::clamp(u64::from(age).saturating_add(left));
        self.stated.map_or(allowed, |stated| stated.min(allowed))
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

fn line(fields: &HeaderMap) -> Vec<u8> {
    let mut line = Vec::new();
    let members = fields.get_all(CACHE_CONTROL).iter().flat_map(|line| list::members(line.as_bytes()));
    for member in members.filter(|member| !is_lifetime(member)) {
        line.extend_from_slice(member);
        line.extend_from_slice(b", ");
    }
    line.extend_from_slice(b"max-age=");
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

    #[test]
    fn what_is_not_kept_here_is_cut_by_the_age_it_says() {
        for (lines, expected) in [
            (&[("cache-control", "private, max-age=600")][..], "private, max-age=60"),
            (&[("cache-control", "max-age=600"), ("age", "100")], "max-age=160"),
            (&[("cache-control", "max-age=30")], "max-age=30"),
            (&[("cache-control", "private, no-store")], "private, no-store"),
        ] {
            let lines = lines
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            let mut fields: HeaderMap = lines.collect();
            cut_passing(&mut fields, MINUTE);
            assert_eq!(fields[CACHE_CONTROL], expected);
        }
    }

    fn after(lines: &[(&'static str, &'static str)], age: u32, fresh_for: i64) -> String {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(*name, HeaderValue::from_static(value));
        }
        cut(&mut fields, MINUTE, age, fresh_for);
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
