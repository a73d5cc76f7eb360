//! `lukasa state`

use clap::Args;

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa state                    of the server on this machine
  lukasa state --user alice --json

Equal hashes mean equal contents: compare them before and after a migration.")]
pub struct StateArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl StateArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let state = self.server.get("/api/state").await?;
        if self.format.json {
            return say_json(&state);
        }
        let row = |name: &str, hash: &str| {
            format!("{name:<12} {:>8}   {}", state[name], hash.get(..16).unwrap_or(hash))
        };
        let hash = |name: &str| state["sha256"][name].as_str().unwrap_or_default();
        say(&row("memories", hash("memories")))?;
        say(&row("links", ""))?;
        say(&row("episodes", hash("episodes")))?;
        say(&row("sessions", hash("sessions")))?;
        say(&row("turns", ""))?;
        say(&row("observations", hash("observations")))
    }
}
