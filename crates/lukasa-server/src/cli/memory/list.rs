//! `lukasa list`

use clap::Args;
use serde_json::Value;

use super::super::client::ServerArgs;
use super::super::show::{DIM, Table, count, field, paint, when};
use super::super::{FormatArgs, say, say_json};
use super::words_of;
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa list                              active memories, newest first
  lukasa list --domain travel
  lukasa list --search window
  lukasa list --status proposed            open proposals
  lukasa list --as-of 2025-06-01           memories that were valid then
  lukasa list --all --json | jq -r '.data[].content'")]
pub struct ListMemoriesArgs {
    /// active, proposed, candidate, upcoming, expired, superseded, forgotten, trashed or all
    #[arg(long, value_name = "WORD")]
    status: Option<String>,
    /// Only this domain
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// Only of this project; "" for those of no project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only with this text
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Memories that were valid at this time
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Memories as they were known at this time
    #[arg(long, value_name = "DATE")]
    known_at: Option<String>,
    /// How many at most
    #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
    limit: usize,
    /// List all, without a limit
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ListMemoriesArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let most = if self.all { usize::MAX } else { self.limit.max(1) };
        let mut path = format!("/api/memory?limit={}", most.min(200));
        for (name, value) in [
            ("status", &self.status),
            ("domain", &self.domain),
            ("project", &self.project),
            ("search", &self.search),
            ("as_of", &self.as_of),
            ("known_at", &self.known_at),
        ] {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", encoded(value)));
            }
        }
        let (mut memories, mut more): (Vec<Value>, Option<String>) = (Vec::new(), None);
        loop {
            let page = match &more {
                None => self.server.get(&path).await?,
                Some(cursor) => {
                    self.server.get(&format!("{path}&cursor={}", encoded(cursor))).await?
                }
            };
            memories.extend(page["data"].as_array().cloned().unwrap_or_default());
            more = page["next_cursor"].as_str().map(str::to_owned);
            if more.is_none() || memories.len() >= most {
                break;
            }
        }
        let left = more.is_some() || memories.len() > most;
        memories.truncate(most);
        if self.format.json {
            return say_json(&serde_json::json!({ "data": memories, "more": left }));
        }
        if memories.is_empty() {
            return say("No memories found.");
        }
        let mut table = Table::new(&["memory", "domain", "status", "since", "id"], 0);
        for memory in &memories {
            let since = when(&memory["valid_from"]);
            table.row(vec![
                words_of(memory),
                field(memory, "domain"),
                field(memory, "status"),
                since.split(' ').next().unwrap_or_default().to_owned(),
                paint(DIM, &field(memory, "id")),
            ]);
        }
        say(&table.render())?;
        let many = count(memories.len(), "memory", "memories");
        let rest = if left { "; there are more, list them with --all" } else { "" };
        say(&paint(DIM, &format!("{many}{rest}")))
    }
}
