//! The words of `hedge`.

use super::{Section, Word, word};

pub(super) const HEDGE_WORD: Word =
    word("hedge", "section, or `true` for its defaults", None, "Makes a call that takes long a second time.").told(
        "For sources of which a few responses are slow for no reason of the call's own: where a call takes longer than `after`, \
         the same call is made once more beside it; what answers well first is the answer, and the other is cancelled. Only \
         calls that are idempotent and whose content can be sent again are hedged. `budget` keeps a source that is slow as \
         a whole from getting twice the calls. With a percentile, the first hundred calls are only measured. Dean and Barroso \
         call this a hedged request (The Tail at Scale, 2013).",
        "hedge: { after: p95, budget: 5% }",
    );

pub(crate) static HEDGE: Section = Section {
    path: "policies.<name>.hedge",
    meaning: "When a call is made a second time. `hedge: true` takes every default.",
    example: "hedge: { after: p95, budget: 5% }",
    words: &[
        word(
            "after",
            "percentile or duration",
            Some("p95"),
            "How long a call may take before that: longer than this share of the calls of the last half minute, measured on each \
             core and place; or a time.",
        ),
        word(
            "budget",
            "share",
            Some("5%"),
            "Second calls at most, as a share of the calls of the last ten seconds.",
        ),
    ],
    later: &[],
};
