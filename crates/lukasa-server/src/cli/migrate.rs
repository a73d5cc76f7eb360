//! `lukasa migrate`

use anyhow::Context as _;
use clap::Args;
use lukasa_engine::{ConnectOptions, Migration, cells};
use serde_json::json;

use super::{DatabaseArgs, FormatArgs, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Runs as the login role of the URL, which becomes the owner of the tables. Requests are served by the role
lukasa_serve, which the first migration creates; it owns nothing and cannot bypass row-level security.
Running it again is safe, and concurrent runs wait for each other.")]
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
    async fn steps(&self, connect: &ConnectOptions) -> anyhow::Result<Vec<Migration>> {
        Ok(match self.dry_run {
            true => lukasa_engine::pending_migrations(connect).await?,
            false => lukasa_engine::migrate(connect).await?,
        })
    }

    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let connect = opened.connect.clone();
        let mut steps = self.steps(&connect).await?;
        for cell in cells::list(&connect).await?.into_iter().skip(1) {
            let of_cell = self.steps(&cell.connect).await;
            let of_cell = of_cell.with_context(|| format!("cell {}", cell.name))?;
            let named = |step: Migration| Migration {
                name: format!("{} in cell {}", step.name, cell.name),
                ..step
            };
            steps.extend(of_cell.into_iter().map(named));
        }
        if self.format.json {
            let steps: Vec<_> =
                steps.iter().map(|s| json!({ "version": s.version, "name": s.name })).collect();
            let word = if self.dry_run { "pending" } else { "applied" };
            return say_json(&json!({ word: steps }));
        }
        if steps.is_empty() {
            return say("The schema is up to date.");
        }
        let word = if self.dry_run { "Would apply" } else { "Applied" };
        for step in steps {
            say(&format!("{word} {} {}", step.version, step.name))?;
        }
        Ok(())
    }
}
