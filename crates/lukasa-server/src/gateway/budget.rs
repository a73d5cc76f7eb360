//! Gateway budgets per key and per user: requests per minute, and tokens per day as the service
//! counts them. They are counted per process and reset when it restarts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use lukasa_core::{Caller, Timestamp};
use moka::sync::Cache;

use super::refusal::GatewayError;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::limits::{KeyedRate, over_rate};
use crate::clock::ServerClock;

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;
/// Size of the end of an answer that is searched for its token count.
const TAIL_BYTES: usize = 16 * 1024;
/// Estimated bytes per token, if the service reports no count.
const BYTES_PER_TOKEN: u64 = 4;

/// The budgets of the gateway. 0 means no limit.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateway")]
pub struct BudgetSettings {
    /// Requests per minute to `/v1` about one user, on this server; 0 means no limit
    #[arg(long, env = "LUKASA_CHAT_RATE", default_value_t = 1_200, value_name = "N")]
    pub chat_rate: u32,
    /// Requests per minute to `/v1` with one key, on this server; 0 means no limit
    #[arg(long, env = "LUKASA_CHAT_KEY_RATE", default_value_t = 12_000, value_name = "N")]
    pub chat_key_rate: u32,
    /// Tokens per day (UTC) through `/v1` for one user, on this server; 0 means no limit
    #[arg(long, env = "LUKASA_CHAT_TOKENS", default_value_t = 0, value_name = "N")]
    pub chat_tokens: u64,
    /// Tokens per day (UTC) through `/v1` for one key, on this server; 0 means no limit
    #[arg(long, env = "LUKASA_CHAT_KEY_TOKENS", default_value_t = 0, value_name = "N")]
    pub chat_key_tokens: u64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self { chat_rate: 1_200, chat_key_rate: 12_000, chat_tokens: 0, chat_key_tokens: 0 }
    }
}

/// The budgets, with what was spent today by user and by key.
pub struct Budgets {
    user_rate: KeyedRate<String>,
    key_rate: KeyedRate<String>,
    user_tokens: DailyTokens,
    key_tokens: DailyTokens,
    clock: ServerClock,
}

/// Token budget per day for each key of one kind.
struct DailyTokens {
    limit: u64,
    spent: Cache<(i64, String), Arc<AtomicU64>>,
}

impl DailyTokens {
    fn new(limit: u64) -> Self {
        let day = Duration::from_secs(SECONDS_PER_DAY.unsigned_abs());
        Self { limit, spent: Cache::builder().max_capacity(100_000).time_to_live(day * 2).build() }
    }

    fn of(&self, whose: &str, now: Timestamp) -> Arc<AtomicU64> {
        let day = now.as_second().div_euclid(SECONDS_PER_DAY);
        self.spent.get_with((day, whose.to_owned()), Arc::default)
    }

    fn is_spent(&self, whose: &str, now: Timestamp) -> bool {
        self.limit > 0 && self.of(whose, now).load(Ordering::Relaxed) >= self.limit
    }
}

impl Budgets {
    pub fn new(settings: &BudgetSettings, clock: &ServerClock) -> Self {
        Self {
            user_rate: KeyedRate::per_minute(settings.chat_rate, clock),
            key_rate: KeyedRate::per_minute(settings.chat_key_rate, clock),
            user_tokens: DailyTokens::new(settings.chat_tokens),
            key_tokens: DailyTokens::new(settings.chat_key_tokens),
            clock: clock.clone(),
        }
    }

    /// Counts a request, or refuses it if its user or key is over budget.
    pub fn take_request(&self, caller: &Caller) -> Result<(), GatewayError> {
        let (user, key) = (caller.user.to_string(), &caller.credential);
        self.key_rate.take(key).map_err(|wait| over_rate("key", wait))?;
        self.user_rate.take(&user).map_err(|wait| over_rate("user", wait))?;
        let now = self.clock.now();
        let rest = SECONDS_PER_DAY - now.as_second().rem_euclid(SECONDS_PER_DAY);
        for (spent, whose) in [
            (self.user_tokens.is_spent(&user, now), "user"),
            (self.key_tokens.is_spent(key, now), "key"),
        ] {
            if spent {
                let what = format!("The daily token budget of this {whose} is spent");
                let rest = Duration::from_secs(rest.unsigned_abs());
                return Err(Problem::of(ErrorCode::BudgetSpent).because(&what).retry(rest).into());
            }
        }
        Ok(())
    }

