//! Query: which parameters of a target count (cache keys), and what is left of the target then.
//!
//! What is left is both the key and what the origin is sent, so that a parameter that does not count cannot reach it.

use crate::form::{self, Decoded};

/// Parameters sorted without an allocation.
const SORTED_IN_PLACE: usize = 64;

/// Which parameters count, and whether their order does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryKey {
    /// Which.
    pub names: QueryNames,
    /// Whether parameters are sorted by name, those of one name staying in their order.
    pub sort: bool,
}

/// Which parameters count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum QueryNames {
    /// All of them, as they are.
    #[default]
    All,
    /// None.
    None,
    /// Those that one of the patterns takes.
    Only(Vec<NamePattern>),
    /// Those that no pattern takes.
    Except(Vec<NamePattern>),
}

/// A parameter's name, in which `*` stands for any number of characters: `utm_*`. A `*` that is meant itself is
/// written `%2A`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(Box<[Piece]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Byte(u8),
    Any,
}

impl NamePattern {
    /// From its text.
    pub fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        for (index, literal) in text.split('*').enumerate() {
            if index > 0 && pieces.last() != Some(&Piece::Any) {
                pieces.push(Piece::Any);
            }
            pieces.extend(form::decoded(literal).map(Piece::Byte));
        }
        NamePattern(pieces.into())
    }

    /// This one name; a `*` in it is a `*`.
    pub fn literal(name: &str) -> Self {
        NamePattern(form::decoded(name).map(Piece::Byte).collect())
    }

    /// The bytes of a name without stars, and of one with some what tells it from others.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().map(|piece| match piece {
            Piece::Byte(byte) => *byte,
            Piece::Any => b'*',
        })
    }

    /// Whether it takes a name, as it stands in a query (percent-encoded). Compared is what the name stands for, so that
    /// `%75tm_source` is taken where `utm_source` is: whoever reads the query takes them for the same. Case counts.
    ///
    /// Time is at most the length of the name times that of the pattern, which the operator wrote.
    pub fn takes(&self, name: &str) -> bool {
        let mut name = form::decoded(name);
        let mut pattern = &self.0[..];
        // Where to go on once what stands after the last `*` turns out not to fit: only that one ever has to give way.
        let mut retry: Option<(&[Piece], Decoded<'_>)> = None;
        loop {
            let before = name.clone();
            let fits = match (pattern, name.next()) {
                ([Piece::Any, rest @ ..], _) => {
                    if rest.is_empty() {
                        return true;
                    }
                    name = before.clone();
                    pattern = rest;
                    retry = Some((rest, before));
                    true
                }
                ([Piece::Byte(wanted), rest @ ..], Some(byte)) if *wanted == byte => {
                    pattern = rest;
                    true
                }
                ([], None) => return true,
                (_, None) => return false,
                _ => false,
            };
            if !fits {
                let Some((after, from)) = &mut retry else { return false };
                from.next();
                name = from.clone();
                pattern = after;
            }
        }
    }
}

impl QueryNames {
    fn keeps(&self, parameter: &str) -> bool {
        let taken_by = |patterns: &[NamePattern]| {
            let (name, _) = form::split(parameter);
            patterns.iter().any(|pattern| pattern.takes(name))
        };
        match self {
            QueryNames::All => true,
            QueryNames::None => false,
            QueryNames::Only(patterns) => taken_by(patterns),
            QueryNames::Except(patterns) => !taken_by(patterns),
        }
    }
}

impl QueryKey {
    /// Whether every target stays as it is.
    pub fn keeps_all(&self) -> bool {
        !self.sort && self.names == QueryNames::All
    }

