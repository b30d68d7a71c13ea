//! Threads for what blocks or computes: a bounded queue, one answer each.
//!
//! In: jobs of the cores, which must never block. Out: what they gave, or a `message::Error`: refused at once where the
//! queue is full, and whoever goes away takes the job along. Called by databases in files and by modules that compute.

mod figures;
mod job;
mod queue;
mod stop;
mod thread;
mod workers;

pub use figures::JobFigures;
pub use stop::Stop;
pub use workers::Workers;
