//! Compose with faults: each is said once, with its line, its cause and its remedy.

use crate::bad::{bad, one};
use crate::compose::{file, route};

#[track_caller]
fn say(cases: &[(&str, &str)]) {
    for (lines, expected) in cases {
        let text = if lines.starts_with("  - ") { file(lines) } else { route(lines) };
        let faults = bad(&text);
        assert_eq!(faults.count(), 1, "{lines}\n{faults}");
        assert_eq!(one(&faults), *expected, "{lines}");
    }
}

#[test]
fn steps_that_wait_for_one_another_are_named() {
    say(&[
        (
            "compose: { a: { api: \"GET /${b}\" }, b: { api: \"GET /${a}\" } }",
            "5:16 routes[0].compose.a | steps wait for one another: `a` waits for `b`, which waits for `a` | let one of them do without the other",
        ),
        (
            "compose: { a: { api: \"GET /${a}\" } }",
            "5:16 routes[0].compose.a | steps wait for one another: `a` waits for `a` | let one of them do without the other",
        ),
        (
            "compose: { a: { each: [1, 2], api: \"GET /${b}\" }, b: { api: \"GET /${a[1]}\" } }",
            "5:55 routes[0].compose.b | steps wait for one another: `b` waits for `a[1]`, which waits for `b` | let one of them do without the other",
        ),
        (
            "compose: { ab: { api: \"GET /${b}\" }, a: { api: \"GET /a\" }, b: { for: \"${ab}\", api: \"GET /${item}\" } }",
            "5:16 routes[0].compose.ab | steps wait for one another: `ab` waits for `b`, which waits for `ab` | let one of them do without the other",
        ),
        (
            "compose: { a: { compose: { x: { api: \"GET /${b}\" } } }, b: { api: \"GET /${a}\" } }",
            "5:16 routes[0].compose.a | steps wait for one another: `a` waits for `b`, which waits for `a` | let one of them do without the other",
        ),
        (
            "compose: { a: { compose: { x: { api: \"GET /${a}\" } } } }",
            "5:16 routes[0].compose.a | steps wait for one another: `a` waits for `a` | let one of them do without the other",
        ),
        (
            "compose: { a: { compose: { x: { api: \"GET /${y}\" }, y: { api: \"GET /${x}\" } } } }",
            "5:32 routes[0].compose.a.compose.x | steps wait for one another: `x` waits for `y`, which waits for `x` | let one of them do without the other",
        ),
    ]);
}

