//! Scan: where the `${…}` of a text begin and end, and which characters of an expression stand outside its strings.
//! In comes what somebody wrote; called by `template` for texts and by `compile` to say what is wrong with a bracket.

use crate::fault::{ExpressionFault, quoted};

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// Itself.
    Literal(&'t str),
    /// What stands between `${` and `}`.
    Expression(&'t str),
}

/// Cuts a text into its pieces. `$${` stands for `${`.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, ExpressionFault> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            found.push(Piece::Literal(&rest[..at - 1]));
            found.push(Piece::Literal("${"));
            rest = &rest[at + 2..];
            continue;
        }
        found.push(Piece::Literal(&rest[..at]));
        let inner = &rest[at + 2..];
        let Some(end) = end(inner) else {
            return Err(match outside(inner).open_string {
                Some(quote) => ExpressionFault::new(
                    format!("{} has a string without an end", quoted(&rest[at..])),
                    format!("close it with `{quote}`, and then the expression with `}}`"),
                ),
                None => ExpressionFault::new(
                    format!("{} has no `}}`", quoted(&rest[at..])),
                    "close it with `}`, or write `$${` where `${` itself is meant",
                ),
            });
        };
        found.push(Piece::Expression(&inner[..end]));
        rest = &inner[end + 1..];
    }
    found.push(Piece::Literal(rest));
    found.retain(|piece| *piece != Piece::Literal(""));
    Ok(found)
}

/// Where the `}` is that closes an expression.
fn end(inner: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, character) in outside(inner).characters {
        match character {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// What of an expression is not inside a string.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Each character with its place in bytes. A whole string is one `'`.
    pub(crate) characters: Vec<(usize, char)>,
    /// The quote of a string that does not end.
    pub(crate) open_string: Option<&'static str>,
}

/// Reads strings as CEL does: `'…'` and `"…"`, three of either, and `r'…'` where a backslash is nothing special.
pub(crate) fn outside(text: &str) -> Outside {
    let mut characters = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        characters.push((at, if character == '"' { '\'' } else { character }));
        if !matches!(character, '\'' | '"') {
            at += character.len_utf8();
            continue;
        }
        let quote = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quote| text[at..].starts_with(quote));
        let quote = quote.unwrap_or("'");
        match behind_string(&text[at + quote.len()..], quote, is_raw(&text[..at])) {
            Some(length) => at += quote.len() + length,
            None => return Outside { characters, open_string: Some(quote) },
        }
    }
    Outside { characters, open_string: None }
}

/// Whether a string that begins behind this text is raw: `r`, also with `b`, that is not the end of a name.
fn is_raw(before: &str) -> bool {
    let word = before
        .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    matches!(before[word..].to_ascii_lowercase().as_str(), "r" | "rb" | "br")
}

/// How many bytes there are up to and with the closing quote.
fn behind_string(text: &str, quote: &str, raw: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return Some(at + quote.len());
        }
        let mut characters = rest.chars();
        at += match characters.next()? {
            '\\' if !raw => 1 + characters.next()?.len_utf8(),
            other => other.len_utf8(),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Piece::{Expression, Literal};
    use super::*;

    #[test]
    fn cuts_a_text_into_pieces() {
        for (text, expected) in [
            ("", vec![]),
            ("plain $ and } and {", vec![Literal("plain $ and } and {")]),
            ("${a}", vec![Expression("a")]),
            ("x-${a}-${b}", vec![Literal("x-"), Expression("a"), Literal("-"), Expression("b")]),
            ("${}", vec![Expression("")]),
            ("$${a}", vec![Literal("${"), Literal("a}")]),
            ("5$ ${a}$", vec![Literal("5$ "), Expression("a"), Literal("$")]),
            ("${{'a': 1}['a']}", vec![Expression("{'a': 1}['a']")]),
            ("${'}'}", vec![Expression("'}'")]),
            (r"${'\'}'}", vec![Expression(r"'\'}'")]),
            (r"${r'\'}", vec![Expression(r"r'\'")]),
            ("${'''it's }'''}!", vec![Expression("'''it's }'''"), Literal("!")]),
            ("${\"'}\"}", vec![Expression("\"'}\"")]),
            ("é${'é'}é", vec![Literal("é"), Expression("'é'"), Literal("é")]),
        ] {
            assert_eq!(pieces(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_does_not_end_is_a_fault() {
        for (text, cause) in [
            ("a ${b", "`${b` has no `}`"),
            ("${{}", "`${{}` has no `}`"),
            ("${'a}", "`${'a}` has a string without an end"),
            (r"${'\", r"`${'\` has a string without an end"),
        ] {
            assert_eq!(pieces(text).unwrap_err().cause, cause, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[${}'"\\rabé]{0,40}"#) {
            let _ = pieces(&text);
        }
    }
}
