//! Databases: pools, statements, rows as JSON. Bound to `mysql_async`, `tokio-postgres` and `rusqlite`.
//!
//! In: what the plan says of a database, statements and parameters. Out: JSON, or a `message::Error` within a bounded
//! time. Called by the steps of a composition, with one [`DatabaseLine`] for each core.
//!
//! Numbers become JSON numbers, digit for digit, texts strings, dates and times strings of ISO 8601, JSON what it is,
//! bytes a string if they are UTF-8 or else one of their base64. Parameters are bound, never spliced, and never shown.

mod connection;
mod decimal;
mod figures;
mod gather;
mod json;
mod keys;
mod line;
mod mysql;
mod pool;
mod postgres;
mod shared_database;
mod sheet;
mod sqlite;
mod text;
mod trouble;

pub use figures::DatabaseFigures;
pub use line::DatabaseLine;
pub use shared_database::SharedDatabase;
