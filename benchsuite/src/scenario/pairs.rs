//! Pairs: two servers that run at the same time and are loaded one after the other, round by round, in alternating order. The
//! ratio is the median of the rounds' ratios, so that what disturbs a round disturbs both sides of it.

use std::borrow::Cow;

use crate::failure::Result;
use crate::figures::{Round, middle};
use crate::scenario::outcome::Outcome;

/// The two sides, round by round.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) plain: Vec<Round>,
    pub(super) other: Vec<Round>,
}

impl Pairs {
    /// A round of both, in this order or the other.
    pub(super) fn measure(
        &mut self,
        plain_first: bool,
        plain: impl FnOnce() -> Result<Round>,
        other: impl FnOnce() -> Result<Round>,
    ) -> Result<()> {
        if plain_first {
            self.plain.push(plain()?);
            self.other.push(other()?);
        } else {
            self.other.push(other()?);
            self.plain.push(plain()?);
        }
        Ok(())
    }

    /// The other's CPU time of plain's, in each round.
    pub(super) fn ratios(&self) -> Vec<f64> {
        self.plain.iter().zip(&self.other).map(|(plain, other)| other.cpu_us / plain.cpu_us).collect()
    }

    /// The median of these.
    pub(super) fn ratio(&self, what: impl Into<Cow<'static, str>>) -> Outcome {
        let ratios = self.ratios();
        let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = ratios.iter().copied().fold(0.0, f64::max);
        let what = format!("{} (rounds {lowest:.2} to {highest:.2})", what.into());
        Outcome::told(what, middle(ratios), "×")
    }
}
