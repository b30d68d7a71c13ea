//! Hot answers are refreshed before they go stale.

use plan::CachePolicy;

use crate::origin::{Origin, Reply, settle, story};

#[test]
fn a_hot_answer_is_refreshed_once_near_its_end_and_nobody_waits() {
    story(|| async {
        let origin = Origin::new(CachePolicy { early: Some(1.1), ..CachePolicy::default() });
        // All of its lifetime counts as its end, since time stands still here.
        let near_its_end = &[("cache-control", "max-age=100")];
        origin.will(Reply::new(200, near_its_end, "old"));
        for _ in 0..11 {
            assert_eq!(origin.get("/", &[]).await.text(), "old");
        }
        assert_eq!(origin.times_asked(), 1);
        let (refresh, gate) = Reply::new(200, &[("cache-control", "max-age=100")], "new").held();
        origin.will(refresh);
        for _ in 0..3 {
            let told = origin.get("/", &[]).await;
            assert!(told.cache.contains("hit") && told.text() == "old", "{}", told.cache);
        }
        settle().await;
        assert_eq!(origin.times_asked(), 2);
        gate.send(()).unwrap();
        settle().await;
        assert_eq!(origin.get("/", &[]).await.text(), "new");
    });
}

#[test]
fn a_cold_one_is_not() {
    story(|| async {
        let origin = Origin::new(CachePolicy { early: Some(1.1), ..CachePolicy::default() });
        origin.will(Reply::new(200, &[("cache-control", "max-age=100"), ("age", "80")], "old"));
        for _ in 0..5 {
            origin.get("/", &[]).await;
        }
        settle().await;
        assert_eq!(origin.times_asked(), 1);
    });
}
