//! What functions may say, and what is of no use.

use http::HeaderMap;
use proptest::prelude::*;

use super::*;

const ROUTE: AskedFor = AskedFor { by_path: true, for_json: false };

fn of_request(said: &str) -> Result<OfRequest, Unfit> {
    OfRequest::read(said.as_bytes(), "/x?a=1", ROUTE)
}

fn target_of(said: &str) -> Result<Option<String>, Unfit> {
    of_request(said).map(|of| match of {
        OfRequest::Changed { target, .. } => target,
        OfRequest::Answered(_) => panic!("it answers"),
    })
}

fn changed(said: &str, response: Response, may_change_content: bool) -> Result<Response, Unfit> {
    let mut response = response;
    OfResponse::read(said.as_bytes(), &response, may_change_content, ROUTE)?.apply(&mut response, false);
    Ok(response)
}

fn with(status: u16, kind: &'static str) -> Response {
    let mut response = Response::new(StatusCode::from_u16(status).unwrap());
    response.fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.body = Bytes::from_static(b"old").into();
    response
}

#[test]
fn path_and_query_take_each_others_place_alone() {
    for (said, expected) in [
        ("null", None),
        ("{}", None),
        (r#"{"path":"/y"}"#, Some("/y?a=1")),
        (r#"{"query":"b=2"}"#, Some("/x?b=2")),
        (r#"{"path":"/y/%2F;v=1","query":""}"#, Some("/y/%2F;v=1")),
        (r#"{"path":"/y","query":"/a?b//c"}"#, Some("/y?/a?b//c")),
    ] {
        assert_eq!(target_of(said), Ok(expected.map(str::to_owned)), "{said}");
    }
    for path in
        ["y", "", "//evil.example", "/a?b", "/a#b", "/a b", "/ä", "/a\r\n", "/..", "/a/%2e%2e/b", "/a\\b"]
    {
        assert!(target_of(&serde_json::json!({ "path": path }).to_string()).is_err(), "{path}");
    }
    assert!(
        OfRequest::read(br#"{"path":"/y"}"#, "/x", AskedFor { by_path: false, ..ROUTE }).is_err(),
        "nobody goes by it"
    );
    assert!(OfRequest::read(br#"{"query":"a=1"}"#, "*", ROUTE).is_err(), "there is no path");
    let long = format!("{{\"path\":\"/{}\"}}", "x".repeat(LARGEST));
    assert!(target_of(&long).is_err());
}

#[test]
fn fields_are_taken_out_then_set_then_added() {
    let said = r#"{"add":{"x-a":["2","3"]},"set":{"X-A":"1","x-b":[]},"remove":["x-c","x-d-*"]}"#;
    let Ok(OfRequest::Changed { edits, .. }) = of_request(said) else { panic!("it changes fields") };
    let mut fields = HeaderMap::new();
    for name in ["x-a", "x-b", "x-c", "x-d-e", "x-d"] {
        fields.append(HeaderName::from_static(name), HeaderValue::from_static("0"));
    }
    for edit in edits {
        edit.apply(&mut fields);
    }
    assert_eq!(fields.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    assert_eq!((fields.len(), &fields["x-d"]), (4, &HeaderValue::from_static("0")));
}

#[test]
fn there_is_a_bound_to_what_is_changed() {
    let list = |count: usize, entry: fn(usize) -> String| (0..count).map(entry).collect::<Vec<_>>().join(",");
    let words: [fn(String) -> String; 5] = [
        |list| format!("{{\"set\":{{{list}}}}}"),
        |list| format!("{{\"add\":{{{list}}}}}"),
        |list| format!("{{\"respond\":{{\"status\":200,\"headers\":{{{list}}}}}}}"),
        |list| format!("{{\"set\":{{\"x\":[{list}]}}}}"),
        |list| format!("{{\"remove\":[{list}]}}"),
    ];
    for (at, word) in words.into_iter().enumerate() {
        let entry: fn(usize) -> String =
            if at < 3 { |n| format!("\"x-{n}\":\"1\"") } else { |n| format!("\"x-{n}\"") };
        let lines = |count| of_request(&word(list(count, entry))).map(|_| ());
        assert!(lines(MOST_LINES).is_ok() && lines(MOST_LINES + 1).is_err(), "{}", word(String::new()));
    }
    let emptied =
        |count| of_request(&format!("{{\"set\":{{{}}}}}", list(count, |n| format!("\"x-{n}\":[]"))));
    assert!(emptied(MOST_LINES).is_ok() && emptied(MOST_LINES + 1).is_err());
    let long = |length| of_request(&format!("{{\"set\":{{\"x\":\"{}\"}}}}", "1".repeat(length))).map(|_| ());
    assert!(long(LARGEST - 1).is_ok() && long(LARGEST).is_err());
}

#[test]
fn content_says_what_it_is_where_nobody_else_does() {
    for (said, kind, expected_kind, expected) in [
        (r#"{"body":"a\u0000\"b"}"#, "text/html", "text/html", "a\0\"b"),
        (r#"{"body":{"a": 1.50}}"#, "text/html", JSON, "{\"a\": 1.50}"),
        (r#"{"body":[1]}"#, "application/problem+json; v=1", "application/problem+json; v=1", "[1]"),
        (r#"{"body":0}"#, "Application/JSON", "Application/JSON", "0"),
        (r#"{"body":"x","set":{"Content-Type":"text/css"}}"#, "text/html", "text/css", "x"),
    ] {
        let response = changed(said, with(200, kind), true).unwrap();
        assert_eq!(response.fields[CONTENT_TYPE], expected_kind, "{said}");
        let Body::Whole(body) = response.body else { panic!("{said}") };
        assert_eq!(body, expected, "{said}");
    }
    let stays = changed(r#"{"body":null,"set":{"x-a":"1"}}"#, with(200, "text/html"), true).unwrap();
    assert!(matches!(stays.body, Body::Whole(body) if body == "old"));
}

#[test]
fn a_step_that_reads_json_is_given_json_or_what_failed() {
    let step = AskedFor { by_path: true, for_json: true };
    for (body, status, fits) in [
        ("\"x\"", 200, false),
        ("\"x\"", 404, true),
        ("\"[1]\"", 200, true),
        ("\"\"", 200, true),
        ("{}", 200, true),
    ] {
        let said = format!("{{\"status\":{status},\"body\":{body}}}");
        let answer = format!("{{\"respond\":{said}}}");
        assert_eq!(OfRequest::read(answer.as_bytes(), "/", step).is_ok(), fits, "{said}");
        let response = with(203, "text/html");
        assert_eq!(OfResponse::read(said.as_bytes(), &response, true, step).is_ok(), fits, "{said}");
    }
}

#[test]
fn a_status_fits_the_content_and_what_was_asked() {
    assert_eq!(changed(r#"{"status":503}"#, with(200, "text/html"), false).unwrap().status, 503);
    let gone = changed(r#"{"status":204}"#, with(200, "text/html"), false).unwrap();
    assert!(gone.status == 204 && gone.body.is_empty());
    for status in [206, 304] {
        assert!(changed(r#"{"status":200}"#, with(status, "text/html"), false).is_err(), "{status}");
        assert!(changed(&format!("{{\"status\":{status}}}"), with(200, "text/html"), false).is_err());
        assert!(changed(&format!("{{\"status\":{status}}}"), with(status, "text/html"), false).is_ok());
    }
    for said in
        [r#"{"status":100}"#, r#"{"status":600}"#, r#"{"status":"200"}"#, r#"{"body":"x","status":204}"#]
    {
        assert!(changed(said, with(200, "text/html"), true).is_err(), "{said}");
    }
    assert!(of_request(r#"{"respond":{"status":204,"body":"x"}}"#).is_err());
    assert!(of_request(r#"{"respond":{"status":204,"body":""}}"#).is_ok());
    assert!(of_request(r#"{"respond":{}}"#).is_err());
}

proptest! {
    /// Words that are known, with anything behind them.
    #[test]
    fn whatever_is_said_a_message_stays_one(
        name in "[a-zA-Z-]{0,16}|host|connection|.{0,8}",
        value in "\\PC{0,16}|.{0,8}|[\r\n]{1,2}",
        path in "(/|//|%2[ef]|\\.|[a-z?# ]|\\\\){0,8}",
        query in ".{0,8}",
        status in 0_u16..1200,
    ) {
        use serde_json::json;
        let set = json!({ &name: &value });
        let request = json!({ "set": &set, "remove": [&name], "path": &path, "query": &query }).to_string();
        if let Ok(OfRequest::Changed { edits, target: Some(target) }) = of_request(&request) {
            prop_assert!(rules::path::Target::read(&target).is_some() && !target.starts_with("//"));
            prop_assert!(target.bytes().all(|byte| byte.is_ascii_graphic()));
            let is_framing = |edit: &FieldEdit| {
                matches!(edit, FieldEdit::Add(name, _) if message::is_framing(name.as_str()))
            };
            prop_assert!(!edits.iter().any(is_framing));
        }
        let response = json!({ "set": &set, "status": status, "body": &value }).to_string();
        if let Ok(response) = changed(&response, with(200, "text/html"), true) {
            prop_assert!((200..600).contains(&response.status.as_u16()));
        }
    }
}
