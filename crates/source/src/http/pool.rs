//! Pool: this core's HTTP/1.1 connections to one target: those idle, and how many are in use.
//!
//! Idle ones are used last in, first out, so that those too many grow old. No timer runs for each of them: age is
//! looked at when one is taken, and one sweep every now and then closes what nobody takes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use guard::{NoPlace, Place, Places};
use message::{Error, Kind, Result};
use tokio::time::Instant;

use super::connection::Connection;

/// How long a connection may be idle: under the 60 s and more after which most servers close theirs.
pub(super) const IDLE: Duration = Duration::from_secs(55);
/// How often idle connections are looked through.
const SWEEP: Duration = Duration::from_secs(15);
/// How many requests may wait for a connection; the next is refused.
const MAX_WAITING: usize = 1024;

/// See the module.
pub(super) struct Pool {
    target: Arc<str>,
    idle: RefCell<VecDeque<Box<Connection>>>,
    idle_limit: usize,
    busy: Cell<usize>,
    /// For connections in use; none: no limit. Whoever has one takes an idle connection before opening another, so that
    /// idle ones and those in use together stay within the limit as well.
    places: Option<Places>,
    limit: usize,
    is_swept: Cell<bool>,
}

/// The right to use one connection; dropping it lets another request have it.
pub(super) struct Slot {
    pool: Rc<Pool>,
    _place: Option<Place>,
}

impl Slot {
    pub(super) fn pool(&self) -> &Rc<Pool> {
        &self.pool
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.pool.busy.set(self.pool.busy.get() - 1);
    }
}

impl Pool {
    pub(super) fn new(target: Arc<str>, plan: &plan::HttpSource) -> Rc<Self> {
        Rc::new(Pool {
            target,
            idle: RefCell::default(),
            idle_limit: plan.idle_connections,
            busy: Cell::new(0),
            places: (plan.connections > 0).then(|| Places::new(plan.connections, MAX_WAITING)),
            limit: plan.connections,
            is_swept: Cell::new(false),
        })
    }

    /// How many are idle.
    pub(super) fn idle(&self) -> usize {
        self.idle.borrow().len()
    }

    /// How many are in use or waited for.
    pub(super) fn load(&self) -> usize {
        self.busy.get() + self.places.as_ref().map_or(0, Places::waiting)
    }

    /// A slot, if one is free.
    pub(super) fn try_slot(self: &Rc<Self>) -> Option<Slot> {
        match &self.places {
            None => Some(self.slot(None)),
            Some(places) => places.try_take().map(|place| self.slot(Some(place))),
        }
    }

    /// A slot, as soon as one is free. `Overloaded` when too many wait already, or after `limit`.
    pub(super) async fn wait_for_slot(self: &Rc<Self>, limit: Duration) -> Result<Slot> {
        let Some(places) = &self.places else { return Ok(self.slot(None)) };
        let place = places.take_within(limit).await.map_err(|no_place| {
            let why = match no_place {
                NoPlace::Full => format!("{MAX_WAITING} requests wait already"),
                NoPlace::Late => format!("none became free within {limit:?}"),
            };
            let detail = format!("{}: all {} connections are in use, and {why}", self.target, self.limit);
            Error::new(Kind::Overloaded, detail)
        })?;
        Ok(self.slot(Some(place)))
    }

    fn slot(self: &Rc<Self>, place: Option<Place>) -> Slot {
        self.busy.set(self.busy.get() + 1);
        Slot { pool: Rc::clone(self), _place: place }
    }

    /// The idle connection used last, if it still may be used; or else the slot back.
    pub(super) fn take(self: &Rc<Self>, slot: Slot) -> std::result::Result<Box<Connection>, Slot> {
        let mut idle = self.idle.borrow_mut();
        if idle.is_empty() {
            return Err(slot);
        }
        let now = Instant::now();
        while let Some(mut connection) = idle.pop_back() {
            if may_be_used(&connection, now) && connection.transport.is_quiet() {
                connection.slot = Some(slot);
                return Ok(connection);
            }
        }
        Err(slot)
    }

    /// Makes room for a connection that is opened although others are idle.
    pub(super) fn close_oldest(&self) {
        if self.places.is_some() {
            self.idle.borrow_mut().pop_front();
        }
    }

    /// Keeps a connection that has become idle; called with its slot still held.
    pub(super) fn keep(self: &Rc<Self>, mut connection: Box<Connection>) {
        connection.idle_since = Instant::now();
        let mut idle = self.idle.borrow_mut();
        idle.push_back(connection);
        if idle.len() > self.idle_limit {
            idle.pop_front();
        }
        if !self.is_swept.replace(true) {
            tokio::task::spawn_local(sweep(Rc::downgrade(self)));
        }
    }
}

fn may_be_used(connection: &Connection, now: Instant) -> bool {
    now.saturating_duration_since(connection.idle_since) < IDLE && connection.tether.holds(now)
}

/// Closes what is too old or was closed by the origin, until nothing is idle.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(pool) = pool.upgrade() else { return };
        let now = Instant::now();
        let mut idle = pool.idle.borrow_mut();
        idle.retain_mut(|connection| may_be_used(connection, now) && connection.transport.is_quiet());
        if let Some(connection) = idle.back() {
            connection.tether.see_to_name();
        }
        if idle.is_empty() {
            pool.is_swept.set(false);
            return;
        }
    }
}
