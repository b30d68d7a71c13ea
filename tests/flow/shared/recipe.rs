//! The recipe of the guide for visitors and members (docs/guide/many-instances.md), as it stands there, with the browsers
//! that visitors really have.

use testkit::{Fleetfoot, Origin, RedisServer};

use super::instances::{counting, until_it_hears};

/// What a browser sends that was here before: nothing that says who somebody is.
const VISITOR: &str = "Cookie: _ga=GA1.1.1234567890.1720000000; cookie_consent=yes";
const MEMBER: &str = "Cookie: _ga=GA1.1.1; idToken=eyJhbGciOi";

/// The first configuration of the guide, at addresses of our own.
fn recipe(origin: &Origin, redis: &RedisServer) -> Fleetfoot {
    let guide = include_str!("../../../docs/guide/many-instances.md");
    let (_, rest) = guide.split_once("```yaml\n").expect("the guide has a configuration");
    let (text, _) = rest.split_once("```").expect("which ends");
    let text = text
        .replace("{ http: 0.0.0.0:8080, admin: 127.0.0.1:9090 }", "{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }")
        .replace("http://127.0.0.1:3000", &origin.url())
        .replace("redis://127.0.0.1:6379", &redis.url());
    let mut fleetfoot = Fleetfoot::start(&text);
    until_it_hears(&mut fleetfoot);
    fleetfoot
}

#[test]
fn visitors_share_whatever_cookies_their_browsers_have_and_members_never_do() {
    let (origin, redis) = (counting(""), RedisServer::start());
    let fleetfoot = recipe(&origin, &redis);
    assert_eq!(fleetfoot.get_with("/games/7", VISITOR).text(), "/games/7 1");
    assert_eq!(
        origin.last("GET /games/7").field("Cookie"),
        None,
        "what is shared was made for nobody's cookie"
    );
    for fields in [VISITOR, "Cookie: other=1", ""] {
        let answer = fleetfoot.get_with("/games/7", fields);
        assert!(answer.is_hit() && answer.text() == "/games/7 1", "{fields}: {answer:?}");
    }
    for count in 2..4 {
        assert_eq!(fleetfoot.get_with("/games/7", MEMBER).text(), format!("/games/7 {count}"));
        assert!(origin.last("GET /games/7").field("Cookie").is_some_and(|cookie| cookie.contains("idToken")));
    }
    assert_eq!(fleetfoot.get_with("/games/7", VISITOR).text(), "/games/7 1", "nor is theirs kept");
}

#[test]
fn a_new_score_is_seen_at_once_wherever_it_stands() {
    let (origin, redis) = (counting(""), RedisServer::start());
    let fleetfoot = recipe(&origin, &redis);
    let shown = ["/games", "/games?page=2", "/games/7", "/leagues/1"];
    for target in shown.into_iter().chain(["/games/8"]) {
        fleetfoot.get_with(target, VISITOR);
        assert!(fleetfoot.get_with(target, VISITOR).is_hit(), "{target}");
    }
    assert_eq!(fleetfoot.send("PUT", "/games/7", MEMBER).status, 200);
    for target in shown {
        assert!(!fleetfoot.get_with(target, VISITOR).is_hit(), "{target}");
    }
    assert!(fleetfoot.get_with("/games/8", VISITOR).is_hit(), "no other game");
}
