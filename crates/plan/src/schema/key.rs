//! The words of `key`: what a stored answer is found by.

use super::{Section, word};

pub(crate) static KEY: Section = Section {
    path: "policies.<name>.cache.key",
    meaning: "What identifies a stored response, besides its path. Whatever is not part of the key must not change the \
              response: where it could, the origin does not get to see it either.",
    example: "key: { query: { except: [utm_*, fbclid] }, sort: true }",
    words: &[
        word(
            "scheme",
            "`true` or `false`",
            Some("true"),
            "Whether `http` and `https` have separate responses.",
        )
        .told(
            "Set it to `false` if the origin responds to both alike; half the entries are then enough. Do not do so if \
             it redirects `http` to `https`: the redirect would be served to both. Cloud CDN: `includeProtocol`; \
             nginx: `$scheme` in `proxy_cache_key`.",
            "key: { scheme: false }",
        ),
        word("host", "`true` or `false`", Some("true"), "Whether each host has separate responses.").told(
            "Set it to `false` if several names lead to the same content, with and without `www` for instance. The \
             origin still gets the host of whoever asked first, so it must not put that host into responses or \
             redirects. Cloud CDN: `includeHost`; Varnish: leave `req.http.host` out of `vcl_hash`.",
            "key: { host: false }",
        ),
        word(
            "query",
            "`true`, `false`, or section",
            Some("true"),
            "Which parameters count. The others are not sent to the origin either.",
        )
        .told(
            "`false`: none. `{ only: [...] }`: these; `{ except: [...] }`: all but these; `*` stands for anything \
             within a name. Parameters that only trackers read (`utm_*`, `fbclid`, `gclid`) multiply entries without \
             changing responses: list them in `except`. What does not count is removed before the request is \
             forwarded, so that nobody can slip the origin a parameter and have others get the response to it; if the \
             origin needs a parameter, it must count. Cloud CDN: `includeQueryString` with its include and exclude \
             lists; Varnish: `querystring` or a regular expression.",
            "key: { query: { except: [utm_*, fbclid, gclid] } }",
        ),
        word("sort", "`true` or `false`", Some("false"), "Whether parameters are sorted by name.").told(
            "`?a=1&b=2` and `?b=2&a=1` are then one entry. Parameters of the same name keep their order, since that \
             order often means something; the origin gets them sorted too. Varnish: `std.querysort`.",
            "key: { sort: true }",
        ),
        word("headers", "field name or list", None, "Request headers that count.").told(
            "Each value of the header gets its own responses. Use it for headers with few values that affect the \
             origin's response without its saying so in `Vary`; where it does say so, nothing is needed here. Every \
             value a client can make up is an entry: do not list `User-Agent`. A request with a header that only some \
             servers take for a listed one (`X_Tenant` for `X-Tenant`) bypasses the cache. Cookies and credentials are \
             refused here; use `cookies` and `per` for them. Cloud CDN: `includeHttpHeaders`.",
            "key: { headers: [X-Tenant] }",
        ),
        word(
            "cookies",
            "cookie name or list",
            None,
            "Cookies that count; only these reach the origin. `[]`: none do.",
        )
        .told(
            "If omitted, no cookie counts, all are sent, and responses to requests with cookies are stored only if \
             they say that they may be shared. If set, the origin sees the listed cookies and no others, so that \
             responses can be stored for everybody with the same values. List the few that choose between versions \
             (currency, an experiment's group), never a session: that is `per` or `skip_for`. Cloud CDN: \
             `includeNamedCookies`; Varnish: `cookie.keep` and `hash_data`.",
            "key: { cookies: [currency] }",
        ),
        word("by", "text with expressions", None, "Anything else that counts.").told(
            "An expression over the request, for what no other setting covers. Requests for which its value is missing \
             share entries with one another. The origin sees the request as it is: let the expression cover everything \
             that the response depends on. nginx: `map` and a variable in `proxy_cache_key`; Varnish: `hash_data`.",
            "key: { by: \"${header('X-Plan')}\" }",
        ),
        word(
            "encodings",
            "`as_sent` or `fold`",
            Some("as_sent"),
            "Whether `Accept-Encoding` is folded into a few classes.",
        )
        .told(
            "Browsers write the same preference in many ways, and each way would be a variant. `fold` reduces them to \
             one of eight values, by which of zstd, br and gzip the client accepts: that value is part of the key and \
             is what the origin gets. Use it if the origin compresses; with `compress` it does nothing, since the \
             origin is then asked for uncompressed content. Varnish does this by itself, for gzip only.",
            "key: { encodings: fold }",
        ),
        word(
            "languages",
            "`as_sent`, or list of languages",
            Some("as_sent"),
            "The languages that `Accept-Language` is folded into; the first is for clients that ask for none of them.",
        )
        .told(
            "List the languages your origin responds in. Each client's list, with its weights, becomes the one of \
             these that it prefers: that is part of the key and what the origin gets, so nobody gets a response in \
             somebody else's language even if the origin forgets `Vary`. Each language has its own entries; list none \
             that the origin does not have. Varnish: the `accept` module.",
            "key: { languages: [en, fr, de] }",
        ),
        word(
            "no_vary_search",
            "`honour` or `ignore`",
            Some("honour"),
            "Whether `No-Vary-Search` in responses is obeyed.",
        )
        .told(
            "An origin that knows which of its parameters do not matter says so itself, `No-Vary-Search: \
             params=(\"utm_source\")`, and its responses are then found without them. Unlike `query`, this removes \
             nothing from the requests that reach the origin. `ignore` is for origins that get it wrong.",
            "key: { no_vary_search: ignore }",
        ),
        word(
            "reflected",
            "`key` or `ignore`",
            Some("key"),
            "Whether a request header that a response repeats is treated as if `Vary` named it.",
        )
        .told(
            "An origin that puts a request header into its response and forgets `Vary` would hand one client's value \
             to all others: by mistake, or because somebody intended it (cache poisoning). So each response is scanned \
             before it is stored: its headers, and the first 256 KiB of its body, decompressed. The scan looks for the \
             values of the request's headers, each single cookie, list member and parameter in them, and a host \
             without its port; in any letter case, and however escaped for HTML, JSON, JavaScript or a URL; for pieces \
             of eight characters or more, of which the first 32 count, and for shorter ones if they contain `.`, `/`, \
             `<` or `\"`. A header of which a piece is found selects the response as if `Vary` named it; beyond 128 \
             headers, 64 KiB of values or 8 KiB of pieces, the rest is assumed to be found. The scan leaves out \
             conditional headers, trace and request IDs, what every browser sends (`text/html`), and a `Referer` that \
             is a plain address of the same host. It cannot catch what the origin computes or looks up from a header, \
             plain words of less than eight characters, other encodings (base64, UTF-16), a fragment that is none of \
             these pieces, or anything after the first 256 KiB: it is a safety net, and it is up to the origin to say \
             in `Vary` what its responses depend on, or up to you in `key`. Requests that wait for the same fetch with \
             different headers get the response when it is complete, not while it arrives. `ignore` avoids that, for \
             origins that are known to name what they use. No other cache does this.",
            "key: { reflected: ignore }",
        ),
    ],
    later: &[],
};

pub(crate) static KEY_QUERY: Section = Section {
    path: "policies.<name>.cache.key.query",
    meaning: "Which parameters count: `only` or `except`, not both. Short forms: `query: true` for all, `query: false` \
              for none.",
    example: "query: { only: [page, sort] }",
    words: &[
        word("only", "parameter name or list", None, "These count. `*` stands for any number of characters."),
        word("except", "parameter name or list", None, "All but these count. `*` as in `utm_*`."),
    ],
    later: &[],
};