#[test]
fn what_is_named_is_there() {
    say(&[
        (
            "compose: { user: { api: \"GET /${usr.id}\" }, users: { api: GET /users } }",
            "5:29 routes[0].compose.user.api | `usr` is not known | write `user`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: { name: \"${usr.name}\" }",
            "6:22 routes[0].respond.name | `usr` is not known | write `user`",
        ),
        (
            "compose: { user: { dp: SELECT 1 } }",
            "5:24 routes[0].compose.user.dp | unknown key `dp` | write `db`",
        ),
        (
            "compose: { user: { zebra: GET /user } }",
            "5:24 routes[0].compose.user.zebra | unknown key `zebra` | known here: `api`, `other`, `redis`, `db`, `math`, `each`, `when`, `for`, `width`, `most`, `args`, `headers`, `body`, `as`, `compose`, `respond`, `timeout`, `on_error`, `use`, `batch`",
        ),
        (
            "compose: { user: { apii: GET /user, db: SELECT 1 } }",
            "5:24 routes[0].compose.user.apii | unknown key `apii` | known here: `each`, `when`, `for`, `width`, `most`, `args`, `headers`, `body`, `as`, `compose`, `respond`, `timeout`, `on_error`, `use`, `batch`",
        ),
        (
            "compose: { user: { api: GET /user, tiemout: 1s } }",
            "5:40 routes[0].compose.user.tiemout | unknown key `tiemout` | write `timeout`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: \"${user.pik('id')}\"",
            "6:14 routes[0].respond | `pik` is no function | write it as in `users.pick('id', 'name')`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: \"${size(user.pick('id'))}\"",
            "6:14 routes[0].respond | `pick` is done to a whole value, at the end of its expression | let it stand alone, as in `\"${users.pick('id', 'name')}\"`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: \"${user.mpa(u, u.id)}\"",
            "6:14 routes[0].respond | `mpa` is no function | write it as in `users.map(u, u.id)`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: \"${user.pick(id)}\"",
            "6:14 routes[0].respond | `pick` is not used so | write it as in `users.pick('id', 'name')`",
        ),
        (
            "compose: { user: { api: GET /user } }\nrespond: \"${user.rename('a', 'b')}\"",
            "6:14 routes[0].respond | `rename` is not used so | write it as in `users.rename({'id': 'user_id'})`",
        ),
        (
            "compose: { list: { for: \"${usres}\", width: 3, api: \"GET /${item}\" }, users: { api: GET /users } }",
            "5:29 routes[0].compose.list.for | `usres` is not known | write `users`",
        ),
        (
            "compose: { list: { api: \"GET /${item.id}\" } }",
            "5:29 routes[0].compose.list.api | `item` is not known here | it is known in a step with `for`: add `for: \"${list}\"`, or take it out",
        ),
        (
            "compose: { list: { for: \"${users}\", when: \"${item.ok}\", api: \"GET /${item.id}\" }, users: { api: GET /users } }",
            "5:47 routes[0].compose.list.when | `item` is not known here | it is known in a step with `for`: add `for: \"${list}\"`, or take it out",
        ),
        (
            "compose: { a: { api: GET /x } }\nrun: paralel",
            "6:10 routes[0].run | `paralel` is not known here | write `parallel`, `serial`, or `pool(10, 20)`: ten at once, and twenty that wait",
        ),
        (
            "compose: { a: { api: GET /x } }\nrun: pool(10)",
            "6:10 routes[0].run | `pool(10)` is not known here | write `parallel`, `serial`, or `pool(10, 20)`: ten at once, and twenty that wait",
        ),
        (
            "compose: { a: { api: /x } }\nrespond: \"${a}${b}\"",
            "6:14 routes[0].respond | `b` is not known | write one of `method`, `scheme`, `host`, `url`, `client.address`, `path.NAME`, `query.NAME`, `header('Name')`, `cookie.NAME`, `claim('sub')`, `env.NAME`, `body`, `a`, `failed`, or `'b'` for the word itself",
        ),
        (
            "compose: { a: { api: GET /x, as: xml } }",
            "5:38 routes[0].compose.a.as | `xml` is not known here | write one of `json`, `text`",
        ),
        (
            "compose: { a: { db: SELECT 1, as: text } }",
            "5:39 routes[0].compose.a.as | `text` is not known here | write one of `rows`, `row`, `value`, `column`",
        ),
        (
            "compose: { a: { api: GET /x } }\nsave: { dedup: false }",
            "6:13 routes[0].save.dedup | unknown key `dedup` | write `dedupe`",
        ),
        (
            "compose: { a: { api: GET /x, use: liv } }",
            "5:39 routes[0].compose.a.use | there is no policy `liv` | write `live`",
        ),
        (
            "compose: { a: { each: [1, 2, 3], api: \"GET /${usr}\" } }",
            "5:43 routes[0].compose.a.api | `usr` is not known | write one of `method`, `scheme`, `host`, `url`, `client.address`, `path.NAME`, `query.NAME`, `header('Name')`, `cookie.NAME`, `claim('sub')`, `env.NAME`, `body`, `a`, or `'usr'` for the word itself",
        ),
        (
            "compose: { a: { api: \"GET /${failed}\" } }",
            "5:26 routes[0].compose.a.api | `failed` is not known here | it is known in the `respond` of a route",
        ),
        (
            "compose: { a: { api: \"GET /${path.di}\" } }",
            "5:26 routes[0].compose.a.api | the route calls no segment of its path `di` | write `path.id`",
        ),
        (
            "compose: { a: { api: \"GET /${user.name\" } }",
            "5:26 routes[0].compose.a.api | `${user.name` has no `}` | close it with `}`, or write `$${` where `${` itself is meant",
        ),
        (
            "compose: { a: { api: GET /x } }\nrespond: { a: \"${a.id + 1 }${b}\" }",
            "6:19 routes[0].respond.a | `b` is not known | write one of `method`, `scheme`, `host`, `url`, `client.address`, `path.NAME`, `query.NAME`, `header('Name')`, `cookie.NAME`, `claim('sub')`, `env.NAME`, `body`, `a`, `failed`, or `'b'` for the word itself",
        ),
        (
            "compose: { a: { api: GET /x, retry: true } }",
            "5:34 routes[0].compose.a.retry | unknown key `retry` | `retry` belongs into `policies.<name>`; known here: `each`, `when`, `for`, `width`, `most`, `args`, `headers`, `body`, `as`, `compose`, `respond`, `timeout`, `on_error`, `use`, `batch`",
        ),
    ]);
}

