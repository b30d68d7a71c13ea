//! Behind: what the tiers behind the memory have under one key. Asked by `recall` for answers over HTTP and by `value`.

use std::sync::Arc;

use message::Fields;
use plan::CachePolicy;

use crate::entry::Entry;
use crate::entry::draft::client_lifetime;
use crate::key::KeyView;
use crate::store::Store;
use crate::tier::disk::OnDisk;
use crate::tier::shared::Sharing;

/// See the module.
pub(crate) struct Behind<'a> {
    pub(crate) store: &'a Arc<Store>,
    pub(crate) policy: &'a CachePolicy,
    /// The way to the tier that instances share, where the policy uses it.
    pub(crate) sharing: Option<Sharing<'a>>,
    pub(crate) key: KeyView<'a>,
    /// The request's, where there is one: they choose among variants.
    pub(crate) fields: Fields<'a>,
}

impl Behind<'_> {
    /// Whatever there is, brought into memory.
    pub(crate) async fn entry(&self) -> Option<Arc<Entry>> {
        if let Some(found) = self.on_disk().await
            && let Some(entry) = self.load(found).await
        {
            return Some(entry);
        }
        self.at_others().await
    }

    /// What the disk has, its content perhaps still there.
    pub(crate) async fn on_disk(&self) -> Option<OnDisk> {
        let disk = self.store.disk.as_ref()?;
        // What other instances purged while this one was not running is not known yet.
        if self.store.shared.as_ref().is_some_and(|shared| !shared.has_judged()) {
            return None;
        }
        let mut found = disk.find(&self.key).await?;
        let draft = &mut found.draft;
        if draft.variant.as_ref().is_some_and(|variant| !variant.matches(self.fields)) {
            return None;
        }
        draft.client_lifetime = client_lifetime(&mut draft.fields, draft.variant.as_ref(), self.policy);
        Some(found)
    }

    /// All of it, unless a purge concerns it.
    pub(crate) async fn load(&self, mut found: OnDisk) -> Option<Arc<Entry>> {
        // What is read counts as on its way into memory, so that many at once do not take more than there is.
        let hold = self.store.memory.held().room(found.content.length())?;
        let content = found.content(self.policy.max_body).await?;
        let entry = Arc::new(Entry::new(found.draft, hold.copied(&content)));
        let entry = self.store.standing(&self.key, entry)?;
        self.store.memory.put_if_missing(&self.key, Arc::clone(&entry));
        Some(entry)
    }

    /// What another instance has fetched, in memory now.
    pub(crate) async fn at_others(&self) -> Option<Arc<Entry>> {
        let entry = self.sharing?.find(&self.key, self.fields).await?;
        self.store.memory.put_newer(&self.key, Arc::clone(&entry), self.policy.max_variants);
        Some(entry)
    }
}
