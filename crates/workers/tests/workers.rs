//! What whoever gives jobs away relies on: nobody blocks, everybody gets an answer, what is too much is refused.

use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use message::Kind;
use workers::{Stop, Workers};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

fn workers(threads: usize, queue: usize) -> Workers<()> {
    Workers::start("test", threads, queue, || ()).expect("there are threads left")
}

/// A job that runs until it is let go, and the way to let it go.
fn held() -> (mpsc::Sender<()>, impl FnOnce(&mut (), &Stop) + Send + 'static) {
    let (release, held) = mpsc::channel::<()>();
    (release, move |(): &mut (), _: &Stop| held.recv_timeout(LONG).expect("the test lets it go"))
}

/// Polls once, as a core does that has other things to do.
fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn every_job_gets_its_own_answer() {
    let workers = Arc::new(workers(4, 1000));
    let jobs: Vec<_> = (0..500)
        .map(|number| {
            let workers = Arc::clone(&workers);
            tokio::spawn(async move { workers.run(move |(), _| number * 2).await })
        })
        .collect();
    for (number, job) in (0..).zip(jobs) {
        assert_eq!(job.await.unwrap().unwrap(), number * 2);
    }
    let figures = workers.figures();
    assert_eq!((figures.begun, figures.waiting, figures.running), (500, 0, 0));
    assert_eq!((figures.refused, figures.cancelled, figures.panicked), (0, 0, 0));
}

#[tokio::test]
async fn a_core_that_waits_does_other_things_meanwhile() {
    let workers = workers(1, 1);
    let (release, job) = held();
    let other_things = async {
        until("the start", || workers.figures().running == 1).await;
        release.send(()).unwrap();
    };
    let (result, ()) = tokio::join!(workers.run(job), other_things);
    result.unwrap();
}

#[tokio::test]
async fn what_is_above_the_queue_is_refused_at_once() {
    let workers = workers(1, 2);
    let (first, second, third) = (held(), held(), held());
    let mut running = pin!(workers.run(first.1));
    let mut waiting = pin!(workers.run(second.1));
    let mut waiting_too = pin!(workers.run(third.1));
    assert!(poll(&mut running).is_pending());
    assert!(poll(&mut waiting).is_pending());
    assert!(poll(&mut waiting_too).is_pending());

    let mut refused = pin!(workers.run(|(), _| ()));
    let Poll::Ready(Err(error)) = poll(&mut refused) else { panic!("it waits") };
    assert_eq!(error.kind(), Kind::Overloaded);
    assert_eq!(workers.figures().refused, 1);

    for release in [first.0, second.0, third.0] {
        release.send(()).unwrap();
    }
    running.await.unwrap();
    waiting.await.unwrap();
    waiting_too.await.unwrap();
}

#[tokio::test]
async fn without_a_queue_a_thread_that_is_free_can_still_be_had() {
    let workers = workers(1, 0);
    // One after the other: who has its answer does not stand in its own way.
    for number in 0..2000 {
        assert_eq!(workers.run(move |(), _| number).await.unwrap(), number);
    }
}

#[tokio::test]
async fn a_job_whose_caller_goes_before_it_begins_never_runs_and_makes_room() {
    let workers = workers(1, 1);
    let (release, job) = held();
    let mut running = pin!(workers.run(job));
    assert!(poll(&mut running).is_pending());
    until("the start", || workers.figures().running == 1).await;

    let runs = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let runs = Arc::clone(&runs);
        let mut gone = Box::pin(workers.run(move |(), _| runs.fetch_add(1, Ordering::Relaxed)));
        assert!(poll(&mut gone).is_pending());
        assert_eq!(workers.figures().waiting, 1);
    }
    assert_eq!(workers.figures().waiting, 0);
    assert_eq!(Arc::strong_count(&runs), 1, "what a job holds goes with it");
    release.send(()).unwrap();
    running.await.unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    assert_eq!(workers.figures().cancelled, 100);
}

#[tokio::test]
async fn a_job_that_runs_hears_that_its_caller_has_gone() {
    let workers = workers(1, 0);
    let (told, heard) = mpsc::channel();
    let mut gone = Box::pin(workers.run(move |(), stop| {
        let start = Instant::now();
        while !stop.is_set() && start.elapsed() < LONG {
            std::thread::yield_now();
        }
        told.send(stop.is_set()).unwrap();
    }));
    assert!(poll(&mut gone).is_pending());
    until("the start", || workers.figures().running == 1).await;
    drop(gone);
    assert!(heard.recv_timeout(LONG).unwrap());
    until("the end", || workers.figures().running == 0).await;
    assert_eq!(workers.run(|(), stop| stop.is_set()).await.ok(), Some(false), "the next has a caller");
}

#[tokio::test]
async fn a_panic_costs_its_own_caller_an_answer_and_nobody_else() {
    let workers = Workers::start("test", 1, 10, || 0).unwrap();
    assert_eq!(workers.run(|count, _| *count += 1).await.ok(), Some(()));
    let panics = workers.run(|count: &mut i32, _: &Stop| {
        *count = -1;
        panic!("as the test wants it");
    });
    let result: message::Result<()> = panics.await;
    assert_eq!(result.unwrap_err().kind(), Kind::Internal);
    assert_eq!(workers.run(|count, _| *count).await.unwrap(), 0, "what it left half changed is made anew");
    assert_eq!(workers.figures().panicked, 1);
    assert_eq!(workers.figures().running, 0);
}

#[tokio::test]
async fn a_state_that_cannot_be_made_fails_the_job_and_is_tried_again() {
    let attempts = AtomicUsize::new(0);
    let make = move || assert!(attempts.fetch_add(1, Ordering::Relaxed) > 0, "as the test wants it");
    let workers = Workers::start("test", 1, 10, make).unwrap();
    assert_eq!(workers.run(|(), _| ()).await.unwrap_err().kind(), Kind::Internal);
    workers.run(|(), _| ()).await.unwrap();
}

#[tokio::test]
async fn a_state_stays_on_its_thread_from_job_to_job() {
    // `Rc` is not `Send`.
    let workers = Workers::start("test", 1, 1000, || Rc::new(Cell::new(0))).unwrap();
    for expected in 0..100 {
        assert_eq!(workers.run(|count, _| count.replace(count.get() + 1)).await.unwrap(), expected);
    }
}

/// Counts the threads that have one.
struct Present(Arc<AtomicUsize>);

impl Drop for Present {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_threads_end_with_their_workers() {
    let present = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&present);
    let workers = Workers::start("test", 2, 10, move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Present(Arc::clone(&counted))
    })
    .unwrap();
    let barrier = Arc::new(Barrier::new(2));
    let meet = || {
        let barrier = Arc::clone(&barrier);
        workers.run(move |_, _| barrier.wait().is_leader())
    };
    let both = tokio::join!(meet(), meet());
    assert_ne!(both.0.unwrap(), both.1.unwrap());
    assert_eq!(present.load(Ordering::Relaxed), 2);
    drop(workers);
    until("the end of the threads", || present.load(Ordering::Relaxed) == 0).await;
}
