//! Row: what is asked in one line of the comparison.

use serde::Serialize;

/// How many keys there are in [`Row::Keys`].
pub(crate) const KEYS: usize = 10_000;

/// One line of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Row {
    /// A hit of 1 KiB, always the same.
    #[serde(rename = "hit-1k")]
    Hit1K,
    /// A hit of 64 KiB, always the same.
    #[serde(rename = "hit-64k")]
    Hit64K,
    /// Hits of 1 KiB over ten thousand keys.
    Keys,
    /// A request of 1 KiB that goes to the origin every time.
    Proxied,
}

impl Row {
    /// In the order in which they are measured and shown.
    pub(crate) const ALL: [Row; 4] = [Row::Hit1K, Row::Hit64K, Row::Keys, Row::Proxied];

    /// As it is called on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Row::Hit1K => "hit-1k",
            Row::Hit64K => "hit-64k",
            Row::Keys => "keys",
            Row::Proxied => "proxied",
        }
    }

    /// For people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Row::Hit1K => "1 KiB hit",
            Row::Hit64K => "64 KiB hit",
            Row::Keys => "10,000 keys, 1 KiB hits",
            Row::Proxied => "proxied request, 1 KiB",
        }
    }

    /// Whether it is answered from the cache.
    pub(crate) fn is_hit(self) -> bool {
        self != Row::Proxied
    }

    /// What is asked for; the `number`th of them.
    pub(crate) fn target(self, number: usize) -> String {
        match self {
            Row::Hit1K => "/1k".to_owned(),
            Row::Hit64K => "/64k".to_owned(),
            Row::Keys => format!("/key/{}", number % KEYS),
            Row::Proxied => "/proxied".to_owned(),
        }
    }

    /// How many different targets it has.
    pub(crate) fn targets(self) -> usize {
        if self == Row::Keys { KEYS } else { 1 }
    }
}

/// The content that the origin gives to this target, and everybody after it.
pub(crate) fn content(target: &str) -> Vec<u8> {
    let length = match target {
        "/64k" => 64 * 1024,
        entry if entry.starts_with("/entry/") => 128,
        _ => 1024,
    };
    let mut content = format!("{{\"target\":\"{target}\",\"filler\":\"").into_bytes();
    content.resize(length - 2, b'x');
    content.extend_from_slice(b"\"}");
    content
}

/// One entry in so many is tagged `hot`.
pub(crate) const HOT_EACH: usize = 10;

/// The tags that the origin with tags gives to this target: of `/entry/{number}` one in ten is `hot`, a thousand share
/// the second, and the third is its own, as shops have it.
pub(crate) fn tags(target: &str) -> String {
    match target.strip_prefix("/entry/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => {
            let kind = if number.is_multiple_of(HOT_EACH) { "hot" } else { "cold" };
            format!("{kind}, shelf-{}, item-{number}", number % 1_000)
        }
        None => "a, b, c".to_owned(),
    }
}
