//! The words of `compose`, and of the sources that only its steps use.

use super::{SECRET_FORM, Section, USE, word};

pub(crate) static STEP: Section = Section {
    path: "routes[].compose.<step>",
    meaning: "One step: the name of a source and what to ask it. HTTP: `[METHOD ]/path`; what expressions give is \
              percent-encoded and stays in its segment (a value that leaves the segment empty or leads out of it is \
              refused with 400); nothing from the client's request is passed on automatically. Redis and stores: a \
              command that reads. Databases: a statement with a placeholder `?` for each of `args`; a list fills `IN \
              (?)`. Modules: a function, with `args` as its input. Or `compose`, with steps of its own. Steps start \
              together; one whose expressions name another waits for it, and nothing else orders them.",
    example: "user: { api: \"GET /users/${path.id}\", on_error: null }",
    words: &[
        word(
            "each",
            "list, or name → value",
            None,
            "Makes one step per item when the file is loaded; `{each}` stands for the item in every text of the step. \
             Gives a list, or a map.",
        ),
        word(
            "when",
            "expression",
            None,
            "If this does not hold, the step is left out, and so is whatever would show it.",
        ),
        word(
            "for",
            "expression",
            None,
            "A list. The step runs for each `${item}` of it and gives a list, in the same order.",
        ),
        word("width", "number", Some("16"), "Items of `for` that run at once."),
        word("most", "number", Some("256"), "The most items that `for` takes; a longer list fails the step."),
        word(
            "args",
            "list, or value",
            None,
            "For a database, one value for each `?`, bound, never spliced; for a module, its input.",
        ),
        word("headers", "name → text", None, "Request headers, for HTTP."),
        word("body", "value", None, "The request body as JSON, for HTTP."),
        word(
            "as",
            "`json`, `text`; `rows`, `row`, `value`, `column`",
            None,
            "How the response is read. HTTP and Redis: `json`, or `text` as a string. Databases: all `rows` as a list \
             of objects, the first `row`, the first `value`, or the first `column` as a list.",
        ),
        word("compose", "name → step", None, "Steps of its own, which may use those around it."),
        word(
            "respond",
            "value",
            None,
            "What a step with `compose` gives; without it, all its steps by name.",
        ),
        word("timeout", "duration", None, "Timeout of this step, within that of the route."),
        word(
            "on_error",
            "`fail`, `null`, `omit`, `stale` or a value",
            Some("fail"),
            "What takes the step's place when it fails. `fail`: the request fails, and everything else is cancelled. \
             `omit`: as if the step were not there. `stale`: what it last gave for the same arguments; `[stale, null]` \
             says what to use if there is nothing. A text needs quotes.",
        ),
        word("use", "name of a policy, or list", None, "What wraps the call; a list wraps in its order, outermost first."),
        word(
            "batch",
            "`true` or `false`",
            Some("false"),
            "Merges look-ups of several requests into one.",
        )
        .told(
            "For a statement with `WHERE key IN (?)` whose result has the key's column. While one such statement is \
             under way, those of other requests gather, and go out as one with all their keys. Each request gets its \
             own rows back. Only whole numbers are merged, and only if everything else is equal: which texts a \
             database considers equal depends on its collation. Without load nothing waits. Only plain columns may be \
             selected, and `WHERE` may only compare columns with values: whatever may look at several rows \
             (`GROUP_CONCAT`, `LIMIT`, a function of your own) would mix the rows of several requests, and is a fault. \
             GraphQL servers call this a data loader.",
            "db: SELECT id, title FROM books WHERE id IN (?)\nargs: [\"${query.all('id')}\"]\nbatch: true",
        ),
    ],
    later: &[],
};

pub(crate) static SAVE: Section = Section {
    path: "routes[].save",
    meaning: "What is done once instead of several times. Only for GET and HEAD requests.",
    example: "save: { coalesce: false }",
    words: &[
        word("dedupe", "`true` or `false`", Some("true"), "Identical calls within one request run once."),
        word(
            "coalesce",
            "`true` or `false`",
            Some("true"),
            "Identical calls of simultaneous requests run once.",
        ),
        word(
            "pipeline",
            "`true` or `false`",
            Some("true"),
            "Reads from one Redis that start together share one round trip.",
        ),
    ],
    later: &[],
};

pub(crate) static SOURCE_SQL: Section = Section {
    path: "sources.<name> (sql)",
    meaning: "A database. Short form: `db: mysql://app@127.0.0.1/shop`; `postgres://…` and `sqlite:./shop.db` are the \
              others.",
    example: "db: { sql: mysql://app@127.0.0.1/shop, password: { file: database.password }, pool: 20, timeout: 300ms }",
    words: &[
        word(
            "sql",
            "URL",
            None,
            "`mysql://` (MariaDB too), `postgres://` or `sqlite:`. With TLS: `mysqls://`, `postgress://`. Over a \
             socket: `mysql://app@/shop?socket=/run/mysqld/mysqld.sock`. Required.",
        ),
        word("password", SECRET_FORM, None, "Password of the user in the URL."),
        word("pool", "number", Some("10"), "Maximum number of connections, shared out among the cores."),
        word(
            "queue",
            "number",
            Some("1000"),
            "Queries per core that may wait for a connection; above: 503 at once.",
        ),
        word("wait", "duration", Some("1s"), "How long a query may wait for a connection; then 503."),
        word("connect_timeout", "duration", Some("2s"), "Time for name lookup, TCP, TLS and login together."),
        word(
            "timeout",
            "duration",
            Some("5s"),
            "Time from a statement to its last row; then it is cancelled, in the database too.",
        ),
        word("tls", "section", None, "How a server with TLS is verified."),
        USE,
    ],
    later: &[],
};

pub(crate) static SOURCE_WASM: Section = Section {
    path: "sources.<name> (wasm)",
    meaning: "Your own CPU work, sandboxed: a WebAssembly module whose functions take JSON and return JSON. It has no \
              files, no network and no clock, and runs on its own threads.",
    example: "math: { wasm: ./math.wasm, timeout: 1s, memory: 64MiB }",
    words: &[
        word("wasm", "path", None, "The module, `.wasm` or `.wat`. Required."),
        word("timeout", "duration", Some("1s"), "How long one call may compute; then it is stopped."),
        word("memory", "size", Some("64MiB"), "Bytes that one call may use."),
        word("threads", "number", None, "Threads that compute; as many as cores if omitted."),
        word("queue", "number", Some("1000"), "Calls that may wait for a thread; above: 503 at once."),
        USE,
    ],
    later: &[],
};
