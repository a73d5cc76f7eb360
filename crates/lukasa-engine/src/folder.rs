//! Folders on disk.

use std::io;
use std::path::Path;

/// Writes the entries of a folder to disk: without it, a crash could lose a file that was created, renamed
/// or removed in it.
#[cfg(unix)]
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::fs::File::open(folder)?.sync_all()
}

/// Does nothing: Windows has no such call. NTFS logs its changes of folders in their order, and a program
/// that syncs a file has the entries from before on disk, too. A removal may be lost in a crash.
#[cfg(windows)]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
