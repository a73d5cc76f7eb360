//! `lukasa erase`

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use lukasa_engine::erasure::{NotBelieved, verify};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Server, ask, encoded};
use super::{Format, say, say_json};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa erase --user alice --dry-run           what would go; nothing does
  lukasa erase --user alice                     asks to type the name, then erases everything
  lukasa erase --user alice --yes alice --receipt alice.json
  lukasa erase --user alice --fact mem_01hx...  one memory
  lukasa erase --user alice --list              the receipts, as they stand now
  lukasa erase --verify alice.json --public-key 3d40...   offline, with the key you noted

Erasing cannot be undone. The rows go at once, the database's files with the next `lukasa scrub`; ask
for the receipt again after that. What cannot be erased is listed in the receipt.")]
pub struct Erase {
    #[command(flatten)]
    server: Server,
    /// Erase one memory instead of everything
    #[arg(long, value_name = "ID")]
    fact: Option<String>,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask: the name of the user, or the id of the memory, once more
    #[arg(long, value_name = "NAME", conflicts_with = "dry_run")]
    yes: Option<String>,
    /// Also write the signed receipt here
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    receipt: Option<PathBuf>,
    /// List the receipts of what was erased
    #[arg(long, conflicts_with_all = ["dry_run", "yes", "fact"])]
    list: bool,
    /// Check a receipt, without asking a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fact", "dry_run", "yes", "list"])]
    verify: Option<PathBuf>,
    /// The key that the receipt must be signed with, as `GET /receipts/key` says it
    #[arg(long, value_name = "HEX", requires = "verify")]
    public_key: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl Erase {
    pub async fn run(self) -> anyhow::Result<()> {
        if let Some(file) = &self.verify {
            return self.check(file);
        }
        if self.list {
            return self.receipts().await;
        }
        let path = match (&self.fact, self.server.user()) {
            (Some(fact), _) => format!("/api/memory/{}", encoded(fact)),
            (None, Some(user)) => format!("/api/users/{}", encoded(user)),
            (None, None) => bail!(
                "nothing to erase was named\n  next: say --user NAME for everything about a user, \
                 or --fact ID for one memory"
            ),
        };
        let preview = self.server.get(&format!("{path}/erasure")).await?;
        if self.dry_run {
            return self.tell_preview(&preview);
        }
        if !self.agreed(&preview)? {
            bail!("nothing was erased\n  next: type the name as asked, or say it with --yes");
        }
        let signed = self.erase(&path).await?;
        if let Some(file) = &self.receipt {
            let text = serde_json::to_string_pretty(&signed)?;
            std::fs::write(file, text + "\n")
                .with_context(|| format!("erased, but {} cannot be written", file.display()))?;
        }
        if self.format.json {
            return say_json(&signed);
        }
        say(&format!("Erased: {}", preview["message"].as_str().unwrap_or_default()))?;
        tell(&signed)?;
        match &self.receipt {
            Some(file) => say(&format!("Receipt: {}", file.display())),
            None => say(&serde_json::to_string_pretty(&signed)?),
        }
    }

    async fn erase(&self, path: &str) -> anyhow::Result<Value> {
        if self.fact.is_none() {
            let request = self.server.request(Method::DELETE, path)?;
            let erased: Value = self.server.send(request).await?.json().await?;
            return match erased["status"].as_str() {
                Some("running") => self.wait_for_receipt(&erased).await,
                _ => Ok(erased["receipt"].clone()),
            };
        }
        let erased = self.server.post(&format!("{path}/erase"), &json!({})).await?;
        let id = &erased["receipts"][0]["erasure_id"];
        let list = self.server.get("/api/erasures").await?;
        let all = list["data"].as_array().cloned().unwrap_or_default();
        let found = all.into_iter().find(|signed| &signed["receipt"]["id"] == id);
        found.context("erased, but the server has no receipt of it")
    }

    /// Waits until the server has removed the rest of a user with very much to remove.
    async fn wait_for_receipt(&self, started: &Value) -> anyhow::Result<Value> {
        let path =
            format!("/api/users/{}/erasures", encoded(self.server.user().unwrap_or_default()));
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            let list = self.server.get(&path).await.context(
                "the user is refused, and the rest is removed in the background; the receipt is then \
                 in `lukasa erase --list`",
            )?;
            let all = list["data"].as_array().into_iter().flatten();
            let mut of = all.filter(|signed| signed["receipt"]["id"] == started["erasure_id"]);
            if let Some(signed) = of.next() {
                return Ok(signed.clone());
            }
        }
    }

