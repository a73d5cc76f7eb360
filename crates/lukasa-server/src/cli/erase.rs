//! `lukasa erase`

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use lukasa_engine::removal::{ReceiptError, verify};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{ServerArgs, ask};
use super::{FormatArgs, say, say_json};
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa erase --user alice --dry-run           show what would be erased
  lukasa erase --user alice                     ask for the name, then erase everything
  lukasa erase --user alice --yes alice --receipt alice.json
  lukasa erase --user alice --memory mem_01hx...  one memory
  lukasa erase --user alice --list              the receipts, with their current state
  lukasa erase --verify alice.json --public-key 3d40...   offline, with the server's key

Erasing cannot be undone. The rows are removed at once, and from the database's files by the next
`lukasa scrub`; get the receipt again after that. The receipt lists what cannot be erased.")]
pub struct EraseArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Erase one memory instead of everything
    #[arg(long, value_name = "ID")]
    memory: Option<String>,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask; repeat the name of the user, or the id of the memory, to confirm
    #[arg(long, value_name = "NAME", conflicts_with = "dry_run")]
    yes: Option<String>,
    /// Also write the signed receipt here
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    receipt: Option<PathBuf>,
    /// List the receipts
    #[arg(long, conflicts_with_all = ["dry_run", "yes", "memory"])]
    list: bool,
    /// Verify a receipt, without a server
    #[arg(long, value_name = "FILE", conflicts_with_all = ["memory", "dry_run", "yes", "list"])]
    verify: Option<PathBuf>,
    /// The key that the receipt must be signed with, as `GET /receipts/key` returns it
    #[arg(long, value_name = "HEX", requires = "verify")]
    public_key: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl EraseArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if let Some(file) = &self.verify {
            return self.check(file);
        }
        if self.list {
            return self.receipts().await;
        }
        let path = match (&self.memory, self.server.user()) {
            (Some(memory), _) => format!("/api/memory/{}", encoded(memory)),
            (None, Some(user)) => format!("/api/users/{}", encoded(user)),
            (None, None) => bail!(
                "nothing to erase was named\n  next: pass --user NAME for everything about a user, \
                 or --memory ID for one memory"
            ),
        };
        let preview = self.server.get(&format!("{path}/erasure")).await?;
        if self.dry_run {
            return self.print_preview(&preview);
        }
        if !self.is_confirmed(&preview)? {
            bail!("nothing was erased\n  next: type the name when asked, or pass it with --yes");
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
        print_receipt(&signed)?;
        match &self.receipt {
            Some(file) => say(&format!("Receipt: {}", file.display())),
            None => say(&serde_json::to_string_pretty(&signed)?),
        }
    }

    async fn erase(&self, path: &str) -> anyhow::Result<Value> {
        if self.memory.is_none() {
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
        found.context("erased, but the server returned no receipt")
    }

    /// Waits for the receipt of a large user, whom the server erases in the background.
    async fn wait_for_receipt(&self, started: &Value) -> anyhow::Result<Value> {
        let path =
            format!("/api/users/{}/erasures", encoded(self.server.user().unwrap_or_default()));
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            let list = self.server.get(&path).await.context(
                "the user's requests are refused and the rest is removed in the background; get the \
                 receipt later with `lukasa erase --list`",
            )?;
            let all = list["data"].as_array().into_iter().flatten();
            let mut of = all.filter(|signed| signed["receipt"]["id"] == started["erasure_id"]);
            if let Some(signed) = of.next() {
                return Ok(signed.clone());
            }
        }
    }

    fn is_confirmed(&self, preview: &Value) -> anyhow::Result<bool> {
        let name = match &self.memory {
            Some(_) => preview["memory_id"].as_str(),
            None => self.server.user(),
        };
        let name = name.unwrap_or_default();
        if let Some(yes) = &self.yes {
            return Ok(yes == name);
        }
        let what = preview["message"].as_str().unwrap_or_default();
        let question = format!("This permanently removes {what}. Type {name} to erase:");
        Ok(ask(&question)?.is_some_and(|typed| typed == name))
    }

    fn print_preview(&self, preview: &Value) -> anyhow::Result<()> {
        if self.format.json {
            return say_json(preview);
        }
        let what = preview["message"].as_str().unwrap_or_default();
        say(&format!("Would erase: {what}"))?;
        for (table, rows) in preview["removes"].as_object().into_iter().flatten() {
            say(&format!("  {table:<16} {rows:>10}"))?;
        }
        say("Earlier backups keep copies until they are replaced. Nothing was erased.")
    }

    async fn receipts(&self) -> anyhow::Result<()> {
        // A tenant's key may also list erased users; a user's key may list only their own receipts.
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
        all.iter().try_for_each(print_receipt)?;
        match list["truncated"].as_bool() {
            Some(true) => say("Older receipts are not listed."),
            _ => Ok(()),
        }
    }

    fn check(&self, file: &std::path::Path) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let value: Value = serde_json::from_str(&text).map_err(|_| ReceiptError::NoReceipt)?;
        let signed = verify(&value, self.public_key.as_deref())?;
        if self.format.json {
            return say_json(&json!({ "ok": true, "key_compared": self.public_key.is_some(),
                "public_key": signed.signature.public_key, "receipt": value["receipt"] }));
        }
        print_receipt(&value)?;
        if self.public_key.is_some() {
            return say("The receipt is genuine: signed with the key you gave, and unchanged.");
        }
        say(&format!(
            "The receipt is unchanged since it was signed with the key {}\nCompare it with your \
             server's key, or pass that with --public-key.",
            signed.signature.public_key
        ))
    }
}

/// Prints a receipt in two lines.
fn print_receipt(signed: &Value) -> anyhow::Result<()> {
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
        Some(at) => format!("removed from the database's files at {at}"),
        None => "in the database's files until the next `lukasa scrub`".into(),
    };
    let journal = match receipt["journal"].as_bool() {
        Some(true) => "recorded in the erasure journal",
        _ => "not in an erasure journal: a restored backup would restore it",
    };
    say(&format!("  {files}; {journal}"))
}

fn is_forbidden(error: &anyhow::Error) -> bool {
    error.downcast_ref::<super::client::ServerError>().is_some_and(|refused| refused.status == 403)
}
