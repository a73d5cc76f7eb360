//! One URL that JSON is posted to, with timeouts and retries.

use std::fmt;
use std::time::Duration;

use lukasa_core::model::ModelError;
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep, timeout_at};

use super::breaker::{Breaker, MAX_FAILURES, REST_PERIOD};
use crate::tls;

/// An API key. It is sent, and never printed.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(not shown)")
    }
}

/// Timeout and retries of one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetryPolicy {
    /// Timeout of one try.
    pub try_timeout: Duration,
    pub max_retries: u32,
}

pub(super) struct Endpoint {
    url: Url,
    client: Client,
    api_key: Option<ApiKey>,
    retry_policy: RetryPolicy,
    breaker: Breaker,
}

/// One request, and the limits of its response.
#[derive(Clone, Copy)]
pub(super) struct Post<'a> {
    pub body: &'a [u8],
    /// Upper bound of bytes of a response.
    pub max_bytes: usize,
    pub deadline: Instant,
    /// Advice about the settings for when the service refuses the request for a reason of its own.
    /// Without one, the request is assumed to be the cause, and the refusal is a malformed answer.
    pub hint: Option<&'a str>,
}

/// Whether to continue reading a streamed response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    More,
    Enough,
}

/// Receives a response piece by piece.
pub(super) type Take<'a> = dyn FnMut(&[u8]) -> Result<Next, ModelError> + Send + 'a;

/// Why a try failed, and whether to retry.
struct Failure {
    error: ModelError,
    retry: Retry,
}

enum Retry {
    Never,
    /// Not before the time the service requested, if it did.
    After(Option<Duration>),
}

impl Endpoint {
    pub(super) fn new(
        url: Url,
        api_key: Option<ApiKey>,
        retry_policy: RetryPolicy,
    ) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(ApiKey(key)) = &api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| {
                ModelError::Missing(
                    "the API key holds a character that cannot be sent in a header; \
                     look for a line break at its end"
                        .to_owned(),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = tls::client(url.as_str())
            .default_headers(headers)
            .connect_timeout(retry_policy.try_timeout)
            .build()
            .map_err(|e| ModelError::Missing(format!("cannot create an HTTP client: {e}")))?;
        Ok(Self { url, client, api_key, retry_policy, breaker: Breaker::default() })
    }

    /// Posts with retries until there is a response, or until the deadline.
    pub(super) async fn post(&self, post: Post<'_>) -> Result<Vec<u8>, ModelError> {
        let pass = self.breaker.enter().ok_or_else(|| self.paused())?;
        let outcome = self.tries(&post).await;
        pass.settle(&outcome);
        outcome
    }

    /// Posts once, and passes on the pieces of a response that is a stream of events. A stream that
    /// ends before `take` has enough is an error. There is no retry, because pieces that were
    /// passed on cannot be withdrawn.
    pub(super) async fn stream(
        &self,
        post: Post<'_>,
        take: &mut Take<'_>,
    ) -> Result<(), ModelError> {
        let pass = self.breaker.enter().ok_or_else(|| self.paused())?;
        let outcome = self.in_time(&post, self.events(&post, take)).await.map_err(|f| f.error);
        pass.settle(&outcome);
        outcome
    }

    async fn tries(&self, post: &Post<'_>) -> Result<Vec<u8>, ModelError> {
        let mut retries = 0;
        loop {
            let Failure { error, retry } = match self.in_time(post, self.whole(post)).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Retry::After(retry_after) = retry else { return Err(error) };
            let pause = backoff(retries, post.body).max(retry_after.unwrap_or_default());
            // A wait beyond the deadline would only delay the failure.
            if retries == self.retry_policy.max_retries || Instant::now() + pause >= post.deadline {
                return Err(error);
            }
            sleep(pause).await;
            retries += 1;
        }
    }

    async fn in_time<T>(
        &self,
        post: &Post<'_>,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = post.deadline.min(Instant::now() + self.retry_policy.try_timeout);
        match timeout_at(limit, attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.again("did not answer in time", None)),
        }
    }

    async fn whole(&self, post: &Post<'_>) -> Result<Vec<u8>, Failure> {
        let mut answer = Vec::new();
        let mut take = |piece: &[u8]| {
            answer.extend_from_slice(piece);
            Ok(Next::More)
        };
        let response = self.send(post).await?;
        self.read(response, post.max_bytes, &mut take).await?;
        Ok(answer)
    }