    fn agreed(&self, preview: &Value) -> anyhow::Result<bool> {
        let name = match &self.fact {
            Some(_) => preview["memory_id"].as_str(),
            None => self.server.user(),
        };
        let name = name.unwrap_or_default();
        if let Some(yes) = &self.yes {
            return Ok(yes == name);
        }
        let what = preview["message"].as_str().unwrap_or_default();
        let asked = format!("This removes {what}, for good. Type {name} to erase:");
        Ok(ask(&asked)?.is_some_and(|typed| typed == name))
    }

    fn tell_preview(&self, preview: &Value) -> anyhow::Result<()> {
        if self.format.json {
            return say_json(preview);
        }
        let what = preview["message"].as_str().unwrap_or_default();
        say(&format!("Would erase: {what}"))?;
        for (table, rows) in preview["removes"].as_object().into_iter().flatten() {
            say(&format!("  {table:<16} {rows:>10}"))?;
        }
        say("Backups taken before now hold copies until they are replaced. Nothing was erased.")
    }

    async fn receipts(&self) -> anyhow::Result<()> {
        // The tenant's own key sees also who is gone; a user's sees what was erased of theirs.
        let path = self.server.user().map(|user| format!("/api/users/{}/erasures", encoded(user)));
        let list = match path {
            Some(path) => match self.server.get(&path).await {
                Err(error) if is_forbidden(&error) => self.server.get("/api/erasures").await?,
                other => other?,
            },
            None => self.server.get("/api/erasures").await?,
        };
        if self.format.json {
            return say_json(&list);
        }
        let all = list["data"].as_array().cloned().unwrap_or_default();
        if all.is_empty() {
            return say("Nothing was erased.");
        }
        all.iter().try_for_each(tell)
    }

    fn check(&self, file: &std::path::Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let value: Value = serde_json::from_str(&text).map_err(|_| NotBelieved::NoReceipt)?;
        let signed = verify(&value, self.public_key.as_deref())?;
        if self.format.json {
            return say_json(&json!({ "ok": true, "key_compared": self.public_key.is_some(),
                "public_key": signed.signature.public_key, "receipt": value["receipt"] }));
        }
        tell(&value)?;
        if self.public_key.is_some() {
            return say("The receipt is genuine: signed with the key you gave, and unchanged.");
        }
        say(&format!(
            "The receipt is unchanged since it was signed with the key {}\nCompare that with the key \
             you know of your server, or say it with --public-key.",
            signed.signature.public_key
        ))
    }
}

/// One receipt, in two lines.
fn tell(signed: &Value) -> anyhow::Result<()> {
    let receipt = &signed["receipt"];
    let text = |name: &str| receipt[name].as_str().unwrap_or_default().to_owned();
    let rows: i64 =
        receipt["removed"].as_object().into_iter().flatten().filter_map(|(_, n)| n.as_i64()).sum();
    let what = match (receipt["memory_id"].as_str(), receipt["turn_id"].as_str()) {
        (Some(memory), _) => format!("memory {memory}"),
        (None, Some(turn)) => format!("turn {turn}"),
        (None, None) => format!("user {}", text("user_id")),
    };
    say(&format!("{}  {}  {what}  {rows} rows", text("erased_at"), text("id")))?;
    let files = match receipt["files_done_at"].as_str() {
        Some(at) => format!("gone from the database's files since {at}"),
        None => "in the database's files until the next `lukasa scrub`".into(),
    };
    let journal = match receipt["journal"].as_bool() {
        Some(true) => "in the journal",
        _ => "in no journal: a restored backup would bring it back",
    };
    say(&format!("  {files}; {journal}"))
}

fn is_forbidden(error: &anyhow::Error) -> bool {
    error.downcast_ref::<super::client::Refused>().is_some_and(|refused| refused.status == 403)
}
