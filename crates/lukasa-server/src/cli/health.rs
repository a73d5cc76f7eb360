//! `lukasa health`

use clap::Args;
use serde_json::json;

use super::client::Server;
use super::{Format, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 0 if the server answers and can do its work, and with 1 if not: for a container's health check
or a script that waits. What is wrong with a database is for `lukasa doctor` to say.

  until lukasa health; do sleep 1; done")]
pub struct Health {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl Health {
    pub async fn run(self) -> anyhow::Result<()> {
        let alive = self.server.get("/readyz").await?;
        if self.format.json {
            return say_json(&json!({ "ok": true, "version": alive["version"] }));
        }
        let version = alive["version"].as_str().unwrap_or_default();
        say(&format!("Lukasa {version} is ready at {}", self.server.url()))
    }
}
