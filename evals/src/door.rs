//! One client's connection to the server, which may break at any moment, and what can be said of a
//! request when it does.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A write, as it is sent each time it is tried.
#[derive(Debug, Clone)]
pub struct Ask {
    pub user: String,
    pub key: String,
    pub method: Method,
    pub path: String,
    pub body: Option<Value>,
}

/// What came back.
#[derive(Debug)]
pub enum Reply {
    Answer {
        status: u16,
        body: Value,
    },
    /// There was nobody to send it to.
    NotSent,
    /// It was sent, or may have been, and no answer came: it may have been done.
    Lost,
}

struct Open {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        // Closes the socket even when an answer is still on its way.
        self.driver.abort();
    }
}

pub struct Door {
    address: SocketAddr,
    open: Option<Open>,
}

impl Door {
    pub fn to(address: SocketAddr) -> Self {
        Self { address, open: None }
    }

    /// Sends a write, with its key or, to plant a fault, without it.
    pub async fn send(&mut self, ask: &Ask, keyed: bool, patience: Duration) -> Reply {
        let body = ask.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let request = self.request(ask.method.clone(), &ask.path, Some(&ask.user));
        let request = if keyed { request.header("idempotency-key", &ask.key) } else { request };
        let request = match ask.body {
            Some(_) => request.header("content-type", "application/json"),
            None => request,
        };
        match request.body(Full::new(Bytes::from(body))) {
            Ok(request) => self.exchange(request, patience).await,
            Err(_) => Reply::NotSent,
        }
    }

    pub async fn get(&mut self, path: &str, user: Option<&str>, patience: Duration) -> Reply {
        match self.request(Method::GET, path, user).body(Full::default()) {
            Ok(request) => self.exchange(request, patience).await,
            Err(_) => Reply::NotSent,
        }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        user: Option<&str>,
    ) -> hyper::http::request::Builder {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("host", self.address.to_string());
        match user {
            Some(user) => request.header("x-lukasa-user", user),
            None => request,
        }
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>, patience: Duration) -> Reply {
        let reply = tokio::time::timeout(patience, self.attempt(request)).await;
        // A client that does not wait any longer cannot know what became of its request.
        let reply = reply.unwrap_or(Reply::Lost);
        if !matches!(reply, Reply::Answer { .. }) {
            self.open = None;
        }
        reply
    }

    async fn attempt(&mut self, request: Request<Full<Bytes>>) -> Reply {
        // A connection takes the next request a moment after it has given the last answer.
        let ready = match &mut self.open {
            Some(open) => open.sender.ready().await.is_ok(),
            None => false,
        };
        if !ready {
            match connect(self.address).await {
                Ok(open) => self.open = Some(open),
                Err(_) => return Reply::NotSent,
            }
        }
        let Some(open) = &mut self.open else { return Reply::NotSent };
        let Ok(answer) = open.sender.send_request(request).await else { return Reply::Lost };
        let status = answer.status().as_u16();
        // An answer that breaks off in the middle is no answer.
        let Ok(body) = answer.into_body().collect().await else { return Reply::Lost };
        let bytes = body.to_bytes();
        match serde_json::from_slice(&bytes) {
            Ok(body) => Reply::Answer { status, body },
            Err(_) => Reply::Lost,
        }
    }
}

async fn connect(address: SocketAddr) -> Result<Open> {
    let stream = TcpStream::connect(address).await.context("connect")?;
    stream.set_nodelay(true).context("nodelay")?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.context("handshake")?;
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(Open { sender, driver })
}
