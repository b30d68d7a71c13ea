//! Where answers are kept: in memory, counted by `memory_account` and laid out in `block`s; behind it on disk,
//! and in a Redis that instances share. `recall` asks those `behind` for what the memory does not have.

pub(crate) mod behind;
pub(crate) mod block;
pub(crate) mod disk;
pub(crate) mod memory;
pub(crate) mod memory_account;
pub(crate) mod recall;
pub(crate) mod shared;
pub(crate) mod shared_figures;
