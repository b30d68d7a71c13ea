//! Joined: two lists of maps in, one out, in which each map of the first has what belongs to it of the second.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::find::field;
use crate::key::Key;
use crate::list::items;
use crate::map::{self, Member, each_once, written};
use crate::scan::{JsonKind, kind};
use crate::text::write_string;

/// Seeded, for what is hashed comes from strangers.
type ByKey<'j, V> = HashMap<Key<'j>, V, RandomState>;

/// What was joined is longer than allowed: maps of one side that many of the other belong to are there many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the joined lists are too long")
    }
}

impl std::error::Error for TooLarge {}

/// Appends the list `left`, joined with the list `right`: a map belongs to another where what it has under `right_key`
/// means the same as what that one has under `left_key` (`1` and `1.0` do, `1` and `"1"` do not, and nothing belongs to
/// `null`).
///
/// Without a name, each map of `left` gets the members of the first one that belongs to it; what it has already it
/// keeps. With one, it gets a list of all that belong to it under that name, in place of what it has there, and empty
/// where none does. What is no map stays as it is. A map in place of a list is a list of one on the right, and is
/// joined by itself on the left.
///
/// Takes time for its input and its output alone. Fails where `out` comes to have more than `most` bytes; it is then
/// longer by one map of each side at most.
pub fn merge(
    left: &str,
    right: &str,
    left_key: &str,
    right_key: &str,
    as_name: Option<&str>,
    most: usize,
    out: &mut Vec<u8>,
) -> Result<(), TooLarge> {
    let join = Join { partners: Partners::of(right, right_key, as_name), key: left_key, most };
    let Some(items) = items(left) else {
        return join.write(left.trim_ascii(), out);
    };
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        join.write(item, out)?;
    }
    out.push(b']');
    Ok(())
}

/// The maps of the right side by their keys.
enum Partners<'j> {
    /// The members of the first one of each, each name once: looked through here, and not for each map of the left.
    First(ByKey<'j, Vec<Member<'j>>>),
    All {
        as_name: &'j str,
        written: Vec<u8>,
        maps: ByKey<'j, Vec<&'j str>>,
    },
}

impl<'j> Partners<'j> {
    fn of(right: &'j str, key: &str, as_name: Option<&'j str>) -> Self {
        let one = (kind(right) == JsonKind::Map).then_some(right.trim_ascii());
        let all = items(right).into_iter().flatten().chain(one);
        let keyed = all.filter_map(|map| Some((Key::of(field(map, key)?)?, map)));
        let Some(as_name) = as_name else {
            let mut first = ByKey::default();
            for (key, map) in keyed {
                first.entry(key).or_insert_with(|| each_once(written(map).into_iter().flatten()));
            }
            return Partners::First(first);
        };
        let mut name = Vec::new();
        write_string(as_name, &mut name);
        let mut maps = ByKey::<Vec<&str>>::default();
        for (key, map) in keyed {
            maps.entry(key).or_default().push(map);
        }
        Partners::All { as_name, written: name, maps }
    }
}

struct Join<'j> {
    partners: Partners<'j>,
    key: &'j str,
    most: usize,
}

impl Join<'_> {
    /// Appends one item of the left side.
    fn write(&self, item: &str, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let key = field(item, self.key).and_then(Key::of);
        match (&self.partners, written(item)) {
            (_, None) => out.extend_from_slice(item.as_bytes()),
            (Partners::First(first), Some(own)) => match key.and_then(|key| first.get(&key)) {
                None => out.extend_from_slice(item.as_bytes()),
                Some(others) => {
                    let names: HashSet<Cow<'_, str>, RandomState> =
                        own.clone().map(|member| member.name()).collect();
                    let more = others.iter().copied().filter(|member| !names.contains(&member.name()));
                    map::write(own.chain(more), out);
                }
            },
            (Partners::All { as_name, written, maps }, Some(own)) => {
                out.push(b'{');
                for member in own.filter(|member| member.name() != *as_name) {
                    member.write(out);
                    out.push(b',');
                }
                out.extend_from_slice(written);
                out.extend_from_slice(b":[");
                let belonging = key.and_then(|key| maps.get(&key)).map(Vec::as_slice).unwrap_or_default();
                for (index, map) in belonging.iter().enumerate() {
                    self.hold(out)?;
                    if index > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(map.as_bytes());
                }
                out.extend_from_slice(b"]}");
            }
        }
        self.hold(out)
    }

    fn hold(&self, out: &[u8]) -> Result<(), TooLarge> {
        if out.len() > self.most { Err(TooLarge) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = r#"[ {"id": 1, "name":"ann"}, {"id":2.0,"name":"bob"} ,{"id":null},7,{"id":"1"}]"#;
    const ORDERS: &str =
        r#"[{"user":1,"sum":1.50,"name":"x"},{"user":1,"sum":2},{"user":2},{"user":null},"x"]"#;

    fn merged(left: &str, right: &str, as_name: Option<&str>) -> String {
        let mut out = Vec::new();
        merge(left, right, "id", "user", as_name, usize::MAX, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_map_gets_the_members_of_its_first_partner() {
        assert_eq!(
            merged(USERS, ORDERS, None),
            r#"[{"id":1,"name":"ann","user":1,"sum":1.50},{"id":2.0,"name":"bob","user":2},{"id":null},7,{"id":"1"}]"#
        );
    }

    #[test]
    fn each_map_gets_all_its_partners_under_a_name() {
        assert_eq!(
            merged(r#"[{"id":1,"o\u0072ders":"/1","a":[ ]},{"id":9},null]"#, ORDERS, Some("orders")),
            r#"[{"id":1,"a":[ ],"orders":[{"user":1,"sum":1.50,"name":"x"},{"user":1,"sum":2}]},{"id":9,"orders":[]},null]"#
        );
    }

    #[test]
    fn a_map_alone_is_joined_as_well() {
        assert_eq!(merged(r#" {"id":1} "#, r#" {"user":1,"a":2} "#, None), r#"{"id":1,"user":1,"a":2}"#);
        assert_eq!(merged(r#"{"id":1}"#, r#"[{"user":1}]"#, Some("a")), r#"{"id":1,"a":[{"user":1}]}"#);
        for alone in ["null", "7", r#""x""#, "[]"] {
            assert_eq!(merged(alone, ORDERS, None), alone);
            assert_eq!(merged(r#"[{"id":1}]"#, alone, None), r#"[{"id":1}]"#);
        }
    }

    #[test]
    fn what_grows_beyond_its_bound_is_refused() {
        let left = format!("[{}]", vec![r#"{"id":1}"#; 1000].join(","));
        let right = format!("[{}]", vec![r#"{"user":1,"more":"12345678"}"#; 1000].join(","));
        let most = 100_000;
        let mut out = Vec::new();
        assert_eq!(merge(&left, &right, "id", "user", Some("all"), most, &mut out), Err(TooLarge));
        assert!(out.len() < most + 100);
        out.clear();
        assert_eq!(merge(&left, &right, "id", "user", None, most, &mut out), Ok(()));
        out.clear();
        assert_eq!(merge(&left, &right, "id", "user", None, 10_000, &mut out), Err(TooLarge));
        assert!(out.len() < 10_000 + 100);
    }

    #[test]
    fn a_name_repeated_without_end_costs_once() {
        let left = format!("[{}]", vec![r#"{"id":1}"#; 50_000].join(","));
        let right = format!(r#"[{{"user":1,{}}}]"#, vec![r#""a":1"#; 50_000].join(","));
        let merged = merged(&left, &right, None);
        assert!(merged.starts_with(r#"[{"id":1,"user":1,"a":1},{"#));
    }
}
