//! Shape: a value made smaller, flatter or renamed on its way through. Called with what a configuration says.

use crate::enclosed::{LIST, MAP, enclosed};
use crate::list::{concat, items};
use crate::map::{self, Member, each_once, written};
use crate::scan::{JsonKind, kind};
use crate::text::write_string;

/// What is made of a value. All but `Flatten` work on a map, or on each map of a list; anything else stays as it is.
///
/// A name with dots reaches into inner maps, and into each map of an inner list: `address.city`. A name that has a dot
/// itself cannot be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Keeps these and nothing else. What a name with dots reaches into is kept without its other members; where there
    /// is no map to reach into, it is left out.
    Pick(Vec<Box<str>>),
    /// Leaves these out.
    Drop(Vec<Box<str>>),
    /// From what a member is called to what it shall be called. The second is the name alone, for the member stays in
    /// its map. All are renamed at once, so two can change names. Whatever has the new name already is left out; of two
    /// that get the same one, the last stays.
    Rename(Vec<(Box<str>, Box<str>)>),
    /// Of a list of lists one list. Of a map, the members of its inner maps move up into it; of a name that is there
    /// twice then, the last stays. One level, and anything else stays as it is.
    Flatten,
}

/// Appends what the shape makes of this value.
pub fn reshape(json: &str, shape: &Shape, out: &mut Vec<u8>) {
    let json = json.trim_ascii();
    match shape {
        Shape::Pick(names) => each_map(json, out, |map, out| pick(map, names, out)),
        Shape::Drop(names) => each_map(json, out, |map, out| leave_out(map, names, out)),
        Shape::Rename(names) => {
            let written: Vec<String> = names.iter().map(|(_, to)| in_quotes(to)).collect();
            let renamings = names.iter().zip(&written);
            let renamings: Vec<_> =
                renamings.map(|((from, to), written)| Renaming { from, to, written }).collect();
            each_map(json, out, |map, out| rename(map, &renamings, out));
        }
        Shape::Flatten => flatten(json, out),
    }
}

/// Writes a map, or each map of a list, as `write` does; anything else as it is.
fn each_map(json: &str, out: &mut Vec<u8>, write: impl Fn(&str, &mut Vec<u8>)) {
    let one = |value: &str, out: &mut Vec<u8>| match kind(value) {
        JsonKind::Map => write(value, out),
        _ => out.extend_from_slice(value.as_bytes()),
    };
    match items(json) {
        Some(items) => enclosed(LIST, items, out, one),
        None => one(json, out),
    }
}

/// What a list of names says about one member.
enum Named<'n> {
    Whole,
    /// The rest of those that reach into it.
    Inside(Vec<&'n str>),
    Not,
}

fn named<'n, N: AsRef<str>>(names: &'n [N], member: &Member<'_>) -> Named<'n> {
    let name = member.name();
    let names = || names.iter().map(AsRef::as_ref);
    if names().any(|whole| whole == name) && !name.contains('.') {
        return Named::Whole;
    }
    let inside: Vec<_> = names().filter_map(|path| rest(path, &name)).collect();
    if inside.is_empty() { Named::Not } else { Named::Inside(inside) }
}

/// What is behind the first dot where this name is before it.
fn rest<'n>(path: &'n str, name: &str) -> Option<&'n str> {
    let (first, rest) = path.split_once('.')?;
    (first == name).then_some(rest)
}

fn pick<N: AsRef<str>>(map: &str, names: &[N], out: &mut Vec<u8>) {
    let all = written(map).into_iter().flatten();
    // Each once, or an earlier one could get out where the last has nothing to reach into.
    let these = each_once(all.filter(|member| !matches!(named(names, member), Named::Not)));
    let kept = these.into_iter().filter_map(|member| match named(names, &member) {
        Named::Whole => Some((member, None)),
        Named::Inside(rest) => {
            matches!(kind(member.value), JsonKind::Map | JsonKind::List).then_some((member, Some(rest)))
        }
        Named::Not => None,
    });
    enclosed(MAP, kept, out, |(member, inside), out| {
        let Some(names) = inside else { return member.write(out) };
        member.write_name(out);
        match items(member.value) {
            // Only what was named gets out, so what cannot have the name does not.
            Some(items) => {
                let maps = items.filter(|item| kind(item) == JsonKind::Map);
                enclosed(LIST, maps, out, |map, out| pick(map, &names, out));
            }
            None => pick(member.value, &names, out),
        }
    });
}

