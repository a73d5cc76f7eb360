//! Anthropic's `/v1/messages`. The schema of an answer is that of a tool which the model must use.

use lukasa_core::model::{ChatRequest, Finish};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::endpoint::Protocol;
use super::dialect::{AnswerFormat, Dialect};
use super::message;
use super::partial::{PartFault, PartialAnswer};

const HOST: &str = "api.anthropic.com";

pub(super) const PROTOCOL: Protocol = Protocol {
    key_header: Some("x-api-key"),
    headers: &[("anthropic-version", "2023-06-01")],
    key_setting: "LUKASA_CHAT_KEY",
};

/// Whether a setting's URL means this protocol: by its host, or by the path `/messages`. The host
/// speaks OpenAI's protocol too, if the setting names that path.
pub(super) fn speaks_at(base_url: &str) -> bool {
    let Ok(url) = Url::parse(base_url) else { return false };
    let path = url.path().trim_end_matches('/');
    path.ends_with("/messages")
        || (url.host_str() == Some(HOST) && !path.ends_with("/chat/completions"))
}

/// The path of the endpoint: the setting may be the URL of the service, of its API, or the whole.
pub(super) fn path(set: &str) -> String {
    match set {
        "" => "/v1/messages".to_owned(),
        whole if whole.ends_with("/messages") => whole.to_owned(),
        api => format!("{api}/messages"),
    }
}

/// The body of a request.
pub(super) fn body(
    model: &str,
    ask: &ChatRequest,
    dialect: Dialect,
    stream: bool,
) -> serde_json::Result<Vec<u8>> {
    let (system, messages): (Vec<_>, Vec<_>) =
        message::all(ask, dialect).into_iter().partition(|message| message.role == "system");
    let system: Vec<&str> = system.iter().map(|message| message.content.as_ref()).collect();
    let mut body = json!({
        "model": model,
        "max_tokens": ask.max_tokens.saturating_add(dialect.reasoning_tokens),
        "messages": messages,
    });
    if !system.is_empty() {
        body["system"] = json!(system.join("\n\n"));
    }
    if dialect.temperature {
        body["temperature"] = json!(0);
    }
    if let Some(schema) = ask.schema.as_ref().filter(|_| uses_tool(ask, dialect)) {
        body["tools"] = json!([{"name": schema.name, "description": "Takes the answer.",
            "input_schema": schema.schema}]);
        body["tool_choice"] =
            json!({"type": "tool", "name": schema.name, "disable_parallel_tool_use": true});
    }
    if stream {
        body["stream"] = json!(true);
    }
    serde_json::to_vec(&body)
}

/// Whether the answer is the input of a tool.
pub(super) fn uses_tool(ask: &ChatRequest, dialect: Dialect) -> bool {
    ask.schema.is_some() && dialect.format == AnswerFormat::Schema
}

/// A whole response, or one event of a stream.
#[derive(Deserialize)]
struct Part {
    r#type: Option<String>,
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    /// The beginning of a streamed answer.
    message: Option<Begin>,
    delta: Option<Delta>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Begin {
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

/// Adds a whole response or one event to an answer; returns the new piece of text, and whether the
/// answer ends here. With `tool`, only the input of the tool is the answer.
pub(super) fn add(
    partial: &mut PartialAnswer,
    json: &[u8],
    tool: bool,
) -> Result<(String, bool), PartFault> {
    let part: Part = serde_json::from_slice(json)?;
    if part.error.is_some() {
        return Err(PartFault::Reported);
    }
    for usage in part.message.and_then(|begin| begin.usage).into_iter().chain(part.usage) {
        partial.input_tokens = usage.input_tokens.or(partial.input_tokens);
        partial.output_tokens = usage.output_tokens.or(partial.output_tokens);
    }
    let stop = part.stop_reason.or(part.delta.as_ref().and_then(|d| d.stop_reason.clone()));
    let finish = stop.as_deref().map(|reason| match reason {
        "refusal" => Finish::Refused,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        _ => Finish::Stop,
    });
    partial.begun |= finish.is_some();
    partial.finish = finish.or(partial.finish);
    let mut piece = String::new();
    for block in part.content.into_iter().flatten() {
        match tool {
            true => piece.push_str(&block.input.map(|input| input.to_string()).unwrap_or_default()),
            false => piece.push_str(&block.text.unwrap_or_default()),
        }
    }
    if let Some(delta) = part.delta {
        let new = if tool { delta.partial_json } else { delta.text };
        piece.push_str(&new.unwrap_or_default());
    }
    let ends = part.r#type.as_deref() == Some("message_stop");
    Ok((partial.push(piece)?, ends))
}

#[cfg(test)]
mod tests {
    use super::{path, speaks_at};

    #[test]
    fn anthropic_protocol_is_chosen_by_host_or_path() {
        for url in [
            "https://api.anthropic.com",
            "https://api.anthropic.com/v1/",
            "https://proxy.example/anthropic/v1/messages",
        ] {
            assert!(speaks_at(url), "{url}");
        }
        for url in [
            "https://api.anthropic.com/v1/chat/completions",
            "https://anthropic.example/v1",
            "http://127.0.0.1:11434/v1",
            "secret",
        ] {
            assert!(!speaks_at(url), "{url}");
        }
        assert_eq!(path(""), "/v1/messages");
        assert_eq!(path("/v1"), "/v1/messages");
        assert_eq!(path("/a/v1/messages"), "/a/v1/messages");
    }
}
