//! `lukasa migrate`

use clap::Args;
use serde_json::json;

use super::{Database, Format, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Runs as the login role of the URL, which comes to own the tables. Requests are served by the role
lukasa_serve, which the first migration makes; it owns nothing and cannot bypass row-level security.
Running it twice does no harm, and two at once take turns.")]
pub struct Migrate {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    format: Format,
    /// Only say what would be applied
    #[arg(long)]
    dry_run: bool,
}

impl Migrate {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let connect = opened.connect.clone();
        let steps = if self.dry_run {
            lukasa_engine::pending_migrations(&connect).await?
        } else {
            lukasa_engine::migrate(&connect).await?
        };
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
