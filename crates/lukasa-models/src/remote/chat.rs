//! Any OpenAI-compatible `/chat/completions`: vendors, vLLM, llama.cpp, Ollama.
//!
//! One try for each question. Whoever asks has other models to turn to, or a queue in which the
//! question waits; a second try here would only use up their time.

use std::time::Duration;

use lukasa_core::model::{
    Answer, Chat, ChatAnswer, ChatAsk, Finish, Heard, ModelError, Price, Speaker, TokensUsed,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::endpoint::{ApiKey, Endpoint, Next, Patience, Post, address};
use super::sse::{Events, Unreadable};

/// The most bytes of an answer's text.
const MOST_TEXT: usize = 1 << 20;
/// The most bytes of a whole answer, and of one event of a stream.
const MOST_BODY: usize = 4 << 20;
/// A stream wraps every word in some two hundred bytes.
const MOST_STREAM: usize = 16 << 20;
/// Nobody is waited for longer, whatever the question says.
const LONGEST: Duration = Duration::from_secs(600);

/// Which service answers. It can be read from a setting: `MODEL@URL#IN/OUT`.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// Where `/chat/completions` is: `https://host/v1`, or only the host, or the whole address.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    /// What the service calls the model.
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

/// Chats by asking a service.
#[derive(Debug)]
pub struct RemoteChat {
    endpoint: Endpoint,
    model: String,
    price: Price,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
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
struct Said<'a> {
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

/// A whole answer, or one event of a stream: they differ in one word.
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

/// What has come of an answer so far.
#[derive(Default)]
struct Gathered {
    /// Whether there was a choice at all.
    chosen: bool,
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Option<Usage>,
}

impl RemoteChat {
    /// Asks nobody yet; refuses settings that cannot work.
    pub fn new(config: ChatConfig) -> Result<Self, ModelError> {
        if config.model.is_empty() {
            return Err(ModelError::Missing("a chat model needs a name".to_owned()));
        }
        let url = address(&config.base_url, path)?;
        let patience = Patience { try_timeout: LONGEST, max_retries: 0 };
        Ok(Self {
            endpoint: Endpoint::new(url, config.api_key, patience)?,
            model: config.model,
            price: config.price,
        })
    }

    async fn ask(
        &self,
        ask: &ChatAsk,
        heard: Option<&Heard<'_>>,
    ) -> Result<ChatAnswer, ModelError> {
        let deadline = Instant::now() + ask.within.min(LONGEST);
        let body = serde_json::to_vec(&self.request(ask, heard.is_some()))
            .map_err(|_| ModelError::Malformed("a message cannot be sent as JSON".to_owned()))?;
        let hint = match &ask.schema {
            Some(_) => {
                "it may not take a JSON schema for its answer, which Lukasa needs: choose a server \
                 and a model with structured outputs; or the request is longer than it takes"
            }
            None => "check the model's name, and whether the request is longer than it takes",
        };
        let most = if heard.is_some() { MOST_STREAM } else { MOST_BODY };
        let post = Post { body: &body, most, deadline, hint: Some(hint) };
        let mut gathered = Gathered::default();
        match heard {
            None => self.add(&mut gathered, &self.endpoint.post(post).await?, None)?,
            Some(_) => {
                let mut events = Events::new(MOST_BODY);
                let mut take = |piece: &[u8]| {
                    for event in events.push(piece).map_err(|why| self.unreadable(why))? {
                        if event == "[DONE]" {
                            return Ok(Next::Enough);
                        }
                        self.add(&mut gathered, event.as_bytes(), heard)?;
                    }
                    Ok(Next::More)
                };
                self.endpoint.stream(post, &mut take).await?;
            }
        }
        self.answered(gathered, ask)
    }

    fn request<'a>(&'a self, ask: &'a ChatAsk, stream: bool) -> Request<'a> {
        let said = |message: &'a lukasa_core::model::Message| Said {
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
            messages: ask.messages.iter().map(said).collect(),
            max_tokens: ask.max_tokens,
            temperature: 0,
            response_format: format,
            stream: stream.then_some(true),
            stream_options: stream.then_some(StreamOptions { include_usage: true }),
        }
    }

    fn add(
        &self,
        gathered: &mut Gathered,
        json: &[u8],
        heard: Option<&Heard<'_>>,
    ) -> Result<(), ModelError> {
        let part: Part = serde_json::from_slice(json)
            .map_err(|e| self.endpoint.not_json("a chat completion", &e))?;
        if part.error.is_some() {
            return Err(self.endpoint.failed(json));
        }
        // Some services count in every event; the last count is of the whole.
        gathered.usage = part.usage.or(gathered.usage.take());
        // One answer is asked for, and an event that only counts has none.
        let Some(choice) = part.choices.into_iter().flatten().next() else { return Ok(()) };
        gathered.chosen = true;
        gathered.finish = choice.finish_reason.or(gathered.finish.take());
        let Some(words) = choice.message else { return Ok(()) };
        let content = words.content.unwrap_or_default();
        gathered.text.push_str(&content);
        gathered.refusal.push_str(&words.refusal.unwrap_or_default());
        if gathered.text.len() + gathered.refusal.len() > MOST_TEXT {
            return Err(self.too_long());
        }
        if let Some(heard) = heard.filter(|_| !content.is_empty()) {
            heard(&content);
        }
        Ok(())
    }

    fn answered(&self, gathered: Gathered, ask: &ChatAsk) -> Result<ChatAnswer, ModelError> {
        let Gathered { chosen, mut text, refusal, finish, usage } = gathered;
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
            Unreadable::NotText => self.endpoint.malformed("answered with what is not UTF-8"),
        }
    }

    fn too_long(&self) -> ModelError {
        self.endpoint.malformed(&format!("answered with more than {MOST_TEXT} bytes of text"))
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
        ask: &'a ChatAsk,
        heard: Option<&'a Heard<'a>>,
    ) -> Answer<'a, ChatAnswer> {
        Box::pin(self.ask(ask, heard))
    }
}

/// What the service counted, where it did. A zero is a place left empty, not a count.
fn counted(usage: Option<&Usage>, estimated: TokensUsed) -> TokensUsed {
    let said = |said: Option<u64>, estimated: u32| match said {
        None | Some(0) => estimated,
        Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
    };
    TokensUsed {
        input: said(usage.and_then(|usage| usage.prompt_tokens), estimated.input),
        output: said(usage.and_then(|usage| usage.completion_tokens), estimated.output),
    }
}

/// People set the address of the service, of its API, or of the very call.
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
    fn the_address_is_completed_where_it_is_short() {
        assert_eq!(path(""), "/v1/chat/completions");
        assert_eq!(path("/v1"), "/v1/chat/completions");
        assert_eq!(path("/v1beta/openai"), "/v1beta/openai/chat/completions");
        assert_eq!(path("/api/v1/chat/completions"), "/api/v1/chat/completions");
    }
}
