//! `/responses`: instructions apart from the input, which is a text or a list of items. The service
//! may keep the chat itself; then the input is only what is new.

use lukasa_core::Role;
use serde_json::{Map, Value};

use super::{Earlier, Said, behind, lead, words};

pub(super) fn said(body: &Map<String, Value>) -> Vec<Said> {
    match body.get("input") {
        Some(Value::String(text)) => vec![Said::of(Role::User, text.clone())],
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        _ => Vec::new(),
    }
}

impl Said {
    fn of(role: Role, text: String) -> Self {
        Self { role, text, speaker: None }
    }
}

fn item(item: &Value) -> Option<Said> {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = match item["role"].as_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                "system" | "developer" => Role::System,
                _ => return None,
            };
            Some(Said::of(role, words(&item["content"])))
        }
        kind if kind.ends_with("_call_output") => {
            Some(Said::of(Role::Tool, words(&item["output"])))
        }
        // The model asked for something to be done: it has spoken, without words.
        kind if kind.ends_with("_call") => Some(Said::of(Role::Assistant, String::new())),
        _ => None,
    }
}

pub(super) fn earlier(body: &Map<String, Value>) -> Option<Earlier> {
    if let Some(answer) = body.get("previous_response_id").and_then(Value::as_str) {
        return Some(Earlier::Answer(answer.to_owned()));
    }
    let kept = body.get("conversation")?;
    let name = kept.as_str().or_else(|| kept["id"].as_str())?;
    Some(Earlier::Conversation(name.to_owned()))
}

pub(super) fn put(body: &mut Map<String, Value>, baseline: &str, dynamic: &str) {
    if !dynamic.is_empty() {
        match body.get_mut("input") {
            Some(text @ Value::String(_)) => lead(text, dynamic, "input_text"),
            Some(Value::Array(items)) => {
                let asked = items.iter_mut().rev().find(|item| item["role"] == "user");
                if let Some(asked) = asked {
                    lead(&mut asked["content"], dynamic, "input_text");
                }
            }
            _ => {}
        }
    }
    if !baseline.is_empty() {
        let own = body.get("instructions").and_then(Value::as_str).unwrap_or("");
        let both = behind(own, baseline);
        body.insert("instructions".into(), both.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Earlier, Prompt, Protocol};
    use lukasa_core::Role;
    use serde_json::{Value, json};

    fn read(body: &Value) -> Prompt {
        Prompt::read(Protocol::Responses, body.to_string().as_bytes()).unwrap()
    }

    fn put(body: &Value) -> Value {
        let mut prompt = read(body);
        prompt.put("<B>", "<D>");
        serde_json::from_slice(&prompt.to_bytes()).unwrap()
    }

    #[test]
    fn a_block_goes_into_the_instructions_and_before_the_last_words() {
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
    fn items_are_what_was_said_and_by_whom() {
        let prompt = read(&json!({"previous_response_id": "resp_1", "input": [
            {"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"},
            {"type": "reasoning", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}, {"type": "output_text", "text": "B"}]},
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "output": "Sun"}]}));
        let said: Vec<(Role, String)> =
            prompt.said().into_iter().map(|said| (said.role, said.text)).collect();
        let expected = [
            (Role::System, "Be brief."),
            (Role::User, "Hi"),
            (Role::Assistant, "A\n\nB"),
            (Role::Assistant, ""),
            (Role::Tool, "Sun"),
        ];
        assert_eq!(said, expected.map(|(role, text)| (role, text.to_owned())));
        assert_eq!(prompt.earlier(), Some(Earlier::Answer("resp_1".into())));
        let kept = read(&json!({"conversation": {"id": "conv_1"}, "input": "Hi"}));
        assert_eq!(kept.earlier(), Some(Earlier::Conversation("conv_1".into())));
    }
}
