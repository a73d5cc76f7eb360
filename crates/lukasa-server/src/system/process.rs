//! Starting programs: in the place of this one, and apart from it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::Command;

/// Replaces this process by a program with its own arguments and further variables. Returns only if that
/// fails.
#[cfg(unix)]
pub fn start_instead(
    program: &Path,
    name: Option<&OsStr>,
    arguments: &[OsString],
    variables: &[(OsString, OsString)],
) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(program);
    if let Some(name) = name {
        command.arg0(name);
    }
    command.args(arguments).envs(variables.iter().cloned()).exec()
}

/// Runs a program, waits for it and ends with its exit code, because Windows cannot replace a process.
/// Ctrl-C reaches both, so this one ignores it and waits for the other. The name of the program cannot be
/// set there. Returns only if the program cannot be run.
#[cfg(windows)]
pub fn start_instead(
    program: &Path,
    _: Option<&OsStr>,
    arguments: &[OsString],
    variables: &[(OsString, OsString)],
) -> io::Error {
    use tokio::signal::windows;
    let ignored = (windows::ctrl_c(), windows::ctrl_break());
    let mut command = Command::new(program);
    match command.args(arguments).envs(variables.iter().cloned()).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => {
            drop(ignored);
            error
        }
    }
}

/// Keeps Ctrl-C in the terminal of this process, and the end of that terminal, from the command.
#[cfg(unix)]
pub fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

/// As on Unix: the command gets a process group and a console without a window of its own.
#[cfg(windows)]
pub fn detach(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
}

/// Whether the files of Linux's /proc tell the processes of the machine. Under Wine they would be those of
/// its host.
pub fn has_proc() -> bool {
    cfg!(unix) && Path::new("/proc/self").exists()
}