    async fn events(&self, post: &Post<'_>, take: &mut Take<'_>) -> Result<(), Failure> {
        let response = self.send(post).await?;
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        // An HTML page or an unstreamed response would otherwise look like an interrupted stream.
        if !kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"text/event-stream")) {
            return Err(self.never("did not answer with a stream of events"));
        }
        match self.read(response, post.max_bytes, take).await? {
            Next::Enough => Ok(()),
            Next::More => Err(self.again("closed the stream before the end of its answer", None)),
        }
    }

    async fn send(&self, post: &Post<'_>) -> Result<Response, Failure> {
        let request = self.client.post(self.url.clone()).body(post.body.to_vec());
        let response = request.send().await.map_err(|e| {
            let how = if e.is_connect() { "cannot be reached" } else { "closed the connection" };
            self.again(how, None)
        })?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(status, response, post.hint).await);
        }
        // Compression was not requested, nothing here unpacks it, and it hides the real size.
        let packed = response.headers().get(CONTENT_ENCODING);
        if packed.is_some_and(|packed| packed != "identity") {
            return Err(self.never("compressed its response although not asked to"));
        }
        Ok(response)
    }

    async fn read(
        &self,
        mut response: Response,
        max_bytes: usize,
        take: &mut Take<'_>,
    ) -> Result<Next, Failure> {
        let mut bytes = 0;
        while let Some(piece) =
            response.chunk().await.map_err(|_| self.again("closed the connection early", None))?
        {
            bytes += piece.len();
            if bytes > max_bytes {
                return Err(self.never(&format!("answered with more than {max_bytes} bytes")));
            }
            let next = take(&piece).map_err(|error| Failure { error, retry: Retry::Never })?;
            if next == Next::Enough {
                return Ok(Next::Enough);
            }
        }
        Ok(Next::More)
    }

    async fn refused(&self, status: StatusCode, response: Response, hint: Option<&str>) -> Failure {
        let retry_after = response.headers().get(RETRY_AFTER).and_then(seconds);
        let mut body = Vec::new();
        let mut take = |piece: &[u8]| {
            body.extend_from_slice(piece);
            Ok(Next::More)
        };
        let read = self.read(response, 64 << 10, &mut take).await;
        let code = read.ok().and_then(|_| self.code(&body));
        let reason = code.map_or(status.to_string(), |code| format!("{status}, {code}"));
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error()
        {
            return self.again(&format!("answers {reason}"), retry_after);
        }
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let key = if self.api_key.is_some() { "check" } else { "set" };
                ModelError::Missing(format!("{self} answers {reason}: {key} the API key"))
            }
            StatusCode::NOT_FOUND => ModelError::Missing(format!(
                "{self} answers {reason}: check the URL and the name of the model"
            )),
            status if status.is_redirection() => ModelError::Missing(format!(
                "{self} answers {reason}: set the URL it redirects to, since a key is not sent on"
            )),
            _ => match hint {
                Some(hint) => ModelError::Missing(format!("{self} answers {reason}: {hint}")),
                None => self.malformed(&format!("refused the request with {reason}")),
            },
        };
        Failure { error, retry: Retry::Never }
    }

    /// The machine-readable name of an error, such as `model_not_found`, if the body has one.
    /// Nothing else of it may be shown: the sentence beside it often quotes what was sent.
    fn code(&self, body: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct Body {
            error: serde_json::Value,
            error_type: Option<String>,
        }
        let body: Body = serde_json::from_slice(body).ok()?;
        let inner = |name: &str| body.error.get(name)?.as_str().map(str::to_owned);
        let code = inner("code").or_else(|| inner("type")).or(body.error_type)?;
        let is_name =
            code.len() <= 48 && code.chars().all(|c| c.is_ascii_alphabetic() || "_-.".contains(c));
        let is_key = self
            .api_key
            .as_ref()
            .is_some_and(|ApiKey(key)| code.contains(key.as_str()) || key.contains(code.as_str()));
        (is_name && !is_key).then_some(code)
    }

    fn again(&self, how: &str, retry_after: Option<Duration>) -> Failure {
        Failure {
            error: ModelError::Unavailable(format!("{self} {how}")),
            retry: Retry::After(retry_after),
        }
    }

    fn never(&self, how: &str) -> Failure {
        Failure { error: self.malformed(how), retry: Retry::Never }
    }

    fn paused(&self) -> ModelError {
        let rest = REST_PERIOD.as_secs();
        ModelError::Unavailable(format!(
            "{self} is paused: it failed {MAX_FAILURES} times in a row and is tried again {rest} \
             seconds after that"
        ))
    }

    /// An error that a service reports inside a successful response, as proxies in front of another
    /// service do.
    pub(super) fn failed(&self, body: &[u8]) -> ModelError {
        let code = self.code(body).map(|code| format!(", {code}")).unwrap_or_default();
        ModelError::Unavailable(format!("{self} reports an error in its answer{code}"))
    }

    pub(super) fn malformed(&self, how: &str) -> ModelError {
        ModelError::Malformed(format!("{self} {how}"))
    }

    /// A response that is not the expected JSON. Only the position is named, because `serde_json`
    /// quotes.
    pub(super) fn not_json(&self, what: &str, error: &serde_json::Error) -> ModelError {
        let (line, column) = (error.line(), error.column());
        self.malformed(&format!("did not answer with {what} (line {line}, column {column})"))
    }
}

