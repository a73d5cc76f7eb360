//! PostgreSQL refuses to run as root, so root borrows another account for it.

use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

/// Accounts that root borrows if none is named: ours, the one of `scripts/postgres`, and the one that
/// PostgreSQL's own package makes.
const USUAL: [&str; 3] = ["lukasa", "lukasa-pg", "postgres"];

/// An account of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    user: u32,
    group: u32,
}

pub fn is_root() -> bool {
    // Whoever owns our own process's folder is who we are; elsewhere the `id` program says it.
    match std::fs::metadata("/proc/self") {
        Ok(about) => about.uid() == 0,
        Err(_) => number(&["-u"]) == Some(0),
    }
}

/// The account to run PostgreSQL as: nobody else's unless we are root.
pub fn needed(named: Option<&str>) -> anyhow::Result<Option<Account>> {
    if !is_root() {
        return Ok(None);
    }
    match named {
        Some(name) => {
            let found = find(name);
            found.map(Some).with_context(|| format!("there is no account called {name}"))
        }
        None => match USUAL.iter().find_map(|name| find(name)) {
            Some(account) => Ok(Some(account)),
            None => bail!(
                "PostgreSQL does not run as root, and there is no account for it\n  next: run lukasa as \
                 yourself instead, or make one: useradd --system lukasa"
            ),
        },
    }
}

fn find(name: &str) -> Option<Account> {
    let user = number(&["-u", name]).filter(|user| *user != 0)?;
    Some(Account { name: name.to_owned(), user, group: number(&["-g", name])? })
}

fn number(arguments: &[&str]) -> Option<u32> {
    let said = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(said.stdout).ok()?.trim().parse().ok()
}

impl Account {
    /// Has a program run as this account.
    pub fn take_on(&self, command: &mut tokio::process::Command) {
        command.uid(self.user).gid(self.group);
    }

    pub fn take_on_std(&self, command: &mut Command) {
        command.uid(self.user).gid(self.group);
    }

    /// Makes a folder this account's own.
    pub fn own(&self, folder: &Path) -> anyhow::Result<()> {
        std::os::unix::fs::chown(folder, Some(self.user), Some(self.group))
            .with_context(|| format!("cannot give {} to {}", folder.display(), self.name))
    }
}
