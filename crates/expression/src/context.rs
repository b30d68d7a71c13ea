//! Context: what an expression may ask about.

use message::{RequestView, ResponseView};

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
    /// The response, where there is one already.
    pub response: Option<&'a ResponseView<'a>>,
}

impl<'a> Context<'a> {
    /// A request, and nothing beside it.
    pub fn of_request(request: &'a RequestView<'a>, names: &'a [Option<Box<str>>]) -> Self {
        Context { request, names, values: &[], response: None }
    }

    /// Whether the request itself holds the value at this place.
    pub fn is_sent(&self, place: usize) -> bool {
        matches!(self.values.get(place), Some(Given::Sent(_)))
    }
}
