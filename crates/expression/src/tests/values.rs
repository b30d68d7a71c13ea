//! Values beside the request: what steps gave, as expressions see them, and how they go on: into JSON, URLs, commands and
//! statements.

use http::{HeaderMap, Method};
use message::{Fields, RequestView, Scheme};
use proptest::prelude::*;

use crate::{
    Argument, Arguments, Content, Context, Expression, ExpressionFault, Given, Json, Named, Names, Output,
    Parameter, Parts, Scalar, Template, Unwritten, ValueKind,
};

const NAMES: [&str; 6] = ["body", "user", "users", "orders", "gone", "text"];

const USER: &str = r#"{"id":7,"name":"ann","price":1.50,"big":123456789012345678901234567890,"none":null,"a":{"b":[1,{"c":"d"}]},"tags":["x","y"],"é":"ü","yes":true}"#;
const USERS: &str = r#"[{"id":1,"name":"ann","ok":true,"n":1.0},{"id":2,"name":"bob","ok":false,"n":2.50}]"#;
const ORDERS: &str = r#"[{"user_id":1,"total":9.90},{"user_id":3,"total":1}]"#;

fn given(json: &str) -> Given {
    Given::Json(Json::check(json.as_bytes().to_vec().into()).unwrap_or_else(|| panic!("{json} is no JSON")))
}

