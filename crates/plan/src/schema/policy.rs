//! The words of `policies`, and of `signed`.

mod auth;
mod breaker;
mod concurrency;
mod credentials;
mod hedge;
mod learn;
mod queue;
mod shared;
mod shares;
mod wasm;

use super::{Section, Word, word};

pub(crate) use auth::{AUTH, AUTH_JWKS, AUTH_JWT, AUTH_KEYS};
pub(crate) use breaker::BREAKER;
pub(crate) use concurrency::{ADAPTIVE, CONCURRENCY};
pub(crate) use credentials::{ACCOUNT, ACCOUNTS, BASIC_CREDENTIALS, CREDENTIALS, OAUTH2_CREDENTIALS, SECRET};
pub(crate) use hedge::HEDGE;
pub(crate) use learn::LEARN;
pub(crate) use queue::QUEUE;
pub(crate) use shared::SHARED;
pub(crate) use shares::SHARES;
pub(crate) use wasm::WASM;

pub(crate) static POLICY: Section = Section {
    path: "policies.<name>",
    meaning: "What wraps a call. Routes, sources and steps name policies in `use`; a list wraps in its order, outermost \
              first. Inside one policy the order is always the same, so that a cache hit costs the source nothing and each try is \
              limited and timed by itself: see the guide on remedies.",
    example: "live: { cache: { ttl: 5s } }",
    words: &[
        word(
            "cache",
            "section, or `true` for its defaults",
            None,
            "Responds from memory where HTTP allows it (RFC 9111).",
        ),
        word("signed", "section", None, "Only signed requests are let in.").told(
            "A request must carry a signature, in its URL (`Expires`, `KeyName`, `Signature` as the last parameters, \
             or `URLPrefix` for everything below a URL) or in a cookie; wrong, missing and expired signatures are \
             refused with 403 and reach neither cache nor origin. Your application makes the signatures, with \
             HMAC-SHA1 and a shared key, exactly as for Cloud CDN's signed URLs and signed cookies. The signature is \
             not part of the cache key and is not sent to the origin, so everyone who may see a response shares one \
             entry. It hides nothing from anyone who is handed a signed URL: let signatures expire soon. Add a new key \
             before you remove the old one. nginx calls this `secure_link`.",
            "signed: { keys: { main: { file: main.key } } }\ncache: { mode: force, ttl: 1h }",
        ),
        auth::AUTH_WORD,
        hedge::HEDGE_WORD,
        word("retry", "section, or `true` for its defaults", None, "Makes a call again where it failed.").told(
            "Only where a retry may succeed and is safe: the source could not be reached or broke off, or answered with a \
             status of `on`, and the call is idempotent (GET, HEAD, PUT, DELETE, OPTIONS, QUERY; a \
             statement that reads; a read of Redis). A call that never reached the source is made again whatever its \
             method. Between two tries lies a random pause of up to `backoff`, doubled from try to try; a `Retry-After` \
             from the source is honoured if it is no longer than the longest pause, and otherwise ends the tries. `budget` \
             keeps retries from making an outage worse: at most this share of the calls of the last ten seconds, and \
             `floor` besides. A policy has one budget, wherever it is used. With the budget used up, with the \
             last try or when `timeout.overall` leaves no time, the client gets what the last try gave.",
            "retry: { attempts: 3, backoff: 50ms..2s, budget: 20% }",
        ),
        breaker::BREAKER_WORD,
        word("limit", "rate, or section", None, "How often a call may be made.").told(
            "Counted over all cores of this instance, or with `shared` over all instances; what comes too often is refused with 429 and `Retry-After`, and \
             responses say in `RateLimit-Policy` and `RateLimit` what is left, for limits before the cache. A policy has one quota, wherever it is used: \
             two routes that use it share it. It lasts over a reload that does not change the limit itself. Inside one policy a limit stands behind the cache, so that it counts what the \
             source has to do, each retry included. To limit clients, hits included, put it into a policy of its own and \
             name that one first: `use: [clients, live]`. Behind a cache `per` takes no expression: one fetch is for many. On a step, `per` reads the client's request. Count by what \
             clients cannot choose: whoever may pick the value of a header has as many quotas as there are values. What \
             `fleetfoot cache warm` and refreshes ask counts only behind the cache.",
            "limit: { rate: 20/s, burst: 40, per: \"${client.network}\" }",
        ),
        credentials::CREDENTIALS_WORD,
        credentials::ACCOUNTS_WORD,
        learn::LEARN_WORD,
        concurrency::CONCURRENCY_WORD,
        word("timeout", "duration (overall), or section", None, "How long a call may take.").told(
            "`overall` covers all tries and the pauses between them, `per_try` each try. The time runs from when the request has \
             been sent, upload included, until the head of the response is there (its body has the source's \
             `timeout.body`); in a step, until the whole value is. What is late is cancelled, and the client gets 504 \
             unless the cache has something to give instead. Behind a cache the timeout applies to the fetch, not to \
             requests waiting for it.",
            "timeout: { overall: 2s, per_try: 500ms }",
        ),
        word("headers", "section", None, "Changes header fields.").told(
            "Values may use whatever a request holds ([expressions](expressions.md)) and are bound: nothing a client sends \
             can end a line. Fields that frame or route a message (`Content-Length`, `Connection`, `Host` …) cannot be \
             changed. Inside one policy `headers` stands behind the cache: changes of responses are stored, and values \
             that depend on the client are refused. Put it into a policy of its own and name that one first to change \
             what each client gets, hits included. On a step or its source, values read the step's own request. Only \
             for sources over HTTP. nginx calls these `proxy_set_header` and `add_header … always`.",
            "headers:\n  request: { set: { X-Tenant: \"${path.tenant}\" }, remove: [X-Internal-*] }\n  response: { set: { Strict-Transport-Security: max-age=31536000 }, remove: [Server] }",
        ),
        word("rewrite", "section", None, "Asks the source for another path.").told(
            "Whole segments, in the one form that paths are given (`%2f` as `%2F`, `%61` as `a`) and not decoded further; a path that does not match goes through as it is. The query stays \
             unless `to` names one. `Location` and `Content-Location` of the same host and the `Path` of cookies are mended \
             on the way back, if nothing of the path is lost on the way there. The route has been chosen before: the new \
             path is not routed again and gets no other protection. Inside one policy it stands behind the cache, which \
             keeps and forgets responses by the client's URL. In nginx: `proxy_pass` with a path, `proxy_redirect`, \
             `proxy_cookie_path`; in Envoy `prefix_rewrite`.",
            "rewrite: { prefix: /api/v1, to: /v1 }",
        ),
        wasm::WASM_WORD,
        word("redirect", "URL, or section", None, "Sends clients elsewhere.").told(
            "Nobody is asked, and no hit gets past it. No request can choose the host: it is written out, and a value that \
             would change it is refused with 400. `Location` alone is written; browsers need no content. In nginx: `return 308`.",
            "redirect: { to: \"https://www.example.com${url}\", status: 308, when: \"${scheme == 'http'}\" }",
        ),
        word("respond", "section", None, "Gives a fixed response.").told(
            "For maintenance, for what is gone, or in place of a source that is not there yet. Nobody is asked, and no hit \
             gets past it. On a step or a source over HTTP, it stands in for the source. In nginx: `return 503`.",
            "respond: { status: 503, headers: { Retry-After: \"600\" }, body: \"Back at noon.\" }",
        ),
        word("cors", "section", None, "Lets pages of other origins read responses.").told(
            "Preflights are answered at once, before signatures are checked, for the route of the method they ask about. Every \
             other response, hits and errors included, says who may read it: the origin that asks, whoever filled the cache, \
             with `Vary: Origin`. `Access-Control-*` of the source is replaced. It protects users of browsers, not your data: \
             anything else may read all the same. Only on routes, before the cache; name it first, so that a limit's 429 can be \
             read too.",
            "cors: { origins: [https://app.example.com, \"https://*.example.com\"], credentials: true, max_age: 10m }",
        ),
        word("faults", "section", None, "Lets calls go wrong on purpose.").told(
            "To see what timeouts, retries, breakers and fallbacks are worth. It stands innermost, so each try meets it anew; \
             behind a cache only fetches do. Calls to databases, Redis and modules wait and fail too; only responses over HTTP \
             break off. Envoy calls it the fault filter.",
            "faults: { delay: { share: 5%, for: 200ms..1s }, abort: { share: 1%, status: 503 }, when: \"${header('X-Fault') == 'yes'}\" }",
        ),
    ],
    later: &["har"],
};

