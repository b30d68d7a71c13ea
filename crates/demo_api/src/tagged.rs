//! Tagged: what an answer with tags and a size of one's choice is to have, read from its query; refused with a sentence
//! for people.

use axum::http::HeaderValue;
use serde::Deserialize;

/// The most bytes of `tags`, which become a field.
const LONGEST_TAGS: usize = 4 * 1024;
/// The most bytes of content.
const LARGEST: usize = 1024 * 1024;
/// As many as the JSON around the filler takes.
const SMALLEST: usize = r#"{"filler":""}"#.len();

/// As in the query.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    tags: Option<String>,
    size: Option<usize>,
}

/// Within bounds.
#[derive(Debug, PartialEq)]
pub(crate) struct Tagged {
    /// The value of `Cache-Tag`, where there is to be one.
    pub(crate) tags: Option<HeaderValue>,
    /// JSON of as many bytes as were wanted.
    pub(crate) content: String,
}

impl Wanted {
    pub(crate) fn check(self) -> Result<Tagged, String> {
        let size = self.size.unwrap_or(SMALLEST);
        if !(SMALLEST..=LARGEST).contains(&size) {
            return Err(format!("size is from {SMALLEST} to {LARGEST}, in bytes, like ?size=2000"));
        }
        let tags = self.tags.filter(|tags| !tags.is_empty()).map(|tags| read_tags(&tags)).transpose()?;
        Ok(Tagged { tags, content: format!(r#"{{"filler":"{}"}}"#, "x".repeat(size - SMALLEST)) })
    }
}

fn read_tags(tags: &str) -> Result<HeaderValue, String> {
    if tags.len() > LONGEST_TAGS {
        return Err(format!("tags may have {LONGEST_TAGS} bytes, not {}", tags.len()));
    }
    HeaderValue::from_str(tags).map_err(|_| "tags are words with commas between, like ?tags=a,b".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tags: Option<&str>, size: Option<usize>) -> Result<Tagged, String> {
        Wanted { tags: tags.map(str::to_owned), size }.check()
    }

    #[test]
    fn sizes_are_exact() {
        for size in [SMALLEST, 14, 2000, LARGEST] {
            assert_eq!(check(None, Some(size)).unwrap().content.len(), size);
        }
    }

    #[test]
    fn what_is_over_a_bound_or_no_field_is_refused() {
        for size in [0, SMALLEST - 1, LARGEST + 1, usize::MAX] {
            assert!(check(None, Some(size)).unwrap_err().contains("size is from"), "{size}");
        }
        assert!(check(Some(&"a".repeat(LONGEST_TAGS + 1)), None).unwrap_err().contains("4096"));
        assert!(check(Some("a\r\nSet-Cookie: b"), None).unwrap_err().contains("words"));
    }
}
