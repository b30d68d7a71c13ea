//! Encoded: one compressed form of a stored answer, beside which it stands.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use rules::Encoding;

use crate::entry::stored_head;
use crate::tier::memory_account::Content;

/// One compressed form of an entry's content.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// How.
    pub encoding: Encoding,
    /// As [`Entry::head`].
    pub(crate) head: Box<[u8]>,
    pub(crate) content: Content,
}

impl Encoded {
    pub(crate) fn new(encoding: Encoding, status: StatusCode, fields: &HeaderMap, content: Content) -> Self {
        let head = stored_head::write(status, &response::encoded_fields(fields, encoding), content.len());
        Encoded { encoding, head, content }
    }

    /// The head as it goes out.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The content.
    pub fn body(&self) -> &Bytes {
        self.content.bytes()
    }
}
