//! Replication: what a server says of it in `INFO replication`. In: the text. Out: the few lines that matter. Read by
//! `replica`.

/// What a server is to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Replication {
    Master(Place),
    Replica {
        /// Whether it hears its master.
        is_linked: bool,
        /// How far it has come; `None` while it takes over everything anew.
        place: Option<Place>,
    },
}

/// A point in the stream of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Which stream: changes with the master.
    pub(super) stream: String,
    /// Bytes of it.
    pub(super) offset: u64,
}

impl Replication {
    /// `None`: it is no such text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line =
            |name: &str| text.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':'));
        let number = |name| line(name)?.parse::<u64>().ok();
        let stream = line("master_replid")?.to_owned();
        match line("role")? {
            "master" => Some(Replication::Master(Place { stream, offset: number("master_repl_offset")? })),
            "slave" => {
                let is_syncing = line("master_sync_in_progress").is_some_and(|word| word != "0");
                // What was carried out rather than what was received, where a server says both.
                let offset = number("slave_repl_offset");
                let place = offset.filter(|_| !is_syncing).map(|offset| Place { stream, offset });
                Some(Replication::Replica { is_linked: line("master_link_status") == Some("up"), place })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: u64) -> Place {
        Place { stream: "3f1a".to_owned(), offset }
    }

    #[test]
    fn a_master_says_how_far_it_has_written() {
        let text = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\nmaster_replid:3f1a\r\nmaster_repl_offset:700\r\n";
        assert_eq!(Replication::parse(text), Some(Replication::Master(place(700))));
    }

    #[test]
    fn a_replica_says_how_far_it_has_come() {
        let text = |link: &str, syncing: u8| {
            format!(
                "role:slave\r\nmaster_link_status:{link}\r\nmaster_sync_in_progress:{syncing}\r\nslave_read_repl_offset:710\r\n\
                 slave_repl_offset:700\r\nmaster_replid:3f1a\r\nmaster_repl_offset:700\r\n"
            )
        };
        let replica = |is_linked, place| Some(Replication::Replica { is_linked, place });
        assert_eq!(Replication::parse(&text("up", 0)), replica(true, Some(place(700))));
        assert_eq!(Replication::parse(&text("down", 0)), replica(false, Some(place(700))));
        assert_eq!(Replication::parse(&text("down", 1)), replica(false, None));
    }

    #[test]
    fn anything_else_says_nothing() {
        for text in
            ["", "role:master", "role:sentinel\r\nmaster_replid:x", "role:master\r\nmaster_replid:x\r\n"]
        {
            assert_eq!(Replication::parse(text), None, "{text}");
        }
    }
}
