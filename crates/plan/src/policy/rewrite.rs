//! Rewrite: `rewrite` of a policy → [`Rewrite`]: `{ prefix: /api/v1, to: /v1 }`, or `{ path: "/users/{id}/**", to: "/u/{id}/**" }`.

use rules::rewrite::{Piece, Rewrite as Paths};

use crate::meant::{Pattern, Rewrite, Segment};
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads what becomes of a path. `name` is the policy's.
pub(super) fn rewrite(name: &str, node: Node<'_>, report: &mut Report) -> Option<Rewrite> {
    let section = Section::open(node, &schema::REWRITE, report)?;
    let (is_prefix, from) = match (section.get("prefix"), section.get("path")) {
        (Some(prefix), None) => (true, prefix),
        (None, Some(path)) => (false, path),
        (Some(_), Some(path)) => {
            report.at_key(path, "`prefix` and `path` stand in one `rewrite`", "take one of them out");
            return None;
        }
        (None, None) => {
            if !section.has_unknown() {
                let remedy = format!("write it like `{}`", schema::REWRITE.example);
                report.at(node, "`rewrite` does not say which paths are meant", remedy);
            }
            return None;
        }
    };
    let (known, from) = value::parsed(from, report, |text| {
        let segments = segments(text, is_prefix)?;
        let pieces = pieces(&segments, &segments, text)?;
        Ok((segments, pieces))
    })?;
    let (to, query) = value::parsed(section.need("to", report)?, report, |text| {
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(self::query(query)?)),
            None => (text, None),
        };
        if path.starts_with("//") {
            let cause = format!("{} begins with a host that nobody sees", quoted(path));
            return Err(Reason::new(cause, "begin it with a single slash"));
        }
        Ok((pieces(&segments(path, is_prefix)?, &known, path)?, query))
    })?;
    let there = Paths::new(from, to);
    Some(Rewrite { name: name.to_owned(), back: there.back(), there, query })
}

/// The segments of a path; of a prefix with whatever follows.
fn segments(text: &str, is_prefix: bool) -> Result<Vec<Segment>, Reason> {
    if !text.starts_with('/') {
        let cause = format!("{} is not a path", quoted(text));
        return Err(Reason::new(cause, "begin it with a slash, without method and host"));
    }
    if !is_prefix {
        return Ok(text.parse::<Pattern>()?.path);
    }
    let trimmed = text.trim_end_matches('/');
    let mut segments = if trimmed.is_empty() { Vec::new() } else { trimmed.parse::<Pattern>()?.path };
    if !segments.iter().all(|segment| matches!(segment, Segment::Literal(_))) {
        return Err(Reason::new(
            format!("{} has placeholders, and a prefix is written out", quoted(text)),
            "write `path` instead of `prefix`, with `**` at the end",
        ));
    }
    segments.push(Segment::Rest);
    Ok(segments)
}

/// As pieces, each placeholder with the number that it has in `known`.
fn pieces(segments: &[Segment], known: &[Segment], text: &str) -> Result<Vec<Piece>, Reason> {
    let piece = |segment: &Segment| match segment {
        Segment::Literal(literal) => Ok(Piece::Literal(literal.clone())),
        Segment::One(Some(_)) | Segment::Rest => {
            let at = known.iter().position(|known| known == segment);
            at.map(|at| if *segment == Segment::Rest { Piece::Rest } else { Piece::One(at) }).ok_or_else(
                || {
                    Reason::new(
                        format!("{} holds a placeholder that `path` does not", quoted(text)),
                        "write only placeholders of `path`",
                    )
                },
            )
        }
        Segment::One(None) => Err(Reason::new(
            "`*` does not say which segment is meant".to_owned(),
            "give it a name in both, like `{id}`",
        )),
    };
    segments.iter().map(piece).collect()
}

fn query(text: &str) -> Result<String, Reason> {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'<' | b'>' | b'{' | b'}');
    if text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err(Reason::new(
        format!("{} is not a query that is written out", quoted(text)),
        "write parameters like `v=1`, percent-encoded and without placeholders; or leave it out: the query stays as it is",
    ))
}
