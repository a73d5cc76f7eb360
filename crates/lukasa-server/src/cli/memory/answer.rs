//! `lukasa forget`, `lukasa confirm` and `lukasa undo`: what a person says to what is there.

use clap::Args;
use serde_json::{Value, json};

use super::super::client::{Refused, Server, ask, encoded};
use super::super::show::{BOLD, DIM, Table, field, paint, when};
use super::super::{Format, say, say_json};
use super::log::{Words, by, verb};
use super::{act, memory_named, operation_named, tell_written, words_of};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa forget window seats        the one memory with these words
  lukasa forget mem_01hx3v9d0k      by its id, or the beginning of it
  lukasa forget plums --dry-run     only show which it is

It is never in a prompt again, stays in the log, and `lukasa undo` brings it back. To remove something
for good, see `lukasa erase --help`.")]
pub struct Forget {
    /// A memory: its id, the beginning of it, or words that occur in it alone
    #[arg(required = true, num_args = 1.., value_name = "MEMORY")]
    memory: Vec<String>,
    /// Only show which memory it is
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl Forget {
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
        tell_written(&act(&self.server, &id, "forget", &json!({})).await?, self.format.json)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa confirm                    what waits for an answer
  lukasa confirm mem_01hx3v9d0k     shows the words and asks
  lukasa confirm oat milk --yes     says yes to exactly these words
  lukasa confirm oat milk --no      turns the proposal down

On a memory that is active already, a yes says that it still holds.")]
pub struct Confirm {
    /// A memory: its id, the beginning of it, or words that occur in it alone
    #[arg(value_name = "MEMORY")]
    memory: Vec<String>,
    /// Say yes without being asked
    #[arg(long, short = 'y', conflicts_with = "no")]
    yes: bool,
    /// Say no
    #[arg(long)]
    no: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl Confirm {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.memory.is_empty() {
            return self.waiting().await;
        }
        let memory = self.find().await?;
        if self.no {
            return self.answer(&memory, &json!({ "confirm": false })).await;
        }
        if !self.yes {
            say(&paint(BOLD, &words_of(&memory)))?;
            let said = ask("Is that right? [y/N]")?;
            if !said.is_some_and(|said| ["y", "yes"].contains(&said.to_lowercase().as_str())) {
                anyhow::bail!("nothing was answered\n  next: say --yes or --no");
            }
        }
        // The yes carries the digest of the words that were shown, and binds those only.
        let mut body = json!({ "confirm": true });
        if let Some(digest) = memory["sha256"].as_str() {
            body["sha256"] = json!(digest);
        }
        self.answer(&memory, &body).await
    }

    async fn answer(&self, memory: &Value, body: &Value) -> anyhow::Result<()> {
        let written = act(&self.server, &field(memory, "id"), "confirm", body).await?;
        tell_written(&written, self.format.json)
    }

    async fn waiting(&self) -> anyhow::Result<()> {
        let page = self.server.get("/api/memory/proposals?limit=200").await?;
        if self.format.json {
            return say_json(&page);
        }
        let proposals = page["data"].as_array().cloned().unwrap_or_default();
        if proposals.is_empty() {
            return say("Nothing waits for an answer.");
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

    /// The memory that is meant. Words reach active memories at the server; a proposal is looked for
    /// among the proposals.
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
            several => Err(Refused {
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
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 404)
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa undo                       the last thing that was written and still stands
  lukasa undo --dry-run             only show what that is
  lukasa undo op_01hx3v9d0k         one operation, by its id or the beginning of it; see `lukasa log`

An undo is an operation too: undo it, and what was done is done again.")]
pub struct Undo {
    /// The operation; the last that still stands if absent
    #[arg(value_name = "OPERATION")]
    operation: Option<String>,
    /// Only show what would be undone
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl Undo {
    pub async fn run(self) -> anyhow::Result<()> {
        let operation = match &self.operation {
            Some(text) => {
                let id = operation_named(&self.server, text).await?;
                self.server.get(&format!("/api/operations/{}", encoded(&id))).await?
            }
            None => self.last().await?,
        };
        let words = Words::default().about(&self.server, &operation).await?;
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
        tell_written(&self.server.post(&path, &json!({})).await?, self.format.json)
    }

    /// The newest operation of a person or of an application that still stands. What Lukasa does by
    /// itself at night is undone by its name only.
    async fn last(&self) -> anyhow::Result<Value> {
        let page = self.server.get("/api/operations?limit=200").await?;
        let stands = |operation: &&Value| {
            operation["undone_by"].is_null()
                && operation["verb"] != "undo"
                && operation["caller"] != "job"
        };
        let found = page["data"].as_array().and_then(|all| all.iter().find(stands)).cloned();
        found.ok_or_else(|| {
            let problem = json!({ "detail": "Nothing was written that could be undone" });
            Refused { status: 404, code: "operation_not_found".into(), problem }.into()
        })
    }
}
