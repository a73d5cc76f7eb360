//! A webhook receiver: it checks the signature with the Standard Webhooks library, and answers as
//! scripted.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::task::JoinHandle;

use crate::app::{Answer, Client, serve};

/// One received webhook request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub headers: HeaderMap,
    pub bytes: Bytes,
    pub id: String,
    pub body: Value,
}

type Answers = dyn Fn(&ReceivedRequest) -> u16 + Send + Sync;

struct Inner {
    requests: Mutex<Vec<ReceivedRequest>>,
    answers: Mutex<Box<Answers>>,
}

pub struct Receiver {
    pub url: String,
    inner: Arc<Inner>,
    server: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Receiver {
    pub async fn start() -> Self {
        let requests = Mutex::new(Vec::new());
        let inner = Arc::new(Inner { requests, answers: Mutex::new(Box::new(|_| 204)) });
        let router = axum::Router::new()
            .route("/hook", axum::routing::post(receive))
            .with_state(inner.clone());
        let (base, server) = serve(router).await;
        Self { url: format!("{base}/hook"), inner, server }
    }

    /// Sets the status of future responses.
    pub fn answers(&self, with: impl Fn(&ReceivedRequest) -> u16 + Send + Sync + 'static) {
        *self.inner.answers.lock().unwrap() = Box::new(with);
    }

    /// Every request received so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.inner.requests.lock().unwrap().clone()
    }

    /// The ids of every request received so far.
    pub fn ids(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.id).collect()
    }

    /// Removes and returns the ids received since the last call.
    pub fn take(&self) -> Vec<String> {
        let requests = std::mem::take(&mut *self.inner.requests.lock().unwrap());
        requests.into_iter().map(|request| request.id).collect()
    }

    /// Creates a webhook for this receiver.
    pub async fn hook(&self, admin: &Client, verbs: &[&str]) -> Answer {
        let body = serde_json::json!({ "url": self.url, "verbs": verbs });
        admin.post("/api/webhooks", body).await.expect(201)
    }
}

async fn receive(State(inner): State<Arc<Inner>>, headers: HeaderMap, bytes: Bytes) -> Response {
    let id = headers["webhook-id"].to_str().unwrap().to_owned();
    let body = serde_json::from_slice(&bytes).unwrap();
    let request = ReceivedRequest { headers, bytes, id, body };
    let status = (inner.answers.lock().unwrap())(&request);
    inner.requests.lock().unwrap().push(request);
    let status = StatusCode::from_u16(status).unwrap();
    if status.is_redirection() {
        return (status, [("location", "/hook")]).into_response();
    }
    status.into_response()
}

impl ReceivedRequest {
    /// Whether it was signed with this secret, by the standard's own library. With the clock of a
    /// test it may be from the future, which `verify` refuses.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let hook = Webhook::new(secret).unwrap();
        let seconds = self.headers["webhook-timestamp"].to_str().unwrap().parse().unwrap();
        let signature = hook.sign(&self.id, seconds, &self.bytes).unwrap();
        self.headers["webhook-signature"] == signature.as_str()
    }

    /// The same, and it was sent just now.
    pub fn is_verified_with(&self, secret: &str) -> bool {
        Webhook::new(secret).unwrap().verify(&self.bytes, &self.headers).is_ok()
    }
}
