//! Growth: how fast a limit rises after it was cut. In: calls that have succeeded while it was in use. Out: by how much it may
//! rise for each. Used by `adaptive`.
//!
//! As CUBIC (RFC 9438, section 4.2): soon back to where there was trouble, hardly at all around it, and ever faster beyond,
//! since what was in the way is gone. Counted in calls where CUBIC counts seconds, so that one try beyond the ceiling is one
//! in many calls also where they are few.

/// From a cut to the ceiling: so many calls, or so many round trips where that is more.
const CALLS: f64 = 600.0;
const ROUND_TRIPS: f64 = 20.0;
/// In as long again, it is as far beyond as it was below, or so far where that is more: of two small limits on one server, both
/// grow by the same there, but the larger falls by more, so they become equal.
const BEYOND: f64 = 2.0;
/// Where nothing has been in the way yet, or no longer is: doubles in some three round trips.
const FASTEST: f64 = 0.25;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Growth(Option<Curve>);

/// `ceiling + depth * (calls / span - 1)³`.
#[derive(Debug)]
struct Curve {
    ceiling: f64,
    depth: f64,
    span: f64,
    calls: f64,
}

impl Growth {
    /// The limit was cut to this; there was trouble at the ceiling.
    pub(super) fn after_cut(limit: f64, ceiling: f64) -> Self {
        let depth = (ceiling - limit).max(0.0);
        let ceiling = limit + depth;
        Growth(Some(Curve { ceiling, depth, span: CALLS.max(ROUND_TRIPS * ceiling), calls: 0.0 }))
    }

    /// For one more call.
    pub(super) fn step(&mut self) -> f64 {
        let Some(curve) = &mut self.0 else { return FASTEST };
        let before = curve.limit();
        curve.calls += 1.0;
        (curve.limit() - before).min(FASTEST)
    }
}

impl Curve {
    fn limit(&self) -> f64 {
        let way = self.calls / self.span - 1.0;
        let height = if way < 0.0 { self.depth } else { self.depth.max(BEYOND) };
        self.ceiling + height * way.powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit after so many calls, from a cut to 70 at 100.
    fn limit_after(calls: usize) -> u32 {
        let mut growth = Growth::after_cut(70.0, 100.0);
        let grown: f64 = (0..calls).map(|_| growth.step()).sum();
        (70.0 + grown).round() as u32
    }

    #[test]
    fn it_is_soon_back_lingers_at_the_ceiling_and_leaves_it_behind() {
        assert_eq!([500, 1000, 1500].map(limit_after), [87, 96, 100]);
        assert_eq!([2000, 2500].map(limit_after), [100, 100]);
        assert_eq!([3000, 4000, 6000, 12_000].map(limit_after), [104, 130, 340, 1814]);
    }

    #[test]
    fn at_the_least_it_grows_too() {
        let mut growth = Growth::after_cut(1.0, 0.7);
        let grown: f64 = (0..1200).map(|_| growth.step()).sum();
        assert!(grown > 1.0, "{grown}");
    }
}
