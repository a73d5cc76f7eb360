//! The memory tools, shared by every protocol through which an AI model can call them.
//!
//! `list` defines the tools; [`run`] executes a call. A tool is an operation of the API under a
//! name that models know: its arguments become the same request, and the engine gives the same
//! answer or the same refusal. The user is determined by the credential before a tool is called; no
//! argument can change it.
//!
//! A model does not act as the user. Whatever credential a call came with, its words count as an
//! assistant's, and what needs a human (a yes to a proposal, the opening of a domain) becomes a
//! [`UserQuestion`] that the protocol may put to the user. Only the user's reply, never an argument,
//! decides it.

mod answer;
mod arguments;
mod call;
mod list;

use std::collections::BTreeMap;

use lukasa_core::{Caller, Permission, Project};
use serde_json::Value;

use crate::api::App;
use crate::api::auth::forbidden;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

pub use answer::{ToolAnswer, UserQuestion};
pub use list::{Tool, all, find, undo};

/// A tool call by a model.
#[derive(Debug, Clone, Default)]
pub struct ToolInvocation {
    /// A tool's name, or an alias that other memory systems use for it.
    pub name: String,
    pub arguments: Value,
    /// A unique id of the call, if it has one: a call with the same id is executed once.
    pub id: Option<String>,
    /// The session the call was made in; memories it writes are attributed to it.
    pub session: Option<String>,
    /// The project that the client works on.
    pub project: Option<Project>,
    /// The user's replies to questions of earlier rounds, by the question's key.
    pub replies: BTreeMap<String, UserReply>,
}

impl ToolInvocation {
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments, ..Self::default() }
    }
}

/// The user's reply to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserReply {
    Yes,
    No,
    /// The user dismissed the question.
    Dismissed,
}

/// Runs a call to its end, even if the client disconnects.
///
/// Checks the permissions of the credential for every protocol. The answer is never a protocol
/// error: a refusal is a message to the model that says what to do instead.
pub async fn run(
    app: &App,
    caller: &Caller,
    may: &[Permission],
    call: ToolInvocation,
) -> ToolAnswer {
    let Some(tool) = list::of_call(&call.name, &call.arguments) else {
        return answer::unknown(&call.name);
    };
    if !may.contains(&tool.permission) {
        return answer::refused(tool, &forbidden(tool.permission));
    }
    let (app, caller) = (app.clone(), caller.clone());
    let work = async move { call::act(&app, &caller, tool, &call).await };
    match tokio::spawn(work).await {
        Ok(answer) => answer,
        Err(_) => answer::refused(tool, &Problem::of(ErrorCode::Internal)),
    }
}
