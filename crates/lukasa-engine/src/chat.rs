//! Asking chat models: one after the other until one answers, within what the tenant may spend, with
//! every call in the ledger whether it worked or not. Never called inside a transaction.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lukasa_core::learn::answer::Unreadable;
use lukasa_core::model::{Chat, ChatAsk, Finish, ModelError, TokensUsed};
use lukasa_core::policy::Policy;
use lukasa_core::time::micros;
use lukasa_core::{Caller, Ids, Timestamp};
use lukasa_store::crash;
use lukasa_store::ledger::{self, Call};

use crate::error::Result;
use crate::{Engine, Moment};

pub use lukasa_store::ledger::{Call as ModelCall, Sum as ModelSum};

/// A model's answer, as it came and as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered<T> {
    pub(crate) text: String,
    pub(crate) model: String,
    pub(crate) read: T,
}

/// Why nobody answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("no chat model is set up")]
    NoModel,
    #[error("the tenant has spent its tokens for today")]
    OverBudget,
    /// At least one could not be reached, and none of the others answered.
    #[error("{0}")]
    Away(String),
    /// All of them answered, and none with what was asked for.
    #[error("{0}")]
    Unusable(String),
}

impl Engine {
    /// Whether there is a chat model to learn with.
    pub fn has_chat(&self) -> bool {
        !self.models.chats().is_empty()
    }

    /// Asks the models in their order until one gives an answer that can be read.
    pub(crate) async fn ask<T>(
        &self,
        caller: &Caller,
        purpose: &'static str,
        ask: &ChatAsk,
        policy: &Policy,
        moment: Moment,
        read: impl Fn(&str) -> Result<T, Unreadable>,
    ) -> Result<Result<Answered<T>, Unanswered>> {
        let chats = self.models.chats();
        if chats.is_empty() {
            return Ok(Err(Unanswered::NoModel));
        }
        let ask = &ChatAsk { within: ask.within.min(self.patience), ..ask.clone() };
        let mut seed = moment.seed;
        seed.iter_mut().zip(purpose.bytes()).for_each(|(byte, more)| *byte ^= more.rotate_left(4));
        let mut ids = Ids::new(moment.now, seed);
        let (mut away, mut last) = (false, String::new());
        for chat in chats {
            let expected = expected_tokens(ask);
            let limit = policy.daily_tokens.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
            let day = day_of(moment.now);
            if !self.reserve(caller, day, expected, limit).await? {
                return Ok(Err(Unanswered::OverBudget));
            }
            let started = (self.ticks)();
            crash::point();
            let answer = chat.answer(ask, None).await;
            crash::point();
            let took = (self.ticks)() - started;
            let (outcome, tokens, done) = match answer {
                Ok(answer) if answer.finish == Finish::Refused => {
                    ("refused", answer.tokens, Err("the model declined".to_owned()))
                }
                Ok(answer) => match read(&answer.text) {
                    Ok(read) => ("answered", answer.tokens, Ok((answer.text, read))),
                    Err(error) => ("malformed", answer.tokens, Err(error.to_string())),
                },
                Err(error) => {
                    let asked = TokensUsed { input: input_tokens(ask), output: 0 };
                    let (outcome, tokens) = match &error {
                        ModelError::Missing(_) => ("missing", TokensUsed::default()),
                        ModelError::Unavailable(_) => ("unavailable", asked),
                        ModelError::Malformed(_) => ("malformed", asked),
                    };
                    away |= !matches!(error, ModelError::Malformed(_));
                    (outcome, tokens, Err(error.to_string()))
                }
            };
            let call = Call {
                id: ids.call(),
                at: micros(moment.now),
                purpose: purpose.to_owned(),
                model: chat.name().to_owned(),
                outcome: outcome.to_owned(),
                input_tokens: i32::try_from(tokens.input).unwrap_or(i32::MAX),
                output_tokens: i32::try_from(tokens.output).unwrap_or(i32::MAX),
                cost_micros: cost(chat.as_ref(), tokens),
                took_ms: i32::try_from(took / 1_000).unwrap_or(i32::MAX),
            };
            self.note_call(caller, &call, day, expected).await;
            match done {
                Ok((text, read)) => {
                    return Ok(Ok(Answered { text, model: chat.name().to_owned(), read }));
                }
                Err(reason) => {
                    tracing::warn!(model = chat.name(), purpose, reason, "a chat model was no use");
                    last = reason;
                }
            }
        }
        Ok(Err(if away { Unanswered::Away(last) } else { Unanswered::Unusable(last) }))
    }

    /// Counts tokens before they are spent.
    async fn reserve(
        &self,
        caller: &Caller,
        day: Date,
        tokens: i64,
        limit: Option<i64>,
    ) -> Result<bool> {
        let directory = self.store.directory(caller.tenant).await?;
        let reserved = ledger::reserve(&directory, day, tokens, limit).await?;
        directory.commit().await?;
        Ok(reserved)
    }

    /// Puts a call into the ledger and the day's count right. That a call was made must not undo what
    /// it answered, so a failure is only logged; what was reserved then stays counted.
    async fn note_call(&self, caller: &Caller, call: &Call, day: Date, expected: i64) {
        let spent = i64::from(call.input_tokens) + i64::from(call.output_tokens);
        let noted = async {
            let scope = self.store.write(caller.tenant, caller.user).await?;
            ledger::note(&scope, call).await?;
            scope.commit().await?;
            let directory = self.store.directory(caller.tenant).await?;
            ledger::settle(&directory, day, spent - expected).await?;
            directory.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "a model call was not noted");
        }
    }

    /// The latest calls of chat models for a user, and what they cost by purpose and model over the
    /// last thirty days.
    pub async fn model_calls(
        &self,
        caller: &Caller,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Call>, Vec<ledger::Sum>)> {
        let scope = self.reading(caller, now).await?;
        let since = now - jiff::SignedDuration::from_hours(30 * 24);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let calls = ledger::calls(&scope, limit).await?;
        Ok((calls, ledger::sums(&scope, since).await?))
    }
}

fn day_of(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}

/// What a question takes, by the rule of thumb of four characters a token (R061).
fn input_tokens(ask: &ChatAsk) -> u32 {
    let chars: usize = ask.messages.iter().map(|message| message.content.chars().count()).sum();
    u32::try_from(chars / 4).unwrap_or(u32::MAX)
}

fn expected_tokens(ask: &ChatAsk) -> i64 {
    i64::from(input_tokens(ask)) + i64::from(ask.max_tokens)
}

fn cost(chat: &dyn Chat, tokens: TokensUsed) -> i64 {
    let price = chat.price();
    let micros = u64::from(tokens.input) * price.input + u64::from(tokens.output) * price.output;
    i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX)
}
