//! Pool: one core's share of the connections to a server, and who waits for one. In: a query that wants a connection.
//! Out: a lease, or an error once too many wait, or for too long. The pool itself is deadpool's.

use std::sync::Arc;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, PoolError, QueueMode, RecycleResult, Timeouts};
use guard::Queue;
use message::{Error, Kind, Result};
use tokio::runtime::Handle;

use crate::connection::Connection;
use crate::figures::Present;
use crate::shared_database::SharedDatabase;
use crate::trouble;

/// See the module.
pub(crate) struct Pool {
    connections: managed::Pool<Connector>,
    shared: Arc<SharedDatabase>,
    queue: Queue,
}

/// How the pool makes connections.
struct Connector(Arc<SharedDatabase>);

impl managed::Manager for Connector {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection> {
        Connection::open(&self.0).await
    }

    /// Whether it still works is asked by who knows what it is for.
    async fn recycle(&self, _connection: &mut Connection, _metrics: &Metrics) -> RecycleResult<Error> {
        Ok(())
    }
}

impl Pool {
    pub(crate) fn new(shared: Arc<SharedDatabase>) -> Self {
        let connections = managed::Pool::builder(Connector(Arc::clone(&shared)))
            .max_size(shared.share())
            // The one used last is the least likely to have been given up by the server.
            .queue_mode(QueueMode::Lifo)
            .runtime(Runtime::Tokio1)
            .build()
            .expect("there is a runtime");
        let queue = Queue::new(shared.plan().queue);
        Pool { connections, shared, queue }
    }

    /// A connection that works, as far as is known; `Overloaded` once the queue is full, or after the plan's `wait`.
    pub(crate) async fn lease(&self, reads: bool) -> Result<Lease> {
        loop {
            let mut object = self.get().await?;
            let in_use = Present::new(self.shared.counters(), |counters| &counters.in_use);
            if object.is_sound(reads).await {
                return Ok(Lease {
                    object: Some(object),
                    in_use: Some(in_use),
                    shared: Arc::clone(&self.shared),
                });
            }
            Object::take(object).close().await;
        }
    }

    /// Gives up all that are idle: one of them has turned out to be broken.
    pub(crate) fn give_up_idle(&self) {
        drop(self.connections.retain(|_, _| false));
    }

    async fn get(&self) -> Result<Object<Connector>> {
        let at_once = Timeouts { wait: Some(Duration::ZERO), create: None, recycle: None };
        match self.connections.timeout_get(&at_once).await {
            Ok(object) => Ok(object),
            Err(PoolError::Timeout(_)) => self.wait().await,
            Err(error) => Err(self.told(error)),
        }
    }

    async fn wait(&self) -> Result<Object<Connector>> {
        let (plan, name) = (self.shared.plan(), self.shared.name());
        let _waiter = self.queue.enter().ok_or_else(|| {
            self.shared.counters().refused.one();
            trouble::full(name, self.queue.most())
        })?;
        let _waiting = Present::new(self.shared.counters(), |counters| &counters.waiting);
        let patient = Timeouts { wait: Some(plan.wait), create: None, recycle: None };
        match self.connections.timeout_get(&patient).await {
            Ok(object) => Ok(object),
            Err(PoolError::Timeout(_)) => {
                self.shared.counters().unserved.one();
                Err(trouble::unserved(name, plan.wait))
            }
            Err(error) => Err(self.told(error)),
        }
    }

    fn told(&self, error: PoolError<Error>) -> Error {
        match error {
            PoolError::Backend(error) => error,
            _ => Error::new(Kind::Internal, format!("source {}: the pool is closed", self.shared.name())),
        }
    }
}

/// A connection that carries out one statement. Dropped, it stops the statement in the database, and its place in the
/// pool is free when that is done.
pub(crate) struct Lease {
    object: Option<Object<Connector>>,
    in_use: Option<Present>,
    shared: Arc<SharedDatabase>,
}

impl Lease {
    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.object.as_mut().expect("it is taken at the end only")
    }

    /// The statement is through, and the connection clean.
    pub(crate) fn give_back(mut self) {
        if let Some(mut object) = self.object.take() {
            object.rests();
        }
    }

    /// The connection is broken.
    pub(crate) async fn give_up(mut self) {
        if let Some(object) = self.object.take() {
            Object::take(object).close().await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(mut object) = self.object.take() else { return };
        self.shared.counters().cancelled.one();
        let in_use = self.in_use.take();
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                object.cancel().await;
                drop((Object::take(object), in_use));
            })),
            // Nobody could wait for anything: the end of the connection has to do.
            Err(_) => drop(Object::take(object)),
        }
    }
}
