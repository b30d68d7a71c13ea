//! The words of `cache`.

use super::{Section, word};

pub(crate) static CACHE: Section = Section {
    path: "policies.<name>.cache",
    meaning: "A shared cache after RFC 9111. What an answer says about itself goes first; these words say what holds where \
              it says nothing.",
    example: "cache: { ttl: 5s, stale: 30s, if_error: 1h }",
    words: &[
        word("mode", "`origin`, `static` or `force`", Some("origin"), "How far the answers' own words are obeyed.").told(
            "`origin`: they decide, and `ttl` is for answers that state no lifetime. `static`: they decide, and `ttl` is \
             only for answers of static content (images, fonts, style sheets, scripts, video) that state none; the content \
             type tells, never the end of a path, so that `/account/x.css` cannot make a private page public. `force`: \
             they are overruled, `no-store` and `private` too, and so is what clients ask for: successful answers (200, \
             203, 204, 300, 301, 308) are fresh for `ttl`, and the statuses of `negative` for what it says; others are left \
             to their own words. Use `force` for an origin you cannot change, on routes where everybody gets the same. Even \
             then requests with \
             `Authorization` or with cookies that are not part of the key go straight through (unless `skip_for` says who \
             is logged in), and answers with `Set-Cookie` are not stored. In Cloud CDN these are `USE_ORIGIN_HEADERS`, \
             `CACHE_ALL_STATIC` and `FORCE_CACHE_ALL`; nginx forces with `proxy_ignore_headers` and `proxy_cache_valid`, \
             Varnish by setting `beresp.ttl`.",
            "mode: force\nttl: 10s",
        ),
        word(
            "ttl",
            "`origin` or duration",
            Some("origin"),
            "How long an answer is fresh that does not say so itself. `origin`: such an answer is not stored.",
        )
        .told(
            "The default, not the law: `Cache-Control` or `Expires` of an answer go before it (but see `mode: force`), and \
             so does `negative` for its statuses. A few seconds are enough to turn a crowd into one request. It is given \
             only to statuses that may be cached without asking (200, 203, 204, 300, 301, 308, 404, 410), never to errors \
             that a client can bring about, and never to streams of events (`text/event-stream`), which are not stored at \
             all. Cloud CDN: `defaultTtl`; Varnish: `default_ttl`; nginx: `proxy_cache_valid`.",
            "ttl: 5s",
        ),
        word("max_ttl", "duration or `off`", Some("off"), "No answer is fresh for longer than this, whatever it says.").told(
            "A bound for origins that promise too much: after this time the origin is asked, even where the answer said a \
             year. It does not lengthen anything. Cloud CDN: `maxTtl`; in Varnish and nginx you would cut the lifetime in \
             VCL or by `proxy_ignore_headers`.",
            "max_ttl: 1h",
        ),
        word("client_ttl", "duration or `off`", Some("off"), "How long clients are told an answer is fresh, at most.").told(
            "Browsers keep what they were told, and no purge reaches them. With this, `max-age` is cut on the way out, so \
             that they come back soon and find the cache, where a purge has worked. A stored answer that states no lifetime \
             is given this one: as `private` where it is not for all who ask for its URL (`per`, `signed`, `skip_for`, `bypass`, \
             `key.headers` and the like without `Vary`, what repeats a field of its request, and each answer on its first way \
             through, before it was looked through). An answer that is not stored is never given one: what it states is lowered. Answers that \
             clients may not keep stay as they are, and so does what goes past the cache (`bypass`, `skip_for`). At most \
             `max_ttl`. Cloud CDN: `clientTtl`; nginx: `expires`.",
            "ttl: 1h\nclient_ttl: 1m",
        ),
        word("negative", "status → duration, or `true`", Some("false"), "Lifetimes by status, where the answer states none.")
            .told(
                "So that a missing page, or a redirect, does not cost the origin a request each time. `true` stands for the \
                 usual: 300, 301 and 308 for 10 minutes; 404, 410 and 451 for 2 minutes; 405, 421 and 501 for 1 minute. \
                 With 200, 203, 204 and 206, which have `ttl`, and 302 and 307, which are temporary and stored only where \
                 they say so, these are the fifteen statuses that Cloud CDN caches. A mapping names its own, 200, 203, 204 or any from 300 to 599 apart from \
                 304. What a client can bring about by a strange request (5xx, and any 4xx but 404, 410 and 451) is of use for \
                 a minute at most, whatever it states and `stale` and `if_error` included, or one such request would close \
                 a page for everybody. 428, 429, 431 and 511 are never stored (RFC 6585). Cloud CDN: `negativeCachingPolicy`; nginx: \
                 `proxy_cache_valid 404 10s`.",
                "negative: { 404: 10s, 410: 1m, 301: 1h }",
            ),
        word(
            "heuristic",
            "share or `off`",
            Some("off"),
            "Freshness guessed from `Last-Modified`, as a share of the answer's age (RFC 9111 §4.2.2); `10%` is usual.",
        ),
        word("jitter", "share or `off`", Some("off"), "The share of a lifetime that is taken off at random, 1% to 90%.").told(
            "What was stored together (after a purge, a deploy, a warm-up) goes stale together, and the origin feels each \
             wave. With `10%`, a lifetime of 10 minutes ends somewhere between 9 and 10. It never lengthens a lifetime, and \
             clients are told what is left of theirs. Varnish has this in VCL with `std.random`; nginx and Cloud CDN have \
             nothing like it.",
            "ttl: 10m\njitter: 10%",
        ),
        word(
            "early",
            "share or `off`",
            Some("off"),
            "The last share of a lifetime in which hot answers are refreshed already, 1% to 90%.",
        )
        .told(
            "An answer that is asked for often is fetched again before it goes stale, so that nobody ever waits for it: one \
             fetch, in the background, while the old one is served. What nobody asks for is left to end. `stale` helps \
             too, but serves old answers; this serves only fresh ones. Others have it by other names: prefetch in DNS \
             servers, `proxy_cache_background_update` in nginx for stale answers only.",
            "ttl: 1m\nearly: 20%",
        ),
        word(
            "stale",
            "duration",
            Some("0s"),
            "How long a stale answer may still be served while it is refreshed (`stale-while-revalidate`).",
        )
        .told(
            "The first request after the end of a lifetime is answered at once with the old answer, and the new one is \
             fetched meanwhile. Use it wherever a little older is better than slower. Answers that say `must-revalidate`, \
             `no-cache` or `s-maxage` are never served so unless they say it themselves. Cloud CDN: `serveWhileStale`; \
             Varnish: `beresp.grace`; nginx: `proxy_cache_use_stale updating` with `proxy_cache_background_update`.",
            "ttl: 2m\nstale: 30s",
        ),
        word(
            "if_error",
            "duration",
            None,
            "How long a stale answer may be served when the source fails (`stale-if-error`).",
        )
        .told(
            "Where the source cannot be reached, takes too long, or answers 500, 502, 503 or 504, the old answer goes out \
             instead. It asks each time: nothing is hidden once the source works again, and what was purged is not \
             brought back. `0s`: none, whatever fails, also for clients that would wait for it. Not written: none where the \
             source answers with an error, and a day at most where it cannot be reached, which RFC 9111 §4.2.4 allows. What \
             the answer says itself (`stale-if-error`, `must-revalidate`, `s-maxage`) goes first. Varnish: `beresp.grace` with a health check; nginx: `proxy_cache_use_stale error timeout \
             http_500`.",
            "ttl: 1m\nif_error: 1h",
        ),
        word("bypass", "condition or list", None, "Requests that go straight to the source: nothing is read or stored.").told(
            "For the editor who must see the page as it is: a field that is there (`Bypass-Cache`), a cookie \
             (`{ cookie: preview }`) or an expression that holds. One is enough. Such requests are not joined to others \
             either, so whoever knows the word can load the origin: choose one that strangers do not guess, or a cookie. \
             What is stored stays stored; to replace it, purge. `Cache-Status` says `fwd=bypass`, or `uncacheable`. Cloud \
             CDN: `bypassCacheOnRequestHeaders`; nginx: `proxy_cache_bypass` together with `proxy_no_cache`; Varnish: \
             `return (pass)`.",
            "bypass: [Bypass-Cache, { cookie: preview }, \"${query.nocache == '1'}\"]",
        ),
        word(
            "skip_for",
            "condition or list",
            None,
            "Requests of somebody who is logged in: nothing is read or stored.",
        )
        .told(
            "Says how your visitors show that they are logged in: a session's cookie, `Authorization`. Those go straight to \
             the source, all others share the cache. It works as `bypass` does and is told apart in `Cache-Status` \
             (`detail=skip-for`); with `mode: force` it decides who is logged in, so that other cookies (consent, \
             analytics) no longer keep answers from being served. Write every way of being logged in: what is not named is \
             taken for anonymous. What some servers take for the name counts as it (`X_Token` for `X-Token`, `session =x`, \
             `SESSION=x`). Varnish: `if (req.http.Cookie ~ \"session\") { return (pass); }`; nginx: \
             `proxy_cache_bypass $cookie_session` with `proxy_no_cache`.",
            "skip_for: [{ cookie: session }, { header: Authorization }]",
        ),
        word("per", "text with expressions", None, "Who an answer is for: each has answers of their own.").told(
            "For APIs that answer each user differently, and often. The value becomes part of the key, together with the \
             whole of `Authorization` where there is one, since a token's claims are not verified here: whoever only claims \
             another's name has another token. Cookies are not part of the key unless the value is one: where a cookie says \
             who somebody is, write that cookie. Answers marked `private` and answers to requests with cookies may \
             then be stored, `no-store` and `Set-Cookie` still not. Each entry has the tag `user:<value>`: purge it when the \
             user changes, or is to be forgotten. A request without a value is treated as anonymous. It cannot stand beside \
             `mode: force`. The field must come from somewhere you trust: your gateway, not the client. Varnish: \
             `hash_data(req.http.X-User)`; Cloud CDN has nothing like it.",
            "per: \"${claim('sub')}\"",
        ),
        word("key", "section", None, "What a stored answer is found by."),
        word("body_keys", "section", None, "Requests with content that are answered from the cache.").told(
            "`QUERY` (RFC 10008) reads, whatever its content, and is cached by itself. Of `POST`, `graphql: true` takes \
             the queries of GraphQL: the operation is parsed, and only one that is a query beyond doubt is looked up, chosen \
             by `operationName`, or by the hash of a persisted query whose text has come by. Mutations, lists of operations, \
             and whatever origins may read differently go past the cache, and forget the URL when they succeed. \
             `methods: [POST]` takes any `POST` but what may be a mutation of GraphQL, in whatever form, for a search that only reads. A \
             `POST` that says another method (`X-HTTP-Method-Override`) goes past the cache. With `graphql: true` an answer with \
             `errors` is not stored, whatever its status and `mode`. The key is method, target, content type and the whole content, byte by \
             byte: two requests that mean the same in other words are two entries. Content over `max` goes past the cache. \
             Do not name `POST` in `methods` on a route where one changes something: the second of two equal ones would not \
             reach the origin. `methods: []` caches neither. Varnish needs the module `bodyaccess`, nginx `$request_body` in the key; \
             Cloud CDN caches `GET` alone.",
            "body_keys: { graphql: true, max: 64KiB }\nttl: 5s",
        ),
        word(
            "tags",
            "field name or list",
            Some("[Cache-Tag, Surrogate-Key]"),
            "Fields of an answer that hold its tags. They are not sent to clients.",
        )
        .told(
            "An answer that says `Cache-Tag: product-7, home` can be forgotten with all others of a tag, by `fleetfoot cache \
             purge --tag product-7`, by the admin port, or by `invalidate`. Commas and spaces separate; 64 tags of at most \
             256 bytes are kept. `Cache-Groups` (RFC 9875) are tags too, always, and stay in the answer. `[]`: no other \
             fields are looked at. Fastly calls them surrogate keys, Varnish `xkey`, Cloud CDN cache tags; nginx has none.",
            "tags: [Cache-Tag, X-Product]",
        ),
        word("compress", "`true`, `false`, or section", Some("false"), "Answers are compressed for those who accept it.").told(
            "The origin is asked for plain content; it is stored once, and compressed when the first client asks for that \
             coding, off the path of requests. `ETag` and `Vary` are kept right. What the origin encodes all the same is \
             passed on as it is and never encoded twice; `Cache-Control: no-transform` is obeyed; answers that are not \
             stored are not compressed. Do not use it for pages that hold a secret beside text that a stranger can choose \
             (BREACH). Cloud CDN: `compressionMode: AUTOMATIC`; nginx: `gzip on`, with `gzip_types`; Varnish: \
             `beresp.do_gzip`.",
            "compress: { encodings: [br, gzip], types: [text/*, application/json], least: 1KiB }",
        ),
        word("cache_status", "`field`, `word` or `off`", Some("field"), "How answers say what the cache did.").told(
            "`field`: the structured field of RFC 9211, `Cache-Status: fleetfoot; hit; ttl=4`. `word`: one word as Cloud CDN \
             can be told to write it, `hit`, `miss`, `stale`, `revalidated` or `uncacheable` (a bypass, or a request that is \
             not looked up), and `Cache-ID` with `location`. `off`: nothing, for those who should not know. It changes no \
             decision; `fleetfoot explain` tells them in full. nginx: `$upstream_cache_status`; Varnish: `X-Varnish`, or \
             `obj.hits` in VCL.",
            "cache_status: word",
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
        word("tier", "name of a source at a Redis", None, "Answers are shared with other instances through it.").told(
            "A tier behind the memory of each instance: what one has fetched the others find there, one of them asks the \
             origin for what all miss, and a purge at one is a purge at all, within a tenth of a second. What can still be confirmed by the origin (it has an \
             `ETag` or `Last-Modified`) is kept there for 10 minutes after its end. It is asked on a \
             miss only, once, and written to behind the request's back. When Redis is slow or gone, answers come from \
             memory and origin as without it; nothing fails, and nothing needs to be restarted. It does not make hits \
             faster: those come from memory anyway. All instances of a deployment need the same configuration. What of it \
             is kept, and how long instances wait for each other, says `tier` of the source. Varnish and nginx have nothing \
             like it; with Kong it is the `redis` strategy of `proxy-cache-advanced`.",
            "ttl: 2m\nstale: 30s\ntier: redis",
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
    later: &["max_stale"],
};

pub(crate) static CONDITION: Section = Section {
    path: "policies.<name>.cache.bypass[]",
    meaning: "What is looked for in a request, for `bypass` and `skip_for`: a field's name alone, one of these keys, or an \
              expression, `\"${query.nocache == '1'}\"`. `body` is the content where the cache reads it (`body_keys`), which must \
              be JSON then: `\"${body.operationName == 'Login'}\"`. What cannot be decided goes past the cache.",
    example: "bypass: [{ cookie: preview }]",
    words: &[
        word("header", "field name", None, "The field is there, whatever its value."),
        word("cookie", "cookie name", None, "The cookie is there, whatever its value."),
    ],
    later: &[],
};

pub(crate) static BODY_KEYS: Section = Section {
    path: "policies.<name>.cache.body_keys",
    meaning: "Requests with content that are answered from the cache, by method, target, content type and the whole content.",
    example: "body_keys: { methods: [QUERY, POST], max: 16KiB }",
    words: &[
        word("methods", "`QUERY`, `POST`, or list", Some("[QUERY]"), "Which methods. `[]`: none."),
        word(
            "graphql",
            "`true` or `false`",
            Some("false"),
            "Also `POST` whose content is a GraphQL query, as JSON, and no other `POST`.",
        ),
        word(
            "max",
            "size",
            Some("16KiB"),
            "Bytes of content, up to `1MiB`; requests with more go past the cache.",
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
            "Which codings, the first where a client likes several alike.",
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
        word("least", "size", Some("1KiB"), "Bytes from which on it is worth it."),
    ],
    later: &[],
};
