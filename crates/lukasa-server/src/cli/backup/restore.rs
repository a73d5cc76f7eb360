//! `lukasa backup restore`

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use lukasa_engine::backup::{self, DatabaseContents, TableDigest};
use lukasa_engine::removal::ReplayReport;
use lukasa_engine::{ConnectOptions, cells};
use serde_json::json;

use super::{
    cell_file, check_exists, compare_tables, manifest, manifest_file, restore_into, scratch_name,
};
use crate::cli::show::count;
use crate::cli::{DatabaseArgs, ErasureJournalArgs, FormatArgs, OpenDatabase, say, say_json};
use crate::clock;
use crate::postgres::tool;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  createdb lukasa
  lukasa backup restore lukasa.backup --database-url postgres:///lukasa --erasure-journal erasures.journal
  lukasa backup restore lukasa.backup --cell east --database-url postgres:///east

Stop the servers first. The database has to be empty, or have the schema without users and keys. The backup
is restored into a scratch database on the same server, compared with its manifest and migrated; only then
is it restored into the database of the URL, and what was erased since the backup is removed again, by the
erasure journal. With several cells, restore main first, then each cell with --cell; the first server that
starts with the journal removes what was erased. The login role has to be a superuser, or be exempt from
row-level security and own the database.")]
pub struct RestoreBackupArgs {
    /// The backup file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Restore the file of this cell, FILE.NAME, into the database of the URL
    #[arg(long, value_name = "NAME")]
    cell: Option<String>,
    #[command(flatten)]
    journal: ErasureJournalArgs,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The steps for what was ended since the backup, which no journal lists.
const ENDED_KEYS: &str = "revoke again the keys that were revoked after the backup (`lukasa key list`, `lukasa key \
                          revoke`): they are in force in the restored database";
const ENDED_GRANTS: &str = "end again the grants of spaces and the sign-ins that were ended after the backup (`lukasa \
                            space end`): they are in force in the restored database";

/// What was restored.
struct RestoreReport {
    tables: usize,
    rows: i64,
    /// Whether the rows were compared with a manifest.
    is_compared: bool,
    /// Users in the restored database, after the erasures.
    users: i64,
    /// The cells other than main that the restored database lists.
    cells: Vec<String>,
    replayed: Option<ReplayReport>,
}

impl RestoreBackupArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let program = tool("pg_restore", self.database.postgres_dir.as_deref())?;
        let file = match &self.cell {
            Some(cell) => cell_file(&self.file, cell),
            None => self.file.clone(),
        };
        check_exists(&file)?;
        if let Some(path) = &self.journal.erasure_journal
            && !path.exists()
        {
            bail!(
                "there is no erasure journal {}\n  next: name the journal of the servers; without it \
                 data that was erased after the backup would return",
                path.display()
            );
        }
        let opened = self.database.open(4).await?;
        let restored = self.restore(&program, &file, &opened).await;
        opened.close().await?;
        self.report(&file, &restored?)
    }

    async fn restore(
        &self,
        program: &Path,
        file: &Path,
        opened: &OpenDatabase,
    ) -> anyhow::Result<RestoreReport> {
        if opened.is_managed_elsewhere() {
            bail!("a server runs with this PostgreSQL\n  next: stop it, then restore");
        }
        let target = &opened.connect;
        let before = backup::contents(target).await?;
        check_empty(&before)?;
        // Roles are not in a backup; the migrations create the serving role and grant it.
        backup::migrate_one(target).await?;
        let scratch = backup::scratch(target, &scratch_name("restore")).await?;
        let tried = try_restore(program, file, &scratch).await;
        // The scratch database is removed even if the trial failed.
        backup::remove_scratch(&scratch).await?;
        let (digests, tables, is_compared) = tried?;
        let foreign: Vec<&String> =
            before.tables.iter().filter(|table| !tables.contains(table)).collect();
        if !foreign.is_empty() {
            let names = foreign.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
            bail!(
                "the database has tables that are not Lukasa's: {names}\n  next: create another \
                 database, and name it with --database-url"
            );
        }
        backup::clear(target).await?;
        restore_into(program, file, target).await?;
        backup::migrate_one(target).await?;
        let listed = cells::list(target).await?.into_iter().skip(1);
        let cells: Vec<String> = listed.map(|cell| cell.name).collect();
        let replayed = self.replay(opened, cells.is_empty()).await.context(
            "the backup was restored, but what was erased since was not removed again; a server that \
             starts with the erasure journal does it before it answers",
        )?;
        Ok(RestoreReport {
            tables: digests.len(),
            rows: digests.iter().map(|table| table.rows).sum(),
            is_compared,
            users: cells::count_users(target).await?,
            cells,
            replayed,
        })
    }

    /// Removes again what was erased since the backup; `None` without a journal, and for a
    /// deployment with several cells, all of which must answer for it.
    async fn replay(
        &self,
        opened: &OpenDatabase,
        is_only_cell: bool,
    ) -> anyhow::Result<Option<ReplayReport>> {
        let journal = self.journal.or_beside(opened);
        let exists = journal.erasure_journal.as_ref().is_some_and(|path| path.exists());
        if !exists || !is_only_cell || self.cell.is_some() {
            return Ok(None);
        }
        let engine = opened.engine()?.with_clock(clock::now).with_ticks(clock::ticks);
        let (engine, report) = journal.replay(engine).await?;
        engine.close();
        Ok(Some(report))
    }

    fn report(&self, file: &Path, restored: &RestoreReport) -> anyhow::Result<()> {
        let next = self.next_steps(restored);
        if self.format.json {
            let replayed = restored.replayed.map(|r| {
                json!({ "entries": r.entries, "users": r.users, "memories": r.memories,
                    "turns": r.turns, "observations": r.observations, "members": r.members,
                    "skipped": r.skipped })
            });
            return say_json(&json!({ "file": file, "tables": restored.tables,
                "rows": restored.rows, "compared": restored.is_compared, "users": restored.users,
                "cells": restored.cells, "erased_again": replayed, "next": next }));
        }
        let compared = match restored.is_compared {
            true => "all rows equal the manifest".to_owned(),
            false => format!("there is no {} to compare with", manifest_file(file).display()),
        };
        let tables = count(restored.tables, "table", "tables");
        say(&format!("{}: {tables}, {} rows; {compared}", file.display(), restored.rows))?;
        if let Some(r) = &restored.replayed {
            say(&format!(
                "Erased again, by {} of the journal: {}, {}, {}, {}.",
                count(r.entries, "line", "lines"),
                count(r.users, "user", "users"),
                count(r.memories, "memory", "memories"),
                count(r.turns, "turn", "turns"),
                count(r.observations, "observation", "observations")
            ))?;
        }
        say(&format!("The database has {} users.", restored.users))?;
        next.iter().try_for_each(|step| say(&format!("next: {step}")))
    }

    fn next_steps(&self, restored: &RestoreReport) -> Vec<String> {
        const SERVE: &str = "start the servers with --erasure-journal and the current journal: data \
                             that was erased after the backup is in the database until then";
        let mut steps = Vec::new();
        if let Some(cell) = &self.cell {
            steps.push(format!(
                "run `lukasa cell reconnect {cell} --url URL` with the directory's DATABASE_URL"
            ));
            steps.push(ENDED_GRANTS.to_owned());
            return steps;
        }
        for cell in &restored.cells {
            let file = self.file.display();
            steps.push(format!(
                "run `lukasa backup restore {file} --cell {cell} --database-url URL`, then `lukasa \
                 cell reconnect {cell} --url URL`"
            ));
        }
        steps.push(ENDED_KEYS.to_owned());
        let serve = "start the servers, then run `lukasa scrub`";
        steps.push(if restored.replayed.is_some() { serve } else { SERVE }.to_owned());
        steps.push(ENDED_GRANTS.to_owned());
        steps
    }
}

