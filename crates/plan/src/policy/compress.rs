//! Compress: the section `compress` of a cache → [`Compress`].

use rules::Encoding;

use crate::meant::Compress;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema};

/// Reads `true`, `false`, or the section. `None`: nothing is compressed, or a fault.
pub(super) fn compress(node: Node<'_>, report: &mut Report) -> Option<Compress> {
    if let Shape::Text(_) = node.shape() {
        return value::switch(node, report)?.then(default::compress);
    }
    let mut compress = default::compress();
    let section = Section::open(node, &schema::COMPRESS, report)?;
    section.set("encodings", &mut compress.encodings, report, |node, report| {
        Some(value::distinct(node, report, |node, report| {
            let words = [("zstd", Encoding::Zstd), ("br", Encoding::Brotli), ("gzip", Encoding::Gzip)];
            value::choice(node, &words, report)
        }))
    });
    section.set("types", &mut compress.types, report, |node, report| {
        Some(value::distinct(node, report, |node, report| value::parsed(node, report, content_type)))
    });
    section.set("least", &mut compress.least, report, |node, report| value::size(node, "0B", "1GiB", report));
    Some(compress)
}

/// `text/html`, `text/*`.
fn content_type(text: &str) -> Result<String, Reason> {
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    let is_token = |part: &str| http::HeaderName::from_bytes(part.as_bytes()).is_ok();
    let bare = text.split(';').next().unwrap_or(text).trim();
    match bare.split_once('/') {
        Some(("*", _)) => {
            wrong("takes everything", "name the types that get smaller, like `text/*`".to_owned())
        }
        Some((kind, "*")) if is_token(kind) && !kind.contains('*') && bare == text => {
            Ok(text.to_ascii_lowercase())
        }
        Some((kind, form)) if is_token(kind) && is_token(form) && !bare.contains('*') && bare == text => {
            Ok(text.to_ascii_lowercase())
        }
        Some(_) if bare != text => {
            wrong("has a parameter", format!("write {}: it takes all of them", quoted(bare)))
        }
        _ => wrong("is not a content type", "write one like `application/json` or `text/*`".to_owned()),
    }
}
