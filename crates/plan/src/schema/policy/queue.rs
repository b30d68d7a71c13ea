//! The words of `queue`.

use super::{Section, word};

pub(crate) static QUEUE: Section = Section {
    path: "policies.<name>.limit.queue",
    meaning: "How calls wait that would be refused otherwise, for `limit` and for `concurrency`. A client that leaves frees its place.",
    example: "queue: { wait: 2s, size: 500, priority: \"${header('X-Priority')}\", fair: \"${client.network}\" }",
    words: &[
        word("wait", "duration", None, "How long a call waits at most; then it is refused. Required."),
        word(
            "size",
            "number",
            Some("1000"),
            "How many wait at once. In a full queue the last of the lowest priority, and of it the last of the largest group, makes \
             room for a better one; otherwise the newcomer is refused.",
        ),
        word(
            "priority",
            "expression",
            None,
            "A whole number; higher ones go first. What is no number counts as 0, what is beyond 32 bits as the highest or lowest of them. Take it from what clients cannot choose.",
        ),
        word(
            "fair",
            "expression",
            None,
            "Calls of one priority for which it gives the same are a group, and groups take turns: one with ten thousand calls \
             does not hold up one with a single call. Default: who came first goes first.",
        ),
    ],
    later: &[],
};
