//! The words of `cache`.

use super::{Section, word};

pub(crate) static CACHE: Section = Section {
    path: "policies.<name>.cache",
    meaning: "A shared cache as RFC 9111 defines it. What a response says about itself takes precedence; these keys \
              apply where it says nothing.",
    example: "cache: { ttl: 5s, stale: 30s, if_error: 1h }",
    words: &[
        word(
            "mode",
            "`origin`, `static` or `force`",
            Some("origin"),
            "How far the responses' own directives are obeyed.",
        )
        .told(
            "`origin`: responses decide, and `ttl` applies to those that state no lifetime. `static`: responses \
             decide, and `ttl` applies only to static content (images, fonts, style sheets, scripts, video) that \
             states no lifetime; the content type decides what is static, never the end of a path, so that \
             `/account/x.css` cannot make a private page public. `force`: the responses' directives are overruled, \
             `no-store` and `private` included, and so is what clients ask for: successful responses (200, 203, 204, \
             300, 301, 308) are fresh for `ttl`, and the statuses in `negative` for the time given there; all others \
             follow their own directives. Use `force` for an origin you cannot change, on routes where everybody gets \
             the same response. Even then, requests with `Authorization` or with cookies that are not part of the \
             cache key go straight through (unless `skip_for` says who is logged in), and responses with `Set-Cookie` \
             are not stored. In Cloud CDN these are `USE_ORIGIN_HEADERS`, `CACHE_ALL_STATIC` and `FORCE_CACHE_ALL`; \
             nginx forces with `proxy_ignore_headers` and `proxy_cache_valid`, Varnish by setting `beresp.ttl`.",
            "mode: force\nttl: 10s",
        ),
        word(
            "ttl",
            "`origin` or duration",
            Some("origin"),
            "How long a response is fresh if it states no lifetime. `origin`: such a response is not stored.",
        )
        .told(
            "A default, not an override: `Cache-Control` or `Expires` in a response takes precedence (but see `mode: \
             force`), and so does `negative` for its statuses. A few seconds are enough to turn a crowd into one \
             request. It applies only to statuses that may be cached by default (200, 203, 204, 300, 301, 308, 404, \
             410), never to errors that a client can provoke, and never to event streams (`text/event-stream`), which \
             are not stored at all. Cloud CDN: `defaultTtl`; Varnish: `default_ttl`; nginx: `proxy_cache_valid`.",
            "ttl: 5s",
        ),
        word(
            "max_ttl",
            "duration or `off`",
            Some("off"),
            "No response is fresh for longer than this, whatever it says.",
        )
        .told(
            "A cap for origins that promise too much: after this time the origin is asked, even if the response said a \
             year. It never lengthens a lifetime. Cloud CDN: `maxTtl`; in Varnish and nginx you would cut the lifetime \
             in VCL or with `proxy_ignore_headers`.",
            "max_ttl: 1h",
        ),
        word(
            "client_ttl",
            "duration or `off`",
            Some("off"),
            "The longest time for which clients are told that a response is fresh.",
        )
        .told(
            "Browsers keep a response for as long as they were told, and no purge reaches them. This setting lowers \
             `max-age` on the way out, so that they come back soon and find the cache, where a purge has taken effect. \
             A stored response that states no lifetime is given this one: as `private` if it is not for everyone who \
             requests its URL (`per`, `signed`, `skip_for`, `bypass`, `key.headers` and the like without `Vary`, a \
             response that repeats a header of its request, and every response on its first way through, before it has \
             been scanned for that). A response that is not stored is never given a lifetime; one that it states is \
             lowered. Responses that clients may not keep are left as they are, and so is whatever bypasses the cache \
             (`bypass`, `skip_for`). Must not exceed `max_ttl`. Cloud CDN: `clientTtl`; nginx: `expires`.",
            "ttl: 1h\nclient_ttl: 1m",
        ),
        word(
            "negative",
            "status → duration, or `true`",
            Some("false"),
            "Lifetimes by status, for responses that state none.",
        )
        .told(
            "Keeps a missing page, or a redirect, from costing the origin a request each time. `true` stands for the \
             usual values: 300, 301 and 308 for 10 minutes; 404, 410 and 451 for 2 minutes; 405, 421 and 501 for 1 \
             minute. With 200, 203, 204 and 206, which have `ttl`, and 302 and 307, which are temporary and stored \
             only where they say so, these are the fifteen statuses that Cloud CDN caches. A mapping lists its own \
             statuses: 200, 203, 204 or any from 300 to 599 except 304. What a client can provoke with a strange \
             request (5xx, and any 4xx except 404, 410 and 451) is usable for a minute at most, whatever it states and \
             with `stale` and `if_error` included; otherwise one such request would block a page for everybody. 428, \
             429, 431 and 511 are never stored (RFC 6585). Cloud CDN: `negativeCachingPolicy`; nginx: \
             `proxy_cache_valid 404 10s`.",
            "negative: { 404: 10s, 410: 1m, 301: 1h }",
        ),
        word(
            "heuristic",
            "share or `off`",
            Some("off"),
            "Freshness estimated from `Last-Modified`, as a share of the time since then (RFC 9111 §4.2.2); `10%` is \
             usual.",
        ),
        word(
            "jitter",
            "share or `off`",
            Some("off"),
            "Up to this share of each lifetime is taken off at random, 1% to 90%.",
        )
        .told(
            "Responses stored together (after a purge, a deploy, a warm-up) go stale together, and the origin feels \
             each wave. With `10%`, a lifetime of 10 minutes ends somewhere between 9 and 10. Jitter never lengthens a \
             lifetime, and clients are told what is left of theirs. Varnish has this in VCL with `std.random`; nginx \
             and Cloud CDN have nothing like it.",
            "ttl: 10m\njitter: 10%",
        ),
        word(
            "early",
            "share or `off`",
            Some("off"),
            "The last share of a lifetime, in which hot responses are already refreshed, 1% to 90%.",
        )
        .told(
            "A response that is requested often is fetched again before it goes stale, so that nobody ever waits for \
             it: one fetch, in the background, while the old response is served. What nobody requests is left to \
             expire. `stale` helps too, but serves stale responses; this serves only fresh ones. Others have it under \
             different names: prefetch in DNS servers, `proxy_cache_background_update` in nginx for stale responses \
             only.",
            "ttl: 1m\nearly: 20%",
        ),
        word(
            "stale",
            "duration",
            Some("0s"),
            "How long a stale response may still be served while it is refreshed (`stale-while-revalidate`).",
        )
        .told(
            "The first request after a lifetime ends gets the old response at once, and the new one is fetched \
             meanwhile. Use it wherever slightly older is better than slower. Responses that say `must-revalidate`, \
             `no-cache` or `s-maxage` are never served this way unless they allow it themselves. Cloud CDN: \
             `serveWhileStale`; Varnish: `beresp.grace`; nginx: `proxy_cache_use_stale updating` with \
             `proxy_cache_background_update`.",
            "ttl: 2m\nstale: 30s",
        ),
        word(
            "if_error",
            "duration",
            None,
            "How long a stale response may be served when the source fails (`stale-if-error`).",
        )
        .told(
            "If the source cannot be reached, takes too long, or responds with 500, 502, 503 or 504, the old response \
             is served instead. The source is asked each time: nothing is hidden once it works again, and what was \
             purged is not brought back. `0s`: never, whatever fails, even for clients that would accept a stale \
             response. If not set: never when the source responds with an error, and for a day at most when it cannot \
             be reached, which RFC 9111 §4.2.4 allows. What the response itself says (`stale-if-error`, \
             `must-revalidate`, `s-maxage`) takes precedence. Varnish: `beresp.grace` with a health check; nginx: \
             `proxy_cache_use_stale error timeout http_500`.",
            "ttl: 1m\nif_error: 1h",
        ),
        word(
            "bypass",
            "condition or list",
            None,
            "Requests that go straight to the source: nothing is read from the cache or stored in it.",
        )
        .told(
            "For the editor who must see the page as it is: a header that is present (`Bypass-Cache`), a cookie (`{ \
             cookie: preview }`) or an expression that holds. One match is enough. Such requests are not coalesced \
             with others either, so anyone who knows the name can put load on the origin: choose one that strangers \
             will not guess, or a cookie. Stored responses stay stored; to replace one, purge it. `Cache-Status` says \
             `fwd=bypass`, or `uncacheable`. Cloud CDN: `bypassCacheOnRequestHeaders`; nginx: `proxy_cache_bypass` \
             together with `proxy_no_cache`; Varnish: `return (pass)`.",
            "bypass: [Bypass-Cache, { cookie: preview }, \"${query.nocache == '1'}\"]",
        ),
        word(
            "skip_for",
            "condition or list",
            None,
            "Requests of logged-in visitors: nothing is read from the cache or stored in it.",
        )
        .told(
            "Says how a request shows that its visitor is logged in: a session cookie, `Authorization`. Such requests \
             go straight to the source; all others share the cache. It works like `bypass` but is reported separately \
             in `Cache-Status` (`detail=skip-for`); with `mode: force` it decides who is logged in, so that other \
             cookies (consent, analytics) no longer keep responses from being served. List every way of being logged \
             in: what is not listed is treated as anonymous. Spellings that some servers take for the name count as \
             well (`X_Token` for `X-Token`, `session =x`, `SESSION=x`). Varnish: `if (req.http.Cookie ~ \"session\") { \
             return (pass); }`; nginx: `proxy_cache_bypass $cookie_session` with `proxy_no_cache`.",
            "skip_for: [{ cookie: session }, { header: Authorization }]",
        ),
        word(
            "per",
            "text with expressions",
            None,
            "Whom a response is for: each value has its own responses.",
        )
        .told(
            "For APIs that give each user a different response, and are called often. The value becomes part of the \
             cache key, together with the whole of `Authorization` if there is one, since a token's claims are not \
             verified here: anyone who merely claims to be another user has a different token. Cookies are not part of \
             the key unless the value is one: if a cookie says who the user is, use that cookie as the value. \
             Responses marked `private` and responses to requests with cookies may then be stored; those with \
             `no-store` or `Set-Cookie` still may not. Every entry has the tag `user:<value>`: purge it when the user \
             changes, or is to be forgotten. A request without a value is treated as anonymous. Cannot be combined \
             with `mode: force`. The header must come from somewhere you trust: your gateway, not the client. Varnish: \
             `hash_data(req.http.X-User)`; Cloud CDN has nothing like it.",
            "per: \"${claim('sub')}\"",
        ),
        word("key", "section", None, "The cache key: what identifies a stored response."),
        word("body_keys", "section", None, "Requests with a body that are answered from the cache.").told(
            "`QUERY` (RFC 10008) only reads, whatever its body, and is cached without being listed. Of `POST` \
             requests, `graphql: true` takes GraphQL queries: the operation is parsed, and only one that is a query \
             beyond doubt is looked up, selected by `operationName`, or by the hash of a persisted query whose text \
             has been seen. Mutations, lists of operations, and anything that origins may read differently bypass the \
             cache, and purge the URL when they succeed. `methods: [POST]` takes any `POST` except what may be a \
             GraphQL mutation, in whatever form; use it for a search that only reads. A `POST` that names another \
             method (`X-HTTP-Method-Override`) bypasses the cache. With `graphql: true` a response with `errors` is \
             not stored, whatever its status and `mode`. The key is method, target, content type and the whole body, \
             byte by byte: two requests that mean the same in different words are two entries. A body over `max` \
             bypasses the cache. Do not list `POST` in `methods` on a route where a POST changes something: the second \
             of two identical ones would not reach the origin. `methods: []` caches neither. Varnish needs the module \
             `bodyaccess`, nginx `$request_body` in the key; Cloud CDN caches only `GET`.",
            "body_keys: { graphql: true, max: 64KiB }\nttl: 5s",
        ),
        word(
            "tags",
            "field name or list",
            Some("[Cache-Tag, Surrogate-Key]"),
            "Response headers that hold tags. They are not sent to clients.",
        )
        .told(
            "A response that says `Cache-Tag: product-7, home` can be purged together with all others that share a \
             tag, by `fleetfoot cache purge --tag product-7`, through the admin port, or by `invalidate`. Commas and \
             spaces separate tags; 64 tags of at most 256 bytes are kept. `Cache-Groups` (RFC 9875) always count as \
             tags too, and stay in the response. `[]`: no other headers are read. Fastly calls them surrogate keys, \
             Varnish `xkey`, Cloud CDN cache tags; nginx has none.",
            "tags: [Cache-Tag, X-Product]",
        ),
        word(
            "compress",
            "`true`, `false`, or section",
            Some("false"),
            "Compresses responses for clients that accept it.",
        )
        .told(
            "The origin is asked for uncompressed content; it is stored once, and compressed when the first client \
             asks for that coding, off the request path. `ETag` and `Vary` are kept correct. What the origin encodes \
             anyway is passed on as it is and never encoded twice; `Cache-Control: no-transform` is obeyed; responses \
             that are not stored are not compressed. Do not use it for pages that hold a secret next to text that a \
             stranger can choose (BREACH). Cloud CDN: `compressionMode: AUTOMATIC`; nginx: `gzip on`, with \
             `gzip_types`; Varnish: `beresp.do_gzip`.",
            "compress: { encodings: [br, gzip], types: [text/*, application/json], least: 1KiB }",
        ),
        word(
            "cache_status",
            "`field`, `word` or `off`",
            Some("field"),
            "How responses report what the cache did.",
        )
        .told(
            "`field`: the structured field of RFC 9211, `Cache-Status: fleetfoot; hit; ttl=4`. `word`: a single word, \
             as Cloud CDN can be configured to write it, `hit`, `miss`, `stale`, `revalidated` or `uncacheable` (a \
             bypass, or a request that is not looked up), and `Cache-ID` with `location`. `off`: nothing, for clients \
             that should not know. It changes none of the cache's decisions; `fleetfoot explain` reports them in full. \
             nginx: `$upstream_cache_status`; Varnish: `X-Varnish`, or `obj.hits` in VCL.",
            "cache_status: word",
        ),
        word(
            "client_directives",
            "`honour` or `ignore`",
            Some("honour"),
            "What to do with `Cache-Control` in a request.",
        ),
        word(
            "store_set_cookie",
            "`true` or `false`",
            Some("false"),
            "Whether responses with `Set-Cookie` may be stored. `true` may hand one visitor's cookie to another.",
        ),
        word(
            "tier",
            "name of a source at a Redis",
            None,
            "Shares responses with other instances through this source.",
        )
        .told(
            "A shared tier behind the memory of each instance: what one instance has fetched the others find there, \
             one of them asks the origin for what all miss, and a purge on one is a purge on all, within a tenth of a \
             second. A response that the origin can still validate (it has an `ETag` or `Last-Modified`) is kept there \
             for another 10 minutes after it can no longer be served without asking. The tier is read only on a miss, \
             once, and written in the background. When Redis is slow or gone, responses come from memory and the \
             origin, as they would without it; nothing fails, and nothing needs to be restarted. It does not make hits \
             faster: those come from memory anyway. All instances of a deployment need the same configuration. `tier` \
             of the source says which responses are kept, and how long instances wait for each other. Varnish and \
             nginx have nothing like it; in Kong it is the `redis` strategy of `proxy-cache-advanced`.",
            "ttl: 2m\nstale: 30s\ntier: redis",
        ),
        word("max_body", "size", Some("8MiB"), "Larger responses stream past the cache."),
        word(
            "variants",
            "number",
            Some("16"),
            "Variants (by `Vary`) kept for one URL; one more evicts the oldest.",
        ),
        word(
            "coalesce",
            "`true` or `false`",
            Some("true"),
            "Whether simultaneous requests for one missing response share one fetch.",
        ),
        word(
            "targeted",
            "field name or list",
            Some("[CDN-Cache-Control]"),
            "Headers obeyed before `Cache-Control`, most specific first (RFC 9213).",
        ),
    ],
    later: &["max_stale"],
};

