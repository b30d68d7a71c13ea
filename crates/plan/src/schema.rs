//! Schema: every word of the language, once. The checks find unknown keys with it, and the reference is written from it,
//! so that a word cannot be known to one and unknown to the other.

/// The keys of one mapping.
#[derive(Debug)]
pub struct Section {
    /// Where it stands: `listen.tls`, `sources.<name>`; empty for the file itself.
    pub path: &'static str,
    /// What it is for.
    pub meaning: &'static str,
    /// A whole example.
    pub example: &'static str,
    /// Its keys.
    pub words: &'static [Word],
    /// Keys of later versions: refused with a word about it, not called unknown.
    pub later: &'static [&'static str],
}

/// One key.
#[derive(Debug)]
pub struct Word {
    /// As it is written.
    pub name: &'static str,
    /// What may stand behind it.
    pub form: &'static str,
    /// What holds when it is left out, as it would be written; `None`: nothing, or it must be there.
    pub default: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
}

const fn word(
    name: &'static str,
    form: &'static str,
    default: Option<&'static str>,
    meaning: &'static str,
) -> Word {
    Word { name, form, default, meaning }
}

pub(crate) static FILE: Section = Section {
    path: "",
    meaning: "The whole file.",
    example: "routes: [{ match: /**, proxy: api }]",
    words: &[
        word("listen", "section", None, "Where clients come in."),
        word("limits", "section", None, "What clients may ask for at most."),
        word("memory", "size", Some("256MiB"), "Bytes the cache may hold: keys, heads and bodies counted."),
        word(
            "cores",
            "number",
            None,
            "Runtimes to start, one thread each; all available cores when left out. Changes with a restart only.",
        ),
        word("drain", "duration", Some("30s"), "How long requests under way may go on after SIGTERM."),
        word(
            "access_log",
            "`off`, `text` or `json`",
            Some("off"),
            "What is logged about each request, on standard output.",
        ),
        word("sources", "name → source", None, "Where answers come from. At least one."),
        word("policies", "name → policy", None, "What routes may use, named once."),
        word(
            "routes",
            "list of routes",
            None,
            "Which requests go where. At least one; the most specific match wins.",
        ),
    ],
    later: &["egress"],
};

pub(crate) static LISTEN: Section = Section {
    path: "listen",
    meaning: "Where clients come in. An address is `127.0.0.1:8080`, `\"[::1]:8080\"`, or `:8080` or `8080` for every IPv4 \
              address of the machine; port 0 lets the system choose.",
    example: "listen: { http: 127.0.0.1:8080, admin: 127.0.0.1:9090 }",
    words: &[
        word(
            "http",
            "address or list",
            Some("127.0.0.1:8080"),
            "Cleartext HTTP/1.1, and HTTP/2 with prior knowledge. With `https` alone there is none.",
        ),
        word(
            "https",
            "address or list",
            None,
            "TLS, with HTTP/1.1 or HTTP/2 as the client prefers. Needs `tls`.",
        ),
        word("tls", "section", None, "Certificate and key for `https`."),
        word(
            "admin",
            "address",
            None,
            "Health and metrics. None when left out; keep it off the internet. Changes with a restart only.",
        ),
        word(
            "proxy_protocol",
            "`true` or `false`",
            Some("false"),
            "Every connection begins with a PROXY protocol header, version 1 or 2.",
        ),
        word(
            "trust",
            "address range or list",
            None,
            "Peers whose `Forwarded` and `X-Forwarded-*` are believed, like `10.0.0.0/8`.",
        ),
    ],
    later: &["egress"],
};

pub(crate) static LISTEN_TLS: Section = Section {
    path: "listen.tls",
    meaning: "Certificate and key for `https`. Relative paths start at the folder of the file. Both are read again with \
              every reload: send SIGHUP when the certificate was renewed.",
    example: "tls: { certificate: chain.pem, key: key.pem }",
    words: &[
        word("certificate", "path", None, "PEM file with the certificate chain, leaf first."),
        word("key", "path", None, "PEM file with the private key."),
    ],
    later: &[],
};

