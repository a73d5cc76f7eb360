//! An HTTP client of the server, for any user, with a few requests at a time.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use hyper::Method;
use serde_json::{Value, json};

use crate::http_connection::{Ask, HttpConnection, Reply};

/// Number of concurrent requests.
pub const AT_ONCE: usize = 4;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Client {
    address: SocketAddr,
    /// Unused connections.
    idle: Mutex<Vec<HttpConnection>>,
}

/// A response of any status.
pub struct Answered {
    pub status: u16,
    pub body: Value,
}

impl Client {
    pub fn to(address: SocketAddr) -> Self {
        Self { address, idle: Mutex::default() }
    }

    pub async fn send(
        &self,
        user: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Answered> {
        let (user, path) = (user.to_owned(), path.to_owned());
        let ask = Ask { user, key: String::new(), method, path, body };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut http = idle.unwrap_or_else(|| HttpConnection::to(self.address));
        let reply = http.send(&ask, false, REQUEST_TIMEOUT).await;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(http);
        match reply {
            Reply::Answer { status, body } => Ok(Answered { status, body }),
            other => bail!("{} {}: {other:?}", ask.method, ask.path),
        }
    }

    /// The body of a response that must be a success.
    pub async fn ask(
        &self,
        user: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value> {
        let request_line = format!("{method} {path}");
        let answered = self.send(user, method, path, body).await?;
        if answered.status >= 300 {
            bail!("{request_line} answered {}: {}", answered.status, answered.body);
        }
        Ok(answered.body)
    }

    /// Opens every sensitive domain of a user, so that none of their data is left out.
    pub async fn open_domains(&self, user: &str) -> Result<()> {
        let domains = self.ask(user, Method::GET, "/api/domains", None).await?;
        for domain in domains["data"].as_array().into_iter().flatten() {
            if domain["requires_opt_in"] == true {
                let name = domain["name"].as_str().unwrap_or_default();
                let path = format!("/api/domains/{name}/opt-in");
                self.ask(user, Method::PUT, &path, None).await?;
            }
        }
        Ok(())
    }

    pub async fn save(&self, user: &str, memory: Value) -> Result<String> {
        let saved = self.ask(user, Method::POST, "/api/memory", Some(memory)).await?;
        match saved["memory"]["id"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => bail!("a save without an id: {saved}"),
        }
    }

    /// Searches; and retries when the machine was too busy to embed the query in time, because the
    /// machine's load is not measured here.
    pub async fn search(&self, user: &str, request: &Value) -> Result<Value> {
        for _ in 0..20 {
            let path = "/api/memory/search";
            let found = self.ask(user, Method::POST, path, Some(request.clone())).await?;
            if found["degraded"].as_array().is_none_or(Vec::is_empty) {
                return Ok(found);
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        bail!("the server could not embed a question in twenty attempts")
    }

    /// Whether the server knows a field of a search; an older one refuses it.
    pub async fn knows(&self, field: &str, value: Value) -> Result<bool> {
        let mut request = json!({ "query": "tea", "limit": 1 });
        request[field] = value;
        let path = "/api/memory/search";
        let answered = self.send("nobody", Method::POST, path, Some(request)).await?;
        Ok(answered.status < 300)
    }
}
