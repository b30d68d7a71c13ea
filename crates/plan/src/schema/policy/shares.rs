//! The words of `shares`.

use super::{Section, word};

pub(crate) static SHARES: Section = Section {
    path: "policies.<name>.limit.shares",
    meaning: "How a limit is shared by groups of calls. With `algorithm: gcra` alone: what a group leaves is known at once there, and in a \
              window only when that is over.",
    example: "shares: { by: \"${header('X-Team')}\", of: { checkout: 60%, batch: 30% } }",
    words: &[
        word("by", "expression", None, "Gives the name of a call's group. Required."),
        word("of", "group → share", None, "Up to 64 groups, and what each is sure of. Required."),
        word(
            "others",
            "share",
            None,
            "What all calls of no such group are sure of together. Default: what is left of 100 %.",
        ),
    ],
    later: &[],
};
