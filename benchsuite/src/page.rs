//! Page: what is composed: four parts of one page, each a JSON object of about 1 KiB with the members that such objects
//! have. Given by the origin of parts; put together here too, to compare with.

use serde_json::{Map, Value, json};

/// In the order of the configs.
pub(crate) const PARTS: [&str; 4] = ["user", "orders", "news", "weather"];
const NUMBER: u64 = 7;
const SIZE: usize = 1024;

/// What is asked of whoever composes.
pub(crate) fn target() -> String {
    format!("/page/{NUMBER}")
}

/// Where the origin has this part.
pub(crate) fn target_of(part: &str) -> String {
    format!("/{part}/{NUMBER}")
}

/// What it has there.
pub(crate) fn content(part: &str) -> Vec<u8> {
    let mut items = Vec::new();
    loop {
        let whole = json!({"part": part, "id": NUMBER, "items": &items}).to_string();
        if whole.len() >= SIZE - 100 {
            return whole.into_bytes();
        }
        let id = items.len();
        items.push(json!({
            "id": id,
            "name": format!("Name {id} of \"{part}\""),
            "price": id as f64 + 0.5,
            "there": id.is_multiple_of(2),
            "tags": ["new", part],
            "until": null,
        }));
    }
}

/// The page.
pub(crate) fn page() -> Value {
    let part = |part: &str| Some((part.to_owned(), serde_json::from_slice(&content(part)).ok()?));
    PARTS.into_iter().filter_map(part).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_four_parts_of_about_a_kibibyte() {
        assert_eq!(page().as_object().map(Map::len), Some(PARTS.len()));
        for part in PARTS {
            assert!((900..=1100).contains(&content(part).len()));
        }
    }
}
