//! Test fixture: a server with a scripted upstream service behind its gateway, and a database
//! connection that can be cut and restored.

use std::sync::Arc;
use std::time::Duration;

use lukasa_engine::{ConnectOptions, Engine};
use lukasa_models::scripted::server::{ConnectionStep, RequestRecord, ScriptedServer, head};
use lukasa_server::api::{App, AuthMode};
use lukasa_server::clock::{self, ServerClock};
use lukasa_server::gateway::{Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::app::{Answer, Client, TestApp, serve};
use crate::models::TestModels;

pub const SERVER_KEY: &str = "sk-the-servers-own";

pub struct TestGateway {
    /// The server without a gateway, over the same database: for creating keys and for checks.
    pub app: TestApp,
    pub service: ScriptedServer,
    pub line: Line,
    /// The clock of the server with the gateway.
    pub clock: ServerClock,
    base: String,
    engine: Engine,
    server: JoinHandle<()>,
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        self.server.abort();
        self.engine.close();
    }
}

impl TestGateway {
    pub async fn open<S: Into<Vec<ConnectionStep>>>(
        auth: AuthMode,
        script: impl Fn(usize, &RequestRecord) -> S + Send + Sync + 'static,
    ) -> Self {
        Self::with_memory_deadline(Duration::from_secs(10), auth, script).await
    }

    /// Starts one whose gateway waits this long for a memory.
    pub async fn with_memory_deadline<S: Into<Vec<ConnectionStep>>>(
        deadline: Duration,
        auth: AuthMode,
        script: impl Fn(usize, &RequestRecord) -> S + Send + Sync + 'static,
    ) -> Self {
        lukasa_text::tokens::warm();
        let service = ScriptedServer::start(script).await;
        let app = TestApp::start(auth, 8, |router| router).await;
        let connect = app.database.connect();
        let line = Line::to(&connect.url).await;
        let connect = ConnectOptions { url: line.url.clone(), ..connect };
        let engine = Engine::connect(&connect).unwrap().with_models(TestModels::with_words());
        engine.embeddings.settle_model(clock::now()).await.unwrap().unwrap();
        let upstream = Upstream::new(&format!("{}/v1", service.base), Some(SERVER_KEY)).unwrap();
        let own = App::new(engine.clone(), auth);
        let clock = own.clock().clone();
        // A busy machine must not look like a slow database; one test sets a shorter deadline.
        let gateway = Gateway::new(own.clone(), Some(upstream)).with_deadline(deadline);
        let (base, server) = serve(router_with(own, gateway)).await;
        Self { app, service, line, clock, base, engine, server }
    }

    /// Another server with the same service behind its gateway, over the same database.
    pub async fn second(&self) -> String {
        let engine = Engine::connect(&self.app.database.connect()).unwrap();
        let engine = engine.with_models(TestModels::with_words());
        engine.embeddings.settle_model(clock::now()).await.unwrap().unwrap();
        let upstream = Upstream::new(&format!("{}/v1", self.service.base), Some(SERVER_KEY));
        let own = App::new(engine, AuthMode::Keys);
        let gateway = Gateway::new(own.clone(), Some(upstream.unwrap()));
        // A busy machine must not look like a slow database.
        let gateway = gateway.with_deadline(Duration::from_secs(3));
        serve(router_with(own, gateway)).await.0
    }

    /// Starts one whose upstream answers every request with the same text.
    pub async fn answering(auth: AuthMode, text: &str) -> Self {
        let text = text.to_owned();
        Self::open(auth, move |_, asked| reply(asked, &text)).await
    }

    /// The same client at the gateway.
    pub fn through(&self, client: &Client) -> Client {
        client.at(&self.base)
    }

    /// A user's assistant with a tenant key: a client at the gateway and one at the plain server.
    pub async fn assistant(&self, user: &str) -> (Client, Client) {
        let direct = self.app.tenant_key("acme").await.about(user);
        (self.through(&direct), direct)
    }

    /// The last request to the upstream.
    pub fn last(&self) -> RequestRecord {
        self.service.asked().pop().expect("the service was asked")
    }

