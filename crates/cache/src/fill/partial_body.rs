//! PartialBody: a 206's content on its way to the client, kept when it has arrived in full.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use message::{Body, Error, Request};
use plan::CachePolicy;

use crate::entry::Draft;
use crate::entry::draft::Drafting;
use crate::entry::part::{Joined, Part};
use crate::key::Key;
use crate::store::{EntryOrPart, Store};
use crate::tier::block::Block;
use crate::tier::memory_account::Hold;

/// What keeping a part takes besides its content.
pub(crate) struct KeptPart {
    pub(crate) store: Arc<Store>,
    pub(crate) key: Key,
    pub(crate) policy: Arc<CachePolicy>,
    /// As the origin got it.
    pub(crate) asked: Request,
    pub(crate) draft: Draft,
    /// What it takes of the room for content on its way.
    pub(crate) hold: Hold,
}

/// See the module.
pub(crate) struct PartialBody {
    inner: Body,
    kept: Option<(KeptPart, Block)>,
}

impl PartialBody {
    pub(crate) fn new(inner: Body, kept: KeptPart) -> Self {
        let collected = kept.hold.block(inner.exact_length().unwrap_or(0) as usize);
        PartialBody { inner, kept: Some((kept, collected)) }
    }
}

impl KeptPart {
    /// A part that repeats something of its request is its asker's alone.
    fn repeats(&self, bytes: &[u8]) -> bool {
        let drafting = Drafting { policy: &self.policy, asked: &self.asked, user: None, since: 0 };
        !drafting.repeated(self.draft.variant.as_ref(), &self.draft.fields, bytes).is_empty()
    }

    fn keep(mut self, bytes: Block) {
        let key = self.key.view();
        let held = self.store.memory.held();
        let bytes = std::mem::replace(&mut self.hold, held.hold(0)).filled(bytes);
        let Some(part) = Part::new(self.draft.clone(), bytes) else { return };
        let stored = self.store.memory.get(&key);
        let before = stored.as_ref().and_then(|resource| resource.part());
        let before = before.filter(|part| self.store.stands(&key, part)).map(|part| &**part);
        let joined = part.join(before, held);
        // Together, for what is repeated may begin in one part and end in the next.
        let bytes = match &joined {
            Joined::Part(part) => part.bytes(),
            Joined::Whole(entry) => entry.body(),
        };
        if self.repeats(bytes) {
            return;
        }
        let kept = match joined {
            Joined::Part(part) => EntryOrPart::Part(Arc::new(*part)),
            Joined::Whole(entry) => EntryOrPart::Entry { entry: Arc::new(*entry), before: None },
        };
        self.store.keep(&key, kept, self.policy.max_variants);
    }
}

impl HttpBody for PartialBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let (Some(data), Some((_, collected))) = (frame.data_ref(), &mut self.kept) {
                    collected.extend(data);
                }
            }
            Some(Err(_)) => self.kept = None,
            None => {}
        }
        // Whoever knows the length may stop reading at the last byte, without asking for the end.
        if (frame.is_none() || self.inner.is_end_stream())
            && let Some((kept, collected)) = self.kept.take()
        {
            kept.keep(collected);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
