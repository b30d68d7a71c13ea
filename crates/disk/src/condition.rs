//! Condition: whether the tier can be written, and if not, why. Told by the writer and the journal, asked by whoever
//! reports it; each change is logged once, however often it is told.

use std::fmt::Display;
use std::sync::Mutex;

use crate::index::lock;

/// What can fail on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Segments, and the folder itself.
    Records,
    /// The journal.
    Journal,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Condition {
    troubles: Mutex<[Option<Box<str>>; 2]>,
}

impl Condition {
    /// It failed; `meaning` says what that does.
    pub(crate) fn fails(&self, part: Part, error: &dyn Display, meaning: &str) {
        let said = format!("{error}: {meaning}");
        let before = lock(&self.troubles)[part as usize].replace(said.into());
        // Another error of the same trouble is told by `trouble`; another meaning is news.
        if before.is_none_or(|before| !before.ends_with(meaning)) {
            tracing::error!("the disk tier fails: {error}: {meaning}");
        }
    }

    /// It works.
    pub(crate) fn works(&self, part: Part) {
        let mut troubles = lock(&self.troubles);
        if troubles[part as usize].take().is_some() && troubles.iter().all(Option::is_none) {
            tracing::info!("the disk tier works again");
        }
    }

    /// What is wrong; what concerns purges before what concerns records.
    pub(crate) fn trouble(&self) -> Option<String> {
        lock(&self.troubles).iter().rev().flatten().next().map(ToString::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn purges_come_before_records_and_each_is_over_when_it_works() {
        let condition = Condition::default();
        condition.fails(Part::Records, &Error::Closed, "nothing is kept");
        condition.fails(Part::Journal, &Error::JournalFull, "purges may be lost");
        assert!(condition.trouble().unwrap().ends_with("purges may be lost"));
        condition.works(Part::Journal);
        assert!(condition.trouble().unwrap().ends_with("nothing is kept"));
        condition.works(Part::Records);
        assert_eq!(condition.trouble(), None);
    }
}
