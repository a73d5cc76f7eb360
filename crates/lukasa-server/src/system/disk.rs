//! Free space of a disk.

use std::path::Path;

/// The bytes that this user can still write on the disk of a folder.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}

/// `None`: the standard library cannot ask Windows, so nothing warns of a full disk there.
#[cfg(windows)]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}
