//! The admin port over a real socket: raw bytes in, raw bytes out.

#![allow(clippy::unwrap_used)] // helpers of tests, which the lint takes for the program

mod access;
mod control;
mod readers;
mod running;
