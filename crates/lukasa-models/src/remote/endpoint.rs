//! One address that JSON is posted to: who is asked, how long, and how often again.

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

use super::breaker::{Breaker, FAILURES, REST};
use crate::tls;

/// A key for somebody's service. It is sent, and never printed.
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

/// How patient to be with one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For one try.
    pub try_timeout: Duration,
    pub max_retries: u32,
}

pub(super) struct Endpoint {
    url: Url,
    client: Client,
    api_key: Option<ApiKey>,
    patience: Patience,
    breaker: Breaker,
}

/// One request, and the limits of what comes back.
#[derive(Clone, Copy)]
pub(super) struct Post<'a> {
    pub body: &'a [u8],
    /// The most bytes of an answer.
    pub most: usize,
    pub deadline: Instant,
    /// What to look at in the settings when the service refuses the request for a reason of its
    /// own. Without one, what was sent is to blame, and the refusal is an unusable answer.
    pub hint: Option<&'a str>,
}

/// Whether an answer that comes in pieces is to be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    More,
    Enough,
}

/// Takes an answer piece by piece.
pub(super) type Take<'a> = dyn FnMut(&[u8]) -> Result<Next, ModelError> + Send + 'a;

/// Why a try failed, and whether another is worth it.
struct Failure {
    error: ModelError,
    retry: Retry,
}

enum Retry {
    Never,
    /// Not before the service's own wish, if it has one.
    After(Option<Duration>),
}

impl Endpoint {
    pub(super) fn new(
        url: Url,
        api_key: Option<ApiKey>,
        patience: Patience,
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
            .connect_timeout(patience.try_timeout)
            .build()
            .map_err(|e| ModelError::Missing(format!("no HTTP client can be made: {e}")))?;
        Ok(Self { url, client, api_key, patience, breaker: Breaker::default() })
    }

    /// Posts until there is an answer, or until the deadline.
    pub(super) async fn post(&self, post: Post<'_>) -> Result<Vec<u8>, ModelError> {
        let pass = self.breaker.enter().ok_or_else(|| self.resting())?;
        let outcome = self.tries(&post).await;
        pass.settle(&outcome);
        outcome
    }

    /// Posts once, and passes on the pieces of an answer that is a stream of events. A stream that
    /// ends before `take` has enough has broken off. There is no second try: what was passed on
    /// cannot be taken back.
    pub(super) async fn stream(
        &self,
        post: Post<'_>,
        take: &mut Take<'_>,
    ) -> Result<(), ModelError> {
        let pass = self.breaker.enter().ok_or_else(|| self.resting())?;
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
            let Retry::After(wish) = retry else { return Err(error) };
            let pause = backoff(retries, post.body).max(wish.unwrap_or_default());
            // A wait that ends after the deadline would only make a failure late.
            if retries == self.patience.max_retries || Instant::now() + pause >= post.deadline {
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
        let limit = post.deadline.min(Instant::now() + self.patience.try_timeout);
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
        self.read(response, post.most, &mut take).await?;
        Ok(answer)
    }

    async fn events(&self, post: &Post<'_>, take: &mut Take<'_>) -> Result<(), Failure> {
        let response = self.send(post).await?;
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        // A page or a whole answer would otherwise look like a stream that broke off.
        if !kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"text/event-stream")) {
            return Err(self.never("did not answer with a stream of events"));
        }
        match self.read(response, post.most, take).await? {
            Next::Enough => Ok(()),
            Next::More => Err(self.again("broke off before the end of its answer", None)),
        }
    }

    async fn send(&self, post: &Post<'_>) -> Result<Response, Failure> {
        let request = self.client.post(self.url.clone()).body(post.body.to_vec());
        let response = request.send().await.map_err(|e| {
            let how = if e.is_connect() { "cannot be reached" } else { "broke off" };
            self.again(how, None)
        })?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(status, response, post.hint).await);
        }
        // It was not asked for, nothing here unpacks it, and it hides how much comes.
        let packed = response.headers().get(CONTENT_ENCODING);
        if packed.is_some_and(|packed| packed != "identity") {
            return Err(self.never("packed its answer, unasked"));
        }
        Ok(response)
    }

    async fn read(
        &self,
        mut response: Response,
        most: usize,
        take: &mut Take<'_>,
    ) -> Result<Next, Failure> {
        let mut bytes = 0;
        while let Some(piece) = response.chunk().await.map_err(|_| self.again("broke off", None))? {
            bytes += piece.len();
            if bytes > most {
                return Err(self.never(&format!("answered with more than {most} bytes")));
            }
            let next = take(&piece).map_err(|error| Failure { error, retry: Retry::Never })?;
            if next == Next::Enough {
                return Ok(Next::Enough);
            }
        }
        Ok(Next::More)
    }

    async fn refused(&self, status: StatusCode, response: Response, hint: Option<&str>) -> Failure {
        let wish = response.headers().get(RETRY_AFTER).and_then(seconds);
        let mut body = Vec::new();
        let mut take = |piece: &[u8]| {
            body.extend_from_slice(piece);
            Ok(Next::More)
        };
        let read = self.read(response, 64 << 10, &mut take).await;
        let code = read.ok().and_then(|_| self.code(&body));
        let said = code.map_or(status.to_string(), |code| format!("{status}, {code}"));
        if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error()
        {
            return self.again(&format!("answers {said}"), wish);
        }
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let key = if self.api_key.is_some() { "check" } else { "set" };
                ModelError::Missing(format!("{self} answers {said}: {key} the API key"))
            }
            StatusCode::NOT_FOUND => ModelError::Missing(format!(
                "{self} answers {said}: check the URL and the name of the model"
            )),
            status if status.is_redirection() => ModelError::Missing(format!(
                "{self} answers {said}: set the URL it redirects to, since a key is not sent on"
            )),
            _ => match hint {
                Some(hint) => ModelError::Missing(format!("{self} answers {said}: {hint}")),
                None => self.malformed(&format!("refused the request with {said}")),
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

    fn again(&self, how: &str, wish: Option<Duration>) -> Failure {
        Failure {
            error: ModelError::Unavailable(format!("{self} {how}")),
            retry: Retry::After(wish),
        }
    }

    fn never(&self, how: &str) -> Failure {
        Failure { error: self.malformed(how), retry: Retry::Never }
    }

    fn resting(&self) -> ModelError {
        let rest = REST.as_secs();
        ModelError::Unavailable(format!(
            "{self} is resting: it failed {FAILURES} times in a row and is asked again {rest} \
             seconds after that"
        ))
    }

    /// A failure that a service reports inside of an answer, as those do that stand before another.
    pub(super) fn failed(&self, body: &[u8]) -> ModelError {
        let code = self.code(body).map(|code| format!(", {code}")).unwrap_or_default();
        ModelError::Unavailable(format!("{self} reports an error in its answer{code}"))
    }

    pub(super) fn malformed(&self, how: &str) -> ModelError {
        ModelError::Malformed(format!("{self} {how}"))
    }

    /// An answer that is not the JSON it should be. Only the place is named: `serde_json` quotes.
    pub(super) fn not_json(&self, what: &str, error: &serde_json::Error) -> ModelError {
        let (line, column) = (error.line(), error.column());
        self.malformed(&format!("did not answer with {what} (line {line}, column {column})"))
    }
}

