//! Template: one node → text with expressions in it, or one expression. In comes a node, out goes what the crate
//! `expression` made of it, or `None` and a fault. Called by the checks of policies and routes.

use expression::{Expression, ExpressionFault, Named, Names, Template};

use crate::routes::compose::CONTENT;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Text with any number of expressions. `names` are what the route calls the segments of its path; `None` where any
/// route may use it.
pub(crate) fn template(node: Node<'_>, names: Option<&[&str]>, report: &mut Report) -> Option<Template> {
    let text = value::written(node, report)?;
    Template::parse(text, names).map_err(|fault| report.because(node, fault.into())).ok()
}

/// Text that differs from request to request.
pub(crate) fn varying(node: Node<'_>, report: &mut Report) -> Option<Template> {
    let template = template(node, None, report)?;
    if template.constant().is_some() {
        let cause = format!("{} is the same for every request", quoted(template.text()));
        report.at(node, cause, "write an expression, like `\"${header('X-User')}\"`");
        return None;
    }
    Some(template)
}

/// One expression and nothing around it, which may ask about the content of a request.
pub(crate) fn condition(node: Node<'_>, report: &mut Report) -> Option<Expression> {
    let text = value::written(node, report)?;
    let values = [Named::any(CONTENT)];
    let names = Names { values: &values, knows_client: true, ..Names::default() };
    Expression::parse_braced(text, &names).map_err(|fault| report.because(node, fault.into())).ok()
}

/// One expression and nothing around it, which may ask about the head of a request.
pub(crate) fn of_request(node: Node<'_>, report: &mut Report) -> Option<Expression> {
    let text = value::written(node, report)?;
    let names = Names { knows_client: true, ..Names::default() };
    Expression::parse_braced(text, &names).map_err(|fault| report.because(node, fault.into())).ok()
}

/// What stands outside of expressions.
pub(crate) fn literals(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        rest = crate::routes::read::expression_end(&rest[at..]).map_or("", |end| &rest[at + end..]);
    }
    out + rest
}

/// Whether what stands outside of expressions may stand in a URL (RFC 3986 §2), and is none of these characters besides.
///
/// # Errors
/// It may not.
pub(crate) fn of_url(text: &str, but: &[u8]) -> Result<(), Reason> {
    let fits = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) && !but.contains(&byte);
    if literals(text).bytes().all(fits) {
        return Ok(());
    }
    Err(Reason::new(
        format!("{} has a character that does not stand in a URL", quoted(text)),
        "write it percent-encoded, as a space is `%20`",
    ))
}

impl From<ExpressionFault> for Reason {
    fn from(fault: ExpressionFault) -> Self {
        Reason::new(fault.cause, fault.remedy)
    }
}