/// Fails unless nothing would be lost by a restore into the database.
fn check_empty(found: &DatabaseContents) -> anyhow::Result<()> {
    const NEXT: &str = "next: create another database, and name it with --database-url";
    let tables = found.tables.len();
    if !found.has_schema() && tables > 0 {
        bail!("the database has {tables} tables that are not Lukasa's\n  {NEXT}");
    }
    if found.users + found.credentials > 0 {
        bail!(
            "the database holds {} users and {} keys; a backup is restored into an empty one\n  {NEXT}",
            found.users,
            found.credentials
        );
    }
    if found.connections > 0 {
        bail!(
            "{} other programs are connected to the database\n  next: stop the servers, then restore",
            found.connections
        );
    }
    Ok(())
}

/// Restores the file into a scratch database, compares it with its manifest, and migrates it.
/// Returns the tables of the backup, the tables after the migrations, and whether there was a
/// manifest.
async fn try_restore(
    program: &Path,
    file: &Path,
    scratch: &ConnectOptions,
) -> anyhow::Result<(Vec<TableDigest>, Vec<String>, bool)> {
    restore_into(program, file, scratch).await?;
    let digests = backup::table_digests(&backup::snapshot(scratch).await?).await?;
    let expected = manifest(file)?;
    if let Some(expected) = &expected {
        let compared = compare_tables(&digests, expected);
        let differ = compared.into_iter().filter(|table| !table.same).map(|table| table.table);
        let differ: Vec<String> = differ.collect();
        if !differ.is_empty() {
            bail!(
                "the backup differs from its manifest in {}; nothing was restored\n  next: `lukasa \
                 backup verify {}` shows the rows; restore another backup",
                differ.join(", "),
                file.display()
            );
        }
    }
    backup::migrate_one(scratch).await.context(
        "the backup cannot be migrated to the schema of this program; nothing was restored",
    )?;
    let migrated = backup::contents(scratch).await?;
    Ok((digests, migrated.tables, expected.is_some()))
}
