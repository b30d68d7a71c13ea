//! NoVarySearch: what an answer says about parameters that do not matter (`No-Vary-Search`,
//! draft-ietf-httpbis-no-vary-search).
//!
//! The cache reads it from an answer and files that answer under the [`target`](NoVarySearch::target) it makes of the
//! request's; a later request finds it by the same way. The origin is asked for the target as the client sent it.

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, InnerList, ListEntry, Parser};

use crate::form;
use crate::query::{NamePattern, QueryKey, QueryNames};

/// Names that one field may list. One with more says nothing, so that no lookup costs more than so many comparisons for
/// each parameter.
const MOST_NAMES: usize = 64;

/// What the field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoVarySearch {
    /// Parameters as a form has them: those that are empty are none.
    counts: QueryKey,
}

impl NoVarySearch {
    /// Reads the field; `None` where it is missing, invalid, or says that everything matters.
    pub fn of(response: &HeaderMap) -> Option<Self> {
        let mut said = Dictionary::new();
        for line in response.get_all(HeaderName::from_static("no-vary-search")) {
            said = Parser::new(line.as_bytes()).parse_dictionary_with_visitor(said).ok()?;
        }
        let sort = said.get("key-order").map_or(Some(false), boolean)?;
        let names = match (said.get("params"), said.get("except")) {
            (None, None) => QueryNames::All,
            (Some(ListEntry::InnerList(ignored)), None) => QueryNames::Except(names(ignored)?),
            (Some(params), None) if !boolean(params)? => QueryNames::All,
            (Some(_), None) => QueryNames::None,
            (Some(params), Some(ListEntry::InnerList(except))) if boolean(params)? => {
                QueryNames::Only(names(except)?)
            }
            (_, Some(_)) => return None, // `except` is for `params` alone
        };
        let names = match names {
            QueryNames::Except(none) if none.is_empty() => QueryNames::All,
            QueryNames::Only(none) if none.is_empty() => QueryNames::None,
            names => names,
        };
        let counts = QueryKey { names, sort };
        (!counts.keeps_all()).then_some(NoVarySearch { counts })
    }

    /// What counts of a target, as [`crate::QueryKey::target`]: the parameters that matter, each written in one way, so
    /// that `?a=%20&`, `?%61=+` and `?a=+` become the same.
    ///
    /// Bytes that are no UTF-8 stay apart, where the draft would take them all for U+FFFD: that costs a hit at most.
    pub fn target<'a>(&self, target: &'a str, out: &'a mut String) -> &'a str {
        let Some((path, query)) = target.split_once('?') else { return target };
        out.clear();
        out.reserve(target.len());
        out.push_str(path);
        self.counts.write_filled(query, write_parameter, out);
        if out == target { target } else { out }
    }

    /// A number that tells this rule from others, to be part of keys it made. The same on every start.
    pub fn fingerprint(&self) -> u64 {
        let (kind, names) = match &self.counts.names {
            QueryNames::All => (0, &[][..]),
            QueryNames::None => (1, &[][..]),
            QueryNames::Only(names) => (2, &names[..]),
            QueryNames::Except(names) => (3, &names[..]),
        };
        let head = [kind << 1 | u8::from(self.counts.sort)];
        // A name's bytes may be anything, so each ends with its length.
        let names = names.iter().flat_map(|name| name.bytes().chain(name.bytes().count().to_le_bytes()));
        head.into_iter()
            .chain(names)
            .fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    }
}

/// FNV-1a, 64 bits: there is nothing to gain in making two rules of one's own collide.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

