//! The words of `sources`.

use super::{Section, word};

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
        word(
            "connection_age",
            "duration",
            Some("1h"),
            "How old a connection may become before no further request is sent on it. One to an address that its name no \
             longer has is given up half a minute after the name has changed, whatever its age.",
        ),
    ],
    later: &["use", "retry"],
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
