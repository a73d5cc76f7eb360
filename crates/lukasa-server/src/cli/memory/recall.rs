//! `lukasa recall`

use clap::Args;
use serde_json::{Value, json};

use super::super::client::ServerArgs;
use super::super::show::{BOLD, DIM, ODD, Table, count, field, paint, plain};
use super::super::{FormatArgs, say, say_json};
use super::words_of;
use crate::clock;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa recall which funds do I hold
  lukasa recall 'where should we eat' --explain
  lukasa recall 'where do I live' --as-of 2025-06-01       what was valid then
  lukasa recall 'the trip to Kyoto' --turns 5              also search chats")]
pub struct RecallArgs {
    /// A question or any other text
    #[arg(required = true, num_args = 1.., value_name = "WORDS")]
    words: Vec<String>,
    /// How many memories at most
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    limit: usize,
    /// How many turns of past chats at most
    #[arg(long, default_value_t = 0, value_name = "N")]
    turns: usize,
    /// Only memories of this domain; can be given more than once
    #[arg(long = "domain", value_name = "NAME")]
    domains: Vec<String>,
    /// Also search memories and chats of this project
    #[arg(long, env = "LUKASA_PROJECT", value_name = "NAME")]
    project: Option<String>,
    /// Search memories and chats of every project
    #[arg(long)]
    all_projects: bool,
    /// Memories that were valid at this time
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Memories as they were known at this time
    #[arg(long, value_name = "DATE")]
    known_at: Option<String>,
    /// Show why each was found: its score and rank in every search method
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl RecallArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let mut body = json!({
            "query": self.words.join(" "), "limit": self.limit, "turns": self.turns,
        });
        if !self.domains.is_empty() {
            body["domains"] = json!(self.domains);
        }
        if self.all_projects {
            body["all_projects"] = json!(true);
        }
        for (name, value) in
            [("as_of", &self.as_of), ("known_at", &self.known_at), ("project", &self.project)]
        {
            if let Some(value) = value {
                body[name] = json!(value);
            }
        }
        let zone = jiff::tz::TimeZone::system();
        if let Some(name) = zone.iana_name() {
            body["timezone"] = json!(name);
        }
        let start = clock::ticks();
        let found = self.server.post("/api/memory/search", &body).await?;
        let micros = clock::ticks() - start;
        if self.format.json {
            return say_json(&found);
        }
        self.print_results(&found, micros)
    }

    fn print_results(&self, found: &Value, micros: u64) -> anyhow::Result<()> {
        let none = Vec::new();
        let memories = found["memories"].as_array().unwrap_or(&none);
        let turns = found["turns"].as_array().unwrap_or(&none);
        if memories.is_empty() && turns.is_empty() {
            say("No relevant memories found.")?;
        } else if self.explain {
            for (number, item) in (1..).zip(memories) {
                explain(number, &words_of(&item["memory"]), item)?;
            }
            for (number, item) in (memories.len() + 1..).zip(turns) {
                explain(number, &field(&item["turn"], "content"), item)?;
            }
        } else {
            if !memories.is_empty() {
                let mut table = Table::new(&["memory", "domain", "score", "id"], 0);
                for item in memories {
                    let memory = &item["memory"];
                    table.row(vec![
                        words_of(memory),
                        field(memory, "domain"),
                        score(&item["why"]),
                        paint(DIM, &field(memory, "id")),
                    ]);
                }
                say(&table.render())?;
            }
            if !turns.is_empty() {
                let mut table = Table::new(&["message", "in chat", "score"], 0);
                for item in turns {
                    let turn = &item["turn"];
                    let message = format!("{}: {}", field(turn, "role"), field(turn, "content"));
                    table.row(vec![message, field(turn, "session_id"), score(&item["why"])]);
                }
                say(&table.render())?;
            }
        }
        for missing in found["degraded"].as_array().unwrap_or(&none) {
            let name = plain(missing.as_str().unwrap_or_default());
            say(&paint(ODD, &format!("the {name} was unavailable: results may be incomplete")))?;
        }
        if found["model"].is_null() && memories.len() < self.limit {
            let how = "search matches words only; to add meaning: lukasa model get potion, then \
                       restart the server";
            say(&paint(ODD, how))?;
        }
        let ms = micros as f64 / 1000.0;
        let many = count(memories.len(), "memory", "memories");
        let considered = found["considered"].as_u64().unwrap_or(0);
        say(&paint(DIM, &format!("{many} of {considered} candidates, in {ms:.0} ms")))?;
        if self.explain { say(&paint(DIM, &stages(found))) } else { Ok(()) }
    }
}

fn score(why: &Value) -> String {
    format!("{:.2}", why["score"].as_f64().unwrap_or(0.0))
}

/// Prints one result with its rank and score in each search method.
fn explain(number: usize, words: &str, item: &Value) -> anyhow::Result<()> {
    let why = &item["why"];
    say(&format!("{number}. {}  score {}", paint(BOLD, words), score(why)))?;
    let matched: Vec<String> = match why["matched"].as_array() {
        Some(words) => words.iter().filter_map(|word| word.as_str().map(plain)).collect(),
        None => Vec::new(),
    };
    if !matched.is_empty() {
        say(&format!("   matched words: {}", matched.join(", ")))?;
    }
    for arm in why["arms"].as_array().unwrap_or(&Vec::new()) {
        let rank = arm["rank"].as_u64().unwrap_or(0);
        let score = arm["score"].as_f64().unwrap_or(0.0);
        say(&paint(DIM, &format!("   {:<16} rank {rank:<4} score {score:.3}", field(arm, "arm"))))?;
    }
    Ok(())
}

/// The time of each stage on the server, and the embedding model.
fn stages(found: &Value) -> String {
    let took = found["took_ms"].as_object().into_iter().flatten();
    let parts: Vec<String> =
        took.map(|(name, ms)| format!("{name} {:.1} ms", ms.as_f64().unwrap_or(0.0))).collect();
    let model = found["model"].as_str().map_or_else(|| "none".to_owned(), plain);
    format!("{}; embedding model: {model}", parts.join(", "))
}
