//! Unshared: why a fetch brought nothing that others may have.

use rules::NotStored;

/// Why an answer is not shared.
#[derive(Clone, Copy)]
pub(crate) enum Unshared {
    TooLarge,
    Rule(NotStored),
}

impl Unshared {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Unshared::TooLarge => "too-large",
            Unshared::Rule(rule) => rule.word(),
        }
    }
}
