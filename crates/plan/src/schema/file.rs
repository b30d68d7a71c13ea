//! The words of the file itself, of `listen`, `limits` and `disk`.

use super::{SECRET_FORM, Section, word};

pub(crate) static FILE: Section = Section {
    path: "",
    meaning: "The whole file.",
    example: "routes: [{ match: /**, proxy: api }]",
    words: &[
        word("listen", "section", None, "Where clients connect."),
        word("limits", "section", None, "Limits on client requests and connections."),
        word(
            "memory",
            "size",
            Some("256MiB"),
            "Bytes the cache may hold, counting keys, heads and bodies.",
        )
        .told(
            "It bounds all bodies held in memory. A body that is still arriving, or is no longer stored but still \
             being read, counts until its last reader releases it; such bodies may take a fifth of `memory` on top (8 \
             MiB at least). Including what the allocator has not yet returned, the process grows by at most `memory` \
             and a quarter (from `40MiB` up), plus up to 32 KiB per connection. When the room for such bodies is full, \
             nothing is refused: responses pass through without being stored, read from the origin no faster than \
             their clients take them; clients that take nothing for 10 seconds are then disconnected, even if \
             `body_timeout` would let them wait longer. Stored responses give way to more useful ones. Varnish calls \
             this the size of its `malloc` storage; nginx keeps its cache in files.",
            "memory: 1GiB",
        ),
        word("disk", "section", None, "A second tier behind memory, which survives a restart.").told(
            "What no longer fits into memory, and what should survive a restart, is kept in files in this folder. \
             Everything is checked when it is read: what a crash left incomplete is never served, only fetched again. \
             A response that is usable for less than 10 seconds is not written, unless the origin can still validate \
             it (`ETag`, `Last-Modified`): such a response is kept for at least 10 minutes, space permitting. Use the \
             disk tier if the origin would not withstand a cold cache, or if more is worth keeping than fits into \
             memory. It is not shared between machines, it does not make hits faster, and two instances must not share \
             a folder. Without it nothing is written anywhere; nginx calls it `proxy_cache_path`, Varnish a `file` \
             storage.",
            "memory: 1GiB\ndisk: { folder: ./cache, size: 20GiB }",
        ),
        word("location", "letters and digits, 1 to 16", Some("LOCAL"), "Where this instance is.").told(
            "The first half of `Cache-ID`, which responses carry if a policy says `cache_status: word`: `Cache-ID: \
             KUL-5a71ba6a` tells which machine and which core answered. Give each site its own, an airport code, for \
             instance. It changes nothing else.",
            "location: KUL",
        ),
        word(
            "cores",
            "number",
            None,
            "Runtimes to start, one thread each; all available cores if omitted. Changing it needs a restart.",
        ),
        word("drain", "duration", Some("30s"), "How long requests in progress may continue after SIGTERM."),
        word(
            "drain_delay",
            "duration",
            Some("0s"),
            "How long new connections and requests are still accepted after SIGTERM, while `/readyz` already responds \
             with 503, so that load balancers have noticed before anybody is refused. Comes before `drain`.",
        ),
        word(
            "access_log",
            "`off`, `text` or `json`",
            Some("off"),
            "What is logged about each request, on standard output.",
        ),
        word("sources", "name → source", None, "Where responses come from. At least one."),
        word("policies", "name → policy", None, "What routes may use, each defined once and named."),
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
    meaning: "Where clients connect. An address is `127.0.0.1:8080`, `\"[::1]:8080\"`, or `:8080` or `8080` for every \
              IPv4 address of the machine; port 0 lets the system choose.",
    example: "listen: { http: 127.0.0.1:8080, admin: 127.0.0.1:9090 }",
    words: &[
        word(
            "http",
            "address or list",
            Some("127.0.0.1:8080"),
            "Cleartext HTTP/1.1, and HTTP/2 with prior knowledge. If only `https` is set, there is none.",
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
            "Health, metrics and control of the cache. None if omitted; keep it off the internet. Changing it needs a \
             restart.",
        ),
        word(
            "admin_token",
            SECRET_FORM,
            None,
            "The token that controlling the cache requires; at least 16 characters.",
        )
        .told(
            "With a token, purging, listing, warming and explaining require `Authorization: Bearer <token>`; `/livez`, \
             `/readyz` and `/metrics` never do. Without one, those operations are open to this machine alone: if \
             `admin` is bound to an address that others can reach, they are refused. Keep the token out of the config \
             file: name a file, or an environment variable. It protects nothing on client ports, where there is \
             nothing to protect: a `PURGE` there gets 405. Varnish calls it the secret file of `varnishadm`.",
            "admin: 127.0.0.1:9090\nadmin_token: { file: admin.token }",
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
            "Peers whose `Forwarded` and `X-Forwarded-*` are trusted and passed on, such as `10.0.0.0/8`. Their \
             `X-Forwarded-Proto` is the scheme of the request, in cache keys and signatures too.",
        ),
    ],
    later: &["egress"],
};

pub(crate) static LISTEN_TLS: Section = Section {
    path: "listen.tls",
    meaning: "Certificate and key for `https`. Relative paths start at the folder of the config file. Both are read \
              again on every reload: send SIGHUP after renewing the certificate.",
    example: "tls: { certificate: chain.pem, key: key.pem }",
    words: &[
        word("certificate", "path", None, "PEM file with the certificate chain, leaf first."),
        word("key", "path", None, "PEM file with the private key."),
    ],
    later: &[],
};

pub(crate) static LIMITS: Section = Section {
    path: "limits",
    meaning: "Limits on client requests and connections. Anything over a limit is refused with a clear status.",
    example: "limits: { body_size: 64MiB, header_timeout: 10s }",
    words: &[
        word(
            "head_size",
            "size",
            Some("32KiB"),
            "Size of a request head, from `256B` to `1MiB`; above: 431, or 414 for the request line.",
        ),
        word("header_count", "number", Some("100"), "Headers in a request; above: 431."),
        word("body_size", "size", Some("64MiB"), "Size of a request body; above: 413."),
        word(
            "connections",
            "number",
            Some("65536"),
            "Open client connections across all cores; above: refused and counted.",
        ),
        word(
            "header_timeout",
            "duration",
            Some("10s"),
            "How long a complete head may take to arrive; then 408.",
        ),
        word(
            "idle_timeout",
            "duration",
            Some("75s"),
            "How long a keep-alive connection may wait for its next request.",
        ),
        word(
            "body_timeout",
            "duration",
            Some("60s"),
            "How long a body may make no progress, in either direction.",
        ),
    ],
    later: &[],
};

pub(crate) static DISK: Section = Section {
    path: "disk",
    meaning: "The disk tier. Without it everything is kept in memory only. Changing it needs a restart.",
    example: "disk: { folder: ./cache, size: 10GiB }",
    words: &[
        word(
            "folder",
            "path",
            None,
            "A folder of its own, created if it does not exist. Relative paths start at the folder of the config file. \
             Required.",
        ),
        word("size", "size", None, "Bytes it may take, from `16MiB` to `16TiB`. Required."),
    ],
    later: &[],
};
