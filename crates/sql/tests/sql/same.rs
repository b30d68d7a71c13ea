//! The same table gives the same JSON on all three databases.

use plan::{Rows, Statement};

use super::{ask, int, ints, line, on_a_core, reads, text};
use crate::database;

const MYSQL: &str =
    "CREATE TABLE same (id BIGINT PRIMARY KEY, title VARCHAR(100), description TEXT, price DECIMAL(10,2),
    weight DOUBLE, sold DATE, made DATETIME(6), tags JSON);";
const POSTGRES: &str =
    "CREATE TABLE same (id BIGINT PRIMARY KEY, title VARCHAR(100), description TEXT, price DECIMAL(10,2),
    weight DOUBLE PRECISION, sold DATE, made TIMESTAMP, tags JSON);";
const SQLITE: &str =
    "CREATE TABLE same (id BIGINT PRIMARY KEY, title VARCHAR(100), description TEXT, price DECIMAL(10,2),
    weight DOUBLE, sold DATE, made DATETIME, tags JSON);";
const ROWS: &str = r#"INSERT INTO same VALUES
    (1, 'Shoe "fast"', 'läuft', 9.25, 0.1, '2024-01-31', '2024-01-31 12:34:56', '{"a": [1, 2]}'),
    (2, 'Sock', NULL, NULL, NULL, NULL, NULL, NULL),
    (9007199254740993, '', 'a/b', -0.5, 1e100, '1999-12-31', '1999-12-31 23:59:59.5', '[]');"#;

#[test]
fn a_table_gives_the_same_json_on_all_databases() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    mariadb.execute(&format!("{MYSQL}{ROWS}"));
    postgresql.execute(&format!("{POSTGRES}{ROWS}"));
    let (_folder, sqlite) = database::sqlite(&format!("{SQLITE}{ROWS}"));
    on_a_core(async {
        let lines = [line(database::mysql(&mariadb)), line(database::postgres(&postgresql)), line(sqlite)];
        let all = reads(
            "SELECT id, title, description, weight, sold, made, tags FROM same WHERE id IN (?) ORDER BY id",
        );
        let keys = ints([1, 2, 9_007_199_254_740_993]);
        let json = concat!(
            r#"[{"id":1,"title":"Shoe \"fast\"","description":"läuft","weight":0.1,"sold":"2024-01-31","#,
            r#""made":"2024-01-31T12:34:56","tags":{"a": [1, 2]}},"#,
            r#"{"id":2,"title":"Sock","description":null,"weight":null,"sold":null,"made":null,"tags":null},"#,
            r#"{"id":9007199254740993,"title":"","description":"a/b","weight":1e+100,"sold":"1999-12-31","#,
            r#""made":"1999-12-31T23:59:59.5","tags":[]}]"#,
        );
        for line in &lines {
            let name = line.shared().plan().database.address();
            assert_eq!(ask(line, &all, std::slice::from_ref(&keys)).await.unwrap(), json, "{name}");
            let price = Statement { rows: Rows::Value, ..reads("SELECT price FROM same WHERE id = ?") };
            assert_eq!(ask(line, &price, &[text("1")]).await.unwrap(), "9.25", "{name}");
            assert_eq!(ask(line, &price, &[int(2)]).await.unwrap(), "null", "{name}");
            assert_eq!(ask(line, &price, &[int(3)]).await.unwrap(), "null", "{name}");
            let ids =
                Statement { rows: Rows::Column, ..reads("SELECT id FROM same WHERE id IN (?) ORDER BY id") };
            assert_eq!(ask(line, &ids, &[ints([2, 1, 7])]).await.unwrap(), "[1,2]", "{name}");
            assert_eq!(ask(line, &ids, &[ints([])]).await.unwrap(), "[]", "{name}");
            let first =
                Statement { rows: Rows::First, ..reads("SELECT id, title FROM same WHERE title = ?") };
            assert_eq!(
                ask(line, &first, &[text("Sock")]).await.unwrap(),
                r#"{"id":2,"title":"Sock"}"#,
                "{name}"
            );
        }
    });
}