#[test]
fn a_comma_ends_a_value_without_quotes() {
    let faults = bad(&route("compose: { a: { db: SELECT id, title FROM books } }"));
    assert_eq!(
        one(&faults),
        "5:36 routes[0].compose.a.title FROM books | `title FROM books` stands behind a comma, which ends the value before it | put the whole value into quotes"
    );
}

#[test]
fn values_are_used_as_what_they_are() {
    say(&[
        (
            "compose: { tests: { each: [1, 2], api: \"GET /{each}\" } }\nrespond: \"${tests.title}\"",
            "6:14 routes[0].respond | `tests` is a list and has no part `title` | write `tests[0].title` for the first of them",
        ),
        (
            "compose: { tests: { each: [1, 2], api: \"GET /{each}\" } }\nrespond: \"${tests[2].title}\"",
            "6:14 routes[0].respond | `tests` has 2 items, and none is `[2]` | write an index from 0 to 1",
        ),
        (
            "compose: { tests: { each: { a: 1, b: 2 }, api: \"GET /{each}\" } }\nrespond: \"${tests.c.title}\"",
            "6:14 routes[0].respond | `tests` has no part `c` | write `tests.a`",
        ),
        (
            "compose: { tests: { each: { a: 1, b: 2 }, api: \"GET /{each}\" } }\nrespond: \"${tests[0]}\"",
            "6:14 routes[0].respond | `tests` has parts with names, and none is `[0]` | write `tests.NAME`",
        ),
        (
            "compose: { tests: { each: { a: 1, b: 2 }, api: \"GET /{each}\" } }\nrespond: \"x ${tests}\"",
            "6:14 routes[0].respond | `tests` is a map, which cannot be written | write one that gives a text, a number, or true or false",
        ),
        (
            "compose: { list: { for: \"${path.id}\", api: \"GET /${item}\" } }",
            "5:29 routes[0].compose.list.for | `for` needs a list and gets a text | write one, like `${users}`",
        ),
        (
            "compose: { list: { for: users, api: \"GET /${item}\" }, users: { api: GET /users } }",
            "5:29 routes[0].compose.list.for | `users` is a text and no expression | write `\"${users}\"`",
        ),
        (
            "compose: { list: { width: 3, api: GET /x } }",
            "5:24 routes[0].compose.list.width | `width` is for `for` | write `for`, or take it out",
        ),
        (
            "compose: { list: { for: \"${users}\", width: 0, api: GET /x }, users: { api: GET /users } }",
            "5:48 routes[0].compose.list.width | `0` is out of range | write a whole number from 1 to 1024",
        ),
        (
            "compose: { list: { for: \"${users}\", most: 100000, api: GET /x }, users: { api: GET /users } }",
            "5:47 routes[0].compose.list.most | `100000` is out of range | write a whole number from 1 to 10000",
        ),
        (
            "compose: { a: { api: GET /x, on_error: \"${path.id}\" } }",
            "5:44 routes[0].compose.a.on_error | an expression cannot stand here | write the value itself",
        ),
        (
            "compose: { a: { each: [\"${path.id}\"], api: GET /x } }",
            "5:28 routes[0].compose.a.each[0] | an expression cannot stand here | write the value itself",
        ),
        (
            "compose: { a: { when: query.x, api: GET /x } }",
            "5:27 routes[0].compose.a.when | `query.x` is a text and no expression | write `\"${query.x}\"`",
        ),
        (
            "compose: { a: { when: \"${size(query.x)}\", api: GET /x } }",
            "5:27 routes[0].compose.a.when | `size(query.x)` is a number, and neither holds nor does not | compare it, as in `size(url) > 100`",
        ),
        (
            "compose: { a: { math: \"${path.id}\" } }",
            "5:27 routes[0].compose.a.math | an expression cannot stand here | write the value itself",
        ),
        (
            "compose: { users: { api: GET /x } }\nrespond: \"${users.filter(u, u.ok).map(u, u.id)}\"",
            "6:14 routes[0].respond | `exists`, `all`, `map` and `filter` run over a list as it is, not over what another makes of it | write it as in `users.map(u, u.active, u.id)`, which leaves out as well",
        ),
    ]);
}

