//! One timed request of a chat client, and statistics over many of them.

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};

/// A chat client of one user, at one address.
#[derive(Clone)]
pub struct ChatClient {
    pub http: reqwest::Client,
    /// Base URL including `/v1`.
    pub base: String,
    pub key: String,
    pub user: String,
    pub session: String,
}

/// Result of one request.
#[derive(Debug, Clone)]
pub struct TimedResponse {
    pub took: Duration,
    pub status: u16,
    pub body: Bytes,
    pub degraded: Option<String>,
}

impl TimedResponse {
    /// Whether the response is the upstream's own, to the byte.
    pub fn is_whole(&self, streamed: bool) -> bool {
        let sent: Vec<u8> = super::service::pieces(streamed).concat();
        self.status == 200 && self.body == sent
    }
}

impl ChatClient {
    /// Sends a chat and reads the response to its end; `None` if there was none.
    pub async fn send(&self, messages: &[Value], streamed: bool) -> Option<TimedResponse> {
        self.ask(&json!({"model": "m", "stream": streamed, "messages": messages})).await
    }

    /// The same with a given body.
    pub async fn ask(&self, body: &Value) -> Option<TimedResponse> {
        let started = Instant::now();
        let answer = self
            .http
            .post(format!("{}/chat/completions", self.base))
            .header("authorization", format!("Bearer {}", self.key))
            .header("x-lukasa-user", &self.user)
            .header("x-lukasa-session", &self.session)
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .ok()?;
        let status = answer.status().as_u16();
        let degraded = answer.headers().get("lukasa-degraded");
        let degraded = degraded.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = answer.bytes().await.ok()?;
        Some(TimedResponse { took: started.elapsed(), status, body, degraded })
    }
}

/// Latencies, sorted.
#[derive(Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The percentile at this share, in milliseconds.
    pub fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let place = (share * last as f64).round() as usize;
        self.0.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1_000.0)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "p50 {:7.2}  p95 {:7.2}  p99 {:7.2} ms",
            self.at(0.5),
            self.at(0.95),
            self.at(0.99)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_from_sorted_times() {
        let times = Times::of((1..=101).rev().map(Duration::from_millis).collect());
        assert_eq!((times.at(0.5), times.at(0.95), times.at(0.99)), (51.0, 96.0, 100.0));
        assert_eq!(times.count(), 101);
    }
}
