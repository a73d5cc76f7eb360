//! `lukasa migrate`

use clap::Args;
use lukasa_core::placement::MAIN_CELL;
use lukasa_engine::cells::{self, CellMigration};
use lukasa_engine::{ConnectOptions, Migration};
use serde_json::json;

use super::{DatabaseArgs, FormatArgs, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Runs as the login role of the URL, which becomes the owner of the tables. Requests are served by the role
lukasa_serve, which the first migration creates; it owns nothing and cannot bypass row-level security.
Running it again is safe, and concurrent runs wait for each other. With several cells the directory is the
last; a cell that fails is reported at the end, and does not keep the others from being migrated.")]
pub struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// Only show what would be applied
    #[arg(long)]
    dry_run: bool,
}

impl MigrateArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let results = cells::migrate(&opened.connect, self.dry_run).await?;
        let (count, mut steps, mut failed) = (results.len(), Vec::new(), Vec::new());
        for CellMigration { cell, steps: of_cell } in results {
            match of_cell {
                Ok(of_cell) => {
                    steps.extend(of_cell.into_iter().map(|step| with_cell_name(step, &cell)));
                }
                Err(error) => failed.push((cell, format!("{:#}", anyhow::Error::new(error)))),
            }
        }
        self.report(&steps, &failed)?;
        if failed.is_empty() {
            return Ok(());
        }
        let lines: String =
            failed.iter().map(|(cell, error)| format!("  cell {cell}: {error}\n")).collect();
        anyhow::bail!(
            "{} of {count} databases could not be migrated:\n{lines}  next: correct what is wrong, and \
             run `lukasa migrate` again",
            failed.len()
        )
    }

    fn report(&self, steps: &[Migration], failed: &[(String, String)]) -> anyhow::Result<()> {
        if self.format.json {
            let steps: Vec<_> =
                steps.iter().map(|s| json!({ "version": s.version, "name": s.name })).collect();
            let word = if self.dry_run { "pending" } else { "applied" };
            let mut report = json!({ word: steps });
            if !failed.is_empty() {
                let failed: Vec<_> = failed
                    .iter()
                    .map(|(cell, error)| json!({ "cell": cell, "error": error }))
                    .collect();
                report["failed"] = json!(failed);
            }
            return say_json(&report);
        }
        if steps.is_empty() && failed.is_empty() {
            return say("The schema is up to date.");
        }
        let word = if self.dry_run { "Would apply" } else { "Applied" };
        for step in steps {
            say(&format!("{word} {} {}", step.version, step.name))?;
        }
        Ok(())
    }
}

/// The step with the name of its cell, unless that is main.
fn with_cell_name(step: Migration, cell: &str) -> Migration {
    if cell == MAIN_CELL {
        return step;
    }
    Migration { name: format!("{} in cell {cell}", step.name), ..step }
}

/// Applies the pending migrations to all cells. One other than main that fails is reported: its users
/// are refused until it has the schema.
pub async fn migrate_and_log(connect: &ConnectOptions) -> anyhow::Result<()> {
    for CellMigration { cell, steps } in cells::migrate(connect, false).await? {
        match steps {
            Ok(steps) => {
                for step in steps {
                    tracing::info!(
                        version = step.version,
                        name = step.name,
                        cell,
                        "migration applied"
                    );
                }
            }
            Err(error) if cell == MAIN_CELL => return Err(error.into()),
            Err(error) => tracing::error!(cell, %error, "a cell was not migrated"),
        }
    }
    Ok(())
}
