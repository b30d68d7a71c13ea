//! Encoded: one compressed form of a stored answer, beside which it stands.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use rules::Encoding;

use crate::stored_head;

/// One compressed form of an entry's content.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// How.
    pub encoding: Encoding,
    /// As [`Entry::head`].
    pub(crate) head: Box<[u8]>,
    /// The content.
    pub body: Bytes,
}

impl Encoded {
    pub(crate) fn new(encoding: Encoding, status: StatusCode, fields: &HeaderMap, body: Bytes) -> Self {
        let head = stored_head::write(status, &response::encoded_fields(fields, encoding), body.len());
        Encoded { encoding, head, body }
    }

    /// The head as it goes out.
    pub fn head(&self) -> &[u8] {
        &self.head
    }
}
