//! Storing and reusing, MUST by MUST: each test is named after the section it holds `rules` to. No clock, no socket.

mod changed;
mod keys;
mod policy;
mod properties;
mod reuse;
mod scene;
mod stale;
mod store;
mod targeted;
