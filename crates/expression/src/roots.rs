//! Roots: the words that stand for what a request holds, and what to say of words that do not. Used by `bind`.

use crate::fault::{ExpressionFault, quoted};
use crate::functions::FUNCTIONS;
use crate::names::Named;
use crate::nearest::nearest;
use crate::reshape::RESHAPINGS;

/// What an expression may ask about, and how it is written.
pub(crate) const ROOTS: &[(&str, &str)] = &[
    ("method", "method"),
    ("scheme", "scheme"),
    ("host", "host"),
    ("url", "url"),
    ("client", "client.address"),
    ("path", "path.NAME"),
    ("query", "query.NAME"),
    ("header", "header('Name')"),
    ("cookie", "cookie.NAME"),
    ("claim", "claim('sub')"),
    ("env", "env.NAME"),
];

/// Words that are known in some places only, and where.
pub(crate) const ELSEWHERE: &[(&str, &str)] = &[
    ("body", "it is the content of a request to a route with `compose`"),
    ("item", "it is known in a step with `for`: add `for: \"${list}\"`, or take it out"),
    ("each", "write `{each}`, in a step with `each`"),
    ("failed", "it is known in the `respond` of a route"),
    ("response", "it is known in `headers.response` of a policy"),
    ("cache", "it is known in `headers.response` of a policy"),
    ("location", "it is known in `headers` of a policy"),
];

/// Functions that are read before the others: those over lists, and what is done to a value at the end.
pub(crate) const MORE: &[(&str, &str)] = &[
    ("has", "has(query.page)"),
    ("exists", "users.exists(u, u.id == 7)"),
    ("exists_one", "users.exists_one(u, u.id == 7)"),
    ("all", "users.all(u, u.active)"),
    ("map", "users.map(u, u.id)"),
    ("filter", "users.filter(u, u.active)"),
];

/// Whether a word stands for something that a request holds, so that nothing else may be called so.
pub fn is_root(name: &str) -> bool {
    ROOTS.iter().any(|(root, _)| *root == name)
}

/// A word of a request that is not used as it must be.
pub(crate) fn misused_root(root: &str) -> ExpressionFault {
    let written = ROOTS.iter().find(|(known, _)| *known == root).map_or(root, |(_, written)| written);
    ExpressionFault::new(
        format!("{} is not used so", quoted(root)),
        format!("write `{written}`, with the name written out"),
    )
}

/// Who asks, where a response is made.
pub(crate) fn client_unknown(part: &str) -> ExpressionFault {
    ExpressionFault::new(
        format!(
            "`client.{part}` is known in policies alone: what is made of it here could be given to others"
        ),
        "use it in `limit.per`, in `headers`, or in `cache.per` and `cache.key.by`",
    )
}

/// `query.all` without a name that is written out.
pub(crate) fn misused_all() -> ExpressionFault {
    ExpressionFault::new("`query.all` is not used so", "write `query.all('NAME')`, with the name written out")
}

/// `response` with something behind it that is not known, or nothing.
pub(crate) fn misused_response() -> ExpressionFault {
    ExpressionFault::new(
        "`response` is not used so",
        "write `response.status` or `response.header('Name')`, with the name written out",
    )
}

/// A word that means nothing, or not alone. `values` is what is known beside the request.
pub(crate) fn unknown_name(name: &str, values: &[Named]) -> ExpressionFault {
    if is_root(name) {
        return match name {
            "path" => ExpressionFault::new(
                "`path` alone is no value",
                "write `path.NAME` for a segment that the route names, or `url` for path and query",
            ),
            _ => misused_root(name),
        };
    }
    if let Some((_, place)) = ELSEWHERE.iter().find(|(word, _)| *word == name) {
        return ExpressionFault::new(format!("{} is not known here", quoted(name)), *place);
    }
    // What `each` makes has no name of its own.
    let named = values.iter().map(|value| &*value.name).filter(|name| !name.is_empty());
    let meant = nearest(name, ROOTS.iter().map(|(root, _)| *root).chain(named.clone()));
    let remedy = if let Some(meant) = meant.filter(|meant| named.clone().any(|name| name == *meant)) {
        format!("write `{meant}`")
    } else if let Some((_, written)) = ROOTS.iter().find(|(root, _)| Some(*root) == meant) {
        format!("write `{written}`")
    } else {
        let roots = ROOTS.iter().map(|(_, written)| *written).chain(named.take(LISTED));
        let roots: Vec<String> = roots.map(|written| format!("`{written}`")).collect();
        format!("write one of {}, or `'{name}'` for the word itself", roots.join(", "))
    };
    ExpressionFault::new(format!("{} is not known", quoted(name)), remedy)
}

/// Names of values that a message lists.
const LISTED: usize = 10;

/// A function that there is not, or not in this place.
pub(crate) fn unknown_function(name: &str) -> ExpressionFault {
    if let Some((_, example)) = RESHAPINGS.iter().find(|(known, _)| *known == name) {
        return ExpressionFault::new(
            format!("{} is done to a whole value, at the end of its expression", quoted(name)),
            format!("let it stand alone, as in `\"${{{example}}}\"`"),
        );
    }
    if let Some((_, example)) = MORE.iter().find(|(known, _)| *known == name) {
        return ExpressionFault::new(
            format!("{} is not used so", quoted(name)),
            format!("write it as in `{example}`"),
        );
    }
    if matches!(name, "len" | "length" | "count") {
        return ExpressionFault::new(
            format!("{} is no function", quoted(name)),
            "write it as in `size(users)`",
        );
    }
    let functions = FUNCTIONS.iter().map(|function| (function.name, function.example));
    let functions = functions.chain(MORE.iter().copied()).chain(RESHAPINGS.iter().copied());
    let known = || ROOTS.iter().copied().chain(functions.clone());
    let meant = nearest(name, known().map(|(known, _)| known));
    let remedy = if let Some((_, example)) = known().find(|(known, _)| Some(*known) == meant) {
        format!("write it as in `{example}`")
    } else {
        let mut names: Vec<String> = functions.map(|(name, _)| format!("`{name}`")).collect();
        names.dedup();
        format!("there are {}", names.join(", "))
    };
    ExpressionFault::new(format!("{} is no function", quoted(name)), remedy)
}
