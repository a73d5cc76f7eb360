//! Carries letters to webhooks: what they say, how they are signed (Standard Webhooks), and where they
//! are never taken. Whoever sets up a webhook has this server connect somewhere, so the address is
//! judged where the connection is made, and not before: a name can be made to point elsewhere between
//! the two. It decides nothing about when and whether something is sent.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use lukasa_core::webhook::is_public;
use lukasa_engine::webhooks::{About, Courier, Letter};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use ring::hmac;
use serde_json::json;

use crate::http::event_name;

/// How long a receiver may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where webhooks may be.
#[derive(Debug, Clone, Default, Args)]
pub struct WebhookSettings {
    /// Let webhooks be on this machine and in private networks, also without TLS; otherwise they must
    /// be https on the public internet
    #[arg(long, env = "LUKASA_WEBHOOK_PRIVATE_NETWORKS")]
    webhook_private_networks: bool,
}

impl WebhookSettings {
    pub fn courier(&self) -> Courier {
        courier(self.webhook_private_networks)
    }
}

/// Whoever carries letters, to private addresses too if they may.
pub fn courier(private_networks: bool) -> Courier {
    let clients = Arc::new(Clients { private_networks, ..Clients::default() });
    Courier {
        accepts,
        private_networks,
        carry: Arc::new(move |letter| {
            let clients = clients.clone();
            Box::pin(async move { clients.post(&letter).await })
        }),
    }
}

/// Says what is wrong with an address.
fn accepts(text: &str, private_networks: bool) -> Result<(), &'static str> {
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
        Some(address) if !may_reach(address, url.scheme(), private_networks) => {
            Err("an address on the public internet")
        }
        _ => Ok(()),
    }
}

/// The address in a URL that names no host but an address. No resolver is asked about those.
fn address(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// What is not encrypted does not leave the private network.
fn may_reach(address: IpAddr, scheme: &str, private_networks: bool) -> bool {
    match scheme {
        "https" => private_networks || is_public(address),
        _ => private_networks && !is_public(address),
    }
}

/// One client for each scheme, made when it is first needed: only one for https asks the machine for
/// the certificates it trusts.
#[derive(Default)]
struct Clients {
    private_networks: bool,
    https: OnceLock<Result<Client, String>>,
    http: OnceLock<Result<Client, String>>,
}

impl Clients {
    fn client(&self, url: &Url) -> Result<&Client, String> {
        let kept = if url.scheme() == "https" { &self.https } else { &self.http };
        let scheme = if url.scheme() == "https" { "https" } else { "http" };
        let gate = Gate { scheme, private_networks: self.private_networks };
        let made = kept.get_or_init(|| {
            // No redirect is followed, and no proxy asked: it would look up the name itself.
            lukasa_models::tls::client(url.as_str())
                .no_proxy()
                .dns_resolver(Arc::new(gate))
                .timeout(TIMEOUT)
                .connect_timeout(TIMEOUT)
                .user_agent(concat!("Lukasa/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|error| format!("no connection can be prepared: {error}"))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Posts a letter; the status it was answered with. The rest of the answer is not read.
    async fn post(&self, letter: &Letter) -> Result<u16, String> {
        // What was accepted under other settings is not under these.
        accepts(&letter.url, self.private_networks).map_err(|wanted| format!("not {wanted}"))?;
        let url = Url::parse(&letter.url).map_err(|_| "not a URL".to_owned())?;
        let body = body(letter);
        let seconds = letter.at.as_second();
        let request = self
            .client(&url)?
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", &letter.id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", sign(&letter.secret, &letter.id, seconds, &body))
            .body(body);
        match request.send().await {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => Err(reason(&error)),
        }
    }
}

/// Why nothing came back, without the address: an operator sees that beside it.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it did not answer within 10 seconds".into();
    }
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(cause) = source {
        if let Some(Shut) = cause.downcast_ref::<Shut>() {
            return Shut.to_string();
        }
        source = cause.source();
    }
    if error.is_connect() { "it cannot be reached".into() } else { "it broke off".into() }
}

/// What a letter says: ids and words for what happened, and nothing of what is remembered. It cannot be
/// erased once it was delivered.
fn body(letter: &Letter) -> String {
    let (kind, data) = match &letter.about {
        About::Operation { user, operation } => {
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
        About::Test => ("test", json!({})),
    };
    let at = match &letter.about {
        About::Operation { operation, .. } => operation.at,
        About::Test => letter.at,
    };
    json!({ "type": kind, "timestamp": at, "data": data }).to_string()
}

/// A secret as it is shown.
pub fn print_secret(secret: &[u8]) -> String {
    format!("whsec_{}", STANDARD.encode(secret))
}

/// The signature of a letter, as its header has it.
fn sign(secret: &[u8], id: &str, seconds: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

/// Looks up names, and lets through the addresses that may be connected to.
struct Gate {
    scheme: &'static str,
    private_networks: bool,
}

/// There is no address that may be connected to.
#[derive(Debug)]
struct Shut;

impl std::fmt::Display for Shut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("its name leads to no address that may be connected to")
    }
}

impl std::error::Error for Shut {}

impl Resolve for Gate {
    fn resolve(&self, name: Name) -> Resolving {
        let (scheme, private_networks) = (self.scheme, self.private_networks);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|found| may_reach(found.ip(), scheme, private_networks)).collect();
            if allowed.is_empty() {
                return Err(Shut.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_on_the_public_internet_is_accepted_unless_told_otherwise() {
        for url in [
            "https://example.com/hook",
            "https://example.com:8443/a?b=c",
            "https://8.8.8.8/",
            "https://[2606:4700:4700::1111]/",
            "https://localhost/",
        ] {
            // A name may lead anywhere, and is judged when it is looked up.
            assert_eq!(accepts(url, false), Ok(()), "{url}");
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
            assert!(accepts(url, false).is_err(), "{url}");
        }
        for url in ["http://127.0.0.1:9/", "http://10.0.0.8/", "https://192.168.0.1/"] {
            assert_eq!(accepts(url, true), Ok(()), "{url}");
        }
        assert!(accepts("http://8.8.8.8/", true).is_err(), "unencrypted, to the internet");
    }

    #[tokio::test]
    async fn a_name_is_judged_by_where_it_leads_when_it_is_looked_up() {
        let resolve = |scheme, private_networks| {
            Gate { scheme, private_networks }.resolve("localhost".parse().unwrap())
        };
        let Err(shut) = resolve("https", false).await else { panic!("localhost is let through") };
        assert!(shut.downcast_ref::<Shut>().is_some(), "{shut}");
        assert!(resolve("https", true).await.is_ok_and(|found| found.count() > 0));
        assert!(resolve("http", true).await.is_ok_and(|found| found.count() > 0));
    }
}
