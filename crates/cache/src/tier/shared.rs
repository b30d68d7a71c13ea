//! The tier that instances share, in a Redis or Valkey behind the memory of each.
//!
//! ```text
//! recall ─► lookup ─► MGET ─► record ─► entry                  one round trip       (names, record, positions)
//! filler ─► turn ───► claim: ours | found | wait               one fill for all     (scripts)
//!           │
//!           └─► orders ─► thread ─► writer                     off the request's way
//! purge ─────────────► thread ─► telling ─► stream of purges ─► news ─► marks of each instance   (message, positions)
//!                                │      └──► heartbeats ──────► news ─► doubt                     (attendance)
//!                                └─► taken ─► whoever purged
//! ```
//!
//! A slow or missing Redis costs a look-up that fails at once and nothing else. Why it is so: decision 0009.

mod attendance;
mod doubt;
mod lock;
mod lookup;
mod message;
mod names;
mod news;
mod positions;
mod record;
mod scripts;
mod taken;
mod telling;
mod thread;
mod tier;
mod turn;
mod writer;

pub(crate) use lookup::Sharing;
pub(crate) use thread::start;
pub(crate) use tier::SharedTier;
pub(crate) use turn::{Ours, Turn};
