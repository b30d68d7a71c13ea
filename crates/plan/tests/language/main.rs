//! The language: files as people write them, and what they mean or what is wrong with them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

mod auth;
mod bad;
mod bad_caching;
mod bad_compose;
mod behind;
mod caching;
mod changing;
mod compose;
mod credentials;
mod examples;
mod files;
mod good;
mod redis;
mod remedies;
mod secrets;
