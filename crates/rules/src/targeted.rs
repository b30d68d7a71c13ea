//! Targeted: `CDN-Cache-Control` and its kin (RFC 9213), structured dictionaries (RFC 9651) of cache directives.
//!
//! Stricter than `Cache-Control`: a line that does not parse is as if it were not there.

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::directives::{FieldList, ResponseDirectives};
use crate::seconds;

/// The directives of this field; `None` when it is missing, empty, or not what a dictionary of directives may be.
///
/// A number where a directive takes none of the right type (`max-age="5"`) makes the whole field invalid: half of it
/// would be worse than `Cache-Control`, which its sender wrote as well.
pub(crate) fn read(fields: &HeaderMap, name: &HeaderName) -> Option<ResponseDirectives> {
    let mut dictionary = Dictionary::new();
    for line in fields.get_all(name) {
        dictionary = Parser::new(line.as_bytes()).parse_dictionary_with_visitor(dictionary).ok()?;
    }
    if dictionary.is_empty() {
        return None;
    }
    let mut directives = ResponseDirectives { targeted: true, ..ResponseDirectives::default() };
    for (key, value) in &dictionary {
        match key.as_str() {
            "max-age" => directives.max_age = Some(delta(value)?),
            "s-maxage" => directives.s_maxage = Some(delta(value)?),
            "stale-while-revalidate" => directives.stale_while_revalidate = Some(delta(value)?),
            "stale-if-error" => directives.stale_if_error = Some(delta(value)?),
            "private" => directives.private = field_list(value),
            "no-cache" => directives.no_cache = field_list(value),
            other if !is_false(value) => directives.set(other.as_bytes()),
            _ => {}
        }
    }
    Some(directives)
}

/// Seconds; negative ones are as good as none left.
fn delta(value: &ListEntry) -> Option<u32> {
    match bare(value)? {
        BareItem::Integer(integer) => Some(u64::try_from(i64::from(*integer)).map_or(0, seconds::clamp)),
        _ => None,
    }
}

/// The fields named; anything but a name or names means the whole answer.
fn field_list(value: &ListEntry) -> Option<FieldList> {
    Some(match bare(value) {
        Some(BareItem::Boolean(false)) => return None,
        Some(BareItem::String(names)) => FieldList::parse(names.as_str().as_bytes()),
        Some(BareItem::Token(name)) => FieldList::parse(name.as_str().as_bytes()),
        _ => FieldList::All,
    })
}

fn is_false(value: &ListEntry) -> bool {
    matches!(bare(value), Some(BareItem::Boolean(false)))
}

/// The value without its parameters, which mean nothing here (RFC 9213 §2.1).
fn bare(value: &ListEntry) -> Option<&BareItem> {
    match value {
        ListEntry::Item(item) => Some(&item.bare_item),
        ListEntry::InnerList(_) => None,
    }
}
