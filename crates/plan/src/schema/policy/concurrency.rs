//! The words of `concurrency`.

use super::{Section, Word, word};

pub(super) const CONCURRENCY_WORD: Word =
    word("concurrency", "number, or section", None, "How many calls to a source may be under way at once.").told(
        "Counted over all cores of this instance, for each policy and source; a call is under way until the last byte of its \
         response has been handed on. What is more is refused with 503 `overloaded`, or waits in a `queue`. With `adaptive` the \
         limit finds itself: it rises as long as calls do not take longer for it, and falls where they do, where they time out, and \
         where the source answers 429 or 503; no call is refused to measure anything. Envoy calls this adaptive \
         concurrency, Netflix concurrency-limits.",
        "concurrency: { max: 64, queue: { wait: 1s } }",
    );

pub(crate) static CONCURRENCY: Section = Section {
    path: "policies.<name>.concurrency",
    meaning: "How many calls may be under way. Short form: `concurrency: 64`.",
    example: "concurrency: { max: 64, queue: { wait: 1s } }",
    words: &[
        word("max", "number", None, "So many. Required, unless it is `adaptive`."),
        word("adaptive", "section, or `true` for its defaults", None, "As many as the source answers well."),
        word(
            "queue",
            "section",
            None,
            "What is more waits for its turn instead of being refused: `policies.<name>.limit.queue`.",
        ),
    ],
    later: &[],
};

pub(crate) static ADAPTIVE: Section = Section {
    path: "policies.<name>.concurrency.adaptive",
    meaning: "How many calls may be under way, found out by how the source answers.",
    example: "adaptive: { least: 2, most: 200 }",
    words: &[
        word("least", "number", Some("1"), "Never fewer."),
        word("most", "number", Some("1000"), "Never more."),
        word("first", "number", Some("8"), "As many to begin with."),
    ],
    later: &[],
};
