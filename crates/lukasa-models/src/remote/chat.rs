//! Any OpenAI-compatible `/chat/completions`: vendors, vLLM, llama.cpp, Ollama.
//!
//! One try per request: the caller has other models to try, or a queue in which the request waits;
//! a retry here would only use up its time.

use std::time::Duration;

use lukasa_core::model::{
    Chat, ChatAnswer, ChatRequest, Finish, ModelError, ModelFuture, Price, Speaker, TextListener,
    TokensUsed,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::endpoint::{ApiKey, Endpoint, Next, Post, RetryPolicy, address};
use super::sse::{Events, Unreadable};

/// Upper bound of bytes of an answer's text.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Upper bound of bytes of a whole response, and of one event of a stream.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Upper bound of bytes of a stream, which wraps every word in some two hundred bytes.
const MAX_STREAM_BYTES: usize = 16 << 20;
/// Upper bound of the timeout, whatever the request says.
const MAX_CHAT_TIMEOUT: Duration = Duration::from_secs(600);

/// Settings of a chat service. They can be parsed from a setting: `MODEL@URL#IN/OUT`.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// The URL of `/chat/completions`: `https://host/v1`, or only the host, or the whole URL.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    /// The service's name for the model.
    pub model: String,
    pub price: Price,
}

impl ChatConfig {
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            price: Price::default(),
        }
    }
}

/// Chat model that calls a service.
#[derive(Debug)]
pub struct RemoteChat {
    endpoint: Endpoint,
    model: String,
    price: Price,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<RequestMessage<'a>>,
    max_tokens: u32,
    temperature: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Value,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
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

/// The parts of an answer received so far.
#[derive(Default)]
struct PartialAnswer {
    /// Whether there was a choice at all.
    chosen: bool,
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl RemoteChat {
    /// Checks the settings; does not connect yet.
    pub fn new(config: ChatConfig) -> Result<Self, ModelError> {
        if config.model.is_empty() {
            return Err(ModelError::Missing("a chat model needs a name".to_owned()));
        }
        let url = address(&config.base_url, path)?;
        let retry_policy = RetryPolicy { try_timeout: MAX_CHAT_TIMEOUT, max_retries: 0 };
        Ok(Self {
            endpoint: Endpoint::new(url, config.api_key, retry_policy)?,
            model: config.model,
            price: config.price,
        })
    }

    async fn ask(
        &self,
        ask: &ChatRequest,
        listener: Option<&TextListener<'_>>,
    ) -> Result<ChatAnswer, ModelError> {
        let deadline = Instant::now() + ask.within.min(MAX_CHAT_TIMEOUT);
        let body = serde_json::to_vec(&self.request(ask, listener.is_some()))
            .map_err(|_| ModelError::Malformed("a message cannot be sent as JSON".to_owned()))?;
        let hint = match &ask.schema {
            Some(_) => {
                "it may not take a JSON schema for its answer, which Lukasa needs: choose a server \
                 and a model with structured outputs; or the request is longer than it takes"
            }
            None => "check the model's name, and whether the request is longer than it takes",
        };
        let max_bytes = if listener.is_some() { MAX_STREAM_BYTES } else { MAX_BODY_BYTES };
        let post = Post { body: &body, max_bytes, deadline, hint: Some(hint) };
        let mut partial = PartialAnswer::default();
        match listener {
            None => self.add(&mut partial, &self.endpoint.post(post).await?, None)?,
            Some(_) => {
                let mut events = Events::new(MAX_BODY_BYTES);
                let mut take = |piece: &[u8]| {
                    for event in events.push(piece).map_err(|why| self.unreadable(why))? {
                        if event == "[DONE]" {
                            return Ok(Next::Enough);
                        }
                        self.add(&mut partial, event.as_bytes(), listener)?;
                    }
                    Ok(Next::More)
                };
                self.endpoint.stream(post, &mut take).await?;
            }
        }
        self.answered(partial, ask)
    }

    fn request<'a>(&'a self, ask: &'a ChatRequest, stream: bool) -> Request<'a> {
        let request_message = |message: &'a lukasa_core::model::Message| RequestMessage {
            role: match message.role {
                Speaker::System => "system",
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            },
            content: &message.content,
        };
        let format = ask.schema.as_ref().map(|schema| Format {
            r#type: "json_schema",
            json_schema: Schema { name: schema.name, strict: true, schema: &schema.schema },
        });
        Request {
            model: &self.model,
            messages: ask.messages.iter().map(request_message).collect(),
            max_tokens: ask.max_tokens,
            temperature: 0,
            response_format: format,
            stream: stream.then_some(true),
            stream_options: stream.then_some(StreamOptions { include_usage: true }),
        }
    }

