//! Think: how long a user looks at what came before asking again. Part of a scenario; asked by `client`.

use std::time::Duration;

/// A pause of one's own after each walk through the list of URLs, from `least` to `most`. The same in every run with
/// this seed, so that runs can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// The shortest pause.
    pub least: Duration,
    /// The longest pause.
    pub most: Duration,
    /// Another one, other pauses.
    pub seed: u64,
}

impl Think {
    /// From `least` to `most`, with the usual seed.
    pub fn between(least: Duration, most: Duration) -> Self {
        Think { least, most, seed: 0 }
    }

    /// How long the user of this number pauses after so many walks.
    pub(crate) fn pause(&self, user: usize, walks: u64) -> Duration {
        let place = mix(mix(self.seed ^ user as u64) ^ walks);
        let share = (place >> 11) as f64 / (1_u64 << 53) as f64;
        self.least + self.most.saturating_sub(self.least).mul_f64(share)
    }
}

/// SplitMix64: neighbouring numbers come far apart.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_fill_the_span_and_are_the_same_again() {
        let think = Think::between(Duration::from_millis(800), Duration::from_millis(1200));
        let pauses = || (0..50).flat_map(|user| (0..20).map(move |walks| think.pause(user, walks)));
        let all: Vec<_> = pauses().collect();
        assert!(all.iter().all(|pause| (800..=1200).contains(&pause.as_millis())));
        let mean = all.iter().sum::<Duration>() / 1000;
        assert!((990..=1010).contains(&mean.as_millis()), "{mean:?}");
        assert!(all.iter().min().unwrap().as_millis() < 810 && all.iter().max().unwrap().as_millis() > 1190);
        assert_eq!(all, pauses().collect::<Vec<_>>());
        assert_ne!(Think { seed: 1, ..think }.pause(0, 0), think.pause(0, 0));
    }

    #[test]
    fn a_span_without_width_is_always_the_same_pause() {
        let second = Duration::from_secs(1);
        assert_eq!(Think::between(second, second).pause(3, 4), second);
    }
}
