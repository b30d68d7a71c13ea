//! Values of a Redis held in process, for as long as it tells when they change (RESP3 `CLIENT TRACKING ON BCAST`).
//!
//! In come answers of reads, and what the line tells on which Redis announces changed keys; out come fresh answers.
//! No sockets and no clock here: whoever reads and whoever keeps the line call [`Tracked`], which all cores share.
//!
//! # Why no answer outlives its keys
//!
//! Nothing is searched for and removed when a key changes. Counters only go up: two of many belong to each key, chosen
//! by its hash, and an announcement counts both up. The line has a number: odd while it is live, and another one after
//! each connect, loss and flush. Before a read is sent its [`Ticket`] notes that number and the counts of its keys;
//! the ticket stays with the answer in the table. An answer is fresh while the line has the ticket's number and, for
//! each of its keys, one of the two counts is still the ticket's.
//!
//! - *A read overtaken by a write.* A read that Redis answered before a write was sent before that write was announced:
//!   its ticket has the counts from before. Once [`Tracked::invalidate`] returned, both have moved and never come back,
//!   so the answer is not fresh, whenever and however often it is inserted. That is why nobody takes a lock: what
//!   [`Tracked::insert`] compares saves room for what is worth it, what [`Tracked::get`] compares keeps it right.
//! - *An insert during a loss, a reconnect or a flush.* The same with the line's number: the ticket has the one from
//!   before. A ticket drawn while there was no line has an even number, and no answer with such a one is inserted.
//! - *A get during any of these* compares after it found the answer, and each number once. What returned before it
//!   began, it sees. What happens during it may be taken to have happened after it.
//! - *Two reads under way at once* that straddle a write whose announcement is still to come may be inserted in either
//!   order: until it comes both count as fresh, and then neither.
//! - *Eviction* takes an answer together with its ticket, and nothing else knows of it: there is nothing to forget. A
//!   clearing table that overlaps with an insert may leave an answer behind, which is not fresh.
//! - *A line that is silent, or late.* The answer to a ping comes behind all that was announced before it, so it confirms
//!   what is held as of when the ping was sent. Nothing is fresh once that is longer ago than `silence`, whether or not
//!   anybody has declared the line lost.
//!
//! The price: an answer is also given up when other keys moved both of its key's counters, which costs a read.
//! And what is no longer fresh stays in the table until its read is answered anew or its room is needed. Rejected: an
//! index from keys to answers. It costs more bytes per key than the counters, has to be kept in step with eviction,
//! and makes one change of a hash with a million fields read a million steps.

mod counters;
mod line;
pub mod silence;
mod table;
mod tracked;

pub use tracked::{Inserted, Ticket, Tracked, TrackedFigures};

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod stress;
