//! Puts it together: start, reload, drain, and the handler that walks the rooms below.
//!
//! ```text
//! serve ─ control (main thread): signals, reload, admin port, health checks
//!            │ orders
//!            ├─► core 0: runtime, listening sockets, handler, pools
//!            └─► core 1: …                 all share: store, plan, gate, metrics
//! ```

mod configuration;
mod control;
mod core;
mod explain;
mod handler;
mod observed;
mod open_files;
mod running;
mod sockets;
mod watch;

pub use configuration::{Configuration, Listening, StartError};
pub use control::{Announce, check, serve};
pub use explain::{Explanation, OriginAnswer, Question, explain};
