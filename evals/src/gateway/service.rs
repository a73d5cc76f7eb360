//! The scripted upstream: it gives the same answer to every request at once, and records the
//! requests. Next to it a plain reverse proxy, against which the gateway is measured.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The text of every answer.
pub const TEXT: &str = "You mentioned that you like it quiet, so a table by the window, away from \
    the kitchen and booked for seven, would be my first choice \u{1f9f6}. [m1]";

/// The bytes of the answer, in chunks. Re-serialized JSON would look different.
pub fn pieces(streamed: bool) -> Vec<Bytes> {
    if !streamed {
        let text = json!(TEXT);
        let body = format!(
            "{{ \"id\":\"c-1\",\"choices\" : [{{\"index\":0,\
             \"message\":{{\"role\":\"assistant\",\"content\":{text}}}}}],\n\
             \"usage\":{{\"total_tokens\":1.50e2}}}}"
        );
        return vec![body.into()];
    }
    let event = |word: &str| {
        let delta = json!({"content": word});
        Bytes::from(format!(
            "data: {{\"id\":\"c-1\", \"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n"
        ))
    };
    let done = Bytes::from_static(b": the end\n\ndata: [DONE]\n\n");
    TEXT.split_inclusive(' ').map(event).chain([done]).collect()
}

pub struct Service {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    pub async fn start() -> Result<Self> {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&asked));
        let (address, task) = serve(router, "127.0.0.1:0").await?;
        Ok(Self { url: format!("http://{address}/v1"), asked, task })
    }

    /// The requests since the last call of this.
    pub fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn answer(State(asked): State<Arc<Mutex<Vec<Value>>>>, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let streamed = body["stream"] == true;
    asked.lock().unwrap_or_else(PoisonError::into_inner).push(body);
    let kind = if streamed { "text/event-stream" } else { "application/json" };
    let pieces = pieces(streamed).into_iter().map(Ok::<_, std::io::Error>);
    ([("content-type", kind)], Body::from_stream(stream::iter(pieces))).into_response()
}

/// Target of the proxy, and whether to re-serialize what passes: a fault that must be noticed.
#[derive(Clone)]
struct Proxy {
    to: String,
    client: reqwest::Client,
    spoils: bool,
}

/// A reverse proxy on the same stack as the gateway, and nothing more.
pub async fn proxy(to: &str, listen: &str, spoils: bool) -> Result<(SocketAddr, JoinHandle<()>)> {
    let client = lukasa_models::tls::client(to).pool_max_idle_per_host(256).build()?;
    let state = Proxy { to: to.to_owned(), client, spoils };
    serve(Router::new().fallback(pass).with_state(state), listen).await
}

async fn pass(State(proxy): State<Proxy>, request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let url = format!("{}{}", proxy.to, path.trim_start_matches("/v1"));
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, 64 << 20).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut headers = parts.headers;
    for name in ["host", "content-length", "connection"] {
        headers.remove(name);
    }
    let asked = proxy.client.request(parts.method, url).headers(headers).body(body);
    let Ok(answer) = asked.send().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    headers.remove("transfer-encoding");
    let spoils = proxy.spoils;
    let pieces = stream::try_unfold(answer, move |mut answer| async move {
        let piece = answer.chunk().await?;
        let piece = piece.map(|piece| if spoils { spoilt(&piece) } else { piece });
        Ok::<_, reqwest::Error>(piece.map(|piece| (piece, answer)))
    });
    (status, headers, Body::from_stream(pieces)).into_response()
}

/// An event after parsing and printing it again.
fn spoilt(piece: &Bytes) -> Bytes {
    let text = String::from_utf8_lossy(piece);
    let data = text.trim_start_matches("data: ").trim_end();
    match serde_json::from_str::<Value>(data) {
        Ok(value) => format!("data: {value}\n\n").into(),
        Err(_) => piece.clone(),
    }
}

async fn serve(router: Router, listen: &str) -> Result<(SocketAddr, JoinHandle<()>)> {
    use axum::serve::ListenerExt as _;
    let listener = TcpListener::bind(listen).await.context("no port")?;
    let address = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let task = tokio::spawn(async move {
        // It ends with its task; the result is of no interest.
        let _ = axum::serve(listener, router).await;
    });
    Ok((address, task))
}
