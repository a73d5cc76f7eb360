//! Sends webhook requests: their bodies, their signatures (Standard Webhooks), and the addresses that
//! are not allowed. A webhook's URL makes this server open connections (SSRF), so addresses are
//! checked when the connection is made and not before: a name can be changed to point elsewhere in
//! between. When and whether something is sent is the engine's decision.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use lukasa_core::webhook::is_public;
use lukasa_engine::webhooks::{WebhookPayload, WebhookRequest, WebhookSender};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use ring::hmac;
use serde_json::json;

use crate::api::event_name;

/// Time limit of a receiver's response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Webhook settings.
#[derive(Debug, Clone, Default, Args)]
pub struct WebhookSettings {
    /// Allow webhooks on this machine and in private networks, also without TLS; otherwise they must be
    /// https on the public internet
    #[arg(long, env = "LUKASA_WEBHOOK_PRIVATE_NETWORKS")]
    webhook_private_networks: bool,
}

impl WebhookSettings {
    pub fn sender(&self) -> WebhookSender {
        webhook_sender(self.webhook_private_networks)
    }
}

/// The sender of webhook requests. `private_networks` allows private addresses.
pub fn webhook_sender(private_networks: bool) -> WebhookSender {
    let clients = Arc::new(Clients { private_networks, ..Clients::default() });
    WebhookSender {
        check_url,
        private_networks,
        send: Arc::new(move |message| {
            let clients = clients.clone();
            Box::pin(async move { clients.post(&message).await })
        }),
    }
}

/// Checks a URL; the error says what is expected.
fn check_url(text: &str, private_networks: bool) -> Result<(), &'static str> {
    let url = Url::parse(text).map_err(|_| "a URL such as https://example.com/lukasa")?;
    match url.scheme() {
        "https" => {}
        "http" if private_networks => {}
        _ => return Err("an https URL"),
    }
    if text.len() > 2_000 || url.fragment().is_some() {
        return Err("at most 2000 characters, and no fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("no password in the URL: deliveries are signed instead");
    }
    match address(&url) {
        Some(address) if !is_allowed(address, url.scheme(), private_networks) => {
            Err("an address on the public internet")
        }
        _ => Ok(()),
    }
}

/// The IP address in a URL, if its host is one. The resolver is not used for these.
fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether an address may be connected to. Unencrypted requests are limited to private networks.
fn is_allowed(address: IpAddr, scheme: &str, private_networks: bool) -> bool {
    match scheme {
        "https" => private_networks || is_public(address),
        _ => private_networks && !is_public(address),
    }
}

/// One client for each scheme, created at its first use: only the one for https loads the machine's
/// trusted certificates.
#[derive(Default)]
struct Clients {
    private_networks: bool,
    https: OnceLock<Result<Client, String>>,
    http: OnceLock<Result<Client, String>>,
}

impl Clients {
    fn client(&self, url: &Url) -> Result<&Client, String> {
        let client = if url.scheme() == "https" { &self.https } else { &self.http };
        let scheme = if url.scheme() == "https" { "https" } else { "http" };
        let resolver = FilteringResolver { scheme, private_networks: self.private_networks };
        let client = client.get_or_init(|| {
            // No redirects, and no proxy: it would resolve the name itself.
            lukasa_models::tls::client(url.as_str())
                .no_proxy()
                .dns_resolver(Arc::new(resolver))
                .timeout(RESPONSE_TIMEOUT)
                .connect_timeout(RESPONSE_TIMEOUT)
                .user_agent(concat!("Lukasa/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| format!("could not create the HTTP client: {error}"))
        });
        client.as_ref().map_err(Clone::clone)
    }

    /// Posts a message and returns the status of the response. Its body is not read.
    async fn post(&self, message: &WebhookRequest) -> Result<u16, String> {
        // The webhook may have been created under other settings.
        check_url(&message.url, self.private_networks)
            .map_err(|expected| format!("the URL is no longer allowed: expected {expected}"))?;
        let url = Url::parse(&message.url).map_err(|_| "not a URL".to_owned())?;
        let body = body(message);
        let seconds = message.at.as_second();
        let request = self
            .client(&url)?
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", signatures(&message.secrets, &message.id, seconds, &body))
            .body(body);
        match request.send().await {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => Err(reason(&error)),
        }
    }
}

/// Why there was no response, without the URL, which is shown beside it.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no response within {} seconds", RESPONSE_TIMEOUT.as_secs());
    }
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<NoAllowedAddress>() {
            return error.to_string();
        }
        source = cause.source();
    }
    match error.is_connect() {
        true => "could not connect".into(),
        false => "the connection was interrupted".into(),
    }
}

