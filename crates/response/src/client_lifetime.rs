//! ClientLifetime: what a stored answer tells clients of its lifetime, where the policy says how long they may keep it at
//! most. Made when it is stored; since `Age` goes with it, the number it writes grows as the answer ages.

use std::time::Duration;

use http::header::{CACHE_CONTROL, EXPIRES};
use http::{HeaderMap, HeaderValue};
use rules::ResponseDirectives;
use rules::client_lifetime::{Audience, Cut};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientLifetime {
    cut: Cut,
    /// `Cache-Control` as the origin wrote it: an update that does not say it anew (RFC 9111 §4.3.4) leaves it in force.
    directives: Box<[HeaderValue]>,
    /// `Expires`, likewise.
    expires: Box<[HeaderValue]>,
}

/// Takes what an answer says of its lifetime out of the fields that are stored as bytes, so that what is written for each
/// client stands alone. `None`, and everything stays, where clients may not keep it anyway. An answer without a word on it
/// is taken too: clients would guess otherwise.
///
/// `no-transform` is left behind: whoever transforms looks for it in the stored fields.
pub fn split_lifetime(fields: &mut HeaderMap, most: Duration) -> Option<ClientLifetime> {
    let cut = Cut::of(fields, most)?;
    let lines = |name| fields.get_all(name).iter().cloned().collect();
    let (directives, expires) = (lines(&CACHE_CONTROL), lines(&EXPIRES));
    let is_fixed = ResponseDirectives::of(fields, &[]).no_transform;
    fields.remove(CACHE_CONTROL);
    fields.remove(EXPIRES);
    if is_fixed {
        fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-transform"));
    }
    Some(ClientLifetime { cut, directives, expires })
}

impl ClientLifetime {
    /// Whom it is for, where the answer leaves that to us.
    pub fn give_to(&mut self, audience: Audience) {
        self.cut.give_to(audience);
    }

    /// Appends the line to a head, for an answer of this age that is fresh here for so many seconds more. No allocation
    /// beyond `out`'s growth.
    pub fn write(&self, age: u32, fresh_for: i64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"cache-control: ");
        self.cut.write(age, fresh_for, out);
        out.extend_from_slice(b"\r\n");
    }

    /// The same for fields.
    pub fn apply(&self, fields: &mut HeaderMap, age: u32, fresh_for: i64) {
        let mut value = Vec::with_capacity(self.cut.cost() + 32);
        self.cut.write(age, fresh_for, &mut value);
        let value =
            HeaderValue::from_bytes(&value).expect("members of field values, joined, and a number are one");
        fields.insert(CACHE_CONTROL, value);
        fields.remove(EXPIRES);
    }

    /// Puts back what the origin said, in place of what is there.
    pub fn restore(&self, fields: &mut HeaderMap) {
        for (name, lines) in [(CACHE_CONTROL, &self.directives), (EXPIRES, &self.expires)] {
            fields.remove(&name);
            for line in lines {
                fields.append(name.clone(), line.clone());
            }
        }
    }

    /// Bytes it occupies besides itself, roughly.
    pub fn cost(&self) -> usize {
        let lines = self.directives.iter().chain(&*self.expires);
        self.cut.cost() + lines.map(|line| line.len() + size_of::<HeaderValue>()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);
    const DATED: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap()))
            .collect::<HeaderMap>()
    }

    fn appended(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            fields.append(*name, value.parse().unwrap());
        }
        fields
    }

    fn written(lifetime: &ClientLifetime, age: u32, fresh_for: i64) -> String {
        let mut out = Vec::new();
        lifetime.write(age, fresh_for, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn clients_are_told_what_they_may_have_on_top_of_the_age() {
        let mut stored = fields(&[
            ("cache-control", "public, s-maxage=9000, max-age=3600"),
            ("expires", "0"),
            ("etag", "\"1\""),
        ]);
        let whole = stored.clone();
        let lifetime = split_lifetime(&mut stored, MINUTE).unwrap();
        assert_eq!(stored, fields(&[("etag", "\"1\"")]));
        for (age, fresh_for, expected) in [(0, 9000, 60), (100, 8900, 160), (100, 7, 107), (9000, -5, 3600)] {
            assert_eq!(
                written(&lifetime, age, fresh_for),
                format!("cache-control: public, max-age={expected}\r\n")
            );
        }
        lifetime.apply(&mut stored, 5, 9000);
        assert_eq!(stored[CACHE_CONTROL], "public, max-age=65");
        lifetime.restore(&mut stored);
        assert_eq!(stored, whole);
    }

    #[test]
    fn what_says_nothing_is_told_and_what_may_not_be_kept_stays() {
        let mut silent = HeaderMap::new();
        let lifetime = split_lifetime(&mut silent, MINUTE).unwrap();
        assert_eq!(written(&lifetime, 3, 100), "cache-control: max-age=63\r\n");
        lifetime.apply(&mut silent, 3, 100);
        lifetime.restore(&mut silent);
        assert!(silent.is_empty());
        for line in ["no-store, max-age=5", "no-cache"] {
            let mut kept = fields(&[("cache-control", line), ("expires", "0")]);
            assert!(split_lifetime(&mut kept, MINUTE).is_none());
            assert_eq!(kept, fields(&[("cache-control", line), ("expires", "0")]));
        }
    }

    #[test]
    fn no_transform_stays_where_it_is_looked_for() {
        let mut stored = appended(&[("cache-control", "No-Transform"), ("cache-control", "max-age=5")]);
        let whole = stored.clone();
        let lifetime = split_lifetime(&mut stored, MINUTE).unwrap();
        assert_eq!(stored[CACHE_CONTROL], "no-transform");
        lifetime.apply(&mut stored, 0, 9);
        assert_eq!(stored.get_all(CACHE_CONTROL).iter().collect::<Vec<_>>(), ["No-Transform, max-age=5"]);
        lifetime.restore(&mut stored);
        assert_eq!(stored, whole);
    }

    proptest! {
        #[test]
        fn it_says_what_the_rule_says(
            cache_control in prop::option::of("(public|max-age=[0-9]{1,4}|s-maxage=60|private=\"a, b\"|immutable|x)(, (max-age=9|must-revalidate|\"q)){0,2}"),
            expires in prop::option::of(prop_oneof![Just("Sun, 06 Nov 1994 08:50:37 GMT"), Just("0")]),
            most in 0_u64..100,
            age in 0_u32..200,
            fresh_for in -50_i64..200,
        ) {
            let mut lines = vec![DATED];
            lines.extend(cache_control.as_deref().map(|value| ("cache-control", value)));
            lines.extend(expires.map(|value| ("expires", value)));
            let whole = fields(&lines);
            let mut cut = whole.clone();
            rules::client_lifetime::cut(&mut cut, Duration::from_secs(most), age, fresh_for, Audience::All);
            let mut stored = whole.clone();
            let lifetime = split_lifetime(&mut stored, Duration::from_secs(most)).unwrap();
            lifetime.apply(&mut stored, age, fresh_for);
            let said = |fields: &HeaderMap| ResponseDirectives::of(fields, &[]);
            prop_assert_eq!(said(&stored), said(&cut));
            prop_assert!(!stored.contains_key(EXPIRES) && !cut.contains_key(EXPIRES));
            let line = format!("cache-control: {}\r\n", stored[CACHE_CONTROL].to_str().unwrap());
            prop_assert_eq!(written(&lifetime, age, fresh_for), line);
            lifetime.restore(&mut stored);
            prop_assert_eq!(stored, whole);
        }
    }
}
