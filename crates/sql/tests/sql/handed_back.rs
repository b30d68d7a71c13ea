//! Rows of a batch are handed back to who asked for them, and nobody gets what it would not have got alone.

use std::time::Duration;

use expression::{Parameter, Scalar};
use message::Kind;
use plan::{Rows, SqlSource, Statement};
use proptest::prelude::*;

use super::{ask, int, ints, line, on_a_core, reads, text};
use crate::batching::{batched, look_up, together};
use crate::database;

#[test]
fn what_is_no_whole_number_asks_for_itself() {
    let tables = "CREATE TABLE t (id TEXT, title TEXT COLLATE NOCASE);
        INSERT INTO t VALUES ('a', 'x'), ('A', 'y'), ('7', 'z'), ('07', 'w'), ('7 ', 'v')";
    let (_folder, sqlite) = database::sqlite(tables);
    on_a_core(async {
        let line = line(sqlite);
        let keys = ["a", "A", "07", "7 ", "7", "b", "7 OR 1=1"];
        let all: Vec<_> = keys.iter().map(|key| vec![text(key)]).collect();
        let answers = together(&line, &look_up(), &all).await;
        let found = [Some("x"), Some("y"), Some("w"), Some("v"), Some("z"), None, None];
        for ((key, title), answer) in keys.iter().zip(found).zip(answers) {
            let row = title.map(|title| format!(r#"{{"id":"{key}","title":"{title}"}}"#));
            assert_eq!(answer.unwrap(), format!("[{}]", row.unwrap_or_default()));
        }
        // The first batch of whole numbers shows that the column is none: from then on nobody waits for others.
        let all: Vec<_> = [7, 7, 7, 7].iter().map(|key| vec![int(*key)]).collect();
        let mut batches = 0;
        for _ in 0..100 {
            for answer in together(&line, &look_up(), &all).await {
                assert_eq!(answer.unwrap(), r#"[{"id":"7","title":"z"}]"#);
            }
            let before = std::mem::replace(&mut batches, line.shared().figures().batches);
            if batches == before {
                return;
            }
        }
        panic!("batches go on");
    });
}

#[test]
fn an_error_is_told_to_all_callers() {
    let (_folder, sqlite) = database::sqlite("");
    on_a_core(async {
        let all: Vec<_> = (0..10).map(|key| vec![int(key)]).collect();
        for answer in together(&line(sqlite), &look_up(), &all).await {
            assert_eq!(answer.unwrap_err().kind(), Kind::UnusableReply);
        }
    });
}

#[test]
fn many_keys_go_out_in_several_statements() {
    let rows: Vec<_> = (0..3_000).map(|id| format!("({id}, 'x')")).collect();
    let (_folder, sqlite) = database::sqlite(&format!(
        "CREATE TABLE t (id INTEGER, title TEXT); INSERT INTO t VALUES {}",
        rows.join(",")
    ));
    on_a_core(async {
        let line = line(sqlite);
        let count =
            batched(Statement { rows: Rows::Column, ..reads("SELECT id FROM t WHERE id IN (?)") }, "id");
        let all: Vec<_> = (0..30).map(|caller| vec![ints(caller * 100..caller * 100 + 100)]).collect();
        for (caller, answer) in together(&line, &count, &all).await.into_iter().enumerate() {
            let ids: Vec<_> = (caller * 100..caller * 100 + 100).map(|id| id.to_string()).collect();
            assert_eq!(answer.unwrap(), format!("[{}]", ids.join(",")));
        }
        let figures = line.shared().figures();
        assert!(figures.queries >= 6 && figures.queries <= 10, "{figures:?}");
    });
}

/// What a caller asks for: a few keys, as texts or numbers, in any form.
fn caller() -> impl Strategy<Value = Parameter> {
    let key = prop_oneof![
        8 => (-2_i64..8).prop_map(|key| Scalar::Text(key.to_string())),
        4 => (-2_i64..8).prop_map(Scalar::Int),
        1 => Just(Scalar::Text("07".to_owned())),
        1 => Just(Scalar::Null),
    ];
    prop_oneof![
        3 => key.clone().prop_map(Parameter::One),
        2 => prop::collection::vec(key, 0..4).prop_map(Parameter::List),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn each_gets_what_it_would_have_got_alone(
        rows in prop::collection::vec((-2_i64..8, "[a-c]{0,2}"), 0..12),
        callers in prop::collection::vec(caller(), 1..12),
        form in prop_oneof![Just(Rows::All), Just(Rows::First), Just(Rows::Value), Just(Rows::Column)],
        typed in any::<bool>(),
    ) {
        let kind = if typed { "INTEGER" } else { "" };
        let rows: Vec<_> = rows.iter().map(|(id, title)| format!("INSERT INTO t VALUES ({id}, '{title}');")).collect();
        let rows = rows.concat();
        let (_folder, sqlite) = database::sqlite(&format!("CREATE TABLE t (id {kind}, title TEXT);{rows}"));
        on_a_core(async {
            let line = line(SqlSource { wait: Duration::from_secs(20), ..sqlite });
            let alone = Statement { rows: form, ..reads("SELECT title, id FROM t WHERE id IN (?) ORDER BY title, id") };
            let callers: Vec<_> = callers.into_iter().map(|caller| vec![caller]).collect();
            let answers = together(&line, &batched(alone.clone(), "id"), &callers).await;
            for (parameters, answer) in callers.iter().zip(answers) {
                // A column of no type tells a text from a number, so there a caller of a batch asks by number.
                let by_number = |value: &Scalar| match value {
                    Scalar::Text(text) if text != "07" => Scalar::Int(text.parse().unwrap()),
                    other => other.clone(),
                };
                let has_only_whole = |values: &[Scalar]| values.iter().all(|value| {
                    !matches!(value, Scalar::Null) && *value != Scalar::Text("07".to_owned())
                });
                let parameters = match &parameters[0] {
                    Parameter::List(values) if has_only_whole(values) => {
                        Parameter::List(values.iter().map(by_number).collect())
                    }
                    Parameter::One(value) => Parameter::One(by_number(value)),
                    list @ Parameter::List(_) => list.clone(),
                };
                assert_eq!(answer.unwrap(), ask(&line, &alone, &[parameters]).await.unwrap());
            }
        });
    }
}
