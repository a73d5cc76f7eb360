//! A server that answers as a test tells it to, down to breaking off in the middle.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// The header lines, in small letters.
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// What is answered.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// What `Content-Length` says, if not the truth.
    claimed: Option<usize>,
    wait: Duration,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub fn bytes(body: &[u8]) -> Self {
        Self { body: body.to_vec(), ..Self::status(200) }
    }

    pub fn json(body: &Value) -> Self {
        Self::bytes(body.to_string().as_bytes())
    }

    pub fn with_body(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    /// Promises the whole and sends only so many bytes of it.
    pub fn cut_off_after(mut self, bytes: usize) -> Self {
        self.claimed = Some(self.body.len());
        self.body.truncate(bytes);
        self
    }

    pub fn after(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }
}

pub struct Server {
    pub base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// `script` is told how many requests came before, and the request.
    pub async fn start(script: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(script);
        let list = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, list) = (Arc::clone(&script), Arc::clone(&list));
                tokio::spawn(async move { serve(stream, script.as_ref(), &list).await });
            }
        });
        Self { base, asked, task }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    script: &(impl Fn(usize, &Asked) -> Reply + Send + Sync),
    list: &Mutex<Vec<Asked>>,
) {
    let Some(asked) = read(&mut stream).await else { return };
    let before = {
        let mut list = list.lock().unwrap();
        list.push(asked.clone());
        list.len() - 1
    };
    let reply = script(before, &asked);
    tokio::time::sleep(reply.wait).await;
    let head = format!(
        "HTTP/1.1 {} x\r\ncontent-length: {}\r\nconnection: close\r\n{}\r\n",
        reply.status,
        reply.claimed.unwrap_or(reply.body.len()),
        reply.headers
    );
    // Whoever asked may have gone; that is their test's business.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&reply.body).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await.ok()?;
        if read == 0 {
            return None;
        }
        all.extend_from_slice(&piece[..read]);
        let Some(end) = all.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let lower = head.to_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length = length.map_or(0, |text| text.trim().parse().unwrap());
        if all.len() >= end + 4 + length {
            let line = head.lines().next().unwrap_or_default().to_owned();
            return Some(Asked { line, head: lower, body: all[end + 4..].to_vec() });
        }
    }
}
