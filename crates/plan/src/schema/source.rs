//! The words of `sources`.

use super::{Section, USE, word};

pub(crate) static SOURCE: Section = Section {
    path: "sources.<name>",
    meaning: "An origin: one or more servers that give the same responses. Short form: `api: http://127.0.0.1:3000`.",
    example: "api: { http: [http://10.0.0.1:3000, http://10.0.0.2:3000], health: GET /healthz }",
    words: &[
        word("http", "URL or list", None, "The servers: scheme, host and, if needed, a port. Required."),
        word(
            "protocol",
            "`auto`, `http1` or `http2`",
            Some("auto"),
            "What to speak. `auto`: HTTP/1.1 in cleartext, what the server prefers over TLS; `http2` is what gRPC \
             needs.",
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
            "How to choose among the healthy servers.",
        ),
        word(
            "health",
            "`GET /path`, or section",
            None,
            "Checks whether each server works. Without it, only failing requests reveal that one does not.",
        ),
        word("tls", "section", None, "How servers at `https` are verified."),
        word("timeout", "duration (of the head), or section", None, "How long to wait for a server."),
        word(
            "connections",
            "number",
            Some("0"),
            "Open connections per core and server; above: wait, then 503. `0`: no limit.",
        ),
        word("idle_connections", "number", Some("64"), "Idle connections kept per core and server."),
        word(
            "connection_age",
            "duration",
            Some("1h"),
            "The age beyond which a connection gets no further requests. One to an address that its name no longer \
             resolves to is given up half a minute after the name has changed, whatever its age.",
        ),
        USE,
    ],
    later: &[],
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
            "The request to send; a status from 200 to 399 passes. Required.",
        ),
        word("interval", "duration", Some("5s"), "Time between two checks of one server."),
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
        word("connect", "duration", Some("5s"), "Time for name lookup, TCP and TLS together."),
        word(
            "head",
            "duration",
            Some("60s"),
            "Time from the request's last byte to the head of the response; then 504.",
        ),
        word("body", "duration", Some("60s"), "Time between two pieces of the body."),
    ],
    later: &[],
};
