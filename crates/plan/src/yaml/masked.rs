//! Masked: the lines of a file as they may be shown, with `*` for every character of a secret. In comes the text, also
//! one that is no YAML; out go its lines, every other character where it was. Called by `fault`, whose excerpts show
//! them.
//!
//! What is a secret is told by the words before it, not by the tree: a file that could not be read has none, and a
//! misspelt `admin_tokn` is no key of it. In doubt a line is masked more than needed.

use crate::schema::schema;
use crate::yaml::fault::Place;
use expression::nearest;

/// Words with a secret behind them, or names of secrets below them.
const HOLDERS: [(&str, Holder); 6] = [
    ("admin_token", Holder::Secret),
    ("secret", Holder::Secret),
    ("keys", Holder::Named),
    ("signed", Holder::Named),
    ("credentials", Holder::Named),
    ("accounts", Holder::Listed),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// All that is below is a secret, but for the file it may be in.
    Secret,
    /// Keys below it are no secrets, their values are.
    Named,
    /// The same in a list, whose items say what they are called.
    Listed,
}

/// Words below a holder whose values are no secrets.
const OPEN: [&str; 8] = ["file", "cookie", "field", "client_id", "scope", "audience", "weight", "rest"];

/// The lines of a text.
pub(crate) fn masked(text: &str) -> Vec<String> {
    // The holder whose lines we are in, and its indentation.
    let mut within: Option<(Holder, usize)> = None;
    crate::yaml::file::lines(text)
        .map(|line| {
            let content = line.trim_start_matches([' ', '-']);
            let indentation = line.len() - content.len();
            if within.is_some_and(|(_, outer)| indentation <= outer && !content.is_empty()) {
                within = None;
            }
            let line = passwords(line);
            if let Some((holder, _)) = within {
                return Masking { holder, at_key: true, shown: String::new() }.run(&line).0;
            }
            let (shown, found) = behind_holders(&line);
            within = found.map(|holder| (holder, indentation));
            shown
        })
        .collect()
}

/// Masks what stands behind each holder of a line; tells the last.
fn behind_holders(line: &str) -> (String, Option<Holder>) {
    let (mut shown, mut rest, mut last) = (String::with_capacity(line.len()), line, None);
    while let Some((value, holder)) = next_holder(rest) {
        let (before, behind) = rest.split_at(value);
        shown.push_str(before);
        let ends = match behind.trim_start().starts_with('{') {
            true if is_nested(line) => End::Brace,
            false if shown.contains('{') && holder == Holder::Secret => End::Entry,
            _ => End::Line,
        };
        let masking = Masking { holder, at_key: false, shown: String::new() };
        let (masked, left) = masking.run_to(ends, behind);
        shown.push_str(&masked);
        rest = left;
        last = Some(holder);
    }
    (shown + rest, last)
}

/// Masks what stands at a place.
pub(crate) fn hide(lines: &mut [String], place: Place) {
    let Some(line) = place.line.checked_sub(1).and_then(|index| lines.get_mut(index)) else { return };
    let (start, end) = (place.column.saturating_sub(1), place.column.saturating_sub(1) + place.length);
    *line = line
        .chars()
        .enumerate()
        .map(|(at, character)| if (start..end).contains(&at) { '*' } else { character })
        .collect();
}

/// Where the value of the first holder in a line begins.
fn next_holder(line: &str) -> Option<(usize, Holder)> {
    line.match_indices(':').find_map(|(colon, _)| {
        let before = line[..colon].trim_end_matches(['"', '\'', ' ']);
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let word = &before[before.trim_end_matches(is_letter).len()..];
        Some((colon + 1, holder(word)?))
    })
}

fn holder(word: &str) -> Option<Holder> {
    let of = |name: &str| HOLDERS.iter().find(|(known, _)| *known == name).map(|(_, holder)| *holder);
    let is_other = || schema().iter().any(|section| section.word(word).is_some());
    of(word).or_else(|| nearest(word, HOLDERS.map(|(name, _)| name)).filter(|_| !is_other()).and_then(of))
}

/// Masks the values of `{ main: abc, old: { file: x } }`, of `main: abc`, of `abc`.
struct Masking {
    holder: Holder,
    /// Whether a key may come next, rather than a value.
    at_key: bool,
    shown: String,
}

/// What ends a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing before the end of its line.
    Line,
    /// The comma or brace that ends its entry.
    Entry,
    /// The brace that ends it.
    Brace,
}

impl Masking {
    /// Masks all of a text.
    fn run(self, text: &str) -> (String, &str) {
        self.run_to(End::Line, text)
    }

    /// The same up to where a value ends; then comes what is left.
    fn run_to(mut self, end: End, text: &str) -> (String, &str) {
        let mut rest = text;
        let (mut is_open, mut depth) = (false, 0);
        while let Some(first) = rest.chars().next() {
            if end == End::Entry && matches!(first, ',' | '}') {
                break;
            }
            let (token, behind) = rest.split_at(token(rest, first));
            rest = behind;
            match first {
                ',' | '{' => (self.at_key, is_open) = (true, false),
                ':' => self.at_key = false,
                _ => {}
            }
            let word = token.trim_matches(['"', '\'']);
            let is_mark = matches!(first, ' ' | ',' | '{' | '}' | '[' | ']' | '#' | ':')
                || token == "-" && self.shown.trim_start().is_empty();
            let is_key = self.at_key
                && behind.trim_start().starts_with(':')
                && (self.holder != Holder::Secret || OPEN.contains(&word));
            if is_key {
                is_open = OPEN.contains(&word) || self.holder == Holder::Listed && word == "name";
            }
            if is_mark || is_key || is_open || word.starts_with("${env.") {
                self.shown.push_str(token);
            } else {
                self.shown.extend(token.chars().map(|c| if matches!(c, '"' | '\'') { c } else { '*' }));
            }
            depth += nesting(first);
            if end == End::Brace && first == '}' && depth == 0 {
                break;
            }
        }
        (self.shown, rest)
    }
}

