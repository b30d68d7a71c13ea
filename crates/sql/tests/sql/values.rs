//! Values come out as they are, and go in as what they are: bound, never spliced, never shown.

use expression::{Parameter, Scalar};
use message::Kind;
use plan::{Rows, SqlSource, Statement};

use super::{ask, int, line, on_a_core, reads, text, writes};
use crate::database;

/// What strangers write into URLs.
const ATTEMPTS: [&str; 8] =
    ["1 OR 1=1", "' OR ''='", "\" OR \"\"=\"", "\\' OR 1=1 -- ", "1; DROP TABLE t", "a\0b", "%27", "💩\\"];

#[test]
fn texts_of_strangers_are_bound_and_found_as_they_are() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    mariadb.execute("CREATE TABLE attempts (word VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)");
    postgresql.execute("CREATE TABLE attempts (word VARCHAR(100))");
    let (_folder, sqlite) = database::sqlite("CREATE TABLE attempts (word VARCHAR(100))");
    on_a_core(async {
        for plan in [database::mysql(&mariadb), database::postgres(&postgresql), sqlite] {
            let line = line(plan);
            let name = line.shared().plan().database.address();
            for attempt in ATTEMPTS {
                let find =
                    Statement { rows: Rows::Column, ..reads("SELECT word FROM attempts WHERE word = ?") };
                let found = ask(&line, &find, &[text(attempt)]).await;
                if attempt.contains('\0') && name.starts_with("postgres") {
                    let error = found.unwrap_err();
                    assert_eq!(error.kind(), Kind::MalformedRequest);
                    assert!(error.detail().contains("placeholder 1"), "{error}");
                    continue;
                }
                assert_eq!(found.unwrap(), "[]", "{name} {attempt:?}");
                ask(&line, &writes("INSERT INTO attempts VALUES (?)"), &[text(attempt)]).await.unwrap();
                let json = serde_json::to_string(&[attempt]).unwrap();
                assert_eq!(ask(&line, &find, &[text(attempt)]).await.unwrap(), json, "{name}");
            }
        }
    });
}

