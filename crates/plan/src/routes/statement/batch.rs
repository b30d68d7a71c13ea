//! Batch: whether look-ups by a statement may become one, and by which column their rows are told apart again. In comes the
//! text, out goes a [`Batch`] or why not. Called by `compose::call`.
//!
//! A statement is put together with others only where it is one of these, read to its last word:
//!
//! ```text
//! SELECT column, … FROM table [JOIN …] WHERE comparison AND … key IN (?) AND … [ORDER BY column, …]
//! ```
//!
//! Columns stand alone, under a name or not; comparisons are of columns, values, placeholders and a few functions of one
//! row. So whether a row is found, and what is in it, is decided by that row alone, and it may go to whoever asked for its
//! key. A list of what must not stand there (`GROUP BY`, `COUNT`, …) was tried: `GROUP_CONCAT` was not on it, nor is what
//! a database has of its own, or gets next year.

use super::token::{Token, tokens};
use crate::meant::{Batch, Statement};
use crate::yaml::fault::{Reason, quoted};

/// Functions of one row that comparisons may call. What looks at several rows is refused there by all three databases.
const FUNCTIONS: [&str; 10] =
    ["ABS", "COALESCE", "DATE", "DATETIME", "IFNULL", "LENGTH", "LOWER", "NOW", "NULLIF", "UPPER"];
/// What joins tables, before `JOIN`.
const JOINS: [&str; 7] = ["INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL"];
/// What ends the name of a table.
const BEHIND_TABLES: [&str; 6] = ["JOIN", "STRAIGHT_JOIN", "ON", "USING", "WHERE", "AS"];
/// Words between two values.
const BETWEEN: [&str; 4] = ["AND", "OR", "LIKE", "ILIKE"];
/// Brackets inside one another.
const DEEPEST: usize = 16;

/// Reads tokens from the left. What reads something says `None` where it is not there, at the token that is wrong.
struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    depth: usize,
    /// Placeholders so far.
    placeholders: usize,
}

/// A column, and the table that it is said to be of.
#[derive(Clone, Copy)]
struct Column<'t> {
    table: Option<&'t str>,
    name: &'t str,
}

/// One of what is selected.
enum Selected<'t> {
    /// `*`, or `table.*`.
    All(Option<&'t str>),
    /// A column and what the answer calls it.
    One(Column<'t>, &'t str),
}

/// What a statement that may be put together consists of.
struct LookUp<'t> {
    selected: Vec<Selected<'t>>,
    is_joined: bool,
    /// The columns that are looked for by lists, with their placeholders.
    keys: Vec<(Column<'t>, usize)>,
}

/// How look-ups by it become one: which placeholder is the list of keys, and what the key is called. `text` is the
/// statement as it is written.
pub(crate) fn batch(text: &str, statement: &Statement) -> Result<Batch, Reason> {
    let (tokens, _) = tokens(text.trim().trim_end_matches(';'))?;
    if !statement.reads {
        return Err(Reason::new("it writes, and writes are never put together", "take `batch` out"));
    }
    if text.contains('\\') {
        return Err(Reason::new("it has a `\\`, which databases read differently", "take `batch` out"));
    }
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, placeholders: 0 };
    let look_up = match reader.look_up() {
        Some(look_up) if reader.at == tokens.len() => look_up,
        _ => return Err(reader.unknown()),
    };
    let [(key, parameter)] = look_up.keys.as_slice() else {
        return Err(Reason::new(
            format!("it has {} lists of keys, and one is needed", look_up.keys.len()),
            "write it like `SELECT id, title FROM books WHERE id IN (?)`",
        ));
    };
    is_answered(&look_up, *key)?;
    Ok(Batch { parameter: *parameter, column: key.name.to_owned() })
}

