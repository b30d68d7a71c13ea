//! The benchmarks of fleetfoot.
mod bare;
mod client;
mod cores;
mod epoll_loop;
mod interruption;
mod limits;
mod measure;
mod origin;
mod server;
fn main() {}
