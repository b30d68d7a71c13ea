//! PostgreSQL: connections, statements, parameters, cells. The words of the protocol are `tokio-postgres`'s.

mod bind;
mod cell;
mod connection;
mod numeric;
mod options;
mod prepared;
mod tls;

pub(crate) use connection::Connection;
pub(crate) use options::Options;
