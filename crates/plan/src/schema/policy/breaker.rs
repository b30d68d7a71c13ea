//! The words of `breaker`.

use super::{Section, Word, word};

pub(super) const BREAKER_WORD: Word =
    word("breaker", "section, or `true` for its defaults", None, "Makes no call to a target that keeps failing.").told(
        "Of a source with several targets each has a breaker of its own: calls go to those that are well, and only if all of \
         them are open is a call refused, with 503 `breaker-open` and `Retry-After`. While a breaker is open, one call at a \
         time may probe its target, after each rest (`probe`); the others do not wait for it. Counted over all cores of this instance; \
         a policy has one breaker for each source and target, wherever it is used. What a limit of ours refuses and what a \
         client cancels says nothing about the target. Behind a cache with `if_error`, what is stored stands in while the \
         breaker is open. Envoy has this as outlier detection, resilience4j as CircuitBreaker.",
        "breaker: { errors: 50%, window: 10s, probe: 1s..30s }",
    );

pub(crate) static BREAKER: Section = Section {
    path: "policies.<name>.breaker",
    meaning: "When calls are not made. `breaker: true` takes every default.",
    example: "breaker: { errors: 50%, window: 10s, probe: 1s..30s }",
    words: &[
        word(
            "errors",
            "share",
            Some("50%"),
            "It opens when so many of the calls of the last `window` have failed.",
        ),
        word("window", "duration", Some("10s"), "How far back calls count."),
        word("calls", "number", Some("20"), "Of fewer calls in the window, nothing is said."),
        word("in_a_row", "number", None, "Instead of a share: it opens after so many failures in a row."),
        word(
            "probe",
            "duration, or duration..duration",
            Some("1s..30s"),
            "How long it is open before a call may probe the target; doubles with each probe that fails, up to the second. `5s`: always so \
             long.",
        ),
        word("successes", "number", Some("1"), "So many probes in a row must succeed to close it."),
        word(
            "on",
            "status or word, or list",
            None,
            "What counts as failed, as in `retry.on`. Default: every status from 500 on, and every error on the side of the source.",
        ),
        word(
            "instead",
            "any value",
            None,
            "What is given while it is open, as JSON: with status 200, `Fleetfoot-Error: breaker-open` and `Cache-Control: \
             no-store`; to a compose as a value that stands in. Only to who reads: a write gets the error. Default: the error.",
        ),
    ],
    later: &[],
};
