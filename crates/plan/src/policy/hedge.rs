//! Hedge: `hedge` of a policy → [`Hedge`]: `true`, or its section.

use std::time::Duration;

use crate::meant::{Hedge, HedgeAfter};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::{unit, value};
use crate::{default, schema};

/// Reads when calls are made a second time. `name` is the policy's.
pub(super) fn hedge(name: &str, node: Node<'_>, report: &mut Report) -> Option<Hedge> {
    let after = HedgeAfter::Percentile(default::HEDGE_PERCENTILE);
    let mut hedge = Hedge { name: name.to_owned(), after, share: default::HEDGE_SHARE };
    if let Shape::Text("true") = node.shape() {
        return Some(hedge);
    }
    let section = Section::open(node, &schema::HEDGE, report)?;
    section.set("after", &mut hedge.after, report, |node, report| value::parsed(node, report, after_what));
    section.set("budget", &mut hedge.share, report, |node, report| {
        value::parsed(node, report, unit::some_fraction)
    });
    Some(hedge)
}

/// `p95`, or `200ms`.
fn after_what(text: &str) -> Result<HedgeAfter, Reason> {
    let Some(digits) = text.strip_prefix('p') else {
        return match unit::duration(text)? {
            Duration::ZERO => {
                let cause = format!("{} is no time at all", quoted(text));
                Err(Reason::new(cause, "write a duration above zero: after none, every call is made twice"))
            }
            time => Ok(HedgeAfter::Time(time)),
        };
    };
    let percent = digits.parse::<f64>().ok().filter(|percent| (50.0..100.0).contains(percent));
    let cause = || format!("{} is no percentile to hedge at", quoted(text));
    percent
        .map(|percent| HedgeAfter::Percentile(percent / 100.0))
        .ok_or_else(|| Reason::new(cause(), "write one from `p50` to `p99.9`, or a time like `200ms`"))
}
