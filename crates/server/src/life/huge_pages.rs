//! Huge pages: memory that Linux hands out two megabytes at a time, most of them unused. Declined by `control` at the
//! start, as Redis does: what is resident follows what is stored, and no request was measurably slower.

/// For this process, whatever the system's `transparent_hugepage` says.
pub(crate) fn decline() {
    // A kernel that knows nothing of this has none to decline.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
