//! Context: what an expression may ask about.

use message::RequestView;

/// A request, and what its route calls the parts of its path.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The request.
    pub request: &'a RequestView<'a>,
    /// For each segment of the route's pattern the name it gives that segment of the path: `/users/{id}` is
    /// `[None, Some("id")]`.
    pub names: &'a [Option<Box<str>>],
}
