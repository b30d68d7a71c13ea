//! Keys: which keys of a Redis or a store requests may name. Asked by whatever reads of one.

use expression::Argument;

use crate::meant::ReadCommand;
use crate::yaml::fault::{Reason, quoted};

/// Which keys of a source requests may name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys<'k> {
    /// All of it is for whoever asks.
    pub(crate) is_public: bool,
    /// What the keys of the cache begin with, where it keeps answers there.
    pub(crate) tier: Option<&'k str>,
}

impl Keys<'_> {
    /// Whether the keys of a command are within them. `is_sent`: whether a value beside the request came with it.
    pub(crate) fn check(
        self,
        command: ReadCommand,
        arguments: &[Argument],
        is_sent: &dyn Fn(usize) -> bool,
    ) -> Result<(), Reason> {
        for key in &arguments[..command.keys(arguments.len())] {
            let text = key.text();
            if key.is_open(is_sent) && !self.is_public {
                return Err(Reason::new(
                    format!("{} lets whoever asks read any key there is", quoted(&text)),
                    format!(
                        "write what those that are meant begin with, like `user:{text}`, or `public: true` at the \
                         source if all of it is for everybody"
                    ),
                ));
            }
            if let Some(tier) = self.tier
                && key.is_partly_sent(is_sent)
                && (tier.starts_with(key.beginning()) || key.beginning().starts_with(tier))
            {
                return Err(Reason::new(
                    format!(
                        "{} may name what the cache keeps in this Redis, under {}",
                        quoted(&text),
                        quoted(tier)
                    ),
                    "let the key begin with something else, or give the cache another `prefix` under `tier`",
                ));
            }
        }
        Ok(())
    }
}
