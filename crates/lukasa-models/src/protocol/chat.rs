//! `/chat/completions`: a list of messages, the application's own first.

use lukasa_core::Role;
use serde_json::{Map, Value, json};

use super::{ChatMessage, prepend, with_block_after, words};

pub(super) fn messages(body: &Map<String, Value>) -> Vec<ChatMessage> {
    let messages = body.get("messages").and_then(Value::as_array);
    messages.into_iter().flatten().filter_map(message).collect()
}

fn message(message: &Value) -> Option<ChatMessage> {
    let role = match message["role"].as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    };
    let speaker = message["name"].as_str().filter(|_| role == Role::User).map(str::to_owned);
    Some(ChatMessage { role, text: words(&message["content"]), speaker })
}

pub(super) fn put(body: &mut Map<String, Value>, baseline: &str, dynamic: &str) {
    let Some(Value::Array(messages)) = body.get_mut("messages") else { return };
    let is = |message: &Value, roles: &[&str]| {
        message["role"].as_str().is_some_and(|role| roles.contains(&role))
    };
    let asked = messages.iter_mut().rev().find(|message| is(message, &["user"]));
    if let Some(asked) = asked.filter(|_| !dynamic.is_empty()) {
        prepend(&mut asked["content"], dynamic, "text");
    }
    if baseline.is_empty() {
        return;
    }
    let first = messages.first_mut().filter(|first| is(first, &["system", "developer"]));
    match first.map(|first| &mut first["content"]) {
        Some(Value::Array(parts)) => parts.push(json!({"type": "text", "text": baseline})),
        Some(content) => {
            *content = with_block_after(content.as_str().unwrap_or(""), baseline).into();
        }
        None => messages.insert(0, json!({"role": "system", "content": baseline})),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PromptRequest, Protocol};
    use serde_json::{Value, json};

    fn put(body: &Value) -> Value {
        let mut prompt = PromptRequest::read(Protocol::Chat, body.to_string().as_bytes()).unwrap();
        prompt.put("<B>", "<D>");
        serde_json::from_slice(&prompt.to_bytes()).unwrap()
    }

    #[test]
    fn blocks_are_put_after_system_message_and_before_last_message() {
        let asked = json!({"model": "m", "x_unknown": {"a": [1.5, null]}, "messages": [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And now?"}]});
        let put = put(&asked);
        assert_eq!(put["messages"][0]["content"], "Be brief.\n\n<B>");
        assert_eq!(put["messages"][3]["content"], "<D>And now?");
        for same in ["/messages/1", "/messages/2", "/model", "/x_unknown"] {
            assert_eq!(put.pointer(same), asked.pointer(same), "{same}");
        }
    }

    #[test]
    fn missing_system_message_is_added_and_content_parts_are_kept() {
        let image =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
        let put = put(&json!({"messages": [{"role": "user", "content":
            [image, {"type": "text", "text": "What is this?"}]}]}));
        assert_eq!(put["messages"][0], json!({"role": "system", "content": "<B>"}));
        let parts = &put["messages"][1]["content"];
        assert_eq!((&parts[0]["text"], &parts[1]), (&json!("<D>"), &image));
        assert_eq!(parts[2]["text"], "What is this?");
    }

    #[test]
    fn block_stays_before_user_message_during_tool_calls() {
        let put = put(&json!({"messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "Sun"}]}));
        assert_eq!(put["messages"][0]["content"][1]["text"], "<B>");
        assert_eq!(put["messages"][1]["content"], "<D>Weather?");
        assert_eq!(put["messages"][3]["content"], "Sun");
    }

    #[test]
    fn invalid_chat_request_is_not_read() {
        for body in ["", "[]", "{}", r#"{"messages": "hi"}"#, "{\"messages\": [1, \"\\ud800\"]}"] {
            assert!(PromptRequest::read(Protocol::Chat, body.as_bytes()).is_none(), "{body}");
        }
        let odd = json!({"messages": [1, {"role": "user"}, {"role": "alien", "content": "x"}]});
        assert_eq!(put(&odd)["messages"][0]["content"], "<B>");
    }
}
