//! Wasm: `wasm` of a policy → [`Hooks`].

use crate::known::{KnownSource, NamedSources};
use crate::meant::{Hooks, ResponseHook};
use crate::schema;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads which functions are called. `name` is the policy's. Whether the module has them, only the module knows.
pub(super) fn wasm(
    name: &str,
    node: Node<'_>,
    sources: NamedSources<'_, '_>,
    report: &mut Report,
) -> Option<Hooks> {
    let section = Section::open(node, &schema::WASM, report)?;
    let module = section.need("module", report);
    let mut function = |word| section.get(word).and_then(|node| value::text(node, report)).map(str::to_owned);
    let (request, response) = (function("request"), function("response"));
    if section.get("request").is_none() && section.get("response").is_none() && !section.has_unknown() {
        let remedy = format!("write it like `{}`", schema::WASM.example);
        report.at(node, "`wasm` does not say which function is called", remedy);
    }
    if let Some(node) = section.get("body").filter(|_| section.get("response").is_none()) {
        let cause = "`body` is for `response`: a function never sees the content of a request";
        report.at_key(node, cause, "take it out, or name a function for `response`");
    }
    let body = section.get("body").and_then(|node| value::size(node, "1B", "8MiB", report));
    let mut passes = false;
    section.set("on_error", &mut passes, report, |node, report| {
        value::choice(node, &[("fail", false), ("pass", true)], report)
    });
    let module = sources.known.find(module?, "module", KnownSource::is_module, report)?.id;
    let response = response.map(|function| ResponseHook { function, body });
    Some(Hooks { name: name.to_owned(), module, request, response, passes })
}