pub(crate) static LIMIT: Section = Section {
    path: "policies.<name>.limit",
    meaning: "How often a call may be made. Short form: `limit: 100/s`.",
    example: "limit: { rate: 20/s, burst: 40, per: \"${client.network}\" }",
    words: &[
        word("rate", "rate", None, "How many in how long: `100/s`, `5/m`, `1000/h`, `10/30s`. Required."),
        word(
            "algorithm",
            "`gcra`, `fixed` or `sliding`",
            Some("gcra"),
            "`gcra`: `burst` at once, then evenly spread at `rate`. `fixed`: all of `rate` in a window that begins with a \
             first call. `sliding`: never more than `rate` in any interval of that length.",
        ),
        word("burst", "number", None, "Calls at once, for `gcra`. Default: the number in `rate`."),
        word(
            "per",
            "expression or `provider`",
            None,
            "What is counted apart: `\"${client.network}\"` (of IPv6, the /64), `\"${header('X-Api-Key')}\"`; `provider`: each source. Calls for \
             which it gives nothing are counted together.",
        ),
        word(
            "values",
            "number",
            Some("100000"),
            "How many values of `per` are remembered. Beyond that, the one whose quota refills soonest is dropped.",
        ),
        word("queue", "section", None, "What comes too often waits for its turn instead of being refused."),
        word(
            "shares",
            "section",
            None,
            "Groups of calls within the limit: each is sure of its share, and what one leaves, others may take.",
        ),
        shared::SHARED_WORD,
    ],
    later: &[],
};

