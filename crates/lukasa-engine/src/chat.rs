//! Calls of chat models: one model after the other until one answers, within the tenant's token
//! budget. Every call is recorded in the ledger, successful or not. Never called inside a
//! transaction.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lukasa_core::learning::answer::UnreadableAnswer;
use lukasa_core::model::{CallPurpose, Chat, ChatRequest, Finish, ModelError, TokensUsed};
use lukasa_core::policy::Policy;
use lukasa_core::time::micros;
use lukasa_core::{Caller, Ids, Timestamp};
use lukasa_store::{crash, ledger};
use tracing::Instrument as _;

use crate::error::Result;
use crate::parts::Parts;
use crate::request::Moment;
use crate::telemetry::{model_span, record_model_call};
use crate::transaction::Transactions;

pub use lukasa_store::ledger::{ModelCall, ModelSum};

/// A model's answer, as raw text and parsed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ParsedAnswer<T> {
    pub(crate) text: String,
    pub(crate) model: String,
    pub(crate) read: T,
}

/// Why no model gave a usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("no chat model is configured")]
    NoModel,
    #[error("the tenant's daily token limit is reached")]
    OverBudget,
    /// At least one model could not be reached, and no other answered.
    #[error("{0}")]
    Unavailable(String),
    /// The same, and the services ask not to be called for this long.
    #[error("{0}")]
    Busy(String, Duration),
    /// All models answered, but none with a usable answer.
    #[error("{0}")]
    Unusable(String),
}

/// Calls of chat models, with their budget and ledger.
#[derive(Clone)]
pub struct ChatModels {
    parts: Arc<Parts>,
    transactions: Transactions,
}

