//! The binary as people run it: it serves, it works, and a chat leaves a memory that points at the
//! turn it came from.

use std::process::Stdio;
use std::time::Duration;

use lukasa_models::scripted::ChatServer;
use lukasa_models::scripted::chat_server::Reply;
use lukasa_store::testing::TestDatabase;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::app::{Client, TestApp, canary};
use crate::models::{answer, found};

/// A model's service, and how `--chat` names it.
async fn model() -> (ChatServer, String) {
    let service = ChatServer::start(|asked| {
        Reply::Text(match asked["response_format"]["json_schema"]["name"].as_str() {
            Some("memories") => answer(&[found("User lives in Lisbon.", "I live in Lisbon")]),
            _ => json!({ "title": "Moving house" }).to_string(),
        })
    })
    .await;
    let chat = format!("scripted@{}", service.url());
    (service, chat)
}

fn lukasa(database: &TestDatabase, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(arguments).env("DATABASE_URL", database.url()).kill_on_drop(true);
    command
}

/// A server in a process of its own, for the person whose machine it is, that logs all it can.
pub struct Served {
    process: Child,
    log: JoinHandle<String>,
    pub client: Client,
}

impl Served {
    pub async fn start(app: &TestApp, more: &[&str]) -> Self {
        let log = "trace,tokio_postgres::query=trace";
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--log", log], more].concat();
        let mut command = lukasa(&app.database, &arguments);
        let mut process = command.stderr(Stdio::piped()).spawn().expect("lukasa runs");
        let mut lines = BufReader::new(process.stderr.take().expect("a log")).lines();
        let mut text = String::new();
        let limit = Duration::from_secs(20);
        let address = loop {
            let line = tokio::time::timeout(limit, lines.next_line()).await.unwrap().unwrap();
            let line = line.expect("it says where it listens before it ends");
            if let Some((_, rest)) = line.split_once("address=") {
                break rest.split_whitespace().next().unwrap().to_owned();
            }
            text.push_str(&line);
        };
        let log = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                text.push_str(&line);
                text.push('\n');
            }
            text
        });
        Self { process, log, client: app.anonymous().at(&format!("http://{address}")) }
    }

    /// Asks it to stop, as whoever looks after services would, and waits until it has.
    pub async fn stop(mut self) -> String {
        let pid = self.process.id().expect("it runs").to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill runs");
        assert!(asked.success());
        assert!(self.process.wait().await.expect("it ends").success());
        self.log.await.unwrap()
    }

    /// Ends it, and gives everything that it has logged.
    pub async fn end(mut self) -> String {
        self.process.kill().await.unwrap();
        self.log.await.unwrap()
    }
}

/// Says something turn by turn and closes the chat; the id of the turn that says where.
async fn talk(client: &Client, word: &str) -> String {
    let say = async |role: &str, content: &str| {
        let turns = json!({ "turns": [{ "role": role, "content": content }] });
        let said = client.post("/api/sessions/c/turns", turns).await.expect(201);
        said.at("/turn_ids/0")
    };
    say("user", "Good morning.").await;
    let turn = say("user", &format!("I live in Lisbon, near {word}.")).await;
    say("assistant", "How nice.").await;
    let closed = client.post("/api/sessions/c/close", json!({ "dirty": true })).await.expect(200);
    assert_eq!(closed.json()["learning"], true);
    turn
}

/// The one memory there is, once it is there.
async fn learned(client: &Client) -> Value {
    for _ in 0..600 {
        let list = client.get("/api/memory").await.expect(200).json();
        if let Some(memory) = list["data"].get(0) {
            return memory.clone();
        }
        // Nothing announces that a worker is done; one has to look.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing was learned: {}", client.get("/api/jobs").await.text());
}

#[tokio::test]
async fn a_served_chat_leaves_a_memory_that_leads_back_to_its_turn() {
    let (service, chat) = model().await;
    let app = TestApp::local().await;
    let flags = ["--embedder", "off", "--workers", "1", "--chat", &chat];
    let served = Served::start(&app, &flags).await;
    let word = canary("binary");
    let turn = talk(&served.client, &word).await;
    let memory = learned(&served.client).await;
    assert_eq!(memory["content"], "User lives in Lisbon.");
    assert_eq!((&memory["session_id"], &memory["turn_ids"]), (&json!("c"), &json!([turn])));
    let turns = served.client.get("/api/sessions/c/turns").await.expect(200).json();
    let source = turns["data"].as_array().unwrap().iter().find(|said| said["id"] == json!(turn));
    assert!(source.unwrap()["content"].as_str().unwrap().contains("I live in Lisbon"));
    assert!((1..=2).contains(&service.asked()), "about memories once, and perhaps for a title");
    let log = served.end().await;
    assert!(log.contains("/api/sessions/{session_id}/close"), "the log is there");
    for content in [word.as_str(), "Lisbon"] {
        assert!(!log.contains(content), "the log holds what was said");
    }
}

#[tokio::test]
async fn a_worker_beside_the_server_does_what_the_server_queued() {
    let (_service, chat) = model().await;
    let app = TestApp::local().await;
    let models = ["--embedder", "off", "--chat", &chat];
    let served = Served::start(&app, &[&models[..], &["--workers", "0"]].concat()).await;
    let turn = talk(&served.client, "the river").await;
    let work = async || {
        let arguments = [&["work", "--once", "--json"], &models[..]].concat();
        let output = lukasa(&app.database, &arguments).output().await;
        let output = output.expect("lukasa runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    assert!(served.client.get("/api/memory").await.expect(200).each("id").is_empty());
    assert_eq!(work().await, json!({ "done": 2, "put_off": 0, "given_up": 0 }));
    assert_eq!(learned(&served.client).await["turn_ids"], json!([turn]));
    assert_eq!(served.client.get("/api/sessions/c").await.at("/title"), "Moving house");
    assert_eq!(work().await, json!({ "done": 0, "put_off": 0, "given_up": 0 }));
}
