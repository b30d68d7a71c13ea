//! Bad files: each fault has its line, its cause and its remedy, and all of a file come at once.

use plan::{Faults, compile};

pub(crate) const SOURCES: &str = "sources: { api: http://127.0.0.1:3000 }\n";
pub(crate) const ROUTES: &str = "routes: [{ match: /**, proxy: api }]\n";

pub(crate) fn bad(text: &str) -> Faults {
    match compile(text, "fleetfoot.yaml") {
        Ok(plan) => panic!("{text}\ncompiled to {plan:?}"),
        Err(faults) => faults,
    }
}

/// The one fault of a file around some lines, as `line:column path | cause | remedy`. The lines begin at line 3.
fn fault(lines: &str) -> String {
    let faults = bad(&format!("{SOURCES}{ROUTES}{lines}"));
    assert_eq!(faults.count(), 1, "{faults}");
    one(&faults)
}

pub(crate) fn one(faults: &Faults) -> String {
    let fault = faults.iter().next().unwrap();
    format!("{}:{} {} | {} | {}", fault.line, fault.column, fault.path, fault.cause, fault.remedy)
}

#[track_caller]
pub(crate) fn says(lines: &str, expected: &str) {
    assert_eq!(fault(lines), expected, "{lines}");
}

#[test]
fn the_file_as_a_whole() {
    for (text, expected) in [
        (
            "",
            "0:0  | the file is empty | write a source and a route: `sources: { api: http://127.0.0.1:3000 }` and `routes: [{ match: /**, proxy: api }]`",
        ),
        (
            "# nothing\n",
            "0:0  | the file is empty | write a source and a route: `sources: { api: http://127.0.0.1:3000 }` and `routes: [{ match: /**, proxy: api }]`",
        ),
        (
            "hello",
            "1:1  | this must be a mapping, `key: value` | write it like `routes: [{ match: /**, proxy: api }]`",
        ),
        (
            "- a\n",
            "1:1  | this must be a mapping, `key: value` | write it like `routes: [{ match: /**, proxy: api }]`",
        ),
        (
            "sources: { api: http://a }\n",
            "1:1  | there are no routes | add `routes: [{ match: /**, proxy: api }]` to send every request to `api`",
        ),
        (
            "sources: { api: http://a }\npolicies: { live: { cache: true } }\n",
            "1:1  | there are no routes | add `routes: [{ match: /**, proxy: api, use: live }]`; without `use` nothing is cached",
        ),
        (
            "sources: { api: http://a }\nroutes: []\n",
            "2:9 routes | there are no routes | write at least one: `- { match: GET /games/**, proxy: api, use: live }`",
        ),
        (
            "sources: { api: http://a }\nroutes: { match: /, proxy: api }\n",
            "2:9 routes | `routes` must be a list | begin each route with a dash: `- { match: GET /games/**, proxy: api, use: live }`",
        ),
        (
            "sources: { api: http://a }\nroutes: [{ match: /, proxy: api }]\n---\na: b\n",
            "3:1  | a second document begins | take out this line: a file is one document",
        ),
    ] {
        assert_eq!(one(&bad(text)), expected, "{text}");
    }
    let huge = format!("# {}\n", "x".repeat(1024 * 1024));
    assert_eq!(one(&bad(&huge)), "0:0  | the file has 1048579 bytes | write at most 1 MiB");
}

