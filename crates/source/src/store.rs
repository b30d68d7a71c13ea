//! Stores: keys and values of a JSON file, read as those of a Redis are. `file` reads it whole, `value` says what a
//! value is, `carry_out` obeys a command, `sorted` those for sorted sets; `shared_store` is what all cores have.

mod carry_out;
mod file;
mod shared_store;
mod sorted;
mod value;

pub use file::StoreError;
pub use shared_store::SharedStore;
