//! Requests to the identity provider: its metadata, its keys, and the exchange of codes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_core::Timestamp;
use lukasa_core::oidc::{
    ClaimFault, ClaimRules, ExpectedToken, VerifiedIdentity, check_claims, identify,
};
use moka::sync::Cache;
use reqwest::{Client, Response, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::token::{PublicKey, TokenFault, verify};
use crate::url::{encoded, is_loopback_name};

/// Time limit of one request to the provider.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Maximum number of keys that are read.
const MAX_KEYS: usize = 100;
/// How long metadata and keys are used without asking again.
const METADATA_TTL: Duration = Duration::from_hours(1);
const KEYS_TTL: Duration = Duration::from_mins(10);
/// How long after a request for the keys an unknown key id causes another one.
const KEYS_INTERVAL: Duration = Duration::from_secs(30);
/// How long a used state is kept: longer than its cookie.
const STATE_TTL: Duration = Duration::from_mins(15);
const MAX_STATES: u64 = 100_000;

/// What is configured.
pub(super) struct ProviderConfig {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<String>,
    pub tenant: String,
    pub name: String,
    pub scopes: String,
    pub redirect_uri: String,
    pub rules: ClaimRules,
}

/// Why a sign-in failed. The word is in the log; the user is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OidcFault {
    /// The provider does not answer, or not as it should.
    Provider(&'static str),
    Token(TokenFault),
    Claims(ClaimFault),
}

impl OidcFault {
    pub fn as_str(self) -> &'static str {
        match self {
            OidcFault::Provider(what) => what,
            OidcFault::Token(fault) => fault.as_str(),
            OidcFault::Claims(fault) => fault.as_str(),
        }
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
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct TokenAnswer {
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
    /// The issuer that the answer names (RFC 9207).
    pub iss: Option<&'e str>,
}

struct Fetched<T> {
    value: Arc<T>,
    at: Instant,
}

/// The identity provider that is configured.
pub struct OidcProvider {
    config: ProviderConfig,
    client: Client,
    metadata: Mutex<Option<Fetched<Metadata>>>,
    keys: Mutex<Option<Fetched<Vec<PublicKey>>>>,
    used_states: Cache<String, ()>,
}

impl OidcProvider {
    pub(super) fn new(config: ProviderConfig) -> anyhow::Result<Self> {
        let client = lukasa_models::tls::client(&config.issuer)
            .timeout(REQUEST_TIMEOUT)
            .connect_timeout(REQUEST_TIMEOUT)
            .user_agent(concat!("Lukasa/", env!("CARGO_PKG_VERSION")))
            .build()?;
        let used_states = Cache::builder().max_capacity(MAX_STATES).time_to_live(STATE_TTL).build();
        let (metadata, keys) = (Mutex::new(None), Mutex::new(None));
        Ok(Self { config, client, metadata, keys, used_states })
    }

    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// The tenant whose users sign in, by name.
    pub fn tenant(&self) -> &str {
        &self.config.tenant
    }

    /// Marks a state as used; false if it was before.
    pub fn use_state(&self, state: &str) -> bool {
        self.used_states.entry(state.to_owned()).or_insert(()).is_fresh()
    }

    /// The address that the browser is sent to.
    pub async fn authorization_url(
        &self,
        request: AuthorizationValues<'_>,
    ) -> Result<String, OidcFault> {
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

    /// Exchanges a code, verifies the ID token, and returns the user it names.
    pub async fn exchange(
        &self,
        exchange: ProviderCode<'_>,
        now: Timestamp,
    ) -> Result<VerifiedIdentity, OidcFault> {
        let metadata = self.metadata().await?;
        let needs_iss = metadata.authorization_response_iss_parameter_supported;
        if exchange.iss.map_or(needs_iss, |iss| iss != self.config.issuer) {
            return Err(OidcFault::Provider("answer_of_another_issuer"));
        }
        let token = self.request_token(&metadata, exchange).await?;
        let mut claims = verify(&token, &self.keys(&metadata, false).await?);
        if claims.as_ref().is_err_and(|fault| *fault == TokenFault::UnknownKey) {
            claims = verify(&token, &self.keys(&metadata, true).await?);
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
        let answer = request.send().await.map_err(|_| OidcFault::Provider("no_token_answer"))?;
        if !answer.status().is_success() {
            return Err(OidcFault::Provider("code_refused"));
        }
        let answer: TokenAnswer =
            read_json(answer).await.ok_or(OidcFault::Provider("no_id_token"))?;
        Ok(answer.id_token)
    }

    /// The provider's metadata. It must be the issuer's own, and name safe addresses.
    async fn metadata(&self) -> Result<Arc<Metadata>, OidcFault> {
        let waited = timeout(REQUEST_TIMEOUT, self.metadata.lock()).await;
        let mut cached = waited.map_err(|_| OidcFault::Provider("no_metadata"))?;
        if let Some(found) = cached.as_ref().filter(|found| found.at.elapsed() < METADATA_TTL) {
            return Ok(found.value.clone());
        }
        let base = self.config.issuer.trim_end_matches('/');
        let url = format!("{base}/.well-known/openid-configuration");
        let found: Metadata = self.get(&url).await.ok_or(OidcFault::Provider("no_metadata"))?;
        let addresses = [&found.authorization_endpoint, &found.token_endpoint, &found.jwks_uri];
        if found.issuer != self.config.issuer {
            return Err(OidcFault::Provider("metadata_of_another_issuer"));
        }
        // An issuer with https announces no address without it.
        let is_https = self.config.issuer.starts_with("https:");
        if !addresses.iter().all(|url| is_safe(url) && (!is_https || url.scheme() == "https")) {
            return Err(OidcFault::Provider("unsafe_address"));
        }
        let value = Arc::new(found);
        *cached = Some(Fetched { value: value.clone(), at: Instant::now() });
        Ok(value)
    }

    /// The provider's keys. With `newer` they are requested again, unless that was just done.
    async fn keys(
        &self,
        metadata: &Metadata,
        newer: bool,
    ) -> Result<Arc<Vec<PublicKey>>, OidcFault> {
        let waited = timeout(REQUEST_TIMEOUT, self.keys.lock()).await;
        let mut cached = waited.map_err(|_| OidcFault::Provider("no_keys"))?;
        let limit = if newer { KEYS_INTERVAL } else { KEYS_TTL };
        if let Some(found) = cached.as_ref().filter(|found| found.at.elapsed() < limit) {
            return Ok(found.value.clone());
        }
        let found: Option<KeySet> = self.get(metadata.jwks_uri.as_str()).await;
        let found = found.ok_or(OidcFault::Provider("no_keys"))?;
        let keys = found.keys.into_iter().take(MAX_KEYS);
        let value = Arc::new(keys.filter_map(|key| serde_json::from_value(key).ok()).collect());
        *cached = Some(Fetched { value: Arc::clone(&value), at: Instant::now() });
        Ok(value)
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Option<T> {
        let answer = self.client.get(url).header("accept", "application/json").send().await.ok()?;
        if !answer.status().is_success() {
            return None;
        }
        read_json(answer).await
    }
}

/// Reads a bounded answer.
async fn read_json<T: DeserializeOwned>(mut answer: Response) -> Option<T> {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.ok()? {
        if bytes.len() + piece.len() > MAX_ANSWER_BYTES {
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
