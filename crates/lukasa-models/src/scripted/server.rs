//! An HTTP server that follows a test's script, including broken responses.
//!
//! It reads just enough HTTP to get a request, and writes any bytes it is given, so that it can
//! also answer as no proper server would.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct RequestRecord {
    /// The request line: method, path and version.
    pub line: String,
    /// The header lines in lower case.
    pub head: String,
    pub body: Vec<u8>,
}

impl RequestRecord {
    /// The body as JSON, or `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A step of the script for a connection; after the last one the server closes it.
#[derive(Debug, Clone)]
pub enum ConnectionStep {
    Send(Vec<u8>),
    /// Sends the same bytes this many times.
    Repeat(Vec<u8>, usize),
    /// Sends one byte at a time, with a wait after each.
    Drip(Vec<u8>, Duration),
    Wait(Duration),
    /// Neither sends nor closes, until the server is dropped.
    Hang,
}

/// An HTTP response.
#[derive(Debug, Clone, Default)]
pub struct ScriptedResponse {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// A false `Content-Length`.
    claimed: Option<usize>,
    wait: Duration,
}

impl ScriptedResponse {
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub fn bytes(body: &[u8]) -> Self {
        Self { body: body.to_vec(), ..Self::status(200) }
    }

    pub fn json(body: &Value) -> Self {
        Self::bytes(body.to_string().as_bytes())
    }

    #[must_use]
    pub fn with_body(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    /// Announces the whole body and sends only this many bytes of it.
    #[must_use]
    pub fn cut_off_after(mut self, bytes: usize) -> Self {
        self.claimed = Some(self.body.len());
        self.body.truncate(bytes);
        self
    }

    #[must_use]
    pub fn after(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

impl From<ScriptedResponse> for Vec<ConnectionStep> {
    fn from(reply: ScriptedResponse) -> Self {
        let length = reply.claimed.unwrap_or(reply.body.len());
        let headers = format!("content-length: {length}\r\n{}", reply.headers);
        vec![
            ConnectionStep::Wait(reply.wait),
            ConnectionStep::Send(head(reply.status, &headers)),
            ConnectionStep::Send(reply.body),
        ]
    }
}

/// The head of a response. `headers` are whole lines.
pub fn head(status: u16, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} x\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

#[derive(Debug)]
pub struct ScriptedServer {
    /// The base URL: `http://` and the address it listens on.
    pub base: String,
    asked: Arc<Mutex<Vec<RequestRecord>>>,
    task: JoinHandle<()>,
}

impl ScriptedServer {
    /// `script` gets the number of earlier requests, and the request.
    pub async fn start<S: Into<Vec<ConnectionStep>>>(
        script: impl Fn(usize, &RequestRecord) -> S + Send + Sync + 'static,
    ) -> Self {
        let (listener, base) = listen().await.expect("a test needs a port on loopback");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        let script = Arc::new(move |asked: RequestRecord| {
            let before = {
                let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
                list.push(asked.clone());
                list.len() - 1
            };
            script(before, &asked).into()
        });
        let task = tokio::spawn(async move {
            // Connections that hang are closed with the server.
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let script = Arc::clone(&script);
                // The client may have disconnected; its test checks what it needs.
                open.spawn(async move { serve(stream, script.as_ref()).await.unwrap_or_default() });
                while open.try_join_next().is_some() {}
            }
        });
        Self { base, asked, task }
    }

    pub fn asked(&self) -> Vec<RequestRecord> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A URL on which nothing listens: the port was free a moment ago.
pub async fn unused_address() -> String {
    listen().await.expect("a test needs a port on loopback").1
}

async fn listen() -> io::Result<(TcpListener, String)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    Ok((listener, base))
}

async fn serve(
    mut stream: TcpStream,
    script: &(impl Fn(RequestRecord) -> Vec<ConnectionStep> + Sync),
) -> io::Result<()> {
    let Some(asked) = read(&mut stream).await? else { return Ok(()) };
    for step in script(asked) {
        match step {
            ConnectionStep::Send(bytes) => stream.write_all(&bytes).await?,
            ConnectionStep::Repeat(bytes, times) => {
                for _ in 0..times {
                    stream.write_all(&bytes).await?;
                }
            }
            ConnectionStep::Drip(bytes, wait) => {
                for byte in bytes {
                    stream.write_all(&[byte]).await?;
                    tokio::time::sleep(wait).await;
                }
            }
            ConnectionStep::Wait(wait) => tokio::time::sleep(wait).await,
            ConnectionStep::Hang => std::future::pending().await,
        }
    }
    stream.shutdown().await
}

async fn read(stream: &mut TcpStream) -> io::Result<Option<RequestRecord>> {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok(None);
        }
        all.extend_from_slice(&piece[..read]);
        let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        if all.len() >= end + 4 + length {
            let line = head.lines().next().unwrap_or_default().to_owned();
            return Ok(Some(RequestRecord { line, head: lower, body: all[end + 4..].to_vec() }));
        }
    }
}
