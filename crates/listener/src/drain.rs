//! Drain: the signal that a core takes no more requests. Started once by the server at the end of its life; idle
//! connections then close at once, busy ones after the answer under way.
//!
//! Not `tokio::sync::watch`: a connection looks at it each time it goes to sleep, so looking must cost next to
//! nothing, and a core's connections share no thread with anybody.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The signal; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drain(Rc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    started: Cell<bool>,
    waiting: RefCell<Waiting>,
}

/// A place for each waiter, so that waiting again and again takes no more room.
#[derive(Debug, Default)]
struct Waiting {
    places: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Drain {
    /// Whether it has started.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.started.get()
    }

    /// Starts it and wakes whoever waits; a second time does nothing.
    pub(crate) fn start(&self) {
        self.0.started.set(true);
        let wakers: Vec<Waker> =
            self.0.waiting.borrow_mut().places.iter_mut().filter_map(Option::take).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ready once it has started.
    pub(crate) fn wait(&self) -> Wait {
        Wait { drain: self.clone(), place: None }
    }
}

/// See [`Drain::wait`]. Made once per connection and polled as often as one likes.
#[derive(Debug)]
pub(crate) struct Wait {
    drain: Drain,
    place: Option<usize>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.drain.is_draining() {
            return Poll::Ready(());
        }
        let place = {
            let mut waiting = self.drain.0.waiting.borrow_mut();
            let place = self.place.or_else(|| waiting.free.pop()).unwrap_or_else(|| {
                waiting.places.push(None);
                waiting.places.len() - 1
            });
            match &mut waiting.places[place] {
                Some(waker) => waker.clone_from(cx.waker()),
                empty => *empty = Some(cx.waker().clone()),
            }
            place
        };
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let mut waiting = self.drain.0.waiting.borrow_mut();
            let waker = waiting.places[place].take();
            waiting.free.push(place);
            drop(waiting); // first, since dropping a waker may drop a task, and with it another `Wait`
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everybody_waiting_is_woken_once_it_starts() {
        let drain = Drain::default();
        assert!(!drain.is_draining());
        let waiters = async { tokio::join!(drain.wait(), drain.wait()) };
        let starter = async {
            tokio::task::yield_now().await;
            assert_eq!(drain.0.waiting.borrow().places.len(), 2);
            drain.start();
            drain.start();
        };
        tokio::join!(waiters, starter);
        assert!(drain.is_draining());
        drain.wait().await;
    }

    #[test]
    fn places_are_used_again() {
        let drain = Drain::default();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..100 {
            let mut wait = drain.wait();
            assert!(Pin::new(&mut wait).poll(&mut cx).is_pending());
            assert!(Pin::new(&mut wait).poll(&mut cx).is_pending());
        }
        assert_eq!(drain.0.waiting.borrow().places.len(), 1);
    }
}
