//! List: the items of a list, and lists one behind the other.

use crate::enclosed::{LIST, enclosed};
use crate::scan::Scan;

/// The items of a list, each as it stands. From [`items`].
#[derive(Clone, Debug)]
pub struct Items<'j> {
    scan: Scan<'j>,
}

/// The items of this list, in order; `None` where it is none.
pub fn items(json: &str) -> Option<Items<'_>> {
    Some(Items { scan: Scan::inside(json, b'[')? })
}

impl<'j> Iterator for Items<'j> {
    type Item = &'j str;

    fn next(&mut self) -> Option<&'j str> {
        // What is behind the last one is the bracket, which is no value.
        let item = self.scan.value()?;
        self.scan.takes(b',');
        Some(item)
    }
}

/// Appends one list of the items of all of these. What is no list is an item itself; nothing is looked into.
pub fn concat(lists: impl IntoIterator<Item = impl AsRef<str>>, out: &mut Vec<u8>) {
    let filled = lists.into_iter().filter(|list| !inside(list.as_ref()).is_empty());
    enclosed(LIST, filled, out, |list, out| out.extend_from_slice(inside(list.as_ref()).as_bytes()));
}

/// What is between the brackets.
fn inside(list: &str) -> &str {
    let list = list.trim_ascii();
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list).trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_given_as_they_stand() {
        let list = r#" [ 1.50 , "a,b" ,[ 1 , [2]],{"a" : 1 }, null ] "#;
        let expected = ["1.50", r#""a,b""#, "[ 1 , [2]]", r#"{"a" : 1 }"#, "null"];
        assert!(items(list).unwrap().eq(expected));
        assert_eq!(items("[ ]").unwrap().count(), 0);
        assert!(items("{}").is_none() && items("\"[]\"").is_none());
    }

    #[test]
    fn lists_stand_one_behind_the_other() {
        for (lists, expected) in [
            (&["[1, 2]", " [ ] ", "[[3]\n]", "[]"][..], "[1, 2,[3]]"),
            (&["[]", "[ ]"], "[]"),
            (&[], "[]"),
            (&[r#"{"a":1}"#, "[null]"], r#"[{"a":1},null]"#),
        ] {
            let mut out = Vec::new();
            concat(lists, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