/// Whether the answer has the column that is looked for, and no other of its name.
fn is_answered(look_up: &LookUp<'_>, key: Column<'_>) -> Result<(), Reason> {
    let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    // Whether this is the key, or has its name; nobody knows what `*` of several tables holds.
    let of = |selected: &Selected<'_>| match selected {
        Selected::All(table) => {
            let is_its = match (table, key.table) {
                (Some(one), Some(other)) => same(one, other),
                _ => false,
            };
            (is_its || !look_up.is_joined, true)
        }
        Selected::One(column, name) => {
            let is_its = match (column.table, key.table) {
                (Some(one), Some(other)) => same(one, other),
                (None, None) => true,
                _ => !look_up.is_joined,
            };
            (is_its && same(column.name, key.name), same(name, key.name))
        }
    };
    let named: Vec<bool> =
        look_up.selected.iter().map(of).filter(|(_, named)| *named).map(|(is, _)| is).collect();
    let written = key.table.map_or_else(|| key.name.to_owned(), |table| format!("{table}.{}", key.name));
    let cause = match named.as_slice() {
        [true] => return Ok(()),
        [] => {
            format!("the answer has no column {}, by which its rows would be handed back", quoted(key.name))
        }
        _ => format!("the column {} of the answer may be another than the one in `IN (?)`", quoted(key.name)),
    };
    Err(Reason::new(cause, format!("select {} itself, and name no other column so", quoted(&written))))
}

impl<'t> Reader<'t> {
    /// What is wrong, at the token that could not be read.
    fn unknown(&self) -> Reason {
        // Of a function its name.
        let wrong = match (self.tokens.get(self.at), self.at.checked_sub(1).map(|at| self.tokens[at])) {
            (Some(Token::Sign('(')), Some(name @ Token::Word(_))) => Some(name),
            (token, _) => token.copied(),
        };
        let cause = match wrong {
            Some(token) => {
                format!("{} is more than plain columns that are compared with values", quoted(&token.text()))
            }
            None => "it ends too early".to_owned(),
        };
        let like = "SELECT id, title FROM books WHERE id IN (?) AND shop = ? ORDER BY title";
        Reason::new(cause, format!("write it like `{like}`, or take `batch` out"))
    }

