//! The words of `learn`.

use super::{Section, Word, word};

pub(super) const LEARN_WORD: Word =
    word("learn", "section, or `true` for its defaults", None, "Keeps to what the source says of its limits.").told(
        "Everybody pauses for as long as `Retry-After` of a 429 or 503 says, and keeps a pace that the quota allows which the source \
         announces: in `RateLimit` and `RateLimit-Policy` (the IETF's draft and its earlier forms), or in `X-RateLimit-Limit`, \
         `-Remaining` and `-Reset` in the dialects of providers, in seconds, as epochs or as dates. Where it announces nothing, the pace \
         is found from the 429s. Instances need not talk to each other: what others use is seen in what remains. What may not go yet is \
         refused with 429 and `Retry-After`, or waits in a `queue`. Use `concurrency: { adaptive: true }` beside it where the source also \
         limits calls at once.",
        "learn: { queue: { wait: 30s } }\nconcurrency: { adaptive: true, queue: { wait: 30s } }",
    );

pub(crate) static LEARN: Section = Section {
    path: "policies.<name>.learn",
    meaning: "How calls keep to what the source says. `learn: true` takes every default.",
    example: "learn: { longest: 2m, queue: { wait: 30s } }",
    words: &[
        word(
            "per",
            "expression",
            None,
            "Whose quota it is, where clients bring credentials of their own: `\"${header('X-Api-Key')}\"`. Default: all calls to a \
             source have one.",
        ),
        word("values", "number", Some("10000"), "How many values of `per` are remembered for each source."),
        word(
            "longest",
            "duration",
            Some("1m"),
            "One call may always go after so long, whatever the source says: so nobody is locked out by a wrong answer.",
        ),
        word(
            "queue",
            "section",
            None,
            "What may not go yet waits for its turn instead of being refused: `policies.<name>.limit.queue`.",
        ),
    ],
    later: &[],
};