#[test]
fn a_parameter_that_its_type_cannot_hold_is_told_by_its_number() {
    let postgresql = database::postgresql();
    postgresql.execute(
        "CREATE TYPE mood AS ENUM ('good', 'bad');
         CREATE TABLE kinds (a INT8, b UUID, c DATE, d NUMERIC, e JSONB, f mood, g INET, h BOOL, i FLOAT8, j TIMESTAMPTZ)",
    );
    on_a_core(async {
        let line = line(database::postgres(&postgresql));
        for (column, fits) in [
            ("a", "7"),
            ("b", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
            ("c", "2024-01-31"),
            ("d", "12345678901234567890.10"),
            ("e", "{\"a\": 1}"),
            ("f", "good"),
            ("g", "10.0.0.1"),
            ("h", "true"),
            ("i", "1.5"),
            ("j", "2024-01-31T12:34:56Z"),
        ] {
            let find = reads(&format!("SELECT 1 FROM kinds WHERE 1 = ? AND {column} = ?"));
            assert_eq!(ask(&line, &find, &[int(1), text(fits)]).await.unwrap(), "[]", "{column}");
            let error = ask(&line, &find, &[int(1), text("hunter2")]).await.unwrap_err();
            assert_eq!(error.kind(), Kind::MalformedRequest, "{column}: {error}");
            assert!(error.detail().contains("placeholder 2"), "{column}: {error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
        assert_eq!(line.shared().figures().connects, 1);
    });
}

#[test]
fn what_a_database_refuses_is_told_without_values() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    let table = "CREATE TABLE named (name VARCHAR(50) PRIMARY KEY); INSERT INTO named VALUES ('hunter2')";
    mariadb.execute(table);
    postgresql.execute(table);
    let (_folder, sqlite) = database::sqlite(table);
    on_a_core(async {
        for plan in [database::mysql(&mariadb), database::postgres(&postgresql), sqlite] {
            let line = line(SqlSource { pool: 1, ..plan });
            for (statement, said) in [
                (reads("SELECT nothing FROM named WHERE name = ?"), "nothing"),
                (reads("SELECT 1 FROM nowhere WHERE name = ?"), "nowhere"),
                (reads("SELEC ?"), "SELEC"),
                (writes("INSERT INTO named VALUES (?)"), "named"),
            ] {
                let error = ask(&line, &statement, &[text("hunter2")]).await.unwrap_err();
                assert_eq!(error.kind(), Kind::UnusableReply, "{error}");
                assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
                let is_mysql_duplicate = error.detail().contains("1062");
                assert!(error.to_string().contains(said) || is_mysql_duplicate, "{error}");
            }
            assert_eq!(line.shared().figures().connects, 1);
        }
    });
}

#[test]
fn values_of_mariadb_come_out_as_they_are() {
    let mariadb = database::mariadb();
    mariadb.execute(
        "CREATE TABLE numbers (a BIGINT UNSIGNED, b TINYINT, c BOOLEAN, d DECIMAL(30,10), e FLOAT, f DOUBLE, g BIT(10),
            h YEAR, i INT(5) ZEROFILL);
         INSERT INTO numbers VALUES (18446744073709551615, -128, TRUE, 12345678901234567890.1, 0.1, 1e300, 513, 2024, 42);
         CREATE TABLE others (a DATE, b DATETIME, c TIMESTAMP(3), d TIME(6), e BLOB, f VARBINARY(10), g ENUM('x', 'y'),
            h SET('p', 'q'), i JSON, j LONGTEXT COLLATE utf8mb4_bin, k CHAR(3), l TIME);
         INSERT INTO others VALUES ('2024-01-31', '2024-01-31 00:00:00', '2024-01-31 12:34:56.789', '-101:02:03.5',
            X'FF00', 'text', 'y', 'p,q', '{\"b\": null}', '{\"c\": 1}', 'ab', '00:00:00')",
    );
    on_a_core(async {
        let line = line(database::mysql(&mariadb));
        let first = |text: &str| Statement { rows: Rows::First, ..reads(text) };
        assert_eq!(
            ask(&line, &first("SELECT * FROM numbers"), &[]).await.unwrap(),
            concat!(
                r#"{"a":18446744073709551615,"b":-128,"c":1,"d":12345678901234567890.1000000000,"e":0.1,"f":1e+300,"#,
                r#""g":513,"h":2024,"i":42}"#,
            ),
        );
        assert_eq!(
            ask(&line, &first("SELECT * FROM others"), &[]).await.unwrap(),
            concat!(
                r#"{"a":"2024-01-31","b":"2024-01-31T00:00:00","c":"2024-01-31T12:34:56.789","d":"-101:02:03.5","#,
                r#""e":"/wA=","f":"text","g":"y","h":"p,q","i":{"b": null},"j":"{\"c\": 1}","k":"ab","l":"00:00:00"}"#,
            ),
        );
        let bound = reads("SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e");
        let values = [
            Scalar::Uint(u64::MAX),
            Scalar::Double(1.5),
            Scalar::Null,
            Scalar::Truth(true),
            Scalar::Bytes(vec![0xff]),
        ];
        assert_eq!(
            ask(&line, &bound, &values.map(Parameter::One)).await.unwrap(),
            r#"[{"a":18446744073709551615,"b":1.5,"c":null,"d":1,"e":"/w=="}]"#,
        );
    });
}

#[test]
fn values_of_postgresql_come_out_as_they_are() {
    let postgresql = database::postgresql();
    on_a_core(async {
        let line = line(database::postgres(&postgresql));
        let first = |text: &str| Statement { rows: Rows::First, ..reads(text) };
        let numbers = "SELECT 1::int2 AS a, (-2)::int4 AS b, 9007199254740993::int8 AS c, 'NaN'::float8 AS d, 0.1::float4 AS e,
            'infinity'::float8 AS f, 12345678901234567890.10::numeric AS g, 0.00::numeric AS h, -0.0001::numeric AS i,
            1e20::numeric AS j, 'NaN'::numeric AS k, 123456::numeric AS l, 7::oid AS m";
        assert_eq!(
            ask(&line, &first(numbers), &[]).await.unwrap(),
            concat!(
                r#"{"a":1,"b":-2,"c":9007199254740993,"d":null,"e":0.1,"f":null,"g":12345678901234567890.10,"h":0.00,"#,
                r#""i":-0.0001,"j":100000000000000000000,"k":null,"l":123456,"m":7}"#,
            ),
        );
        let others = "SELECT true AS a, 'ä\"' AS b, '2024-01-31'::date AS c, '2024-01-31 12:34:56.5'::timestamp AS d,
            '2024-01-31 12:34:56+02'::timestamptz AS e, '12:34:56'::time AS f, '{\"a\": 1}'::json AS g, '[1]'::jsonb AS h,
            'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid AS i, '\\xff00'::bytea AS j, '10.0.0.0/8'::cidr AS k,
            '::1'::inet AS l, ARRAY[[1,NULL],[3,4]] AS m, ARRAY['x','\"'] AS n, '{}'::int[] AS o, 'c'::char(3) AS p,
            '0044-03-15 BC'::date AS q, 'infinity'::timestamptz AS r, NULL AS s";
        assert_eq!(
            ask(&line, &first(others), &[]).await.unwrap(),
            concat!(
                r#"{"a":true,"b":"ä\"","c":"2024-01-31","d":"2024-01-31T12:34:56.5","e":"2024-01-31T10:34:56Z","#,
                r#""f":"12:34:56","g":{"a": 1},"h":[1],"i":"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","j":"/wA=","#,
                r#""k":"10.0.0.0/8","l":"::1","m":[[1,null],[3,4]],"n":["x","\""],"o":[],"p":"c  ","#,
                r#""q":"-0043-03-15","r":"infinity","s":null}"#,
            ),
        );
        let error = ask(&line, &first("SELECT '1 day'::interval AS a"), &[]).await.unwrap_err();
        assert!(error.detail().contains("column a is of type interval"), "{error}");
    });
}

#[test]
fn a_table_that_changes_is_read_as_it_is_now() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    let table = "CREATE TABLE changing (id INT); INSERT INTO changing VALUES (1)";
    mariadb.execute(table);
    postgresql.execute(table);
    let (_folder, sqlite) = database::sqlite(table);
    let change = "ALTER TABLE changing ADD COLUMN b VARCHAR(10)";
    on_a_core(async {
        for plan in [database::mysql(&mariadb), database::postgres(&postgresql), sqlite] {
            let line = line(plan);
            let all = reads("SELECT * FROM changing");
            assert_eq!(ask(&line, &all, &[]).await.unwrap(), r#"[{"id":1}]"#);
            ask(&line, &writes(change), &[]).await.unwrap();
            assert_eq!(ask(&line, &all, &[]).await.unwrap(), r#"[{"id":1,"b":null}]"#);
        }
    });
}
