//! What chat clients and models say to each other, as far as a memory between them has to know it:
//! what was said in a request, where a block goes into it, and what an answer says while it passes.
//!
//! Nothing here sends anything, and nothing here changes an answer. A request is changed in the two
//! places that [`Prompt::put`] names; every other field goes out with the value it came with, known
//! or not. What cannot be read is no error: it is let through, and not heard.

mod answer;
mod chat;
pub mod embeddings;
mod responses;
mod sieve;

use std::collections::BTreeSet;

use lukasa_core::Role;
use serde_json::{Map, Value, json};

pub use answer::Answer;
pub use sieve::{Ended, Sieve, ToolCall};

/// How a request for an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/chat/completions`: the client sends the whole chat each time.
    Chat,
    /// `/responses`: the same, or the service keeps the chat and is sent what is new.
    Responses,
}

impl Protocol {
    /// Where it is asked, below a service's address.
    pub fn path(self) -> &'static str {
        match self {
            Protocol::Chat => "chat/completions",
            Protocol::Responses => "responses",
        }
    }
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub role: Role,
    pub text: String,
    /// The name of whoever said it, where several people speak.
    pub speaker: Option<String>,
}

/// What a chat that the service keeps goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// An answer the service gave before.
    Answer(String),
    /// A conversation the service keeps under this name.
    Conversation(String),
}

/// A request for an answer.
#[derive(Debug, Clone)]
pub struct Prompt {
    protocol: Protocol,
    body: Map<String, Value>,
}

impl Prompt {
    /// The request in these bytes; nothing if it is none that can be read.
    pub fn read(protocol: Protocol, bytes: &[u8]) -> Option<Self> {
        let body: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let there = match protocol {
            Protocol::Chat => body.get("messages")?.is_array(),
            Protocol::Responses => {
                let input = body.get("input")?;
                input.is_array() || input.is_string()
            }
        };
        there.then_some(Self { protocol, body })
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Everything that the request says was said, in order. A message without words, such as a call
    /// of a tool, is there with none.
    pub fn said(&self) -> Vec<Said> {
        match self.protocol {
            Protocol::Chat => chat::said(&self.body),
            Protocol::Responses => responses::said(&self.body),
        }
    }

    /// What the chat goes on from, if the service keeps it.
    pub fn earlier(&self) -> Option<Earlier> {
        match self.protocol {
            Protocol::Chat => None,
            Protocol::Responses => responses::earlier(&self.body),
        }
    }

    /// Puts the baseline behind whatever the application tells the model first, and the dynamic part
    /// in front of the last thing a person said. What lies between is left as it is, so that a
    /// service that has read it before knows it again from its first byte.
    pub fn put(&mut self, baseline: &str, dynamic: &str) {
        match self.protocol {
            Protocol::Chat => chat::put(&mut self.body, baseline, dynamic),
            Protocol::Responses => responses::put(&mut self.body, baseline, dynamic),
        }
    }

    /// Offers the model these tools beside the client's own, each with its name, when to call it, and
    /// the schema of its arguments. Gives the names that are new: a client's own tool stays its own.
    pub fn offer<'t>(
        &mut self,
        tools: impl Iterator<Item = (&'t str, &'t str, &'t Value)>,
    ) -> BTreeSet<String> {
        let list = self.body.entry("tools").or_insert_with(|| json!([]));
        if list.is_null() {
            *list = json!([]);
        }
        let Some(list) = list.as_array_mut() else { return BTreeSet::new() };
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str().or_else(|| tool["name"].as_str());
            name.map(str::to_owned)
        };
        let theirs: BTreeSet<String> = list.iter().filter_map(name).collect();
        let mut offered = BTreeSet::new();
        for (name, about, input) in tools.filter(|(name, ..)| !theirs.contains(*name)) {
            let mut tool = json!({"name": name, "description": about, "parameters": input});
            list.push(match self.protocol {
                Protocol::Chat => json!({"type": "function", "function": tool}),
                Protocol::Responses => {
                    tool["type"] = "function".into();
                    tool
                }
            });
            offered.insert(name.to_owned());
        }
        offered
    }

    /// Goes on after the model has spoken and its calls were run, each with its id and what it gave.
    pub fn go_on(&mut self, spoken: Vec<Value>, outputs: &[(String, String)]) {
        let protocol = self.protocol;
        let answer = |(id, text): &(String, String)| match protocol {
            Protocol::Chat => json!({"role": "tool", "tool_call_id": id, "content": text}),
            Protocol::Responses => {
                json!({"type": "function_call_output", "call_id": id, "output": text})
            }
        };
        let field = match protocol {
            Protocol::Chat => "messages",
            Protocol::Responses => "input",
        };
        let Some(list) = self.body.get_mut(field) else { return };
        if list.is_string() {
            *list = json!([{"role": "user", "content": list.take()}]);
        }
        if let Some(list) = list.as_array_mut() {
            list.extend(spoken);
            list.extend(outputs.iter().map(answer));
        }
    }

    /// Has the model answer in words.
    pub fn end_calls(&mut self) {
        self.body.insert("tool_choice".into(), "none".into());
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.body).unwrap_or_default()
    }
}

/// The words of a content, which is a text or a list of parts, of which some are texts.
pub fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| {
                let kind = part["type"].as_str()?;
                let is_text = ["text", "input_text", "output_text"].contains(&kind);
                part["text"].as_str().filter(|_| is_text)
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

/// Puts a block in front of a content's own words.
fn lead(content: &mut Value, block: &str, kind: &str) {
    match content {
        Value::String(text) => text.insert_str(0, block),
        Value::Array(parts) => {
            parts.insert(0, json!({"type": kind, "text": block}));
        }
        other => *other = Value::String(block.to_owned()),
    }
}

/// A block behind what an application tells the model.
fn behind(own: &str, block: &str) -> String {
    let gap = if own.is_empty() { "" } else { "\n\n" };
    format!("{own}{gap}{block}")
}
