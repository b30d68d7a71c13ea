//! Find: a path in, the inner value it leads to out, as it stands. Everything beside the path is skipped.

use crate::list::items;
use crate::map::written;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Into the value of this name in a map; of a name that is there twice, the last.
    Field(Box<str>),
    /// Into this item of a list, counted from 0.
    Index(usize),
}

/// The value that these steps lead to; `None` where there is none. No step leads to the whole.
pub fn find<'j>(json: &'j str, path: &[Step]) -> Option<&'j str> {
    path.iter().try_fold(json, |value, step| match step {
        Step::Field(name) => field(value, name),
        Step::Index(index) => items(value)?.nth(*index),
    })
}

/// The last value of this name in a map.
pub(crate) fn field<'j>(json: &'j str, name: &str) -> Option<&'j str> {
    written(json)?.filter(|member| member.name() == name).last().map(|member| member.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &str) -> Vec<Step> {
        let step = |step: &str| match step.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Field(step.into()),
        };
        steps.split_whitespace().map(step).collect()
    }

    #[test]
    fn a_path_leads_to_the_value_as_it_stands() {
        let json =
            r#"{"user": {"name" : "ann", "tags":["x", {"a": 1.50 }], "caf\u00e9":null},"n":[[1,2],[3]]}"#;
        for (steps, expected) in [
            ("user name", Some(r#""ann""#)),
            ("user tags 1", Some(r#"{"a": 1.50 }"#)),
            ("user tags 1 a", Some("1.50")),
            ("user café", Some("null")),
            ("n 1 0", Some("3")),
            ("n 0 2", None),
            ("n x", None),
            ("user 0", None),
            ("user name x", None),
            ("x", None),
            ("", Some(json)),
        ] {
            assert_eq!(find(json, &path(steps)), expected, "{steps}");
        }
    }

    #[test]
    fn the_last_of_a_name_counts() {
        assert_eq!(find(r#"{"a":{"b":1},"a":{"b":2},"\u0061":{"b":3}}"#, &path("a b")), Some("3"));
        assert_eq!(find(r#"{"a":{"b":1},"a":{}}"#, &path("a b")), None);
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let json = format!(r#"{{"deep":{deep},"behind":[{deep},7]}}"#);
        assert_eq!(find(&json, &path("deep")), Some(&*deep));
        assert_eq!(find(&json, &path("behind 1")), Some("7"));
    }
}