pub(crate) static LIMITS: Section = Section {
    path: "limits",
    meaning: "What clients may ask for at most. What is over a limit is refused with a clear status.",
    example: "limits: { body_size: 64MiB, header_timeout: 10s }",
    words: &[
        word(
            "head_size",
            "size",
            Some("32KiB"),
            "Bytes of a request head, from `256B` to `1MiB`; above: 431, or 414 for the request line.",
        ),
        word("header_count", "number", Some("100"), "Fields of a request head; above: 431."),
        word("body_size", "size", Some("64MiB"), "Bytes of a request's content; above: 413."),
        word(
            "connections",
            "number",
            Some("65536"),
            "Open client connections over all cores; above: refused and counted.",
        ),
        word("header_timeout", "duration", Some("10s"), "For a whole head to arrive; then 408."),
        word(
            "idle_timeout",
            "duration",
            Some("75s"),
            "How long a kept-alive connection may wait for its next request.",
        ),
        word(
            "body_timeout",
            "duration",
            Some("60s"),
            "How long content may make no progress, in either direction.",
        ),
    ],
    later: &[],
};

pub(crate) static SOURCE: Section = Section {
    path: "sources.<name>",
    meaning: "An origin: one or more servers that give the same answers. Short form: `api: http://127.0.0.1:3000`.",
    example: "api: { http: [http://10.0.0.1:3000, http://10.0.0.2:3000], health: GET /healthz }",
    words: &[
        word("http", "URL or list", None, "The servers: scheme, host and perhaps a port. Must be there."),
        word(
            "protocol",
            "`auto`, `http1` or `http2`",
            Some("auto"),
            "What to speak. `auto`: HTTP/1.1 in cleartext, what the server prefers over TLS; `http2` is what gRPC needs.",
        ),
        word(
            "host",
            "`auto`, `client`, `target` or a name",
            Some("auto"),
            "What goes into `Host`. `auto`: the client's for `http` servers, the server's own for `https` ones.",
        ),
        word(
            "balance",
            "`round_robin` or `least_requests`",
            Some("round_robin"),
            "How a server is chosen among the healthy ones.",
        ),
        word(
            "health",
            "`GET /path`, or section",
            None,
            "Asks each server whether it works. Without it, only failing requests tell.",
        ),
        word("tls", "section", None, "How servers at `https` are verified."),
        word("timeout", "duration (of the head), or section", None, "How long to wait for a server."),
        word(
            "connections",
            "number",
            Some("0"),
            "Open connections for each core and server; above: wait, then 503. `0`: no limit.",
        ),
        word("idle_connections", "number", Some("64"), "Idle connections kept for each core and server."),
    ],
    later: &["sql", "redis", "store", "wasm", "pool", "mode", "use", "retry"],
};

pub(crate) static SOURCE_HEALTH: Section = Section {
    path: "sources.<name>.health",
    meaning: "Active health checks. Short form: `health: GET /healthz`.",
    example: "health: { check: GET /healthz, interval: 5s }",
    words: &[
        word(
            "check",
            "`GET /path` or `HEAD /path`",
            None,
            "The request that is sent; a status from 200 to 399 passes. Must be there.",
        ),
        word("interval", "duration", Some("5s"), "Between two checks of one server."),
        word("timeout", "duration", Some("2s"), "A check that takes longer has failed."),
        word("unhealthy_after", "number", Some("3"), "Failed checks in a row that take a server out."),
        word("healthy_after", "number", Some("2"), "Passed checks in a row that bring it back."),
    ],
    later: &[],
};

pub(crate) static SOURCE_TLS: Section = Section {
    path: "sources.<name>.tls",
    meaning: "How servers at `https` are verified.",
    example: "tls: { authorities: ca.pem }",
    words: &[
        word(
            "verify",
            "`true` or `false`",
            Some("true"),
            "Whether certificates are verified. `false` lets anyone in between read and change everything.",
        ),
        word("authorities", "path", None, "PEM file of the authorities to trust instead of the system's."),
    ],
    later: &[],
};

pub(crate) static SOURCE_TIMEOUT: Section = Section {
    path: "sources.<name>.timeout",
    meaning: "How long to wait for a server, by phase. Short form: `timeout: 30s` for the head.",
    example: "timeout: { connect: 5s, head: 60s, body: 60s }",
    words: &[
        word("connect", "duration", Some("5s"), "For name, TCP and TLS together."),
        word(
            "head",
            "duration",
            Some("60s"),
            "From the request's last byte to the head of the answer; then 504.",
        ),
        word("body", "duration", Some("60s"), "Between two pieces of content."),
    ],
    later: &[],
};

