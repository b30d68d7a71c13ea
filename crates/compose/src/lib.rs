//! Many calls at once → one response.
//!
//! In comes a request and the plan of its route; out goes a response, and how long each step took. Who carries the calls
//! out is somebody else ([`Calls`]): in here is their order, what is done once instead of several times, what stands in
//! for what fails, and when everything is given up. Called by `server`.
//!
//! A request goes `run` → `graph` → `step` → (`prepare`, `single_flight`) → [`Calls`], and back through
//! `respond`. `timing` notes what happened. `shown` says what would happen.
//!
//! Nothing is spawned: all steps of a request run within its own future. Dropping that future cancels them all.

mod content;
mod graph;
mod prepare;
mod respond;
mod run;
mod shown;
mod single_flight;
mod step;
#[cfg(test)]
mod tests;
mod timing;

pub use respond::server_timing;
pub use run::{Account, Calls, Run, Served};
pub use shown::{ShownStep, critical_path, shown};
pub use single_flight::{Flight, SingleFlight};
pub use timing::{Outcome, Took};