/// Whether each brace that ends something in a line has one that begins it. Otherwise nobody knows whether it belongs to a secret.
fn is_nested(line: &str) -> bool {
    let (mut rest, mut depth) = (line, 0);
    while let Some(first) = rest.chars().next() {
        rest = &rest[token(rest, first)..];
        depth += nesting(first);
        let ends_inside =
            first == '}' && !rest.trim_start().starts_with([',', '}', ']', '#']) && !rest.trim().is_empty();
        if depth < 0 || ends_inside {
            return false;
        }
    }
    true
}

fn nesting(mark: char) -> i32 {
    match mark {
        '{' => 1,
        '}' => -1,
        _ => 0,
    }
}

/// How long the next piece is: a mark, a text in quotes, a variable, or a word.
fn token(text: &str, first: char) -> usize {
    match first {
        '"' | '\'' => text[1..].find(first).map_or(text.len(), |end| end + 2),
        ' ' | ',' | '{' | '}' | '[' | ']' | '#' | ':' => 1,
        _ if text.starts_with("${env.") => text.find('}').map_or(text.len(), |end| end + 1),
        _ => text.find([',', '}', ' ', ':']).unwrap_or(text.len()),
    }
}

/// The passwords of URLs.
fn passwords(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(scheme) = rest.find("://") {
        let (before, after) = rest.split_at(scheme + 3);
        let url = after.find([' ', '\t', ',', '"', '\'']).unwrap_or(after.len());
        let user = after[..url].rfind('@').unwrap_or(0);
        shown.push_str(before);
        shown.extend(after[..user].chars().map(|_| '*'));
        rest = &after[user..];
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn masks_passwords() {
        let line = "[http://me:secret@a, https://b, \"http://x:y@z/@c\"] # mail@example.com";
        assert_eq!(masked(line), ["[http://*********@a, https://b, \"http://******@c\"] # mail@example.com"]);
    }

    #[test]
    fn masks_secrets() {
        for (line, shown) in [
            ("  admin_token: abcdefgh", "  admin_token: ********"),
            ("  admin_token: \"abc, d: e\"", "  admin_token: \"*********\""),
            ("  admin_token: \"abc", "  admin_token: \"***"),
            ("  admin_token: ab,cd", "  admin_token: **,**"),
            ("  admin_tokn: abc", "  admin_tokn: ***"),
            ("  admin_token:abc", "  admin_token:***"),
            ("  admin_token: abc: def", "  admin_token: ***: ***"),
            ("listen: { \"admin_token\": abc, admin: 1 }", "listen: { \"admin_token\": ***, admin: 1 }"),
            ("  admin_token: { file: ./a.token }", "  admin_token: { file: ./a.token }"),
            ("  admin_token: ${env.TOKEN} x", "  admin_token: ${env.TOKEN} *"),
            (
                "p: { signed: { keys: { main: abc, \"old\": 'd-e_f==' }, cookie: x } }",
                "p: { signed: { keys: { main: ***, \"old\": '*******' }, cookie: x } }",
            ),
            ("  key: { query: false }", "  key: { query: false }"),
            (
                "jwt: { secret: { file: a.key }, algorithms: [HS256], leeway: 0s }",
                "jwt: { secret: { file: a.key }, algorithms: [HS256], leeway: 0s }",
            ),
            (
                "{ signed: { keys: { main: abc } }, limit: { rate: 1/s }, secret: abc, x: y }",
                "{ signed: { keys: { main: *** } }, limit: { rate: 1/s }, secret: ***, x: y }",
            ),
            ("  keys: { main: a}b, x: y }", "  keys: { main: *}*, x: * }"),
            ("  keys: { main: a}, x: y }", "  keys: { main: *}, x: * }"),
            ("  tls: { key: key.pem }", "  tls: { key: key.pem }"),
        ] {
            assert_eq!(masked(line), [shown]);
        }
    }

    #[test]
    fn masks_what_stands_below() {
        let text = "keys:\n  main: abc\n\n  old: |\n    def\n    ghi: j\nnext: k";
        assert_eq!(
            masked(text),
            ["keys:", "  main: ***", "", "  old: *", "    ***", "    ghi: *", "next: k"]
        );
        let text = "accounts:\n  - { name: large, weight: 3, header: { X-Api-Key: abc } }\n  - { name: small, header: { X-Api-Key: { file: b } } }";
        assert_eq!(
            masked(text),
            [
                "accounts:",
                "  - { name: large, weight: 3, header: { X-Api-Key: *** } }",
                "  - { name: small, header: { X-Api-Key: { file: b } } }"
            ]
        );
        assert_eq!(masked("keys:\n  name: abc\n  main: -"), ["keys:", "  name: ***", "  main: *"]);
        let text = "- admin_token:\n    abc: d\n    file: e\nx: y";
        assert_eq!(masked(text), ["- admin_token:", "    ***: *", "    file: e", "x: y"]);
    }

    proptest! {
        #[test]
        fn every_other_character_stays(text in "(admin_token|keys|signed|é|x|:|://|@|\"|'|\\{|\\}|,| |\\n|\\$\\{env\\.){0,30}") {
            let lines = masked(&text);
            for (line, shown) in crate::yaml::file::lines(&text).zip(&lines) {
                assert_eq!(line.chars().count(), shown.chars().count());
            }
        }
    }
}
