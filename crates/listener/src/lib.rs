//! Sockets → requests.
mod handler;
pub use handler::Handler;
