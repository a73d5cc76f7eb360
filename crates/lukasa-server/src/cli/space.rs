//! `lukasa space create | list | members | grant | end | erase | mine | accept | leave | share`

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::ServerArgs;
use super::show::field;
use super::{FormatArgs, say, say_json};
use crate::url::encoded;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  lukasa space create family
  lukasa space grant family anna --access write
  lukasa space accept family --user anna
  lukasa space share family mem_01hx3v9d0kf7rtm4q5wz8yb2ca --user anna

The first six need a key that is not bound to a user and has the permission admin. The others are about
one user; only the user can accept and leave, so they need a user's token, or a server without
authentication.")]
pub enum SpaceCommand {
    /// Create a space, which users of the tenant can share memories in.
    Create(SpaceArgs),
    /// List the tenant's spaces.
    List(SpaceListArgs),
    /// List the members of a space.
    Members(SpaceArgs),
    /// Grant a space to a user, or change what the grant allows.
    Grant(GrantSpaceArgs),
    /// End the grant of a space to a user.
    End(SpaceMemberArgs),
    /// Erase a space with all its memories.
    Erase(SpaceArgs),
    /// List the spaces that have granted to the user.
    Mine(SpaceListArgs),
    /// Accept the grant of a space.
    Accept(SpaceArgs),
    /// Leave a space, or decline its grant.
    Leave(SpaceArgs),
    /// Save a copy of one of the user's memories in a space.
    Share(ShareMemoryArgs),
}

#[derive(Debug, Args)]
pub struct SpaceListArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct SpaceArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The name of the space
    space: String,
}

#[derive(Debug, Args)]
pub struct SpaceMemberArgs {
    #[command(flatten)]
    one: SpaceArgs,
    /// The tenant's name for the user
    member: String,
}

#[derive(Debug, Args)]
pub struct GrantSpaceArgs {
    #[command(flatten)]
    to: SpaceMemberArgs,
    /// What the grant allows; write includes read
    #[arg(long, value_parser = ["read", "write"], default_value = "read")]
    access: String,
}

#[derive(Debug, Args)]
pub struct ShareMemoryArgs {
    #[command(flatten)]
    one: SpaceArgs,
    /// The memory's id, as listed
    memory: String,
}

impl SpaceCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            SpaceCommand::Create(command) => {
                let body = json!({ "space": command.space });
                let made = command.server.post("/api/spaces", &body).await?;
                command.format.print(&made, "The space exists. Grant it with: lukasa space grant")
            }
            SpaceCommand::List(command) => command.list("/api/spaces").await,
            SpaceCommand::Members(command) => command.members().await,
            SpaceCommand::Grant(command) => command.run().await,
            SpaceCommand::End(command) => {
                let (path, one) = (command.path(), command.one);
                one.send(Method::DELETE, &path, "The grant has ended.").await
            }
            SpaceCommand::Erase(command) => {
                let path = format!("/api/spaces/{}", encoded(&command.space));
                command.send(Method::DELETE, &path, "The space is erased.").await
            }
            SpaceCommand::Mine(command) => command.list("/api/memberships").await,
            SpaceCommand::Accept(command) => command.answer(Method::PUT, "Accepted.").await,
            SpaceCommand::Leave(command) => command.answer(Method::DELETE, "Left.").await,
            SpaceCommand::Share(command) => command.run().await,
        }
    }
}

impl FormatArgs {
    fn print(&self, answer: &Value, sentence: &str) -> anyhow::Result<()> {
        if self.json { say_json(answer) } else { say(sentence) }
    }
}

impl SpaceListArgs {
    async fn list(self, path: &str) -> anyhow::Result<()> {
        let found = self.server.get(path).await?;
        if self.format.json {
            return say_json(&found);
        }
        for one in found["data"].as_array().into_iter().flatten() {
            let grant = &one["grant"];
            let (access, state) = (field(grant, "access"), field(grant, "state"));
            say(&format!("{}  {access}  {state}", field(one, "space")))?;
        }
        match found["unavailable"].as_u64() {
            None | Some(0) => Ok(()),
            Some(count) => say(&format!("{count} more cannot be read now; try again later")),
        }
    }
}

impl SpaceArgs {
    async fn members(self) -> anyhow::Result<()> {
        let path = format!("/api/spaces/{}/members", encoded(&self.space));
        let found = self.server.get(&path).await?;
        if self.format.json {
            return say_json(&found);
        }
        for one in found["data"].as_array().into_iter().flatten() {
            let (access, state) = (field(&one["grant"], "access"), field(&one["grant"], "state"));
            let user = if one["user"].is_null() { "?".to_owned() } else { field(one, "user") };
            say(&format!("{user}  {access}  {state}"))?;
        }
        Ok(())
    }

    /// Accepts or leaves.
    async fn answer(self, method: Method, sentence: &str) -> anyhow::Result<()> {
        let path = format!("/api/memberships/{}", encoded(&self.space));
        self.send(method, &path, sentence).await
    }

    async fn send(self, method: Method, path: &str, sentence: &str) -> anyhow::Result<()> {
        self.server.send(self.server.request(method, path)?).await?;
        self.format.print(&json!({ "space": self.space }), sentence)
    }
}

impl SpaceMemberArgs {
    fn path(&self) -> String {
        let (space, user) = (encoded(&self.one.space), encoded(&self.member));
        format!("/api/spaces/{space}/members/{user}")
    }
}

impl GrantSpaceArgs {
    async fn run(self) -> anyhow::Result<()> {
        let (path, server) = (self.to.path(), &self.to.one.server);
        let request = server.request(Method::PUT, &path)?.json(&json!({ "access": self.access }));
        let granted: Value = server.send(request).await?.json().await?;
        let sentence = "Granted. It allows nothing until the user accepts it.";
        self.to.one.format.print(&granted, sentence)
    }
}

impl ShareMemoryArgs {
    async fn run(self) -> anyhow::Result<()> {
        let SpaceArgs { server, format, space } = self.one;
        let memory = server.get(&format!("/api/memory/{}", encoded(&self.memory))).await?;
        let mut copy = json!({ "content": memory["content"] });
        for name in ["domain", "tags"] {
            if !memory[name].is_null() {
                copy[name] = memory[name].clone();
            }
        }
        let request = server.request(Method::POST, "/api/memory")?;
        let request = request.header("x-lukasa-space", &space).json(&copy);
        let saved: Value = server.send(request).await?.json().await?;
        format.print(&saved, &format!("Saved in {space}: {}", field(&saved["memory"], "content")))
    }
}
