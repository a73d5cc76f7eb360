//! `lukasa correct`

use clap::Args;
use reqwest::Method;
use serde_json::json;

use super::super::FormatArgs;
use super::super::client::ServerArgs;
use super::{memory_named, print_written};
use crate::url::encoded;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa correct window seats --to Prefers aisle seats
  lukasa correct Lisbon --to Lives in Faro --since 2026-03-01

A correction replaces words that were never true. With --since they were true until that day. The old words
stay in `lukasa log`, and `lukasa undo` restores them.")]
pub struct CorrectArgs {
    /// A memory: its id, the beginning of the id, or words that occur in no other memory
    #[arg(required = true, num_args = 1.., value_name = "MEMORY")]
    memory: Vec<String>,
    /// The right words
    #[arg(long, required = true, num_args = 1.., value_name = "WORDS")]
    to: Vec<String>,
    /// The day of the change, such as 2026-03-01, if the old words were true before it
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl CorrectArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let id = memory_named(&self.server, &self.memory).await?;
        let content = self.to.join(" ");
        let body = match &self.since {
            None => json!({ "mode": "correction", "content": content }),
            Some(day) => json!({ "mode": "change", "content": content, "valid_from": day }),
        };
        let path = format!("/api/memory/{}", encoded(&id));
        let request = self.server.request(Method::PATCH, &path)?.json(&body);
        let written = self.server.send(request).await?.json().await?;
        print_written(&written, self.format.json)
    }
}