#[test]
fn calls_that_change_something_need_another_method() {
    say(&[
        (
            "compose: { a: { db: DELETE FROM a } }",
            "5:16 routes[0].compose.a | step `a` changes something, in a route that takes GET: its statement writes | write another method into `match`, like `POST /path`",
        ),
        (
            "compose: { a: { compose: { b: { db: DELETE FROM a } } } }",
            "5:32 routes[0].compose.a.compose.b | step `b` changes something, in a route that takes GET: its statement writes | write another method into `match`, like `POST /path`",
        ),
        (
            "compose: { a: { each: [1, 2], db: \"DELETE FROM a_{each}\" } }",
            "5:16 routes[0].compose.a | step `a` changes something, in a route that takes GET: its statement writes | write another method into `match`, like `POST /path`",
        ),
        (
            "compose: { a: { api: POST /x } }",
            "5:16 routes[0].compose.a | step `a` changes something, in a route that takes GET: it sends POST | write another method into `match`, like `POST /path`",
        ),
        (
            "  - match: /orders\n    compose: { a: { db: DELETE FROM a } }",
            "5:16 routes[0].compose.a | step `a` changes something, in a route that takes GET: its statement writes | write another method into `match`, like `POST /path`",
        ),
        (
            "  - match: POST /x\n    compose: { a: { api: POST /x, use: live } }",
            "5:40 routes[0].compose.a.use | a call that writes is not cached | take `use` out; put it on the calls that read",
        ),
    ]);
}

