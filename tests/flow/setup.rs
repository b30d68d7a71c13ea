//! What many stories begin with.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use testkit::{Fleetfoot, Origin};

/// A config that passes everything to this origin, with these words in the cache policy; `-` means no cache at all.
pub(crate) fn config(origin: SocketAddr, cache: &str) -> String {
    config_with(origin, cache, "")
}

/// The same with more lines at the top level.
pub(crate) fn config_with(origin: SocketAddr, cache: &str, more: &str) -> String {
    let (policies, used) = match cache {
        "-" => (String::new(), ""),
        words => (format!("policies: {{ cached: {{ cache: {{ {words} }} }} }}\n"), ", use: cached"),
    };
    let listen =
        if more.contains("listen:") { "" } else { "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0 }\n" };
    format!(
        "{listen}cores: 1\nmemory: 64MiB\n{more}\nsources: {{ api: {{ http: \"http://{origin}\" }} }}\n{policies}\
         routes: [ {{ match: /**, proxy: api{used} }} ]\n"
    )
}

/// fleetfoot in front of this origin, caching what the origin allows.
pub(crate) fn cached(origin: &Origin) -> Fleetfoot {
    cached_with(origin, "ttl: origin")
}

/// The same with other words in the cache policy.
pub(crate) fn cached_with(origin: &Origin, cache: &str) -> Fleetfoot {
    Fleetfoot::start(&config(origin.address(), cache))
}

/// fleetfoot in front of this origin, without a cache.
pub(crate) fn proxied(origin: &Origin) -> Fleetfoot {
    Fleetfoot::start(&config(origin.address(), "-"))
}

/// Comes back when everything sent before has been taken up: on one core requests are read in order, and this one is
/// answered without the origin.
pub(crate) fn until_taken_up(fleetfoot: &Fleetfoot) {
    assert_eq!(fleetfoot.get_with("/not-there", "Cache-Control: only-if-cached").status, 504);
}

/// Tries every row of a table, and fails once with the names and reasons of all rows that failed.
pub(crate) fn each<N: AsRef<str>, T>(rows: impl IntoIterator<Item = (N, T)>, test: impl Fn(&str, T)) {
    let mut failed = Vec::new();
    for (name, row) in rows {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(name.as_ref(), row))) {
            let reason = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or_default();
            failed.push(format!("{}: {reason}", name.as_ref()));
        }
    }
    assert!(failed.is_empty(), "{} rows failed:\n{}", failed.len(), failed.join("\n"));
}
