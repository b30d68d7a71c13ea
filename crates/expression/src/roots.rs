//! Roots: the words that stand for what a request holds, and what to say of words that do not. Used by `bind`.

use crate::fault::{Fault, quoted};
use crate::functions::FUNCTIONS;
use crate::nearest::nearest;

/// What an expression may ask about, and how it is written.
pub(crate) const ROOTS: &[(&str, &str)] = &[
    ("method", "method"),
    ("scheme", "scheme"),
    ("host", "host"),
    ("url", "url"),
    ("path", "path.NAME"),
    ("query", "query.NAME"),
    ("header", "header('Name')"),
    ("cookie", "cookie.NAME"),
    ("claim", "claim('sub')"),
    ("env", "env.NAME"),
];

/// Whether the word is one of them.
pub(crate) fn is_root(name: &str) -> bool {
    ROOTS.iter().any(|(root, _)| *root == name)
}

/// A word of a request that is not used as it must be.
pub(crate) fn misused_root(root: &str) -> Fault {
    let written = ROOTS.iter().find(|(known, _)| *known == root).map_or(root, |(_, written)| written);
    Fault::new(
        format!("{} is not used so", quoted(root)),
        format!("write `{written}`, with the name written out"),
    )
}

/// A word that means nothing, or not alone.
pub(crate) fn unknown_name(name: &str) -> Fault {
    if is_root(name) {
        return match name {
            "path" => Fault::new(
                "`path` alone is no value",
                "write `path.NAME` for a segment that the route names, or `url` for path and query",
            ),
            _ => misused_root(name),
        };
    }
    let meant = nearest(name, ROOTS.iter().map(|(root, _)| *root));
    let remedy = if let Some((_, written)) = ROOTS.iter().find(|(root, _)| Some(*root) == meant) {
        format!("write `{written}`")
    } else {
        let roots: Vec<String> = ROOTS.iter().map(|(_, written)| format!("`{written}`")).collect();
        format!("write one of {}, or `'{name}'` for the word itself", roots.join(", "))
    };
    Fault::new(format!("{} is not known", quoted(name)), remedy)
}

/// A function that there is not.
pub(crate) fn unknown_function(name: &str) -> Fault {
    let functions = FUNCTIONS.iter().map(|function| (function.name, function.example));
    let known = || ROOTS.iter().copied().chain(functions.clone());
    let meant = nearest(name, known().map(|(known, _)| known));
    let remedy = if let Some((_, example)) = known().find(|(known, _)| Some(*known) == meant) {
        format!("write it as in `{example}`")
    } else {
        let mut names: Vec<String> = functions.map(|(name, _)| format!("`{name}`")).collect();
        names.dedup();
        format!("there are {}", names.join(", "))
    };
    Fault::new(format!("{} is no function", quoted(name)), remedy)
}
