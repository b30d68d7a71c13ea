//! What the disk tier promises, tried from outside: against a model, with damaged files, killed, and from many threads.

mod concurrent;
mod damage;
mod kill;
mod model;
mod sample;
mod stream;