#[test]
fn steps_ask_one_source_in_its_own_words() {
    say(&[
        (
            "compose: { a: { db: \"SELECT * FROM a WHERE id = ?\" } }",
            "5:25 routes[0].compose.a.db | the statement has 1 `?`, and 0 values stand in `args` | write one value for each `?`, like `args: [\"${path.id}\"]`",
        ),
        (
            "compose: { a: { db: SELECT * FROM a, args: [\"${path.id}\"] } }",
            "5:48 routes[0].compose.a.args | the statement has 0 `?`, and 1 value stands in `args` | write `?` where the value belongs, or take `args` out",
        ),
        (
            "compose: { a: { db: \"SELECT * FROM a WHERE id = ? AND b = ?\", args: \"${path.id}\" } }",
            "5:73 routes[0].compose.a.args | the statement has 2 `?`, and 1 value stands in `args` | write one value for each `?`, like `args: [\"${path.id}\"]`",
        ),
        (
            "compose: { a: { db: \"SELECT * FROM a WHERE id = ${path.id}\" } }",
            "5:25 routes[0].compose.a.db | an expression stands in a statement, where it would be spliced | write `?` in its place, and the expression into `args`",
        ),
        (
            "compose: { a: { db: \"SELECT 1; SELECT 2\" } }",
            "5:25 routes[0].compose.a.db | there are two statements | write one; a step for each",
        ),
        (
            "compose: { body: { api: GET /x } }",
            "5:16 routes[0].compose.body | `body` already means something in expressions | write another name",
        ),
        (
            "compose: { item: { api: GET /x } }",
            "5:16 routes[0].compose.item | `item` already means something in expressions | write another name",
        ),
        (
            "compose: { query: { api: GET /x } }",
            "5:16 routes[0].compose.query | `query` already means something in expressions | write another name",
        ),
        (
            "compose: { my-step: { api: GET /x } }",
            "5:16 routes[0].compose.my-step | `my-step` is no name of a step | write a letter, then letters, digits and `_`, at most 64: expressions name it",
        ),
        (
            "compose: { \"my step\": { api: GET /x } }",
            "5:16 routes[0].compose.my step | `my step` is no name of a step | write a letter, then letters, digits and `_`, at most 64: expressions name it",
        ),
        (
            "compose: { 1st: { api: GET /x } }",
            "5:16 routes[0].compose.1st | `1st` is no name of a step | write a letter, then letters, digits and `_`, at most 64: expressions name it",
        ),
        (
            "compose: { a: { api: GET /x, db: SELECT 1 } }",
            "5:34 routes[0].compose.a.db | two sources are asked in one step | write a step for each",
        ),
        (
            "compose: { a: { api: GET /x, compose: { b: { api: GET /y } } } }",
            "5:21 routes[0].compose.a.api | the step asks a source and has steps of its own | write a step for each",
        ),
        (
            "compose: { a: { timeout: 1s } }",
            "5:19 routes[0].compose.a | it is not said what the step asks | write the name of a source, like `api: …`",
        ),
        (
            "compose: { a: GET /x }",
            "5:19 routes[0].compose.a | `a` must be a mapping, `key: value` | write it like `user: { api: \"GET /users/${path.id}\", on_error: null }`",
        ),
        (
            "compose: { a: { api: GET /x, args: [1] } }",
            "5:34 routes[0].compose.a.args | `args` is for a database or a module | take it out",
        ),
        (
            "compose: { a: { api: GET /x, batch: true } }",
            "5:34 routes[0].compose.a.batch | `batch` is for a database | take it out",
        ),
        (
            "compose: { a: { db: SELECT 1, headers: { A: b } } }",
            "5:35 routes[0].compose.a.headers | `headers` is for a source over HTTP | take it out",
        ),
        (
            "compose: { a: { redis: GET a, body: { a: b } } }",
            "5:35 routes[0].compose.a.body | `body` is for a source over HTTP | take it out",
        ),
        (
            "compose: { a: { math: execute, as: json } }",
            "5:36 routes[0].compose.a.as | a module gives JSON | take `as` out",
        ),
        (
            "compose: { a: { db: SELECT id FROM b WHERE id = 1, batch: true } }",
            "5:63 routes[0].compose.a.batch | look-ups by this statement cannot be put together: it has 0 lists of keys, and one is needed | write it like `SELECT id, title FROM books WHERE id IN (?)`",
        ),
        (
            "compose: { a: { db: \"SELECT a FROM b WHERE id IN (?) LIMIT 2\", args: [1], batch: true } }",
            "5:86 routes[0].compose.a.batch | look-ups by this statement cannot be put together: `LIMIT` is more than plain columns that are compared with values | write it like `SELECT id, title FROM books WHERE id IN (?) AND shop = ? ORDER BY title`, or take `batch` out",
        ),
        (
            "compose: { a: { db: \"SELECT id, GROUP_CONCAT(a) FROM b WHERE id IN (?)\", args: [1], batch: true } }",
            "5:96 routes[0].compose.a.batch | look-ups by this statement cannot be put together: `GROUP_CONCAT` is more than plain columns that are compared with values | write it like `SELECT id, title FROM books WHERE id IN (?) AND shop = ? ORDER BY title`, or take `batch` out",
        ),
        (
            "compose: { a: { db: \"SELECT a FROM b WHERE id IN (?)\", args: [1], batch: yes } }",
            "5:78 routes[0].compose.a.batch | `yes` is neither `true` nor `false` | write `true`",
        ),
        (
            "compose: { a: { api: GET /x, timeout: 60s } }",
            "5:43 routes[0].compose.a.timeout | step `a` may take 60s, and what is around it only 30s | write a shorter `timeout` here, or a longer one on the route",
        ),
        (
            "timeout: 1s\ncompose: { a: { api: GET /x, timeout: 2s } }",
            "6:43 routes[0].compose.a.timeout | step `a` may take 2s, and what is around it only 1s | write a shorter `timeout` here, or a longer one on the route",
        ),
        (
            "timeout: 1s\ncompose: { a: { compose: { b: { api: GET /x, timeout: 2s } } } }",
            "6:59 routes[0].compose.a.compose.b.timeout | step `b` may take 2s, and what is around it only 1s | write a shorter `timeout` here, or a longer one on the route",
        ),
        (
            "compose: { a: { compose: { b: { api: GET /x, timeout: 2s } }, timeout: 1s } }",
            "5:59 routes[0].compose.a.compose.b.timeout | step `b` may take 2s, and what is around it only 1s | write a shorter `timeout` here, or a longer one on the route",
        ),
        (
            "compose: { a: { api: GET /x, headers: { Transfer_Encoding: 1 } } }",
            "5:45 routes[0].compose.a.headers.Transfer_Encoding | `transfer_encoding` is set by the connection | take it out",
        ),
        (
            "compose: { a: { api: GET /x, headers: { Content-Length: 1 } } }",
            "5:45 routes[0].compose.a.headers.Content-Length | `content-length` is set by the connection | take it out",
        ),
        (
            "compose: { a: { api: GET /x, headers: { \"a b\": 1 } } }",
            "5:45 routes[0].compose.a.headers.a b | `a b` is no name of a field | write letters, digits and `-`",
        ),
        (
            "compose: { a: { api: GET /x, headers: [X-A] } }",
            "5:43 routes[0].compose.a.headers | `headers` must be a mapping | write it like `headers: { X-User: \"${path.id}\" }`",
        ),
        (
            "compose: { a: { api: GET x } }",
            "5:26 routes[0].compose.a.api | `GET x` has no path | write one behind the method, like `GET /users/${path.id}`",
        ),
        (
            "compose: { a: { api: get /x } }",
            "5:26 routes[0].compose.a.api | `get` is no method | write `GET /x`",
        ),
        (
            "compose: { a: { api: \"GET http://a/x\" } }",
            "5:26 routes[0].compose.a.api | `GET http://a/x` names a host | write the path alone, like `GET /users`: the source says where that is",
        ),
        (
            "compose: { a: { api: GET /a b } }",
            "5:26 routes[0].compose.a.api | `/a b` has a character that does not stand in a URL | write it percent-encoded, as a space is `%20`",
        ),
        (
            "compose: { a: { api: HEAD /x } }",
            "5:26 routes[0].compose.a.api | HEAD gives no value | write `GET`",
        ),
        (
            "compose: { a: { api: GET /x, body: { a: 1 } } }",
            "5:34 routes[0].compose.a.body | GET has no content | write `POST /path` before the path",
        ),
        (
            "compose: { a: { api: GET /x, on_error: [stale] } }",
            "5:44 routes[0].compose.a.on_error | behind `stale` stands one thing | write it like `[stale, null]`",
        ),
        (
            "compose: { a: { api: GET /x, on_error: nul } }",
            "5:44 routes[0].compose.a.on_error | `nul` is not known here | write `null`, or `\"nul\"` for the text itself",
        ),
        (
            "compose: { a: { api: GET /x, on_error: [null, stale] } }",
            "5:44 routes[0].compose.a.on_error | `stale` comes first: what follows stands in where there is nothing | write it like `[stale, null]`",
        ),
        (
            "compose: { a: { compose: { b: { api: GET /x } }, on_error: stale } }",
            "5:64 routes[0].compose.a.on_error | `stale` is for a call | write it on the steps inside",
        ),
        (
            "compose: { a: { api: GET /x, respond: 1 } }",
            "5:34 routes[0].compose.a.respond | `respond` is for a step with `compose` | take it out; what the call gives is the value",
        ),
        (
            "compose: { a: { api: GET /x, use: mine } }",
            "5:39 routes[0].compose.a.use | a step cannot be signed: clients ask for routes | use that policy on the route",
        ),
        (
            "compose: { a: { compose: { b: { api: GET /x } }, use: live } }",
            "5:59 routes[0].compose.a.use | a policy wraps a call, and this step has steps of its own | take `use` out; put it on the steps inside",
        ),
        (
            "compose: { a: { each: [], api: GET /x } }",
            "5:27 routes[0].compose.a.each | `each` names nothing | write a list, like `each: [1, 2, 3]`",
        ),
        (
            "compose: { a: { each: 3, api: GET /x } }",
            "5:27 routes[0].compose.a.each | `each` names nothing | write a list, like `each: [1, 2, 3]`",
        ),
        (
            "compose: { a: { each: [[1]], api: GET /x } }",
            "5:28 routes[0].compose.a.each[0] | the item must be one value, not a list | write one value without `[ ]` and dashes",
        ),
        (
            "compose: { a: { each: { \"é\": 1 }, api: GET /x } }",
            "5:29 routes[0].compose.a.each.é | `é` is not a name | write a letter, then letters, digits, `_` and `-`, at most 64",
        ),
        (
            "compose: { a: { each: [1, 2, 3], db: \"SELECT * FROM a WHERE id = ?\" } }",
            "5:42 routes[0].compose.a.db | the statement has 1 `?`, and 0 values stand in `args` | write one value for each `?`, like `args: [\"${path.id}\"]`",
        ),
        (
            "compose: { a: { redis: SET a b } }",
            "5:28 routes[0].compose.a.redis | `SET` is none of the commands that read | write `GET` if that is meant: only commands that read are known",
        ),
        (
            "compose: { a: { redis: GET } }",
            "5:28 routes[0].compose.a.redis | GET has too few words behind it | write it like `GET user:${path.id}`",
        ),
        (
            "compose: { a: { redis: \"GET ${query.all('id')}\" } }",
            "5:28 routes[0].compose.a.redis | GET takes one value in this place | write it like `GET user:${path.id}`",
        ),
        (
            "compose: { a: { api: GET /../x } }",
            "5:26 routes[0].compose.a.api | `GET /../x` climbs | write the path that is meant, without `.` and `..`, also encoded",
        ),
    ]);
}