    fn look_up(&mut self) -> Option<LookUp<'t>> {
        self.word(&["SELECT"])?;
        let mut selected = vec![self.selected()?];
        while self.sign(',').is_some() {
            selected.push(self.selected()?);
        }
        self.word(&["FROM"])?;
        let is_joined = self.tables()?;
        self.word(&["WHERE"])?;
        let mut keys = Vec::new();
        loop {
            match self.key() {
                Some(key) => keys.push(key),
                None => self.comparison()?,
            }
            if self.word(&["AND"]).is_none() {
                break;
            }
        }
        if self.word(&["ORDER"]).is_some() {
            self.word(&["BY"])?;
            self.order()?;
            while self.sign(',').is_some() {
                self.order()?;
            }
        }
        Some(LookUp { selected, is_joined, keys })
    }

    /// `*`, `table.*`, `title`, `books.title`, `title AS name`.
    fn selected(&mut self) -> Option<Selected<'t>> {
        if self.sign('*').is_some() {
            return Some(Selected::All(None));
        }
        if let [Token::Word(table) | Token::Name(table), Token::Sign('.'), Token::Sign('*'), ..] =
            *self.rest()
        {
            self.at += 3;
            return Some(Selected::All(Some(table)));
        }
        let column = self.column()?;
        let name = if self.word(&["AS"]).is_some() { self.name()? } else { column.name };
        // What follows otherwise is no plain column: `DISTINCT title`, `count(*)`, `a || b`, `title name`.
        Some(Selected::One(column, name))
    }

    /// Tables and how they are joined; whether there are several.
    fn tables(&mut self) -> Option<bool> {
        self.table()?;
        let mut is_joined = false;
        loop {
            let is_list = self.sign(',').is_some();
            let start = self.at;
            while !is_list && self.word(&JOINS).is_some() {}
            let is_join = !is_list && self.word(&["JOIN", "STRAIGHT_JOIN"]).is_some();
            if !is_list && !is_join {
                self.at = start;
                return Some(is_joined);
            }
            is_joined = true;
            self.table()?;
            if is_join && self.word(&["ON"]).is_some() {
                self.condition()?;
            } else if is_join && self.word(&["USING"]).is_some() {
                self.sign('(')?;
                self.name()?;
                while self.sign(',').is_some() {
                    self.name()?;
                }
                self.sign(')')?;
            }
        }
    }

    /// `books`, `shop.books`, `books AS b`, `books b`.
    fn table(&mut self) -> Option<()> {
        self.column()?;
        let is_named = match self.rest().first()? {
            Token::Name(_) => true,
            word @ Token::Word(_) => !word.is(&BEHIND_TABLES) && !word.is(&JOINS),
            _ => false,
        };
        if self.word(&["AS"]).is_some() || is_named {
            self.name()?;
        }
        Some(())
    }

    /// `id IN (?)`, and nothing that would make more of it behind it.
    fn key(&mut self) -> Option<(Column<'t>, usize)> {
        let start = self.at;
        let key = self.column().filter(|_| self.word(&["IN"]).is_some());
        let list = [Token::Sign('('), Token::Placeholder, Token::Sign(')')];
        let is_list = self.rest().starts_with(&list);
        let ends = self.rest().get(3).is_none_or(|token| token.is(&["AND", "ORDER"]));
        let Some(key) = key.filter(|_| is_list && ends) else {
            self.at = start;
            return None;
        };
        self.at += list.len();
        self.placeholders += 1;
        Some((key, self.placeholders - 1))
    }

    /// Comparisons joined by `AND` and `OR`.
    fn condition(&mut self) -> Option<()> {
        self.comparison()?;
        while self.word(&["AND", "OR"]).is_some() {
            self.comparison()?;
        }
        Some(())
    }

    /// One comparison, or several between brackets.
    fn comparison(&mut self) -> Option<()> {
        while self.word(&["NOT"]).is_some() {}
        self.value()?;
        loop {
            let is_compared = self.signs(&["<=", ">=", "<>", "!=", "=", "<", ">"]);
            if is_compared {
                self.value()?;
                continue;
            }
            if self.word(&["IS"]).is_some() {
                self.word(&["NOT"]);
                self.word(&["NULL", "TRUE", "FALSE"])?;
                continue;
            }
            let start = self.at;
            self.word(&["NOT"]);
            if self.word(&["IN"]).is_some() {
                self.sign('(')?;
                self.values()?;
                self.sign(')')?;
            } else if self.word(&["LIKE", "ILIKE"]).is_some() {
                self.value()?;
            } else if self.word(&["BETWEEN"]).is_some() {
                self.value()?;
                self.word(&["AND"])?;
                self.value()?;
            } else {
                self.at = start;
                return Some(());
            }
        }
    }

    fn values(&mut self) -> Option<()> {
        self.value()?;
        while self.sign(',').is_some() {
            self.value()?;
        }
        Some(())
    }

    /// Columns, values and placeholders that are reckoned with.
    fn value(&mut self) -> Option<()> {
        self.operand()?;
        while self.signs(&["+", "-", "*", "/", "%"]) {
            self.operand()?;
        }
        Some(())
    }

    fn operand(&mut self) -> Option<()> {
        self.sign('-');
        match *self.rest().first()? {
            Token::Value(_) => self.at += 1,
            Token::Placeholder => {
                self.at += 1;
                self.placeholders += 1;
            }
            Token::Sign('(') if self.depth < DEEPEST => {
                self.at += 1;
                self.depth += 1;
                self.condition()?;
                self.depth -= 1;
                self.sign(')')?;
            }
            function @ Token::Word(_) if self.rest().get(1) == Some(&Token::Sign('(')) => {
                if !function.is(&FUNCTIONS) || self.depth >= DEEPEST {
                    return None;
                }
                self.at += 2;
                self.depth += 1;
                if self.sign(')').is_none() {
                    self.values()?;
                    self.sign(')')?;
                }
                self.depth -= 1;
            }
            word if word.is(&BETWEEN) => return None,
            _ => {
                self.column()?;
            }
        }
        Some(())
    }

    /// `title`, `books.title DESC`, `2`.
    fn order(&mut self) -> Option<()> {
        if let Some(Token::Value(_)) = self.rest().first() {
            self.at += 1;
        } else {
            self.column()?;
        }
        self.word(&["ASC", "DESC"]);
        if self.word(&["NULLS"]).is_some() {
            self.word(&["FIRST", "LAST"])?;
        }
        Some(())
    }

    /// `title`, or `books.title`; for tables `books`, or `shop.books`.
    fn column(&mut self) -> Option<Column<'t>> {
        let name = self.name()?;
        if self.sign('.').is_none() {
            return Some(Column { table: None, name });
        }
        Some(Column { table: Some(name), name: self.name()? })
    }

    fn name(&mut self) -> Option<&'t str> {
        let (Token::Word(name) | Token::Name(name)) = *self.rest().first()? else { return None };
        self.at += 1;
        Some(name)
    }

    fn word(&mut self, words: &[&str]) -> Option<()> {
        let is_one = self.rest().first()?.is(words);
        self.at += usize::from(is_one);
        is_one.then_some(())
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        let is_it = *self.rest().first()? == Token::Sign(sign);
        self.at += usize::from(is_it);
        is_it.then_some(())
    }

    /// Whether one of these comes next, the longest first; then it is behind.
    fn signs(&mut self, known: &[&str]) -> bool {
        let comes = |signs: &&&str| {
            signs.chars().enumerate().all(|(index, sign)| self.rest().get(index) == Some(&Token::Sign(sign)))
        };
        let length = known.iter().find(comes).map_or(0, |signs| signs.len());
        self.at += length;
        length > 0
    }

    fn rest(&self) -> &'t [Token<'t>] {
        self.tokens.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::statement;
    use super::*;

    fn batched(text: &str) -> Result<Batch, Reason> {
        batch(text, &statement(text).unwrap())
    }

    #[test]
    fn a_look_up_by_a_list_of_keys_can_be_put_together() {
        let column = |text| batched(text).unwrap().column;
        assert_eq!(column("SELECT * FROM books WHERE id IN (?)"), "id");
        assert_eq!(column("SELECT b.`id` FROM books b WHERE b.`id` in ( ? ) ORDER BY b.title"), "id");
        let parameter = |text| batched(text).unwrap().parameter;
        assert_eq!(parameter("SELECT * FROM books WHERE shop = ? AND id IN (?)"), 1);
        assert_eq!(parameter("SELECT id FROM a JOIN b ON b.shop = ? WHERE a.k IN (1, ?) AND id IN (?)"), 2);
        for (text, cause) in [
            ("SELECT id FROM a WHERE id = ?", "it has 0 lists of keys, and one is needed"),
            ("SELECT id FROM a WHERE id NOT IN (?)", "it has 0 lists of keys, and one is needed"),
            ("SELECT id, b FROM a WHERE id IN (?) AND b IN (?)", "it has 2 lists of keys, and one is needed"),
            (
                "SELECT * FROM a WHERE id IN (?) LIMIT 3",
                "`LIMIT` is more than plain columns that are compared with values",
            ),
            (
                "SELECT id, GROUP_CONCAT(title) FROM a WHERE id IN (?)",
                "`GROUP_CONCAT` is more than plain columns that are compared with values",
            ),
            ("SELECT * FROM a", "it ends too early"),
            ("DELETE FROM a WHERE id IN (?)", "it writes, and writes are never put together"),
        ] {
            assert_eq!(batched(text).unwrap_err().cause, cause, "{text}");
        }
    }

    #[test]
    fn rows_are_looked_at_one_by_one_or_look_ups_are_not_put_together() {
        for text in [
            // What is selected is more than a column.
            "SELECT id, group_concat(title) FROM a WHERE id IN (?)",
            "SELECT id, string_agg(title, ',') FROM a WHERE id IN (?)",
            "SELECT id, count(*) FROM a WHERE id IN (?)",
            "SELECT id, row_number() OVER w FROM a WHERE id IN (?)",
            "SELECT id, lag(title) OVER (ORDER BY id) AS before FROM a WHERE id IN (?)",
            "SELECT id, upper(title) FROM a WHERE id IN (?)",
            "SELECT id, own_function(title) AS x FROM a WHERE id IN (?)",
            "SELECT id, (SELECT count(*) FROM a) AS n FROM a WHERE id IN (?)",
            "SELECT id, @n := @n + 1 AS n FROM a WHERE id IN (?)",
            "SELECT id, a || b AS c FROM a WHERE id IN (?)",
            "SELECT id, title t FROM a WHERE id IN (?)",
            "SELECT id, 1 FROM a WHERE id IN (?)",
            "SELECT id, ? FROM a WHERE id IN (?)",
            "SELECT DISTINCT id FROM a WHERE id IN (?)",
            "SELECT DISTINCT ON (shop) id FROM a WHERE id IN (?)",
            "SELECT SQL_CALC_FOUND_ROWS id FROM a WHERE id IN (?)",
            "SELECT TOP (1) id FROM a WHERE id IN (?)",
            // What is behind the filter looks at several rows.
            "SELECT id FROM a WHERE id IN (?) GROUP BY id",
            "SELECT id FROM a WHERE id IN (?) HAVING id > 1",
            "SELECT id FROM a WHERE id IN (?) LIMIT 1",
            "SELECT id FROM a WHERE id IN (?) ORDER BY id LIMIT 1",
            "SELECT id FROM a WHERE id IN (?) ORDER BY count(*)",
            "SELECT id FROM a WHERE id IN (?) ORDER BY group_concat(title)",
            "SELECT id FROM a WHERE id IN (?) OFFSET 1 ROWS",
            "SELECT id FROM a WHERE id IN (?) FETCH FIRST ROW ONLY",
            "SELECT id FROM a WHERE id IN (?) UNION SELECT id FROM b",
            "SELECT id FROM a WHERE id IN (?) WINDOW w AS (ORDER BY id)",
            "SELECT id FROM a WHERE id IN (?) FOR UPDATE SKIP LOCKED",
            "SELECT id FROM a WHERE id IN (?) PROCEDURE ANALYSE()",
            // Rows are found by something else as well.
            "SELECT id FROM a WHERE id IN (?) OR public",
            "SELECT id FROM a WHERE mine || id IN (?)",
            "SELECT id FROM a WHERE NOT (id IN (?))",
            "SELECT id FROM a WHERE NOT id IN (?)",
            "SELECT id FROM a WHERE id IN (?) IS NOT TRUE",
            "SELECT id FROM a WHERE n BETWEEN 1 AND id IN (?)",
            "SELECT id FROM a WHERE (@n := @n + 1) < 3 AND id IN (?)",
            "SELECT id FROM a WHERE nextval('s') < 3 AND id IN (?)",
            "SELECT id FROM a WHERE n = (SELECT max(n) FROM a) AND id IN (?)",
            "SELECT id FROM a WHERE parent IN (SELECT id FROM b WHERE id IN (?))",
            "SELECT id FROM a WHERE CASE WHEN b AND id IN (?) AND c THEN d END",
            "SELECT id FROM a LEFT JOIN b ON b.id IN (?)",
            "SELECT id FROM (SELECT id FROM a LIMIT 3) b WHERE id IN (?)",
            "SELECT id FROM a TABLESAMPLE system (10) WHERE id IN (?)",
            "SELECT id FROM a, LATERAL (SELECT 1) b WHERE id IN (?)",
            "SELECT id FROM a, generate_series(1, 3) WHERE id IN (?)",
            "WITH b AS (SELECT id FROM a WHERE id IN (?)) SELECT id FROM c",
            "(SELECT id FROM a WHERE id IN (?))",
            // Databases do not agree on where this text ends.
            "SELECT id FROM a WHERE b = 'x\\' AND id IN (?) AND c = ' OR 1'",
        ] {
            assert!(batched(text).is_err(), "{text}");
        }
        let deep = format!("SELECT id FROM a WHERE {}1{} AND id IN (?)", "(".repeat(9999), ")".repeat(9999));
        assert!(batched(&deep).is_err());
        for text in [
            "SELECT * FROM books WHERE id IN (?);",
            "SELECT b.*, b.title AS \"count\" FROM books AS b WHERE b.id IN (?)",
            "SELECT id FROM books WHERE (a OR b) AND id IN (?) ORDER BY title DESC NULLS LAST, 1",
            "SELECT id FROM shop.books WHERE id IN (?) AND a IS NOT NULL AND b >= -1.5 AND NOT c AND d NOT LIKE 'x%'",
            "SELECT id FROM books WHERE lower(title) = lower(?) AND n BETWEEN 1 AND 3 AND id IN (?) -- so",
            "SELECT id FROM books WHERE until > now() AND price * 2 < ? + 1 AND id IN (?) AND n NOT IN (1, 2)",
            "SELECT u.id, o.price FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?) AND o.shop = ?",
            "SELECT u.* FROM users u NATURAL LEFT OUTER JOIN orders CROSS JOIN x USING (a, b), y WHERE u.id IN (?)",
        ] {
            assert!(batched(text).is_ok(), "{text}: {:?}", batched(text));
        }
    }

    #[test]
    fn rows_are_handed_back_by_the_very_column_that_is_looked_for() {
        for text in [
            "SELECT o.id, o.price FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT * FROM orders o JOIN users u ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT o.* FROM orders o, users u WHERE o.user_id = u.id AND u.id IN (?)",
            "SELECT parent AS id, title FROM a WHERE id IN (?)",
            "SELECT id, parent AS ID FROM a WHERE id IN (?)",
            "SELECT *, parent AS id FROM a WHERE id IN (?)",
            "SELECT id AS parent FROM a WHERE id IN (?)",
            "SELECT u.id, o.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id IN (?)",
            "SELECT title FROM a WHERE id IN (?)",
        ] {
            let cause = batched(text).unwrap_err().cause;
            assert!(
                cause.contains("of the answer") || cause.contains("the answer has no"),
                "{text}: {cause}"
            );
        }
    }
}
