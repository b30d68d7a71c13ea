//! Draft: `RateLimit` and `RateLimit-Policy` as structured fields (RFC 9651): what draft-ietf-httpapi-ratelimit-headers has
//! had since its eighth version (`"default";r=50;t=30`), and the dictionary of the seventh (`limit=100, remaining=50, reset=5`).
//! The fields of the versions before are read by `fields`.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, Item, List, ListEntry, Parameters, Parser};

use super::{SaidQuota, name};

/// Quotas, or policies, that one field may list. One with more says nothing: each quota is looked up among the policies.
const MOST_ITEMS: usize = 32;

/// Adds what they say.
pub(super) fn read(fields: &HeaderMap, out: &mut Vec<SaidQuota>) {
    let policies = list(fields, "ratelimit-policy").unwrap_or_default();
    match list(fields, "ratelimit") {
        Some(quotas) => out.extend(quotas.iter().filter_map(|item| of_item(item, &policies))),
        None => out.extend(of_dictionary(fields, &policies)),
    }
}

/// How long a policy's window is, of the policy with so many calls: `100;w=60`, as it was written up to the seventh version.
pub(super) fn window_of(limit: u64, fields: &HeaderMap) -> Option<Duration> {
    window_among(limit, &list(fields, "ratelimit-policy")?)
}

fn of_item(item: &Item, policies: &[Item]) -> Option<SaidQuota> {
    let remaining = integer(&item.params, "r")?;
    let policy = policies.iter().find(|policy| is_same(policy, item));
    if policy.is_some_and(|policy| !counts_requests(&policy.params)) {
        return None;
    }
    let window = policy.and_then(|policy| seconds(&policy.params, "w"));
    Some(SaidQuota {
        name: name((text(item)?, item.params.get("pk").map(|key| format!("{key:?}")))),
        limit: policy.and_then(|policy| integer(&policy.params, "q")),
        remaining,
        // Without `t` it is whole a window from now at the latest.
        reset: seconds(&item.params, "t").or(window)?,
        window,
    })
}

fn of_dictionary(fields: &HeaderMap, policies: &[Item]) -> Option<SaidQuota> {
    let mut said = Dictionary::new();
    for line in fields.get_all(HeaderName::from_static("ratelimit")) {
        said = Parser::new(line.as_bytes()).parse_dictionary_with_visitor(said).ok()?;
    }
    let number = |key: &str| match said.get(key)? {
        ListEntry::Item(item) => whole(&item.bare_item),
        ListEntry::InnerList(_) => None,
    };
    let limit = number("limit");
    Some(SaidQuota {
        name: name("ratelimit"),
        limit,
        remaining: number("remaining")?,
        reset: Duration::from_secs(number("reset")?),
        window: limit.and_then(|limit| window_among(limit, policies)),
    })
}

fn window_among(limit: u64, policies: &[Item]) -> Option<Duration> {
    let policy = policies.iter().find(|policy| whole(&policy.bare_item) == Some(limit))?;
    seconds(&policy.params, "w")
}

/// The items of a list; `None` where it is missing, too long, or no list of items.
fn list(fields: &HeaderMap, name: &'static str) -> Option<Vec<Item>> {
    let mut list = List::new();
    for line in fields.get_all(HeaderName::from_static(name)) {
        list = Parser::new(line.as_bytes()).parse_list_with_visitor(list).ok()?;
    }
    if list.len() > MOST_ITEMS {
        return None;
    }
    let item = |entry| match entry {
        ListEntry::Item(item) => Some(item),
        ListEntry::InnerList(_) => None,
    };
    list.into_iter().map(item).collect::<Option<Vec<_>>>().filter(|items| !items.is_empty())
}

/// A policy may be told of all partitions at once.
fn is_same(policy: &Item, quota: &Item) -> bool {
    let is_partition = |key| key == quota.params.get("pk");
    text(policy).is_some()
        && text(policy) == text(quota)
        && (policy.params.get("pk").is_none() || is_partition(policy.params.get("pk")))
}

/// Bytes are another matter than calls, and how many are under way is not counted over a time.
fn counts_requests(policy: &Parameters) -> bool {
    match policy.get("qu") {
        None => true,
        Some(BareItem::String(unit)) => unit.as_str() == "requests",
        Some(_) => false,
    }
}

fn text(item: &Item) -> Option<&str> {
    match &item.bare_item {
        BareItem::String(text) => Some(text.as_str()),
        BareItem::Token(text) => Some(text.as_str()),
        _ => None,
    }
}

fn seconds(parameters: &Parameters, key: &str) -> Option<Duration> {
    integer(parameters, key).map(Duration::from_secs)
}

fn integer(parameters: &Parameters, key: &str) -> Option<u64> {
    whole(parameters.get(key)?)
}

fn whole(item: &BareItem) -> Option<u64> {
    match item {
        BareItem::Integer(integer) => u64::try_from(i64::from(*integer)).ok(),
        _ => None,
    }
}
