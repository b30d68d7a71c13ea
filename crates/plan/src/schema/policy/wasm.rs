//! The words of `wasm`.

use super::{Section, Word, word};

pub(super) const WASM_WORD: Word = word("wasm", "section", None, "Has functions of your own change or answer calls.").told(
    "A module of `sources` is called before the source is asked, with its response, or both: JSON in, JSON out, in a sandbox with bounds \
     of time and memory. What functions are told and may say is in the guide on WebAssembly. Inside one policy it stands behind \
     the cache: hits call nothing, what is stored is what was changed, and functions are told only of those header fields that \
     the cache's `key` holds, since one response is for many clients. Put it into a policy of its own and name that one first to see all of each \
     request, hits included. Only for sources over HTTP. Envoy has Wasm and Lua filters, Kong its plugins.",
    "wasm: { module: math, request: on_request, response: on_response, body: 64KiB, on_error: fail }",
);

pub(crate) static WASM: Section = Section {
    path: "policies.<name>.wasm",
    meaning: "Functions of your own around a call. At least one of `request` and `response` is required.",
    example: "wasm: { module: math, request: on_request, response: on_response }",
    words: &[
        word("module", "name of a source", None, "The module. Required."),
        word(
            "request",
            "name of a function",
            None,
            "Told of each request before the source is asked; may change its header fields, path and query, or answer it.",
        ),
        word(
            "response",
            "name of a function",
            None,
            "Told of each response of the source; may change its status, header fields and, with `body`, its content.",
        ),
        word(
            "body",
            "size",
            None,
            "Gives `response` the content, up to so much, at most 8MiB. A longer one is for `on_error` to decide, and so is one that \
             is compressed or no text. Default: it gets none.",
        ),
        word(
            "on_error",
            "`fail` or `pass`",
            Some("fail"),
            "What becomes of a call whose function fails: an error of fleetfoot, `hook-failed`; or it goes on as if there were no \
             function.",
        ),
    ],
    later: &[],
};
