//! A receiver of webhooks, as somebody would write one: it checks the signature with the library of the
//! standard, and answers as it is told to.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::task::JoinHandle;

use crate::app::{Answer, Client, serve};

/// One letter, as it came.
#[derive(Debug, Clone)]
pub struct Letter {
    pub headers: HeaderMap,
    pub bytes: Bytes,
    pub id: String,
    pub body: Value,
}

type Answers = dyn Fn(&Letter) -> u16 + Send + Sync;

struct Inner {
    letters: Mutex<Vec<Letter>>,
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
        let letters = Mutex::new(Vec::new());
        let inner = Arc::new(Inner { letters, answers: Mutex::new(Box::new(|_| 204)) });
        let router = axum::Router::new()
            .route("/hook", axum::routing::post(receive))
            .with_state(inner.clone());
        let (base, server) = serve(router).await;
        Self { url: format!("{base}/hook"), inner, server }
    }

    /// From now on it answers like this.
    pub fn answers(&self, with: impl Fn(&Letter) -> u16 + Send + Sync + 'static) {
        *self.inner.answers.lock().unwrap() = Box::new(with);
    }

    /// Everything that has come so far.
    pub fn letters(&self) -> Vec<Letter> {
        self.inner.letters.lock().unwrap().clone()
    }

    /// The ids of everything that has come so far.
    pub fn ids(&self) -> Vec<String> {
        self.letters().into_iter().map(|letter| letter.id).collect()
    }

    /// What has come since it was last asked this.
    pub fn take(&self) -> Vec<String> {
        let letters = std::mem::take(&mut *self.inner.letters.lock().unwrap());
        letters.into_iter().map(|letter| letter.id).collect()
    }

    /// Has an administrator set up a webhook that leads here.
    pub async fn hook(&self, admin: &Client, verbs: &[&str]) -> Answer {
        let body = serde_json::json!({ "url": self.url, "verbs": verbs });
        admin.post("/api/webhooks", body).await.expect(201)
    }
}

async fn receive(State(inner): State<Arc<Inner>>, headers: HeaderMap, bytes: Bytes) -> Response {
    let id = headers["webhook-id"].to_str().unwrap().to_owned();
    let body = serde_json::from_slice(&bytes).unwrap();
    let letter = Letter { headers, bytes, id, body };
    let status = (inner.answers.lock().unwrap())(&letter);
    inner.letters.lock().unwrap().push(letter);
    let status = StatusCode::from_u16(status).unwrap();
    if status.is_redirection() {
        return (status, [("location", "/hook")]).into_response();
    }
    status.into_response()
}

impl Letter {
    /// Whether it was signed with this secret, by the standard's own library. With the clock of a test
    /// it may be from the future, which `verify` refuses.
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