/// The body of a message: ids and the kind of the operation, without the content of memories, which
/// could not be erased once it was delivered.
fn body(message: &WebhookRequest) -> String {
    let (kind, data) = match &message.payload {
        WebhookPayload::Operation { user, operation } => {
            let facts: Vec<String> = operation.facts.iter().map(ToString::to_string).collect();
            let data = json!({
                "user": user,
                "operation_id": operation.id,
                "verb": operation.verb,
                "at": operation.at,
                "memory_ids": facts,
                "caller": operation.caller,
                "origin": operation.voice.origin.as_str(),
                "undoes": operation.undoes,
            });
            (event_name(operation.verb), data)
        }
        WebhookPayload::Test => ("test", json!({})),
    };
    let at = match &message.payload {
        WebhookPayload::Operation { operation, .. } => operation.at,
        WebhookPayload::Test => message.at,
    };
    json!({ "type": kind, "timestamp": at, "data": data }).to_string()
}

/// A secret in its printed form.
pub fn print_secret(secret: &[u8]) -> String {
    format!("whsec_{}", STANDARD.encode(secret))
}

/// The signatures of a message with each of the secrets, as in its header.
fn signatures(secrets: &[Vec<u8>], id: &str, seconds: i64, body: &str) -> String {
    let all: Vec<String> = secrets.iter().map(|secret| sign(secret, id, seconds, body)).collect();
    all.join(" ")
}

/// The signature of a message with one secret.
fn sign(secret: &[u8], id: &str, seconds: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

/// Resolves names and returns only the addresses that may be connected to.
struct FilteringResolver {
    scheme: &'static str,
    private_networks: bool,
}

/// The error for a name without an address that may be connected to.
#[derive(Debug)]
struct NoAllowedAddress;

impl std::fmt::Display for NoAllowedAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the host name resolves to no allowed address")
    }
}

impl std::error::Error for NoAllowedAddress {}

impl Resolve for FilteringResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (scheme, private_networks) = (self.scheme, self.private_networks);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|found| is_allowed(found.ip(), scheme, private_networks)).collect();
            if allowed.is_empty() {
                return Err(NoAllowedAddress.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_urls_must_be_public_https_unless_private_networks_are_allowed() {
        for url in [
            "https://example.com/hook",
            "https://example.com:8443/a?b=c",
            "https://8.8.8.8/",
            "https://[2606:4700:4700::1111]/",
            "https://localhost/",
        ] {
            // A name may point anywhere and is checked when it is resolved.
            assert_eq!(check_url(url, false), Ok(()), "{url}");
        }
        for url in [
            "",
            "example.com",
            "http://example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://u:p@example.com/",
            "https://example.com/#x",
            "https://127.0.0.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://017700000001/",
            "https://0/",
            "https://169.254.169.254/latest/meta-data/",
            "https://10.0.0.8/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[fd00:ec2::254]/",
            "https://192.168.0.1:443/",
        ] {
            assert!(check_url(url, false).is_err(), "{url}");
        }
        for url in ["http://127.0.0.1:9/", "http://10.0.0.8/", "https://192.168.0.1/"] {
            assert_eq!(check_url(url, true), Ok(()), "{url}");
        }
        assert!(check_url("http://8.8.8.8/", true).is_err(), "unencrypted, to the internet");
    }

    #[tokio::test]
    async fn webhook_host_names_are_checked_when_they_are_resolved() {
        let resolve = |scheme, private_networks| {
            let resolver = FilteringResolver { scheme, private_networks };
            resolver.resolve("localhost".parse().unwrap())
        };
        let Err(error) = resolve("https", false).await else { panic!("localhost is allowed") };
        assert!(error.downcast_ref::<NoAllowedAddress>().is_some(), "{error}");
        assert!(resolve("https", true).await.is_ok_and(|found| found.count() > 0));
        assert!(resolve("http", true).await.is_ok_and(|found| found.count() > 0));
    }
}
