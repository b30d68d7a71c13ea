//! Watch: tells when the configuration file changed.
//!
//! The folder is watched rather than the file: editors and Kubernetes replace files instead of writing into them.

use std::path::Path;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

/// Several events follow each other when a file is written; this long after the last one it is read.
const SETTLE: Duration = Duration::from_millis(100);

/// Watches as long as it lives.
pub(crate) struct Watch {
    changes: mpsc::Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches `file`'s folder. Fails where the system has no such service (limits of inotify): SIGHUP still works.
    pub(crate) fn new(file: &Path) -> notify::Result<Watch> {
        let (sender, changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // A full channel already holds the news. Reading the file is no news.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let _ = sender.try_send(());
            }
        })?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(Watch { changes, _watcher: watcher })
    }

    /// Waits until something in the folder changed and has come to rest.
    pub(crate) async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            return std::future::pending().await;
        }
        while tokio::time::timeout(SETTLE, self.changes.recv()).await.is_ok_and(|more| more.is_some()) {}
    }
}
