//! Lookup, fill (one per key), refresh, and the memory tier.
//!
//! `server` asks [`Store::fresh`] first, which answers from memory at once or not at all; then [`Caching::answer`].
//! Whether an answer may be stored or reused is decided in `rules`; here it is carried out.
//!
//! ```text
//! answer   a request on a cached route, step by step; below asks what lies behind
//!   request   which of it counts, what the origin gets to see
//!   key       what its answer is stored under
//!   lookup    what is stored, and what may be done with it
//!   fill      one fetch for all who want the same
//!   entry     a stored answer, its variants, parts and compressed forms
//! value    what calls gave that are no requests over HTTP, kept by the same rules
//! purge    forgetting: marks, what writes make out of date
//! tier     where answers are kept: memory, disk, what instances share
//! store    all of it, as the cores share it
//! ```

mod answer;
mod below;
mod entry;
mod fill;
mod key;
mod lookup;
mod purge;
mod request;
#[cfg(test)]
mod sample;
mod shown;
mod store;
mod tier;
mod value;

pub use answer::{Answer, Caching};
pub use disk::Noted;
pub use entry::encoded::Encoded;
pub use entry::part::Part;
pub use entry::resource::Resource;
pub use entry::tags::Tags;
pub use entry::{Draft, Entry, Variant};
pub use key::keying::{Look, Pieces, Scratch};
pub use key::{Key, KeyView};
pub use purge::forgetting::Forgetting;
pub use purge::{Counted, Listed, Purge, Scope, Swept};
pub use shown::{Shown, is_secret};
pub use store::{FreshEntry, Store, StoreCounters, Tiers};
pub use tier::memory::Memory;
pub use tier::memory_account::Content;
pub use tier::shared_figures::SharedFigures;
pub use value::{CachedValue, CachingValues};
