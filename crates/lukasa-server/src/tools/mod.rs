//! The memory tools, once, for every door that lets an AI model call them.
//!
//! `list` says what a model may call and how; [`run`] does it. A tool is an operation of the API
//! under a name that models know: its arguments become the same request, and the engine gives the
//! same answer or the same denial. Whose memory it is was decided by the credential before a tool is
//! called; nothing in the arguments can change it.
//!
//! A model is not its person. Whoever's credential a call came with, the words count as an
//! assistant's, and what takes a human (a yes to a proposal, the opening of a domain) becomes a
//! [`Question`] that a door may put to the person. Only their answer, never an argument, settles it.

mod answer;
mod arguments;
mod call;
mod list;

use std::collections::BTreeMap;

use lukasa_core::{Caller, Permission};
use lukasa_engine::Engine;
use serde_json::Value;

use crate::http::auth::forbidden;
use crate::http::error::Problem;

pub use answer::{Answer, Question};
pub use list::{Tool, all, find, undo};

/// A call that a model makes.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// A tool's name, or one that other memories use for it.
    pub name: String,
    pub arguments: Value,
    /// The call's own id, if it has one that is never used again: the same call happens once.
    pub id: Option<String>,
    /// The session the call was made in; what it writes is noted as said there.
    pub session: Option<String>,
    /// What the person has said to questions of earlier rounds, by the question's key.
    pub said: BTreeMap<String, Said>,
}

impl Call {
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments, ..Self::default() }
    }
}

/// What a person can say to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Yes,
    No,
    /// They did not want to be asked now.
    Nothing,
}

/// Runs a call to its end, also if whoever asked goes away in the middle.
///
/// What the credential does not allow is refused here, whichever door it came through. The answer is
/// never an error of a protocol: what could not be done is told to the model in words that say what
/// to do instead.
pub async fn run(engine: &Engine, caller: &Caller, may: &[Permission], call: Call) -> Answer {
    let Some(tool) = find(&call.name) else { return answer::unknown(&call.name) };
    if !may.contains(&tool.permission) {
        return answer::refused(tool, &forbidden(tool.permission));
    }
    let (engine, caller) = (engine.clone(), caller.clone());
    let work = async move { call::act(&engine, &caller, tool, &call).await };
    match tokio::spawn(work).await {
        Ok(answer) => answer,
        Err(_) => answer::refused(tool, &Problem::of("internal")),
    }
}
