//! SQLite: threads that carry out statements, since its calls block. In: texts with their values, from all cores. Out:
//! rows on a sheet, or an error within a bounded time.

mod board;
mod busy;
mod cell;
mod open;
mod run;
mod threads;

pub(crate) use threads::Threads;
