//! The model service behind the gateway: its address, its connection pool, and the headers that are
//! forwarded to it and passed back.
//!
//! A Lukasa credential is never forwarded, in whichever header it is; nor is any header addressed
//! to Lukasa.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::body::Bytes;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use clap::Args;
use lukasa_core::secret;

use super::account::AccountSettings;
use super::budget::BudgetSettings;
use super::caller::bearer;
use super::guide;
use super::refusal::GatewayError;
use crate::api::code::ErrorCode;
use crate::clock;
use crate::models::read_secret;

/// How long a chat waits for its memory by default.
pub const MEMORY_DEADLINE: Duration = Duration::from_millis(300);

/// Placeholder key of clients that need no key but refuse to send none.
const PLACEHOLDER_KEY: &str = "lukasa";

/// Header of every request to a model service. Its value is another one in every process, so that a
/// request that this server has sent to itself is recognized.
pub(super) const SENDER: HeaderName = HeaderName::from_static("lukasa-sender");
static PROCESS: LazyLock<HeaderValue> = LazyLock::new(|| {
    let id = format!("{:032x}", u128::from_be_bytes(clock::random()));
    HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("lukasa"))
});

/// The sender of requests from this process.
pub(super) fn sender() -> HeaderValue {
    PROCESS.clone()
}

/// Refuses a request that this server has sent itself: it would call itself without end.
pub(super) fn refuse_own(headers: &HeaderMap) -> Result<(), GatewayError> {
    match headers.get(&SENDER).is_some_and(|sender| *sender == *PROCESS) {
        true => Err(GatewayError::because(
            ErrorCode::UpstreamUnavailable,
            "The address of the model service is that of this server itself",
        )),
        false => Ok(()),
    }
}

/// Settings of the model service.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateway")]
pub struct UpstreamSettings {
    /// The service behind `/v1/chat/completions` and `/v1/responses`: any OpenAI-compatible API, as
    /// `https://api.openai.com/v1` or `http://localhost:11434/v1`
    #[arg(long, env = "LUKASA_UPSTREAM", value_name = "URL")]
    upstream: Option<String>,
    /// The key for that service, if a client sends none of its own
    #[arg(long, env = "LUKASA_UPSTREAM_KEY", hide_env_values = true, value_name = "KEY")]
    upstream_key: Option<String>,
    /// A file with that key. Its path may appear in a process list; the key does not
    #[arg(
        long,
        env = "LUKASA_UPSTREAM_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "upstream_key"
    )]
    upstream_key_file: Option<PathBuf>,
    /// How long a chat waits for its memory, in milliseconds, before it continues without
    #[arg(long, env = "LUKASA_GATEWAY_DEADLINE", default_value_t = MEMORY_DEADLINE.as_millis() as u64,
          value_name = "MS")]
    gateway_deadline: u64,
    #[command(flatten)]
    pub budgets: BudgetSettings,
    #[command(flatten)]
    pub account: AccountSettings,
}

impl Default for UpstreamSettings {
    /// No service: requests are refused with advice to configure one.
    fn default() -> Self {
        let gateway_deadline = MEMORY_DEADLINE.as_millis() as u64;
        let (budgets, account) = (BudgetSettings::default(), AccountSettings::default());
        Self {
            upstream: None,
            upstream_key: None,
            upstream_key_file: None,
            gateway_deadline,
            budgets,
            account,
        }
    }
}

impl UpstreamSettings {
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.gateway_deadline)
    }

    /// Creates the service, if the settings name one. They are checked here, at startup.
    pub fn open(&self) -> anyhow::Result<Option<Upstream>> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        match set(&self.upstream) {
            Some(url) => {
                let file = read_secret(self.upstream_key_file.as_deref())?;
                Upstream::new(&url, set(&self.upstream_key).or(file).as_deref()).map(Some)
            }
            None => Ok(None),
        }
    }
}

/// What answers chats.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// An external service.
    Service(ModelService),
    /// The built-in guide, for a server without a model service.
    Guide,
}

/// A model service.
#[derive(Debug, Clone)]
pub struct ModelService {
    base: String,
    client: reqwest::Client,
    key: Option<HeaderValue>,
}

impl ModelService {
    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}/{path}", self.base)).header(SENDER, sender())
    }
}