    /// What counts of a target: itself where nothing changes, else written to `out`, which is emptied first. Allocates
    /// only where `out` has no room, or for more than 64 parameters that have to be sorted.
    ///
    /// Parameters are what stands between `&`; a `;` is part of a value. Those that count keep their bytes. One that is
    /// empty (`a&&b`) keeps its place, except where parameters are sorted: then it is dropped. Where nothing is left
    /// there is no `?` either. Sorted is by what names stand for, so that `a=1&%61=2`, two values of one name, stay in
    /// their order.
    pub fn target<'a>(&self, target: &'a str, out: &'a mut String) -> &'a str {
        if self.keeps_all() {
            return target;
        }
        let Some((path, query)) = target.split_once('?') else { return target };
        if self.changes_nothing(query) {
            return target;
        }
        out.clear();
        out.reserve(target.len());
        out.push_str(path);
        let kept = query.split('&').filter(|parameter| self.keeps(parameter));
        self.join(kept, String::push_str, out);
        if out.len() == path.len() + 1 {
            out.truncate(path.len());
        }
        out
    }

    /// Appends the parameters that count, without the empty ones, each as `piece` writes it.
    pub(crate) fn write_filled(&self, query: &str, piece: impl Fn(&mut String, &str), out: &mut String) {
        let kept = query.split('&').filter(|parameter| !parameter.is_empty() && self.names.keeps(parameter));
        self.join(kept, piece, out);
    }

    fn join<'q>(
        &self,
        kept: impl Iterator<Item = &'q str> + Clone,
        piece: impl Fn(&mut String, &str),
        out: &mut String,
    ) {
        if self.sort { join_sorted(kept, piece, out) } else { join(kept, piece, out) }
    }

    fn keeps(&self, parameter: &str) -> bool {
        !(self.sort && parameter.is_empty()) && self.names.keeps(parameter)
    }

    fn changes_nothing(&self, query: &str) -> bool {
        !query.is_empty()
            && query.split('&').all(|parameter| self.keeps(parameter))
            && (!self.sort || query.split('&').is_sorted_by(|one, next| by_name(one, next).is_le()))
    }
}

fn by_name(one: &str, other: &str) -> std::cmp::Ordering {
    form::decoded(form::split(one).0).cmp(form::decoded(form::split(other).0))
}

fn join<'a>(parameters: impl Iterator<Item = &'a str>, piece: impl Fn(&mut String, &str), out: &mut String) {
    for (index, parameter) in parameters.enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        piece(out, parameter);
    }
}

