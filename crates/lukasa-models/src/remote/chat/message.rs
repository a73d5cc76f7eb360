//! The messages of a request in the form that a service accepts.

use std::borrow::Cow;

use lukasa_core::model::{ChatRequest, Speaker};
use serde::Serialize;

use super::dialect::{AnswerFormat, Dialect};

#[derive(Debug, Serialize)]
pub(super) struct RequestMessage<'a> {
    pub role: &'static str,
    pub content: Cow<'a, str>,
}

/// The messages of a request. Where the service does not enforce the schema, it is at the end of
/// the instructions; where it takes no instructions, they begin the first message of the user.
pub(super) fn all(ask: &ChatRequest, dialect: Dialect) -> Vec<RequestMessage<'_>> {
    let mut messages: Vec<RequestMessage<'_>> = ask
        .messages
        .iter()
        .map(|message| RequestMessage {
            role: match message.role {
                Speaker::System => "system",
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            },
            content: Cow::Borrowed(&message.content),
        })
        .collect();
    if let Some(schema) = ask.schema.as_ref().filter(|_| dialect.format != AnswerFormat::Schema) {
        let form = format!(
            "Answer with one JSON object that follows this JSON schema, and with nothing else:\n{}",
            schema.schema
        );
        match messages.iter_mut().find(|message| message.role == "system") {
            Some(system) => system.content.to_mut().push_str(&format!("\n\n{form}")),
            None => messages.insert(0, RequestMessage { role: "system", content: form.into() }),
        }
    }
    if !dialect.system {
        merge_instructions(&mut messages);
    }
    messages
}

fn merge_instructions(messages: &mut Vec<RequestMessage<'_>>) {
    let instructions: Vec<String> = messages
        .extract_if(.., |message| message.role == "system")
        .map(|message| message.content.into_owned())
        .collect();
    let instructions = instructions.join("\n\n");
    match messages.iter_mut().find(|message| message.role == "user") {
        _ if instructions.is_empty() => {}
        Some(first) => first.content = format!("{instructions}\n\n{}", first.content).into(),
        None => messages.insert(0, RequestMessage { role: "user", content: instructions.into() }),
    }
}
