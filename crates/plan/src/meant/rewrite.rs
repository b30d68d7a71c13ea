//! Rewrite: what `rewrite` of a policy means: which paths its source knows under other names.

/// What becomes of the target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The policy's name in the file.
    pub name: String,
    /// On the way down.
    pub there: rules::rewrite::Rewrite,
    /// On the way up, for paths in responses; `None`: something is lost on the way down.
    pub back: Option<rules::rewrite::Rewrite>,
    /// Takes the place of the query; `None`: that stays.
    pub query: Option<String>,
}
