//! Requests to the identity provider: its metadata, its keys, and the exchange of codes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_core::Timestamp;
use lukasa_core::oidc::{
    ClaimFault, ClaimRules, ExpectedToken, VerifiedIdentity, check_claims, identify,
};
use reqwest::{Client, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::token::{PublicKey, TokenFault, verify};
use crate::url::{encoded, is_loopback_name};

/// Time limit of one request to the provider.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;
/// Maximum number of keys that are read.
const MAX_KEYS: usize = 100;
/// How long metadata and keys are used without asking again.
const METADATA_TTL: Duration = Duration::from_hours(1);
const KEYS_TTL: Duration = Duration::from_mins(10);
/// How long after a request for the keys an unknown key id causes another one.
const KEYS_INTERVAL: Duration = Duration::from_secs(30);
/// How long after a failed request for metadata or keys the provider is not asked again.
const FAILURE_TTL: Duration = Duration::from_secs(5);
/// Maximum number of sign-ins that wait for the provider at a time. Further ones are refused, so that
/// a slow provider does not take the request limit of the server.
const MAX_WAITING: usize = 16;

/// What is configured.
pub(super) struct ProviderConfig {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<String>,
    pub tenant: String,
    pub name: String,
    pub scopes: String,
    pub redirect_uri: String,
    /// The page of this server that the browser returns to after a sign-out at the provider.
    pub signed_out_uri: String,
    pub rules: ClaimRules,
}

/// Why a sign-in failed. The word is in the log, and not in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OidcFault {
    /// The provider does not respond for now. Neither the user nor their browser is at fault.
    Unavailable(&'static str),
    /// The provider refuses, or does not respond as it should.
    Provider(&'static str),
    Token(TokenFault),
    Claims(ClaimFault),
}

impl OidcFault {
    pub fn as_str(self) -> &'static str {
        match self {
            OidcFault::Unavailable(what) | OidcFault::Provider(what) => what,
            OidcFault::Token(fault) => fault.as_str(),
            OidcFault::Claims(fault) => fault.as_str(),
        }
    }

    /// Whether the sign-in may succeed later.
    pub fn is_outage(self) -> bool {
        matches!(self, OidcFault::Unavailable(_))
    }

    /// Whether the provider signed the token, so that the refusal is about a user of it.
    pub fn is_signed(self) -> bool {
        matches!(self, OidcFault::Claims(_))
    }
}

/// Metadata of the provider.
#[derive(Debug, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    /// Parsed when it is used: a provider with an unusable one can still sign users in.
    end_session_endpoint: Option<String>,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct IdTokenResponse {
    id_token: String,
}

/// The values that bind an authorization request to a browser.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizationValues<'a> {
    pub state: &'a str,
    pub nonce: &'a str,
    /// The PKCE challenge of the method S256.
    pub challenge: &'a str,
}

/// A code to exchange for the identity of a user.
#[derive(Debug, Clone, Copy)]
pub struct ProviderCode<'e> {
    pub code: &'e str,
    pub verifier: &'e str,
    pub nonce: &'e str,
    /// The issuer that the response names (RFC 9207).
    pub iss: Option<&'e str>,
}

/// Something of the provider that is kept for a while, and the time of the last failure to fetch it. A
/// failure does not end the life of what was fetched before.
struct Fetched<T> {
    value: Option<(Arc<T>, Instant)>,
    failed_at: Option<Instant>,
}

impl<T> Default for Fetched<T> {
    fn default() -> Self {
        Self { value: None, failed_at: None }
    }
}

impl<T> Fetched<T> {
    /// The value if it is at most this old; an error if fetching it has just failed; `None` if it has
    /// to be fetched.
    fn fresh(&self, max_age: Duration, fault: OidcFault) -> Option<Result<Arc<T>, OidcFault>> {
        match &self.value {
            Some((value, at)) if at.elapsed() < max_age => Some(Ok(value.clone())),
            _ => self.failed_at.filter(|at| at.elapsed() < FAILURE_TTL).map(|_| Err(fault)),
        }
    }

    fn record(&mut self, fetched: &Result<Arc<T>, OidcFault>) {
        let now = Instant::now();
        match fetched {
            Ok(value) => *self = Self { value: Some((value.clone(), now)), failed_at: None },
            Err(_) => self.failed_at = Some(now),
        }
    }
}

/// The identity provider that is configured.
pub struct OidcProvider {
    config: ProviderConfig,
    client: Client,
    metadata: Mutex<Fetched<Metadata>>,
    keys: Mutex<Fetched<Vec<PublicKey>>>,
    waiting: Semaphore,
}

