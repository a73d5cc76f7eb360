//! `lukasa preset`

use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{ServerArgs, ask};
use super::show::field;
use super::{FormatArgs, say, say_json};
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa preset
  lukasa preset advisor
  lukasa preset advisor --consent

Without a name it shows the preset in force. Some presets ask for the user's consent to use what is inferred
about a sensitive domain; without it each such memory waits as a proposal. `lukasa undo` withdraws it.")]
pub struct PresetArgs {
    /// balanced, advisor, chat, assistant, research or clone; it replaces the user's other policy
    /// settings, except those per domain and the pause
    preset: Option<String>,
    /// Give the consent that the preset asks for, without being asked
    #[arg(long)]
    consent: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl PresetArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let mut policy = self.server.get("/api/policy").await?;
        if let Some(preset) = &self.preset {
            let mut body = json!({ "preset": preset });
            for kept in ["domains", "paused"] {
                if let Some(value) = policy["user"].get(kept) {
                    body[kept] = value.clone();
                }
            }
            let request = self.server.request(Method::PUT, "/api/policy")?.json(&body);
            policy = self.server.send(request).await?.json().await?;
        }
        if !self.format.json {
            say(&format!("preset: {}", field(&policy["in_force"], "preset")))?;
        }
        let mut given = Vec::new();
        for card in policy["consents"].as_array().into_iter().flatten() {
            if self.answers_yes(card)? {
                given.push(self.give(card).await?);
            }
        }
        if !self.format.json {
            return given.iter().try_for_each(|written| say(&field(written, "message")));
        }
        let policy = self.server.get("/api/policy").await?;
        say_json(&json!({ "policy": policy, "given": given }))
    }

    /// Whether the user consents: with the option, or when asked at a terminal.
    fn answers_yes(&self, card: &Value) -> anyhow::Result<bool> {
        if self.consent || self.format.json {
            return Ok(self.consent);
        }
        say(&field(card, "question"))?;
        let Some(answer) = ask("Type yes to agree:")? else {
            say("  next: repeat with --consent, or answer it in the console's review")?;
            return Ok(false);
        };
        Ok(answer == "yes")
    }

    async fn give(&self, card: &Value) -> anyhow::Result<Value> {
        let path = format!("/api/domains/{}/consent", encoded(&field(card, "domain")));
        let request = self.server.request(Method::PUT, &path)?.json(&json!({}));
        Ok(self.server.send(request).await?.json().await?)
    }
}