pub(crate) static CONDITION: Section = Section {
    path: "policies.<name>.cache.bypass[]",
    meaning: "What to look for in a request, for `bypass` and `skip_for`: the name of a header alone, one of these \
              keys, or an expression, `\"${query.nocache == '1'}\"`. `body` is the request body where the cache reads \
              it (`body_keys`), and must then be JSON: `\"${body.operationName == 'Login'}\"`. A request for which \
              this cannot be decided bypasses the cache.",
    example: "bypass: [{ cookie: preview }]",
    words: &[
        word("header", "field name", None, "The header is present, whatever its value."),
        word("cookie", "cookie name", None, "The cookie is present, whatever its value."),
    ],
    later: &[],
};

pub(crate) static BODY_KEYS: Section = Section {
    path: "policies.<name>.cache.body_keys",
    meaning: "Requests with a body that are answered from the cache, by method, target, content type and the whole \
              body.",
    example: "body_keys: { methods: [QUERY, POST], max: 16KiB }",
    words: &[
        word("methods", "`QUERY`, `POST`, or list", Some("[QUERY]"), "Which methods. `[]`: none."),
        word(
            "graphql",
            "`true` or `false`",
            Some("false"),
            "Also `POST` whose body is a GraphQL query, as JSON, and no other `POST`.",
        ),
        word(
            "max",
            "size",
            Some("16KiB"),
            "The largest body, `1MiB` at most; requests with a larger one bypass the cache.",
        ),
    ],
    later: &[],
};

pub(crate) static COMPRESS: Section = Section {
    path: "policies.<name>.cache.compress",
    meaning: "What is compressed, and how. Short form: `compress: true`.",
    example: "compress: { encodings: [br, gzip], least: 4KiB }",
    words: &[
        word(
            "encodings",
            "`zstd`, `br`, `gzip`, or list",
            Some("[zstd, br, gzip]"),
            "The codings to use; where a client likes several equally, the first of them.",
        ),
        word(
            "types",
            "content type or list",
            Some(
                "[text/*, application/json, application/ld+json, application/problem+json, \
                 application/graphql-response+json, application/manifest+json, application/javascript, application/xml, \
                 application/rss+xml, application/atom+xml, application/wasm, image/svg+xml, font/ttf, font/otf]",
            ),
            "Content types; `text/*` for all of one kind.",
        ),
        word("least", "size", Some("1KiB"), "The smallest body worth compressing."),
    ],
    later: &[],
};
