//! `lukasa cell add | list | move | drain | reconnect | remove`

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use lukasa_core::TenantId;
use lukasa_core::placement::{MAIN_CELL, PlacedRange, Placement, UserRange};
use lukasa_engine::cells::{self, CellAddress, MoveProgress, MoveRequest};
use serde_json::{Value, json};

use super::show::{Table, count};
use super::{DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
A deployment has one cell, called main, in the database of DATABASE_URL, until others are added. A cell is a
PostgreSQL database that holds whole users. Reads are never refused during a move, and a write waits only
while its own user is copied. An interrupted move is continued by the same command, and reversed by the
opposite one. docs/scaling.md describes when cells are needed, and what they need.

  lukasa cell add east postgres://…              add an empty, migrated database
  lukasa cell move main east --range 80-ff       move the upper half of the users
  lukasa cell move main east --tenant acme       move the users of one tenant, and keep them there
  lukasa cell list
  lukasa cell drain east --to main               move all users out of it
  lukasa cell reconnect east --url postgres://…  its address has changed, or a backup was restored
  lukasa cell remove east")]
pub enum CellCommand {
    /// Add an empty, migrated database as a cell.
    Add(AddCellArgs),
    /// List the cells, what they hold, and the moves under way.
    List(ListCellsArgs),
    /// Move a range of users, or a tenant, from one cell to another.
    Move(MoveUsersArgs),
    /// Move all users of a cell to another.
    Drain(DrainCellArgs),
    /// Set the URL of a cell, and make the replication to it again.
    Reconnect(ReconnectCellArgs),
    /// Remove a cell that holds no users.
    Remove(RemoveCellArgs),
}

impl CellCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            CellCommand::Add(command) => command.run().await,
            CellCommand::List(command) => command.run().await,
            CellCommand::Move(command) => command.run().await,
            CellCommand::Drain(command) => command.run().await,
            CellCommand::Reconnect(command) => command.run().await,
            CellCommand::Remove(command) => command.run().await,
        }
    }
}

#[derive(Debug, Args)]
pub struct AddCellArgs {
    /// A short name: lower-case letters, digits and underscores
    #[arg(value_parser = cell_name)]
    name: String,
    /// The URL of its database, for the login role of the servers; it is stored in the directory.
    /// `-` reads it from standard input
    #[arg(value_name = "URL")]
    url: String,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The URL of an argument, or the first line of standard input for `-`.
fn url_of(argument: &str) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    anyhow::ensure!(!line.trim().is_empty(), "standard input has no URL");
    Ok(line.trim().to_owned())
}

impl AddCellArgs {
    async fn run(self) -> anyhow::Result<()> {
        let url = url_of(&self.url)?;
        let opened = self.database.open(1).await?;
        cells::add(&opened.connect, &self.name, &url, clock::now()).await?;
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "cell": self.name, "added": true }));
        }
        say(&format!(
            "Cell {} was added. It holds no users until users are moved to it.",
            self.name
        ))
    }
}

#[derive(Debug, Args)]
pub struct ReconnectCellArgs {
    #[arg(value_parser = cell_name)]
    name: String,
    /// The new URL of its database; `-` reads it from standard input
    #[arg(long)]
    url: Option<String>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ReconnectCellArgs {
    async fn run(self) -> anyhow::Result<()> {
        let url = self.url.as_deref().map(url_of).transpose()?;
        let opened = self.database.open(1).await?;
        cells::reconnect(&opened.connect, &self.name, url.as_deref()).await?;
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "cell": self.name, "connected": true }));
        }
        say(&format!("Cell {} is connected and follows the directory.", self.name))
    }
}

fn cell_name(text: &str) -> Result<String, String> {
    let mut bytes = text.bytes();
    let begins = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
    let rest = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    match begins && rest && text.len() <= 31 && text != MAIN_CELL {
        true => Ok(text.to_owned()),
        false => Err("lower-case letters, digits and underscores, at most 31, not `main`".into()),
    }
}

#[derive(Debug, Args)]
pub struct ListCellsArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ListCellsArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let found = cells::list(&opened.connect).await?;
        let placement = cells::placement(&opened.connect).await?;
        let mut counted = Vec::new();
        for cell in found {
            let users = cells::count_users(&cell.connect).await.ok();
            counted.push((cell, users));
        }
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "cells": counted.iter().map(|(cell, users)| {
                json!({ "name": cell.name, "users": users,
                    "scrub_needed": cell.moved_from_at.is_some() })
            }).collect::<Vec<_>>(), "ranges": ranges(&placement) }));
        }
        let mut table = Table::new(&["cell", "users", "holds"], 0);
        for (cell, users) in &counted {
            let users = users.map_or("does not answer".to_owned(), |users| users.to_string());
            table.row(vec![cell.name.clone(), users, ranges_text(cell, &placement)]);
        }
        say(&table.render())
    }
}