#[test]
fn the_words_of_the_route_fit_together() {
    say(&[
        (
            "compose: {}",
            "5:14 routes[0].compose | `compose` has nothing in it | write it like `compose: { user: { api: GET /user } }`",
        ),
        (
            "compose: [{ api: GET /x }]",
            "5:14 routes[0].compose | `compose` must be a mapping, `key: value` | write it like `compose: { user: { api: GET /user } }`",
        ),
        (
            "compose: { a: { api: GET /x } }\nrun: pool(0, 1)",
            "6:10 routes[0].run | `pool(0, 1)` has no place | write one place at least, as in `pool(10, 20)`: ten at once, and twenty that wait",
        ),
        (
            "compose: { a: { api: \"GET /${body.id}\" } }",
            "5:5 routes[0].compose | `body` is read, and GET has no content that counts | write `match: POST …`, or `query.NAME` in its place",
        ),
        (
            "  - match: POST /x\n    proxy: api\n    respond: { a: 1 }",
            "5:5 routes[0].proxy | `proxy` and `respond` stand in one route | take one of them out",
        ),
        (
            "  - match: GET /x\n    proxy: api\n    compose: { a: { api: GET /x } }",
            "5:5 routes[0].proxy | `proxy` and `compose` stand in one route | take one of them out",
        ),
        (
            "  - match: GET /x\n    proxy: api\n    run: serial",
            "6:5 routes[0].run | `run` is for a route with `compose` | take it out",
        ),
        (
            "  - match: GET /x\n    proxy: db",
            "5:12 routes[0].proxy | `db` is asked by steps, not proxied to | write `compose: { STEP: { db: … } }` instead of `proxy`",
        ),
        (
            "  - match: GET /x\n    read: { db: SELECT 1 }",
            "5:13 routes[0].read.db | `db` is asked by steps, not read from | write `compose: { STEP: { db: … } }` instead of `read`",
        ),
        (
            "compose: { a: { api: GET /x } }\nsave: false",
            "6:11 routes[0].save | `save` must be a mapping, `key: value` | write it like `save: { coalesce: false }`",
        ),
        (
            "compose: { a: { api: GET /x }, a: { api: GET /y } }",
            "5:36 routes[0].compose | `a` stands here twice, first in line 5 | keep one of them",
        ),
    ]);
}

