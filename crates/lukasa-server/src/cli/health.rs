//! `lukasa health`

use clap::Args;
use serde_json::json;

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 0 if the server is ready, and with 1 if not: for a container's health check or a script that
waits. `lukasa doctor` shows what is wrong with a database.

  until lukasa health; do sleep 1; done")]
pub struct HealthArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl HealthArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let alive = self.server.get("/readyz").await?;
        if self.format.json {
            return say_json(&json!({ "ok": true, "version": alive["version"] }));
        }
        let version = alive["version"].as_str().unwrap_or_default();
        say(&format!("Lukasa {version} is ready at {}", self.server.url()))
    }
}
