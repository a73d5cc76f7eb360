//! Where the files of a user and of the machine are.

use std::path::{Path, PathBuf};

/// The variable with the user's home folder.
pub const HOME_VARIABLE: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The user's home folder; `None` if its variable is not set.
pub fn home() -> Option<PathBuf> {
    std::env::var_os(HOME_VARIABLE).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The folder with the data of the user's programs.
#[cfg(unix)]
pub fn data() -> PathBuf {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    data.unwrap_or_else(|| home().unwrap_or_default().join(".local/share"))
}

/// The folder with the data of the user's programs on this machine: no other user can read it, and it is
/// not copied to other machines of a domain, as `%APPDATA%` may be.
#[cfg(windows)]
pub fn data() -> PathBuf {
    let data = std::env::var_os("LOCALAPPDATA").map(PathBuf::from);
    data.unwrap_or_else(|| home().unwrap_or_default().join("AppData").join("Local"))
}

/// The folder that the files of the machine's service are below.
#[cfg(unix)]
pub fn machine_root() -> Option<&'static Path> {
    Some(Path::new("/"))
}

/// `None`: there is no service of the machine, and every user may create folders in the root of a drive.
#[cfg(windows)]
pub fn machine_root() -> Option<&'static Path> {
    None
}
