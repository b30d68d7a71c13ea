//! Cluster: commands go to the server that has their key's slot, as one core knows it. In: questions. Out: replies of
//! the node asked; a node that is down takes only its own slots with it.
//!
//! The `redis` crate has a cluster connection too. It halts all requests while it learns who has what, for as long as
//! the slowest node takes to answer, and so one silent node would be felt on all slots.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use message::{Error, Result};
use plan::RedisServer;
use redis::Value;

use crate::attempt::Attempt;
use crate::connect::{As, open};
use crate::failure::{self, Failure};
use crate::node::{Commands, Node, Target};
use crate::pace::Pace;
use crate::shared_link::SharedLink;
use crate::slot::{self, Owners};

/// A request follows so many redirections: one for what we know too late, the others for slots on the move.
pub(crate) const REDIRECTIONS: usize = 3;
/// What we know is asked for anew at most so often.
const BETWEEN: Duration = Duration::from_secs(1);
/// So many servers at most are asked for it at a time.
const ASKED: usize = 4;

/// See the module.
pub(crate) struct Cluster {
    shared: Arc<SharedLink>,
    seeds: Vec<RedisServer>,
    owners: RefCell<Arc<Owners>>,
    nodes: RefCell<HashMap<String, Rc<Node>>>,
    learning: RefCell<Option<Attempt<Arc<Owners>>>>,
    pace: RefCell<Pace>,
    learnt: Cell<Option<Instant>>,
}

impl Cluster {
    /// Nothing is known yet.
    pub(crate) fn new(shared: Arc<SharedLink>, seeds: Vec<RedisServer>) -> Self {
        Cluster {
            shared,
            seeds,
            owners: RefCell::default(),
            nodes: RefCell::default(),
            learning: RefCell::default(),
            pace: RefCell::default(),
            learnt: Cell::new(None),
        }
    }

    /// Asks whoever has the slot, and follows redirections. The pipeline of a slot on the move may fail.
    pub(crate) async fn ask(&self, question: Commands<'_>) -> Result<Value> {
        let mut reply = self.node_for(question).await?.ask(question).await;
        for _ in 0..REDIRECTIONS {
            let Err(error) = &reply else { break };
            reply = match (self.redirected(error), question) {
                (Some(Redirected::Moved(node)), _) => node.ask(question).await,
                (Some(Redirected::Ask(node)), Commands::One(command)) => {
                    let mut pipeline = redis::pipe();
                    pipeline.cmd("ASKING").ignore().add_command(command.clone());
                    node.ask(Commands::Several(&pipeline)).await.map(only)
                }
                _ => break,
            };
        }
        reply
    }

    /// Who has the question's slot, as far as we know; anybody who is well if it has none.
    pub(crate) async fn node_for(&self, question: Commands<'_>) -> Result<Rc<Node>> {
        let owners = self.owners().await?;
        let name = &self.shared.plan().name;
        if let Some(slot) = question.slot() {
            let server = owners.of(slot).ok_or_else(|| {
                self.look_again();
                failure::nobody(name, "nobody in the cluster has this key's slot")
            })?;
            return Ok(self.node(server));
        }
        let mut nodes = owners.servers().map(|server| self.node(server));
        let first = nodes.next().ok_or_else(|| failure::nobody(name, "the cluster has no servers"))?;
        Ok(if first.is_up() { first } else { nodes.find(|node| node.is_up()).unwrap_or(first) })
    }

    /// What an error says of where to go. Whatever says that somebody is gone makes us look again at who has what.
    pub(crate) fn redirected(&self, error: &Error) -> Option<Redirected> {
        let code = failure::code(error);
        if error.is_disconnection()
            || code == Some("MOVED")
            || failure::is_unable(error)
            || failure::is_read_only(error)
        {
            self.look_again();
        }
        let tls = self.seeds.iter().any(|seed| matches!(seed, RedisServer::Tcp { tls: true, .. }));
        let server = || slot::redirection(failure::text(error)?, tls);
        match code? {
            "MOVED" => Some(Redirected::Moved(self.node(&server()?))),
            "ASK" => Some(Redirected::Ask(self.node(&server()?))),
            _ => None,
        }
    }

    fn node(&self, server: &RedisServer) -> Rc<Node> {
        let mut nodes = self.nodes.borrow_mut();
        let new = || Rc::new(Node::new(Arc::clone(&self.shared), Target::Server(server.clone())));
        Rc::clone(nodes.entry(server.address()).or_insert_with(new))
    }

