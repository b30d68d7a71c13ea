//! Folded: places whose own marks had no room any more, by the latest epoch of whatever shares their slots. It forgets too
//! much rather than too little: a place whose two slots others have marked goes with them. Called by `table`.

use super::note::{Mark, MarkedPlace, Standing};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// Epochs; none before the first place.
    slots: Box<[u64]>,
    /// The latest of all.
    mark: Mark,
}

/// Of 8 bytes each. A place is taken for another's with about one percent when half of the table has been folded.
const SLOTS: usize = 1 << 19;

impl Folded {
    pub(super) fn add(&mut self, place: &MarkedPlace, mark: &Mark) {
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS].into();
        }
        for slot in slots(place) {
            self.slots[slot] = self.slots[slot].max(mark.latest());
        }
        self.mark.add(mark);
    }

    /// A soft mark has become a hard one: two in one slot could not be told apart.
    pub(super) fn standing(&self, place: &MarkedPlace, since: u64) -> Standing {
        let is_marked =
            self.mark.latest() > since && slots(place).iter().all(|slot| self.slots[*slot] > since);
        if is_marked { Standing::Gone } else { Standing::Kept }
    }

    pub(super) fn mark(&self) -> &Mark {
        &self.mark
    }
}

fn slots(place: &MarkedPlace) -> [usize; 2] {
    let (kind, hash) = match place {
        MarkedPlace::Host(hash) => (1, hash),
        MarkedPlace::Path(hash) => (2, hash),
        MarkedPlace::Target(hash) => (3, hash),
        MarkedPlace::PathOfTarget(hash) => (4, hash),
        MarkedPlace::Tag(hash) => (5, hash),
    };
    // The hash of one text is the same for all kinds.
    let mixed = (*hash as u64 ^ (*hash >> 64) as u64).wrapping_add(kind).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [mixed as usize >> 13 & (SLOTS - 1), (mixed >> 40) as usize & (SLOTS - 1)]
}