pub(crate) static POLICY: Section = Section {
    path: "policies.<name>",
    meaning: "What a route may use.",
    example: "live: { cache: { ttl: 5s } }",
    words: &[word(
        "cache",
        "section, or `true` for its defaults",
        None,
        "Answers from memory where HTTP allows it (RFC 9111).",
    )],
    later: &["limit", "concurrency", "retry", "hedge", "breaker", "accounts", "har"],
};

pub(crate) static CACHE: Section = Section {
    path: "policies.<name>.cache",
    meaning: "A shared cache after RFC 9111. What an answer says about itself goes first; these words say what holds where \
              it says nothing.",
    example: "cache: { ttl: 5s, stale: 30s, if_error: 1h }",
    words: &[
        word(
            "ttl",
            "`origin` or duration",
            Some("origin"),
            "How long an answer is fresh that does not say so itself. `origin`: such an answer is not stored.",
        ),
        word(
            "heuristic",
            "share or `off`",
            Some("off"),
            "Freshness guessed from `Last-Modified`, as a share of the answer's age (RFC 9111 §4.2.2); `10%` is usual.",
        ),
        word(
            "stale",
            "duration",
            Some("0s"),
            "How long a stale answer may still be served while it is refreshed (`stale-while-revalidate`).",
        ),
        word(
            "if_error",
            "duration",
            Some("0s"),
            "How long a stale answer may be served when the source fails (`stale-if-error`).",
        ),
        word(
            "client_directives",
            "`honour` or `ignore`",
            Some("honour"),
            "What is done about `Cache-Control` of a request.",
        ),
        word(
            "store_set_cookie",
            "`true` or `false`",
            Some("false"),
            "Whether answers with `Set-Cookie` may be stored. `true` may hand one visitor's cookie to another.",
        ),
        word("max_body", "size", Some("8MiB"), "Longer answers stream past the cache."),
        word(
            "variants",
            "number",
            Some("16"),
            "Answers kept for one URL by `Vary`; one more pushes the oldest out.",
        ),
        word(
            "coalesce",
            "`true` or `false`",
            Some("true"),
            "Whether simultaneous requests for one missing answer share one fetch.",
        ),
        word(
            "targeted",
            "field name or list",
            Some("[CDN-Cache-Control]"),
            "Fields obeyed before `Cache-Control`, most specific first (RFC 9213).",
        ),
    ],
    later: &["bypass", "skip_for", "key", "negative", "tier", "cache_status", "max_stale"],
};

pub(crate) static ROUTE: Section = Section {
    path: "routes[]",
    meaning: "A route. `match` is `[METHOD ][host]/path`: `GET` takes `HEAD` too, `*.example.com` every subdomain; in a path \
              `*` and `{name}` are one segment and a final `**` is the rest. The most specific match wins, in any order: \
              exact host, wildcard, any; then literal, `{name}`, `**`, from the left; then named method, any. Inside `{ }` \
              a match with braces needs quotes.",
    example: "- { match: GET /games/**, proxy: api, use: live }",
    words: &[
        word("match", "pattern", None, "Which requests. Must be there."),
        word("proxy", "name of a source", None, "Where they go. Must be there."),
        word(
            "use",
            "name of a policy, or list",
            None,
            "What wraps the call. Nothing: straight through, unbuffered.",
        ),
    ],
    later: &["read", "compose", "respond", "timeout", "send", "redirect"],
};

static SECTIONS: [&Section; 11] = [
    &FILE,
    &LISTEN,
    &LISTEN_TLS,
    &LIMITS,
    &SOURCE,
    &SOURCE_HEALTH,
    &SOURCE_TLS,
    &SOURCE_TIMEOUT,
    &POLICY,
    &CACHE,
    &ROUTE,
];

/// Every section of the language, from the outside in.
pub fn schema() -> &'static [&'static Section] {
    &SECTIONS
}

impl Section {
    /// The key of that name.
    pub(crate) fn word(&self, name: &str) -> Option<&'static Word> {
        self.words.iter().find(|word| word.name == name)
    }
}