/// Where it is, without the query, which may hold a key.
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
        write!(f, "Endpoint({self}, {:?})", self.patience)
    }
}

/// The URL of a service, as it was set, with a path the service is known to have.
pub(super) fn address(
    base_url: &str,
    path: impl FnOnce(&str) -> String,
) -> Result<Url, ModelError> {
    let parsed = Url::parse(base_url).ok();
    let known = parsed.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // The text is not shown: it may be a key in the wrong place.
    let refuse = |why: &str| ModelError::Missing(format!("the model's URL {why}"));
    let mut url =
        known.ok_or_else(|| refuse("must begin with http:// or https:// and name a host"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse("holds a password, where logs would show it: set an API key instead"));
    }
    let path = path(url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// `Retry-After` in seconds. The other form is a date, which would need a clock to compare with;
/// the backoff stands in for it.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let wish = value.to_str().ok()?.trim().parse().ok().map(Duration::from_secs);
    // A time so far away that it cannot be added to the clock would be a panic.
    wish.map(|wish| wish.min(MAX_RETRY_AFTER))
}

/// The longest that a service is left alone because it asked for it.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Doubles from a fifth of a second, up to five, give or take a quarter. The share comes from the
/// request itself: different requests spread out, and the same one waits the same again.
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
    fn the_backoff_doubles_stays_bounded_and_repeats() {
        for retries in 0..40 {
            let (one, same) = (backoff(retries, b"a"), backoff(retries, b"a"));
            assert_eq!(one, same);
            assert!(one >= Duration::from_millis(150) && one <= Duration::from_millis(6_250));
        }
        assert!(backoff(3, b"a") > backoff(0, b"a"));
        assert_ne!(backoff(0, b"a"), backoff(0, b"b"));
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_a_date_is_not() {
        let read = |text: &'static str| seconds(&HeaderValue::from_static(text));
        assert_eq!(read("2"), Some(Duration::from_secs(2)));
        assert_eq!(read("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("18446744073709551615"), Some(Duration::from_hours(1)));
    }

    #[test]
    fn an_address_needs_a_scheme_and_a_host_and_is_not_repeated() {
        for bad in ["", "sk-secret", "ftp://secret/", "localhost:8080", "http://me:secret@a/"] {
            let words = address(bad, str::to_owned).unwrap_err().to_string();
            assert!(!words.contains("secret"), "{words}");
        }
        let url = address("https://a.example/x/?v=1", |path| format!("{path}/y")).unwrap();
        assert_eq!(url.as_str(), "https://a.example/x/y?v=1");
    }
}
