//! Time: notices when somebody sets the wall clock, and when the machine was suspended, and says so. Run by `control`.
//!
//! Dates follow by themselves, since they are read from the wall clock whenever one is needed; what the machine slept is
//! told to the clock here, so that ages count it.

use std::time::Duration;

use message::ClockReading;

/// Between two looks. After a suspension, ages lag behind for so long.
const PAUSE: Duration = Duration::from_secs(1);
/// What a look may be off by; the slow corrections of a time service are below it, too.
const UNNOTICED: Duration = Duration::from_millis(500);

/// Looks for ever.
pub(crate) async fn notice() {
    let mut before = ClockReading::take();
    loop {
        tokio::time::sleep(PAUSE).await;
        let now = ClockReading::take();
        now.make_known();
        if let Some(said) = jump(&before, &now) {
            tracing::warn!("{said}");
        }
        before = now;
    }
}

fn jump(before: &ClockReading, now: &ClockReading) -> Option<String> {
    let (set, asleep) = (now.set_since(before), now.asleep_since(before));
    let by = Duration::from_millis(set.unsigned_abs());
    if by > UNNOTICED {
        let direction = if set > 0 { "forward" } else { "back" };
        return Some(format!(
            "the wall clock was set {direction} by {by:?}: dates follow it, ages and lifetimes do not"
        ));
    }
    (asleep > UNNOTICED).then(|| format!("the machine was suspended for {asleep:?}, which counts as age"))
}

#[cfg(test)]
mod tests {
    use message::Timestamp;

    use super::*;

    #[test]
    fn jumps_are_told_and_small_corrections_are_not() {
        let seconds = Duration::from_secs;
        let start =
            ClockReading { date: Timestamp::from_secs(1_000), awake: seconds(10), passed: seconds(10) };
        let after = |date, passed| ClockReading {
            date: start.date + date,
            passed: start.passed + passed,
            awake: seconds(11),
        };
        assert_eq!(jump(&start, &after(Duration::from_millis(1_004), seconds(1))), None);
        let set = jump(&start, &after(seconds(3601), seconds(1))).unwrap();
        assert!(set.contains("set forward by 3600s"), "{set}");
        let back =
            jump(&start, &ClockReading { date: Timestamp::from_secs(901), ..after(seconds(1), seconds(1)) })
                .unwrap();
        assert!(back.contains("set back by 100s"), "{back}");
        let slept = jump(&start, &after(seconds(61), seconds(61))).unwrap();
        assert!(slept.contains("suspended for 60s"), "{slept}");
    }
}