pub(crate) static RETRY: Section = Section {
    path: "policies.<name>.retry",
    meaning: "When a call is made again, and how often. `retry: true` takes every default.",
    example: "retry: { attempts: 3, backoff: 50ms..2s, budget: 20% }",
    words: &[
        word("attempts", "number", Some("3"), "Tries in all, from 2 to 10."),
        word(
            "backoff",
            "duration..duration",
            Some("25ms..1s"),
            "The longest pause before the second try, and the longest there is.",
        ),
        word(
            "budget",
            "share",
            Some("20%"),
            "Retries at most, as a share of the calls of the last ten seconds.",
        ),
        word(
            "floor",
            "rate",
            Some("3/s"),
            "Retries that are allowed besides that share; those of ten seconds may come at once.",
        ),
        word(
            "on",
            "status or word, or list",
            None,
            "What is retried: statuses, and words of `Fleetfoot-Error` such as `connect`, `source-timeout` or `broke-off`. \
             Default: `502`, `503`, `504`, `resolve`, `connect`, `connect-timeout`, `source-timeout`, `broke-off`, \
             `no-healthy-target`, `read-unavailable`.",
        ),
        word(
            "methods",
            "`idempotent` or `all`",
            Some("idempotent"),
            "Whether also a POST is made again after it may have reached the source.",
        ),
        word(
            "replay",
            "size",
            Some("64KiB"),
            "Content of a request that is held for another try; a longer one is sent once.",
        ),
    ],
    later: &[],
};

pub(crate) static TIMEOUT: Section = Section {
    path: "policies.<name>.timeout",
    meaning: "How long a call may take. Short form: `timeout: 2s`, which is `overall`.",
    example: "timeout: { overall: 2s, per_try: 500ms }",
    words: &[
        word("overall", "duration", None, "All tries together."),
        word("per_try", "duration", None, "Each try."),
    ],
    later: &[],
};

pub(crate) static SIGNED: Section = Section {
    path: "policies.<name>.signed",
    meaning: "Signed URLs and cookies, as in Cloud CDN.",
    example: "signed: { keys: { main: { file: main.key } }, cookie: none }",
    words: &[
        word(
            "keys",
            "name → secret",
            None,
            "The keys that are currently valid, by the name in `KeyName`: base64url of at least 16 bytes, made with \
             `head -c 16 /dev/urandom \\| base64 \\| tr +/ -_`. Required.",
        ),
        word(
            "cookie",
            "cookie name or `none`",
            Some("Cloud-CDN-Cookie"),
            "The cookie that may carry the signature instead of the URL. `none`: only URLs.",
        ),
    ],
    later: &[],
};
