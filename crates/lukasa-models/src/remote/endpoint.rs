//! One URL that JSON is posted to, with timeouts and retries.

use std::fmt;
use std::time::Duration;

use lukasa_core::model::ModelError;
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep, timeout_at};

use super::breaker::{Breaker, Evidence, MAX_FAILURES, Pause, REST_PERIOD};
use super::refusal::ServiceRefusal;
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
    /// Whether the callers are background jobs, which can wait: then a timeout is not a sign that the
    /// service is unavailable, since a local model may be slow, and a pause that the service asks
    /// for holds for all calls.
    pub is_background: bool,
}

/// The headers of a protocol, and the setting that its key comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol {
    /// The header for the key: `authorization` with `Bearer `, or one with the bare key.
    pub key_header: Option<&'static str>,
    pub headers: &'static [(&'static str, &'static str)],
    /// The name of the setting, for errors.
    pub key_setting: &'static str,
}

impl Protocol {
    /// The key as a bearer token, and no headers of its own.
    pub(super) const fn bearer(key_setting: &'static str) -> Self {
        Self { key_header: None, headers: &[], key_setting }
    }
}

/// Upper bound of the time to connect, however long the answer may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct Endpoint {
    url: Url,
    client: Client,
    api_key: Option<ApiKey>,
    retry_policy: RetryPolicy,
    protocol: Protocol,
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
pub(super) struct Failure {
    pub error: ModelError,
    /// The refusal, if the service answered with one.
    pub refusal: Option<ServiceRefusal>,
    retry: Retry,
    /// Whether the service was reached and did not answer in time.
    timed_out: bool,
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
        protocol: Protocol,
    ) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in protocol.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(ApiKey(key)) = &api_key {
            let text = match protocol.key_header {
                Some(_) => key.clone(),
                None => format!("Bearer {key}"),
            };
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                ModelError::Missing(
                    "the API key holds a character that cannot be sent in a header; \
                     look for a line break at its end"
                        .to_owned(),
                )
            })?;
            value.set_sensitive(true);
            let name = protocol.key_header.map_or(AUTHORIZATION, HeaderName::from_static);
            headers.insert(name, value);
        }
        let client = tls::client(url.as_str())
            .default_headers(headers)
            .connect_timeout(retry_policy.try_timeout.min(CONNECT_TIMEOUT))
            .build()
            .map_err(|e| ModelError::Missing(format!("cannot create an HTTP client: {e}")))?;
        let breaker = Breaker::default();
        Ok(Self { url, client, api_key, retry_policy, protocol, breaker })
    }

    /// Posts with retries until there is a response, or until the deadline.
    pub(super) async fn post(&self, post: Post<'_>) -> Result<Vec<u8>, ModelError> {
        self.try_post(post).await.map_err(|failure| failure.error)
    }

    /// The same; a failure has the service's refusal with it.
    pub(super) async fn try_post(&self, post: Post<'_>) -> Result<Vec<u8>, Failure> {
        let pass = self.breaker.enter().map_err(|pause| self.paused(pause))?;
        let outcome = self.tries(&post).await;
        pass.settle(self.evidence(&outcome));
        outcome
    }

    /// Posts once, and passes on the pieces of a response that is a stream of events. A stream that
    /// ends before `take` has enough is an error. There is no retry, because pieces that were
    /// passed on cannot be withdrawn.
    pub(super) async fn stream(&self, post: Post<'_>, take: &mut Take<'_>) -> Result<(), Failure> {
        let pass = self.breaker.enter().map_err(|pause| self.paused(pause))?;
        let outcome = self.in_time(&post, self.events(&post, take)).await;
        pass.settle(self.evidence(&outcome));
        outcome
    }

    /// What an outcome says about the availability of the service.
    fn evidence<T>(&self, outcome: &Result<T, Failure>) -> Evidence {
        match outcome {
            Err(failure) if failure.timed_out && self.retry_policy.is_background => Evidence::None,
            Err(Failure { error: ModelError::Busy { retry_after, .. }, .. }) => {
                Evidence::Busy(*retry_after)
            }
            Err(Failure { error: ModelError::Unavailable(_), .. }) => Evidence::Unavailable,
            _ => Evidence::Available,
        }
    }

    async fn tries(&self, post: &Post<'_>) -> Result<Vec<u8>, Failure> {
        let mut retries = 0;
        loop {
            let failure = match self.in_time(post, self.whole(post)).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Retry::After(retry_after) = failure.retry else { return Err(failure) };
            let pause = backoff(retries, post.body).max(retry_after.unwrap_or_default());
            // A wait beyond the deadline would only delay the failure.
            if retries == self.retry_policy.max_retries || Instant::now() + pause >= post.deadline {
                return Err(failure);
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
            Err(_) => {
                Err(Failure { timed_out: true, ..self.again("did not answer in time", None) })
            }
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
            return Err(self.permanent("did not answer with a stream of events"));
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
            return Err(self.refused(response, post).await);
        }
        // Compression was not requested, nothing here unpacks it, and it hides the real size.
        let packed = response.headers().get(CONTENT_ENCODING);
        if packed.is_some_and(|packed| packed != "identity") {
            return Err(self.permanent("compressed its response although not asked to"));
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
                return Err(self.permanent(&format!("answered with more than {max_bytes} bytes")));
            }
            let next = take(&piece).map_err(Failure::permanent)?;
            if next == Next::Enough {
                return Ok(Next::Enough);
            }
        }
        Ok(Next::More)
    }

    async fn refused(&self, response: Response, post: &Post<'_>) -> Failure {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(seconds);
        let mut body = Vec::new();
        let mut take = |piece: &[u8]| {
            body.extend_from_slice(piece);
            Ok(Next::More)
        };
        let read = self.read(response, 64 << 10, &mut take).await;
        let body = if read.is_ok() { body.as_slice() } else { &[] };
        let refusal = ServiceRefusal::read(status, body, post.body, self.key());
        let reason = refusal.describe();
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error()
        {
            let mut failure = self.again(&format!("answers {reason}"), retry_after);
            if let Some(retry_after) = retry_after.filter(|_| self.retry_policy.is_background) {
                let reason = format!("{self} answers {reason}");
                failure.error = ModelError::Busy { reason, retry_after };
            }
            return failure;
        }
        let error = match status {
            _ if refusal.is_about_key() => {
                let verb = if self.api_key.is_some() { "check" } else { "set" };
                let setting = self.protocol.key_setting;
                ModelError::Missing(format!(
                    "{self} answers {reason}: {verb} the API key ({setting})"
                ))
            }
            StatusCode::NOT_FOUND => ModelError::Missing(format!(
                "{self} answers {reason}: check the URL and the name of the model"
            )),
            status if status.is_redirection() => ModelError::Missing(format!(
                "{self} answers {reason}: set the URL it redirects to, since a key is not sent on"
            )),
            _ => match post.hint {
                Some(hint) => ModelError::Missing(format!("{self} answers {reason}: {hint}")),
                None => self.malformed(&format!("refused the request with {reason}")),
            },
        };
        Failure { refusal: Some(refusal), ..Failure::permanent(error) }
    }

    fn key(&self) -> Option<&str> {
        self.api_key.as_ref().map(|ApiKey(key)| key.as_str())
    }

    fn again(&self, how: &str, retry_after: Option<Duration>) -> Failure {
        Failure {
            retry: Retry::After(retry_after),
            ..Failure::permanent(ModelError::Unavailable(format!("{self} {how}")))
        }
    }

    fn permanent(&self, how: &str) -> Failure {
        Failure::permanent(self.malformed(how))
    }

    fn paused(&self, pause: Pause) -> Failure {
        Failure::permanent(match pause {
            Pause::Failing => {
                let rest = REST_PERIOD.as_secs();
                ModelError::Unavailable(format!(
                    "{self} is paused: it failed {MAX_FAILURES} times in a row and is tried again \
                     {rest} seconds after that"
                ))
            }
            Pause::Busy(retry_after) => {
                let seconds = retry_after.as_secs() + 1;
                let reason =
                    format!("{self} is paused: it asked not to be called for {seconds} seconds");
                ModelError::Busy { reason, retry_after }
            }
        })
    }

    /// An error that a service reports inside a successful response, as proxies in front of another
    /// service do. `sent` is the body of the request.
    pub(super) fn failed(&self, body: &[u8], sent: &[u8]) -> ModelError {
        let refusal = ServiceRefusal::read(StatusCode::OK, body, sent, self.key());
        let code = refusal.code.map(|code| format!(", {code}")).unwrap_or_default();
        let message = refusal.message.map(|text| format!(", \"{text}\"")).unwrap_or_default();
        ModelError::Unavailable(format!("{self} reports an error in its answer{code}{message}"))
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

impl Failure {
    pub(super) fn permanent(error: ModelError) -> Self {
        Self { error, refusal: None, retry: Retry::Never, timed_out: false }
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
