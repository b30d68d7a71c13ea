//! Statement: SQL as it is written → [`Statement`], taken apart at its placeholders. In comes a text, out goes what may
//! be sent, or why not. Called by `compose::call`.
//!
//! No SQL is parsed: a text is cut into words, strings and signs, which all three databases do alike.

use crate::fault::{Reason, quoted};
use crate::meant::{Batch, Rows, Statement};

/// What a statement that only reads begins with.
const READS: [&str; 7] = ["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "EXPLAIN"];
/// What a statement that writes has in it, behind `WITH` and `EXPLAIN`.
const WRITES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];
/// What looks at several rows at once, so that the rows of several look-ups cannot be told apart behind it.
const WHOLE: [&str; 18] = [
    "LIMIT",
    "OFFSET",
    "FETCH",
    "TOP",
    "GROUP",
    "HAVING",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "DISTINCT",
    "OVER",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "FOR",
    "LOCK",
];

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name or a word of the language, upper case or not; names between quotes without them.
    Word(&'a str),
    /// `?`.
    Placeholder,
    /// Any other sign.
    Sign(char),
    /// A string or a comment, which holds nothing that counts.
    Opaque,
}

/// Reads a statement.
pub(crate) fn statement(text: &str) -> Result<Statement, Reason> {
    let text = text.trim().trim_end_matches(';').trim_end();
    if text.contains("${") {
        return Err(Reason::new(
            "an expression stands in a statement, where it would be spliced",
            "write `?` in its place, and the expression into `args`",
        ));
    }
    let (tokens, pieces) = tokens(text)?;
    if tokens.contains(&Token::Sign(';')) {
        return Err(Reason::new("there are two statements", "write one; a step for each"));
    }
    let Some(Token::Word(first)) = tokens.iter().find(|token| **token != Token::Sign('(')) else {
        return Err(Reason::new(
            "there is no statement",
            "write one, like `SELECT name FROM users WHERE id = ?`",
        ));
    };
    let has = |words: &[&str]| tokens.iter().any(|token| is_word(token, words));
    // `EXPLAIN ANALYZE` carries out what it explains; `SELECT … INTO` makes a table, or a file.
    let may_write = is_one_of(first, &["WITH", "EXPLAIN"]) && has(&WRITES) || has(&["INTO"]);
    let reads = is_one_of(first, &READS) && !may_write;
    Ok(Statement { pieces, reads, rows: Rows::All, batch: None })
}

/// How look-ups by it become one: which placeholder is the list of keys, and what the key is called. `text` is the
/// statement as it is written.
///
/// Rows are handed back by that column of the answer. So it must be the very column that is looked for, and what stands
/// around it must hold for each row alone: else a row would go to whoever asked for another.
pub(crate) fn batch(text: &str, statement: &Statement) -> Result<Batch, Reason> {
    let (tokens, _) = tokens(text)?;
    if !statement.reads {
        return Err(Reason::new("it writes, and writes are never put together", "take `batch` out"));
    }
    if let Some(Token::Word(word)) = tokens.iter().find(|token| is_word(token, &WHOLE)) {
        return Err(Reason::new(
            format!("it says {}, which looks at the rows of all look-ups together", quoted(word)),
            "take `batch` out, or write the statement without it",
        ));
    }
    let mut lists = Vec::new();
    let mut placeholder = 0;
    for (at, token) in tokens.iter().enumerate() {
        if *token != Token::Placeholder {
            continue;
        }
        let around = (at >= 3).then(|| &tokens[at - 3..(at + 2).min(tokens.len())]);
        if let Some([Token::Word(column), Token::Word(is_in), Token::Sign('('), _, Token::Sign(')')]) = around
            && is_in.eq_ignore_ascii_case("IN")
            && !column.eq_ignore_ascii_case("NOT")
        {
            lists.push((at - 3, Batch { parameter: placeholder, column: (*column).to_owned() }));
        }
        placeholder += 1;
    }
    let [(at, batch)] = <[(usize, Batch); 1]>::try_from(lists).map_err(|lists| {
        Reason::new(
            format!("it has {} lists of keys, and one is needed", lists.len()),
            "write it like `SELECT id, title FROM books WHERE id IN (?)`",
        )
    })?;
    stands_alone(&tokens, at)?;
    is_answered(&tokens, at, &batch.column)?;
    Ok(batch)
}

