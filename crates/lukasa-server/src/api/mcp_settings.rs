//! Settings of the MCP endpoint: its public address, allowed host names and origins, and OAuth.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use clap::Args;
use lukasa_core::oauth::{SCOPES, print_scope};
use serde_json::{Value, json};

use crate::url::is_loopback_name;

#[derive(Debug, Clone, Default, Args)]
pub struct McpSettings {
    /// The public address of this server, such as `https://memory.example.com`; /mcp then answers
    /// under no other name, and assistants can connect to it by OAuth
    #[arg(long, env = "LUKASA_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// More host names under which /mcp answers, separated by commas
    #[arg(long, env = "LUKASA_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOST")]
    pub allowed_hosts: Vec<String>,
    /// Sites whose pages may call /mcp, such as `https://app.example.com`, separated by commas
    #[arg(long, env = "LUKASA_ALLOWED_ORIGINS", value_delimiter = ',', value_name = "ORIGIN")]
    pub allowed_origins: Vec<String>,
    /// Other OAuth servers that issue Lukasa's credentials, announced to assistants instead of the
    /// one built in
    #[arg(long, env = "LUKASA_AUTHORIZATION_SERVERS", value_delimiter = ',', value_name = "URL")]
    pub authorization_servers: Vec<String>,
    /// Turn off the OAuth server that is built in: assistants need a key
    #[arg(long, env = "LUKASA_NO_OAUTH")]
    pub no_oauth: bool,
}

/// The host and port of a URL.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

impl McpSettings {
    /// Whether a request is addressed to this server by an allowed name, and does not come from a
    /// page of another site. Programs send no origin; browsers always do.
    pub(crate) fn is_allowed(&self, headers: &HeaderMap, uri_host: Option<&str>) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(HOST).or(uri_host).unwrap_or("");
        let hosts = self.allowed_hosts.iter().map(String::as_str);
        let mut names = hosts.chain(self.public_url.as_deref().map(host_of));
        let bare = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let any = self.public_url.is_none() && self.allowed_hosts.is_empty();
        let addressed = any || is_loopback_name(host) || names.any(|n| n == host || n == bare);
        let from = text(ORIGIN).is_none_or(|origin| {
            let own = origin.split_once("://").is_some_and(|(_, site)| site == host);
            own || self.allowed_origins.iter().any(|allowed| allowed == origin)
        });
        addressed && from
    }

    /// The public address of this server.
    pub(crate) fn base(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        format!("http://{host}")
    }

    /// The address of the OAuth server that is built in, if it is on: the public address, if that is
    /// `https` (or this machine) and has no path. It is never derived from a request.
    pub(crate) fn issuer(&self) -> Option<String> {
        if self.no_oauth || !self.authorization_servers.is_empty() {
            return None;
        }
        self.public_origin()
    }

    /// The public address, if it is `https` (or this machine) and has no path.
    pub(crate) fn public_origin(&self) -> Option<String> {
        let url: reqwest::Url = self.public_url.as_deref()?.parse().ok()?;
        let origin = url.origin().ascii_serialization();
        let is_safe = match url.scheme() {
            "https" => true,
            "http" => is_loopback_name(host_of(&origin)),
            _ => false,
        };
        let is_origin = url.as_str() == format!("{origin}/");
        (is_safe && is_origin).then_some(origin)
    }

    /// Why the OAuth server is off although a public address is set; `None` if that is intended.
    pub(crate) fn oauth_fault(&self) -> Option<&'static str> {
        let is_wanted = self.public_url.is_some() && !self.no_oauth;
        let is_missing = is_wanted && self.authorization_servers.is_empty();
        (is_missing && self.issuer().is_none())
            .then_some("OAuth is off: set LUKASA_PUBLIC_URL to https and a host, without a path")
    }

    pub(crate) fn description(&self, headers: &HeaderMap) -> Value {
        let mut description = json!({
            "resource": format!("{}/mcp", self.base(headers)),
            "resource_name": "Lukasa",
            "bearer_methods_supported": ["header"],
        });
        if !self.authorization_servers.is_empty() {
            description["authorization_servers"] = json!(self.authorization_servers);
        }
        if let Some(issuer) = self.issuer() {
            description["authorization_servers"] = json!([issuer]);
            description["scopes_supported"] =
                json!(print_scope(&SCOPES).split(' ').collect::<Vec<_>>());
        }
        description
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn mcp_default_settings_allow_any_host_and_no_other_origin() {
        let settings = McpSettings::default();
        let host = ("host", "memory.example");
        assert!(settings.is_allowed(&headers(&[host]), None));
        assert!(settings.is_allowed(&headers(&[host, ("origin", "https://memory.example")]), None));
        for origin in ["https://evil.example", "null", "https://memory.example.evil.example"] {
            assert!(!settings.is_allowed(&headers(&[host, ("origin", origin)]), None), "{origin}");
        }
    }

    #[test]
    fn oauth_issuer_is_the_public_https_origin() {
        let issuer = |url: &str| {
            McpSettings { public_url: Some(url.into()), ..McpSettings::default() }.issuer()
        };
        for url in ["https://memory.example", "https://memory.example/"] {
            assert_eq!(issuer(url).as_deref(), Some("https://memory.example"));
        }
        assert_eq!(issuer("http://127.0.0.1:7777").as_deref(), Some("http://127.0.0.1:7777"));
        for url in [
            "http://memory.example",
            "https://memory.example/lukasa",
            "https://memory.example/?x",
            "https://user@memory.example",
            "memory.example",
            "",
        ] {
            assert_eq!(issuer(url), None, "{url}");
        }
        let settings = McpSettings {
            public_url: Some("https://memory.example".into()),
            no_oauth: true,
            ..McpSettings::default()
        };
        assert_eq!((settings.issuer(), settings.oauth_fault()), (None, None));
        assert_eq!(McpSettings::default().issuer(), None, "nothing is derived from a request");
    }

    #[test]
    fn mcp_public_url_rejects_other_hosts() {
        let settings = McpSettings {
            public_url: Some("https://memory.example/".into()),
            allowed_hosts: vec!["lukasa.internal".into()],
            allowed_origins: vec!["https://app.example".into()],
            ..McpSettings::default()
        };
        for host in
            ["memory.example", "memory.example:443", "lukasa.internal:7777", "127.0.0.1:7777"]
        {
            assert!(settings.is_allowed(&headers(&[("host", host)]), None), "{host}");
        }
        for host in ["evil.example", "memory.example.evil.example", ""] {
            assert!(!settings.is_allowed(&headers(&[("host", host)]), None), "{host}");
        }
        let page = [("host", "memory.example"), ("origin", "https://app.example")];
        assert!(settings.is_allowed(&headers(&page), None));
        let page = [("host", "memory.example"), ("origin", "http://app.example")];
        assert!(!settings.is_allowed(&headers(&page), None));
        assert_eq!(settings.base(&headers(&[])), "https://memory.example");
    }
}
