//! The life of the process: from the command line to the last connection. `control` runs on the main thread and gives each
//! `core` its orders.

mod backstage;
pub(crate) mod control;
mod core;
mod figures;
mod huge_pages;
mod open_files;
mod sockets;
mod sweeping;
mod tiers;
mod time;
mod watch;
mod watching;
