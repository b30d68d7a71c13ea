//! A slow API to put fleetfoot in front of: the one of the first seed document, the scorebook of the third, and what a page
//! is put together from: the search trends of another seed, and a user with orders, news and weather.
//!
//! A listening socket comes in, JSON answers go out, and [`Counts`] tells how many requests got this far. Used by
//! `fleetfoot demo`, by tests and by the benchmarks. It knows nothing of fleetfoot: it stands for somebody's API.
//!
//! | path | answer |
//! |---|---|
//! | `/` | `{"result":"ok"}` after 200 ms, `no-store` |
//! | `/cache` | the same, `public, max-age=5` |
//! | `/timeout?t=2s` | the same after `t` (60 s at most), `no-store` |
//! | `/simulate-cpu?t=500ms` | the same after keeping a core busy for `t` (10 s at most), `no-store` |
//! | `/error/{status}` | that status (200 to 599), `no-store` |
//! | `/tagged?tags=a,b&size=2000` | JSON of `size` bytes (1 MiB at most), `public, max-age=60`, `Cache-Tag: a,b` |
//! | `/games` | JSON of 160 KB from a database with two connections that is busy for about 150 ms; no `Cache-Control` |
//! | `/games/{id}` | the same, 20 KB and 80 ms; `PUT` gives the game another `version` |
//! | `/leagues/{id}` | the same, 70 KB and 250 ms |
//! | `/trends/api/realtimetrends?hl=ko` | JSON of 4 KB after 300 ms, or after `&t=`; no `Cache-Control` |
//! | `/user/{id}` | JSON of 1 KB after 40 ms, or after `?t=`; no `Cache-Control` |
//! | `/orders/{id}`, `/news/{id}`, `/weather/{id}` | the same after 120, 80 and 200 ms |
//! | `/healthz` | `{"result":"ok"}` at once, `no-store` |
//! | `/stats` | requests so far for each of these, `no-store`; not counted itself |

mod answer;
mod counts;
mod database;
mod endpoints;
mod page;
mod scorebook;
mod serve;
mod span;
mod tagged;
mod trends;

pub use counts::{Counts, Endpoint};
pub use serve::serve;
