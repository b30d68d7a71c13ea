//! Trends: what people search for at the moment, in the form of the search trends that a seed's service waits
//! for. Asked for by the endpoint of this name.

use serde_json::{Value, json};

const STORIES: usize = 5;
const IN_KOREAN: [&str; STORIES] = ["날씨", "환율", "야구 결과", "지하철 운행", "영화 예매"];
const IN_ENGLISH: [&str; STORIES] =
    ["weather", "exchange rate", "baseball results", "subway service", "film tickets"];

/// About 4 KiB, in the language that was asked for: Korean for `ko`, else English.
pub(crate) fn trends(language: &str) -> Value {
    let korean = language == "ko";
    let topics = if korean { IN_KOREAN } else { IN_ENGLISH };
    let stories = (0..STORIES).map(|place| story(place, topics));
    let ids: Value = (0..STORIES).map(id).collect();
    json!({
        "featuredStoryIds": [],
        "trendingStoryIds": ids,
        "storySummaries": {"featuredStories": [], "trendingStories": stories.collect::<Value>()},
        "date": "Nov 14, 2024",
        "hideAllImages": false,
        "language": if korean { "ko" } else { "en" },
    })
}

fn story(place: usize, topics: [&str; STORIES]) -> Value {
    let (topic, next) = (topics[place], topics[(place + 1) % STORIES]);
    let articles = (1..=2).map(|number| {
        json!({
            "articleTitle": format!("{topic}, {next}: {number}"),
            "url": format!("https://news.example/{}/{number}", id(place)),
            "source": format!("Paper {number}"),
            "time": format!("{number} hours ago"),
            "snippet": format!("{topic} · {next} · ").repeat(3),
        })
    });
    json!({
        "id": id(place),
        "title": format!("{topic} • {next}"),
        "entityNames": [topic, next],
        "shareUrl": format!("https://trends.example/story/{}", id(place)),
        "image": {"newsUrl": format!("https://news.example/{}/1", id(place)), "source": "Paper 1"},
        "articles": articles.collect::<Value>(),
        "idsForDedup": [format!("/m/0{place}a /m/0{place}b")],
    })
}

fn id(place: usize) -> String {
    format!("KR_lnk_{place}k3wQ0AwAAAB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_about_four_kibibytes_in_either_language() {
        for language in ["ko", "en"] {
            let length = trends(language).to_string().len();
            assert!((3600..=4900).contains(&length), "{language}: {length}");
        }
        assert_ne!(trends("ko"), trends("en"));
        assert_eq!(trends("xx"), trends("en"));
    }
}
