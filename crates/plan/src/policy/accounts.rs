//! Accounts: `accounts` of a policy → [`Accounts`]: a list to rotate through, or one with weights.

use std::path::Path;
use std::time::Duration;

use super::credentials::{credential, open};
use crate::meant::{Account, Accounts};
use crate::schema;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::{NAMES, is_name};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Accounts of one policy: each call looks at all of them.
const MOST: usize = 100;

/// How long one that is throttled rests at most.
const REST: Duration = Duration::from_mins(1);

/// Reads the accounts. `name` is the policy's.
pub(super) fn accounts(name: &str, node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Accounts> {
    let section = open(node, &schema::ACCOUNTS, report)?;
    let mut rest = REST;
    section.set("rest", &mut rest, report, value::timeout);
    let list = match (section.get("rotate"), section.get("weights")) {
        (Some(_), Some(weights)) => {
            report.at_key(weights, "`rotate` and `weights` are two ways to choose", "take one of them out");
            return None;
        }
        (None, None) => section.need("rotate", report)?,
        (list, weights) => list.or(weights)?,
    };
    let items = match list.shape() {
        Shape::List(items) if (1..=MOST).contains(&items.len()) => items,
        shape => {
            if !matches!(shape, Shape::List(_)) {
                report.secret(list.place());
            }
            let cause = format!("{} must be a list of accounts, at most {MOST}", quoted(list.key()));
            report.at_key(list, cause, format!("write it like `{}`", schema::ACCOUNTS.example));
            return None;
        }
    };
    let mut accounts: Vec<Account> = Vec::new();
    let count = items.len();
    for (index, item) in items.into_iter().enumerate() {
        let Some(account) = account(name, item, index, list.key(), folder, report) else { continue };
        if let Some(other) = accounts.iter().find(|other| other.name == account.name) {
            report.at(
                item,
                format!("two accounts are called {}", quoted(&other.name)),
                "give each its own name",
            );
        } else if let Some(other) = accounts.iter().find(|other| other.credential == account.credential) {
            let cause = format!("{} and {} are the same account", quoted(&other.name), quoted(&account.name));
            report.at(item, cause, "take one out");
        }
        accounts.push(account);
    }
    (accounts.len() == count).then(|| Accounts { name: name.to_owned(), accounts, rest })
}

fn account(
    policy: &str,
    node: Node<'_>,
    index: usize,
    list: &str,
    folder: &Path,
    report: &mut Report,
) -> Option<Account> {
    let section = open(node, &schema::ACCOUNT, report)?;
    let mut name = (index + 1).to_string();
    section.set("name", &mut name, report, |node, report| {
        let text = value::text(node, report)?;
        if !is_name(text) {
            report.at(node, format!("{} is not a name", quoted(text)), NAMES);
        }
        Some(text.to_owned())
    });
    let mut weight = 1;
    section.set("weight", &mut weight, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as u32)
    });
    if let Some(node) = section.get("weight").filter(|_| list == "rotate") {
        report.at_key(
            node,
            "`weight` is for `weights`",
            "write `weights: [ … ]` in place of `rotate`, or take it out",
        );
    }
    let credential = credential(policy, node, &section, folder, report)?;
    Some(Account { name: name.into(), weight, credential })
}