/// The URL without the query, which may contain a key.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.url.host_str().unwrap_or_default())?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(self.url.path())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self}, {:?})", self.retry_policy)
    }
}

/// Parses the configured URL of a service and completes its path.
pub(super) fn address(
    base_url: &str,
    path: impl FnOnce(&str) -> String,
) -> Result<Url, ModelError> {
    let parsed = Url::parse(base_url).ok();
    let valid = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // The text is not shown: it may be an API key in the wrong place.
    let refuse = |why: &str| ModelError::Missing(format!("the model's URL {why}"));
    let mut url =
        valid.ok_or_else(|| refuse("must begin with http:// or https:// and name a host"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("holds a password, where logs would show it: set an API key instead"));
    }
    let path = path(url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// `Retry-After` in seconds. The other form is a date, which would need a clock to compare with;
/// the backoff is used instead.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let retry_after = value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs);
    // Adding an extremely long time to the clock would panic.
    retry_after.map(|retry_after| retry_after.min(MAX_RETRY_AFTER))
}

/// Upper bound of a wait that a service may request.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Doubles from 200 ms up to 5 s, plus or minus a quarter. The jitter is derived from the request:
/// different requests spread out, and the same one waits the same time again.
fn backoff(retries: u32, body: &[u8]) -> Duration {
    let whole = Duration::from_millis(200 << retries.min(5)).min(Duration::from_secs(5));
    let mut hash = Sha256::new();
    hash.update(retries.to_le_bytes());
    hash.update(body);
    let share = f64::from(hash.finalize()[0]) / 255.0;
    whole.mul_f64(0.75 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::HeaderValue;

    use super::{address, backoff, seconds};

    #[test]
    fn backoff_doubles_is_bounded_and_deterministic() {
        for retries in 0..40 {
            let (one, same) = (backoff(retries, b"a"), backoff(retries, b"a"));
            assert_eq!(one, same);
            assert!(one >= Duration::from_millis(150) && one <= Duration::from_millis(6_250));
        }
        assert!(backoff(3, b"a") > backoff(0, b"a"));
        assert_ne!(backoff(0, b"a"), backoff(0, b"b"));
    }

    #[test]
    fn retry_after_is_read_in_seconds_only() {
        let read = |text: &'static str| seconds(&HeaderValue::from_static(text));
        assert_eq!(read("2"), Some(Duration::from_secs(2)));
        assert_eq!(read("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("18446744073709551615"), Some(Duration::from_hours(1)));
    }

    #[test]
    fn model_url_needs_scheme_and_host_and_is_not_quoted() {
        for bad in ["", "sk-secret", "ftp://secret/", "localhost:8080", "http://me:secret@a/"] {
            let words = address(bad, str::to_owned).unwrap_err().to_string();
            assert!(!words.contains("secret"), "{words}");
        }
        let url = address("https://a.example/x/?v=1", |path| format!("{path}/y")).unwrap();
        assert_eq!(url.as_str(), "https://a.example/x/y?v=1");
    }
}
