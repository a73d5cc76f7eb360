//! Chat models behind a service: any OpenAI-compatible `/chat/completions`, and Anthropic's own
//! protocol.
//!
//! Services differ in the fields they accept. The client begins with the form that its service and
//! model are known for, tries the next one when the service refuses a field, and keeps the form
//! that was accepted. Otherwise there is one try per request: the caller has other models to try,
//! or a queue in which the request waits; a retry here would only use up its time.

mod anthropic;
mod dialect;
mod message;
mod openai;
mod partial;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lukasa_core::model::{
    Chat, ChatAnswer, ChatRequest, ModelError, ModelFuture, Price, Speaker, TextListener,
};
use tokio::time::Instant;

use self::dialect::{AnswerFormat, Dialect, Family, RequestParts};
use self::partial::{MAX_TEXT_BYTES, PartFault, PartialAnswer, json_object_in};
use super::endpoint::{ApiKey, Endpoint, Failure, Next, Post, Protocol, RetryPolicy, address};
use crate::sse::{SseError, SseReader};

/// Upper bound of bytes of a whole response, and of one event of a stream.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Upper bound of bytes of a stream, which wraps every word in some two hundred bytes.
const MAX_STREAM_BYTES: usize = 16 << 20;
/// Upper bound of the timeout, whatever the request says.
pub const MAX_CHAT_TIMEOUT: Duration = Duration::from_secs(800);
/// Upper bound of requests for one answer.
const MAX_FORMS: usize = 5;

/// Settings of a chat service. They can be parsed from a setting: `MODEL@URL#IN/OUT`.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// The URL of the endpoint: `https://host/v1`, or only the host, or the whole URL. The host
    /// `api.anthropic.com` and a path that ends with `/messages` mean Anthropic's protocol.
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

/// The protocol of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatProtocol {
    OpenAi,
    Anthropic,
}

/// Chat model that calls a service.
#[derive(Debug)]
pub struct RemoteChat {
    endpoint: Endpoint,
    protocol: ChatProtocol,
    model: String,
    price: Price,
    /// The form that the service accepted last, or is expected to accept.
    dialect: Mutex<Dialect>,
}

