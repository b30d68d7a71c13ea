//! Lookup, fill (one per key), refresh, and the memory tier.
//!
//! `server` asks [`Store::fresh`] first, which answers from memory at once or not at all; then [`Caching::answer`].
//! Whether an answer may be stored or reused is decided in `rules`; here it is carried out.

mod answer;
mod arriving;
mod beginning;
mod block;
mod content;
mod disk_tier;
mod draft;
mod duty;
mod encode;
mod encoded;
mod entry;
mod fetch;
mod fill;
mod filler;
mod fills;
mod follower;
mod follower_body;
mod forgetting;
mod form;
mod graphql;
mod held;
mod interest;
mod key;
mod keyed_fields;
mod keying;
mod learned;
mod lookup;
mod marks;
mod memory;
mod mutation;
mod onward;
mod part;
mod partial_body;
mod prepare;
mod purge;
mod recall;
mod renewal;
mod resource;
#[cfg(test)]
mod sample;
mod shared_figures;
mod shared_tier;
mod shown;
mod store;
mod stored_head;
mod tags;
mod unshared;

pub use answer::{Answer, Caching};
pub use disk::Noted;
pub use encoded::Encoded;
pub use entry::{Draft, Entry, Variant};
pub use forgetting::Forgetting;
pub use held::Content;
pub use key::{Key, KeyView};
pub use keying::{Look, Pieces, Scratch};
pub use memory::Memory;
pub use part::Part;
pub use purge::{Counted, Listed, Purge, Scope, Swept};
pub use resource::Resource;
pub use shared_figures::SharedFigures;
pub use shown::{Shown, is_secret};
pub use store::{Counters, Fresh, Store, Tiers};
pub use tags::Tags;
