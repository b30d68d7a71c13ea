//! Database: a pretended one that can be overloaded. A query comes in, waits for one of few connections, holds it for a
//! while, and its rows go out. Asked by the endpoints of games and leagues.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

/// Connections, as many as a small server has cores: more queries at once would only be slower.
const CONNECTIONS: usize = 2;

/// Clones share the connections.
#[derive(Clone)]
pub(crate) struct Database(Arc<Shared>);

struct Shared {
    /// Given out in the order of asking; whoever leaves loses the place.
    connections: Semaphore,
    queries: AtomicU64,
}

impl Database {
    pub(crate) fn new() -> Self {
        Database(Arc::new(Shared { connections: Semaphore::new(CONNECTIONS), queries: AtomicU64::new(0) }))
    }

    /// What `read` finds when the query's turn has come, about so long after that.
    pub(crate) async fn query<T>(&self, typical: Duration, read: impl FnOnce() -> T) -> T {
        let _connection = self.0.connections.acquire().await.expect("this semaphore is never closed");
        let number = self.0.queries.fetch_add(1, Ordering::Relaxed);
        let rows = read();
        tokio::time::sleep(duration(typical, number)).await;
        rows
    }
}

/// From half of what is typical to half as much again. The same in every run, so that runs can be compared.
fn duration(typical: Duration, number: u64) -> Duration {
    // SplitMix64: neighbouring numbers come far apart.
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let thousandths = (mixed ^ (mixed >> 31)) % 1001;
    typical.mul_f64(0.5 + thousandths as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPICAL: Duration = Duration::from_millis(100);

    #[test]
    fn queries_take_half_to_one_and_a_half_of_what_is_typical() {
        let all: Vec<_> = (0..1000).map(|number| duration(TYPICAL, number)).collect();
        assert!(all.iter().all(|took| *took >= TYPICAL / 2 && *took <= TYPICAL * 3 / 2));
        let mean = all.iter().sum::<Duration>() / 1000;
        assert!((95..=105).contains(&mean.as_millis()), "{mean:?}");
        assert_eq!(all[0], duration(TYPICAL, 0));
        assert_ne!(all[0], all[1]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_queries_run_than_there_are_connections() {
        let (database, start) = (Database::new(), tokio::time::Instant::now());
        let asking = (0..20).map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.query(TYPICAL, || ()).await })
        });
        for query in asking.collect::<Vec<_>>() {
            query.await.unwrap();
        }
        let took = start.elapsed();
        assert!(took >= TYPICAL * 20 / 2 / CONNECTIONS as u32, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_leaves_frees_a_connection() {
        let database = Database::new();
        for _ in 0..2 * CONNECTIONS {
            let _left = tokio::time::timeout(TYPICAL / 10, database.query(TYPICAL, || ())).await;
        }
        database.query(TYPICAL, || ()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn rows_are_those_of_the_beginning() {
        let (database, row) = (Database::new(), Arc::new(AtomicU64::new(1)));
        let reading = database.query(TYPICAL, || row.load(Ordering::Relaxed));
        let writing = async {
            tokio::time::sleep(TYPICAL / 10).await;
            row.store(2, Ordering::Relaxed);
        };
        let (read, ()) = tokio::join!(reading, writing);
        assert_eq!(read, 1);
    }
}
