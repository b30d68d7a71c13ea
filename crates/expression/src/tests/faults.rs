//! What is refused when a file is loaded, and what is said then.

use std::time::{Duration, Instant};

use super::{expression, template};
use crate::ExpressionFault;

#[test]
fn faults_say_what_to_write() {
    for (text, cause, remedy) in [
        ("${}", "`${}` holds no expression", "write one, such as `${header('X-User')}`"),
        ("${ }", "`${}` holds no expression", "write one, such as `${header('X-User')}`"),
        ("a${url", "`${url` has no `}`", "close it with `}`, or write `$${` where `${` itself is meant"),
        ("${headr('X')}", "`headr` is no function", "write it as in `header('Name')`"),
        ("${qurey.x}", "`qurey` is not known", "write `query.NAME`"),
        ("${url.startWith('/')}", "`startWith` is no function", "write it as in `url.startsWith('/beta/')`"),
        ("${path.ids}", "the route calls no segment of its path `ids`", "write `path.id`"),
        ("${path.zebra}", "the route calls no segment of its path `zebra`", "write one of `id`, `section`"),
        (
            "${path}",
            "`path` alone is no value",
            "write `path.NAME` for a segment that the route names, or `url` for path and query",
        ),
        ("${query}", "`query` is not used so", "write `query.NAME`, with the name written out"),
        (
            "${header(query.x)}",
            "`header` is not used so",
            "write `header('Name')`, with the name written out",
        ),
        (
            "${header.Accept}",
            "`header.Accept` is not how a name is given to `header`",
            "write `header('Accept')`",
        ),
        (
            "${header('a b')}",
            "`a b` is no name of a header field",
            "write letters, digits and `-`, as in `header('X-User')`",
        ),
        (
            "${env.MISSING}",
            "the environment has no variable `MISSING`",
            "start with `MISSING=…` in the environment, or write the value itself",
        ),
        ("${url = '/'}", "`url = '/'` is no expression: `=` alone compares nothing", "write `==`"),
        (
            "${url == '/' and host == 'a'}",
            "`url == '/' and host == 'a'` is no expression: `and` is written otherwise",
            "write `&&`",
        ),
        ("${(url}", "`(url` has no `)` at its end", "close it with `)`"),
        ("${url)}", "`url)` has a `)` too many", "write as many closing brackets as opening ones"),
        ("${query.page > 3}", "`>` cannot order a text and a number", "write it as in `int(query.page) > 3`"),
        (
            "${query.nocache == 1}",
            "`==` compares a text with a number, which are never equal",
            "write the number as a text, `'1'`, or make one of the text, `int(query.page)`",
        ),
        (
            "${header('A') && true}",
            "`&&` needs true or false and gets a text",
            "compare it, as in `header('X-User') != null`",
        ),
        ("${'a' + 1}", "`+` does not join a text and a number", "write `string(…)` around what is no text"),
        (
            "${[url]}",
            "`[url]` is a list, which cannot be written",
            "write one that gives a text, a number, or true or false",
        ),
        (
            "${url.matches(query.x)}",
            "the pattern of `matches` is not written out",
            "write it as in `url.matches('^/v[0-9]+/')`",
        ),
        (
            "${url.matches('(')}",
            "the pattern of `matches` is no regular expression: unclosed group",
            "write it as in `url.matches('^/v[0-9]+/')`",
        ),
        (
            "${1 / 0}",
            "`1 / 0` fails, whatever a request holds",
            "write values that it can be worked out with",
        ),
    ] {
        assert_eq!(template(text), Err(ExpressionFault::new(cause, remedy)), "{text}");
    }
}

#[test]
fn a_condition_is_no_number() {
    for text in ["1", "size(url)", "int(query.page) + 1", "[url]", "null", "{'a': 1}"] {
        assert!(expression(text).is_err(), "{text}");
    }
}

#[test]
fn what_is_unknown_or_unbounded_is_refused_at_once() {
    for text in [
        "url.foo",
        "query.a.b",
        "now()",
        "request.url",
        "size()",
        "size(1)",
        "url.size(1)",
        "has(url)",
        "has(header('a'))",
        "query.all('a')",
        "url.replace('', url)",
        "url.split('')",
        "['a'].join(url)",
        "'%s'.format([url])",
        "[1].exists(x, [2].exists(y, x == y))",
        "url.split('').exists(x, x == 'a')",
        "[1].exists(url, true)",
        "[1].map(x, [2]).exists(x, x == [2])",
        "'a' in url",
        "url[0]",
        "type(url)",
        "duration('1s')",
        "url.?a",
        "a.b.c",
        ".url",
        "`url`",
        "{url: 1}.x",
        "Message{a: 1}",
        "math.greatest(1, 2)",
        "optional.of(url)",
        "claim.sub",
        "cookie('a;b')",
        "-url",
        "!url",
        "url ? 1 : 2",
        "1 + 1.0",
        "int(url) + 1u",
        "url.matches('(?=a)')",
        "url.matches('((a{1000}){1000}){1000}')",
        "${url}",
        "url url",
        "'a",
        "@0",
        "url.matches(r'\\')",
        "true == 'a'",
    ] {
        assert!(expression(text).is_err(), "{text}");
    }
}

#[test]
fn long_and_deep_texts_are_refused_in_time() {
    let list = |length: usize| format!("[{}].exists(x, x == url)", vec!["'a'"; length].join(","));
    assert!(expression(&list(64)).is_ok());
    let started = Instant::now();
    for text in [
        list(65),
        "x".repeat(5000),
        format!("url == '{}'", "x".repeat(5000)),
        format!("{}url != ''{}", "(".repeat(1000), ")".repeat(1000)),
        format!("{}url{}", "[".repeat(1000), "]".repeat(1000)),
        format!("{}true", "!".repeat(4000)),
        format!("{}1 == 1", "- ".repeat(2000)),
        format!("{}url != ''", "true ? true : ".repeat(200)),
        format!("url{}", ".trim()".repeat(500)),
        format!("url == {}url", "url + ".repeat(600)),
        format!("[{}] == []", vec!["1"; 1000].join(",")),
        format!("a{}", ".b".repeat(2000)),
        "(".repeat(4000),
        "'".repeat(4001),
        "{".repeat(24) + &"}".repeat(24),
        "a ".repeat(2000),
        "? ".repeat(2000),
        ", ".repeat(2000),
        // Within the bound on words, each the longest of its kind.
        format!("a{}", ".b".repeat(199)),
        format!("url{} == 1", ".trim()".repeat(98)),
        format!("url == {}1", "url + ".repeat(198)),
        format!("{}1", "true ? true : ".repeat(99)),
        format!("a{}", "[0]".repeat(132)),
        format!("{}1", "1 < ".repeat(199)),
        format!("{}1", "1 && ".repeat(130)),
        format!("{}1", "- 1".repeat(190)),
        "a ".repeat(399),
        "? ".repeat(399),
        ", ".repeat(399),
        ". ".repeat(399),
        "a(".repeat(24) + &")".repeat(24),
        "[".repeat(24) + &"]".repeat(23),
        "{a: ".repeat(24) + &"}".repeat(24),
        "a ? (".repeat(24) + &")".repeat(24),
    ] {
        assert!(expression(&text).is_err(), "{text:.40}");
    }
    assert!(started.elapsed() < Duration::from_mins(1));
}