    /// Who has what. Waits only when nothing is known.
    async fn owners(&self) -> Result<Arc<Owners>> {
        self.take_over();
        let known = Arc::clone(&self.owners.borrow());
        if !known.is_empty() {
            return Ok(known);
        }
        let name = &self.shared.plan().name;
        let under_way = self.learning.borrow().clone();
        let attempt = match under_way {
            Some(attempt) => attempt,
            None if self.pace.borrow().may_begin(Instant::now()) => self.learn(),
            None => return Err(failure::paused(name)),
        };
        match attempt.wait(self.shared.plan().connect_timeout).await {
            Some((owners, _)) => {
                self.take_over();
                owners
            }
            None => Err(failure::late_connection(name)),
        }
    }

    /// Takes over what has been learnt meanwhile, and lets go of who has left.
    fn take_over(&self) {
        let mut learning = self.learning.borrow_mut();
        let Some(attempt) = &*learning else { return };
        match attempt.outcome() {
            Some((Ok(owners), _)) => {
                let known = |address: &str| owners.servers().any(|server| server.address() == address);
                self.nodes.borrow_mut().retain(|address, _| known(address));
                self.shared.keep_breakers(known);
                self.pace.borrow_mut().succeeded();
                self.owners.replace(owners);
            }
            Some((Err(error), ended)) => {
                tracing::debug!("{error}");
                self.shared.counters().failed();
                self.pace.borrow_mut().failed(ended);
            }
            None if attempt.is_lost() => {}
            None => return,
        }
        *learning = None;
    }

    /// Something has changed: learns anew, unless that has been done just now. Nobody waits for it.
    fn look_again(&self) {
        self.take_over();
        let lately = self.learnt.get().is_some_and(|begun| begun.elapsed() < BETWEEN);
        if !lately && self.learning.borrow().is_none() {
            self.learn();
        }
    }

    fn learn(&self) -> Attempt<Arc<Owners>> {
        let now = Instant::now();
        self.pace.borrow_mut().begun(now);
        self.learnt.set(Some(now));
        // Those who are well first; the seeds after those we know, since all of these may have moved.
        let known = Arc::clone(&self.owners.borrow());
        let mut servers: Vec<RedisServer> = Vec::new();
        for server in known.servers().chain(&self.seeds) {
            if !servers.contains(server) {
                servers.push(server.clone());
            }
        }
        servers.sort_by_key(|server| !self.node(server).is_up());
        let attempt = Attempt::begin(learn(Arc::clone(&self.shared), servers));
        self.learning.replace(Some(attempt.clone()));
        attempt
    }
}

/// Where a redirection leads.
pub(crate) enum Redirected {
    /// The slot is there for good.
    Moved(Rc<Node>),
    /// The slot is on its way there; `ASKING` has to come before the command.
    Ask(Rc<Node>),
}

/// Asks one server after the other, each for its share of the connect timeout.
async fn learn(shared: Arc<SharedLink>, servers: Vec<RedisServer>) -> Result<Arc<Owners>> {
    let name = &shared.plan().name;
    let asked = servers.len().clamp(1, ASKED);
    let share = shared.plan().connect_timeout / u32::try_from(asked).unwrap_or(1);
    let mut last = failure::nobody(name, "no server of the cluster knows who has what");
    for server in servers.iter().take(asked) {
        match tokio::time::timeout(share, owners_by(&shared, server, share)).await {
            Ok(Ok(owners)) if !owners.is_empty() => return Ok(Arc::new(owners)),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => last = error,
            Err(_) => last = failure::late_connection(name),
        }
    }
    Err(last)
}

async fn owners_by(shared: &SharedLink, server: &RedisServer, most: Duration) -> Result<Owners> {
    let mut opened = open(shared, server, As::User, most, None).await?;
    let mut question = redis::cmd("CLUSTER");
    question.arg("SLOTS");
    let reply = opened.connection.send_packed_command(&question).await;
    let reply = failure::checked(&shared.plan().name, reply).map_err(Failure::into_error)?;
    Ok(Owners::parse(&reply, server))
}

/// The reply to a command that followed `ASKING`.
fn only(reply: Value) -> Value {
    match reply {
        Value::Array(mut replies) => replies.pop().unwrap_or(Value::Nil),
        other => other,
    }
}
