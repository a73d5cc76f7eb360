//! The entry points through which an agent writes, and the attacks through each of them.

use anyhow::Result;
use serde_json::Value;

use super::client::Client;
use super::target_user::TargetUser;
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
        target_user: &TargetUser,
        upstream: &Upstream,
        cases: &[Case],
        tally: &mut Tally,
    ) -> Result<()> {
        match self {
            Carrier::Mcp => call_tools(&target_user.agent, target_user, cases, tally).await,
            Carrier::McpOfUser => call_tools(&target_user.human, target_user, cases, tally).await,
            Carrier::Gateway => chat(target_user, upstream, cases, tally).await,
            Carrier::MemoryTool => files::memory_tool(target_user, cases, tally).await,
            Carrier::Mem0 => rest::mem0(target_user, cases, tally).await,
            Carrier::VaultSync => files::vault_sync(target_user, cases, tally).await,
            Carrier::VaultBase => files::vault_base(target_user, cases, tally).await,
            Carrier::Archive => files::archive(target_user, cases, tally).await,
            Carrier::Items => files::items(target_user, cases, tally).await,
            Carrier::RestSave => rest::save(target_user, cases, tally).await,
            Carrier::RestAlter => rest::alter(target_user, cases, tally).await,
        }
    }
}

impl Carrier {
    /// Removes all that this entry point can remove of one user: plain memories may be removed, the
    /// rest may not. Returns whether it has a way to do so.
    pub async fn remove_all(self, target_user: &TargetUser, tally: &mut Tally) -> Result<bool> {
        match self {
            Carrier::MemoryTool => files::memory_tool_delete_all(target_user, tally).await?,
            Carrier::Mem0 => rest::mem0_delete_all(target_user, tally).await?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

async fn call_tools(
    client: &Client,
    target_user: &TargetUser,
    cases: &[Case],
    tally: &mut Tally,
) -> Result<()> {
    let mut saved: Option<String> = None;
    for case in cases {
        for (name, arguments) in
            calls::tool_calls(case, target_user, saved.as_deref(), "Please go on")
        {
            let answer = client.tool(&name, arguments).await?;
            tally.count(&answer);
            if let Value::String(id) = &answer.body["memory"]["id"] {
                saved =
                    Some(id.clone()).filter(|id| !target_user.is_stated(&Value::from(id.clone())));
            }
        }
    }
    Ok(())
}

/// The user types a harmless message, and the model behind the gateway calls what the attacker
/// wants, quoting the message as the user's.
async fn chat(
    target_user: &TargetUser,
    upstream: &Upstream,
    cases: &[Case],
    tally: &mut Tally,
) -> Result<()> {
    for case in cases {
        let n = case.number;
        let typed = upstream::message(n);
        let calls = calls::tool_calls(case, target_user, None, &typed);
        let message = upstream.expect(n, calls);
        let client = if n.is_multiple_of(2) { &target_user.agent } else { &target_user.human };
        tally.count(&client.chat(&format!("chat-{}", n % 3), &message).await?);
    }
    Ok(())
}
