//! The protocols between chat clients and models, as far as a memory proxy needs them: the messages
//! of a request, inserting memory blocks into it, and collecting an answer while it passes.
//!
//! Nothing here sends anything or changes an answer. A request is changed in the two places that
//! [`PromptRequest::put`] names; every other field is forwarded with its value, known or not. What
//! cannot be read is not an error: it is forwarded without being recorded.

mod answer;
mod chat;
pub mod embeddings;
mod responses;
mod sieve;

use std::collections::BTreeSet;

use lukasa_core::Role;
use serde_json::{Map, Value, json};

pub use answer::AnswerReader;
pub use sieve::{FilteredAnswer, Sieve, ToolCall};

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/chat/completions`: the client sends the whole conversation each time.
    Chat,
    /// `/responses`: the same, or the service stores the conversation and is sent what is new.
    Responses,
}

impl Protocol {
    /// The path below a service's base URL.
    pub fn path(self) -> &'static str {
        match self {
            Protocol::Chat => "chat/completions",
            Protocol::Responses => "responses",
        }
    }
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    pub role: Role,
    pub text: String,
    /// The speaker's name, in a conversation with several people.
    pub speaker: Option<String>,
}

/// What a conversation stored by the service continues from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuation {
    /// An earlier response of the service.
    Answer(String),
    /// A conversation the service stores under this name.
    Conversation(String),
}

/// A request to a chat model.
#[derive(Debug, Clone)]
pub struct PromptRequest {
    protocol: Protocol,
    body: Map<String, Value>,
}

impl PromptRequest {
    /// Parses a request; `None` if it is not a request of this protocol.
    pub fn read(protocol: Protocol, bytes: &[u8]) -> Option<Self> {
        let body: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
        let is_valid = match protocol {
            Protocol::Chat => body.get("messages")?.is_array(),
            Protocol::Responses => {
                let input = body.get("input")?;
                input.is_array() || input.is_string()
            }
        };
        is_valid.then_some(Self { protocol, body })
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// The messages of the request, in order. A message without text, such as a tool call, is
    /// included with an empty text.
    pub fn messages(&self) -> Vec<ChatMessage> {
        match self.protocol {
            Protocol::Chat => chat::messages(&self.body),
            Protocol::Responses => responses::messages(&self.body),
        }
    }

    /// What the conversation continues from, if the service stores it.
    pub fn earlier(&self) -> Option<Continuation> {
        match self.protocol {
            Protocol::Chat => None,
            Protocol::Responses => responses::earlier(&self.body),
        }
    }

    /// Puts the baseline after the application's system prompt, and the dynamic part before the
    /// last user message. Everything in between is unchanged, so that the service's prompt cache
    /// still matches from the first byte.
    pub fn put(&mut self, baseline: &str, dynamic: &str) {
        match self.protocol {
            Protocol::Chat => chat::put(&mut self.body, baseline, dynamic),
            Protocol::Responses => responses::put(&mut self.body, baseline, dynamic),
        }
    }

    /// Offers the model these tools in addition to the client's own, each with its name,
    /// description and argument schema. Returns the names that were added: a client's own tool of
    /// the same name takes precedence.
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

    /// Appends the model's message and the results of its tool calls, each with its id and output.
    pub fn append_tool_results(&mut self, spoken: Vec<Value>, outputs: &[(String, String)]) {
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

    /// Forbids further tool calls, so that the model answers with text.
    pub fn forbid_tool_calls(&mut self) {
        self.body.insert("tool_choice".into(), "none".into());
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.body).unwrap_or_default()
    }
}

/// The text of a message content, which is a string or a list of parts, some of which are texts.
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

/// Inserts a block before a content's own text.
fn prepend(content: &mut Value, block: &str, kind: &str) {
    match content {
        Value::String(text) => text.insert_str(0, block),
        Value::Array(parts) => {
            parts.insert(0, json!({"type": kind, "text": block}));
        }
        other => *other = Value::String(block.to_owned()),
    }
}

/// Appends a block to an application's system prompt.
fn with_block_after(own: &str, block: &str) -> String {
    let gap = if own.is_empty() { "" } else { "\n\n" };
    format!("{own}{gap}{block}")
}
