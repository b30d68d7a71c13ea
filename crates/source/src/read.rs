//! Reads: one command of a Redis or a store as an answer. In: a request on a `read` route. Out: a response, at once
//! where the value is at hand.
//!
//! `asked` (method, arguments, `range`) → a Redis (`redis`) or a file (`store`), which give a `Found` → `form` (`json`)
//! → `Rendered`, or `Nothing` where there is nothing → bytes or a response.

mod answered;
mod asked;
mod call;
mod form;
mod found;
mod json;
mod line;
mod nothing;
mod pipeline;
mod range;
mod rendered;

pub use answered::{AnsweredRead, FreshRead};
pub use asked::Scratch as ReadScratch;
pub use call::{Explained, ReadSource};
pub use line::{ReadAsked, ReadLine, ReadValue};
pub use pipeline::Pipelines;

pub(crate) use asked::{Scratch, whole};
pub(crate) use found::{Found, number};
pub(crate) use range::{By, Range};
pub(crate) use rendered::Rendered;
