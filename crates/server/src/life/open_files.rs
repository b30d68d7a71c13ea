//! Open files: how many sockets this process may have. Raised by `control` at the start, so that nobody has to call
//! `ulimit`; compared with what the plan promises at the start and with every reload.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is open besides clients' connections: listening sockets, runtimes, the log, idle connections to origins.
const OTHERS: u64 = 100;

/// Raises the limit as far as this user may.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!("the limit of open files stays at {}: {error}", current.unwrap_or(u64::MAX));
    }
}

/// Says so when `limits.connections` can never be reached.
pub(crate) fn compare(connections: usize) {
    if let Some(most) = getrlimit(Resource::Nofile).current
        && let Some(warning) = warning(connections as u64, most)
    {
        // Whoever wrote a number means it; the usual one is only as many as most machines can bear.
        if connections == plan::Limits::default().connections {
            tracing::info!("{warning}");
        } else {
            tracing::warn!("{warning}");
        }
    }
}

fn warning(connections: u64, most: u64) -> Option<String> {
    (connections.saturating_add(OTHERS) > most).then(|| {
        format!(
            "`limits.connections` is {connections}, but this process may open only {most} files, and each connection \
             to a client or an origin is one: raise the limit (`ulimit -Hn`, `LimitNOFILE=` of systemd) or write less"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_what_is_allowed() {
        raise_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }

    #[test]
    fn warns_when_connections_cannot_fit() {
        assert_eq!(warning(900, 1024), None);
        let warning = warning(65_536, 1024).unwrap();
        assert!(warning.contains("65536") && warning.contains("1024"), "{warning}");
    }
}
