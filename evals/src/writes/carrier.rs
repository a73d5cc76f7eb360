//! The entry points through which an agent writes, and what one user meets at each of them.

use anyhow::Result;
use serde_json::Value;

use super::client::Client;
use super::person::Person;
use super::upstream::Upstream;
use super::{Case, Tally, calls, files, rest, upstream};

/// An entry point for writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carrier {
    /// Tools over MCP, with an assistant's key.
    Mcp,
    /// Tools over MCP, with the user's own token.
    McpOfUser,
    /// Tools that the gateway runs for a model.
    Gateway,
    MemoryTool,
    Mem0,
    VaultSync,
    VaultBase,
    Archive,
    Items,
    RestSave,
    RestAlter,
}

impl Carrier {
    pub const ALL: [Carrier; 11] = [
        Carrier::Mcp,
        Carrier::McpOfUser,
        Carrier::Gateway,
        Carrier::MemoryTool,
        Carrier::Mem0,
        Carrier::VaultSync,
        Carrier::VaultBase,
        Carrier::Archive,
        Carrier::Items,
        Carrier::RestSave,
        Carrier::RestAlter,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Carrier::Mcp => "MCP tools, agent key",
            Carrier::McpOfUser => "MCP tools, user token",
            Carrier::Gateway => "gateway tools",
            Carrier::MemoryTool => "memory tool",
            Carrier::Mem0 => "mem0",
            Carrier::VaultSync => "vault sync",
            Carrier::VaultBase => "vault, forged base",
            Carrier::Archive => "archive import",
            Carrier::Items => "item import",
            Carrier::RestSave => "REST save, propose",
            Carrier::RestAlter => "REST change, remove",
        }
    }

    /// Sends the attacks to one user through this entry point.
    pub async fn send(
        self,
        person: &Person,
        upstream: &Upstream,
        cases: &[Case],
        tally: &mut Tally,
    ) -> Result<()> {
        match self {
            Carrier::Mcp => call_tools(&person.agent, person, cases, tally).await,
            Carrier::McpOfUser => call_tools(&person.human, person, cases, tally).await,
            Carrier::Gateway => chat(person, upstream, cases, tally).await,
            Carrier::MemoryTool => files::memory_tool(person, cases, tally).await,
            Carrier::Mem0 => rest::mem0(person, cases, tally).await,
            Carrier::VaultSync => files::vault_sync(person, cases, tally).await,
            Carrier::VaultBase => files::vault_base(person, cases, tally).await,
            Carrier::Archive => files::archive(person, cases, tally).await,
            Carrier::Items => files::items(person, cases, tally).await,
            Carrier::RestSave => rest::save(person, cases, tally).await,
            Carrier::RestAlter => rest::alter(person, cases, tally).await,
        }
    }
}

impl Carrier {
    /// Removes all that this entry point can remove of one user: what is plain may go, the rest may
    /// not. Whether it has a way to do so.
    pub async fn remove_all(self, person: &Person, tally: &mut Tally) -> Result<bool> {
        match self {
            Carrier::MemoryTool => files::memory_tool_delete_all(person, tally).await?,
            Carrier::Mem0 => rest::mem0_delete_all(person, tally).await?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

async fn call_tools(
    client: &Client,
    person: &Person,
    cases: &[Case],
    tally: &mut Tally,
) -> Result<()> {
    let mut saved: Option<String> = None;
    for case in cases {
        for (name, arguments) in calls::tool_calls(case, person, saved.as_deref(), "Please go on") {
            let answer = client.tool(&name, arguments).await?;
            tally.count(&answer);
            if let Value::String(id) = &answer.body["memory"]["id"] {
                saved = Some(id.clone()).filter(|id| !person.is_stated(&Value::from(id.clone())));
            }
        }
    }
    Ok(())
}

/// The user types a harmless message, and the model behind the gateway calls what the attacker wants,
/// citing the message as what the user said.
async fn chat(
    person: &Person,
    upstream: &Upstream,
    cases: &[Case],
    tally: &mut Tally,
) -> Result<()> {
    for case in cases {
        let n = case.number;
        let typed = upstream::message(n);
        let calls = calls::tool_calls(case, person, None, &typed);
        let message = upstream.expect(n, calls);
        let client = if n.is_multiple_of(2) { &person.agent } else { &person.human };
        tally.count(&client.chat(&format!("chat-{}", n % 3), &message).await?);
    }
    Ok(())
}
