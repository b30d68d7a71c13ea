//! Puts it together: start, reload, drain, and the handler that walks the rooms below.
//!
//! ```text
//! life     control (main thread): signals, reload, admin port, health checks
//!             │ orders
//!             ├─► core 0: runtime, listening sockets, handler, pools
//!             └─► core 1: …                 all share: store, plan, gate, metrics
//! walk     one request on one core: its route, its signature, its cache, where it ends; and what is remembered of it
//! explain  what would happen to one
//! ```

mod configuration;
mod explain;
mod life;
mod walk;

pub use configuration::{Configuration, Listening, StartError};
pub use explain::{
    ComposedAnswer, Control, ExplainRequest, Explanation, OriginAnswer, ReadAnswer, Stored, explain,
};
pub use life::control::{Announce, check, serve};