fn boolean(entry: &ListEntry) -> Option<bool> {
    match entry {
        ListEntry::Item(item) => match item.bare_item {
            BareItem::Boolean(boolean) => Some(boolean),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    }
}

/// The names, sorted, each once: their order in the field means nothing.
fn names(list: &InnerList) -> Option<Vec<NamePattern>> {
    if list.items.len() > MOST_NAMES {
        return None;
    }
    let name = |item: &sfv::Item| match &item.bare_item {
        BareItem::String(name) => Some(NamePattern::literal(name.as_str())),
        _ => None,
    };
    let mut names = list.items.iter().map(name).collect::<Option<Vec<_>>>()?;
    names.sort_unstable_by(|one, other| one.bytes().cmp(other.bytes()));
    names.dedup();
    Some(names)
}

fn write_parameter(out: &mut String, parameter: &str) {
    let (name, value) = form::split(parameter);
    form::write(name, out);
    out.push('=');
    form::write(value.unwrap_or_default(), out);
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn field(line: &str) -> Option<NoVarySearch> {
        let mut response = HeaderMap::new();
        response.insert("no-vary-search", HeaderValue::from_str(line).unwrap());
        NoVarySearch::of(&response)
    }

    fn left(line: &str, target: &str) -> String {
        field(line).unwrap().target(target, &mut "what was there".to_owned()).to_owned()
    }

    #[test]
    fn draft_no_vary_search_what_is_invalid_or_says_nothing_is_as_if_it_were_not_there() {
        for line in [
            "",
            "unknown-key",
            "key-order=\"not a boolean\"",
            "params=\"not a boolean or inner list\"",
            "params=(not-a-string)",
            "params=(\"a\"), except=(\"x\")",
            "params=(), except=()",
            "params=?0, except=(\"x\")",
            "params, except=(not-a-string)",
            "params, except=\"not an inner list\"",
            "params, except=?1",
            "except=(\"x\")",
            "except=()",
            "params=?0",
            "params=()",
            "key-order=?0",
            "params=(\"a\"",
            "params, key-order=1",
        ] {
            assert_eq!(field(line), None, "{line}");
        }
        assert_eq!(NoVarySearch::of(&HeaderMap::new()), None);
        let many = (0..65).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(" ");
        assert_eq!(field(&format!("params=({many})")), None);
    }

    #[test]
    fn draft_no_vary_search_several_forms_of_one_rule() {
        for (one, other) in [
            ("params=?1", "params"),
            ("key-order=?1", "key-order"),
            ("params, key-order, except=(\"x\")", "key-order, params, except=(\"x\"), more=1"),
            ("params, except=()", "params"),
            ("params=(\"a\" \"b\")", "params=(\"b\";x \"%61\" \"a\");y"),
        ] {
            assert_eq!(field(one), field(other), "{one} {other}");
            assert_eq!(
                field(one).unwrap().fingerprint(),
                field(other).unwrap().fingerprint(),
                "{one} {other}"
            );
        }
    }

    #[test]
    fn draft_no_vary_search_what_matters_is_left_in_one_form() {
        for (line, target, expected) in [
            ("params", "/x?a=1&b", "/x"),
            ("params", "/x", "/x"),
            ("params=(\"a\")", "/x?a=1&b=2&%61=3", "/x?b=2"),
            ("params=(\"a*\")", "/x?ab=1&a*=2&a%2A", "/x?ab=1"),
            ("params=(\"%C3%A9+%E6%B0%97\")", "/x?%C3%A9%20%E6%B0%97=1&é+気=2&c", "/x?c="),
            ("params, except=(\"x\")", "/x?a=1&x=2&X=3&x", "/x?x=2&x="),
            ("key-order", "/x?b=2&a=1&b=1", "/x?a=1&b=2&b=1"),
            ("params=(\"a\")", "/x?c=2&b=1", "/x?c=2&b=1"),
            ("params=(\"a\"), key-order", "/x?c=2&a&b=1", "/x?b=1&c=2"),
        ] {
            assert_eq!(left(line, target), expected, "{line} {target}");
        }
    }

    #[test]
    fn draft_no_vary_search_names_and_values_are_compared_as_a_form_has_them() {
        for same in [
            &["/x", "/x?", "/x?&&"][..],
            &["/x?a=x", "/x?%61=%78", "/x?a=x&&&&", "/x?&a=x"],
            &["/x?a=%C3%A9", "/x?a=é", "/x?a=%c3%a9"],
            &["/x?a=", "/x?a"],
            &["/x?a=%20", "/x?a=+"],
            &["/x?=", "/x?=&"],
            &["/x?a=b%26c=d%3D"],
            &["/x?a=%ff"],
            &["/x?a=%fe"],
        ] {
            let forms: Vec<_> = same.iter().map(|target| left("key-order", target)).collect();
            assert!(forms.iter().all(|form| *form == forms[0]), "{forms:?}");
        }
        assert_eq!(left("key-order", "/x?a=b%26c=d%3D"), "/x?a=b%26c%3Dd%3D");
        assert_ne!(left("key-order", "/x?a=%fe"), left("key-order", "/x?a=%ff"));
    }

    #[test]
    fn rules_that_differ_have_other_fingerprints() {
        let lines = [
            "params",
            "key-order",
            "params, key-order",
            "params=(\"a\")",
            "params=(\"a\"), key-order",
            "params=(\"b\")",
            "params=(\"a\" \"b\")",
            "params=(\"ab\")",
            "params, except=(\"a\")",
            "params=(\"\")",
        ];
        let numbers: std::collections::BTreeSet<_> =
            lines.iter().map(|line| field(line).unwrap().fingerprint()).collect();
        assert_eq!(numbers.len(), lines.len());
    }
}
