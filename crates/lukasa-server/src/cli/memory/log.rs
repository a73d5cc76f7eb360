//! `lukasa log`

use std::collections::HashMap;

use clap::Args;
use serde_json::{Value, json};

use super::super::client::{ServerArgs, ServerError};
use super::super::show::{BOLD, DIM, Table, count, field, paint, when, word_diff};
use super::super::{FormatArgs, say, say_json};
use super::{memory_named, words_of};
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa log                      the latest operations, who made them, and their ids for undo
  lukasa log window seats         the whole history of that memory
  lukasa log mem_01hx3v9d0k       the same, by the beginning of its id")]
pub struct LogArgs {
    /// A memory: its id, the beginning of the id, or words that occur in no other memory
    #[arg(value_name = "MEMORY")]
    memory: Vec<String>,
    /// How many operations at most
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=200))]
    limit: u16,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl LogArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.memory.is_empty() { self.operations().await } else { self.history().await }
    }

    async fn operations(&self) -> anyhow::Result<()> {
        let page = self.server.get(&format!("/api/operations?limit={}", self.limit)).await?;
        let operations = page["data"].as_array().cloned().unwrap_or_default();
        let mut words = MemoryTexts::default();
        let mut shown = Vec::new();
        for operation in operations {
            let about = words.about(&self.server, &operation).await?;
            shown.push((operation, about));
        }
        if self.format.json {
            let list: Vec<Value> = shown
                .into_iter()
                .map(|(mut operation, about)| {
                    operation["words"] = json!(about);
                    operation
                })
                .collect();
            return say_json(&json!({ "data": list }));
        }
        if shown.is_empty() {
            return say("There are no operations yet.");
        }
        let mut table = Table::new(&["when", "what", "memory", "by", "operation"], 2);
        for (operation, about) in &shown {
            table.row(vec![
                when(&operation["at"]),
                verb(operation),
                about.clone(),
                by(operation),
                paint(DIM, &field(operation, "id")),
            ]);
        }
        say(&table.render())?;
        say(&paint(DIM, "Undo one with: lukasa undo OPERATION"))
    }

    async fn history(&self) -> anyhow::Result<()> {
        let named = memory_named(&self.server, &self.memory).await?;
        let mut versions = Vec::new();
        let mut more = Some(String::new());
        while let Some(cursor) = more {
            let path = format!("/api/memory/{}/history?limit=200{cursor}", encoded(&named));
            let page = self.server.get(&path).await?;
            versions.extend(page["data"].as_array().cloned().unwrap_or_default());
            more = page["next_cursor"].as_str().map(|next| format!("&cursor={next}"));
        }
        let id = versions.first().map(|version| field(version, "id")).unwrap_or_default();
        let page = self.server.get(&format!("/api/operations?limit=200&memory_id={id}")).await?;
        let mut operations = page["data"].as_array().cloned().unwrap_or_default();
        operations.reverse();
        if self.format.json {
            return say_json(&json!({ "id": id, "versions": versions, "operations": operations }));
        }
        let last = versions.iter().rev().find(|version| version["known_until"].is_null());
        let last = last.or(versions.last());
        say(&format!(
            "{}  {}",
            paint(BOLD, &last.map(words_of).unwrap_or_default()),
            paint(DIM, &id)
        ))?;
        let mut before = String::new();
        for operation in &operations {
            // The versions that an operation opened are known from its time on.
            let opened = versions.iter().filter(|v| v["known_from"] == operation["at"]);
            let newest = opened.max_by_key(|v| v["valid_from"].as_str().map(str::to_owned));
            let change = match newest {
                None => String::new(),
                Some(version) => {
                    let now = words_of(version);
                    let changed = match before.is_empty() {
                        true => now.clone(),
                        false => word_diff(&before, &now),
                    };
                    before = now;
                    format!("{changed}{}", status_and_validity(version))
                }
            };
            say(&format!(
                "{}  {:<11}  {:<10}  {change}\n{:18}{}",
                when(&operation["at"]),
                verb(operation),
                by(operation),
                "",
                paint(DIM, &field(operation, "id"))
            ))?;
        }
        let editions = versions.iter().filter_map(|version| version["version"].as_u64()).max();
        let editions = usize::try_from(editions.unwrap_or(0)).unwrap_or(0);
        let many = count(editions, "edition", "editions");
        let written = count(operations.len(), "operation", "operations");
        say(&paint(DIM, &format!("{many}, {written}")))
    }
}

/// The status and the validity of a version.
fn status_and_validity(version: &Value) -> String {
    let mut parts = Vec::new();
    let status = field(version, "status");
    if status != "active" && status != "superseded" {
        parts.push(status);
    }
    let day = |name: &str| when(&version[name]).split(' ').next().unwrap_or_default().to_owned();
    match version["valid_until"].is_null() {
        true => parts.push(format!("since {}", day("valid_from"))),
        false => parts.push(format!("{} to {}", day("valid_from"), day("valid_until"))),
    }
    paint(DIM, &format!("  ({})", parts.join(", ")))
}

pub fn verb(operation: &Value) -> String {
    let verb = field(operation, "verb");
    if operation["undone_by"].is_null() { verb } else { format!("{verb} (undone)") }
}

/// The caller of an operation, in a word.
pub fn by(operation: &Value) -> String {
    match operation["caller"].as_str() {
        Some("human") => "you".into(),
        Some("job") => "Lukasa".into(),
        _ => field(operation, "credential"),
    }
}

/// The content of the memories of operations, right after each operation. Each is requested once.
#[derive(Default)]
pub struct MemoryTexts(HashMap<(String, String), String>);

impl MemoryTexts {
    pub async fn about(
        &mut self,
        server: &ServerArgs,
        operation: &Value,
    ) -> anyhow::Result<String> {
        let ids: Vec<&str> = match operation["memory_ids"].as_array() {
            Some(ids) => ids.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        let Some(first) = ids.first() else { return Ok(String::new()) };
        let at = operation["at"].as_str().unwrap_or_default();
        let key = ((*first).to_owned(), at.to_owned());
        if !self.0.contains_key(&key) {
            let words = words_at(server, first, at).await?;
            self.0.insert(key.clone(), words);
        }
        let words = self.0.get(&key).cloned().unwrap_or_default();
        Ok(match ids.len() {
            1 => words,
            many => format!("{words} (and {} more)", many - 1),
        })
    }
}

async fn words_at(server: &ServerArgs, id: &str, at: &str) -> anyhow::Result<String> {
    let then = format!("/api/memory/{id}?as_of={at}&known_at={at}", at = encoded(at));
    for path in [then, format!("/api/memory/{id}")] {
        match server.get(&path).await {
            Ok(memory) => return Ok(words_of(&memory)),
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::new())
}

fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ServerError>().is_some_and(|refused| [404, 410].contains(&refused.status))
}
