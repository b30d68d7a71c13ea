//! The words of `shared`.

use super::{Section, Word, word};

pub(super) const SHARED_WORD: Word =
    word("shared", "name of a source, or section", None, "All instances count together, in this Redis.").told(
        "One limit for many instances: each call is counted by a script in Redis, in one round trip, by the clock of Redis. However many \
         instances ask at once, no more calls pass than the limit allows. While Redis cannot be asked, `when_gone` decides. A hit behind such a \
         limit takes a round trip too: it is not at hand any more. A `queue` is that of each instance, and `shares` are counted by each \
         instance for itself. See the guide on many instances for what is promised when Redis fails, comes back, or comes back empty.",
        "shared: { redis: redis, when_gone: refuse }",
    );

pub(crate) static SHARED: Section = Section {
    path: "policies.<name>.limit.shared",
    meaning: "Where instances count together. Short form: `shared: counts`, the name of a source at a Redis.",
    example: "shared: { redis: redis, when_gone: local }",
    words: &[
        word(
            "redis",
            "name of a source",
            None,
            "The Redis. Its `timeout` is how long a call waits for it at most. Required.",
        ),
        word(
            "when_gone",
            "`local`, `refuse` or `allow`",
            Some("local"),
            "What becomes of calls while Redis cannot be asked. `local`: each instance lets its part pass, the limit divided by the instances \
             seen in the last minute; the part begins used up. `refuse`: 503 with `Fleetfoot-Error: limit-unavailable`. `allow`: they \
             pass uncounted.",
        ),
        word(
            "prefix",
            "text",
            Some("fleetfoot"),
            "What keys there begin with: 1 to 64 letters, digits, `_`, `-`, `.` and `:`. Deployments that share a Redis need one each.",
        ),
    ],
    later: &[],
};