    fn add(
        &self,
        partial: &mut PartialAnswer,
        json: &[u8],
        listener: Option<&TextListener<'_>>,
    ) -> Result<(), ModelError> {
        let part: Part = serde_json::from_slice(json)
            .map_err(|e| self.endpoint.not_json("a chat completion", &e))?;
        if part.error.is_some() {
            return Err(self.endpoint.failed(json));
        }
        // Some services send token counts in every event; the last one is for the whole answer.
        partial.usage = part.usage.or(partial.usage.take());
        // One choice is requested, and an event with only token counts has none.
        let Some(choice) = part.choices.into_iter().flatten().next() else { return Ok(()) };
        partial.chosen = true;
        partial.finish = choice.finish_reason.or(partial.finish.take());
        let Some(words) = choice.message else { return Ok(()) };
        let content = words.content.unwrap_or_default();
        partial.text.push_str(&content);
        partial.refusal.push_str(&words.refusal.unwrap_or_default());
        if partial.text.len() + partial.refusal.len() > MAX_TEXT_BYTES {
            return Err(self.too_long());
        }
        if let Some(listener) = listener.filter(|_| !content.is_empty()) {
            listener(&content);
        }
        Ok(())
    }

    fn answered(
        &self,
        partial: PartialAnswer,
        ask: &ChatRequest,
    ) -> Result<ChatAnswer, ModelError> {
        let PartialAnswer { chosen, mut text, refusal, finish, usage } = partial;
        if !chosen {
            return Err(self.endpoint.malformed("answered without a choice"));
        }
        let finish = match finish.as_deref() {
            Some("content_filter") => Finish::Refused,
            _ if !refusal.is_empty() => Finish::Refused,
            Some("length" | "max_tokens") => Finish::Length,
            _ => Finish::Stop,
        };
        if finish == Finish::Refused && text.is_empty() {
            text = refusal;
        }
        if finish == Finish::Stop && text.trim().is_empty() {
            return Err(self.endpoint.malformed("answered with no text"));
        }
        let tokens = counted(usage.as_ref(), TokensUsed::estimated(ask, &text));
        Ok(ChatAnswer { text, tokens, finish })
    }

    fn unreadable(&self, why: Unreadable) -> ModelError {
        match why {
            Unreadable::TooLong => self.too_long(),
            Unreadable::NotText => self.endpoint.malformed("did not answer in UTF-8"),
        }
    }

    fn too_long(&self) -> ModelError {
        self.endpoint.malformed(&format!("answered with more than {MAX_TEXT_BYTES} bytes of text"))
    }
}

impl Chat for RemoteChat {
    fn name(&self) -> &str {
        &self.model
    }

    fn price(&self) -> Price {
        self.price
    }

    fn answer<'a>(
        &'a self,
        ask: &'a ChatRequest,
        listener: Option<&'a TextListener<'a>>,
    ) -> ModelFuture<'a, ChatAnswer> {
        Box::pin(self.ask(ask, listener))
    }
}

/// The service's token counts, or the estimate. A zero is an empty field, not a count.
fn counted(usage: Option<&Usage>, estimated: TokensUsed) -> TokensUsed {
    let or_estimate = |count: Option<u64>, estimated: u32| match count {
        None | Some(0) => estimated,
        Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
    };
    TokensUsed {
        input: or_estimate(usage.and_then(|usage| usage.prompt_tokens), estimated.input),
        output: or_estimate(usage.and_then(|usage| usage.completion_tokens), estimated.output),
    }
}

/// The setting may be the URL of the service, of its API, or of the endpoint.
fn path(set: &str) -> String {
    match set {
        "" => "/v1/chat/completions".to_owned(),
        whole if whole.ends_with("/chat/completions") => whole.to_owned(),
        api => format!("{api}/chat/completions"),
    }
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
