//! `/responses`: instructions are separate from the input, which is a text or a list of items. The
//! service may store the conversation itself; then the input holds only what is new.

use lukasa_core::Role;
use serde_json::{Map, Value};

use super::{ChatMessage, Continuation, prepend, with_block_after, words};

pub(super) fn messages(body: &Map<String, Value>) -> Vec<ChatMessage> {
    match body.get("input") {
        Some(Value::String(text)) => vec![ChatMessage::of(Role::User, text.clone())],
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        _ => Vec::new(),
    }
}

impl ChatMessage {
    fn of(role: Role, text: String) -> Self {
        Self { role, text, speaker: None }
    }
}

fn item(item: &Value) -> Option<ChatMessage> {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = match item["role"].as_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::System,
                _ => return None,
            };
            Some(ChatMessage::of(role, words(&item["content"])))
        }
        kind if kind.ends_with("_call_output") => {
            Some(ChatMessage::of(Role::Tool, words(&item["output"])))
        }
        // A tool call: an assistant message without text.
        kind if kind.ends_with("_call") => Some(ChatMessage::of(Role::Assistant, String::new())),
        _ => None,
    }
}

pub(super) fn earlier(body: &Map<String, Value>) -> Option<Continuation> {
    if let Some(answer) = body.get("previous_response_id").and_then(Value::as_str) {
        return Some(Continuation::Answer(answer.to_owned()));
    }
    let conversation = body.get("conversation")?;
    let name = conversation.as_str().or_else(|| conversation["id"].as_str())?;
    Some(Continuation::Conversation(name.to_owned()))
}

pub(super) fn put(body: &mut Map<String, Value>, baseline: &str, dynamic: &str) {
    if !dynamic.is_empty() {
        match body.get_mut("input") {
            Some(text @ Value::String(_)) => prepend(text, dynamic, "input_text"),
            Some(Value::Array(items)) => {
                let asked = items.iter_mut().rev().find(|item| item["role"] == "user");
                if let Some(asked) = asked {
                    prepend(&mut asked["content"], dynamic, "input_text");
                }
            }
            _ => {}
        }
    }
    if !baseline.is_empty() {
        let own = body.get("instructions").and_then(Value::as_str).unwrap_or("");
        let both = with_block_after(own, baseline);
        body.insert("instructions".into(), both.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Continuation, PromptRequest, Protocol};
    use lukasa_core::Role;
    use serde_json::{Value, json};

    fn read(body: &Value) -> PromptRequest {
        PromptRequest::read(Protocol::Responses, body.to_string().as_bytes()).unwrap()
    }

    fn put(body: &Value) -> Value {
        let mut prompt = read(body);
        prompt.put("<B>", "<D>");
        serde_json::from_slice(&prompt.to_bytes()).unwrap()
    }

    #[test]
    fn blocks_are_put_into_instructions_and_before_last_message() {
        let short = put(&json!({"model": "m", "input": "Hi"}));
        assert_eq!(short, json!({"model": "m", "input": "<D>Hi", "instructions": "<B>"}));
        let long = put(&json!({"instructions": "Be brief.", "input": [
            {"role": "user", "content": "Hi"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes?"}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Go on"}]},
            {"type": "function_call", "name": "f", "call_id": "1", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "Sun"}]}));
        assert_eq!(long["instructions"], "Be brief.\n\n<B>");
        assert_eq!(long["input"][0]["content"], "Hi");
        assert_eq!(long["input"][2]["content"][0], json!({"type": "input_text", "text": "<D>"}));
        assert_eq!(long["input"][4]["output"], "Sun");
    }

    #[test]
    fn responses_items_are_read_with_role_and_text() {
        let prompt = read(&json!({"previous_response_id": "resp_1", "input": [
            {"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "A"}, {"type": "output_text", "text": "B"}]},
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "output": "Sun"}]}));
        let messages: Vec<(Role, String)> =
            prompt.messages().into_iter().map(|message| (message.role, message.text)).collect();
        let expected = [
            (Role::System, "Be brief."),
            (Role::User, "Hi"),
            (Role::Assistant, "A\n\nB"),
            (Role::Assistant, ""),
            (Role::Tool, "Sun"),
        ];
        assert_eq!(messages, expected.map(|(role, text)| (role, text.to_owned())));
        assert_eq!(prompt.earlier(), Some(Continuation::Answer("resp_1".into())));
        let kept = read(&json!({"conversation": {"id": "conv_1"}, "input": "Hi"}));
        assert_eq!(kept.earlier(), Some(Continuation::Conversation("conv_1".into())));
    }
}