    /// A meter for the answer to a request of this size; `None` if tokens are not limited.
    pub fn meter(&self, caller: &Caller, request_bytes: usize) -> Option<TokenMeter> {
        if self.user_tokens.limit == 0 && self.key_tokens.limit == 0 {
            return None;
        }
        let now = self.clock.now();
        let counters = [
            self.user_tokens.of(&caller.user.to_string(), now),
            self.key_tokens.of(&caller.credential, now),
        ];
        Some(TokenMeter { counters, bytes: request_bytes as u64, tail: Vec::new() })
    }
}

/// Reads the token count from an answer as it is streamed, and adds it to the spent tokens when the
/// answer ends, however it ends.
pub struct TokenMeter {
    counters: [Arc<AtomicU64>; 2],
    bytes: u64,
    tail: Vec<u8>,
}

impl TokenMeter {
    pub fn read(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let from = piece.len().saturating_sub(TAIL_BYTES);
        self.tail.extend_from_slice(&piece[from..]);
        if self.tail.len() > 2 * TAIL_BYTES {
            let old = self.tail.len() - TAIL_BYTES;
            self.tail.drain(..old);
        }
    }

    /// Adds the tokens read so far to the spent tokens.
    pub fn settle(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let counted = total_tokens(&self.tail);
        let tokens = counted.unwrap_or(self.bytes.div_ceil(BYTES_PER_TOKEN));
        for counter in &self.counters {
            counter.fetch_add(tokens, Ordering::Relaxed);
        }
        self.bytes = 0;
        self.tail.clear();
    }
}

impl Drop for TokenMeter {
    fn drop(&mut self) {
        self.settle();
    }
}

/// The last `"total_tokens": N` of an answer. Inside of a text its quotes would be escaped.
fn total_tokens(tail: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"\"total_tokens\"";
    let at = tail.windows(NAME.len()).rposition(|window| window == NAME)?;
    let rest = tail[at + NAME.len()..].trim_ascii_start().strip_prefix(b":")?;
    let digits: Vec<u8> =
        rest.trim_ascii_start().iter().copied().take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lukasa_core::TenantId;

    fn budgets(chat_tokens: u64) -> Budgets {
        let settings = BudgetSettings { chat_tokens, ..BudgetSettings::default() };
        Budgets::new(&settings, &ServerClock::default())
    }

    fn alice() -> Caller {
        Caller::human(TenantId::named("acme"), "alice", "key1")
    }

    #[test]
    fn tokens_are_read_from_the_usage_of_an_answer() {
        let text = br#"{"choices":[{"message":{"content":"\"total_tokens\": 9"}}],
            "usage":{"prompt_tokens":10, "total_tokens" : 42}}"#;
        assert_eq!(total_tokens(text), Some(42));
        assert_eq!(total_tokens(br#"{"content":"\"total_tokens\": 9"}"#), None);
        assert_eq!(total_tokens(b"data: [DONE]"), None);
    }

    #[test]
    fn token_budget_is_spent_by_answers() {
        let (budgets, alice) = (budgets(100), alice());
        for _ in 0..2 {
            assert!(budgets.take_request(&alice).is_ok());
            let mut meter = budgets.meter(&alice, 10).unwrap();
            meter.read(&[b' '; 3 * TAIL_BYTES]);
            meter.read(br#"data: {"usage":{"total_tokens":50}}"#);
            meter.read(b"\n\ndata: [DONE]\n\n");
        }
        assert!(budgets.take_request(&alice).is_err());
        let bob = Caller::human(alice.tenant, "bob", "key1");
        assert!(budgets.take_request(&bob).is_ok(), "another user has a budget of their own");
        budgets.clock.advance(Duration::from_hours(24));
        assert!(budgets.take_request(&alice).is_ok(), "there is another budget on the next day");
    }

    #[test]
    fn tokens_without_usage_are_estimated_by_length() {
        let (budgets, alice) = (budgets(100), alice());
        drop(budgets.meter(&alice, 400));
        assert!(budgets.take_request(&alice).is_err(), "400 characters are 100 tokens");
        let bob = Caller::human(alice.tenant, "bob", "key1");
        drop(budgets.meter(&bob, 396));
        assert!(budgets.take_request(&bob).is_ok(), "99 tokens are within the budget");
        drop(budgets.meter(&bob, 4));
        assert!(budgets.take_request(&bob).is_err());
        assert!(self::budgets(0).meter(&alice, 10).is_none());
    }

    #[test]
    fn chat_requests_are_limited_per_user() {
        let settings = BudgetSettings { chat_rate: 2, ..BudgetSettings::default() };
        let (budgets, alice) = (Budgets::new(&settings, &ServerClock::default()), alice());
        assert!(budgets.take_request(&alice).is_ok() && budgets.take_request(&alice).is_ok());
        assert!(budgets.take_request(&alice).is_err());
    }
}
