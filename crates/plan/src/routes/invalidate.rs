//! Invalidate: what a route's successful writes make the cache forget. In comes the value of `invalidate`, out go the
//! rules. Called by `routes`.

use expression::Template;

use crate::meant::{Invalidate, InvalidateTarget, Pattern};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{schema, template};

/// Methods that change nothing, and so make nothing out of date.
const SAFE: [&str; 5] = ["GET", "HEAD", "QUERY", "OPTIONS", "TRACE"];

/// Bytes of a tag.
const LONGEST_TAG: usize = 256;

/// Reads the rules of a route. `pattern` is missing where it has a fault of its own.
pub(crate) fn invalidate(node: Node<'_>, pattern: Option<&Pattern>, report: &mut Report) -> Vec<Invalidate> {
    if let Some(method) = pattern.and_then(|pattern| pattern.method.as_ref())
        && SAFE.contains(&method.as_str())
    {
        report.at_key(
            node,
            format!("{method} changes nothing, so nothing is out of date after it"),
            "write it on the route that writes, like `match: PUT /users/{id}`",
        );
    }
    let names = pattern.map(Pattern::names);
    value::distinct(node, report, |node, report| rule(node, names.as_deref(), report))
}

fn rule(node: Node<'_>, names: Option<&[&str]>, report: &mut Report) -> Option<Invalidate> {
    let section = Section::open(node, &schema::INVALIDATE, report)?;
    let mut soft = false;
    section.set("soft", &mut soft, report, value::switch);
    let targets: Vec<Node<'_>> =
        ["url", "prefix", "tag"].into_iter().filter_map(|word| section.get(word)).collect();
    let [target] = targets[..] else {
        if targets.len() > 1 {
            report.at(
                node,
                "one rule names several things to forget",
                "write a rule for each: `[{ url: … }, { tag: … }]`",
            );
        } else if !section.has_unknown() {
            report.at(node, "the rule names nothing to forget", "add one of `url`, `prefix` and `tag`");
        }
        return None;
    };
    let written = value::written(target, report)?;
    let template = template::template(target, names, report)?;
    let target = match target.key() {
        "tag" => InvalidateTarget::Tag(tag(target, written, template, report)?),
        "prefix" => InvalidateTarget::Prefix(path(target, written, template, report)?),
        _ => InvalidateTarget::Url(path(target, written, template, report)?),
    };
    Some(Invalidate { target, soft })
}

/// A path; where an expression begins it, only the request will tell.
fn path(node: Node<'_>, written: &str, template: Template, report: &mut Report) -> Option<Template> {
    let literal = written.split("${").next().unwrap_or(written);
    if let Some((_, behind)) = literal.split_once("://") {
        let path = behind.find('/').map_or("/", |slash| &behind[slash..]);
        report.at(
            node,
            format!("{} names a host", quoted(written)),
            format!("write the path alone, {}: the host is that of the request", quoted(path)),
        );
        return None;
    }
    if !literal.starts_with('/') && (!literal.is_empty() || written.is_empty()) {
        let like = if written.is_empty() { "/feeds/".to_owned() } else { format!("/{written}") };
        report.at(
            node,
            format!("{} does not begin with a slash", quoted(written)),
            format!("write {}", quoted(&like)),
        );
        return None;
    }
    if let Some(odd) = literal.chars().find(|c| !c.is_ascii_graphic() || *c == '#' || *c == '\\') {
        report.at(
            node,
            format!("{} has {}, which stands in no request", quoted(written), quoted(&odd.to_string())),
            "write it percent-encoded: a space is `%20`",
        );
        return None;
    }
    if let Some(star) = literal.find('*') {
        report.at(
            node,
            format!("{} has a `*`, which is only a character here", quoted(written)),
            format!("write a prefix: `prefix: {}`", &literal[..star]),
        );
        return None;
    }
    Some(template)
}

fn tag(node: Node<'_>, written: &str, template: Template, report: &mut Report) -> Option<Template> {
    let literal = written.split("${").next().unwrap_or(written);
    let remedy = if written.is_empty() {
        "write the tag, like `user-${path.id}`"
    } else if literal.contains([',', ' ']) {
        "write a rule for each tag: commas and spaces separate tags"
    } else if literal.len() > LONGEST_TAG || !literal.bytes().all(|byte| byte.is_ascii_graphic()) {
        "write at most 256 visible ASCII characters"
    } else {
        return Some(template);
    };
    report.at(node, format!("{} is not a tag", quoted(written)), remedy);
    None
}
