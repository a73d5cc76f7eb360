//! Files and folders that only their owner can use, and paths without links.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// Creates or empties a file that only its owner can read and write.
#[cfg(unix)]
pub fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// Creates or empties a file. It inherits the access control list of its folder, which in the user's
/// profile admits no other user.
#[cfg(windows)]
pub fn create_private(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// The permissions of a file that only its owner can read and write; `None` if the folder decides.
#[cfg(unix)]
pub fn private_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(Permissions::from_mode(0o600))
}

#[cfg(windows)]
pub fn private_permissions() -> Option<Permissions> {
    None
}

/// Lets no other account enter a folder.
#[cfg(unix)]
pub fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// Does nothing: PostgreSQL has no socket in a folder there, and asks for a password.
#[cfg(windows)]
pub fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether root owns a file.
#[cfg(unix)]
pub fn is_owned_by_root(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(fs::metadata(path)?.uid() == 0)
}

/// False for a file that exists: there is no `sudo` that would keep the home folder of another user.
#[cfg(windows)]
pub fn is_owned_by_root(path: &Path) -> io::Result<bool> {
    fs::metadata(path).map(|_| false)
}

/// The absolute path of something that exists, without links in it.
#[cfg(unix)]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// The absolute path of something that exists. Links stay in it: a path without them begins with `\\?\`,
/// which PostgreSQL's programs do not accept.
#[cfg(windows)]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::metadata(path)?;
    std::path::absolute(path)
}