    /// Waits until a session has this many turns; returns them as role and content.
    pub async fn turns(&self, direct: &Client, session: &str, count: usize) -> Vec<String> {
        let mut stored = Vec::new();
        for _ in 0..500 {
            stored = turns(direct, session).await;
            if stored.len() >= count {
                break;
            }
            // Nothing signals that a round was stored, so this polls.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stored
    }
}

pub async fn turns(direct: &Client, session: &str) -> Vec<String> {
    let answer = direct.get(&format!("/api/sessions/{session}/turns?limit=200")).await;
    let json = answer.json();
    let turn = |turn: &Value| {
        format!("{}: {}", turn["role"].as_str().unwrap(), turn["content"].as_str().unwrap())
    };
    json["data"].as_array().into_iter().flatten().map(turn).collect()
}

/// A chat request: user and assistant in turn.
pub fn chat(messages: &[&str]) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle();
    let message = |(role, text): (&str, &&str)| json!({"role": role, "content": text});
    let messages: Vec<Value> = roles.zip(messages).map(message).collect();
    json!({"model": "scripted", "messages": messages})
}

pub async fn say(client: &Client, messages: &[&str]) -> Answer {
    client.post("/v1/chat/completions", chat(messages)).await
}

/// An upstream response in the format that was requested.
pub fn reply(asked: &RequestRecord, text: &str) -> Vec<ConnectionStep> {
    let (kind, body) = body(asked, text);
    let headers =
        format!("content-type: {kind}\r\nx-request-id: yes\r\ncontent-length: {}\r\n", body.len());
    vec![ConnectionStep::Send(head(200, &headers)), ConnectionStep::Send(body)]
}

pub fn body(asked: &RequestRecord, text: &str) -> (&'static str, Vec<u8>) {
    let responses = asked.line.contains("/responses");
    let streamed = asked.json()["stream"] == true;
    let body = match (responses, streamed) {
        (false, false) => {
            // Unusual spaces, to detect a gateway that re-serializes the JSON.
            format!(
                "{{ \"id\":\"c-1\",  \"choices\":[{{\"index\":0,\
                 \"message\":{{\"role\":\"assistant\",\"content\":{}}}}}]}}\n",
                json!(text)
            )
        }
        (false, true) => events(
            text,
            |word| json!({"id": "c-1", "choices": [{"index": 0, "delta": {"content": word}}]}),
        ),
        (true, false) => {
            format!(
                "{{ \"id\":\"resp_1\",  \"output\":[{{\"type\":\"message\",\
                 \"content\":[{{\"type\":\"output_text\",\"text\":{}}}]}}]}}\n",
                json!(text)
            )
        }
        (true, true) => {
            let created = json!({"type": "response.created", "response": {"id": "resp_1"}});
            format!("event: response.created\ndata: {created}\n\n")
                + &events(text, |word| {
                    json!({"type": "response.output_text.delta", "output_index": 0,
                           "content_index": 0, "delta": word})
                })
        }
    };
    let kind = if streamed { "text/event-stream; charset=utf-8" } else { "application/json" };
    (kind, body.into_bytes())
}

fn events(text: &str, of: impl Fn(&str) -> Value) -> String {
    let events = text.split_inclusive(' ').map(|word| format!("data: {}\n\n", of(word)));
    events.chain([": so long\n\ndata: [DONE]\n\n".to_owned()]).collect()
}

/// A TCP proxy to the database that can be cut.
pub struct Line {
    pub url: String,
    up: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Line {
    async fn to(url: &str) -> Self {
        let (scheme, rest) = url.split_once("://").unwrap();
        let (place, name) = rest.split_once('/').unwrap();
        let (user, address) = place.split_once('@').unwrap();
        let target = Arc::new(address.to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap();
        let (up, watching) = watch::channel(true);
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((from, _)) = listener.accept().await {
                let (target, mut watching) = (Arc::clone(&target), watching.clone());
                open.spawn(async move {
                    if !*watching.borrow() {
                        return;
                    }
                    let Ok(to) = TcpStream::connect(target.as_str()).await else { return };
                    let (mut from, mut to) = (from, to);
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut from, &mut to) => {}
                        _ = watching.wait_for(|up| !*up) => {}
                    }
                });
            }
        });
        Self { url: format!("{scheme}://{user}@{own}/{name}"), up, task }
    }

    pub fn cut(&self) {
        self.up.send_replace(false);
    }

    pub fn restore(&self) {
        self.up.send_replace(true);
    }
}
