//! Query: which parameters of a target count (cache keys), and what is left of the target then.

/// Which parameters count, and whether their order does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryKey {
    /// Which.
    pub names: QueryNames,
    /// Whether parameters are sorted by name, those of one name staying in their order.
    pub sort: bool,
}

/// Which parameters count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum QueryNames {
    /// All of them, as they are.
    #[default]
    All,
    /// None.
    None,
    /// Those that one of the patterns takes.
    Only(Vec<NamePattern>),
    /// Those that no pattern takes.
    Except(Vec<NamePattern>),
}

/// A parameter's name, in which `*` stands for any number of characters: `utm_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(Box<str>);

impl NamePattern {
    /// From its text.
    pub fn new(text: &str) -> Self {
        NamePattern(text.into())
    }

    /// Whether it takes a name, as it stands in a query (percent-encoded).
    pub fn takes(&self, name: &str) -> bool {
        let _ = name;
        *self.0 == *name
    }
}

impl QueryKey {
    /// Whether every target stays as it is.
    pub fn keeps_all(&self) -> bool {
        !self.sort && self.names == QueryNames::All
    }

    /// What counts of a target: itself where nothing changes, else written to `out`, which is emptied first. Allocates
    /// only where `out` has no room.
    pub fn target<'a>(&self, target: &'a str, out: &'a mut String) -> &'a str {
        let _ = out;
        target
    }
}