#[test]
fn yaml_in_words() {
    for (text, expected) in [
        ("a:\n\tb: c\n", "2:1  | the line is indented with a tab | write spaces instead, two for each level"),
        (
            "a: b\nc\n",
            "2:1  | the line is neither `key: value` nor `- item` | write a colon and a space behind the key, or a dash and a space before the item",
        ),
        ("a: {b: c\n", "1:4  | `{` is not closed | write `}` where it ends"),
        ("a: [b, c\n", "1:4  | `[` is not closed | write `]` where it ends"),
        (
            "a: b]\nc: {d: e}}\n",
            "2:10  | a bracket closes what was not opened | take it out, or write the kind that was opened",
        ),
        (
            "a: \"b\nc: d\n",
            "2:1  | a quote is not closed | write the closing quote on the line where the text begins",
        ),
        ("a: \"b\" c\n", "1:8  | text follows a closing quote | put all of the value between the quotes"),
        ("a: @b\n", "1:4  | a value cannot begin with `@` | put the value into quotes"),
        ("a: b: c\n", "1:5  | a value contains `: ` | put the value into quotes, or take the space out"),
        (
            "a: 1\n  b: 2\n",
            "2:4  | the line stands deeper than the one above allows | give keys of one mapping the same indentation, and a key with keys under it no value",
        ),
        (
            "a: { ttl: 5s stale: 3s }\n",
            "1:19  | two entries inside `{ }` or `[ ]` are not separated, or one is not closed | write a comma between entries, and quotes around values with `: `, braces or brackets",
        ),
        (
            "- { match: GET /users/{id}/x, proxy: api }\n",
            "1:23  | a value with braces stands inside `{ }` without quotes | write `\"GET /users/{id}/x\"`",
        ),
        (
            "a: { b: ${env.X} }\n",
            "1:10  | a value with braces stands inside `{ }` without quotes | write `\"${env.X}\"`",
        ),
        (
            "a: { http: [::]:80 }\n",
            "1:16  | an IPv6 address in brackets is read as a list | put the address into quotes, like `\"[::1]:8080\"`",
        ),
        (
            "a: [::1]:80\n",
            "1:9  | an IPv6 address in brackets is read as a list | put the address into quotes, like `\"[::1]:8080\"`",
        ),
        ("a: \u{0}\n", "1:4  | the control character \\u{0} is not allowed | take it out"),
    ] {
        assert_eq!(one(&bad(text)), expected, "{text:?}");
    }
    let deep = format!("a: {}", "[".repeat(100_000));
    assert!(one(&bad(&deep)).contains("nested too deeply"));
    let deep: String = (0..200).flat_map(|level| [" ".repeat(level), "a:\n".to_owned()]).collect();
    assert!(one(&bad(&deep)).contains("nested too deeply"));
}

#[test]
fn yaml_that_is_not_part_of_the_language() {
    says(
        "drain: &d 5s\n",
        "3:8  | anchors are not part of the language | take it out, and write the value wherever it is needed",
    );
    says(
        "drain: *d\n",
        "3:8 drain | a value that begins with `*` is read as an alias | put it into quotes: `\"*d\"`",
    );
    says("<<: { drain: 5s }\n", "3:1  | merge keys are not part of the language | write the keys themselves");
    says("drain: !!str 5s\n", "3:14 drain | the tag `!!str` is not part of the language | take the tag out");
    says(
        "? [drain]\n: 5s\n",
        "3:3  | a key is a mapping or a list | write a word as the key; braces in a key need quotes",
    );
    says(
        "drain: 5s\ncores: 1\ndrain: 6s\n",
        "5:1  | `drain` stands here twice, first in line 3 | keep one of them",
    );
    says("drain: \"${env.DRAIN}\"\n", "3:8 drain | an expression cannot stand here | write the value itself");
}

