//! Template: one node → text with expressions in it, or one expression. In comes a node, out goes what the crate
//! `expression` made of it, or `None` and a fault. Called by the checks of policies and routes.

use expression::{Expression, Fault, Names, Template};

use crate::fault::{Reason, Report, quoted};
use crate::tree::Node;
use crate::value;

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

/// One expression and nothing around it.
pub(crate) fn expression(node: Node<'_>, report: &mut Report) -> Option<Expression> {
    let text = value::written(node, report)?;
    Expression::parse_braced(text, &Names::default()).map_err(|fault| report.because(node, fault.into())).ok()
}

impl From<Fault> for Reason {
    fn from(fault: Fault) -> Self {
        Reason::new(fault.cause, fault.remedy)
    }
}
