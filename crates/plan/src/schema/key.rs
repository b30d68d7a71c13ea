//! The words of `key`: what a stored answer is found by.

use super::{Section, word};

pub(crate) static KEY: Section = Section {
    path: "policies.<name>.cache.key",
    meaning: "What a stored answer is found by, besides its path. What is no part of the key must not change the answer: \
              where it can, the origin does not get to see it either.",
    example: "key: { query: { except: [utm_*, fbclid] }, sort: true }",
    words: &[
        word("scheme", "`true` or `false`", Some("true"), "Whether `http` and `https` have answers of their own.").told(
            "Set it to `false` where the origin answers both alike, and half the entries are enough. Do not where it \
             redirects `http` to `https`: the redirect would be served to both. Cloud CDN: `includeProtocol`; nginx: \
             `$scheme` in `proxy_cache_key`.",
            "key: { scheme: false }",
        ),
        word("host", "`true` or `false`", Some("true"), "Whether each host has answers of its own.").told(
            "Set it to `false` where several names lead to the same content, `www` and none for instance. The origin still \
             gets the host of whoever asked first, so it must not put it into answers or redirects. Cloud CDN: \
             `includeHost`; Varnish: leave `req.http.host` out of `vcl_hash`.",
            "key: { host: false }",
        ),
        word(
            "query",
            "`true`, `false`, or section",
            Some("true"),
            "Which parameters count. The others are not sent to the origin either.",
        )
        .told(
            "`false`: none. `{ only: [...] }`: these; `{ except: [...] }`: all but these; `*` stands for anything in a name. \
             Parameters that only trackers read (`utm_*`, `fbclid`, `gclid`) multiply entries without changing answers: \
             name them in `except`. What does not count is taken out before the request is forwarded, so that nobody can \
             slip an origin a parameter that others then get the answer of; if the origin needs one, it counts. Cloud CDN: \
             `includeQueryString` with its include and exclude lists; Varnish: `querystring` or a regular expression.",
            "key: { query: { except: [utm_*, fbclid, gclid] } }",
        ),
        word("sort", "`true` or `false`", Some("false"), "Whether parameters are sorted by name.").told(
            "`?a=1&b=2` and `?b=2&a=1` are then one entry. Parameters of one name stay in their order, since that order \
             often means something; the origin gets them sorted too. Varnish: `std.querysort`.",
            "key: { sort: true }",
        ),
        word("headers", "field name or list", None, "Request fields that count.").told(
            "Each value of the field gets answers of its own. Use it for fields with few values that the origin answers to \
             without saying so in `Vary`; where it does say so, nothing is needed here. Every value a client can make up \
             is an entry: do not name `User-Agent`. A request with a field that only some servers take for it (`X_Tenant` for \
             `X-Tenant`) goes past the cache. Cookies and credentials are refused here, they have `cookies` and \
             `per`. Cloud CDN: `includeHttpHeaders`.",
            "key: { headers: [X-Tenant] }",
        ),
        word(
            "cookies",
            "cookie name or list",
            None,
            "Cookies that count; only these reach the origin. `[]`: none does.",
        )
        .told(
            "Left out, no cookie counts, all are sent, and answers to requests with cookies are stored only where they say \
             that they may be shared. With it, the origin sees the named cookies and no others, and so the answers can be \
             stored for everybody with the same values. Name the few that choose between versions (currency, an \
             experiment's group), never a session: that is `per` or `skip_for`. Cloud CDN: `includeNamedCookies`; Varnish: \
             `cookie.keep` and `hash_data`.",
            "key: { cookies: [currency] }",
        ),
        word("by", "text with expressions", None, "Whatever else counts.").told(
            "An expression over the request, for what no other word says. Where its value is missing, the request shares \
             with those for whom it is missing too. The origin sees the request as it is: let the expression cover all that \
             the answer depends on. nginx: `map` and a variable in `proxy_cache_key`; Varnish: `hash_data`.",
            "key: { by: \"${header('X-Plan')}\" }",
        ),
        word(
            "encodings",
            "`as_sent` or `fold`",
            Some("as_sent"),
            "Whether `Accept-Encoding` is folded into a few classes.",
        )
        .told(
            "Browsers write the same wish in many ways, and each way would be a variant. `fold` makes one of eight values out \
             of them, by which of zstd, br and gzip the client takes: that is part of the key and what the origin gets. Use \
             it where the origin compresses; beside `compress` it does nothing, since the origin is then asked for plain \
             content. Varnish does it by itself, for gzip only.",
            "key: { encodings: fold }",
        ),
        word(
            "languages",
            "`as_sent`, or list of languages",
            Some("as_sent"),
            "The languages that `Accept-Language` is folded into; the first for those who ask for none of them.",
        )
        .told(
            "Name the languages your origin answers in. Each client's list, with its weights, becomes the one of these it \
             likes best: that is part of the key and what the origin gets, so nobody is answered in another's language even \
             where the origin forgets `Vary`. Each language has entries of its own; name none that the origin does not have. \
             Varnish: the `accept` module.",
            "key: { languages: [en, fr, de] }",
        ),
        word(
            "no_vary_search",
            "`honour` or `ignore`",
            Some("honour"),
            "Whether `No-Vary-Search` of answers is obeyed.",
        )
        .told(
            "An origin that knows which of its parameters do not matter says so itself, \
             `No-Vary-Search: params=(\"utm_source\")`, and its answers are then found without them. Unlike `query` this \
             takes nothing out of the requests that reach the origin. `ignore` is for origins that say so wrongly.",
            "key: { no_vary_search: ignore }",
        ),
        word(
            "reflected",
            "`key` or `ignore`",
            Some("key"),
            "Whether a request field that an answer repeats is taken for named in its `Vary`.",
        )
        .told(
            "An origin that puts a request field into its answer and forgets `Vary` would hand one client's value to all \
             others: by mistake, or because somebody wanted that (cache poisoning). So each answer is looked through before \
             it is stored: its fields, and the first 256 KiB of its content, decompressed. Looked for are the values of the \
             request's fields, each single cookie, list member and parameter of them, and a host without its port; in any \
             letter case, and however escaped for HTML, JSON, JavaScript or a URL; from eight characters on, of which the \
             first 32 count, and shorter where they hold `.`, `/`, `<` or `\"`. A field of which a piece is found selects the \
             answer as if `Vary` named it; of more than 128 fields, 64 KiB of values or 8 KiB of pieces the rest is taken \
             for found. Left out are conditions, trace and request ids, what every browser says (`text/html`), and a \
             `Referer` that is a plain address of the same host. It cannot catch what the origin computes or looks up by a \
             field, plain words of less than eight characters, other encodings (base64, UTF-16), a piece that is none of \
             these, and what stands behind the first 256 KiB: it is a safety net, and what answers depend on is for the \
             origin to say in `Vary`, or for you in `key`. Those who wait for one fetch with other fields get the answer \
             when it is complete, not while it arrives. `ignore` spares that, for origins that are known to name what \
             they use. No other cache does this.",
            "key: { reflected: ignore }",
        ),
    ],
    later: &[],
};

pub(crate) static KEY_QUERY: Section = Section {
    path: "policies.<name>.cache.key.query",
    meaning: "Which parameters count: `only` or `except`, not both. Short forms: `query: true` for all, `query: false` for \
              none.",
    example: "query: { only: [page, sort] }",
    words: &[
        word("only", "parameter name or list", None, "These count. `*` stands for any number of characters."),
        word("except", "parameter name or list", None, "All but these count. `*` as in `utm_*`."),
    ],
    later: &[],
};
