//! Flow tests: the built program between origins that do as told and clients of raw bytes. One story a file, in the
//! order in which things must work: what the code looks like, that it passes requests at all, what it refuses, how it
//! proxies, how it caches, how it shares fetches, what it says about that, and how it is run.
//!
//! Nothing sleeps: answers are made old by the `Age` and `Date` that origins send, and whoever has to wait for another
//! waits at a gate.

mod load;
mod setup;

mod architecture;
mod first_steps;

mod hostile {
    //! What strangers send on either side.
    mod deception;
    mod http2;
    mod limits;
    mod poisoned_errors;
    mod poisoning;
    mod request_contents;
    mod request_heads;
    mod responses;
    pub(crate) mod signed;
    mod silent_readers;
    mod spelling;
    mod two_clients;
    mod two_clients_errors;
    mod two_clients_http2;
    mod two_clients_later;
    mod two_clients_queries;
}

mod proxying {
    //! What passes through.
    mod errors;
    mod forwarded_fields;
    mod grpc;
    mod half_closed;
    mod interim;
    mod old_and_new;
    mod origins;
    mod streaming;
    mod tls;
    mod upgrade;
}

mod cache {
    //! RFC 9111 and its neighbours.
    mod age;
    mod authorization;
    mod directives;
    mod field_names;
    mod freshness;
    mod head;
    mod invalidation;
    mod ranges;
    mod request_directives;
    mod stale;
    mod status_field;
    mod statuses;
    mod superseding;
    mod targeted;
    mod validation_by_clients;
    mod validation_with_origin;
    mod variants;
}

mod controls {
    //! What a policy says besides: modes, keys, bypass, compression, and how all that is told.
    mod bypass;
    mod client_lifetime;
    mod compression;
    mod content_keys;
    mod early;
    mod graphql;
    mod hit_for_miss;
    mod keys;
    mod lifetimes;
    mod modes;
    mod per;
    mod query_keys;
    mod said;
    mod streams;
    mod ways;
}

mod control_port {
    //! Forgetting, listing, warming and explaining, over the admin port and by command.
    mod access;
    mod command_line;
    mod explaining;
    mod in_force;
    mod invalidate;
    mod listing;
    mod measured;
    mod nobody;
    pub(crate) mod port;
    mod reference;
    mod scopes;
    mod silence;
    mod soft;
}

mod disk {
    //! What outlives the process.
    mod bounds;
    mod failing;
    pub(crate) mod folder;
    mod kill;
    mod restart;
    mod tampering;
}

mod shared {
    //! What instances share through a Redis.
    mod answers;
    mod clocks;
    mod half_failures;
    pub(crate) mod instances;
    mod lost_purges;
    mod one_fill;
    mod purges;
    mod recipe;
    mod topologies;
    mod trouble;
}

mod coalescing;

mod running {
    //! The program as a process.
    mod bad_input;
    pub(crate) mod clock;
    mod drain;
    mod observed;
    mod open_files;
    mod reload;
}

mod reading {
    //! Answers from one read of a Redis, or of a file.
    mod answers;
    mod behind_cache;
    mod cluster;
    mod commands;
    mod gone;
    mod replica;
    mod store;
    pub(crate) mod support;
    mod switching;
    mod tracked;
    mod trouble;
    mod values;
}

mod remedies {
    //! What wraps a call, on a route, on a source and on a step alike; and who may make it.
    mod accounts;
    mod api_keys;
    mod auth_in;
    mod auth_provider;
    mod breaker;
    mod concurrency;
    mod cors;
    mod credentials;
    mod example;
    mod explaining;
    mod faults;
    mod forgetting;
    mod headers;
    mod hedge;
    mod learn;
    mod limit;
    mod module;
    mod nested;
    mod queue;
    mod respond;
    mod retry;
    mod rewrite;
    mod shared_limit;
    mod support;
    mod timeout;
    mod wasm;
    mod wasm_failing;
}

mod composing {
    //! One response from many sources at once.
    mod broken_databases;
    mod broken_origins;
    mod broken_reads;
    mod coming_and_going;
    mod doing_less;
    mod giving_up;
    mod modes;
    mod nothing_leaks;
    mod saying_no;
    mod seed;
    mod standing_in;
    pub(crate) mod support;
    mod trouble;
    mod whose;
}
