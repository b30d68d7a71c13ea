//! Headers: `headers` of a policy → [`Headers`]: which fields are set, added and removed, and with what values.

use expression::{Names, Template};
use http::{HeaderName, HeaderValue};
use message::FieldPattern;
use rules::changeable::{Change, Unchangeable, Whose, unchangeable};

use crate::meant::{Field, FieldEdits, FieldText, Headers};
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::{Section, entries};
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads how fields are changed. `name` is the policy's; `location` is where this instance is.
pub(super) fn headers(name: &str, node: Node<'_>, location: &str, report: &mut Report) -> Option<Headers> {
    let section = Section::open(node, &schema::HEADERS, report)?;
    if section.is_empty() {
        report.at(node, "`headers` says nothing", format!("write it like `{}`", schema::HEADERS.example));
    }
    let mut edits = |word: &str, of| {
        section.get(word).and_then(|node| edits(node, of, location, report)).unwrap_or_default()
    };
    Some(Headers {
        name: name.to_owned(),
        request: edits("request", Whose::Request),
        response: edits("response", Whose::Response),
    })
}

fn edits(node: Node<'_>, of: Whose, location: &str, report: &mut Report) -> Option<FieldEdits> {
    let section = Section::open(node, &schema::HEADERS_FIELDS, report)?;
    if section.is_empty() {
        let example = schema::HEADERS_FIELDS.example.replacen("request", node.key(), 1);
        report.at(node, format!("{} says nothing", quoted(node.key())), format!("write it like `{example}`"));
    }
    let names = Names {
        joins_lists: true,
        knows_client: true,
        knows_response: of == Whose::Response,
        location: Some(location),
        ..Names::default()
    };
    let remove = |node: Node<'_>, report: &mut Report| value::parsed(node, report, |text| pattern(text, of));
    let mut fields =
        |word| section.get(word).map(|node| fields(node, of, &names, report)).unwrap_or_default();
    let (set, add) = (fields("set"), fields("add"));
    let remove = section.get("remove").map(|node| value::distinct(node, report, remove)).unwrap_or_default();
    Some(FieldEdits { remove, set, add })
}

/// The fields of a response that is made here.
pub(super) fn of_response(node: Node<'_>, names: &Names<'_>, report: &mut Report) -> Vec<Field> {
    fields(node, Whose::Response, &Names { joins_lists: true, ..*names }, report)
}

/// `Name: value`, or `Name: [one, another]`, which makes sense for lines that are added.
fn fields(node: Node<'_>, of: Whose, names: &Names<'_>, report: &mut Report) -> Vec<Field> {
    let mut fields = Vec::new();
    for entry in entries(node, schema::HEADERS.example, report) {
        let name = match writable(entry.key(), of) {
            Ok(name) => name,
            Err(Reason { cause, remedy }) => {
                report.at_key(entry, cause, remedy);
                continue;
            }
        };
        let is_set = node.key() == "set";
        if is_set && fields.iter().any(|field: &Field| field.name == name) {
            report.at_key(entry, format!("{} is set twice", quoted(name.as_str())), "take one out");
        }
        let lines = if is_set { vec![entry] } else { value::one_or_more(entry, report) };
        let lines = lines.into_iter().filter_map(|node| text(node, names, report));
        fields.extend(lines.map(|value| Field { name: name.clone(), value }));
    }
    fields
}

/// The value of a field: text with expressions in it.
fn text(node: Node<'_>, names: &Names<'_>, report: &mut Report) -> Option<FieldText> {
    let text = value::written(node, report)?;
    let template =
        Template::parse_in(text, names).map_err(|fault| report.because(node, fault.into())).ok()?;
    let Some(constant) = template.constant() else { return Some(FieldText::Made(template)) };
    if let Ok(value) = HeaderValue::from_str(constant) {
        return Some(FieldText::Constant(value));
    }
    let cause = "this is no value of a field: it holds line breaks or other control characters";
    report.at(node, cause, "write one line of text");
    None
}

fn writable(text: &str, of: Whose) -> Result<HeaderName, Reason> {
    without_star(text)?;
    let name = super::field::name(text, "X-Tenant")?;
    allowed(&name, of, Change::Write)?;
    Ok(name)
}

/// `X-Internal`, `X-Internal-*`.
fn pattern(text: &str, of: Whose) -> Result<FieldPattern, Reason> {
    without_star(text.strip_suffix('*').unwrap_or(text))?;
    let Some(prefix) = text.strip_suffix('*') else {
        let name = super::field::name(text, "X-Internal-*")?;
        allowed(&name, of, Change::Remove)?;
        return Ok(FieldPattern::Name(name));
    };
    match HeaderName::from_bytes(prefix.as_bytes()) {
        Ok(prefix) if prefix != "*" => Ok(FieldPattern::Prefix(prefix.as_str().into())),
        _ => Err(Reason::new(
            format!("{} would take out everything, or nothing", quoted(text)),
            "write what the names begin with, like `X-Internal-*`",
        )),
    }
}

/// A star may stand in a name (RFC 9110 §5.6.2), and nobody means that.
fn without_star(text: &str) -> Result<(), Reason> {
    if text.contains('*') {
        let cause = format!("{} has a `*` that stands for nothing", quoted(text));
        return Err(Reason::new(
            cause,
            "write a name, or in `remove` what names begin with, like `X-Internal-*`",
        ));
    }
    Ok(())
}

/// Which fields are nobody's to change here, and what to write instead.
fn allowed(name: &HeaderName, whose: Whose, change: Change) -> Result<(), Reason> {
    let Some(why) = unchangeable(name.as_str(), whose, change) else { return Ok(()) };
    let remedy = match why {
        Unchangeable::Host => "write `host: …` on the source",
        Unchangeable::Framing => "take it out: fleetfoot writes it as the message needs it",
        Unchangeable::OfTheCache => "write `cache_status: off` in `cache`",
        Unchangeable::Ours | Unchangeable::Condition => "take it out",
        Unchangeable::Claim => {
            "take it out: origins are told in `X-Forwarded-For`, `X-Real-IP` and `Forwarded`; or choose a name of your \
             own, like `X-Visitor`"
        }
    };
    Err(Reason::new(format!("{} {}", quoted(name.as_str()), why.why()), remedy))
}
