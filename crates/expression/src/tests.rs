//! Tests of the whole: texts as somebody writes them against requests as somebody sends them.

use std::env::VarError;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use message::{Fields, RequestView, Scheme};
use proptest::prelude::*;

use crate::compile::Known;
use crate::functions::FUNCTIONS;
use crate::reshape::RESHAPINGS;
use crate::roots::{ELSEWHERE, MORE, ROOTS};
use crate::scan::{Piece, pieces};
use crate::{Context, Expression, ExpressionFault, Named, Names, Output, Template};

mod faults;
mod values;

struct Sent {
    target: String,
    fields: HeaderMap,
}

impl Sent {
    fn new(target: &str, lines: &[(&str, &str)]) -> Self {
        let mut fields = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            fields.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
        }
        Sent { target: target.to_owned(), fields }
    }

    fn ask<T>(&self, asked: impl FnOnce(&Context<'_>) -> T) -> T {
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Https,
            authority: "a.example:8443",
            target: &self.target,
            fields: Fields::Map(&self.fields),
            client: None,
        };
        let names = [None, Some("id".into())];
        asked(&Context::of_request(&request, &names))
    }

    fn write(&self, text: &str) -> Option<Vec<u8>> {
        let template = template(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let mut out = b"before".to_vec();
        let there = self.ask(|context| template.write(context, &mut out));
        assert_eq!(&out[..6], b"before");
        assert!(there || out.len() == 6, "{text}: appended although missing");
        there.then(|| out.split_off(6))
    }

    fn text(&self, text: &str) -> Option<String> {
        self.write(text).map(|out| String::from_utf8(out).unwrap())
    }

    fn holds(&self, text: &str) -> bool {
        let expression = expression(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        self.ask(|context| expression.holds(context))
    }
}

fn environment(name: &str) -> Result<String, VarError> {
    match name {
        "MISSING" => Err(VarError::NotPresent),
        "NUMBER" => Ok("7".to_owned()),
        name => Ok(format!("<{name}> ${{url}}' + '")),
    }
}

const KNOWN: Known<'static> = Known {
    names: Names {
        segments: Some(&["id", "section"]),
        values: &[],
        joins_lists: false,
        knows_client: true,
        knows_response: false,
        location: None,
    },
    environment: &environment,
};

fn template(text: &str) -> Result<Template, ExpressionFault> {
    Template::parse_with(text, &KNOWN)
}

fn expression(text: &str) -> Result<Expression, ExpressionFault> {
    Expression::parse_with(text, &KNOWN)
}

// {"sub":"u7","admin":true,"level":3,"roles":["admin","dev"],"deep":{"a":1}}
const TOKEN: &str = "Bearer e30.eyJzdWIiOiJ1NyIsImFkbWluIjp0cnVlLCJsZXZlbCI6Mywicm9sZXMiOlsiYWRtaW4iLCJkZXYiXSwiZGVlcCI6eyJhIjoxfX0.c2ln";

fn sent() -> Sent {
    Sent::new(
        "/users/a%20b+c?page=4&x=a+b%21&x=second&empty=&bare&%70lan=gold",
        &[
            ("x-user", "ann"),
            ("x-empty", ""),
            ("x-two", "a"),
            ("x-two", "b"),
            ("cookie", "currency=EUR; session-id=\"q\"; currency=USD"),
            ("cookie", "late=1"),
            ("authorization", TOKEN),
        ],
    )
}