#[test]
fn what_people_know_from_elsewhere_is_told_how_it_is_written_here() {
    let says = |lines: &str| {
        let faults = bad(&route(lines));
        assert_eq!(faults.count(), 1, "{lines}\n{faults}");
        let fault = faults.iter().next().unwrap();
        format!("{} | {}", fault.cause, fault.remedy)
    };
    let step = |words: &str| says(&format!("compose: {{ a: {{ {words} }} }}"));
    let responds = |expression: &str| {
        says(&format!("compose: {{ a: {{ api: GET /x }} }}\nrespond: \"${{{expression}}}\""))
    };
    for (said, expected) in [
        (
            step("api: \"GET /{id}\""),
            "`GET /{id}` has braces without `$` | write `${path.id}` for a segment of the request's path",
        ),
        (
            step("api: \"GET /{each}\""),
            "`{each}` stands in a step without `each` | add it, like `each: [1, 2, 3]`, or write what is meant",
        ),
        (
            step("each: [1], api: \"GET /${each}\""),
            "`each` is put in before expressions are read | write `{each}`, without `$`",
        ),
        (step("api: \"GET /${each}\""), "`each` is not known here | write `{each}`, in a step with `each`"),
        (
            step("db: \"SELECT a FROM b WHERE c = $1\", args: [1]"),
            "the statement has 0 `?`, and 1 value stands in `args` | write `?` in place of `$1`, for every database",
        ),
        (
            step("api: GET /x, on_error: none"),
            "`none` is not known here | write one of `fail`, `null`, `omit`, `stale`, or `\"none\"` for the text itself",
        ),
        (
            step("api: GET /x, on_error: [stale, stale]"),
            "`stale` stands here twice | write it like `[stale, null]`",
        ),
        (responds("len(a)"), "`len` is no function | write it as in `size(users)`"),
        (
            responds("a ?? 'x'"),
            "`a ?? 'x'` is no expression: what is not there is null anyway | write `has(user.name) ? user.name : 'nobody'`",
        ),
        (
            responds("a[*].x"),
            "`a[*].x` is no expression: `[*]` is written otherwise | write `users.map(u, u.id)`",
        ),
        (
            says("compose: { a: { api: GET /x } }\nrespond:"),
            "`respond` has no value | write what the response is, or take the line out",
        ),
    ] {
        assert_eq!(said, expected);
    }
}
