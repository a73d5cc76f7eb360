//! How the door for assistants is reached from elsewhere: under which names, from which pages, and
//! who gives out credentials for it.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use clap::Args;
use serde_json::{Value, json};

use crate::http::auth::is_loopback_name;

#[derive(Debug, Clone, Default, Args)]
pub struct McpSettings {
    /// Where others reach this server, such as `https://memory.example.com`; then no other name of it
    /// is answered at /mcp
    #[arg(long, env = "LUKASA_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// More names under which /mcp is answered, with commas between them
    #[arg(long, env = "LUKASA_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOST")]
    pub allowed_hosts: Vec<String>,
    /// Sites whose pages may call /mcp, such as `https://app.example.com`, with commas between them
    #[arg(long, env = "LUKASA_ALLOWED_ORIGINS", value_delimiter = ',', value_name = "ORIGIN")]
    pub allowed_origins: Vec<String>,
    /// An OAuth server that gives out Lukasa's credentials, to be named to assistants; Lukasa has none
    /// built in
    #[arg(long, env = "LUKASA_AUTHORIZATION_SERVERS", value_delimiter = ',', value_name = "URL")]
    pub authorization_servers: Vec<String>,
}

/// What stands between `https://` and the path.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

impl McpSettings {
    /// Whether a request is addressed to this server, by a name it has, and comes from no page of
    /// another site. Programs send no origin; browsers always do.
    pub(super) fn lets_in(&self, headers: &HeaderMap, uri_host: Option<&str>) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(HOST).or(uri_host).unwrap_or("");
        let named = self.allowed_hosts.iter().map(String::as_str);
        let mut names = named.chain(self.public_url.as_deref().map(host_of));
        let bare = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let any = self.public_url.is_none() && self.allowed_hosts.is_empty();
        let addressed = any || is_loopback_name(host) || names.any(|n| n == host || n == bare);
        let from = text(ORIGIN).is_none_or(|origin| {
            let own = origin.split_once("://").is_some_and(|(_, site)| site == host);
            own || self.allowed_origins.iter().any(|allowed| allowed == origin)
        });
        addressed && from
    }

    /// The address of this server as its callers know it.
    pub(super) fn base(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        format!("http://{host}")
    }

    pub(super) fn description(&self, headers: &HeaderMap) -> Value {
        let mut description = json!({
            "resource": format!("{}/mcp", self.base(headers)),
            "resource_name": "Lukasa",
            "bearer_methods_supported": ["header"],
        });
        if !self.authorization_servers.is_empty() {
            description["authorization_servers"] = json!(self.authorization_servers);
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
    fn without_settings_any_name_will_do_and_no_other_page() {
        let settings = McpSettings::default();
        let host = ("host", "memory.example");
        assert!(settings.lets_in(&headers(&[host]), None));
        assert!(settings.lets_in(&headers(&[host, ("origin", "https://memory.example")]), None));
        for origin in ["https://evil.example", "null", "https://memory.example.evil.example"] {
            assert!(!settings.lets_in(&headers(&[host, ("origin", origin)]), None), "{origin}");
        }
    }

    #[test]
    fn with_a_public_url_no_other_name_will_do() {
        let settings = McpSettings {
            public_url: Some("https://memory.example/".into()),
            allowed_hosts: vec!["lukasa.internal".into()],
            allowed_origins: vec!["https://app.example".into()],
            ..McpSettings::default()
        };
        for host in
            ["memory.example", "memory.example:443", "lukasa.internal:7777", "127.0.0.1:7777"]
        {
            assert!(settings.lets_in(&headers(&[("host", host)]), None), "{host}");
        }
        for host in ["evil.example", "memory.example.evil.example", ""] {
            assert!(!settings.lets_in(&headers(&[("host", host)]), None), "{host}");
        }
        let page = [("host", "memory.example"), ("origin", "https://app.example")];
        assert!(settings.lets_in(&headers(&page), None));
        let page = [("host", "memory.example"), ("origin", "http://app.example")];
        assert!(!settings.lets_in(&headers(&page), None));
        assert_eq!(settings.base(&headers(&[])), "https://memory.example");
    }
}