impl ChatModels {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions) -> Self {
        Self { parts, transactions }
    }

    /// Whether a chat model is configured.
    pub fn has_chat(&self) -> bool {
        self.parts.has_chat()
    }

    /// Asks the models in their order until one gives an answer that can be parsed.
    pub(crate) async fn ask<T>(
        &self,
        caller: &Caller,
        purpose: CallPurpose,
        ask: &ChatRequest,
        policy: &Policy,
        moment: Moment,
        read: impl Fn(&str) -> Result<T, UnreadableAnswer>,
    ) -> Result<Result<ParsedAnswer<T>, NoAnswer>> {
        let chats = self.parts.models.chats();
        if chats.is_empty() {
            return Ok(Err(NoAnswer::NoModel));
        }
        let within = ask.within.min(self.parts.chat_timeout).min(share_of_time(chats.len()));
        let ask = &ChatRequest { within, ..ask.clone() };
        let mut seed = moment.seed;
        let word = purpose.as_str();
        seed.iter_mut().zip(word.bytes()).for_each(|(byte, more)| *byte ^= more.rotate_left(4));
        let mut ids = Ids::new(moment.now, seed);
        let (mut away, mut reasons) = (false, Vec::new());
        // Without a model that asks for a pause, the usual backoff decides when to ask again.
        let mut pauses = Vec::new();
        for chat in chats {
            let expected = expected_tokens(ask);
            let limit = policy.daily_tokens.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
            let day = day_of(moment.now);
            if !self.reserve(caller, day, expected, limit).await? {
                return Ok(Err(NoAnswer::OverBudget));
            }
            let started = (self.parts.ticks)();
            crash::point();
            let answer = chat.answer(ask, None).instrument(model_span(purpose)).await;
            crash::point();
            let took = (self.parts.ticks)() - started;
            let (outcome, tokens, done) = match answer {
                Ok(answer) if answer.finish == Finish::Refused => {
                    ("refused", answer.tokens, Err("the model declined".to_owned()))
                }
                Ok(answer) if answer.finish == Finish::Length => {
                    let most = ask.max_tokens;
                    let why = format!(
                        "the model's answer was cut off at its limit of tokens (finish_reason: \
                         length; {most} were asked for, besides those for its reasoning)"
                    );
                    ("malformed", answer.tokens, Err(why))
                }
                Ok(answer) => match read(&answer.text) {
                    Ok(read) => ("answered", answer.tokens, Ok((answer.text, read))),
                    Err(error) => ("malformed", answer.tokens, Err(error.to_string())),
                },
                // A call without an answer costs the tenant nothing.
                Err(error) => {
                    let outcome = match &error {
                        ModelError::Missing(_) => "missing",
                        ModelError::Unavailable(_) | ModelError::Busy { .. } => "unavailable",
                        ModelError::Malformed(_) => "malformed",
                    };
                    away |= !matches!(error, ModelError::Malformed(_));
                    if let ModelError::Busy { retry_after, .. } = &error {
                        pauses.push(*retry_after);
                    }
                    (outcome, TokensUsed::default(), Err(error.to_string()))
                }
            };
            record_model_call(purpose, outcome, tokens, took);
            let call = ModelCall {
                id: ids.call(),
                at: micros(moment.now),
                purpose,
                model: chat.name().to_owned(),
                outcome: outcome.to_owned(),
                input_tokens: i32::try_from(tokens.input).unwrap_or(i32::MAX),
                output_tokens: i32::try_from(tokens.output).unwrap_or(i32::MAX),
                cost_micros: cost(chat.as_ref(), tokens),
                took_ms: i32::try_from(took / 1_000).unwrap_or(i32::MAX),
            };
            self.record_call(caller, &call, day, expected).await;
            match done {
                Ok((text, read)) => {
                    return Ok(Ok(ParsedAnswer { text, model: chat.name().to_owned(), read }));
                }
                Err(reason) => {
                    tracing::warn!(
                        model = chat.name(),
                        purpose = word,
                        reason,
                        "chat model gave no usable answer"
                    );
                    reasons.push(reason);
                }
            }
        }
        let why = reasons.join("; ");
        let all_pause = pauses.len() == reasons.len();
        let pause = pauses.into_iter().min().filter(|_| all_pause);
        Ok(Err(match pause {
            Some(pause) => NoAnswer::Busy(why, pause),
            None if away => NoAnswer::Unavailable(why),
            None => NoAnswer::Unusable(why),
        }))
    }

    /// Reserves tokens of the daily budget before they are spent; false if they exceed the limit.
    async fn reserve(
        &self,
        caller: &Caller,
        day: Date,
        tokens: i64,
        limit: Option<i64>,
    ) -> Result<bool> {
        let directory = self.parts.store.directory(caller.tenant).await?;
        let reserved = ledger::reserve(&directory, day, tokens, limit).await?;
        directory.commit().await?;
        Ok(reserved)
    }

    /// Records a call in the ledger and corrects the day's token count. A failure here must not
    /// discard the answer, so it is only logged; the reserved tokens then stay counted.
    async fn record_call(&self, caller: &Caller, call: &ModelCall, day: Date, expected: i64) {
        let spent = i64::from(call.input_tokens) + i64::from(call.output_tokens);
        let written = async {
            let scope = self.parts.store.write_as(caller).await?;
            ledger::insert_call(&scope, call).await?;
            scope.commit().await?;
            let directory = self.parts.store.directory(caller.tenant).await?;
            ledger::settle(&directory, day, spent - expected).await?;
            directory.commit().await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "could not record a model call");
        }
    }

    /// The latest calls of chat models for a user, and what they cost by purpose and model over the
    /// last thirty days.
    pub async fn model_calls(
        &self,
        caller: &Caller,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<ModelCall>, Vec<ledger::ModelSum>)> {
        let scope = self.transactions.read(caller, now).await?;
        let since = now - jiff::SignedDuration::from_hours(30 * 24);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let calls = ledger::calls(&scope, limit).await?;
        Ok((calls, ledger::sums(&scope, since).await?))
    }
}

/// The time that one of several models has to answer: all of them together stay within the lease
/// of a job.
fn share_of_time(models: usize) -> Duration {
    const ALL_MODELS: Duration = Duration::from_secs(800);
    ALL_MODELS / u32::try_from(models.max(1)).unwrap_or(u32::MAX)
}

fn day_of(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}

/// Input tokens of a question, estimated at four characters per token (R061).
fn input_tokens(ask: &ChatRequest) -> u32 {
    let chars: usize = ask.messages.iter().map(|message| message.content.chars().count()).sum();
    u32::try_from(chars / 4).unwrap_or(u32::MAX)
}

fn expected_tokens(ask: &ChatRequest) -> i64 {
    i64::from(input_tokens(ask)) + i64::from(ask.max_tokens)
}

fn cost(chat: &dyn Chat, tokens: TokensUsed) -> i64 {
    let price = chat.price();
    let micros = u64::from(tokens.input) * price.input + u64::from(tokens.output) * price.output;
    i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX)
}
