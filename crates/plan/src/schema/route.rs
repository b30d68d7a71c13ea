//! The words of `routes`.

use super::{Section, word};

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
            "What wraps the call; at most one that says `cache` and one that says `signed`. Nothing: straight through, \
             unbuffered.",
        ),
        word("invalidate", "rule or list", None, "What a successful write makes the cache forget.").told(
            "Where a request with a method that writes (`POST`, `PUT`, `PATCH`, `DELETE`) is answered with 2xx or 3xx, the \
             cache forgets before that answer is sent, so that whoever wrote reads what they wrote. The URL written to \
             is forgotten anyway (RFC 9111 §4.4); name here what else shows it: lists, feeds, other people's pages. \
             `${path.id}` is the segment that `match` calls `{id}`. A failed write forgets nothing, and neither does a \
             change made behind fleetfoot's back: for that, purge. In Varnish this is VCL with `ban` or `xkey`; nginx and \
             Cloud CDN leave it to your application.",
            "match: PUT /users/{id}\nproxy: api\ninvalidate: [{ url: \"/users/${path.id}/orders\" }, { tag: \"user-${path.id}\", soft: true }]",
        ),
    ],
    later: &["read", "compose", "respond", "timeout", "send", "redirect"],
};

pub(crate) static INVALIDATE: Section = Section {
    path: "routes[].invalidate[]",
    meaning: "One thing to forget: exactly one of `url`, `prefix` and `tag`, as text with expressions in it. Hosts are those \
              of the request.",
    example: "invalidate: [{ prefix: /feeds/ }]",
    words: &[
        word(
            "url",
            "path",
            None,
            "A path with all its queries and variants or, with a query written, that one alone.",
        ),
        word("prefix", "path", None, "Every path that begins so."),
        word("tag", "text", None, "Every answer with this tag, on any host."),
        word(
            "soft",
            "`true` or `false`",
            Some("false"),
            "Only makes it stale: it may still be served under `stale` and `if_error` while it is fetched anew.",
        ),
    ],
    later: &[],
};