fn leave_out<N: AsRef<str>>(map: &str, names: &[N], out: &mut Vec<u8>) {
    let members = written(map).into_iter().flatten().map(|member| (member, named(names, &member)));
    let kept = members.filter(|(_, named)| !matches!(named, Named::Whole));
    enclosed(MAP, kept, out, |(member, named), out| {
        let Named::Inside(names) = named else { return member.write(out) };
        member.write_name(out);
        each_map(member.value, out, |map, out| leave_out(map, &names, out));
    });
}

#[derive(Clone, Copy)]
struct Renaming<'n> {
    from: &'n str,
    to: &'n str,
    /// The same in quotes.
    written: &'n str,
}

fn rename(map: &str, renamings: &[Renaming<'_>], out: &mut Vec<u8>) {
    let members: Vec<_> = written(map)
        .into_iter()
        .flatten()
        .map(|member| {
            let name = member.name();
            let renamed =
                renamings.iter().rev().find(|renaming| renaming.from == name && !name.contains('.'));
            (member, name, renamed)
        })
        .collect();
    // Each new name with the place of the member that gets it. As few as are configured.
    let mut given: Vec<(&str, usize)> = Vec::new();
    for (place, (.., renamed)) in members.iter().enumerate() {
        let Some(Renaming { to, .. }) = renamed else { continue };
        match given.iter_mut().find(|(name, _)| name == to) {
            Some(known) => known.1 = place,
            None => given.push((to, place)),
        }
    }
    let kept = members.iter().enumerate().filter(|(place, (_, name, renamed))| match renamed {
        Some(renaming) => given.contains(&(renaming.to, *place)),
        None => !given.iter().any(|(new, _)| new == name),
    });
    enclosed(MAP, kept, out, |(_, (member, name, renamed)), out| {
        let member =
            Member { written: renamed.map_or(member.written, |renaming| renaming.written), ..*member };
        let inside: Vec<_> = renamings
            .iter()
            .filter_map(|renaming| Some(Renaming { from: rest(renaming.from, name)?, ..*renaming }))
            .collect();
        if inside.is_empty() {
            return member.write(out);
        }
        member.write_name(out);
        each_map(member.value, out, |map, out| rename(map, &inside, out));
    });
}

fn in_quotes(name: &str) -> String {
    let mut out = Vec::new();
    write_string(name, &mut out);
    String::from_utf8(out).expect("a string of JSON is UTF-8")
}

fn flatten(json: &str, out: &mut Vec<u8>) {
    if let Some(items) = items(json) {
        return concat(items, out);
    }
    let Some(members) = written(json) else {
        return out.extend_from_slice(json.as_bytes());
    };
    let moved = each_once(members).into_iter().flat_map(|member| {
        let (inner, itself) = match written(member.value) {
            Some(inner) => (Some(inner), None),
            None => (None, Some(member)),
        };
        inner.into_iter().flatten().chain(itself)
    });
    map::write(each_once(moved), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reshaped(json: &str, shape: &Shape) -> String {
        let mut out = Vec::new();
        reshape(json, shape, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn names(names: &[&str]) -> Vec<Box<str>> {
        names.iter().map(|name| (*name).into()).collect()
    }

    const USER: &str =
        r#" {"id": 1.50, "address": {"city":"Ulm", "zip" : "1"},"tags":[{"a":1,"b":2},"x"], "id2":null} "#;

    #[test]
    fn picking_keeps_what_is_named() {
        for (picked, expected) in [
            (&["id"][..], r#"{"id":1.50}"#),
            (&["id2", "address", "none"], r#"{"address":{"city":"Ulm", "zip" : "1"},"id2":null}"#),
            (&["address.city"], r#"{"address":{"city":"Ulm"}}"#),
            (&["address.city", "address"], r#"{"address":{"city":"Ulm", "zip" : "1"}}"#),
            (&["address.none"], r#"{"address":{}}"#),
            (&["tags.b", "id"], r#"{"id":1.50,"tags":[{"b":2}]}"#),
            (&["id.x"], "{}"),
            (&["id2.x"], "{}"),
            (&[], "{}"),
        ] {
            assert_eq!(reshaped(USER, &Shape::Pick(names(picked))), expected);
        }
    }

    #[test]
    fn dropping_leaves_out_what_is_named() {
        for (dropped, expected) in [
            (&["address", "tags"][..], r#"{"id":1.50,"id2":null}"#),
            (
                &["address.city", "tags.b", "id2.x"],
                r#"{"id":1.50,"address":{"zip":"1"},"tags":[{"a":1},"x"],"id2":null}"#,
            ),
        ] {
            assert_eq!(reshaped(USER, &Shape::Drop(names(dropped))), expected);
        }
    }

    #[test]
    fn renaming_gives_new_names() {
        for (renamings, expected) in [
            (&[("id2", "x\""), ("none", "id")][..], r#"{"a":1,"b":{"c":2},"x\"":3}"#),
            (&[("a", "b"), ("b", "a")], r#"{"b":1,"a":{"c":2},"id2":3}"#),
            (&[("a", "b")], r#"{"b":1,"id2":3}"#),
            (&[("a", "x"), ("id2", "x")], r#"{"b":{"c":2},"x":3}"#),
            (&[("b.c", "d"), ("b", "e")], r#"{"a":1,"e":{"d":2},"id2":3}"#),
        ] {
            let shape =
                Shape::Rename(renamings.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect());
            assert_eq!(reshaped(r#"{"a": 1, "b":{"c":2}, "id2":3}"#, &shape), expected);
        }
    }

    #[test]
    fn each_map_of_a_list_is_reshaped_and_anything_else_stays() {
        let list = r#"[{"a":1,"b":2}, {"b":3},"a",[{"a":1}],null]"#;
        assert_eq!(reshaped(list, &Shape::Pick(names(&["a"]))), r#"[{"a":1},{},"a",[{"a":1}],null]"#);
        assert_eq!(reshaped(list, &Shape::Drop(names(&["a"]))), r#"[{"b":2},{"b":3},"a",[{"a":1}],null]"#);
        let shape = Shape::Rename(vec![("a".into(), "c".into())]);
        assert_eq!(reshaped(list, &shape), r#"[{"c":1,"b":2},{"b":3},"a",[{"a":1}],null]"#);
        for alone in ["null", " 1.50 ", r#""a""#] {
            assert_eq!(reshaped(alone, &Shape::Pick(names(&["a"]))), alone.trim());
            assert_eq!(reshaped(alone, &Shape::Flatten), alone.trim());
        }
    }

    #[test]
    fn a_name_with_a_dot_in_it_is_not_named() {
        let json = r#"{"a.b":1}"#;
        assert_eq!(reshaped(json, &Shape::Pick(names(&["a.b"]))), "{}");
        assert_eq!(reshaped(json, &Shape::Drop(names(&["a.b"]))), json);
        assert_eq!(reshaped(json, &Shape::Rename(vec![("a.b".into(), "c".into())])), json);
    }

    #[test]
    fn flattening_goes_one_level_up() {
        for (json, expected) in [
            (r#"[[1, 2],[],3,[[4]],{"a":[5]}]"#, r#"[1, 2,3,[4],{"a":[5]}]"#),
            (r#"{"a":{"b":1},"c":2}"#, r#"{"b":1,"c":2}"#),
            (r#"{"a":{"b":1},"d":3,"c":{"b":{"e":2}}, "f":[{}]}"#, r#"{"b":{"e":2},"d":3,"f":[{}]}"#),
            (r#"{"a":{"a":1}}"#, r#"{"a":1}"#),
            (r#"{"a":{"b":1},"a":{"c":2}}"#, r#"{"c":2}"#),
        ] {
            assert_eq!(reshaped(json, &Shape::Flatten), expected);
        }
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = r#"{"a":"#.repeat(200_000) + "1" + &"}".repeat(200_000);
        for shape in [Shape::Pick(names(&["a.a"])), Shape::Drop(names(&["b"])), Shape::Flatten] {
            assert!(reshaped(&deep, &shape).len() > 900_000);
        }
    }
}