fn join_sorted<'a>(
    parameters: impl Iterator<Item = &'a str> + Clone,
    piece: impl Fn(&mut String, &str),
    out: &mut String,
) {
    let mut few = [(0, ""); SORTED_IN_PLACE];
    let mut many = Vec::new();
    let count = parameters.clone().count();
    let numbered = parameters.enumerate();
    let sorted = if count <= SORTED_IN_PLACE {
        few.iter_mut().zip(numbered).for_each(|(place, parameter)| *place = parameter);
        &mut few[..count]
    } else {
        many.extend(numbered);
        &mut many[..]
    };
    // A stable sort may allocate; with the number it came as, each parameter has one place only.
    sorted.sort_unstable_by(|(first, one), (second, other)| by_name(one, other).then(first.cmp(second)));
    join(sorted.iter().map(|(_, parameter)| *parameter), piece, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<NamePattern> {
        texts.iter().map(|text| NamePattern::new(text)).collect()
    }

    fn left(key: &QueryKey, target: &str) -> String {
        let mut out = "what was there".to_owned();
        key.target(target, &mut out).to_owned()
    }

    #[test]
    fn a_pattern_takes_what_its_stars_leave_room_for() {
        for (pattern, takes, leaves) in [
            (
                "utm_*",
                &["utm_", "utm_source", "%75tm_source", "utm%5Fx"][..],
                &["utm", "Utm_x", "xutm_", ""][..],
            ),
            ("*", &["", "a", "a%00"], &[]),
            ("**a**", &["a", "bab", "aaa"], &["", "b"]),
            ("a*b*c", &["abc", "aXbYc", "abcbc", "abbc"], &["ab", "acb", "abcd"]),
            ("*_id", &["_id", "x_id_id", "x%5Fid"], &["_idx", "id"]),
            ("", &[""], &["a"]),
            ("a%2Ab", &["a*b", "a%2ab"], &["aXb"]),
            ("a+b", &["a+b", "a%20b"], &["a%2Bb"]),
            ("é", &["%C3%A9", "é"], &["e", "%C3"]),
            ("%75tm", &["utm"], &["%2575tm"]),
        ] {
            let compiled = NamePattern::new(pattern);
            assert!(takes.iter().all(|name| compiled.takes(name)), "{pattern}");
            assert!(!leaves.iter().any(|name| compiled.takes(name)), "{pattern}");
        }
    }

    #[test]
    fn many_stars_on_a_long_name_cost_no_more_than_their_product() {
        let name = "a".repeat(30_000);
        assert!(!NamePattern::new(&"a*".repeat(60)).takes(&format!("b{name}")));
        assert!(!NamePattern::new(&format!("{}b", "a*".repeat(60))).takes(&name));
    }

    #[test]
    fn only_what_counts_is_left() {
        let except = |names| QueryKey { names: QueryNames::Except(patterns(names)), sort: false };
        let only = |names| QueryKey { names: QueryNames::Only(patterns(names)), sort: false };
        let none = QueryKey { names: QueryNames::None, sort: false };
        let all = QueryKey::default();
        for (key, target, expected) in [
            (&all, "/x?", "/x?"),
            (&all, "/x?b=1&&a", "/x?b=1&&a"),
            (&none, "/x?a=1", "/x"),
            (&none, "/x?", "/x"),
            (&none, "/x", "/x"),
            (&except(&["utm_*", "fbclid"]), "/x?utm_a=1&b=%20+&fbclid=2&b=3", "/x?b=%20+&b=3"),
            (&except(&["utm_*"]), "/x?%75tm_a=1&utm_b", "/x"),
            (&except(&["utm_*"]), "/x?a;utm_b=1&c=1;utm_d=2", "/x?a;utm_b=1&c=1;utm_d=2"),
            (&except(&["utm_*"]), "/x?a=1&&utm_b=2&", "/x?a=1&&"),
            (&except(&["utm_*"]), "/x?utm_b=2&", "/x"),
            (&except(&["utm_*"]), "/x?", "/x"),
            (&except(&["utm_*"]), "/utm_a", "/utm_a"),
            (&except(&["a"]), "/x?b=1?a=2&a?=3&a", "/x?b=1?a=2&a?=3"),
            (&only(&["a"]), "/x?b=1&a=2&A=3&&a", "/x?a=2&a"),
            (&only(&["a"]), "/x?b%26a=1", "/x"),
            (&only(&[]), "/x?a=1", "/x"),
        ] {
            assert_eq!(left(key, target), expected, "{key:?} {target}");
        }
    }

    #[test]
    fn sorted_is_by_name_and_values_of_one_name_keep_their_order() {
        let sort = QueryKey { names: QueryNames::All, sort: true };
        for (target, expected) in [
            ("/x?b=2&a=1&b=1", "/x?a=1&b=2&b=1"),
            ("/x?a=2&%61=1&b", "/x?a=2&%61=1&b"),
            ("/x?b&&a&", "/x?a&b"),
            ("/x?&", "/x"),
            ("/x?", "/x"),
            ("/x?ab=1&a=2&a", "/x?a=2&a&ab=1"),
        ] {
            assert_eq!(left(&sort, target), expected, "{target}");
        }
        let many: Vec<_> = (0..500).rev().map(|number| format!("{number:03}={}", number % 7)).collect();
        let mut sorted = many.clone();
        sorted.reverse();
        assert_eq!(left(&sort, &format!("/?{}", many.join("&"))), format!("/?{}", sorted.join("&")));
    }

    #[test]
    fn a_target_that_stays_as_it_is_is_not_copied() {
        let key = QueryKey { names: QueryNames::Except(patterns(&["utm_*"])), sort: true };
        for target in ["/x", "/x?a=1&b=2", "/x?a"] {
            let mut out = String::new();
            assert!(std::ptr::eq(key.target(target, &mut out), target));
            assert_eq!(out.capacity(), 0);
        }
    }
}