impl OidcProvider {
    pub(super) fn new(config: ProviderConfig) -> anyhow::Result<Self> {
        let client = lukasa_models::tls::client(&config.issuer)
            .timeout(REQUEST_TIMEOUT)
            .connect_timeout(REQUEST_TIMEOUT)
            .user_agent(concat!("Lukasa/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let (metadata, keys) = (Mutex::default(), Mutex::default());
        Ok(Self { config, client, metadata, keys, waiting: Semaphore::new(MAX_WAITING) })
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The tenant whose users sign in, by name.
    pub fn tenant(&self) -> &str {
        &self.config.tenant
    }

    /// The address that the browser is sent to.
    pub async fn authorization_url(
        &self,
        request: AuthorizationValues<'_>,
    ) -> Result<String, OidcFault> {
        let _permit = self.waiting.try_acquire().map_err(|_| OidcFault::Unavailable("busy"))?;
        let metadata = self.metadata().await?;
        let mut url = metadata.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", &self.config.redirect_uri)
            .append_pair("scope", &self.config.scopes)
            .append_pair("state", request.state)
            .append_pair("nonce", request.nonce)
            .append_pair("code_challenge", request.challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// The address that ends the browser's session at the provider (`OpenID` Connect RP-Initiated
    /// Logout), if the provider has one. It names this client and no user: no ID token is kept for it.
    pub async fn sign_out_url(&self, state: &str) -> Result<Option<String>, OidcFault> {
        let _permit = self.waiting.try_acquire().map_err(|_| OidcFault::Unavailable("busy"))?;
        let metadata = self.metadata().await?;
        let Some(address) = &metadata.end_session_endpoint else { return Ok(None) };
        let parsed = address.parse::<Url>().ok().filter(|url| self.is_trusted(url));
        let mut url = parsed.ok_or(OidcFault::Provider("unsafe_address"))?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.config.client_id)
            .append_pair("post_logout_redirect_uri", &self.config.signed_out_uri)
            .append_pair("state", state);
        Ok(Some(url.into()))
    }

    /// Exchanges a code, verifies the ID token, and returns the user it names.
    pub async fn exchange(
        &self,
        exchange: ProviderCode<'_>,
        now: Timestamp,
    ) -> Result<VerifiedIdentity, OidcFault> {
        let _permit = self.waiting.try_acquire().map_err(|_| OidcFault::Unavailable("busy"))?;
        let metadata = self.metadata().await?;
        let needs_iss = metadata.authorization_response_iss_parameter_supported;
        if exchange.iss.map_or(needs_iss, |iss| iss != self.config.issuer) {
            return Err(OidcFault::Provider("response_of_another_issuer"));
        }
        let token = self.request_token(&metadata, exchange).await?;
        let mut claims = verify(&token, &self.keys(&metadata, KEYS_TTL).await?);
        if claims.as_ref().is_err_and(|fault| fault.may_be_a_new_key()) {
            claims = verify(&token, &self.keys(&metadata, KEYS_INTERVAL).await?);
        }
        let claims = claims.map_err(OidcFault::Token)?;
        let expected = ExpectedToken {
            issuer: &self.config.issuer,
            client_id: &self.config.client_id,
            nonce: exchange.nonce,
        };
        check_claims(&claims, expected, now).map_err(OidcFault::Claims)?;
        identify(&claims, &self.config.rules).map_err(OidcFault::Claims)
    }

    async fn request_token(
        &self,
        metadata: &Metadata,
        exchange: ProviderCode<'_>,
    ) -> Result<String, OidcFault> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", exchange.code),
            ("redirect_uri", self.config.redirect_uri.as_str()),
            ("code_verifier", exchange.verifier),
        ];
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let supports = |method: &str| methods.iter().any(|supported| supported == method);
        let mut request = self.client.post(metadata.token_endpoint.clone());
        match &self.config.client_secret {
            // Basic is the default of the specification.
            Some(secret) if supports("client_secret_basic") || !supports("client_secret_post") => {
                // Encoded as RFC 6749, 2.3.1 says.
                let (id, secret) = (encoded(&self.config.client_id), encoded(secret));
                request = request.basic_auth(id, Some(secret));
            }
            Some(secret) => {
                form.push(("client_id", &self.config.client_id));
                form.push(("client_secret", secret));
            }
            None => form.push(("client_id", &self.config.client_id)),
        }
        let pairs: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(pairs.join("&"));
        let sent = request.send().await;
        let response = sent.map_err(|_| OidcFault::Unavailable("no_token_response"))?;
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(OidcFault::Unavailable("no_token_response"));
        }
        if !status.is_success() {
            return Err(OidcFault::Provider("code_refused"));
        }
        let read: Option<IdTokenResponse> = read_json(response).await;
        Ok(read.ok_or(OidcFault::Provider("no_id_token"))?.id_token)
    }

    /// Reads the provider's metadata, as a sign-in does.
    pub async fn check(&self) -> Result<(), OidcFault> {
        self.metadata().await?;
        Ok(())
    }

    /// The provider's metadata. It must be the issuer's own, and name safe addresses.
    async fn metadata(&self) -> Result<Arc<Metadata>, OidcFault> {
        let missing = OidcFault::Unavailable("no_metadata");
        let waited = timeout(REQUEST_TIMEOUT, self.metadata.lock()).await;
        let mut cached = waited.map_err(|_| missing)?;
        if let Some(found) = cached.fresh(METADATA_TTL, missing) {
            return found;
        }
        let found = self.fetch_metadata().await;
        cached.record(&found);
        found
    }

    async fn fetch_metadata(&self) -> Result<Arc<Metadata>, OidcFault> {
        let base = self.config.issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let found: Metadata = self.get(&url).await.ok_or(OidcFault::Unavailable("no_metadata"))?;
        let addresses = [&found.authorization_endpoint, &found.token_endpoint, &found.jwks_uri];
        if found.issuer != self.config.issuer {
            return Err(OidcFault::Provider("metadata_of_another_issuer"));
        }
        if !addresses.iter().all(|url| self.is_trusted(url)) {
            return Err(OidcFault::Provider("unsafe_address"));
        }
        Ok(Arc::new(found))
    }

    /// Whether an address of the metadata may be used: an issuer with https announces none without it.
    fn is_trusted(&self, url: &Url) -> bool {
        is_safe(url) && (url.scheme() == "https" || !self.config.issuer.starts_with("https:"))
    }

    /// The provider's keys, at most this old.
    async fn keys(
        &self,
        metadata: &Metadata,
        max_age: Duration,
    ) -> Result<Arc<Vec<PublicKey>>, OidcFault> {
        let missing = OidcFault::Unavailable("no_keys");
        let waited = timeout(REQUEST_TIMEOUT, self.keys.lock()).await;
        let mut cached = waited.map_err(|_| missing)?;
        if let Some(found) = cached.fresh(max_age, missing) {
            return found;
        }
        let found: Option<KeySet> = self.get(metadata.jwks_uri.as_str()).await;
        let keys = found.map(|found| {
            let keys = found.keys.into_iter().take(MAX_KEYS);
            Arc::new(keys.filter_map(|key| serde_json::from_value(key).ok()).collect::<Vec<_>>())
        });
        let keys = keys.ok_or(missing);
        cached.record(&keys);
        keys
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Option<T> {
        let request = self.client.get(url).header("accept", "application/json");
        let response = request.send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        read_json(response).await
    }
}

/// Reads a bounded response.
async fn read_json<T: DeserializeOwned>(mut response: Response) -> Option<T> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if bytes.len() + piece.len() > MAX_RESPONSE_BYTES {
            return None;
        }
        bytes.extend_from_slice(&piece);
    }
    serde_json::from_slice(&bytes).ok()
}

