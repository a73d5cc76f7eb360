//! An HTTP connection to the server that may break at any moment, and what is known of a request
//! when it does.

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

/// A write request, the same for every attempt.
#[derive(Debug, Clone)]
pub struct Ask {
    pub user: String,
    pub key: String,
    pub method: Method,
    pub path: String,
    pub body: Option<Value>,
}

/// Result of one attempt.
#[derive(Debug)]
pub enum Reply {
    Answer {
        status: u16,
        body: Value,
    },
    /// There was no server to send it to.
    NotSent,
    /// It was or may have been sent, and no response arrived: it may have been done.
    Lost,
}

struct Open {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        // Closes the socket even while a response is still arriving.
        self.driver.abort();
    }
}

pub struct HttpConnection {
    address: SocketAddr,
    open: Option<Open>,
}

impl HttpConnection {
    pub fn to(address: SocketAddr) -> Self {
        Self { address, open: None }
    }

    /// Sends a write with its idempotency key or, to plant a fault, without it.
    pub async fn send(&mut self, ask: &Ask, keyed: bool, timeout: Duration) -> Reply {
        let body = ask.body.as_ref().map(ToString::to_string).unwrap_or_default();
        let request = self.request(ask.method.clone(), &ask.path, Some(&ask.user));
        let request = if keyed { request.header("idempotency-key", &ask.key) } else { request };
        let request = match ask.body {
            Some(_) => request.header("content-type", "application/json"),
            None => request,
        };
        match request.body(Full::new(Bytes::from(body))) {
            Ok(request) => self.exchange(request, timeout).await,
            Err(_) => Reply::NotSent,
        }
    }

    pub async fn get(&mut self, path: &str, user: Option<&str>, timeout: Duration) -> Reply {
        match self.request(Method::GET, path, user).body(Full::default()) {
            Ok(request) => self.exchange(request, timeout).await,
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

    async fn exchange(&mut self, request: Request<Full<Bytes>>, timeout: Duration) -> Reply {
        let reply = tokio::time::timeout(timeout, self.attempt(request)).await;
        // After its timeout a client cannot know the outcome of its request.
        let reply = reply.unwrap_or(Reply::Lost);
        if !matches!(reply, Reply::Answer { .. }) {
            self.open = None;
        }
        reply
    }

    async fn attempt(&mut self, request: Request<Full<Bytes>>) -> Reply {
        // The connection becomes ready a moment after its last response.
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
        // A truncated response counts as none.
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
