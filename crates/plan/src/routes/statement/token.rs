//! Token: a text of SQL → its words, names, values and signs, and the text between its placeholders. Called by `statement`
//! and `batch`.

use crate::yaml::fault::{Reason, quoted};

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name, or a word of the language, upper case or not.
    Word(&'a str),
    /// A name between quotes, without them.
    Name(&'a str),
    /// `?`.
    Placeholder,
    /// A string or a number, which holds nothing that counts.
    Value(&'a str),
    /// Any other sign.
    Sign(char),
}

impl Token<'_> {
    /// Whether it is one of these words of the language.
    pub(super) fn is(self, words: &[&str]) -> bool {
        matches!(self, Token::Word(word) if words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }

    /// As it is written.
    pub(super) fn text(&self) -> String {
        match self {
            Token::Word(text) | Token::Name(text) | Token::Value(text) => (*text).to_owned(),
            Token::Placeholder => "?".to_owned(),
            Token::Sign(sign) => sign.to_string(),
        }
    }
}

/// The tokens of a text, and the text between its placeholders. `??` is a question mark. Comments are none.
pub(super) fn tokens(text: &str) -> Result<(Vec<Token<'_>>, Vec<String>), Reason> {
    let mut tokens = Vec::new();
    let mut pieces = vec![String::new()];
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (token, length) = match character {
            '?' if rest.starts_with("??") => {
                last(&mut pieces).push('?');
                tokens.push(Token::Sign('?'));
                rest = &rest[2..];
                continue;
            }
            '?' => {
                tokens.push(Token::Placeholder);
                pieces.push(String::new());
                rest = &rest[1..];
                continue;
            }
            '\'' => {
                let length = quote(rest, '\'')?;
                (Some(Token::Value(&rest[..length])), length)
            }
            '"' | '`' => {
                let length = quote(rest, character)?;
                (Some(Token::Name(&rest[1..length - 1])), length)
            }
            '$' => match dollars(rest) {
                Some(length) => {
                    let length = length?;
                    (Some(Token::Value(&rest[..length])), length)
                }
                None => (Some(Token::Sign('$')), 1),
            },
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, comment(rest)?),
            c if c.is_ascii_digit() => {
                let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '.');
                (Some(Token::Value(&rest[..length])), length)
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = run(rest, |c| c.is_alphanumeric() || c == '_');
                (Some(Token::Word(&rest[..length])), length)
            }
            c => ((!c.is_whitespace()).then_some(Token::Sign(c)), c.len_utf8()),
        };
        tokens.extend(token);
        last(&mut pieces).push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Ok((tokens, pieces))
}

fn last(pieces: &mut [String]) -> &mut String {
    pieces.last_mut().expect("there is one piece from the beginning")
}

/// Bytes of the characters that belong to what begins here.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// How long a comment is. What is called one and is carried out by MySQL and MariaDB is none.
fn comment(text: &str) -> Result<usize, Reason> {
    if text.starts_with("/*!") || text.starts_with("/*M!") {
        return Err(Reason::new(
            "MySQL and MariaDB carry out what stands in this comment",
            "write it outside of the comment, or take it out",
        ));
    }
    let end = text
        .find("*/")
        .ok_or_else(|| Reason::new("a comment in the statement has no end", "close it with `*/`"))?;
    Ok(end + 2)
}

/// How long a string or a quoted name is, with its quotes. A doubled quote stands for one.
fn quote(text: &str, quote: char) -> Result<usize, Reason> {
    let mut at = 1;
    loop {
        let end = text[at..].find(quote).ok_or_else(|| {
            Reason::new(format!("{} has no end", quoted(text)), format!("close it with `{quote}`"))
        })?;
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return Ok(at);
        }
        at += 1;
    }
}

/// `$$…$$` and `$name$…$name$` of PostgreSQL; `None`: it is no such string.
fn dollars(text: &str) -> Option<Result<usize, Reason>> {
    let end = text[1..].find('$')? + 2;
    let tag = &text[..end];
    let is_tag = tag[1..end - 1].chars().all(|c| c.is_alphanumeric() || c == '_')
        && !tag[1..].starts_with(|c: char| c.is_ascii_digit());
    if !is_tag {
        return None;
    }
    let missing = || Reason::new(format!("{} has no end", quoted(text)), format!("close it with `{tag}`"));
    Some(text[end..].find(tag).map(|at| at + 2 * end).ok_or_else(missing))
}
