//! Doubt: while nobody can say what was purged, everything is made stale again and again: because this instance hears
//! nothing, or because another one has fallen silent. Fed by `news`, on the shared tier's thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

use message::Clock;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::attendance::Attendance;
use super::message::Beat;
use super::tier::SharedTier;
use crate::purge::{Purge, Scope};
use crate::store::Store;

/// What has been heard, and when.
pub(super) struct Heard {
    /// When it was last certain that nothing that was told was missed.
    at: Cell<Instant>,
    others: RefCell<Attendance>,
    joined: Notify,
}

impl Heard {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Heard { at: Cell::new(Instant::now()), others: RefCell::default(), joined: Notify::new() })
    }

    /// All that was told before now is known.
    pub(super) fn everything(&self) {
        self.at.set(Instant::now());
    }

    /// A heartbeat of that moment.
    pub(super) fn beat(&self, beat: &Beat, at: Instant, tier: &SharedTier) {
        let mut others = self.others.borrow_mut();
        if beat.from == tier.instance {
            return;
        }
        if beat.is_last {
            others.left(beat.from);
        } else {
            let before = others.missing();
            if others.heard(beat.from, at) {
                self.joined.notify_one();
            }
            if others.missing() < before {
                tracing::info!("instance {:x} is heard of again", beat.from);
            }
        }
        tier.counters.missing.store(others.missing() as u64, Relaxed);
    }

    /// Since when nobody knows what another instance has purged.
    fn others_vouched_at(&self, unheard: Duration) -> Option<Instant> {
        self.others.borrow().vouched_at(unheard)
    }

    fn vouched_at(&self, unheard: Duration) -> Instant {
        self.others_vouched_at(unheard).map_or(self.at.get(), |others| others.min(self.at.get()))
    }

    /// Tells who has fallen silent; not while it is this instance that hears nothing.
    fn look(&self, tier: &SharedTier, now: Instant, unheard: Duration) {
        if !tier.hears() {
            return;
        }
        let mut others = self.others.borrow_mut();
        let changes = others.look(now, unheard);
        for instance in changes.missing {
            tracing::warn!(
                "instance {instance:x} has not been heard of for {unheard:?}: what it purges is not known here, so everything \
                 is made stale as often as that"
            );
        }
        for instance in changes.gone {
            tracing::warn!("instance {instance:x} has been silent for so long that it is taken for gone");
        }
        tier.counters.missing.store(others.missing() as u64, Relaxed);
    }
}

/// Makes everything stale each time it could not be vouched for as long as the plan allows.
pub(super) async fn doubt(store: Weak<Store>, tier: Arc<SharedTier>, heard: Rc<Heard>) {
    let unheard = tier.plan().unheard;
    let mut doubted_at: Option<Instant> = None;
    loop {
        let vouched_at = heard.vouched_at(unheard);
        let due = doubted_at.map_or(vouched_at, |doubted_at| vouched_at.max(doubted_at)) + unheard;
        tokio::select! {
            () = tokio::time::sleep_until(due) => {}
            () = heard.joined.notified() => continue,
        }
        let Some(store) = store.upgrade() else { return };
        let now = Instant::now();
        let is_over = |vouched_at: Instant| vouched_at + unheard <= now;
        let others = heard.others_vouched_at(unheard).is_some_and(is_over);
        heard.look(&tier, now, unheard);
        if is_over(heard.vouched_at(unheard)) || others {
            doubted_at = Some(now);
            if others {
                // What lies in Redis has seen no more of what they purged than we have.
                tier.suspect(Clock::now());
            }
            make_stale(&store, &tier);
            tier.set_judged();
        }
    }
}

/// Nobody can say what was purged.
pub(super) fn make_stale(store: &Store, tier: &SharedTier) {
    tier.counters.doubts.fetch_add(1, Relaxed);
    store.forget_here(&Purge { scope: Scope::Everything, soft: true }, Clock::now());
}
