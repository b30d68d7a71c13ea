//! Statement: SQL as it is written → [`Statement`], taken apart at its placeholders. In comes a text, out goes what may
//! be sent, or why not. Called by `compose::call`.
//!
//! No SQL is parsed: a text is cut into words, strings and signs (`token`), which all three databases do alike. Only what
//! is to be put together with others has to follow a grammar (`batch`).

mod batch;
mod token;

use crate::meant::{Rows, Statement};
use crate::yaml::fault::Reason;
pub(crate) use batch::batch;
use token::{Token, tokens};

/// What a statement that only reads begins with.
const READS: [&str; 7] = ["SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESCRIBE", "EXPLAIN"];
/// What a statement that writes has in it, behind `WITH` and `EXPLAIN`.
const WRITES: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "MERGE"];
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
    let Some(first @ Token::Word(_)) = tokens.iter().copied().find(|token| *token != Token::Sign('(')) else {
        return Err(Reason::new(
            "there is no statement",
            "write one, like `SELECT name FROM users WHERE id = ?`",
        ));
    };
    let has = |words: &[&str]| tokens.iter().any(|token| token.is(words));
    // `EXPLAIN ANALYZE` carries out what it explains; `SELECT … INTO` makes a table, or a file.
    let may_write = first.is(&["WITH", "EXPLAIN"]) && has(&WRITES) || has(&["INTO"]);
    let reads = first.is(&READS) && !may_write;
    Ok(Statement { pieces, reads, rows: Rows::All, batch: None })
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
            ("SELECT 'into', \"into\"", true),
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
            (
                "SELECT a FROM b /*! INTO OUTFILE '/tmp/a' */",
                "write it outside of the comment, or take it out",
            ),
        ] {
            assert_eq!(statement(text).unwrap_err().remedy, remedy, "{text}");
        }
    }
}