impl RemoteChat {
    /// Checks the settings; does not connect yet.
    pub fn new(config: ChatConfig) -> Result<Self, ModelError> {
        if config.model.is_empty() {
            return Err(ModelError::Missing("a chat model needs a name".to_owned()));
        }
        let retry_policy =
            RetryPolicy { try_timeout: MAX_CHAT_TIMEOUT, max_retries: 0, is_background: true };
        let (protocol, url, headers, family) = if anthropic::speaks_at(&config.base_url) {
            let url = address(&config.base_url, anthropic::path)?;
            (ChatProtocol::Anthropic, url, anthropic::PROTOCOL, Family::Anthropic)
        } else {
            let url = address(&config.base_url, openai::path)?;
            let family = Family::of(&url, &config.model);
            (ChatProtocol::OpenAi, url, Protocol::bearer("LUKASA_CHAT_KEY"), family)
        };
        Ok(Self {
            endpoint: Endpoint::new(url, config.api_key, retry_policy, headers)?,
            protocol,
            dialect: Mutex::new(family.dialect(&config.model)),
            model: config.model,
            price: config.price,
        })
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in the form that is known or expected to be accepted, and in others after a refusal
    /// that another form may prevent.
    async fn ask(
        &self,
        ask: &ChatRequest,
        listener: Option<&TextListener<'_>>,
    ) -> Result<ChatAnswer, ModelError> {
        let deadline = Instant::now() + ask.within.min(MAX_CHAT_TIMEOUT);
        let parts = RequestParts {
            schema: ask.schema.is_some(),
            system: ask.messages.iter().any(|message| message.role == Speaker::System),
            stream: listener.is_some(),
        };
        let mut tried = vec![self.dialect()];
        let mut first_refusal = None;
        loop {
            let dialect = tried[tried.len() - 1];
            let failure = match self.send(ask, dialect, listener, deadline).await {
                Ok(answer) => {
                    *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            let Some(refusal) = failure.refusal else { return Err(failure.error) };
            let next = dialect.after(&refusal, parts).filter(|next| !tried.contains(next));
            // The first refusal says most about the service: the others are about fallback request formats.
            let error = first_refusal.get_or_insert(failure.error);
            match next.filter(|_| tried.len() < MAX_FORMS) {
                Some(next) => tried.push(next),
                None => return Err(error.clone()),
            }
        }
    }

    /// Sends one request in this form.
    async fn send(
        &self,
        ask: &ChatRequest,
        dialect: Dialect,
        listener: Option<&TextListener<'_>>,
        deadline: Instant,
    ) -> Result<ChatAnswer, Failure> {
        let stream = listener.is_some();
        let body = match self.protocol {
            ChatProtocol::OpenAi => openai::body(&self.model, ask, dialect, stream),
            ChatProtocol::Anthropic => anthropic::body(&self.model, ask, dialect, stream),
        };
        let body = body.map_err(|_| {
            Failure::permanent(ModelError::Malformed("a message cannot be sent as JSON".to_owned()))
        })?;
        let hint = "check the model's name, and whether the request is longer than it takes";
        let max_bytes = if stream { MAX_STREAM_BYTES } else { MAX_BODY_BYTES };
        let post = Post { body: &body, max_bytes, deadline, hint: Some(hint) };
        let mut partial = PartialAnswer::default();
        let tool = anthropic::uses_tool(ask, dialect);
        let mut add = |json: &[u8]| {
            let added = match self.protocol {
                ChatProtocol::OpenAi => openai::add(&mut partial, json).map(|piece| (piece, false)),
                ChatProtocol::Anthropic => anthropic::add(&mut partial, json, tool),
            };
            let (piece, ends) = added.map_err(|fault| self.unusable(fault, json, &body))?;
            if let Some(listener) = listener.filter(|_| !piece.is_empty()) {
                listener(&piece);
            }
            Ok(if ends { Next::Enough } else { Next::More })
        };
        if stream {
            let mut events = SseReader::new(MAX_BODY_BYTES);
            let mut take = |piece: &[u8]| {
                for event in events.push(piece).map_err(|why| self.unreadable(why))? {
                    if event == "[DONE]" || add(event.as_bytes())? == Next::Enough {
                        return Ok(Next::Enough);
                    }
                }
                Ok(Next::More)
            };
            self.endpoint.stream(post, &mut take).await?;
        } else {
            let whole = self.endpoint.try_post(post).await?;
            add(&whole).map_err(Failure::permanent)?;
        }
        let answer = partial.finished(ask);
        let mut answer =
            answer.map_err(|fault| Failure::permanent(self.unusable(fault, &[], &body)))?;
        let has_thoughts = answer.text.trim_start().starts_with("<think>");
        if ask.schema.is_some() && (dialect.format == AnswerFormat::Text || has_thoughts) {
            answer.text = json_object_in(&answer.text).to_owned();
        }
        Ok(answer)
    }

    fn unusable(&self, fault: PartFault, json: &[u8], sent: &[u8]) -> ModelError {
        match fault {
            PartFault::NotJson(error) => self.endpoint.not_json("a chat completion", &error),
            PartFault::Reported => self.endpoint.failed(json, sent),
            PartFault::TooLong => self.too_long(),
            PartFault::Empty(how) => self.endpoint.malformed(how),
        }
    }

    fn unreadable(&self, why: SseError) -> ModelError {
        match why {
            SseError::TooLong => self.too_long(),
            SseError::NotText => self.endpoint.malformed("did not answer in UTF-8"),
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

    fn request_form(&self) -> Option<String> {
        Some(match self.protocol {
            ChatProtocol::OpenAi => self.dialect().to_string(),
            ChatProtocol::Anthropic => format!("Anthropic's protocol, {}", self.dialect()),
        })
    }

    fn answer<'a>(
        &'a self,
        ask: &'a ChatRequest,
        listener: Option<&'a TextListener<'a>>,
    ) -> ModelFuture<'a, ChatAnswer> {
        Box::pin(self.ask(ask, listener))
    }
}
