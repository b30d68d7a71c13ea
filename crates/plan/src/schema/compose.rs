//! The words of `compose`, and of the sources that only its steps use.

use super::{SECRET_FORM, Section, word};

pub(crate) static STEP: Section = Section {
    path: "routes[].compose.<step>",
    meaning: "One step: the name of a source and what it is asked. HTTP: `[METHOD ]/path`, what expressions give is \
              percent-encoded and stays in its segment (empty, and what leads out of it, are 400); nothing of the client's request goes \
              along by itself. Redis and stores: a command that reads. Databases: a statement with a `?` for each of `args`; \
              a list fills `IN (?)`. Modules: a function, `args` is its input. Or `compose`, with steps of its own. Steps \
              start together; one whose expressions name another waits for it, and nothing else orders them.",
    example: "user: { api: \"GET /users/${path.id}\", on_error: null }",
    words: &[
        word(
            "each",
            "list, or name → value",
            None,
            "Makes a step for each when the file is loaded; `{each}` stands for the item in every text of the step. Gives a \
             list, or a map.",
        ),
        word(
            "when",
            "expression",
            None,
            "The step is left out, and so is what would show it, where this does not hold.",
        ),
        word(
            "for",
            "expression",
            None,
            "A list. The step is done for each `${item}` of it and gives a list, in the same order.",
        ),
        word("width", "number", Some("16"), "Items of `for` at once."),
        word("most", "number", Some("256"), "Items of `for` at most; a longer list fails the step."),
        word(
            "args",
            "list, or value",
            None,
            "For a database one value for each `?`, bound, never spliced; for a module its input.",
        ),
        word("headers", "name → text", None, "Fields of the request, for HTTP."),
        word("body", "value", None, "Content of the request as JSON, for HTTP."),
        word(
            "as",
            "`json`, `text`; `rows`, `row`, `value`, `column`",
            None,
            "How the answer is read. HTTP and Redis: `json`, or `text` as a string. Databases: all `rows` as a list of \
             objects, the first `row`, the first `value`, or the first `column` as a list.",
        ),
        word("compose", "name → step", None, "Steps of its own, which may use those around it."),
        word("respond", "value", None, "What a step with `compose` gives; without it all its steps by name."),
        word("timeout", "duration", None, "How long it may take, within the time that the route has."),
        word(
            "on_error",
            "`fail`, `null`, `omit`, `stale` or a value",
            Some("fail"),
            "What stands in its place when it fails. `fail`: the request fails, and everything else is cancelled. `omit`: as \
             if the step were not there. `stale`: what it gave last for the same arguments; `[stale, null]` says what \
             follows where there is nothing. A text needs quotes.",
        ),
        word("use", "name of a policy, or list", None, "What wraps the call: policies that say `cache`."),
        word("batch", "`true` or `false`", Some("false"), "Look-ups of several requests become one.").told(
            "For a statement with `WHERE key IN (?)`, where the reply has the key's column: while one is under way, those of \
             other requests gather, and go out as one with all their keys. Each gets its own rows back. Only whole numbers \
             are put together, and only where everything else is equal: what a database takes for equal among texts depends \
             on its collation. Without load nothing waits. What is selected are plain columns, and `WHERE` compares columns \
             with values: whatever may look at several rows (`GROUP_CONCAT`, `LIMIT`, a function of your own) would mix \
             those of several requests, and is a fault. In GraphQL servers this is a data loader.",
            "db: SELECT id, title FROM books WHERE id IN (?)\nargs: [\"${query.all('id')}\"]\nbatch: true",
        ),
    ],
    later: &["retry", "limit", "hedge", "breaker"],
};

pub(crate) static SAVE: Section = Section {
    path: "routes[].save",
    meaning: "What is done once instead of several times. Only for requests with GET and HEAD.",
    example: "save: { coalesce: false }",
    words: &[
        word("dedupe", "`true` or `false`", Some("true"), "Equal calls of one request run once."),
        word(
            "coalesce",
            "`true` or `false`",
            Some("true"),
            "Equal calls of requests at the same time run once.",
        ),
        word(
            "pipeline",
            "`true` or `false`",
            Some("true"),
            "Reads of one Redis that start together go there and back together.",
        ),
    ],
    later: &[],
};

pub(crate) static SOURCE_SQL: Section = Section {
    path: "sources.<name> (sql)",
    meaning: "A database. Short form: `db: mysql://app@127.0.0.1/shop`; `postgres://…` and `sqlite:./shop.db` are the others.",
    example: "db: { sql: mysql://app@127.0.0.1/shop, password: { file: database.password }, pool: 20, timeout: 300ms }",
    words: &[
        word(
            "sql",
            "URL",
            None,
            "`mysql://` (MariaDB too), `postgres://` or `sqlite:`. With TLS: `mysqls://`, `postgress://`. Over a socket: \
             `mysql://app@/shop?socket=/run/mysqld/mysqld.sock`. Must be there.",
        ),
        word("password", SECRET_FORM, None, "Who we are is in the URL; this proves it."),
        word("pool", "number", Some("10"), "Connections at most, shared out among the cores."),
        word(
            "queue",
            "number",
            Some("1000"),
            "Queries of one core that may wait for a connection; above: 503 at once.",
        ),
        word("wait", "duration", Some("1s"), "How long a query may wait for a connection; then 503."),
        word("connect_timeout", "duration", Some("2s"), "For name, TCP, TLS and login together."),
        word(
            "timeout",
            "duration",
            Some("5s"),
            "From a statement to its last row; then it is cancelled, in the database too.",
        ),
        word("tls", "section", None, "How a server with TLS is verified."),
    ],
    later: &["use"],
};

pub(crate) static SOURCE_WASM: Section = Section {
    path: "sources.<name> (wasm)",
    meaning: "Your own CPU work, sandboxed: a WebAssembly module whose functions take JSON and give JSON. It has no files, no \
              network and no clock, and threads of its own.",
    example: "math: { wasm: ./math.wasm, timeout: 1s, memory: 64MiB }",
    words: &[
        word("wasm", "path", None, "The module, `.wasm` or `.wat`. Must be there."),
        word("timeout", "duration", Some("1s"), "How long one call may compute; then it is stopped."),
        word("memory", "size", Some("64MiB"), "Bytes that one call may use."),
        word("threads", "number", None, "Threads that compute; as many as cores when left out."),
        word("queue", "number", Some("1000"), "Calls that may wait for a thread; above: 503 at once."),
    ],
    later: &["use"],
};