#[test]
fn bombs_stay_small() {
    let mut bomb = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned()];
    for level in 1..20 {
        bomb.push(format!("a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 9].join(", ")));
    }
    let faults = bad(&bomb.join("\n"));
    assert!(faults.count() < 1000);
    let cycle = bad("a: &a [*a]\n");
    assert!(cycle.to_string().contains("aliases are not part"));
    let noise = (0..50_000).map(|index| format!("k{index}: 1")).collect::<Vec<_>>().join("\n");
    assert_eq!(bad(&noise).iter().count(), 500);
    let twice = "k: 1\n".repeat(100_000);
    assert!(bad(&twice).count() >= 99_999);
}

#[test]
fn unknown_and_later_words() {
    says("drian: 5s\n", "3:1 drian | unknown key `drian` | write `drain`");
    says("egress: []\n", "3:1 egress | `egress` is not available in this version | take it out for now");
    says(
        "policies: { p: { har: { dir: ./har }, cache: true } }\n",
        "3:18 policies.p.har | `har` is not available in this version | take it out for now",
    );
    let policy = plan::schema().iter().find(|section| section.path == "policies.<name>").unwrap();
    let known: Vec<_> = policy.words.iter().map(|word| format!("`{}`", word.name)).collect();
    let known = known.join(", ");
    says(
        "policies: { p: { ttl: 5s, cache: true } }\n",
        &format!(
            "3:18 policies.p.ttl | unknown key `ttl` | `ttl` belongs into `policies.<name>.cache`; known here: {known}"
        ),
    );
    says(
        "policies: { p: { cache: {ttl:5s} } }\n",
        "3:26 policies.p.cache.ttl:5s | unknown key `ttl:5s` | put a space behind the colon: `ttl: 5s`",
    );
    says(
        "limits: { idle_timeuot: 5s }\n",
        "3:11 limits.idle_timeuot | unknown key `idle_timeuot` | write `idle_timeout`",
    );
    let later = bad(
        "sources: { api: http://a }\npolicies: { p: { har: true } }\nroutes: [{ match: /, send: /x }, { match: /y, proxy: api }]\n",
    );
    let causes: Vec<&str> = later.iter().map(|fault| fault.cause.as_str()).collect();
    assert_eq!(
        causes,
        ["`har` is not available in this version", "`send` is not available in this version",]
    );
}

#[test]
fn values() {
    says("drain: 5\n", "3:8 drain | `5` has no unit | write `5s`, or another of `ms`, `s`, `m`, `h`, `d`");
    says("drain:\n", "3:1 drain | `drain` has no value | write one behind the colon, or take the line out");
    says(
        "drain: [5s]\n",
        "3:8 drain | `drain` must be one value, not a list | write one value without `[ ]` and dashes",
    );
    says(
        "drain: { a: 5s }\n",
        "3:8 drain | `drain` must be one value, not a mapping | write one value without keys",
    );
    says("cores: 0\n", "3:8 cores | `0` is out of range | write a whole number from 1 to 1024");
    says("cores: two\n", "3:8 cores | `two` is not a whole number | write a whole number from 1 to 1024");
    says("memory: 1B\n", "3:9 memory | `1B` is out of range | write a size from `1KiB` to `1024TiB`");
    says("memory: 64MB\n", "3:9 memory | `64MB` has the unknown unit `MB` | write `64MiB`");
    says(
        "access_log: jsno\n",
        "3:13 access_log | `jsno` is not known here | write `json`; known here: `off`, `text`, `json`",
    );
    says(
        "access_log: true\n",
        "3:13 access_log | `true` is not known here | write one of `off`, `text`, `json`",
    );
    says(
        "limits: 5\n",
        "3:9 limits | `limits` must be a mapping, `key: value` | write it like `limits: { body_size: 64MiB, header_timeout: 10s }`",
    );
    says(
        "limits:\n",
        "3:1 limits | `limits` has nothing under it | write it like `limits: { body_size: 64MiB, header_timeout: 10s }`",
    );
    says(
        "limits: { header_timeout: 0s }\n",
        "3:27 limits.header_timeout | `0s` is no time at all | write a duration above zero",
    );
}

#[test]
fn listening() {
    says(
        "listen: { http: 127.0.0.1 }\n",
        "3:17 listen.http | `127.0.0.1` has no port | write `127.0.0.1:8080`",
    );
    says("listen: { http: [] }\n", "3:17 listen.http | `http` is an empty list | write at least one item");
    says(
        "listen: { http: 8080, admin: 127.0.0.1:8080 }\n",
        "3:30 listen.admin | `127.0.0.1:8080` and `0.0.0.0:8080` of `listen.http` are the same place | give each its own port or address",
    );
    says(
        "listen: { http: [127.0.0.1:80, 127.0.0.1:80] }\n",
        "3:32 listen.http[1] | `127.0.0.1:80` and `127.0.0.1:80` of `listen.http[0]` are the same place | give each its own port or address",
    );
    says(
        "listen: { https: 443 }\n",
        "3:11 listen.https | `https` needs a certificate | add `tls: { certificate: chain.pem, key: key.pem }`",
    );
    says(
        "listen: { trust: 10.0.0.1/8 }\n",
        "3:18 listen.trust | `10.0.0.1/8` has bits set behind its prefix | write `10.0.0.0/8` for the whole range, or `10.0.0.1` for the one address",
    );
    says(
        "listen: { trust: [::1, ::1] }\n",
        "3:24 listen.trust[1] | the same stands in the list twice | take one out",
    );
    says(
        "listen: { proxy_protocol: yes }\n",
        "3:27 listen.proxy_protocol | `yes` is neither `true` nor `false` | write `true`",
    );
    let tls = bad(&format!(
        "{SOURCES}{ROUTES}listen: {{ https: 443, tls: {{ certificate: nowhere.pem, key: / }} }}\n"
    ));
    let causes: Vec<&str> = tls.iter().map(|fault| fault.cause.as_str()).collect();
    assert_eq!(causes, ["`nowhere.pem` does not exist", "`/` is a folder"]);
}

#[test]
fn sources() {
    let source = |source: &str| {
        let faults = bad(&format!("sources: {{ api: {source} }}\n{ROUTES}"));
        assert_eq!(faults.count(), 1, "{faults}");
        one(&faults)
    };
    for (written, expected) in [
        (
            "localhost:3000",
            "1:17 sources.api | `localhost:3000` has no scheme | write `http://localhost:3000`, or the same with `https`",
        ),
        ("{ http: [] }", "1:25 sources.api.http | `http` is an empty list | write at least one item"),
        (
            "{ http: [http://a, http://A:80] }",
            "1:36 sources.api.http[1] | the same stands in the list twice | take one out",
        ),
        (
            "{ http: http://a, protocol: http3 }",
            "1:45 sources.api.protocol | `http3` is not known here | write `http1`; known here: `auto`, `http1`, `http2`",
        ),
        (
            "{ http: http://a, host: clinet }",
            "1:41 sources.api.host | `clinet` looks like `client` | write `client`; a host with such a name needs its port too",
        ),
        (
            "{ http: http://a, health: /up }",
            "1:43 sources.api.health | `/up` has no method and path | write `GET /up`",
        ),
        (
            "{ http: http://a, health: { interval: 5s } }",
            "1:43 sources.api.health | `check` is missing | add it: `health: { check: GET /healthz, interval: 5s }`",
        ),
        (
            "{ http: http://a, tls: { verify: false } }",
            "1:35 sources.api.tls | `tls` has no effect: every server is at `http` | write `https://` in the URLs, or take `tls` out",
        ),
        (
            "{ http: http://a, timeout: { conect: 5s } }",
            "1:46 sources.api.timeout.conect | unknown key `conect` | write `connect`",
        ),
        (
            "{ http: http://a, timeout: 1.5s }",
            "1:44 sources.api.timeout | `1.5s` is not a whole number | write a whole number of a smaller unit (`ms`, `s`, `m`, `h`, `d`)",
        ),
    ] {
        assert_eq!(source(written), expected, "{written}");
    }
    let name = bad(&format!("sources: {{ \"my api\": http://a, api: http://b }}\n{ROUTES}"));
    assert_eq!(
        one(&name),
        "1:12 sources.my api | `my api` is not a name | write a letter, then letters, digits, `_` and `-`, at most 64"
    );
    let none = bad(&format!("sources: {{}}\n{ROUTES}"));
    assert_eq!(none.iter().next().unwrap().cause, "`sources` has nothing in it");
}

#[test]
fn policies() {
    says(
        "policies: { live: {} }\n",
        "3:19 policies.live | `live` says nothing | write it like `live: { cache: { ttl: 5s } }`",
    );
    says(
        "policies: { live: { cache: false } }\n",
        "3:28 policies.live.cache | `false` is not a cache | write `true` for the defaults, or keys like `{ ttl: 5s }`",
    );
    says(
        "policies: { live: { cache: { ttl: 5 } } }\n",
        "3:35 policies.live.cache.ttl | `5` has no unit | write `5s`, or another of `ms`, `s`, `m`, `h`, `d`, or `origin`",
    );
    says(
        "policies: { live: { cache: { heuristic: 10 } } }\n",
        "3:41 policies.live.cache.heuristic | `10` is not a share | write it in percent, like `10%`, or `off`",
    );
    says(
        "policies: { live: { cache: { targeted: [Cache-Control] } } }\n",
        "3:41 policies.live.cache.targeted[0] | `Cache-Control` is no targeted field | take it out: it is obeyed anyway, after these",
    );
    says(
        "policies: { live: { cache: { variants: 0 } } }\n",
        "3:40 policies.live.cache.variants | `0` is out of range | write a whole number from 1 to 1000",
    );
}

#[test]
fn routes() {
    let route = |routes: &str| {
        let policies = "policies: { live: { cache: true }, steady: { cache: true } }\n";
        let faults = bad(&format!("{SOURCES}{policies}routes:\n{routes}\n"));
        assert_eq!(faults.count(), 1, "{faults}");
        one(&faults)
    };
    for (written, expected) in [
        ("  - { match: /, proxy: apo }", "4:24 routes[0].proxy | there is no source `apo` | write `api`"),
        (
            "  - { match: /, proxy: backend }",
            "4:24 routes[0].proxy | there is no source `backend` | write one of `api`",
        ),
        (
            "  - { match: /, proxy: api, use: lvie }",
            "4:34 routes[0].use | there is no policy `lvie` | write `live`",
        ),
        (
            "  - { match: /, proxy: api, use: [live, steady] }",
            "4:41 routes[0].use[1] | `live` and `steady` both say how to cache | use one of them",
        ),
        (
            "  - { match: /, use: live }",
            "4:5 routes[0] | `proxy` is missing | add it: `- { match: GET /games/**, proxy: api, use: live }`",
        ),
        (
            "  - { match: /a/**/b, proxy: api }",
            "4:14 routes[0].match | `/a/**/b` has `**` before its end | write `**` as the last segment only, and `*` for one segment",
        ),
        (
            "  - { match: *.example.com/**, proxy: api }",
            "4:14 routes[0].match | a value that begins with `*` is read as an alias | put it into quotes: `\"*.example.com/**\"`",
        ),
        (
            "  - { match: /x, proxy: api }\n  - { match: /x, proxy: api }",
            "5:14 routes[1].match | `/x` is never reached: line 4 takes the same requests | take one of the two routes out, or let them differ in method, host or path",
        ),
        (
            "  - { match: \"GET A.com/{x}\", proxy: api }\n\n  - { match: GET a.com/*, proxy: api }",
            "6:14 routes[1].match | `GET a.com/*` is never reached: line 4 takes the same requests | take one of the two routes out, or let them differ in method, host or path",
        ),
        (
            "  - { match: /a/../b, proxy: api }",
            "4:14 routes[0].match | `..` is never matched | write the path that is meant: requests with `.` or `..` are refused",
        ),
        (
            "  - match: /x\n    proxy:",
            "5:5 routes[0].proxy | `proxy` has no value | write one behind the colon, or take the line out",
        ),
        (
            "  - /x",
            "4:5 routes[0] | this must be a mapping, `key: value` | write it like `- { match: GET /games/**, proxy: api, use: live }`",
        ),
    ] {
        assert_eq!(route(written), expected, "{written}");
    }
}

const TEN: &str = "\
listen:
  http: 127.0.0.1            # 1
  admn: 127.0.0.1:9090       # 2
drain: 30                    # 3
sources:
  api: { http: localhost }   # 4
  db: { sql: mysql://x/y, pool: 20 }   # 5
policies:
  live: { cache: { ttl: soon } }   # 6
routes:
  - { match: get /, proxy: api }   # 7
  - { match: /a, proxy: appi }   # 8
  - { match: /b, proxy: api, use: love }   # 9
  - { match: /b, proxy: api }   # 10
";

#[test]
fn ten_faults_are_ten_with_their_lines() {
    let faults = bad(TEN);
    let expected: Vec<usize> =
        TEN.lines().enumerate().filter(|(_, line)| line.contains('#')).map(|(index, _)| index + 1).collect();
    let lines: Vec<usize> = faults.iter().map(|fault| fault.line).collect();
    assert_eq!(expected.len(), 10);
    assert_eq!(lines, expected, "{faults}");
}

#[test]
fn faults_read_like_a_compiler() {
    let text = "sources: { api: http://127.0.0.1:3000 }\npolicies:\n  live: { cache: { tll: 5s, stale: 30 } }\nroutes:\n  - { match: /**, proxy: api, use: live }\n";
    assert_eq!(
        bad(text).to_string(),
        "\
error: unknown key `tll`
 --> fleetfoot.yaml:3:20
  |
3 |   live: { cache: { tll: 5s, stale: 30 } }
  |                    ^^^
  = at: policies.live.cache.tll
  = fix: write `ttl`

error: `30` has no unit
 --> fleetfoot.yaml:3:36
  |
3 |   live: { cache: { tll: 5s, stale: 30 } }
  |                                    ^^
  = at: policies.live.cache.stale
  = fix: write `30s`, or another of `ms`, `s`, `m`, `h`, `d`

fleetfoot.yaml: 2 faults"
    );
}

#[test]
fn faults_serialize() {
    let json = serde_json::to_value(bad(TEN)).unwrap();
    assert_eq!(json["count"], 10);
    assert_eq!(json["faults"][1]["path"], "listen.admn");
    assert_eq!(json["faults"][1]["line"], 3);
    assert_eq!(json["faults"][1]["remedy"], "write `admin`");
}

#[test]
fn passwords_are_not_shown() {
    let faults = bad(&format!("sources: {{ api: http://me:secret@a }}\n{ROUTES}"));
    assert!(!faults.to_string().contains("secret"), "{faults}");
    assert!(!serde_json::to_string(&faults).unwrap().contains("secret"));
}
