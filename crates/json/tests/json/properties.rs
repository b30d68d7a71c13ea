//! Any JSON, spelled in any way: everything gives what the same on `serde_json::Value` gives.

use std::borrow::Cow;
use std::fmt::Write;

use json::{Shape, Step};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Few names, so that they meet; one that needs an escape.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "id", "", "é\"\\\n"]).prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["0", "-0", "1", "1.0", "10e-1", "2", "1.50", "-7", "1e3"])
        .prop_map(str::to_owned)
}

fn space() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "", " ", "\n\t", "\r"]).prop_map(str::to_owned)
}

/// A string, some of its characters escaped.
fn string(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (text, any::<u8>()).prop_map(|(text, mask)| {
        let mut out = String::from("\"");
        for (at, character) in text.chars().enumerate() {
            if mask >> (at % 8) & 1 == 1 || character < ' ' || matches!(character, '"' | '\\') {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").unwrap();
                }
            } else {
                out.push(character);
            }
        }
        out + "\""
    })
}

/// JSON as somebody wrote it: names twice, white space, escapes.
fn json_text() -> impl Strategy<Value = String> {
    let texts = prop::sample::select(vec!["", "x", "a\"}]", "[{,:", "😀é\\"]).prop_map(str::to_owned);
    let words = prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned);
    let leaf = prop_oneof![number(), string(texts), words];
    let spaced = (space(), leaf, space()).prop_map(|(before, leaf, behind)| before + &leaf + &behind);
    spaced.prop_recursive(4, 48, 6, |inner| {
        let member = (string(name()), space(), inner.clone());
        let member = member.prop_map(|(name, space, value)| format!("{space}{name}{space}:{value}"));
        let list = vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(",")));
        let map = vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(",")));
        (space(), prop_oneof![list, map]).prop_map(|(space, value)| format!("{space}{value}{space}"))
    })
}

fn list_of_maps() -> impl Strategy<Value = String> {
    let member = (string(name()), prop_oneof![number(), string(name()), Just("null".to_owned())]);
    let member = member.prop_map(|(name, value)| format!("{name}: {value}"));
    let map = vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")));
    vec(prop_oneof![9 => map, 1 => json_text()], 0..8).prop_map(|maps| format!("[{}]", maps.join(" ,")))
}

fn path() -> impl Strategy<Value = Vec<Step>> {
    let step =
        prop_oneof![name().prop_map(|name| Step::Field(name.into())), (0_usize..4).prop_map(Step::Index)];
    vec(step, 0..4)
}

/// Names with none to two dots.
fn dotted() -> impl Strategy<Value = Box<str>> {
    vec(name(), 1..4).prop_map(|names| names.join(".").into())
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn reshaped(json: &str, shape: &Shape) -> Value {
    let mut out = Vec::new();
    json::reshape(json, shape, &mut out);
    value(std::str::from_utf8(&out).unwrap())
}

fn each_map(value: &Value, change: &dyn Fn(&Map<String, Value>) -> Value) -> Value {
    let one = |value: &Value| value.as_object().map_or_else(|| value.clone(), change);
    value.as_array().map_or_else(|| one(value), |items| items.iter().map(one).collect())
}

fn inside<'n>(names: &[&'n str], name: &str) -> Vec<&'n str> {
    let rest =
        |path: &&'n str| path.split_once('.').filter(|(first, _)| *first == name).map(|(_, rest)| rest);
    names.iter().filter_map(rest).collect()
}

fn pick(map: &Map<String, Value>, names: &[&str]) -> Value {
    let mut kept = Map::new();
    for (name, value) in map {
        let inside = inside(names, name);
        if names.contains(&&**name) {
            kept.insert(name.clone(), value.clone());
        } else if !inside.is_empty() {
            let inner = match value {
                Value::Object(map) => pick(map, &inside),
                Value::Array(items) => {
                    items.iter().filter_map(Value::as_object).map(|map| pick(map, &inside)).collect()
                }
                _ => continue,
            };
            kept.insert(name.clone(), inner);
        }
    }
    kept.into()
}

fn leave_out(map: &Map<String, Value>, names: &[&str]) -> Value {
    let kept = map.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    let inner = |(name, value): (&String, &Value)| {
        let inside = inside(names, name);
        (name.clone(), each_map(value, &|map| leave_out(map, &inside)))
    };
    kept.map(inner).collect::<Map<_, _>>().into()
}

/// What two values are joined by: numbers as `f64`, which those of these tests fit into.
fn key(map: &Map<String, Value>, name: &str) -> Option<String> {
    match map.get(name)? {
        Value::Number(number) => Some(format!("number {}", number.as_f64()? + 0.0)),
        Value::String(text) => Some(format!("text {text}")),
        Value::Bool(truth) => Some(format!("truth {truth}")),
        _ => None,
    }
}

