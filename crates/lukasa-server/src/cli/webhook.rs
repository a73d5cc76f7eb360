//! `lukasa webhook add | list | test | deliveries | replay | rotate | remove`

use clap::{Args, Subcommand};
use lukasa_core::secret::{MAX_OVERLAP_HOURS, OVERLAP_HOURS};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  lukasa webhook add https://example.com/lukasa
  lukasa webhook add https://example.com/lukasa --verb erase --verb forget
  lukasa webhook test whk_01hx3v9d0kf7rtm4q5wz8yb2cd
  lukasa webhook deliveries whk_01hx3v9d0kf7rtm4q5wz8yb2cd --state dead
  lukasa webhook replay whk_01hx3v9d0kf7rtm4q5wz8yb2cd --since 2026-11-01

The key must not be bound to a user and must have the permission admin.")]
pub enum WebhookCommand {
    /// Create a webhook. Its secret is shown once and cannot be shown again.
    Add(AddWebhookArgs),
    /// List the tenant's webhooks and their state.
    List(ListWebhooksArgs),
    /// Send a test request to a webhook and show the result.
    Test(WebhookArgs),
    /// Show the latest deliveries and their results.
    Deliveries(WebhookDeliveriesArgs),
    /// Send one delivery again, or everything since a time.
    Replay(ReplayWebhookArgs),
    /// Replace the secret of a webhook. Deliveries are signed with both secrets for a while.
    Rotate(RotateWebhookArgs),
    /// Remove a webhook.
    Remove(WebhookArgs),
}

#[derive(Debug, Args)]
pub struct AddWebhookArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The URL to post to: https, on the public internet
    #[arg(value_name = "URL")]
    address: String,
    /// Only this kind of operation, such as save or erase; can be given more than once
    #[arg(long = "verb", value_name = "VERB")]
    verbs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ListWebhooksArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct WebhookArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The webhook's id, as listed
    id: String,
}

#[derive(Debug, Args)]
pub struct WebhookDeliveriesArgs {
    #[command(flatten)]
    one: WebhookArgs,
    /// Only those that are waiting, delivered or dead
    #[arg(long, value_parser = ["waiting", "delivered", "dead"])]
    state: Option<String>,
}

#[derive(Debug, Args)]
pub struct ReplayWebhookArgs {
    #[command(flatten)]
    one: WebhookArgs,
    /// Everything since then, such as 2026-11-01 or 2026-11-01T12:00:00Z
    #[arg(long, value_name = "TIME", required_unless_present = "delivery")]
    since: Option<String>,
    /// One delivery, by its id
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    delivery: Option<String>,
}

#[derive(Debug, Args)]
pub struct RotateWebhookArgs {
    #[command(flatten)]
    one: WebhookArgs,
    /// For how many hours deliveries are signed with the old secret too
    #[arg(long, value_name = "HOURS", default_value_t = OVERLAP_HOURS,
          value_parser = clap::value_parser!(i64).range(0..=MAX_OVERLAP_HOURS))]
    overlap: i64,
}

impl RotateWebhookArgs {
    async fn run(self) -> anyhow::Result<()> {
        let WebhookArgs { server, format, id } = self.one;
        let path = format!("/api/webhooks/{id}/rotate");
        let made = server.post(&path, &json!({ "overlap_hours": self.overlap })).await?;
        if format.json {
            return say_json(&made);
        }
        say(text(&made, "secret"))?;
        say("\nThis secret is shown once.")?;
        match made["previous_secret_until"].as_str() {
            Some(until) => {
                say(&format!("Until {until} deliveries are signed with the old one too."))
            }
            None => say("Deliveries are no longer signed with the old one."),
        }
    }
}

impl WebhookCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            WebhookCommand::Add(command) => command.run().await,
            WebhookCommand::List(command) => command.run().await,
            WebhookCommand::Test(command) => command.test().await,
            WebhookCommand::Deliveries(command) => command.run().await,
            WebhookCommand::Replay(command) => command.run().await,
            WebhookCommand::Rotate(command) => command.run().await,
            WebhookCommand::Remove(command) => command.remove().await,
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

impl AddWebhookArgs {
    async fn run(self) -> anyhow::Result<()> {
        let body = json!({ "url": self.address, "verbs": self.verbs });
        let made = self.server.post("/api/webhooks", &body).await?;
        if self.format.json {
            return say_json(&made);
        }
        say(&format!("{}  {}\n", text(&made, "id"), text(&made, "url")))?;
        say(text(&made, "secret"))?;
        say("\nThis secret is shown once. The receiver needs it to check signatures.")
    }
}

impl ListWebhooksArgs {
    async fn run(self) -> anyhow::Result<()> {
        let found = self.server.get("/api/webhooks").await?;
        if self.format.json {
            return say_json(&found);
        }
        let hooks = found["data"].as_array().cloned().unwrap_or_default();
        if hooks.is_empty() {
            return say("No webhooks yet. Create one with: lukasa webhook add URL");
        }
        for hook in hooks {
            let state = match (hook["enabled"].as_bool(), hook["failing_since"].as_str()) {
                (Some(false), _) => format!("off: {}", text(&hook, "disabled_because")),
                (_, Some(since)) => format!("failing since {since}"),
                _ => "healthy".to_owned(),
            };
            say(&format!("{}  {}  {state}", text(&hook, "id"), text(&hook, "url")))?;
        }
        Ok(())
    }
}

impl WebhookArgs {
    async fn test(self) -> anyhow::Result<()> {
        let path = format!("/api/webhooks/{}/test", self.id);
        let result = self.server.post(&path, &json!({})).await?;
        if self.format.json {
            say_json(&result)?;
        }
        if result["delivered"] == json!(true) {
            return if self.format.json { Ok(()) } else { say("The test was delivered.") };
        }
        anyhow::bail!(
            "the test was not delivered: {}\n  next: check that the URL is reachable and answers 200",
            text(&result, "error")
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

impl WebhookDeliveriesArgs {
    async fn run(self) -> anyhow::Result<()> {
        let state = self.state.map(|state| format!("?state={state}")).unwrap_or_default();
        let path = format!("/api/webhooks/{}/deliveries{state}", self.one.id);
        let found = self.one.server.get(&path).await?;
        if self.one.format.json {
            return say_json(&found);
        }
        for delivery in found["data"].as_array().into_iter().flatten() {
            say(&format!(
                "{}  {}  {:<12}  {:<9}  {} tries  {}",
                text(delivery, "last_at"),
                text(delivery, "id"),
                text(delivery, "verb"),
                text(delivery, "state"),
                delivery["attempts"],
                text(delivery, "error"),
            ))?;
        }
        Ok(())
    }
}

impl ReplayWebhookArgs {
    async fn run(self) -> anyhow::Result<()> {
        let WebhookArgs { server, format, id } = self.one;
        let body = match (&self.since, &self.delivery) {
            (Some(since), _) => json!({ "since": since }),
            (None, delivery) => json!({ "delivery": delivery }),
        };
        let replayed = server.post(&format!("/api/webhooks/{id}/replay"), &body).await?;
        if format.json {
            return say_json(&replayed);
        }
        match replayed["delivery"].as_object() {
            Some(_) => say(&format!("Delivery state: {}", text(&replayed["delivery"], "state"))),
            None => say(&format!("Queued the operations of {} users again.", replayed["users"])),
        }
    }
}
