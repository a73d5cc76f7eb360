//! `lukasa webhook add | list | test | deliveries | replay | remove`

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Server;
use super::{Format, say, say_json};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  lukasa webhook add https://example.com/lukasa
  lukasa webhook add https://example.com/lukasa --verb erase --verb forget
  lukasa webhook test whk_01hx3v9d0kf7rtm4q5wz8yb2cd
  lukasa webhook deliveries whk_01hx3v9d0kf7rtm4q5wz8yb2cd --state dead
  lukasa webhook replay whk_01hx3v9d0kf7rtm4q5wz8yb2cd --since 2026-11-01

The key must be for the whole tenant and have the permission admin.")]
pub enum Webhook {
    /// Set up a webhook. Its secret is shown once and cannot be shown again.
    Add(Add),
    /// List the tenant's webhooks and how they fare.
    List(List),
    /// Send a webhook a test, and say how it was answered.
    Test(One),
    /// Show how the latest deliveries went.
    Deliveries(Deliveries),
    /// Send again everything since a time, or one delivery.
    Replay(Replay),
    /// Remove a webhook.
    Remove(One),
}

#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
    /// Where to post to: https, on the public internet
    #[arg(value_name = "URL")]
    address: String,
    /// Only this kind of operation, such as save or erase; can be said several times
    #[arg(long = "verb", value_name = "VERB")]
    verbs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub struct One {
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
    /// The webhook's id, as listed
    id: String,
}

#[derive(Debug, Args)]
pub struct Deliveries {
    #[command(flatten)]
    one: One,
    /// Only those that are waiting, delivered or dead
    #[arg(long, value_parser = ["waiting", "delivered", "dead"])]
    state: Option<String>,
}

#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    one: One,
    /// Everything since then, such as 2026-11-01 or 2026-11-01T12:00:00Z
    #[arg(long, value_name = "TIME", required_unless_present = "delivery")]
    since: Option<String>,
    /// One delivery, by its id
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    delivery: Option<String>,
}

impl Webhook {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Webhook::Add(command) => command.run().await,
            Webhook::List(command) => command.run().await,
            Webhook::Test(command) => command.test().await,
            Webhook::Deliveries(command) => command.run().await,
            Webhook::Replay(command) => command.run().await,
            Webhook::Remove(command) => command.remove().await,
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

impl Add {
    async fn run(self) -> anyhow::Result<()> {
        let body = json!({ "url": self.address, "verbs": self.verbs });
        let made = self.server.post("/api/webhooks", &body).await?;
        if self.format.json {
            return say_json(&made);
        }
        say(&format!("{}  {}\n", text(&made, "id"), text(&made, "url")))?;
        say(text(&made, "secret"))?;
        say("\nThis secret is shown once. Give it to the receiver, to check signatures with.")
    }
}

impl List {
    async fn run(self) -> anyhow::Result<()> {
        let found = self.server.get("/api/webhooks").await?;
        if self.format.json {
            return say_json(&found);
        }
        let hooks = found["data"].as_array().cloned().unwrap_or_default();
        if hooks.is_empty() {
            return say("No webhooks yet. Set one up with: lukasa webhook add URL");
        }
        for hook in hooks {
            let state = match (hook["enabled"].as_bool(), hook["failing_since"].as_str()) {
                (Some(false), _) => format!("off: {}", text(&hook, "disabled_because")),
                (_, Some(since)) => format!("failing since {since}"),
                _ => "well".to_owned(),
            };
            say(&format!("{}  {}  {state}", text(&hook, "id"), text(&hook, "url")))?;
        }
        Ok(())
    }
}

impl One {
    async fn test(self) -> anyhow::Result<()> {
        let went = self.server.post(&format!("/api/webhooks/{}/test", self.id), &json!({})).await?;
        if self.format.json {
            say_json(&went)?;
        }
        if went["delivered"] == json!(true) {
            return if self.format.json { Ok(()) } else { say("It arrived.") };
        }
        anyhow::bail!(
            "it did not arrive: {}\n  next: see that the address is reached and answers with 200",
            text(&went, "error")
        )
    }

    async fn remove(self) -> anyhow::Result<()> {
        let path = format!("/api/webhooks/{}", self.id);
        self.server.send(self.server.request(Method::DELETE, &path)?).await?;
        if self.format.json {
            return say_json(&json!({ "removed": self.id }));
        }
        say("Removed.")
    }
}

impl Deliveries {
    async fn run(self) -> anyhow::Result<()> {
        let state = self.state.map(|state| format!("?state={state}")).unwrap_or_default();
        let path = format!("/api/webhooks/{}/deliveries{state}", self.one.id);
        let found = self.one.server.get(&path).await?;
        if self.one.format.json {
            return say_json(&found);
        }
        for went in found["data"].as_array().into_iter().flatten() {
            say(&format!(
                "{}  {}  {:<12}  {:<9}  {} tries  {}",
                text(went, "last_at"),
                text(went, "id"),
                text(went, "verb"),
                text(went, "state"),
                went["attempts"],
                text(went, "error"),
            ))?;
        }
        Ok(())
    }
}

impl Replay {
    async fn run(self) -> anyhow::Result<()> {
        let One { server, format, id } = self.one;
        let body = match (&self.since, &self.delivery) {
            (Some(since), _) => json!({ "since": since }),
            (None, delivery) => json!({ "delivery": delivery }),
        };
        let replayed = server.post(&format!("/api/webhooks/{id}/replay"), &body).await?;
        if format.json {
            return say_json(&replayed);
        }
        match replayed["delivery"].as_object() {
            Some(_) => say(&format!("It is {} now.", text(&replayed["delivery"], "state"))),
            None => say(&format!("Told again about {} users.", replayed["users"])),
        }
    }
}
