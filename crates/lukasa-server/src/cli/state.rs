//! `lukasa state`

use clap::Args;

use super::client::Server;
use super::{Format, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa state                    on this machine
  lukasa state --user alice --json

Two memories with the same hashes hold the same: compare them before and after a move.")]
pub struct State {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl State {
    pub async fn run(self) -> anyhow::Result<()> {
        let state = self.server.get("/api/state").await?;
        if self.format.json {
            return say_json(&state);
        }
        let row = |name: &str, hash: &str| {
            format!("{name:<10} {:>8}   {}", state[name], hash.get(..16).unwrap_or(hash))
        };
        let hash = |name: &str| state["sha256"][name].as_str().unwrap_or_default();
        say(&row("memories", hash("memories")))?;
        say(&row("links", ""))?;
        say(&row("episodes", hash("episodes")))?;
        say(&row("sessions", hash("sessions")))?;
        say(&row("turns", ""))
    }
}
