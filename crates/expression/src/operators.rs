//! Operators: what `==`, `+`, `&&` and their like give for two kinds, and why not. Called by `bind` for every operator.
//!
//! The interpreter finds out only with a request, and then nothing holds: `query.page == 1` would never be true, and
//! nobody would know.

use cel::common::ast::operators;

use crate::fault::ExpressionFault;
use crate::kind::ValueKind;

/// How an operator with two sides is written.
pub(crate) fn operator(name: &str) -> Option<&'static str> {
    Some(match name {
        operators::LOGICAL_AND => "&&",
        operators::LOGICAL_OR => "||",
        operators::EQUALS => "==",
        operators::NOT_EQUALS => "!=",
        operators::LESS => "<",
        operators::LESS_EQUALS => "<=",
        operators::GREATER => ">",
        operators::GREATER_EQUALS => ">=",
        operators::ADD => "+",
        operators::SUBSTRACT => "-",
        operators::MULTIPLY => "*",
        operators::DIVIDE => "/",
        operators::MODULO => "%",
        operators::INDEX => "[…]",
        operators::IN => "in",
        _ => return None,
    })
}

/// What an operator with two sides gives.
pub(crate) fn binary(
    name: &str,
    written: &str,
    one: ValueKind,
    two: ValueKind,
) -> Result<ValueKind, ExpressionFault> {
    match name {
        operators::LOGICAL_AND | operators::LOGICAL_OR => truth(written, &[one, two]),
        operators::EQUALS | operators::NOT_EQUALS if one.comparable(two) => Ok(ValueKind::Truth),
        operators::EQUALS | operators::NOT_EQUALS => Err(unequal(written, one, two)),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            ordered(written, one, two)
        }
        operators::INDEX => match one {
            ValueKind::List | ValueKind::Map | ValueKind::Any => Ok(ValueKind::Any),
            _ => Err(ExpressionFault::new(
                format!("`[…]` takes something out of a list or a map, not out of {}", one.name()),
                "write `substring(0, 1)` for a part of a text",
            )),
        },
        operators::IN => match two {
            ValueKind::List | ValueKind::Map | ValueKind::Any => Ok(ValueKind::Truth),
            _ => Err(ExpressionFault::new(
                format!("`in` looks into a list or a map, not into {}", two.name()),
                "write it as in `host in ['a.example', 'b.example']`, or `contains` for a part of a text",
            )),
        },
        operators::ADD if one == ValueKind::Any || two == ValueKind::Any => Ok(ValueKind::Any),
        operators::ADD if one == two && matches!(one, ValueKind::List | ValueKind::Text) => Ok(one),
        operators::ADD if one == ValueKind::Text || two == ValueKind::Text => Err(ExpressionFault::new(
            format!("`+` does not join {} and {}", one.name(), two.name()),
            "write `string(…)` around what is no text",
        )),
        _ => arithmetic(written, one, two),
    }
}

/// What `&&`, `||`, `!` and the condition of `? :` need and give.
pub(crate) fn truth(written: &str, kinds: &[ValueKind]) -> Result<ValueKind, ExpressionFault> {
    match kinds.iter().find(|kind| !kind.may_be(ValueKind::Truth)) {
        None => Ok(ValueKind::Truth),
        Some(kind) => Err(ExpressionFault::new(
            format!("`{written}` needs true or false and gets {}", kind.name()),
            if kind.is_number() {
                "compare it, as in `size(url) > 100`"
            } else {
                "compare it, as in `header('X-User') != null`"
            },
        )),
    }
}

fn unequal(written: &str, one: ValueKind, two: ValueKind) -> ExpressionFault {
    let remedy = match (one, two) {
        (ValueKind::Text, other) | (other, ValueKind::Text) if other.is_number() => {
            "write the number as a text, `'1'`, or make one of the text, `int(query.page)`"
        }
        (ValueKind::Text, ValueKind::Truth) | (ValueKind::Truth, ValueKind::Text) => {
            "write `'true'`: a request holds texts"
        }
        _ => "compare things of one kind",
    };
    ExpressionFault::new(
        format!("`{written}` compares {} with {}, which are never equal", one.name(), two.name()),
        remedy,
    )
}

fn ordered(written: &str, one: ValueKind, two: ValueKind) -> Result<ValueKind, ExpressionFault> {
    let orderable = |kind: ValueKind| kind == ValueKind::Any || kind == ValueKind::Text || kind.is_number();
    if orderable(one) && orderable(two) && (two == ValueKind::Any || one.may_be(two)) {
        return Ok(ValueKind::Truth);
    }
    Err(ExpressionFault::new(
        format!("`{written}` cannot order {} and {}", one.name(), two.name()),
        "write it as in `int(query.page) > 3`",
    ))
}

/// What the operators on numbers give.
pub(crate) fn arithmetic(
    written: &str,
    one: ValueKind,
    two: ValueKind,
) -> Result<ValueKind, ExpressionFault> {
    match (one, two) {
        (one, two) if one == two && one.is_number() => Ok(one),
        (ValueKind::Any, other) | (other, ValueKind::Any) if other == ValueKind::Any || other.is_number() => {
            Ok(other)
        }
        (one, two) if one.is_number() && two.is_number() => Err(ExpressionFault::new(
            format!("`{written}` takes numbers of one kind: whole, whole and marked `u`, or with a fraction"),
            "write `int(…)` or `double(…)` around one of them",
        )),
        _ => {
            let wrong = if one.is_number() { two } else { one };
            Err(ExpressionFault::new(
                format!("`{written}` needs numbers and gets {}", wrong.name()),
                "write it as in `int(query.page) + 1`",
            ))
        }
    }
}
