//! Tags: what an answer is filed under, so that it can be forgotten together with others: `Cache-Tag`, `Surrogate-Key`,
//! `Cache-Groups` and `Cache-Group-Invalidation` (RFC 9875).

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, List, ListEntry, Parser};

/// Tags of one answer.
const MOST_TAGS: usize = 64;
/// Bytes of a tag or of a group's name, at most.
pub const LONGEST: usize = 256;
/// Groups of one answer, and groups that one answer invalidates: what RFC 9875 §2 asks to support at least.
const MOST_GROUPS: usize = 32;
/// No field value may contain it, so that no tag from a field looks like a group.
const GROUP_MARK: char = '\u{1}';

/// An answer's tags: of the fields named (split at commas and white space), and its groups.
///
/// A group of RFC 9875 belongs to its origin, so it stands here as [`group`] makes it, and as a plain tag too, for
/// whoever purges by hand. At most 64 tags of at most 256 bytes; what is over that is left out: the groups come first,
/// at most 32, then the fields' tags, then the groups as plain tags. Joined by `\n`, each once; empty without any.
pub fn of(response: &HeaderMap, fields: &[HeaderName], authority: &str) -> Box<str> {
    let mut tags = Tags::default();
    let groups = strings(response, &HeaderName::from_static("cache-groups"));
    for name in &groups {
        tags.add(&group(authority, name));
    }
    for line in fields.iter().flat_map(|field| response.get_all(field)) {
        // Other bytes than UTF-8 nobody could name in a purge.
        let Ok(line) = std::str::from_utf8(line.as_bytes()) else { continue };
        for tag in line.split([',', ' ', '\t']).filter(|tag| is_fitting(tag)) {
            tags.add(tag);
        }
    }
    for name in &groups {
        tags.add(name);
    }
    tags.joined.into()
}

/// A group as a tag: with its origin's authority, in a form that no plain tag can have.
pub fn group(authority: &str, name: &str) -> String {
    format!("{GROUP_MARK}{authority}{GROUP_MARK}{name}")
}

/// Whether people are to see it: not what the cache files under for itself, such as a group with its origin (its name
/// stands there as a plain tag too).
pub fn is_plain(tag: &str) -> bool {
    !tag.is_empty() && !tag.contains(char::is_control)
}

/// The groups of its own origin that this answer to an unsafe request makes out of date, as [`group`] makes them: at
/// most 32. The caller sees to it that the method was unsafe and the answer no error (RFC 9875 §3).
pub fn invalidated_groups(response: &HeaderMap, authority: &str) -> Vec<String> {
    let names = strings(response, &HeaderName::from_static("cache-group-invalidation"));
    names.iter().map(|name| group(authority, name)).collect()
}

/// The tags so far, joined, each once.
#[derive(Default)]
struct Tags {
    joined: String,
    count: usize,
}

impl Tags {
    fn add(&mut self, tag: &str) {
        if self.count == MOST_TAGS || self.joined.split('\n').any(|known| known == tag) {
            return;
        }
        if self.count > 0 {
            self.joined.push('\n');
        }
        self.joined.push_str(tag);
        self.count += 1;
    }
}

fn is_fitting(tag: &str) -> bool {
    (1..=LONGEST).contains(&tag.len())
}

/// The strings of a list of strings (RFC 9651 §3.1), without what is over the bounds. None at all where anything in it
/// is not a string: it is not this field then. Parameters mean nothing.
fn strings(response: &HeaderMap, field: &HeaderName) -> Vec<String> {
    let mut list = List::new();
    for line in response.get_all(field) {
        match Parser::new(line.as_bytes()).parse_list_with_visitor(list) {
            Ok(longer) => list = longer,
            Err(_) => return Vec::new(),
        }
    }
    let strings: Option<Vec<_>> = list.into_iter().map(string).collect();
    let mut strings = strings.unwrap_or_default();
    strings.retain(|name| is_fitting(name));
    strings.truncate(MOST_GROUPS);
    strings
}

fn string(entry: ListEntry) -> Option<String> {
    match entry {
        ListEntry::Item(item) => match item.bare_item {
            BareItem::String(text) => Some(text.into()),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answer(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut response = HeaderMap::new();
        for (name, value) in lines {
            response.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        response
    }

    fn tags(lines: &[(&'static str, &str)]) -> Vec<String> {
        let fields = ["cache-tag", "surrogate-key"].map(HeaderName::from_static);
        let joined = of(&answer(lines), &fields, "a.example");
        if joined.is_empty() { Vec::new() } else { joined.split('\n').map(str::to_owned).collect() }
    }

    #[test]
    fn tags_are_split_at_commas_and_spaces_and_stand_once() {
        let lines = [
            ("cache-tag", "a, b,,c\td"),
            ("surrogate-key", "c e  a"),
            ("cache-tag", "A,é"),
            ("cache-tags", "x"),
        ];
        assert_eq!(tags(&lines), ["a", "b", "c", "d", "A", "é", "e"]);
        assert!(tags(&[("cache-tag", " ,, "), ("x", "y")]).is_empty());
        assert_eq!(tags(&[("cache-tag", "a,ab,b")]), ["a", "ab", "b"]);
    }

    #[test]
    fn tags_are_limited_in_length_and_number() {
        let long = "x".repeat(257);
        let longest = "y".repeat(256);
        assert_eq!(tags(&[("cache-tag", &format!("{long},{longest}"))]), [longest]);
        let many = (0..1000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        assert_eq!(tags(&[("cache-tag", &many)]).len(), 64);
    }

    #[test]
    fn rfc9875_2_groups_belong_to_their_origin() {
        let both = [("cache-groups", "\"scripts\";x=1, \"a b\""), ("cache-tag", "t")];
        let own = group("a.example", "scripts");
        assert_eq!(tags(&both), [&own, &group("a.example", "a b"), "t", "scripts", "a b"]);
        assert_ne!(own, group("b.example", "scripts"));
        assert!(HeaderValue::from_str(&own).is_err(), "no field can name it");
    }

    #[test]
    fn rfc9875_2_at_least_32_groups_of_32_characters_are_kept_whatever_else_there_is() {
        let names: Vec<_> = (0..40).map(|number| format!("{number:032}")).collect();
        let line = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let many = (0..1000).map(|number| format!("t{number}")).collect::<Vec<_>>().join(",");
        let kept = tags(&[("cache-tag", &many), ("cache-groups", &line)]);
        assert_eq!(kept.len(), 64);
        assert!(names[..32].iter().all(|name| kept.contains(&group("a.example", name))));
        assert!(kept.contains(&"t31".to_owned()));
    }

    #[test]
    fn rfc9875_what_is_no_list_of_strings_is_ignored() {
        for line in ["scripts", "\"a\", b", "(\"a\")", "\"a", "1", "\"a\",", "\"\""] {
            assert!(tags(&[("cache-groups", line)]).is_empty(), "{line}");
            assert!(
                invalidated_groups(&answer(&[("cache-group-invalidation", line)]), "a").is_empty(),
                "{line}"
            );
        }
        assert!(tags(&[("cache-groups", "\"a\""), ("cache-groups", "b")]).is_empty());
    }

    #[test]
    fn rfc9875_3_invalidated_are_groups_of_the_same_origin() {
        let response = answer(&[("cache-group-invalidation", "\"a\", \"b c\"")]);
        assert_eq!(invalidated_groups(&response, "h:1"), [group("h:1", "a"), group("h:1", "b c")]);
        assert!(invalidated_groups(&HeaderMap::new(), "h:1").is_empty());
    }
}
