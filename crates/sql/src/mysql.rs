//! MySQL and MariaDB: connections, statements, cells. The words of the protocol are `mysql_async`'s.

mod cell;
mod connection;
mod json_columns;
mod options;

pub(crate) use connection::Connection;
pub(crate) use options::options;
