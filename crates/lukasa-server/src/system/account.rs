//! Other accounts of a Unix system, as which root runs programs. On Windows a process keeps its account.

use std::io;
use std::path::Path;
use std::process::Command;

/// The user and group of an account, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountIds {
    pub user: u32,
    pub group: u32,
}

/// Whether this process is run by root.
#[cfg(unix)]
pub fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // The owner of /proc/self is the process's user; systems without /proc have the `id` program.
    match std::fs::metadata("/proc/self") {
        Ok(metadata) => metadata.uid() == 0,
        Err(_) => id(&["-u"]) == Some(0),
    }
}

/// False: an administrator of Windows needs no other account, because `pg_ctl` and `initdb` give their
/// rights up before they start PostgreSQL.
#[cfg(windows)]
pub fn is_root() -> bool {
    false
}

/// The ids of the account with this name, unless it is root's.
pub fn find(name: &str) -> Option<AccountIds> {
    let user = id(&["-u", name]).filter(|user| *user != 0)?;
    Some(AccountIds { user, group: id(&["-g", name])? })
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Runs a command as this account.
#[cfg(unix)]
pub fn run_as(command: &mut Command, ids: AccountIds) {
    use std::os::unix::process::CommandExt as _;
    command.uid(ids.user).gid(ids.group);
}

/// Does nothing: [`is_root`] is false, so no other account is looked for.
#[cfg(windows)]
pub fn run_as(_: &mut Command, _: AccountIds) {}

/// Makes this account the owner of a file or folder.
#[cfg(unix)]
pub fn change_owner(path: &Path, ids: AccountIds) -> io::Result<()> {
    std::os::unix::fs::chown(path, Some(ids.user), Some(ids.group))
}

/// Does nothing, as [`run_as`].
#[cfg(windows)]
pub fn change_owner(_: &Path, _: AccountIds) -> io::Result<()> {
    Ok(())
}
