//! The words of what changes messages in a policy: `headers`.

use super::{Section, word};

pub(crate) static HEADERS: Section = Section {
    path: "policies.<name>.headers",
    meaning: "Changes of header fields.",
    example: "headers: { request: { set: { X-Tenant: \"${path.tenant}\" } }, response: { remove: [Server, X-Internal-*] } }",
    words: &[
        word("request", "section", None, "Changes of requests on their way to the source."),
        word(
            "response",
            "section",
            None,
            "Changes of responses on their way to the client, errors included. Values may also use `response.status`, \
             `response.header('Name')` and `cache`.",
        ),
    ],
    later: &[],
};

pub(crate) static HEADERS_FIELDS: Section = Section {
    path: "policies.<name>.headers.request",
    meaning: "Changes of one kind of message, in this order; `response` has the same words. Values are text with \
              expressions in it; a field whose value is missing is left out.",
    example: "request: { remove: [X-Internal-*], set: { X-Tenant: \"${path.tenant}\" }, add: { X-Seen-By: \"${location}\" } }",
    words: &[
        word("remove", "name, `Prefix-*` or list", None, "Takes fields out."),
        word("set", "name → text", None, "Writes fields, in place of any of that name."),
        word("add", "name → text or list", None, "Adds lines, beside any of that name."),
    ],
    later: &[],
};

pub(crate) static REWRITE: Section = Section {
    path: "policies.<name>.rewrite",
    meaning: "Another path for the source. One of `prefix` and `path` is required.",
    example: "rewrite: { path: \"/users/{id}/**\", to: \"/u/{id}/**\" }",
    words: &[
        word("prefix", "path", None, "What the path begins with: whole segments."),
        word(
            "path",
            "pattern",
            None,
            "Which paths, written as in `match`: `{name}` is a segment, a final `**` the rest.",
        ),
        word(
            "to",
            "path or pattern",
            None,
            "What stands in its place. A query behind `?` takes the place of the query, which stays otherwise. Required.",
        ),
    ],
    later: &[],
};

pub(crate) static RESPOND: Section = Section {
    path: "policies.<name>.respond",
    meaning: "A response that no source is asked for.",
    example: "respond: { status: 503, headers: { Retry-After: \"600\" }, body: \"Back at noon.\", when: \"${!url.startsWith('/status')}\" }",
    words: &[
        word("status", "status", None, "Its status, from 200 to 599, but neither 206 nor 304. Required."),
        word(
            "headers",
            "name → text or list",
            None,
            "Its header fields; values are text with expressions in it.",
        ),
        word(
            "body",
            "text",
            None,
            "Its content, without expressions. It is `application/json` if it is JSON in brackets, and otherwise text, unless \
             `headers` says what it is.",
        ),
        word("when", "expression", None, "Which requests get it. Default: all."),
    ],
    later: &[],
};

pub(crate) static REDIRECT: Section = Section {
    path: "policies.<name>.redirect",
    meaning: "Sends clients elsewhere. Short form: `redirect: \"https://www.example.com${url}\"`.",
    example: "redirect: { to: \"https://www.example.com${url}\", status: 308, when: \"${scheme == 'http'}\" }",
    words: &[
        word(
            "to",
            "URL or path with expressions",
            None,
            "Where to. Scheme and host are written out, or it begins with one slash. `${url}` is path and query as they came; \
             other values are percent-encoded. Required.",
        ),
        word(
            "status",
            "`301`, `302`, `303`, `307` or `308`",
            Some("307"),
            "`308` and `301` are remembered by browsers; `307` and `308` keep the method.",
        ),
        word("when", "expression", None, "Which requests are sent there. Default: all."),
    ],
    later: &[],
};

pub(crate) static CORS: Section = Section {
    path: "policies.<name>.cors",
    meaning: "Which pages of other origins may read responses.",
    example: "cors: { origins: [https://app.example.com, \"https://*.example.com\"], methods: [GET, PUT], headers: [X-Token], credentials: true, max_age: 10m }",
    words: &[
        word("origins", "origin, `https://*.domain`, `*`, or list", None, "Whose pages. Required."),
        word("methods", "method or list", Some("[GET, HEAD, POST]"), "What preflights allow."),
        word(
            "headers",
            "name, list, or `*` for all that are asked for",
            None,
            "Request headers that preflights allow.",
        ),
        word("expose", "name or list", None, "Response headers that scripts may read."),
        word(
            "credentials",
            "`true` or `false`",
            Some("false"),
            "Whether requests may carry cookies. Not with `*`.",
        ),
        word("max_age", "duration", None, "How long browsers remember a preflight. Default: theirs, 5 s."),
    ],
    later: &[],
};

pub(crate) static FAULTS: Section = Section {
    path: "policies.<name>.faults",
    meaning: "What goes wrong on purpose, for shares of all calls.",
    example: "faults: { delay: { share: 5%, for: 200ms..1s }, abort: { share: 1%, status: 503 }, cut: { share: 0.1% }, when: \"${header('X-Fault') == 'yes'}\" }",
    words: &[
        word("delay", "section", None, "Some calls wait before they are made."),
        word("abort", "section", None, "Some calls fail without being made."),
        word("cut", "section", None, "The content of some responses breaks off half-way."),
        word(
            "when",
            "expression",
            None,
            "For which calls. Default: all. On a step it reads the client's request.",
        ),
    ],
    later: &[],
};

pub(crate) static FAULTS_DELAY: Section = Section {
    path: "policies.<name>.faults.delay",
    meaning: "Calls that wait.",
    example: "delay: { share: 5%, for: 200ms..1s }",
    words: &[
        word("share", "share", None, "How many. Required."),
        word(
            "for",
            "duration, or duration..duration",
            None,
            "How long, at random between the two. Required.",
        ),
    ],
    later: &[],
};

pub(crate) static FAULTS_ABORT: Section = Section {
    path: "policies.<name>.faults.abort",
    meaning: "Calls that fail.",
    example: "abort: { share: 1%, status: 503 }",
    words: &[
        word("share", "share", None, "How many. Required."),
        word(
            "status",
            "status",
            Some("503"),
            "What requests over HTTP get; other calls fail as if the connection had broken.",
        ),
    ],
    later: &[],
};

pub(crate) static FAULTS_CUT: Section = Section {
    path: "policies.<name>.faults.cut",
    meaning: "Responses whose content breaks off.",
    example: "cut: { share: 0.1% }",
    words: &[word("share", "share", None, "How many. Required.")],
    later: &[],
};
