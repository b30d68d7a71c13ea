//! Watch: tells when the configuration file changed.
//!
//! The folder is watched rather than the file: editors and Kubernetes replace files instead of writing into them. What
//! happens to other files in it is not passed on: a log written there would otherwise never let a change come to rest,
//! and a fault told in it would be read, and told, again and again.

use std::os::unix::fs::MetadataExt;
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
        let watched = file.to_owned();
        let mut before = Identity::of(file);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading the file is no news.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                let now = Identity::of(&watched);
                if now != before {
                    before = now;
                    // A full channel already holds the news.
                    let _ = sender.try_send(());
                }
            }
        })?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(Watch { changes, _watcher: watcher })
    }

    /// Waits until the file changed and has come to rest.
    pub(crate) async fn changed(&mut self) {
        if self.changes.recv().await.is_none() {
            return std::future::pending().await;
        }
        while tokio::time::timeout(SETTLE, self.changes.recv()).await.is_ok_and(|more| more.is_some()) {}
    }
}

/// What differs between two states of a file, links followed.
#[derive(PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    length: u64,
    modified: (i64, i64),
}

impl Identity {
    /// `None`: it is not there.
    fn of(file: &Path) -> Option<Identity> {
        let found = std::fs::metadata(file).ok()?;
        Some(Identity {
            device: found.dev(),
            number: found.ino(),
            length: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_told(watch: &mut Watch) -> bool {
        tokio::time::timeout(Duration::from_millis(500), watch.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn tells_of_its_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("fleetfoot.yaml"), folder.path().join("log"));
        std::fs::write(&file, "a").unwrap();
        let mut watch = Watch::new(&file).unwrap();
        std::fs::write(&other, "a line").unwrap();
        assert!(!is_told(&mut watch).await, "another file");
        std::fs::write(&file, "longer").unwrap();
        assert!(is_told(&mut watch).await, "written in place");
        std::fs::rename(&other, &file).unwrap();
        assert!(is_told(&mut watch).await, "replaced");
        std::fs::remove_file(&file).unwrap();
        assert!(is_told(&mut watch).await, "removed");
    }

    /// As Kubernetes mounts a ConfigMap.
    #[tokio::test]
    async fn tells_when_a_link_on_the_way_changes() {
        let folder = tempfile::tempdir().unwrap();
        for (version, text) in [("v1", "one"), ("v2", "two")] {
            std::fs::create_dir(folder.path().join(version)).unwrap();
            std::fs::write(folder.path().join(version).join("fleetfoot.yaml"), text).unwrap();
        }
        let (data, fresh) = (folder.path().join("..data"), folder.path().join("..fresh"));
        let file = folder.path().join("fleetfoot.yaml");
        std::os::unix::fs::symlink("v1", &data).unwrap();
        std::os::unix::fs::symlink("..data/fleetfoot.yaml", &file).unwrap();
        let mut watch = Watch::new(&file).unwrap();
        std::os::unix::fs::symlink("v2", &fresh).unwrap();
        std::fs::rename(&fresh, &data).unwrap();
        assert!(is_told(&mut watch).await);
    }
}
