//! The account that PostgreSQL runs as when Lukasa is run by root: PostgreSQL refuses to be root.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::system::account::{self, AccountIds};

/// Accounts that are tried if none is named: Lukasa's, the one of `scripts/postgres`, and the one that
/// PostgreSQL's own package creates.
const DEFAULT_ACCOUNTS: [&str; 3] = ["lukasa", "lukasa-pg", "postgres"];

/// An account of the operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    ids: AccountIds,
}

/// The account to run PostgreSQL as; `None`, the current one, unless Lukasa is run by root.
pub fn needed(named: Option<&str>) -> anyhow::Result<Option<Account>> {
    if !account::is_root() {
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
    account::find(name).map(|ids| Account { name: name.to_owned(), ids })
}

impl Account {
    /// Runs a command as this account.
    pub fn apply_to(&self, command: &mut Command) {
        account::run_as(command, self.ids);
    }

    /// Makes this account the owner of a folder.
    pub fn take_ownership(&self, folder: &Path) -> anyhow::Result<()> {
        account::change_owner(folder, self.ids)
            .with_context(|| format!("cannot make {} the owner of {}", self.name, folder.display()))
    }
}
