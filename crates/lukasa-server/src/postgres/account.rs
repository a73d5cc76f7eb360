//! The account that PostgreSQL runs as when Lukasa is run by root: PostgreSQL refuses to be root.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Accounts that are tried if none is named: Lukasa's, the one of `scripts/postgres`, and the one that
/// PostgreSQL's own package creates.
const DEFAULT_ACCOUNTS: [&str; 3] = ["lukasa", "lukasa-pg", "postgres"];

/// An account of the operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    user: u32,
    group: u32,
}

pub fn is_root() -> bool {
    // The owner of /proc/self is the process's user; systems without /proc have the `id` program.
    match std::fs::metadata("/proc/self") {
        Ok(metadata) => metadata.uid() == 0,
        Err(_) => number(&["-u"]) == Some(0),
    }
}

/// The account to run PostgreSQL as; `None`, the current one, unless Lukasa is run by root.
pub fn needed(named: Option<&str>) -> anyhow::Result<Option<Account>> {
    if !is_root() {
        return Ok(None);
    }
    match named {
        Some(name) => {
            let found = find(name);
            found.map(Some).with_context(|| {
                format!(
                    "there is no account called {name}\n  next: create it with useradd --system"
                )
            })
        }
        None => match DEFAULT_ACCOUNTS.iter().find_map(|name| find(name)) {
            Some(account) => Ok(Some(account)),
            None => bail!(
                "PostgreSQL does not run as root, and there is no account for it\n  next: run lukasa as \
                 another user, or create an account: useradd --system lukasa"
            ),
        },
    }
}

fn find(name: &str) -> Option<Account> {
    let user = number(&["-u", name]).filter(|user| *user != 0)?;
    Some(Account { name: name.to_owned(), user, group: number(&["-g", name])? })
}

fn number(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

impl Account {
    /// Runs a command as this account.
    pub fn apply_to(&self, command: &mut tokio::process::Command) {
        command.uid(self.user).gid(self.group);
    }

    pub fn apply_to_std(&self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Makes this account the owner of a folder.
    pub fn take_ownership(&self, folder: &Path) -> anyhow::Result<()> {
        std::os::unix::fs::chown(folder, Some(self.user), Some(self.group))
            .with_context(|| format!("cannot make {} the owner of {}", self.name, folder.display()))
    }
}
