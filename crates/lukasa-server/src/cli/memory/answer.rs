//! `lukasa forget`, `lukasa confirm` and `lukasa undo`.

use clap::Args;
use serde_json::{Value, json};

use super::super::client::{ServerArgs, ServerError, ask};
use super::super::show::{BOLD, DIM, Table, field, paint, when};
use super::super::{FormatArgs, say, say_json};
use super::log::{MemoryTexts, by, verb};
use super::{act, memory_named, operation_named, print_written, words_of};
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa forget window seats        the one memory with these words
  lukasa forget mem_01hx3v9d0k      by its id, or the beginning of it
  lukasa forget plums --dry-run     only show which it is

A forgotten memory is in no prompt, stays in the log, and `lukasa undo` restores it. To remove a memory
permanently, see `lukasa erase --help`.")]
pub struct ForgetArgs {
    /// A memory: its id, the beginning of the id, or words that occur in no other memory
    #[arg(required = true, num_args = 1.., value_name = "MEMORY")]
    memory: Vec<String>,
    /// Only show which memory it is
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ForgetArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let id = memory_named(&self.server, &self.memory).await?;
        if self.dry_run {
            let memory = self.server.get(&format!("/api/memory/{}", encoded(&id))).await?;
            if self.format.json {
                return say_json(&memory);
            }
            say(&format!("Would forget: {}", words_of(&memory)))?;
            return say(&format!("  {}", paint(DIM, &field(&memory, "id"))));
        }
        print_written(&act(&self.server, &id, "forget", &json!({})).await?, self.format.json)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa confirm                    list the open proposals
  lukasa confirm mem_01hx3v9d0k     show the proposal and ask
  lukasa confirm oat milk --yes     accept the proposal as it is shown
  lukasa confirm oat milk --no      reject the proposal

For an active memory, a yes confirms that it still holds.")]
pub struct ConfirmArgs {
    /// A memory: its id, the beginning of the id, or words that occur in no other memory
    #[arg(value_name = "MEMORY")]
    memory: Vec<String>,
    /// Accept without asking
    #[arg(long, short = 'y', conflicts_with = "no")]
    yes: bool,
    /// Reject
    #[arg(long)]
    no: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ConfirmArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.memory.is_empty() {
            return self.list_proposals().await;
        }
        let memory = self.find().await?;
        if self.no {
            return self.answer(&memory, &json!({ "confirm": false })).await;
        }
        if !self.yes {
            say(&paint(BOLD, &words_of(&memory)))?;
            let typed = ask("Is that right? [y/N]")?;
            if !typed.is_some_and(|typed| ["y", "yes"].contains(&typed.to_lowercase().as_str())) {
                anyhow::bail!("the proposal was not answered\n  next: pass --yes or --no");
            }
        }
        // The digest binds the yes to the words that were shown: a changed proposal is refused.
        let mut body = json!({ "confirm": true });
        if let Some(digest) = memory["sha256"].as_str() {
            body["sha256"] = json!(digest);
        }
        self.answer(&memory, &body).await
    }

    async fn answer(&self, memory: &Value, body: &Value) -> anyhow::Result<()> {
        let written = act(&self.server, &field(memory, "id"), "confirm", body).await?;
        print_written(&written, self.format.json)
    }

    async fn list_proposals(&self) -> anyhow::Result<()> {
        let page = self.server.get("/api/memory/proposals?limit=200").await?;
        if self.format.json {
            return say_json(&page);
        }
        let proposals = page["data"].as_array().cloned().unwrap_or_default();
        if proposals.is_empty() {
            return say("No proposals are waiting for an answer.");
        }
        let mut table = Table::new(&["proposed", "domain", "when", "id"], 0);
        for memory in &proposals {
            table.row(vec![
                words_of(memory),
                field(memory, "domain"),
                when(&memory["created_at"]),
                paint(DIM, &field(memory, "id")),
            ]);
        }
        say(&table.render())?;
        say(&paint(DIM, "Answer with: lukasa confirm ID --yes, or --no"))
    }

    /// The memory to answer. The server finds only active memories by words, so proposals are searched
    /// here.
    async fn find(&self) -> anyhow::Result<Value> {
        let id = memory_named(&self.server, &self.memory).await?;
        let path = format!("/api/memory/{}", encoded(&id));
        let refused = match self.server.get(&path).await {
            Err(error) if not_found(&error) => error,
            other => return other,
        };
        let page = self.server.get("/api/memory/proposals?limit=200").await?;
        let text = id.to_lowercase();
        let has = |memory: &&Value| words_of(memory).to_lowercase().contains(&text);
        let proposals = page["data"].as_array().cloned().unwrap_or_default();
        let found: Vec<&Value> = proposals.iter().filter(has).collect();
        match found.as_slice() {
            [only] => Ok((*only).clone()),
            [] => Err(refused),
            several => Err(ServerError {
                status: 409,
                code: "ambiguous_target".into(),
                problem: json!({ "code": "ambiguous_target", "status": 409, "candidates": several,
                    "detail": "Several proposals have these words; name one by its id" }),
            }
            .into()),
        }
    }
}

fn not_found(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ServerError>().is_some_and(|refused| refused.status == 404)
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa undo                       the last operation that is not undone
  lukasa undo --dry-run             only show which operation that is
  lukasa undo op_01hx3v9d0k         one operation, by its id or the beginning of it; see `lukasa log`

An undo is an operation too and can be undone.")]
pub struct UndoArgs {
    /// The operation; the last that is not undone if absent
    #[arg(value_name = "OPERATION")]
    operation: Option<String>,
    /// Only show what would be undone
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl UndoArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let operation = match &self.operation {
            Some(text) => {
                let id = operation_named(&self.server, text).await?;
                self.server.get(&format!("/api/operations/{}", encoded(&id))).await?
            }
            None => self.last().await?,
        };
        let words = MemoryTexts::default().about(&self.server, &operation).await?;
        if self.dry_run && self.format.json {
            return say_json(&json!({ "operation": operation, "words": words }));
        }
        if !self.format.json {
            let head = if self.dry_run { "Would undo" } else { "Undoing" };
            say(&format!(
                "{head}: {} {}  {}",
                verb(&operation),
                paint(BOLD, &words),
                paint(DIM, &format!("({}, {})", when(&operation["at"]), by(&operation)))
            ))?;
        }
        if self.dry_run {
            return Ok(());
        }
        let path = format!("/api/operations/{}/undo", field(&operation, "id"));
        print_written(&self.server.post(&path, &json!({})).await?, self.format.json)
    }

    /// The newest operation of a user or an application that is not undone. Operations of background
    /// jobs are undone only by their id.
    async fn last(&self) -> anyhow::Result<Value> {
        let page = self.server.get("/api/operations?limit=200").await?;
        let is_undoable = |operation: &&Value| {
            operation["undone_by"].is_null()
                && operation["verb"] != "undo"
                && operation["caller"] != "job"
        };
        let found = page["data"].as_array().and_then(|all| all.iter().find(is_undoable)).cloned();
        found.ok_or_else(|| {
            let problem = json!({ "detail": "There is no operation to undo" });
            ServerError { status: 404, code: "operation_not_found".into(), problem }.into()
        })
    }
}
