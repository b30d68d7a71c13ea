//! Context: what an expression may ask about.

use message::RequestView;

use crate::given::Given;

/// A request, what its route calls the parts of its path, and what is at hand beside it.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The request.
    pub request: &'a RequestView<'a>,
    /// For each segment of the route's pattern the name it gives that segment of the path: `/users/{id}` is
    /// `[None, Some("id")]`.
    pub names: &'a [Option<Box<str>>],
    /// In the order of [`Names::values`](crate::Names::values); none where an expression knows only the request.
    pub values: &'a [Given],
}

impl Context<'_> {
    /// Whether the request itself holds the value at this place.
    pub fn is_sent(&self, place: usize) -> bool {
        matches!(self.values.get(place), Some(Given::Sent(_)))
    }
}