/// Whether each row is found by its key or not at all: `WHERE … AND id IN (?) AND …`, and no look-up inside another.
fn stands_alone(tokens: &[Token<'_>], at: usize) -> Result<(), Reason> {
    let outermost = |(index, token)| (depth(tokens, index) == 0).then_some(token);
    let either = |token: &&Token<'_>| is_word(token, &["OR", "XOR"]) || **token == Token::Sign('|');
    let is_either = tokens.iter().enumerate().filter_map(outermost).any(|token| either(&token));
    let selects = tokens.iter().filter(|token| is_word(token, &["SELECT"])).count();
    let start = if at >= 2 && tokens[at - 1] == Token::Sign('.') { at - 2 } else { at };
    let follows = start > 0 && is_word(&tokens[start - 1], &["WHERE", "AND"]);
    let ends = tokens
        .get(at + 5)
        .is_none_or(|token| is_word(token, &["AND", "ORDER"]) || *token == Token::Sign(';'));
    let is_filter = tokens[..at].iter().any(|token| is_word(token, &["WHERE"]));
    if depth(tokens, at) == 0 && selects == 1 && follows && ends && is_filter && !is_either {
        return Ok(());
    }
    Err(Reason::new(
        "what decides on a row is more than its key, joined by `AND`",
        "write it like `SELECT id, title FROM books WHERE id IN (?) AND shop = ?`, or take `batch` out",
    ))
}

/// Whether the answer has the column that is looked for, and no other of its name.
fn is_answered(tokens: &[Token<'_>], at: usize, column: &str) -> Result<(), Reason> {
    let names = |token: &Token<'_>| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(column));
    let qualifier = match tokens.get(at.wrapping_sub(2)..at) {
        Some([Token::Word(table), Token::Sign('.')]) => Some(*table),
        _ => None,
    };
    let is_outermost = |index: &usize| depth(tokens, *index) == 0;
    let word = |word: &str| (0..at).filter(is_outermost).find(|index| is_word(&tokens[*index], &[word]));
    let (from, filter) = (word("FROM").unwrap_or(at), word("WHERE").unwrap_or(at));
    let joins = (from.min(filter)..filter).filter(is_outermost).any(|index| {
        tokens[index] == Token::Sign(',') || is_word(&tokens[index], &["JOIN", "STRAIGHT_JOIN"])
    });
    let (mut is_there, mut is_clear) = (false, true);
    let mut start = 1;
    for end in (1..=from).filter(|end| *end == from || tokens[*end] == Token::Sign(',') && is_outermost(end))
    {
        match &tokens[start.min(end)..end] {
            [Token::Sign('*')] => (is_there, is_clear) = (true, is_clear && !joins),
            [Token::Word(table), Token::Sign('.'), Token::Sign('*')] => {
                let same = qualifier.is_some_and(|qualifier| qualifier.eq_ignore_ascii_case(table));
                is_there |= same || !joins;
                is_clear &= same || !joins;
            }
            [one] if names(one) => is_there = true,
            [Token::Word(table), Token::Sign('.'), one] if names(one) => {
                let same = qualifier.is_none_or(|qualifier| qualifier.eq_ignore_ascii_case(table));
                (is_there, is_clear) = (true, is_clear && same);
            }
            // `parent AS id`
            [.., one] if names(one) => is_clear = false,
            _ => {}
        }
        start = end + 1;
    }
    if is_there && is_clear {
        return Ok(());
    }
    let qualified = qualifier.map_or_else(|| column.to_owned(), |table| format!("{table}.{column}"));
    let cause = if is_clear {
        format!("the answer has no column {}, by which its rows would be handed back", quoted(column))
    } else {
        format!("the column {} of the answer may be another than the one in `IN (?)`", quoted(column))
    };
    Err(Reason::new(cause, format!("select {} itself, and name no other column so", quoted(&qualified))))
}

/// Brackets around a token.
fn depth(tokens: &[Token<'_>], at: usize) -> usize {
    tokens[..at].iter().fold(0_usize, |depth, token| match token {
        Token::Sign('(') => depth + 1,
        Token::Sign(')') => depth.saturating_sub(1),
        _ => depth,
    })
}

fn is_word(token: &Token<'_>, words: &[&str]) -> bool {
    matches!(token, Token::Word(word) if is_one_of(word, words))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The tokens of a text, and the text between its placeholders. `??` is a question mark.
fn tokens(text: &str) -> Result<(Vec<Token<'_>>, Vec<String>), Reason> {
    let mut tokens = Vec::new();
    let mut pieces = vec![String::new()];
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (token, length) = match character {
            '?' if rest.starts_with("??") => {
                last(&mut pieces).push('?');
                rest = &rest[2..];
                continue;
            }
            '?' => {
                tokens.push(Token::Placeholder);
                pieces.push(String::new());
                rest = &rest[1..];
                continue;
            }
            '\'' => (Token::Opaque, quote(rest, '\'')?),
            '"' | '`' => {
                let length = quote(rest, character)?;
                (Token::Word(&rest[1..length - 1]), length)
            }
            '$' => match dollars(rest) {
                Some(length) => (Token::Opaque, length?),
                None => (Token::Sign('$'), 1),
            },
            '-' if rest.starts_with("--") => (Token::Opaque, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                let end = rest.find("*/").ok_or_else(|| {
                    Reason::new("a comment in the statement has no end", "close it with `*/`")
                })?;
                (Token::Opaque, end + 2)
            }
            c if c.is_alphabetic() || c == '_' => {
                let belongs = |c: char| c.is_alphanumeric() || c == '_';
                let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
                (Token::Word(&rest[..length]), length)
            }
            c => (Token::Sign(c), c.len_utf8()),
        };
        if !matches!(token, Token::Sign(sign) if sign.is_whitespace()) && token != Token::Opaque {
            tokens.push(token);
        }
        last(&mut pieces).push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Ok((tokens, pieces))
}

fn last(pieces: &mut [String]) -> &mut String {
    pieces.last_mut().expect("there is one piece from the beginning")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_where_they_are_meant() {
        for (text, pieces) in [
            ("SELECT 1", &["SELECT 1"][..]),
            (
                "SELECT * FROM a WHERE b = ? AND c IN (?);",
                &["SELECT * FROM a WHERE b = ", " AND c IN (", ")"],
            ),
            ("SELECT '?', \"?\", `?` -- ?\n, ? /* ? */", &["SELECT '?', \"?\", `?` -- ?\n, ", " /* ? */"]),
            ("SELECT 'it''s ?', ?", &["SELECT 'it''s ?', ", ""]),
            ("SELECT $$ ? $$, $a$ ? $a$, ?", &["SELECT $$ ? $$, $a$ ? $a$, ", ""]),
            ("SELECT data ?? 'key' FROM a", &["SELECT data ? 'key' FROM a"]),
        ] {
            assert_eq!(statement(text).unwrap().pieces, pieces, "{text}");
        }
    }

    #[test]
    fn what_writes_is_known() {
        for (text, reads) in [
            ("select 1", true),
            ("(SELECT 1)", true),
            ("WITH a AS (SELECT 1) SELECT * FROM a", true),
            ("WITH a AS (DELETE FROM b RETURNING *) SELECT * FROM a", false),
            ("SELECT 'DELETE'", true),
            ("EXPLAIN SELECT 1", true),
            ("EXPLAIN ANALYZE DELETE FROM a", false),
            ("SELECT * INTO b FROM a", false),
            ("SELECT 'into'", true),
            ("INSERT INTO a VALUES (?)", false),
            ("/* SELECT */ DELETE FROM a", false),
            ("CALL refresh()", false),
        ] {
            assert_eq!(statement(text).unwrap().reads, reads, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        for (text, remedy) in [
            ("", "write one, like `SELECT name FROM users WHERE id = ?`"),
            (
                "SELECT * FROM a WHERE b = ${path.id}",
                "write `?` in its place, and the expression into `args`",
            ),
            ("SELECT 1; DROP TABLE a", "write one; a step for each"),
            ("SELECT 'a", "close it with `'`"),
            ("SELECT /* a", "close it with `*/`"),
            ("SELECT $a$ b", "close it with `$a$`"),
        ] {
            assert_eq!(statement(text).unwrap_err().remedy, remedy, "{text}");
        }
    }

    #[test]
    fn a_look_up_by_a_list_of_keys_can_be_put_together() {
        let batched = |text: &str| batch(text, &statement(text).unwrap());
        let column = |text| batched(text).unwrap().column;
        assert_eq!(column("SELECT * FROM books WHERE id IN (?)"), "id");
        assert_eq!(column("SELECT b.`id` FROM books b WHERE b.`id` in ( ? ) ORDER BY b.title"), "id");
        let second = batched("SELECT * FROM books WHERE shop = ? AND id IN (?)").unwrap();
        assert_eq!(second.parameter, 1);
        let third = batched("SELECT id FROM a WHERE data ?? 'k' AND id IN (?) AND shop = ?").unwrap();
        assert_eq!(third.parameter, 0, "a written question mark is no placeholder");
        for (text, cause) in [
            ("SELECT * FROM a WHERE id = ?", "it has 0 lists of keys, and one is needed"),
            ("SELECT * FROM a WHERE id NOT IN (?)", "it has 0 lists of keys, and one is needed"),
            ("SELECT * FROM a WHERE id IN (?) OR b IN (?)", "it has 2 lists of keys, and one is needed"),
            (
                "SELECT * FROM a WHERE id IN (?) LIMIT 3",
                "it says `LIMIT`, which looks at the rows of all look-ups together",
            ),
            (
                "SELECT count(*) FROM a WHERE id IN (?)",
                "it says `count`, which looks at the rows of all look-ups together",
            ),
            ("DELETE FROM a WHERE id IN (?)", "it writes, and writes are never put together"),
        ] {
            assert_eq!(batched(text).unwrap_err().cause, cause, "{text}");
        }
    }

    #[test]
    fn rows_go_to_whoever_asked_for_them_or_look_ups_are_not_put_together() {
        let refused = |text: &str| batch(text, &statement(text).unwrap()).is_err();
        for text in [
            // The key of the answer is another table's.
            "SELECT o.id, o.price FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT * FROM orders o JOIN users u ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT o.* FROM orders o, users u WHERE o.user_id = u.id AND u.id IN (?)",
            "SELECT parent AS id, title FROM a WHERE id IN (?)",
            "SELECT parent id, title FROM a WHERE id IN (?)",
            "SELECT u.id, o.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT title FROM a WHERE id IN (?)",
            // Rows are found by something else as well.
            "SELECT id FROM a WHERE id IN (?) OR public",
            "SELECT id FROM a WHERE mine || id IN (?)",
            "SELECT id FROM a WHERE NOT (id IN (?))",
            "SELECT id FROM a WHERE NOT id IN (?)",
            "SELECT id FROM a WHERE id IN (?) IS NOT TRUE",
            "SELECT id FROM a WHERE parent IN (SELECT id FROM b WHERE id IN (?))",
            "SELECT id FROM a LEFT JOIN b ON b.id IN (?)",
            "WITH b AS (SELECT id FROM a WHERE id IN (?)) SELECT id FROM c",
        ] {
            assert!(refused(text), "{text}");
        }
        for text in [
            "SELECT * FROM books WHERE id IN (?);",
            "SELECT b.*, upper(b.title) AS title FROM books AS b WHERE b.id IN (?)",
            "SELECT id, extract(year FROM made) AS year FROM books WHERE (a OR b) AND id IN (?) ORDER BY title",
            "SELECT u.id, o.price FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?) AND o.shop = ?",
        ] {
            assert!(!refused(text), "{text}");
        }
    }
}
