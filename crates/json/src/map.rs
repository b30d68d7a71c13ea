//! Map: the members of a map, as they stand or each name once, and how they are written. Called by whatever looks into
//! maps or puts them together.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;

use crate::enclosed::{MAP, enclosed};
use crate::scan::Scan;
use crate::text::text;

/// One name with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'j> {
    /// As it stands, in quotes.
    pub(crate) written: &'j str,
    pub(crate) value: &'j str,
}

impl<'j> Member<'j> {
    pub(crate) fn name(&self) -> Cow<'j, str> {
        text(self.written).unwrap_or_default()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        self.write_name(out);
        out.extend_from_slice(self.value.as_bytes());
    }

    pub(crate) fn write_name(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.written.as_bytes());
        out.push(b':');
    }
}

/// The members of a map as they stand, a name as often as it is there. From [`written`].
#[derive(Clone, Debug)]
pub(crate) struct Written<'j> {
    scan: Scan<'j>,
}

/// The members of this map; `None` where it is none.
pub(crate) fn written(json: &str) -> Option<Written<'_>> {
    Some(Written { scan: Scan::inside(json, b'{')? })
}

impl<'j> Iterator for Written<'j> {
    type Item = Member<'j>;

    fn next(&mut self) -> Option<Member<'j>> {
        let written = self.scan.value()?;
        if !self.scan.takes(b':') {
            return None;
        }
        let value = self.scan.value()?;
        self.scan.takes(b',');
        Some(Member { written, value })
    }
}

/// The names of this map with their values as they stand, each name once: at its first place, with its last value.
/// `None` where it is no map.
pub fn members(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let members = each_once(written(json)?);
    Some(members.into_iter().map(|member| (member.name(), member.value)).collect())
}

/// The same as they stand, a name as often as it is there: for whoever has to know that it is there twice.
pub fn members_as_written(json: &str) -> Option<impl Iterator<Item = (Cow<'_, str>, &str)>> {
    Some(written(json)?.map(|member| (member.name(), member.value)))
}

/// Each name once, at its first place and with its last value.
pub(crate) fn each_once<'j>(all: impl Iterator<Item = Member<'j>>) -> Vec<Member<'j>> {
    // Seeded, for names come from strangers.
    let mut places: HashMap<Cow<'j, str>, usize, RandomState> = HashMap::default();
    let mut members: Vec<Member<'j>> = Vec::new();
    for member in all {
        match places.entry(member.name()) {
            Entry::Occupied(place) => members[*place.get()] = member,
            Entry::Vacant(place) => {
                place.insert(members.len());
                members.push(member);
            }
        }
    }
    members
}

/// Appends a map of these.
pub(crate) fn write<'j>(members: impl IntoIterator<Item = Member<'j>>, out: &mut Vec<u8>) {
    enclosed(MAP, members.into_iter(), out, |member, out| member.write(out));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_there_once() {
        let map = r#" { "a" : 1.50 , "\u0062": {"a":[ ]}, "":"x" ,"b":2, "a":3} "#;
        let found = members(map).unwrap();
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, *value)).collect();
        assert_eq!(found, [("a", "3"), ("b", "2"), ("", "\"x\"")]);
        assert!(members("{ }").unwrap().is_empty());
        assert!(members("[]").is_none() && members("null").is_none());
    }
}