/// Whether an address may be called: with TLS, or on this machine.
pub(super) fn is_safe(url: &Url) -> bool {
    let is_plain = url.username().is_empty() && url.password().is_none();
    let is_here = url.host_str().is_some_and(is_loopback_name);
    is_plain && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use axum::extract::State;
    use axum::http::StatusCode as Status;
    use axum::routing::{get, post};
    use axum::{Json, Router};
    use serde_json::{Value, json};

    use super::*;

    /// A provider that can be down.
    #[derive(Clone, Default)]
    struct FakeProvider {
        down: Arc<AtomicBool>,
        asked: Arc<AtomicUsize>,
        base: Arc<std::sync::OnceLock<String>>,
        end_session: Arc<std::sync::OnceLock<String>>,
    }

    impl FakeProvider {
        fn answer(&self, value: Value) -> Result<Json<Value>, Status> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            match self.down.load(Ordering::Relaxed) {
                true => Err(Status::BAD_GATEWAY),
                false => Ok(Json(value)),
            }
        }

        async fn metadata(State(own): State<Self>) -> Result<Json<Value>, Status> {
            let base = own.base.get().cloned().unwrap_or_default();
            own.answer(json!({
                "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"), "jwks_uri": format!("{base}/keys"),
                "end_session_endpoint": own.end_session.get(),
            }))
        }

        async fn keys(State(own): State<Self>) -> Result<Json<Value>, Status> {
            own.answer(json!({"keys": [{"kty": "OKP", "kid": "k1"}]}))
        }

        async fn token(State(own): State<Self>) -> Result<Json<Value>, Status> {
            own.answer(json!({"id_token": "x"}))
        }

        /// Starts it, and returns this server's side of it.
        async fn start() -> (Self, OidcProvider) {
            let own = Self::default();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let issuer = format!("http://{}", listener.local_addr().unwrap());
            own.base.set(issuer.clone()).unwrap();
            let routes = Router::new()
                .route("/.well-known/openid-configuration", get(Self::metadata))
                .route("/keys", get(Self::keys))
                .route("/token", post(Self::token))
                .with_state(own.clone());
            tokio::spawn(async move { axum::serve(listener, routes).await });
            let config = ProviderConfig {
                issuer,
                client_id: "lukasa".to_owned(),
                client_secret: None,
                tenant: "acme".to_owned(),
                name: "fake".to_owned(),
                scopes: "openid".to_owned(),
                redirect_uri: "http://127.0.0.1/oidc/callback".to_owned(),
                signed_out_uri: "http://127.0.0.1/oidc/signed-out".to_owned(),
                rules: ClaimRules {
                    user_claim: "sub".to_owned(),
                    user_prefix: String::new(),
                    role_claim: None,
                    admin_values: Vec::new(),
                    allowed_values: vec!["*".to_owned()],
                },
            };
            (own, OidcProvider::new(config).unwrap())
        }
    }

    #[tokio::test]
    async fn oidc_failed_refresh_keeps_the_keys_that_are_still_valid() {
        let (fake, provider) = FakeProvider::start().await;
        let metadata = provider.metadata().await.unwrap();
        assert_eq!(provider.keys(&metadata, KEYS_TTL).await.unwrap().len(), 1);
        fake.down.store(true, Ordering::Relaxed);
        let fault = provider.keys(&metadata, Duration::ZERO).await.unwrap_err();
        assert_eq!((fault.as_str(), fault.is_outage()), ("no_keys", true));
        let asked = fake.asked.load(Ordering::Relaxed);
        assert_eq!(provider.keys(&metadata, KEYS_TTL).await.unwrap().len(), 1);
        assert!(provider.metadata().await.is_ok());
        assert!(provider.keys(&metadata, Duration::ZERO).await.is_err());
        assert_eq!(fake.asked.load(Ordering::Relaxed), asked, "a failure is kept for a while");
    }

    #[tokio::test]
    async fn oidc_outage_is_distinguished_from_refusal() {
        let (fake, provider) = FakeProvider::start().await;
        let exchange = ProviderCode { code: "c", verifier: "v", nonce: "n", iss: None };
        let now = Timestamp::UNIX_EPOCH;
        let refused = provider.exchange(exchange, now).await.unwrap_err();
        assert_eq!(refused, OidcFault::Token(TokenFault::Malformed));
        assert!(!refused.is_outage());
        fake.down.store(true, Ordering::Relaxed);
        let fault = provider.exchange(exchange, now).await.unwrap_err();
        assert_eq!(fault, OidcFault::Unavailable("no_token_response"));
        let (fake, unreachable) = FakeProvider::start().await;
        fake.down.store(true, Ordering::Relaxed);
        let request = AuthorizationValues { state: "s", nonce: "n", challenge: "c" };
        let fault = unreachable.authorization_url(request).await.unwrap_err();
        assert_eq!(fault, OidcFault::Unavailable("no_metadata"));
    }

    #[tokio::test]
    async fn oidc_sign_out_uses_only_a_safe_address_that_the_provider_announces() {
        let (_, without) = FakeProvider::start().await;
        assert_eq!(without.sign_out_url("s").await, Ok(None));
        for address in [
            "http://id.example/end",
            "https://a:b@id.example/end",
            "javascript:alert(1)",
            "/end",
            "",
        ] {
            let (fake, provider) = FakeProvider::start().await;
            fake.end_session.set(address.to_owned()).unwrap();
            let fault = provider.sign_out_url("s").await.unwrap_err();
            assert_eq!(fault, OidcFault::Provider("unsafe_address"), "{address}");
            let request = AuthorizationValues { state: "s", nonce: "n", challenge: "c" };
            assert!(provider.authorization_url(request).await.is_ok(), "{address}");
        }
        let (fake, provider) = FakeProvider::start().await;
        fake.end_session.set("https://id.example/end?p=1".to_owned()).unwrap();
        let url = provider.sign_out_url("a b").await.unwrap().unwrap();
        let expected = "https://id.example/end?p=1&client_id=lukasa&post_logout_redirect_uri=\
                        http%3A%2F%2F127.0.0.1%2Foidc%2Fsigned-out&state=a+b";
        assert_eq!(url, expected);
    }
}