#[test]
fn single_values_are_written() {
    for (text, expected) in [
        ("plain", "plain"),
        ("${header('X-User')}", "ann"),
        ("<${header('x-user')}|${header('X-Empty')}>", "<ann|>"),
        ("${header('X-Two')}", "a, b"),
        ("${header('Host')} ${host}", "a.example:8443 a.example"),
        ("${cookie.currency}", "EUR"),
        ("${cookie('session-id')}${cookie['late']}", "\"q\"1"),
        ("${query.x}", "a b!"),
        ("${query('plan')}", "gold"),
        ("[${query.empty}${query.bare}]", "[]"),
        ("user-${path.id}", "user-a b+c"),
        (
            "${method} ${scheme} ${url}",
            "GET https /users/a%20b+c?page=4&x=a+b%21&x=second&empty=&bare&%70lan=gold",
        ),
        ("${claim('sub')}-${claim('admin')}-${claim('level')}", "u7-true-3"),
        ("$${url} $$ {}", "${url} $$ {}"),
    ] {
        assert_eq!(sent().text(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn a_missing_value_takes_the_whole_text_with_it() {
    for text in [
        "a${header('X-No')}",
        "${url}${cookie.no}",
        "${query.no}",
        "${query.X}",
        "${path.section}",
        "${claim('no')}",
        "${claim('roles')}",
        "${claim('deep')}",
        "${header('X-No') + 'x'}",
        "${int(header('X-User'))}",
        "${header('X-No') == null ? null : 'x'}",
        "${{'a': 'b'}[header('X-User')]}",
        "${9223372036854775807 + int(query.page)}",
        "${1 / (int(query.page) - 4)}",
    ] {
        assert_eq!(sent().text(text), None, "{text}");
    }
}

#[test]
fn computed_values_are_written_in_their_usual_text() {
    for (text, expected) in [
        ("${size(header('X-User'))}", "3"),
        ("${int(query.page) + 1}", "5"),
        ("${uint(query.page) * 2u}", "8"),
        ("${double(query.page) / 8.0}", "0.5"),
        ("${header('X-User') == 'ann'}", "true"),
        ("${header('X-No') != null ? header('X-No') : 'free'}", "free"),
        ("${'shard-' + string(int(query.page) % 3)}", "shard-1"),
        ("${{'ann': 'a', 'bob': 'b'}[header('X-User')]}", "a"),
        ("${header('X-User').upperAscii().substring(1)}", "NN"),
        ("${1 + 2}", "3"),
    ] {
        assert_eq!(sent().text(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn conditions_hold() {
    for text in [
        "true",
        "header('X-User')",
        "header('X-Two')",
        "claim('admin')",
        "claim('sub')",
        "query.page == '4'",
        "int(query.page) > 3",
        "header('X-User') != null && !has(query.no)",
        "has(query.bare)",
        "query.bare == ''",
        "query['page'] == '4'",
        "'page' in query",
        "'X-User' in header",
        "cookie.no == null",
        "host in ['b.example', 'a.example']",
        "'admin' in claim('roles')",
        "claim('roles').exists(role, role == 'dev')",
        "claim('level') == 3",
        "['/draft/', '/users/'].exists(part, url.contains(part))",
        "['a', 'users'].exists_one(part, url.startsWith('/' + part + '/'))",
        "['/', 'u'].all(part, url.contains(part))",
        "header('X-User') in ['a'].map(x, x + 'nn')",
        "size(['/users', 'q'].filter(x, url.contains(x))) == 1",
        "url.matches('^/users/[^?]+[?]') && matches(host, 'a')",
        "header('X-No').startsWith('a') || true",
        "url.size() > 3",
        "env.NUMBER == '7' && url != ''",
    ] {
        assert!(sent().holds(text), "{text}");
    }
}

#[test]
fn what_is_missing_or_fails_does_not_hold() {
    for text in [
        "false",
        "header('X-No')",
        "header('X-Empty')",
        "query.bare",
        "claim('level')",
        "claim('roles')",
        "claim('no')",
        "header('X-No') == ''",
        "header('X-No').startsWith('')",
        "int(header('X-User')) > 3",
        "header('X-No') > 'a'",
        "query.page == '04'",
        "header('X-No').matches('.*')",
        "header('X-No').startsWith('a') && url != ''",
        "!header('X-No').startsWith('a')",
        "claim('sub') > 3",
        "header('X-User').substring(7) == ''",
    ] {
        assert!(!sent().holds(text), "{text}");
    }
}

#[test]
fn the_environment_is_read_once_and_never_parsed() {
    let constant = template("${env.KEY}").unwrap();
    assert_eq!(constant.constant(), Some("<KEY> ${url}' + '"));
    assert_eq!(template("a${env.NUMBER}${1 + 1}").unwrap().constant(), Some("a72"));
    assert_eq!(template("").unwrap().constant(), Some(""));
    assert_eq!(template("a${url}").unwrap().constant(), None);
    assert_eq!(sent().text("${env.KEY + method}").as_deref(), Some("<KEY> ${url}' + 'GET"));
    assert_eq!(constant.text(), "${env.KEY}");
    let package = Template::parse("${env.CARGO_PKG_NAME}", None).unwrap();
    assert_eq!(package.constant(), Some("expression"));
}

#[test]
fn another_value_of_the_environment_is_another_expression() {
    let with = |value: &'static str| {
        let environment = move |_: &str| Ok(value.to_owned());
        let known = Known { names: Names::default(), environment: &environment };
        let text = "env.WORD == url";
        (Template::parse_with("${env.WORD}", &known).unwrap(), Expression::parse_with(text, &known).unwrap())
    };
    assert_eq!(with("a"), with("a"));
    assert_ne!(with("a").0, with("b").0);
    assert_ne!(with("a").1, with("b").1);
    assert!(!format!("{:?}", with("secret")).contains("secret"));
}

#[test]
fn what_is_written_is_shareable() {
    fn shareable<T: Clone + Send + Sync + std::fmt::Debug + PartialEq>() {}
    shareable::<Template>();
    shareable::<Expression>();
}

#[test]
fn braces_are_taken_off_where_one_expression_is_wanted() {
    let expression = Expression::parse_braced("${ query.nocache == '1' }", &Names::default()).unwrap();
    assert_eq!(expression.text(), "query.nocache == '1'");
    assert_eq!(Expression::parse("query.nocache == '1'", None), Ok(expression));
    for text in ["", "url", "a${url}", "${url}${url}", "$${url}"] {
        assert!(Expression::parse_braced(text, &Names::default()).is_err(), "{text}");
    }
}

/// What is just allowed can be evaluated on a stack as small as that of any thread.
#[test]
fn what_is_deep_can_be_evaluated() {
    for text in [
        format!("{}url == ''", "url + ".repeat(45)),
        format!("{}url != ''", "url == 'b' ? false : ".repeat(45)),
        format!("{}true{} == url", "string(".repeat(22), ")".repeat(22)),
        format!("{}url{} != []", "[".repeat(24), "]".repeat(24)),
        format!("{}url{} != {{}}", "{'a': ".repeat(24), "}".repeat(24)),
        format!("{}true", "url == '' || ".repeat(45)),
        format!("url{} != ''", ".trim()".repeat(45)),
    ] {
        sent().holds(&text);
    }
}

#[test]
fn bytes_that_are_not_utf8_stay_themselves() {
    let mut request = Sent::new("/users/%ff?x=%fe", &[]);
    request.fields.insert("x-raw", HeaderValue::from_bytes(b"\xff").unwrap());
    assert_eq!(request.write("${header('X-Raw')}${path.id}${query.x}"), Some(b"\xff\xff\xfe".to_vec()));
    // The interpreter keeps them apart as well.
    assert_eq!(request.write("${true ? query.x : url}"), Some(b"\xfe".to_vec()));
    assert!(request.holds("header('X-Raw') != null && header('X-Raw') != query.x"));
    assert!(!request.holds("header('X-Raw').contains('')"));
    assert_eq!(request.text("${header('X-Raw') + 'a'}"), None);
}

#[test]
fn a_response_is_known_where_one_passes_and_nowhere_else() {
    let names = Names { knows_response: true, location: Some("KUL"), ..KNOWN.names };
    let template = |text: &str| Template::parse_with(text, &Known { names, ..KNOWN });
    let fields = HeaderMap::from_iter([(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))]);
    let fields = message::HeadFields::Map(&fields);
    let cache = Some(message::CacheStatus::hit(9));
    let response = message::ResponseView { status: http::StatusCode::NOT_FOUND, fields, cache };
    for (text, expected) in [
        ("${response.status}", Some("404")),
        ("${response.status >= 400 ? 'bad' : 'good'}", Some("bad")),
        ("${response.header('X-A')}", Some("1")),
        ("${response.header('X-B')}", None),
        ("${response.header('X-B') == null}", Some("true")),
        ("${cache} at ${location}", Some("hit at KUL")),
        ("${cache.upperAscii()}", Some("HIT")),
    ] {
        let template = template(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let mut out = Vec::new();
        Sent::new("/", &[]).ask(|context| {
            let there = template.write(&Context { response: Some(&response), ..*context }, &mut out);
            assert_eq!(there.then(|| str::from_utf8(&out).unwrap()), expected, "{text}");
            assert!(
                text.contains("null") || text.contains("location") || !template.write(context, &mut out),
                "{text}"
            );
        });
    }
    for wrong in ["${response}", "${response.body}", "${response.header}", "${response.header(query.a)}"] {
        assert!(template(wrong).is_err(), "{wrong}");
    }
    for elsewhere in ["${response.status}", "${cache}", "${location}"] {
        let fault = Template::parse_with(elsewhere, &KNOWN).unwrap_err();
        assert!(fault.remedy.contains("in `headers"), "{elsewhere}: {fault}");
    }
}

#[test]
fn a_computed_text_is_bounded() {
    let request = Sent::new(&format!("/{}", "a".repeat(40_000)), &[]);
    assert!(request.text("${url + 'b'}").is_some());
    assert_eq!(request.text("${url + url}"), None);
}

#[test]
fn a_pattern_takes_linear_time() {
    let request = Sent::new(&format!("/{}", "a".repeat(30_000)), &[]);
    let started = Instant::now();
    assert!(!request.holds("url.matches('^/(a+)+$') && url.matches('(a*)*b')"));
    assert!(started.elapsed() < Duration::from_secs(10));
}

const PAGE: &str = include_str!("../../../docs/reference/expressions.md");

/// Where all that the page tells of is known.
fn compiles(braced: &str) -> Result<Output, ExpressionFault> {
    let values = ["body", "item", "failed", "user", "users", "orders"].map(Named::any);
    let names = Names { values: &values, knows_response: true, location: Some("KUL"), ..KNOWN.names };
    let known = Known { names, ..KNOWN };
    Output::parse(braced.trim_start_matches("${").strip_suffix('}').unwrap(), &known)
}

#[test]
fn every_example_of_the_page_is_an_expression() {
    let mut seen = 0;
    for code in PAGE.split('`').skip(1).step_by(2) {
        if !code.contains("${") || ["${…}", "${", "$${"].contains(&code) {
            continue;
        }
        let text = code.trim_start_matches("per: ").trim_matches('"');
        for piece in pieces(text).unwrap() {
            if let Piece::Expression(inner) = piece {
                seen += 1;
                let braced = format!("${{{inner}}}");
                compiles(&braced).unwrap_or_else(|fault| panic!("{braced}: {fault}"));
            }
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn the_page_and_the_faults_know_everything() {
    for (root, written) in ROOTS {
        assert!(PAGE.contains(&format!("| `{root}")), "{root}");
        assert!(PAGE.contains(written) || written.contains("Name") || written.contains("sub"), "{written}");
    }
    for (word, _) in ELSEWHERE {
        assert!(PAGE.contains(&format!("| `{word}` |")) || *word == "each", "{word}");
    }
    for (name, example) in RESHAPINGS.iter().chain(MORE) {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
        let lists = ["lists", "first", "second"].iter().any(|word| example.contains(word));
        assert!(lists || compiles(&format!("${{{example}}}")).is_ok(), "{example}");
    }
    for function in FUNCTIONS {
        assert!(PAGE.contains(&format!("| `{}` |", function.name)), "{}", function.name);
        let fault = template(&format!("${{{}}}", function.example)).err();
        assert_eq!(fault, None, "{}", function.example);
    }
}

/// Expressions that touch everything, for requests of noise.
const TOUCHING: &[&str] = &[
    "header('X-A') + cookie.a + query.a + path.id",
    "size(query.a) > 3 ? query.a.substring(0, 2) : url.substring(1)",
    "query.a.lowerAscii().upperAscii().trim().contains(cookie.a)",
    "int(query.a) + int(cookie.a) * 3 / int(path.id) % int(header('X-A')) - 2",
    "string(double(query.a) / double(cookie.a))",
    "uint(query.a) - uint(cookie.a)",
    "header('X-A').substring(int(query.a), int(cookie.a))",
    "claim('a') == query.a || claim('a') > 3 || 'x' in claim('a')",
    "claim('a').exists(x, x == query.a)",
    "query.a.matches('^[a-f]+$') && header('X-A') in ['a', query.a]",
    "['a', query.a, cookie.a].map(x, x + url) == []",
    "query.a < cookie.a && path.id >= header('X-A')",
    "{'a': 1, query.a: 2}[cookie.a] == 2",
    "-int(query.a) == 3",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_request_makes_it_panic(
        path in "[ -~é]{0,12}",
        query in "(a=)?[-+0-9a-f%&=.é]{0,24}",
        header in prop::collection::vec(prop::sample::select((32..=126).chain(128..=255).collect::<Vec<u8>>()), 0..12),
        cookie in "a=[-0-9a-z]{0,20}",
        claims in "\\{\"a\":(-?[0-9]{1,25}|[0-9.e]{1,6}|\"[a-z]{0,4}\"|true|null|\\[[0-9],\"x\"\\])\\}",
    ) {
        use base64::Engine;
        let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&claims);
        let mut request = Sent::new(&format!("/users/{path}?{query}"), &[]);
        request.fields.insert("x-a", HeaderValue::from_bytes(&header).unwrap());
        request.fields.insert("cookie", HeaderValue::from_str(&cookie).unwrap());
        request.fields.insert("authorization", HeaderValue::from_str(&format!("Bearer e30.{token}.x")).unwrap());
        for text in TOUCHING {
            // Some give a text and are no condition, some a condition; each is one of them.
            prop_assert!(expression(text).is_ok() || template(&format!("${{{text}}}")).is_ok(), "{}", text);
            if let Ok(expression) = expression(text) {
                request.ask(|context| expression.holds(context));
            }
            if let Ok(template) = template(&format!("${{{text}}}")) {
                request.ask(|context| template.write(context, &mut Vec::new()));
            }
        }
    }

    /// What is written plainly and what the interpreter gives are the same.
    #[test]
    fn the_short_way_and_the_long_way_agree(value in "[ -~é]{0,12}", parameter in "[-+0-9a-f%=.]{0,24}") {
        let request = Sent::new(&format!("/users/{parameter}?a={parameter}"), &[("x-a", &value)]);
        for plain in ["header('X-A')", "query.a", "path.id"] {
            let long = format!("${{true ? {plain} : null}}");
            prop_assert_eq!(request.write(&format!("${{{plain}}}")), request.write(&long));
            prop_assert_eq!(request.holds(plain), request.holds(&format!("true ? {plain} : null")));
        }
    }

    /// No value is ever read as part of an expression.
    #[test]
    fn a_value_is_only_ever_a_value(value in "[ -~]{1,20}") {
        let request = Sent::new("/", &[("x-a", &value)]);
        let value = value.clone();
        prop_assert_eq!(request.text("${'<' + header('X-A') + '>'}"), Some(format!("<{value}>")));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in prop::collection::vec(prop::sample::select(vec![
        "url", "query", ".", "a", "(", ")", "[", "]", "{", "}", "'x'", "1", "1u", "2.5", "+", "-", "!", "&&", "||", "==", "<",
        "in", "?", ":", ",", "header", "('A')", "has", "exists", "(x, x == 1)", "matches", "null", "true", "$", "@", "\\",
        "'", "\"", "é", "\n", "//", "`", "b'\\xff'", "size", "map", "0x", "99999999999999999999", "-9223372036854775808",
    ]), 0..14), spaced: bool) {
        let text = text.join(if spaced { " " } else { "" });
        if let Ok(expression) = expression(&text) {
            sent().ask(|context| expression.holds(context));
        }
        if let Ok(template) = template(&format!("${{{text}}}")) {
            sent().ask(|context| template.write(context, &mut Vec::new()));
        }
    }

    #[test]
    fn noise_makes_the_parser_say_so(text in "\\PC{0,60}") {
        let _ = expression(&text);
        let _ = template(&text);
    }
}

#[test]
fn a_loop_reads_what_stands_beside_its_list_once() {
    let numbers = |count: usize| {
        let list: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        format!("[{}]", list.join(","))
    };
    let large = format!("{{\"wanted\":7,\"more\":\"{}\"}}", "x".repeat(1_000_000));
    let values =
        [numbers(1000), large].map(|json| crate::Given::Json(crate::Json::check(json.into()).unwrap()));
    let named = ["ids", "it"].map(Named::any);
    let names = Names { values: &named, ..Names::default() };
    let expression = |text| Expression::parse_in(text, &names).unwrap();
    let took = |text| {
        let expression = expression(text);
        Sent::new("/", &[]).ask(|context| {
            let (context, began) = (Context { values: &values, ..*context }, Instant::now());
            assert!(expression.holds(&context));
            began.elapsed()
        })
    };
    let once = took("size(ids) == 1000 && size(it) == 2");
    let each = took("ids.all(id, size(it) == 2)");
    assert!(each < 100 * once, "{each:?} for a thousand rounds, {once:?} for one");
}
