//! Page: what one page of an app is put together from: a user, orders, news and weather, about 1 KiB of JSON each. Asked
//! for by the endpoints of these names.

use serde_json::{Value, json};

const CITIES: [&str; 6] = ["Lisbon", "Ulm", "Seoul", "Oslo", "Quito", "Austin"];

const SYSTEMS: [&str; 3] = ["android", "ios", "web"];
const STATES: [&str; 3] = ["paid", "sent", "there"];

pub(crate) fn user(id: u64) -> Value {
    let devices = SYSTEMS.iter().zip(1..).map(|(system, number)| {
        json!({
            "id": format!("device-{id}-{number}"),
            "system": system,
            "push": number != 2,
            "seen": 1_790_000_000 - number * 86_400,
        })
    });
    json!({
        "id": id,
        "name": format!("Person {id}"),
        "email": format!("person-{id}@example.com"),
        "address": {
            "street": format!("{} Long Street", 1 + id % 200),
            "city": city(id),
            "zip": format!("{:05}", id % 100_000),
        },
        "preferences": {"language": "ko", "theme": "dark", "currency": "KRW", "newsletter": id.is_multiple_of(2)},
        "devices": devices.collect::<Value>(),
        "roles": ["reader", "buyer"],
        "since": "2023-08-28T10:37:13Z",
        "about": "Likes short answers, long walks, and pages that are there before the kettle is. ".repeat(6),
    })
}

pub(crate) fn orders(user: u64) -> Value {
    let orders = (0..10).map(|order| {
        json!({
            "id": user * 100 + order,
            "user": user,
            "item": format!("Item {}", (user + order * 7) % 1000),
            "pieces": 1 + order % 3,
            "price": 19.5 + order as f64,
            "state": STATES[(order % 3) as usize],
            "placed": format!("2026-10-{:02}", 28 - order),
        })
    });
    json!({"user": user, "count": 10, "orders": orders.collect::<Value>()})
}

pub(crate) fn news(reader: u64) -> Value {
    let news = (0..6).map(|place| {
        let number = (reader * 31 + place * 17) % 10_000;
        json!({
            "id": number,
            "title": format!("What happened in {} today, number {number}", city(number)),
            "summary": "It was more than expected, and less than feared; more of it tomorrow.",
            "url": format!("/news/{number}/all"),
        })
    });
    json!({"reader": reader, "news": news.collect::<Value>()})
}

pub(crate) fn weather(place: u64) -> Value {
    let hours = (0..18).map(|hour| {
        json!({
            "hour": hour,
            "celsius": 12.5 + ((place + hour) % 9) as f64,
            "rain": (place * 7 + hour * 13) % 100,
            "wind": [(place + hour) % 12, (hour * 45) % 360],
        })
    });
    json!({"place": city(place), "hours": hours.collect::<Value>(), "warning": null})
}

fn city(number: u64) -> &'static str {
    CITIES[(number % CITIES.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_about_a_kibibyte() {
        for id in [1, 42, u64::from(u32::MAX)] {
            for part in [user(id), orders(id), news(id), weather(id)] {
                let length = part.to_string().len();
                assert!((850..=1400).contains(&length), "{length}: {part}");
            }
        }
    }
}
