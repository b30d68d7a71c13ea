//! Undone: what one policy has a call carry and another takes off again, or writes for nothing. In come the layers of one `use`; called by
//! `uses`. Inside one policy credentials stand behind whatever changes a request, so nothing there takes them off.

use http::HeaderName;
use message::FieldPattern;
use rules::alike;

use super::{Credential, FieldEdits, Layer, Layers};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone<'p> {
    /// This policy changes a field that the credentials outside of it have written.
    Field(&'p str, &'p HeaderName),
    /// This policy asks for a query of its own, in place of the one that the credentials outside of it have completed.
    Query(&'p str),
    /// This policy writes a field that the credentials inside of it replace.
    Replaced(&'p str, &'p HeaderName),
}

impl Layers {
    /// The first that is undone.
    pub fn undone(&self) -> Option<Undone<'_>> {
        let found = self.iter().enumerate().find_map(|(at, layer)| Some((at, carried(layer)?)));
        let (at, carried) = found?;
        let fields = || carried.iter().flat_map(|credential| credential.fields());
        self.iter().enumerate().find_map(|(place, layer)| match layer {
            Layer::Headers(headers) if place > at => {
                let field = fields().find(|field| changes(&headers.request, field))?;
                Some(Undone::Field(&headers.name, field))
            }
            Layer::Headers(headers) => {
                let field = fields().find(|field| writes(&headers.request, field))?;
                Some(Undone::Replaced(&headers.name, field))
            }
            Layer::Rewrite(rewrite) if place > at && rewrite.query.is_some() => {
                let is_query = |credential: &&Credential| matches!(credential, Credential::Query(_));
                carried.iter().any(is_query).then_some(Undone::Query(&rewrite.name))
            }
            _ => None,
        })
    }
}

/// What a layer has calls carry: one credential, or that of an account; `None`: nothing.
fn carried(layer: &Layer) -> Option<Vec<&Credential>> {
    match layer {
        Layer::Credentials(of) => Some(vec![&of.credential]),
        Layer::Accounts(of) => Some(of.accounts.iter().map(|account| &account.credential).collect()),
        _ => None,
    }
}

/// Whether a field is written, in a spelling that some servers take for it.
fn writes(edits: &FieldEdits, field: &HeaderName) -> bool {
    edits.fields().any(|written| alike::field(written.name.as_str().as_bytes(), field.as_str()))
}

/// The same, or taken out.
fn changes(edits: &FieldEdits, field: &HeaderName) -> bool {
    let name = field.as_str().as_bytes();
    let takes = |pattern: &FieldPattern| match pattern {
        FieldPattern::Name(wanted) => alike::field(name, wanted.as_str()),
        FieldPattern::Prefix(prefix) => {
            name.get(..prefix.len()).is_some_and(|begins| alike::field(begins, prefix))
        }
    };
    edits.remove.iter().any(takes) || writes(edits, field)
}