fn merged(left: &Value, right: &Value, as_name: Option<&str>) -> Value {
    let right: Vec<_> = right.as_array().unwrap().iter().filter_map(Value::as_object).collect();
    each_map(left, &|map| {
        let own = key(map, "id");
        let mut partners = right.iter().filter(|other| own.is_some() && key(other, "a") == own);
        let mut joined = map.clone();
        if let Some(as_name) = as_name {
            joined.insert(as_name.to_owned(), partners.map(|map| Value::from((*map).clone())).collect());
        } else {
            for (name, value) in partners.next().copied().into_iter().flatten() {
                joined.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        joined.into()
    })
}

proptest! {
    #[test]
    fn a_value_is_found_as_it_stands(json in json_text(), path in path()) {
        let whole = value(&json);
        let expected = path.iter().try_fold(&whole, |value, step| match step {
            Step::Field(name) => value.as_object()?.get(&**name),
            Step::Index(index) => value.as_array()?.get(*index),
        });
        let found = json::find(&json, &path);
        prop_assert_eq!(found.map(value), expected.cloned());
        prop_assert!(found.is_none_or(|found| path.is_empty() || found.trim() == found));
    }

    #[test]
    fn items_members_and_texts_are_those_of_the_value(json in json_text()) {
        let whole = value(&json);
        let items = json::items(&json).map(|items| items.map(value).collect::<Vec<_>>());
        prop_assert_eq!(items.as_ref(), whole.as_array());
        let members = json::members(&json);
        prop_assert_eq!(members.as_ref().map(Vec::len), whole.as_object().map(Map::len));
        let members = members.map(|all| all.into_iter().map(|(name, raw)| (name.into_owned(), value(raw))));
        prop_assert_eq!(members.map(Map::from_iter), whole.as_object().cloned());
        prop_assert_eq!(json::text(&json), whole.as_str().map(Cow::Borrowed));
        prop_assert_eq!(json::check(json.as_bytes()), Some(json.trim()));
    }

    #[test]
    fn picking_is_picking(json in json_text(), names in vec(dotted(), 0..4)) {
        let borrowed: Vec<&str> = names.iter().map(|name| &**name).collect();
        let expected = each_map(&value(&json), &|map| pick(map, &borrowed));
        prop_assert_eq!(reshaped(&json, &Shape::Pick(names.clone())), expected);
    }

    #[test]
    fn dropping_is_dropping(json in json_text(), names in vec(dotted(), 0..4)) {
        let borrowed: Vec<&str> = names.iter().map(|name| &**name).collect();
        let expected = each_map(&value(&json), &|map| leave_out(map, &borrowed));
        prop_assert_eq!(reshaped(&json, &Shape::Drop(names.clone())), expected);
    }

    #[test]
    fn renaming_is_taking_out_and_putting_in(json in json_text(), from in name(), to in name()) {
        let expected = each_map(&value(&json), &|map| {
            let mut map = map.clone();
            if let Some(value) = map.remove(&from) {
                map.insert(to.clone(), value);
            }
            map.into()
        });
        prop_assert_eq!(reshaped(&json, &Shape::Rename(vec![(from.into(), to.into())])), expected);
    }

    #[test]
    fn a_name_inside_is_renamed_there(json in json_text(), outer in name(), from in name(), to in name()) {
        let expected = each_map(&value(&json), &|map| {
            let mut map = map.clone();
            if let Some(inner) = map.get_mut(&outer) {
                *inner = each_map(inner, &|map| {
                    let mut map = map.clone();
                    if let Some(value) = map.remove(&from) {
                        map.insert(to.clone(), value);
                    }
                    map.into()
                });
            }
            map.into()
        });
        let path = format!("{outer}.{from}");
        prop_assert_eq!(reshaped(&json, &Shape::Rename(vec![(path.into(), to.into())])), expected);
    }

    #[test]
    fn flattening_is_flattening(json in json_text()) {
        let expected = match value(&json) {
            Value::Array(items) => items
                .into_iter()
                .flat_map(|item| match item {
                    Value::Array(inner) => inner,
                    other => vec![other],
                })
                .collect(),
            Value::Object(_) => {
                // In the order of the text: that is what the last one is told by.
                let mut flat = Map::new();
                for (name, inner) in json::members(&json).unwrap() {
                    match value(inner) {
                        Value::Object(map) => flat.extend(map),
                        other => drop(flat.insert(name.into_owned(), other)),
                    }
                }
                flat.into()
            }
            other => other,
        };
        prop_assert_eq!(reshaped(&json, &Shape::Flatten), expected);
    }

    #[test]
    fn merging_is_joining(left in list_of_maps(), right in list_of_maps(), as_name in prop::option::of(name())) {
        let as_name = as_name.as_deref();
        let mut out = Vec::new();
        json::merge(&left, &right, "id", "a", as_name, usize::MAX, &mut out).unwrap();
        let expected = merged(&value(&left), &value(&right), as_name);
        prop_assert_eq!(value(std::str::from_utf8(&out).unwrap()), expected);
    }

    #[test]
    fn lists_one_behind_the_other_are_one(lists in vec(json_text(), 0..5)) {
        let mut out = Vec::new();
        json::concat(&lists, &mut out);
        let expected: Vec<Value> = lists
            .iter()
            .flat_map(|list| match value(list) {
                Value::Array(items) => items,
                other => vec![other],
            })
            .collect();
        prop_assert_eq!(value(std::str::from_utf8(&out).unwrap()), Value::from(expected));
    }

    #[test]
    fn text_goes_out_and_comes_back(text in any::<String>()) {
        let mut out = Vec::new();
        json::write_string(&text, &mut out);
        prop_assert_eq!(json::text(std::str::from_utf8(&out).unwrap()), Some(Cow::Borrowed(&*text)));
    }

    #[test]
    fn what_is_no_json_harms_nobody(text in r#"[\[\]{}":,\\u01éa \n-]{0,40}"#, path in path()) {
        let mut out = Vec::new();
        let _ = json::find(&text, &path);
        let _ = (json::text(&text), json::members(&text), json::items(&text).map(Iterator::count));
        for shape in [
            Shape::Pick(vec!["a.a".into()]),
            Shape::Drop(vec!["a".into()]),
            Shape::Rename(vec![("a".into(), "b".into())]),
            Shape::Flatten,
        ] {
            json::reshape(&text, &shape, &mut out);
        }
        json::concat([&text], &mut out);
        let _ = json::merge(&text, &text, "a", "a", None, 1 << 20, &mut out);
    }
}