impl Upstream {
    pub fn new(url: &str, key: Option<&str>) -> anyhow::Result<Self> {
        let base = url.trim().trim_end_matches('/').to_owned();
        let parsed: reqwest::Url = base.parse().with_context(|| {
            format!("the upstream is not a valid URL: {base}\n  next: give it as http://host/v1")
        })?;
        if !["http", "https"].contains(&parsed.scheme()) || parsed.host().is_none() {
            bail!("the upstream is not an HTTP URL: {base}\n  next: give it as http://host/v1");
        }
        let key = key.map(|key| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim()))
                .context("the upstream's key cannot be sent in a header")?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        });
        // An answer may take as long as the model needs; only connecting has a timeout.
        let client = lukasa_models::tls::client(&base)
            .connect_timeout(Duration::from_secs(10))
            .tcp_keepalive(Duration::from_secs(60))
            .pool_max_idle_per_host(256)
            .build()
            .context("could not create the HTTP client")?;
        Ok(Self::Service(ModelService { base, client, key: key.transpose()? }))
    }

    /// The address of the service without user name, password and query, any of which may be a
    /// credential.
    pub fn address(&self) -> Option<String> {
        let Self::Service(service) = self else { return None };
        let mut url: reqwest::Url = service.base.parse().ok()?;
        // Both fail only for addresses without a host, which are refused when they are set.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        Some(url.to_string())
    }

    /// Sends a chat request of the server's own, with its key.
    pub(super) async fn ask_chat(
        &self,
        body: &serde_json::Value,
        within: Duration,
    ) -> reqwest::Result<reqwest::Response> {
        let Self::Service(service) = self else {
            let body = body.to_string();
            return Ok(guide::answer(body.as_bytes(), &HeaderMap::new(), clock::now()).into());
        };
        let mut headers = self.headers(&HeaderMap::new(), true);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request = service.request(Method::POST, "chat/completions");
        request.headers(headers).timeout(within).body(body.to_string()).send().await
    }

    /// Whether the server has a key of its own for the service.
    pub fn has_key(&self) -> bool {
        matches!(self, Self::Service(ModelService { key: Some(_), .. }))
    }

    /// Requests the list of models with the server's own key, and returns the status.
    pub async fn check(&self, within: Duration) -> Result<StatusCode, String> {
        let Self::Service(service) = self else { return Ok(StatusCode::OK) };
        let headers = self.headers(&HeaderMap::new(), false);
        let request = service.request(Method::GET, "models").headers(headers);
        let answer = request.timeout(within).send().await;
        // The URL may contain a key of the operator; the error itself does not.
        answer.map(|answer| answer.status()).map_err(|error| error.without_url().to_string())
    }

    /// Sends a request, and returns as soon as the answer begins.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, GatewayError> {
        let Self::Service(service) = self else {
            return Ok(guide::answer(&body, &headers, clock::now()).into());
        };
        let request = service.request(method, path).headers(headers).body(body);
        request.send().await.map_err(|error| {
            // The URL may contain a key of the operator; the error itself does not.
            let error = error.without_url();
            tracing::warn!(%error, "the model service did not answer");
            GatewayError::of(ErrorCode::UpstreamUnavailable)
        })
    }

    /// The headers of the request to the service. An answer that is observed must not be
    /// compressed.
    pub(super) fn headers(&self, of: &HeaderMap, is_observed: bool) -> HeaderMap {
        let mut headers: HeaderMap = of
            .iter()
            .filter(|(name, value)| is_forwarded(name) && !has_lukasa_credential(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !sends_own_key(of) {
            headers.remove(header::AUTHORIZATION);
            if let Self::Service(ModelService { key: Some(key), .. }) = self {
                headers.insert(header::AUTHORIZATION, key.clone());
                // The client does not choose what of the operator's account pays.
                for name in ACCOUNT_HEADERS {
                    headers.remove(name);
                }
            }
        }
        if is_observed {
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        headers
    }
}

/// Headers that select an account or a part of one, together with the key.
const ACCOUNT_HEADERS: [&str; 2] = ["openai-organization", "openai-project"];

/// Whether a client sends a key of its own for the service. Otherwise the server's key is used.
pub(super) fn sends_own_key(headers: &HeaderMap) -> bool {
    let key = bearer(headers).filter(|key| secret::parse(key).is_none());
    key.is_some_and(|key| !key.is_empty() && key != PLACEHOLDER_KEY)
}

/// The headers of an answer that are passed to the client. All others are dropped: the service's
/// cookies, and headers about its own site, would apply to this server.
pub fn response_headers(of: &HeaderMap) -> HeaderMap {
    const NAMES: [&str; 11] = [
        "content-type",
        "content-encoding",
        "content-length",
        "content-language",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
        "x-request-id",
        "request-id",
        "date",
        "etag",
    ];
    const STARTS: [&str; 4] = ["x-ratelimit-", "ratelimit-", "openai-", "anthropic-"];
    let passed = of.iter().filter(|(name, _)| is_listed(name, &NAMES, &STARTS));
    passed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether a request header is forwarded to the service: headers about the message, and those that
/// clients send to such services. Cookies, addresses and identities added by a proxy are not
/// forwarded.
fn is_forwarded(name: &HeaderName) -> bool {
    const NAMES: [&str; 12] = [
        "authorization",
        "content-type",
        "content-encoding",
        "accept",
        "accept-encoding",
        "accept-language",
        "user-agent",
        "api-key",
        "x-api-key",
        "idempotency-key",
        "x-client-request-id",
        "x-request-timeout",
    ];
    const STARTS: [&str; 3] = ["openai-", "anthropic-", "x-stainless-"];
    is_listed(name, &NAMES, &STARTS)
}

fn is_listed(name: &HeaderName, names: &[&str], starts: &[&str]) -> bool {
    let name = name.as_str();
    names.contains(&name) || starts.iter().any(|start| name.starts_with(start))
}

/// Whether a header's value contains a Lukasa credential, wherever a client has put it.
fn has_lukasa_credential(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let is_separator = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
    text.split(is_separator).any(|part| secret::parse(part).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lukasa_core::secret::{Prefix, print};

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn lukasa_headers_and_credentials_are_not_forwarded() {
        let ours = print(Prefix::Key, &[7; 32]).0;
        let upstream = Upstream::new("http://127.0.0.1:9/v1/", Some("sk-server")).unwrap();
        let bearer = format!("Bearer {ours}");
        let sent = headers(&[
            ("authorization", &bearer),
            ("x-lukasa-key", &ours),
            ("x-lukasa-user", "ada"),
            ("lukasa-version", "x"),
            ("api-key", &ours),
            ("x-api-key", "theirs"),
            ("cookie", "a=b"),
            ("host", "localhost:7777"),
            ("connection", "keep-alive"),
            ("openai-organization", "org"),
            ("openai-project", "project"),
            ("openai-beta", "x"),
        ]);
        let asked = upstream.headers(&sent, true);
        let mut names: Vec<_> = asked.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "authorization", "openai-beta", "x-api-key"]);
        assert_eq!(asked["authorization"], "Bearer sk-server");
        assert!(!format!("{upstream:?}{asked:?}").contains("sk-server"), "a key was printed");
        let own = headers(&[("authorization", "Bearer sk-own"), ("openai-organization", "org")]);
        assert_eq!(upstream.headers(&own, false)["openai-organization"], "org");
    }

    #[test]
    fn identities_and_addresses_of_proxies_are_not_sent_on() {
        let upstream = Upstream::new("http://127.0.0.1:9/v1", None).unwrap();
        let ours = format!("{{\"key\":\"{}\"}}", print(Prefix::Key, &[7; 32]).0);
        let sent = headers(&[
            ("cf-access-jwt-assertion", "x"),
            ("x-goog-iap-jwt-assertion", "x"),
            ("x-amzn-oidc-data", "x"),
            ("x-auth-request-access-token", "x"),
            ("x-ms-token-aad-id-token", "x"),
            ("x-real-ip", "192.0.2.1"),
            ("x-forwarded-for", "192.0.2.1"),
            ("via", "x"),
            ("traceparent", "x"),
            ("proxy-connection", "x"),
            ("cookie", "a=b"),
            ("openai-beta", &ours),
            ("x-stainless-lang", "js"),
            ("content-type", "application/json"),
        ]);
        let asked = upstream.headers(&sent, false);
        let mut names: Vec<_> = asked.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["content-type", "x-stainless-lang"]);
    }

    #[test]
    fn cookies_and_site_headers_of_the_service_are_not_passed_on() {
        let answered = headers(&[
            ("set-cookie", "__Host-lukasa=x"),
            ("clear-site-data", "\"*\""),
            ("alt-svc", "x"),
            ("strict-transport-security", "x"),
            ("location", "x"),
            ("content-security-policy", "x"),
            ("transfer-encoding", "chunked"),
            ("content-type", "text/event-stream"),
            ("x-ratelimit-remaining-tokens", "5"),
            ("openai-processing-ms", "7"),
            ("retry-after", "1"),
        ]);
        let mut names: Vec<_> =
            response_headers(&answered).keys().map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        let kept =
            ["content-type", "openai-processing-ms", "retry-after", "x-ratelimit-remaining-tokens"];
        assert_eq!(names, kept);
    }

    #[test]
    fn client_key_takes_precedence_over_server_key() {
        let upstream = Upstream::new("http://127.0.0.1:9/v1", Some("sk-server")).unwrap();
        let asked = |key: &str| {
            let sent = headers(&[("authorization", &format!("Bearer {key}"))]);
            upstream.headers(&sent, false)["authorization"].to_str().unwrap().to_owned()
        };
        assert_eq!(asked("sk-client"), "Bearer sk-client");
        assert_eq!(asked("lukasa"), "Bearer sk-server");
        let alone = Upstream::new("http://127.0.0.1:9/v1", None).unwrap();
        let none = alone.headers(&headers(&[("authorization", "Bearer lukasa")]), false);
        assert!(none.is_empty());
    }

    #[test]
    fn invalid_upstream_url_is_rejected_at_startup() {
        for url in ["", "localhost:11434/v1", "ftp://x/v1", "http://"] {
            assert!(Upstream::new(url, None).is_err(), "{url}");
        }
        assert!(Upstream::new("http://127.0.0.1/v1", Some("a\nb")).is_err());
    }
}
