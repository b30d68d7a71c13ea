//! Where answers come from. Today: origins over HTTP. A source is a [`message::Call`] that ends one.

mod http;

pub use http::{HttpSource, Shared, check_health};
