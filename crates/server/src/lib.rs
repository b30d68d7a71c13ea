//! Puts it together: start, reload, drain, and the handler that walks the rooms below.
//!
//! ```text
//! serve ─ control (main thread): signals, reload, admin port, health checks
//!            │ orders
//!            ├─► core 0: runtime, listening sockets, handler, pools
//!            └─► core 1: …                 all share: store, plan, gate, metrics
//! ```

mod backstage;
mod composed;
mod composing;
mod configuration;
mod control;
mod core;
mod end;
mod errand;
mod explain;
mod handler;
mod huge_pages;
mod identity;
mod invalidating;
mod observed;
mod open_files;
mod pipeline;
mod recent;
mod running;
mod sentence;
mod sockets;
mod steps;
mod sweeping;
mod tiers;
mod time;
mod watch;
mod watching;

pub use configuration::{Configuration, Listening, StartError};
pub use control::{Announce, check, serve};
pub use explain::{
    ComposedAnswer, Control, Explanation, OriginAnswer, Question, ReadAnswer, Stored, explain,
};