fn values() -> Vec<Given> {
    vec![given("{}"), given(USER), given(USERS), given(ORDERS), Given::Nothing, given(r#""a text""#)]
}

fn known() -> Vec<Named> {
    NAMES.iter().map(|name| Named::any(*name)).collect()
}

fn with<T>(target: &str, values: &[Given], ask: impl FnOnce(&Context<'_>) -> T) -> T {
    let fields = HeaderMap::new();
    let request = RequestView {
        method: &Method::GET,
        scheme: Scheme::Http,
        authority: "a.example",
        target,
        fields: Fields::Map(&fields),
        client: None,
    };
    ask(&Context { values, ..Context::of_request(&request, &[None, Some("id".into())]) })
}

const TARGET: &str = "/u/7?q=a+b&id=1&id=2&empty=";

fn output(text: &str, known: &[Named]) -> Result<Output, ExpressionFault> {
    let names = Names {
        segments: Some(&["id"]),
        values: known,
        joins_lists: true,
        knows_client: true,
        ..Names::default()
    };
    Output::parse_braced(&format!("${{{text}}}"), &names)
}

fn template(text: &str) -> Template {
    let known = known();
    let names = Names {
        segments: Some(&["id"]),
        values: &known,
        joins_lists: true,
        knows_client: true,
        ..Names::default()
    };
    Template::parse_in(text, &names).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// Its JSON; `None`: it is not there.
fn json_of(text: &str) -> Option<String> {
    let output = output(text, &known()).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let mut out = Vec::new();
    let there = with(TARGET, &values(), |context| output.write_json(context, &mut out)).unwrap();
    there.then(|| String::from_utf8(out).unwrap())
}

fn text_of(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let there = with(TARGET, &values(), |context| template(text).write(context, &mut out));
    there.then(|| String::from_utf8(out).unwrap())
}

fn holds(text: &str) -> bool {
    let known = known();
    let names = Names {
        segments: Some(&["id"]),
        values: &known,
        joins_lists: true,
        knows_client: true,
        ..Names::default()
    };
    let expression = Expression::parse_in(text, &names).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    with(TARGET, &values(), |context| expression.holds(context))
}

fn parameter(text: &str) -> Option<Parameter> {
    let output = output(text, &known()).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    with(TARGET, &values(), |context| output.parameter(context)).ok()
}

fn target(text: &str, values: &[Given], target: &str) -> Result<String, Unwritten> {
    let mut out = b"x".to_vec();
    let written = with(target, values, |context| template(text).write_target(context, &mut out));
    assert!(written.is_ok() || out == b"x", "appended although it failed");
    written.map(|()| String::from_utf8(out.split_off(1)).unwrap())
}

#[test]
fn values_and_their_parts_go_on_as_they_came() {
    for (text, expected) in [
        ("user", USER),
        ("user.price", "1.50"),
        ("user.big", "123456789012345678901234567890"),
        ("user.a.b[1].c", "\"d\""),
        ("user['é']", "\"ü\""),
        ("users[1].n", "2.50"),
        ("text", "\"a text\""),
        // A part that is not there is null; what was left out is nothing at all.
        ("user.nothing", "null"),
        ("user.none", "null"),
        ("users[9]", "null"),
        ("user.name.first", "null"),
        ("user[0]", "null"),
        ("path.id", "\"7\""),
        ("query.all('id')", "[\"1\",\"2\"]"),
        ("query.all('none')", "[]"),
        ("query.none", "null"),
    ] {
        assert_eq!(json_of(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["gone", "gone.part", "gone[0].x", "gone.pick('a')"] {
        assert_eq!(json_of(text), None, "{text}");
    }
}

#[test]
fn within_a_text_they_are_written_as_text() {
    for (text, expected) in [
        ("<${user.name}>", Some("<ann>")),
        ("${user.price} ${user.yes} ${user.id}", Some("1.50 true 7")),
        ("ids ${user.tags}", Some("ids x,y")),
        ("ids ${query.all('id')}", Some("ids 1,2")),
        ("${users.map(u, u.id)}!", None),
        ("${user.name + '!'}", Some("ann!")),
        // What is no text takes the whole text with it.
        ("<${user.none}>", None),
        ("<${user.a}>", None),
        ("<${users}>", None),
        ("<${gone}>", None),
        ("<${gone.name}>", None),
    ] {
        if expected.is_none() && text.contains(".map(") {
            // A list that is worked out is refused when the file is loaded.
            let known = known();
            let names = Names {
                segments: None,
                values: &known,
                joins_lists: true,
                knows_client: true,
                ..Names::default()
            };
            assert!(Template::parse_in(text, &names).is_err(), "{text}");
            continue;
        }
        assert_eq!(text_of(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn conditions_ask_whether_something_is_there() {
    for text in [
        "user",
        "user.name",
        "user.id",
        "user.yes",
        "users",
        "has(user.name)",
        "has(user.a.b)",
        "!has(user.nothing)",
        "user.nothing == null",
        "user.none == null",
        "user.name != null",
        "gone == null",
        "user.id == 7",
        "user.id > 6 && user.price < 2.0",
        "size(users) == 2",
        "users[0].name == 'ann'",
        "users.exists(u, u.name == 'bob')",
        "users.all(u, u.id > 0)",
        "'x' in user.tags",
        "'name' in user",
        "user.name.startsWith('a')",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in [
        "gone",
        "gone.name",
        "user.none",
        "user.nothing",
        "has(gone.name)",
        "has(user.nothing)",
        "gone.name == 'ann'",
        "user.name == null",
        "user.id == 8",
        // What cannot be worked out does not hold.
        "user.name > 6",
        "size(user.id) == 1",
        "text.name == 'a'",
        "users.exists(u, u.none == 1)",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn lists_are_mapped_and_filtered() {
    for (text, expected) in [
        ("users.map(u, u.name)", r#"["ann","bob"]"#),
        ("users.filter(u, u.ok)", r#"[{"id":1,"n":1.0,"name":"ann","ok":true}]"#),
        ("users.map(u, u.ok, u.id)", "[1]"),
        ("users.map(u, {'id': u.id, 'of': path.id})", r#"[{"id":1,"of":"7"},{"id":2,"of":"7"}]"#),
        ("query.all('id').map(i, int(i) + 1)", "[2,3]"),
        ("{'name': user.name, 'n': size(users)}", r#"{"n":2,"name":"ann"}"#),
        ("[user.id, query.q]", r#"[7,"a b"]"#),
        ("user.ok ? 1 : 2", "null"),
        ("user.yes ? user.name : ''", "\"ann\""),
        // What is not there is null, also of an item, and what is made of it alone.
        ("users.map(u, u.nothing)", "[null,null]"),
        ("users.map(u, u.nothing.part)", "[null,null]"),
        ("users.map(u, has(u.ok))", "[true,true]"),
        ("users.map(u, has(u.nothing.part) || has(gone.name))", "[false,false]"),
        ("user.nothing + 1", "null"),
        ("has(gone.name)", "false"),
        ("has(gone.name) ? gone.name : 'nobody'", "\"nobody\""),
        ("has(user.none)", "true"),
        // What is not there is no item of a list.
        ("user.tags.concat(gone)", r#"["x","y"]"#),
        ("user.tags.concat(user.nothing)", r#"["x","y"]"#),
    ] {
        assert_eq!(json_of(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn lists_are_reshaped_without_being_parsed() {
    for (text, expected) in [
        ("user.pick('price', 'a.b')", r#"{"price":1.50,"a":{"b":[1,{"c":"d"}]}}"#),
        ("users.drop('ok', 'n')", r#"[{"id":1,"name":"ann"},{"id":2,"name":"bob"}]"#),
        ("users.pick('id').rename({'id': 'user_id'})", r#"[{"user_id":1},{"user_id":2}]"#),
        (
            "users.pick('id').concat(orders.pick('total'))",
            r#"[{"id":1},{"id":2},{"total":9.90},{"total":1}]"#,
        ),
        (
            "users.pick('id').merge(orders, 'id', 'user_id')",
            r#"[{"id":1,"user_id":1,"total":9.90},{"id":2}]"#,
        ),
        (
            "users.pick('id').merge(orders, 'id', 'user_id', 'order').pick('order.total')",
            r#"[{"order":[{"total":9.90}]},{"order":[]}]"#,
        ),
        ("users.map(u, [u.id, u.id]).flatten()", "[1,1,2,2]"),
        ("user.none.pick('a')", "null"),
        ("text.pick('a')", "\"a text\""),
    ] {
        assert_eq!(json_of(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn a_value_becomes_a_parameter_of_its_kind() {
    let one = |scalar| Some(Parameter::One(scalar));
    let text = |text: &str| Scalar::Text(text.to_owned());
    for (written, expected) in [
        // What a request holds is a text, also a number.
        ("path.id", one(text("7"))),
        ("query.all('id')", Some(Parameter::List(vec![text("1"), text("2")]))),
        ("query.all('none')", None),
        ("query.none", None),
        ("query.empty", one(text(""))),
        ("user.id", one(Scalar::Int(7))),
        // Digit for digit; what was computed is what it is.
        ("user.price", one(Scalar::Decimal("1.50".to_owned()))),
        ("user.price + 1.0", one(Scalar::Double(2.5))),
        ("user.big", one(text("123456789012345678901234567890"))),
        ("user.yes", one(Scalar::Truth(true))),
        ("user.none", one(Scalar::Null)),
        // Null is what was given as null; what is not there is nothing to bind.
        ("user.nothing", None),
        ("gone", None),
        ("gone.name", None),
        ("has(gone.name)", one(Scalar::Truth(false))),
        ("has(user.name)", one(Scalar::Truth(true))),
        ("user.tags", Some(Parameter::List(vec![text("x"), text("y")]))),
        ("user.a", one(text(r#"{"b":[1,{"c":"d"}]}"#))),
        ("users.map(u, u.id)", Some(Parameter::List(vec![Scalar::Int(1), Scalar::Int(2)]))),
        ("int(path.id) + 1", one(Scalar::Int(8))),
        ("[1, 'a']", Some(Parameter::List(vec![Scalar::Int(1), text("a")]))),
    ] {
        assert_eq!(parameter(written), expected, "{written}");
    }
    let huge = given("18446744073709551615");
    let output = output("user", &known()).unwrap();
    let found = with(TARGET, &[Given::Nothing, huge], |context| output.parameter(context));
    assert_eq!(found.ok(), one(Scalar::Uint(u64::MAX)));
}

#[test]
fn words_of_a_command_are_as_many_as_a_value_has() {
    let written_in = |text: &str, may_be_many| {
        let known = known();
        let names = Names {
            segments: Some(&["id"]),
            values: &known,
            joins_lists: true,
            knows_client: true,
            ..Names::default()
        };
        let argument = Argument::parse_in(text, &names, may_be_many).unwrap();
        let mut out = Arguments::default();
        let there = with(TARGET, &values(), |context| argument.write(context, &mut out));
        there.then(|| out.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect::<Vec<_>>())
    };
    let written = |text: &str| written_in(text, false);
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    assert_eq!(written("${user.tags}"), words(&["x", "y"]));
    assert_eq!(written("k:${user.tags}"), words(&["k:x,y"]));
    assert_eq!(written_in("k:${user.tags}:v", true), words(&["k:x:v", "k:y:v"]));
    assert_eq!(written_in("k:${user.price}", true), words(&["k:1.50"]));
    assert_eq!(written("${users.map(u, u.id)}"), words(&["1", "2"]));
    // The same number is the same key, alone or within a text.
    assert_eq!(written("${user.price}"), words(&["1.50"]));
    assert_eq!(written("k:${user.price}"), words(&["k:1.50"]));
    assert_eq!(written("${user.a}"), words(&[r#"{"b":[1,{"c":"d"}]}"#]));
    for missing in ["${user.none}", "${gone}", "${user.nothing}", "k:${user.none}", "${query.all('none')}"] {
        assert_eq!(written(missing), None, "{missing}");
    }
}

#[test]
fn a_value_in_a_url_stays_what_it_is() {
    let encoded = |value: &str| target("/u/${text}/x?q=${text}", &with_text(value), TARGET);
    for (value, expected) in [
        ("a", "a"),
        ("a/b", "a%2Fb"),
        ("a?b", "a%3Fb"),
        ("a#b", "a%23b"),
        ("a%2fb", "a%252fb"),
        ("%2e%2e", "%252e%252e"),
        ("a&b=c+d", "a%26b%3Dc%2Bd"),
        ("a Host: b", "a%20Host%3A%20b"),
        ("...", "..."),
        ("é", "%C3%A9"),
        ("-._~", "-._~"),
    ] {
        assert_eq!(encoded(value), Ok(format!("/u/{expected}/x?q={expected}")), "{value:?}");
    }
}

fn with_text(text: &str) -> Vec<Given> {
    let mut values = values();
    values[5] = Given::Json(Json::string(text));
    values
}

#[test]
fn no_value_climbs() {
    let segment = |noun: &str| {
        let from_request = noun != "`text`";
        Err(Unwritten::Segment { noun: noun.to_owned(), from_request })
    };
    for value in ["..", ".", ""] {
        let values = with_text(value);
        assert_eq!(target("/u/${text}", &values, TARGET), segment("`text`"), "{value:?}");
        assert_eq!(target("/u/${text}/x", &values, TARGET), segment("`text`"), "{value:?}");
        assert_eq!(target("/u/${text}?x=1", &values, TARGET), segment("`text`"), "{value:?}");
        // Behind the path it is a value like any other.
        assert_eq!(target("/u?x=${text}/${text}", &values, TARGET), Ok(format!("/u?x={value}/{value}")));
        assert_eq!(target("/u/a${text}", &values, TARGET), Ok(format!("/u/a{value}")));
    }
    // Together with what stands beside it.
    assert_eq!(target("/u/.${text}", &with_text("."), TARGET), segment("`text`"));
    assert_eq!(target("/u/%2e${text}/x", &with_text("."), TARGET), segment("`text`"));
    assert_eq!(target("/u/${text}${text}", &with_text("."), TARGET), segment("`text`"));
    assert_eq!(target("/u/.${text}", &with_text(".."), TARGET), Ok("/u/...".to_owned()));
    // Behind whatever some server takes for a slash; and what no path has.
    for value in ["../admin", "a/..", "..\\admin", "a\\.", "./", "..;x", "a\0", "a\r\nb", "%2e%2e"] {
        let expected = if value.contains('%') { Ok("/u/%252e%252e".to_owned()) } else { segment("`text`") };
        assert_eq!(target("/u/${text}", &with_text(value), TARGET), expected, "{value:?}");
    }
    assert_eq!(target("/u/${text}", &with_text("a/b"), TARGET), Ok("/u/a%2Fb".to_owned()));
    // Of a request, it is named so; worked out, it has no name.
    assert_eq!(target("/u/${path.id}", &[], "/u/%2e%2e"), segment("the segment `id`"));
    assert_eq!(target("/u/${query.id}", &[], "/u/7?id=.."), segment("the parameter `id`"));
    assert_eq!(target("/u/${query.id + '.'}", &[], "/u/7?id=."), segment("a value"));
    assert_eq!(target("/u/${query.none}", &[], "/u/7"), Err(Unwritten::Missing));
}

#[test]
fn long_lists_and_large_values_go_on_but_are_not_computed_with() {
    let list = |length: usize| {
        let items: Vec<_> = (0..length).map(|number| number.to_string()).collect();
        format!("[{}]", items.join(","))
    };
    let sized = |text: &str, json: &str| {
        let output = output(text, &known()).unwrap();
        let mut out = Vec::new();
        match with(TARGET, &[given("{}"), given(json)], |context| output.write_json(context, &mut out)) {
            Ok(_) => String::from_utf8(out).unwrap(),
            Err(unable) => {
                assert_eq!(unable.values, [1]);
                unable.detail
            }
        }
    };
    assert_eq!(sized("size(user)", &list(1000)), "1000");
    let too_many = "cannot be worked out: `user` has more than 1000 items, and no more are computed with";
    assert_eq!(sized("size(user)", &list(1001)), format!("`size(user)` {too_many}"));
    assert_eq!(sized("user == null ? 1 : 2", &list(1001)), format!("`user == null ? 1 : 2` {too_many}"));
    assert_eq!(sized("user", &list(1001)), list(1001));
    assert_eq!(sized("user[1000]", &list(1001)), "1000");
    let large = |bytes: usize| format!("\"{}\"", "a".repeat(bytes - 2));
    assert_eq!(sized("size(user)", &large(1024 * 1024)), (1024 * 1024 - 2).to_string());
    assert_eq!(
        sized("size(user)", &large(1024 * 1024 + 1)),
        "`size(user)` cannot be worked out: `user` has more than 1 MiB, and no more is computed with"
    );
    assert_eq!(sized("user", &large(1024 * 1024 + 1)).len(), 1024 * 1024 + 1);
    // Deeper than what is parsed.
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    assert_eq!(sized("user", &deep), deep);
    assert_eq!(
        sized("size(user) == 1", &deep),
        "`size(user) == 1` cannot be worked out: `user` is nested too deep, or holds a number beyond what is computed with"
    );
    // Whatever does not fit is no null either.
    let fails = "`int(user)` cannot be worked out: what it reads does not fit";
    assert_eq!(sized("int(user)", "\"x\""), fails);
    assert_eq!(
        sized("user.map(u, u.a + 1)", "[{}]"),
        "`user.map(u, u.a + 1)` cannot be worked out: what it reads does not fit"
    );
    assert_eq!(sized("int(user)", "null"), "null");
}

#[test]
fn parts_that_have_places_of_their_own_are_read_there() {
    let items =
        Named { kind: ValueKind::List, parts: Parts::Items { first: 1, count: 2 }, ..Named::any("tests") };
    let names = vec!["a".into(), "b".into()];
    let members =
        Named { kind: ValueKind::Map, parts: Parts::Members { first: 1, names }, ..Named::any("maps") };
    let known = vec![Named::any("body"), Named::any(""), Named::any(""), items, members];
    let places = |text: &str| output(text, &known).map(|output| output.values().collect::<Vec<_>>());
    assert_eq!(places("tests"), Ok(vec![3]));
    assert_eq!(places("tests[1].title"), Ok(vec![2]));
    assert_eq!(places("maps.b.title"), Ok(vec![2]));
    assert_eq!(places("maps['a'].title + tests[0]"), Ok(vec![1, 1]));
    for (text, cause, remedy) in [
        (
            "tests.title",
            "`tests` is a list and has no part `title`",
            "write `tests[0].title` for the first of them",
        ),
        ("tests[2]", "`tests` has 2 items, and none is `[2]`", "write an index from 0 to 1"),
        ("tests[-1]", "lists are counted from 0", "write `[0]` for the first"),
        ("maps.bb", "`maps` has no part `bb`", "write `maps.a`"),
        ("maps[0]", "`maps` has parts with names, and none is `[0]`", "write `maps.NAME`"),
        ("test", "`test` is not known", "write `tests`"),
        (
            "item.id",
            "`item` is not known here",
            "it is known in a step with `for`: add `for: \"${list}\"`, or take it out",
        ),
        ("tests.mpa(t, t.id)", "`mpa` is no function", "write it as in `users.map(u, u.id)`"),
        ("tests.pik('id')", "`pik` is no function", "write it as in `users.pick('id', 'name')`"),
        (
            "size(tests.pick('id'))",
            "`pick` is done to a whole value, at the end of its expression",
            "let it stand alone, as in `\"${users.pick('id', 'name')}\"`",
        ),
    ] {
        assert_eq!(places(text), Err(ExpressionFault::new(cause, remedy)), "{text}");
    }
}

/// JSON of any shape.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|truth| truth.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,30}",
        "[1-9]e[0-9]{1,3}",
        any::<String>().prop_map(|text| Json::string(&text).as_str().to_owned()),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(("[a-dé\"]{0,2}", inner), 0..4).prop_map(|members| {
                let members =
                    members.iter().map(|(name, value)| format!("{}:{value}", Json::string(name).as_str()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Segments and parameters are those of the text, whatever values hold.
    #[test]
    fn a_url_keeps_its_structure(one: String, two in "[./%a?#&=;\\\\\r\n]{0,4}") {
        let mut values = with_text(&one);
        values[1] = Given::Json(Json::string(&two));
        if let Ok(written) = target("/a/${text}/b${user}/c?d=${text}&e=${user}", &values, TARGET) {
            prop_assert!(written.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'));
            let (path, query) = written.split_once('?').unwrap();
            let segments: Vec<_> = path.split('/').collect();
            prop_assert_eq!(segments.len(), 5);
            prop_assert!(segments[1..].iter().all(|segment| !segment.is_empty()));
            prop_assert!(rules::path::Target::read(&written).is_some_and(|target| target.into_changed().is_none()));
            let names: Vec<_> = query.split('&').map(|pair| pair.split('=').collect::<Vec<_>>()).collect();
            prop_assert!(matches!(names.as_slice(), [one, two] if one[0] == "d" && two[0] == "e" && one.len() == 2 && two.len() == 2));
        } else {
            let misleads = |text: &str| rules::path::misleads_decoded(text.as_bytes());
            prop_assert!(one.is_empty() || misleads(&one) || misleads(&format!("b{two}")), "{one:?} {two:?}");
        }
    }

    /// Whatever came in, JSON goes out, and what only passes through goes out as it came.
    #[test]
    fn what_is_written_is_json(one in any_json(), two in any_json(), text: String) {
        let values = vec![given("{}"), given(&one), given(&two), given(&two), Given::Nothing, Given::Json(Json::string(&text))];
        let known = known();
        let value = |text: &str| Content::Value(output(text, &known).unwrap());
        let names = Names { segments: None, values: &known, joins_lists: true, knows_client: true, ..Names::default() };
        let written = |text: &str| Content::Text(Template::parse_in(text, &names).unwrap());
        let content = Content::Map(vec![
            (text.clone(), value("user")),
            ("b".to_owned(), Content::List(vec![value("gone"), value("users.a"), value("gone"), value("text")])),
            ("c".to_owned(), written("<${text}|${user}>")),
            ("d".to_owned(), value("user.pick('a', 'b.c').rename({'a': 'b'}).flatten()")),
            ("e".to_owned(), value("user.concat(users)")),
            ("f".to_owned(), value("user.merge(users, 'a', 'b', 'c')")),
            ("g".to_owned(), value("[user, users.map(u, u), text + '\"']")),
            ("h".to_owned(), value("gone")),
        ]);
        let mut out = Vec::new();
        let there = with(TARGET, &values, |context| content.write(context, &mut out));
        if let Err(unable) = there {
            // Loops run over lists alone, and numbers beyond all measure are not computed with.
            prop_assert!(unable.detail.contains("map(u, u)"), "{}", unable.detail);
            return Ok(());
        }
        prop_assert!(there == Ok(true) && json::is_valid(&out), "{}", String::from_utf8_lossy(&out));
        let whole = format!("{}:{one}", Json::string(&text).as_str());
        prop_assert!(String::from_utf8(out).unwrap().contains(&whole));
        // As a parameter it is something, whatever it is.
        with(TARGET, &values, |context| content.parameter(context)).unwrap();
    }
}

#[test]
fn a_client_is_told_by_its_address_and_an_ipv6_one_by_its_network() {
    let fields = HeaderMap::new();
    let text = |client: Option<&str>| {
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a.example",
            target: "/",
            fields: Fields::Map(&fields),
            client: client.map(|address| address.parse().unwrap()),
        };
        let mut out = Vec::new();
        let context = Context::of_request(&request, &[]);
        template("${client.address} ${client.network}").write(&context, &mut out);
        String::from_utf8(out).unwrap()
    };
    for address in ["10.0.0.7", "0.0.0.0", "255.255.255.255", "192.168.100.1"] {
        assert_eq!(text(Some(address)), format!("{address} {address}"));
    }
    assert_eq!(text(Some("2001:db8:1:2:3::4")), "2001:db8:1:2:3::4 2001:db8:1:2::/64");
    assert_eq!(text(None), "", "nobody's is missing");
}
