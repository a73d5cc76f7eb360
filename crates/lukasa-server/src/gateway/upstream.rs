//! The service behind the gateway: one address, one pool of connections, and what of a request's and
//! an answer's headers crosses the line between the two.
//!
//! A Lukasa credential never crosses it, in whichever header it stands; nor does anything that is
//! addressed to Lukasa.

use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::body::Bytes;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use clap::Args;
use lukasa_core::secret;

use super::budget::BudgetSettings;
use super::guest::bearer;
use super::guide;
use super::refusal::Refusal;
use crate::clock;

/// How long a chat waits for its memory, unless told otherwise.
pub const DEADLINE: Duration = Duration::from_millis(300);

/// What clients send for a key that they do not need: they refuse to send none at all.
const NO_KEY: &str = "lukasa";

/// Where the models are that answer chats.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Gateway")]
pub struct UpstreamSettings {
    /// The service behind `/v1/chat/completions` and `/v1/responses`: anything that speaks the OpenAI
    /// protocol, as `https://api.openai.com/v1` or `http://localhost:11434/v1`
    #[arg(long, env = "LUKASA_UPSTREAM", value_name = "URL")]
    upstream: Option<String>,
    /// The key for that service, where a client brings none of its own
    #[arg(long, env = "LUKASA_UPSTREAM_KEY", hide_env_values = true, value_name = "KEY")]
    upstream_key: Option<String>,
    /// How long a chat waits for its memory, in milliseconds, before it goes on without
    #[arg(long, env = "LUKASA_GATEWAY_DEADLINE", default_value_t = DEADLINE.as_millis() as u64,
          value_name = "MS")]
    gateway_deadline: u64,
    #[command(flatten)]
    pub budgets: BudgetSettings,
}

impl Default for UpstreamSettings {
    /// No service: the gateway says how to set one.
    fn default() -> Self {
        let gateway_deadline = DEADLINE.as_millis() as u64;
        let budgets = BudgetSettings::default();
        Self { upstream: None, upstream_key: None, gateway_deadline, budgets }
    }
}

impl UpstreamSettings {
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.gateway_deadline)
    }

    /// The service these settings describe, if they name one. They are checked here, at the start.
    pub fn open(&self) -> anyhow::Result<Option<Upstream>> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        match set(&self.upstream) {
            Some(url) => Upstream::new(&url, set(&self.upstream_key).as_deref()).map(Some),
            None => Ok(None),
        }
    }
}

/// Whoever answers chats.
#[derive(Debug, Clone)]
pub enum Upstream {
    /// A service elsewhere.
    Service(Service),
    /// The guide inside this program, for a server that has nobody else.
    Guide,
}

/// A service that answers chats.
#[derive(Debug, Clone)]
pub struct Service {
    base: String,
    client: reqwest::Client,
    key: Option<HeaderValue>,
}

impl Upstream {
    pub fn new(url: &str, key: Option<&str>) -> anyhow::Result<Self> {
        let base = url.trim().trim_end_matches('/').to_owned();
        let parsed: reqwest::Url = base.parse().with_context(|| {
            format!("the upstream is not an address: {base}\n  next: give it as http://host/v1")
        })?;
        if !["http", "https"].contains(&parsed.scheme()) || parsed.host().is_none() {
            bail!("the upstream is no web address: {base}\n  next: give it as http://host/v1");
        }
        let key = key.map(|key| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim()))
                .context("the upstream's key cannot be sent in a header")?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        });
        // An answer may take as long as its model thinks; only the first step has a limit.
        let client = lukasa_models::tls::client(&base)
            .connect_timeout(Duration::from_secs(10))
            .tcp_keepalive(Duration::from_secs(60))
            .pool_max_idle_per_host(256)
            .build()
            .context("no HTTP client can be made")?;
        Ok(Self::Service(Service { base, client, key: key.transpose()? }))
    }

    /// Whether the server has a key of its own for the service.
    pub fn has_key(&self) -> bool {
        matches!(self, Self::Service(Service { key: Some(_), .. }))
    }

    /// How it answers when it is asked for its models, with the server's own key.
    pub async fn says(&self, within: Duration) -> Result<StatusCode, String> {
        let Self::Service(service) = self else { return Ok(StatusCode::OK) };
        let headers = self.headers(&HeaderMap::new(), false);
        let asked = service.client.get(format!("{}/models", service.base)).headers(headers);
        let answer = asked.timeout(within).send().await;
        // The address may hold a key of the operator's; what went wrong does not.
        answer.map(|answer| answer.status()).map_err(|error| error.without_url().to_string())
    }

    /// Asks, and comes back as soon as the answer begins.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, Refusal> {
        let Self::Service(service) = self else {
            return Ok(guide::answer(&body, clock::now()).into());
        };
        let url = format!("{}/{path}", service.base);
        let request = service.client.request(method, url).headers(headers).body(body);
        request.send().await.map_err(|error| {
            // The address may hold a key of the operator's; what went wrong does not.
            let error = error.without_url();
            tracing::warn!(%error, "the upstream did not answer");
            Refusal::of("upstream_unavailable")
        })
    }

    /// The headers to ask with. Who is listening asks for an answer that is not packed.
    pub(super) fn headers(&self, of: &HeaderMap, listening: bool) -> HeaderMap {
        let mut headers: HeaderMap = of
            .iter()
            .filter(|(name, value)| is_sent_on(name) && !is_ours(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let brought = bearer(of).filter(|key| secret::parse(key).is_none());
        if brought.is_none_or(|key| key.is_empty() || key == NO_KEY) {
            headers.remove(header::AUTHORIZATION);
            if let Self::Service(Service { key: Some(key), .. }) = self {
                headers.insert(header::AUTHORIZATION, key.clone());
            }
        }
        if listening {
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        headers
    }
}

/// The headers of an answer that go on to the client. Everything else stays behind: the service's
/// cookies, and what it says about its own site, would count for this one.
pub fn passed_on(of: &HeaderMap) -> HeaderMap {
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
    let kept = of.iter().filter(|(name, _)| is_listed(name, &NAMES, &STARTS));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether a header of a request goes on to the service: what is about the message and what clients
/// of such services send to them. Cookies, addresses and identities that a proxy added stay here.
fn is_sent_on(name: &HeaderName) -> bool {
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

/// Whether a header's value is a Lukasa credential, wherever a client has put it.
fn is_ours(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    let is_part = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
    text.split(is_part).any(|part| secret::parse(part).is_some())
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
    fn nothing_of_ours_crosses_the_line() {
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
        ]);
        let asked = upstream.headers(&sent, true);
        let mut names: Vec<_> = asked.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "authorization", "openai-organization", "x-api-key"]);
        assert_eq!(asked["authorization"], "Bearer sk-server");
        assert!(!format!("{upstream:?}{asked:?}").contains("sk-server"), "a key was printed");
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
            passed_on(&answered).keys().map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        let kept =
            ["content-type", "openai-processing-ms", "retry-after", "x-ratelimit-remaining-tokens"];
        assert_eq!(names, kept);
    }

    #[test]
    fn a_clients_own_key_goes_before_the_servers() {
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
    fn an_address_that_is_none_is_refused_at_the_start() {
        for url in ["", "localhost:11434/v1", "ftp://x/v1", "http://"] {
            assert!(Upstream::new(url, None).is_err(), "{url}");
        }
        assert!(Upstream::new("http://127.0.0.1/v1", Some("a\nb")).is_err());
    }
}
