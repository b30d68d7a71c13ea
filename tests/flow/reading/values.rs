//! What a request holds stays one value of the command.

use super::support::{reading, tell};

const QUERY: &str = r#"match: GET /get, read: { redis: "GET ${query.key}", as: text }"#;

/// Every byte that means something to Redis, to a shell or to a line.
const STRANGE: [(&str, &str); 6] = [
    ("a%20b", "a b"),
    ("%22a%22", "\"a\""),
    ("*", "*"),
    ("$3abc", "$3abc"),
    ("%7Ba%7D", "{a}"),
    ("a'%3B--", "a';--"),
];

/// What stands in no path stands in no key either.
const REFUSED: [&str; 6] = ["a%0D%0AFLUSHALL%0D%0A", "$3%0d%0aabc", "%00", "%7f", "a/../b", "..%5Cb"];

#[test]
fn a_key_is_a_key_whatever_it_holds() {
    for mode in ["mode: central", "mode: tracked"] {
        let (redis, fleetfoot) = reading(mode, &[QUERY]);
        tell(&redis, &["SET", "kept", "x"]);
        for (_, key) in STRANGE {
            tell(&redis, &["SET", key, &format!("value of {key:?}")]);
        }
        for (sent, key) in STRANGE {
            for _ in 0..2 {
                let answer = fleetfoot.get(&format!("/get?key={sent}"));
                assert_eq!((answer.status, answer.text()), (200, format!("value of {key:?}")), "{sent}");
            }
            assert_eq!(fleetfoot.get(&format!("/get?key={sent}x")).status, 404);
        }
        for sent in REFUSED {
            assert_eq!(fleetfoot.get(&format!("/get?key={sent}")).status, 400, "{sent}");
        }
        assert_eq!(fleetfoot.get("/get?key=kept").text(), "x");
    }
}

#[test]
fn a_repeated_parameter_is_as_many_keys() {
    let route = r#"match: GET /many, read: { redis: "MGET ${query.all('key')}" }"#;
    let (redis, fleetfoot) = reading("mode: tracked", &[route]);
    tell(&redis, &["MSET", "a", "1", "b c", "2", "", "3"]);
    let text = |target: &str| fleetfoot.get(target).text();
    assert_eq!(text("/many?key=a&x=9&key=b+c&key=&key=none"), "[1,2,3,null]");
    assert_eq!(text("/many?key=a&key=b%20c"), "[1,2]");
    assert_eq!(text("/many?key=a%26key%3Db+c"), "[null]");
}

#[test]
fn what_stands_around_a_list_keeps_its_keys_together() {
    let route = r#"match: GET /users, read: { redis: "MGET user:${query.all('id')}:name" }"#;
    for mode in ["mode: central", "mode: tracked"] {
        let (redis, fleetfoot) = reading(mode, &[route]);
        tell(&redis, &["MSET", "user:7:name", "\"ann\"", "user:8:name", "\"bob\"", "token:1", "secret"]);
        for _ in 0..2 {
            assert_eq!(fleetfoot.get("/users?id=7&id=8&id=9").text(), r#"["ann","bob",null]"#);
            assert_eq!(fleetfoot.get("/users?id=token:1").text(), "[null]");
            assert_eq!(fleetfoot.get("/users").status, 400);
        }
    }
}

#[test]
fn what_is_missing_or_too_much_is_the_requests_fault() {
    let (redis, fleetfoot) = reading(
        "mode: central",
        &[
            r#"match: GET /one, read: { redis: "GET a:${query.id}" }"#,
            r#"match: GET /many, read: { redis: "MGET ${query.all('id')}" }"#,
            r#"match: GET /page, read: { redis: "LRANGE list ${query.from} 9" }"#,
            r#"match: GET /scores, read: { redis: "ZRANGE z ${query.from} +inf BYSCORE" }"#,
        ],
    );
    let refused = |target: &str, detail: &str| {
        let answer = fleetfoot.get(target);
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text().contains(detail), "{}", answer.text());
    };
    refused("/one", "the parameter `id` is missing");
    refused("/many?x=1", "the parameter `id` is missing");
    refused(&format!("/many?{}", "id=1&".repeat(1001)), "more than 1000 values");
    refused("/page?from=first", "LRANGE takes whole numbers");
    refused("/scores?from=low", "this ZRANGE takes scores");
    assert_eq!(redis.info("cmdstat_lrange"), "", "none of these reached Redis");
    assert_eq!(redis.info("cmdstat_mget"), "");
}
