//! Names: what is known where an expression stands. Given by `plan`; read by `bind`.

use crate::kind::ValueKind;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'k> {
    /// What the route calls the segments of its path; `None` where no route is known, so that any name will do.
    pub segments: Option<&'k [&'k str]>,
    /// What is at hand beside the request, in the order of [`Context::values`](crate::Context::values).
    pub values: &'k [Named],
    /// Whether a list within a text is written with commas between its values. Never where a key is made: two lists
    /// could become one text.
    pub joins_lists: bool,
    /// Whether who asks is known: not where a response is made, which others may get.
    pub knows_client: bool,
    /// Whether there is a response: `response.status`, `response.header('Name')` and `cache` are known then.
    pub knows_response: bool,
    /// What `location` is, where that is known: where this instance is.
    pub location: Option<&'k str>,
}

/// A value beside the request: what a step gave, the content of the request, an item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What it is called.
    pub name: Box<str>,
    /// What it is, as far as that is known before there is a request.
    pub kind: ValueKind,
    /// Parts of it that are values by themselves, with their places: what is named in here is read there.
    pub parts: Parts,
}

/// Parts of a value that have places of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Parts {
    /// None has.
    #[default]
    None,
    /// The items of a list, at places one behind the other.
    Items {
        /// The place of the first.
        first: usize,
        /// How many there are, and no more.
        count: usize,
    },
    /// The members of a map, at places one behind the other.
    Members {
        /// The place of the first.
        first: usize,
        /// What they are called, all of them.
        names: Vec<Box<str>>,
    },
}

impl Named {
    /// A value of any kind.
    pub fn any(name: impl Into<Box<str>>) -> Self {
        Named { name: name.into(), kind: ValueKind::Any, parts: Parts::None }
    }
}

impl<'k> Names<'k> {
    /// Only the request and its segments.
    pub(crate) fn of_segments(segments: Option<&'k [&'k str]>) -> Self {
        Names { segments, knows_client: true, ..Names::default() }
    }

    /// The value of that name and its place. Of several the last: what stands inside hides what stands outside.
    pub(crate) fn value(&self, name: &str) -> Option<(usize, &Named)> {
        self.values.iter().enumerate().rfind(|(_, known)| &*known.name == name)
    }
}