fn ranges(placement: &Placement) -> Vec<Value> {
    let range = |placed: &PlacedRange| {
        json!({ "range": placed.range.to_string(), "tenant": placed.tenant.map(|t| t.to_string()),
            "cell": placed.cell, "moving_to": placed.moving_to })
    };
    placement.ranges().iter().map(range).collect()
}

/// The ranges of users that a cell holds, as text.
fn ranges_text(cell: &CellAddress, placement: &Placement) -> String {
    let one = |placed: &PlacedRange| {
        let tenant = placed.tenant.map(|tenant| format!(" of {tenant}")).unwrap_or_default();
        let moving = placed.moving_to.as_ref().map(|to| format!(", moving to {to}"));
        format!("{}{tenant}{}", placed.range, moving.unwrap_or_default())
    };
    let of_cell = placement.ranges().iter().filter(|placed| placed.cell == cell.name);
    of_cell.map(one).collect::<Vec<_>>().join("; ")
}

#[derive(Debug, Args)]
pub struct MoveUsersArgs {
    /// The cell to move users from
    from: String,
    /// The cell to move them to
    to: String,
    /// Only the users whose ids begin with these hexadecimal digits, such as 80-ff
    #[arg(long, value_parser = user_range, conflicts_with = "tenant")]
    range: Option<UserRange>,
    /// Only the users of this tenant, which stay in the cell when others are moved
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    #[command(flatten)]
    pause: PauseArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
struct PauseArgs {
    /// How long the writes of one user may wait while the user is copied; a larger user stops the move
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 5,
        value_parser = clap::value_parser!(u64).range(1..=3_600)
    )]
    max_pause: u64,
}

impl PauseArgs {
    fn max_pause(&self) -> Duration {
        Duration::from_secs(self.max_pause)
    }
}

fn user_range(text: &str) -> Result<UserRange, String> {
    UserRange::parse(text).ok_or_else(|| "two hexadecimal prefixes, such as 80-ff".into())
}

impl MoveUsersArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let request = MoveRequest {
            tenant: self.tenant.as_deref().map(TenantId::named),
            range: self.range.unwrap_or(UserRange::ALL),
            from: Some(self.from),
            to: self.to,
            max_pause: self.pause.max_pause(),
        };
        let bar = bar();
        let tell = |progress: MoveProgress| bar.set_message(moved_text(progress.moved));
        let moved = cells::move_users(&opened.connect, &request, clock::now(), tell).await?;
        bar.finish_and_clear();
        opened.close().await?;
        report(&self.format, moved)
    }
}

#[derive(Debug, Args)]
pub struct DrainCellArgs {
    /// The cell to empty
    name: String,
    /// The cell to move its users to
    #[arg(long, default_value = MAIN_CELL, value_name = "CELL")]
    to: String,
    #[command(flatten)]
    pause: PauseArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl DrainCellArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let bar = bar();
        let tell = |progress: MoveProgress| bar.set_message(moved_text(progress.moved));
        let (between, pause) = ((&*self.name, &*self.to), self.pause.max_pause());
        let moved = cells::drain(&opened.connect, between, pause, clock::now(), tell).await?;
        bar.finish_and_clear();
        opened.close().await?;
        report(&self.format, moved)
    }
}

#[derive(Debug, Args)]
pub struct RemoveCellArgs {
    /// The cell to remove from the list; its database is left as it is
    name: String,
    /// Its database was destroyed
    #[arg(long)]
    dropped: bool,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl RemoveCellArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        cells::remove(&opened.connect, &self.name, self.dropped).await?;
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "cell": self.name, "removed": true }));
        }
        say(&format!("Cell {} was removed.", self.name))
    }
}

fn moved_text(moved: usize) -> String {
    format!("{} moved", count(moved, "user", "users"))
}

fn report(format: &FormatArgs, moved: usize) -> anyhow::Result<()> {
    if format.json {
        return say_json(&json!({ "moved": moved }));
    }
    say(&format!(
        "{}. Their deleted rows are in the files of the cells until `lukasa scrub`.",
        moved_text(moved)
    ))
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
