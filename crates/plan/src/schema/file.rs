//! The words of the file itself, of `listen`, `limits` and `disk`.

use super::{SECRET_FORM, Section, word};

pub(crate) static FILE: Section = Section {
    path: "",
    meaning: "The whole file.",
    example: "routes: [{ match: /**, proxy: api }]",
    words: &[
        word("listen", "section", None, "Where clients come in."),
        word("limits", "section", None, "What clients may ask for at most."),
        word("memory", "size", Some("256MiB"), "Bytes the cache may hold: keys, heads and bodies counted.").told(
            "It bounds all content there is. What is arriving, and what is stored no more but still being read, counts \
             until its last reader gives it back, and may come to a fifth of `memory` besides (8 MiB at least); with what the allocator \
             has not returned yet, the process grows by a quarter more than `memory` at most (from `40MiB` on), and by up to \
             32 KiB a connection. When that is full nothing is refused: answers pass by, read from the origin no faster than \
             their clients take them, and are not stored; clients that take nothing for 10 seconds are then cut loose, \
             though `body_timeout` would let them wait longer. What is stored gives way to what is of more use. \
             Varnish calls it the size of its `malloc` storage, nginx has it in files.",
            "memory: 1GiB",
        ),
        word("disk", "section", None, "A second tier behind the memory, which survives a restart.").told(
            "What no longer fits into the memory, and what should survive a restart, is kept in files of this folder. \
             Each is checked when it is read: what a crash tore is never served, only fetched anew. What is of use for less than 10 seconds is not written, \
             unless the origin can still confirm it (`ETag`, `Last-Modified`): that is kept for 10 minutes at least, room \
             permitting. Use it where the \
             origin would not stand a cold cache, or where more is worth keeping than fits into memory. It is not \
             shared between machines, it does not make hits faster, and two fleetfoots must not share a folder. \
             Without it nothing is written anywhere; nginx calls it `proxy_cache_path`, Varnish a `file` storage.",
            "memory: 1GiB\ndisk: { folder: ./cache, size: 20GiB }",
        ),
        word("location", "letters and digits, 1 to 16", Some("LOCAL"), "Where this fleetfoot is.").told(
            "The first half of `Cache-ID`, which answers carry where a policy says `cache_status: word`: \
             `Cache-ID: KUL-5a71ba6a` tells which machine and which core answered. Give each site its own, an airport's \
             code for instance. It changes nothing else.",
            "location: KUL",
        ),
        word(
            "cores",
            "number",
            None,
            "Runtimes to start, one thread each; all available cores when left out. Changes with a restart only.",
        ),
        word("drain", "duration", Some("30s"), "How long requests under way may go on after SIGTERM."),
        word(
            "drain_delay",
            "duration",
            Some("0s"),
            "How long new connections and requests are still taken after SIGTERM, while `/readyz` says 503 already, so that \
             whoever balances the load has noticed before anybody is refused. Comes before `drain`.",
        ),
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
            "Health, metrics and control of the cache. None when left out; keep it off the internet. Changes with a \
             restart only.",
        ),
        word("admin_token", SECRET_FORM, None, "What whoever controls the cache must show; 16 characters at least.").told(
            "Purging, listing, warming and explaining then need `Authorization: Bearer <token>`; `/livez`, `/readyz` and \
             `/metrics` never do. Without a token these are open to this machine alone: where `admin` is bound to an \
             address that others reach, they are refused. Keep the token out of the file: name a file, or a variable of \
             the environment. It protects nothing on the ports of clients, where there is nothing to protect: a `PURGE` \
             there is 405. Varnish calls it the secret file of `varnishadm`.",
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
            "Peers whose `Forwarded` and `X-Forwarded-*` are believed and passed on, like `10.0.0.0/8`. Their \
             `X-Forwarded-Proto` is the scheme of the request, in keys and signatures too.",
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

pub(crate) static DISK: Section = Section {
    path: "disk",
    meaning: "The disk tier. Without it everything is kept in memory only. Changes with a restart only.",
    example: "disk: { folder: ./cache, size: 10GiB }",
    words: &[
        word(
            "folder",
            "path",
            None,
            "A folder of its own, made when it is not there. Relative paths start at the folder of the file. Must be \
             there.",
        ),
        word("size", "size", None, "Bytes it may take, from `16MiB` to `16TiB`. Must be there."),
    ],
    later: &[],
};
