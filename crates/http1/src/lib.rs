//! The strict HTTP/1.1 codec both ends share (RFC 9112): bytes → heads and content, heads and content → bytes.
//!
//! No I/O and no clock in here. `listener` parses requests and writes responses with it, `source` the other way
//! round. Strict means: a message that two readers could understand in two ways is refused, never repaired, so that
//! nothing can be smuggled through us in either direction.

mod authority;
mod chunk;
mod decoder;
mod encoder;
mod framing;
mod head;
mod request;
mod response;
mod trailers;
mod write;

pub use authority::{is_authority, normalize_authority};
pub use decoder::{Decoded, Decoder};
pub use encoder::Encoder;
pub use framing::Framing;
pub use head::{HeadLimits, Lines, MAX_LINES, head_may_be_complete, new_lines, to_header_map};
pub use request::{RequestHead, TargetForm, parse_request};
pub use response::{ResponseHead, parse_response};
pub use write::{write_field, write_fields, write_request_head, write_status_line};
