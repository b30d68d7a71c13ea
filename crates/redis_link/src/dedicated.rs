//! Dedicated: a connection of one's own, for commands that block and for listening. In: commands, each with the time it
//! may take. Out: replies.

use std::rc::Rc;
use std::time::{Duration, Instant};

use message::Result;
use redis::{Cmd, Pipeline, Value};

use crate::cluster::{REDIRECTIONS, Redirected};
use crate::connect::{OnPush, Opened};
use crate::failure::{self, Failure};
use crate::link::{Link, Way, listed};
use crate::node::{Commands, Node};

/// See the module. Closed when dropped. One that is broken stays so; in a cluster the next command connects anew, to
/// the server that has its key by then.
pub struct Dedicated {
    link: Link,
    held: Held,
}

enum Held {
    One(Opened),
    /// In a cluster: the connection to the server asked last.
    Last(Option<(Rc<Node>, Opened)>),
}

impl Dedicated {
    pub(crate) async fn open(link: Link, on_push: Option<OnPush>) -> Result<Self> {
        let held = match link.way() {
            Way::One(node) => Held::One(node.separate(on_push).await?),
            Way::Cluster(_) => Held::Last(None),
        };
        Ok(Dedicated { link, held })
    }

    /// One command, whose reply may take `most`.
    pub async fn ask(&mut self, command: &Cmd, most: Duration) -> Result<Value> {
        self.put(Commands::One(command), most).await
    }

    /// Several in one round trip, whose replies may take `most` together. Errors are as with
    /// [`Link::ask_all`](crate::Link::ask_all).
    pub async fn ask_all(&mut self, pipeline: &Pipeline, most: Duration) -> Result<Vec<Value>> {
        self.put(Commands::Several(pipeline), most).await.map(listed)
    }

    async fn put(&mut self, question: Commands<'_>, most: Duration) -> Result<Value> {
        let Dedicated { link, held } = self;
        let name = link.shared().plan().name.clone();
        match (link.way(), held) {
            (Way::One(node), Held::One(opened)) => put(node, &name, opened, question, most).await,
            (Way::Cluster(cluster), Held::Last(last)) => {
                let mut node = cluster.node_for(question).await?;
                let mut redirections = 0;
                loop {
                    let opened = match last.take() {
                        Some((there, opened)) if Rc::ptr_eq(&there, &node) && !opened.is_closed() => opened,
                        _ => {
                            node.separate(None).await.inspect_err(|error| drop(cluster.redirected(error)))?
                        }
                    };
                    let (_, opened) = last.insert((Rc::clone(&node), opened));
                    let reply = put(&node, &name, opened, question, most).await;
                    let Err(error) = &reply else { return reply };
                    match cluster.redirected(error) {
                        Some(Redirected::Moved(there)) if redirections < REDIRECTIONS => node = there,
                        _ => return reply,
                    }
                    redirections += 1;
                }
            }
            (Way::One(_), Held::Last(_)) | (Way::Cluster(_), Held::One(_)) => {
                Err(failure::nobody(&name, "no connection"))
            }
        }
    }
}

async fn put(
    node: &Node,
    name: &str,
    opened: &mut Opened,
    question: Commands<'_>,
    most: Duration,
) -> Result<Value> {
    let asked = Instant::now();
    let reply = tokio::time::timeout(most, question.put(&mut opened.connection)).await;
    let reply = reply.map_err(|_| failure::late(name, most))?;
    let reply = failure::checked(name, reply).map_err(Failure::into_error);
    match &reply {
        // As fast as any reply must be: requests need not wait for a probe to find that out.
        Ok(_) if asked.elapsed() <= node.shared().plan().timeout => node.revived(),
        Ok(_) => {}
        Err(error) => node.shared().replied(error),
    }
    reply
}
