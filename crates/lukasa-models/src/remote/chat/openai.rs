//! OpenAI's `/chat/completions`, which most services and servers speak.

use lukasa_core::model::{ChatRequest, Finish};
use lukasa_core::strict_schema::without_length_bounds;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::dialect::{AnswerFormat, Dialect, TokenField};
use super::message::{self, RequestMessage};
use super::partial::{PartFault, PartialAnswer};

/// The path of the endpoint: the setting may be the URL of the service, of its API, or the whole.
pub(super) fn path(set: &str) -> String {
    match set {
        "" => "/v1/chat/completions".to_owned(),
        whole if whole.ends_with("/chat/completions") => whole.to_owned(),
        api => format!("{api}/chat/completions"),
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// The body of a request.
pub(super) fn body(
    model: &str,
    ask: &ChatRequest,
    dialect: Dialect,
    stream: bool,
) -> serde_json::Result<Vec<u8>> {
    let most = ask.max_tokens.saturating_add(dialect.reasoning_tokens);
    let most_in = |field: TokenField| (dialect.token_field == field).then_some(most);
    let response_format = ask.schema.as_ref().and_then(|schema| match dialect.format {
        AnswerFormat::Schema => {
            let form = match dialect.length_bounds {
                true => schema.schema.clone(),
                false => without_length_bounds(&schema.schema),
            };
            let form = json!({"name": schema.name, "strict": true, "schema": form});
            Some(json!({"type": "json_schema", "json_schema": form}))
        }
        AnswerFormat::JsonObject => Some(json!({"type": "json_object"})),
        AnswerFormat::Text => None,
    });
    serde_json::to_vec(&Request {
        model,
        messages: message::all(ask, dialect),
        max_tokens: most_in(TokenField::MaxTokens),
        max_completion_tokens: most_in(TokenField::MaxCompletionTokens),
        temperature: dialect.temperature.then_some(0),
        response_format,
        stream: stream.then_some(true),
        stream_options: (stream && dialect.stream_usage)
            .then_some(StreamOptions { include_usage: true }),
    })
}

/// A whole response, or one event of a stream: they differ in one field name.
#[derive(Deserialize)]
struct Part {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "delta")]
    message: Option<Words>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Words {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// Adds a whole response or one event to an answer; returns the new piece of text.
pub(super) fn add(partial: &mut PartialAnswer, json: &[u8]) -> Result<String, PartFault> {
    let part: Part = serde_json::from_slice(json)?;
    if part.error.is_some() {
        return Err(PartFault::Reported);
    }
    // Some services send token counts in every event; the last one is for the whole answer.
    if let Some(usage) = part.usage {
        partial.input_tokens = usage.prompt_tokens.or(partial.input_tokens);
        partial.output_tokens = usage.completion_tokens.or(partial.output_tokens);
    }
    // One choice is requested, and an event with only token counts has none.
    let Some(choice) = part.choices.into_iter().flatten().next() else { return Ok(String::new()) };
    partial.begun = true;
    let finish = choice.finish_reason.as_deref().map(|reason| match reason {
        "content_filter" => Finish::Refused,
        "length" | "max_tokens" => Finish::Length,
        _ => Finish::Stop,
    });
    partial.finish = finish.or(partial.finish);
    let Some(words) = choice.message else { return Ok(String::new()) };
    partial.refusal.push_str(&words.refusal.unwrap_or_default());
    partial.push(words.content.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn chat_url_is_completed() {
        assert_eq!(path(""), "/v1/chat/completions");
        assert_eq!(path("/v1"), "/v1/chat/completions");
        assert_eq!(path("/v1beta/openai"), "/v1beta/openai/chat/completions");
        assert_eq!(path("/api/v1/chat/completions"), "/api/v1/chat/completions");
    }
}
