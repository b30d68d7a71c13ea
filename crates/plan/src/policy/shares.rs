//! Shares: `shares` of a limit → [`Shares`].

use crate::meant::Shares;
use crate::schema;
use crate::template::varying;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::{unit, value};

/// So many groups have names: a decision looks at each.
const MOST_GROUPS: usize = 64;

/// Reads how a limit is shared.
pub(super) fn shares(node: Node<'_>, report: &mut Report) -> Option<Shares> {
    let section = Section::open(node, &schema::SHARES, report)?;
    let by = section.need("by", report).and_then(|node| varying(node, report));
    let groups = section.need("of", report)?;
    let Shape::Map(entries) = groups.shape() else {
        report.at(
            groups,
            "`of` must be a mapping, `group: share`",
            "write it like `of: { checkout: 60%, batch: 30% }`",
        );
        return None;
    };
    if entries.is_empty() || entries.len() > MOST_GROUPS {
        report.at(
            groups,
            "a limit has 1 to 64 groups with names",
            "write the largest, and leave the rest to `others`",
        );
        return None;
    }
    let of: Vec<(String, f64)> = entries
        .into_iter()
        .filter_map(|entry| {
            Some((entry.key().to_owned(), value::parsed(entry, report, unit::some_fraction)?))
        })
        .collect();
    let mut others = (1.0 - of.iter().map(|(_, share)| share).sum::<f64>()).max(0.0);
    section.set("others", &mut others, report, |node, report| value::parsed(node, report, unit::fraction));
    if of.iter().map(|(_, share)| share).sum::<f64>() + others > 1.000_001 {
        report.at(groups, "the shares are more than 100 % together", "write smaller ones");
        return None;
    }
    Some(Shares { by: by?, of, others })
}
