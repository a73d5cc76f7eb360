//! The binary as deployed: it serves, runs jobs, and a session produces a memory that cites its
//! turn.

use std::process::Stdio;
use std::time::Duration;

use lukasa_models::scripted::ChatServer;
use lukasa_models::scripted::chat_server::ScriptedReply;
use lukasa_store::testing::TestDatabase;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::app::{Client, TestApp, canary};
use crate::models::{answer, proposed_memory};

/// A scripted chat service, and the value of `--chat` for it.
async fn model() -> (ChatServer, String) {
    let service = ChatServer::start(|asked| {
        ScriptedReply::Text(match asked["response_format"]["json_schema"]["name"].as_str() {
            Some("memories") => {
                answer(&[proposed_memory("User lives in Lisbon.", "I live in Lisbon")])
            }
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

/// A server process in local mode, with the most verbose log.
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

    /// Stops it with SIGTERM, as a service manager does, and waits for its exit.
    pub async fn stop(mut self) -> String {
        let pid = self.process.id().expect("it runs").to_string();
        let asked = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill runs");
        assert!(asked.success());
        assert!(self.process.wait().await.expect("it ends").success());
        self.log.await.unwrap()
    }

    /// Kills it; returns its log.
    pub async fn end(mut self) -> String {
        self.process.kill().await.unwrap();
        self.log.await.unwrap()
    }
}

/// Talks turn by turn and closes the session; returns the id of the turn that names the city.
async fn talk(client: &Client, word: &str) -> String {
    let say = async |role: &str, content: &str| {
        let turns = json!({ "turns": [{ "role": role, "content": content }] });
        let saved_turn = client.post("/api/sessions/c/turns", turns).await.expect(201);
        saved_turn.at("/turn_ids/0")
    };
    say("user", "Good morning.").await;
    let turn = say("user", &format!("I live in Lisbon, near {word}.")).await;
    say("assistant", "How nice.").await;
    let closed =
        client.post("/api/sessions/c/close", json!({ "has_new_turns": true })).await.expect(200);
    assert_eq!(closed.json()["learning"], true);
    turn
}

/// Waits for the one memory.
async fn learned(client: &Client) -> Value {
    for _ in 0..600 {
        let list = client.get("/api/memory").await.expect(200).json();
        if let Some(memory) = list["data"].get(0) {
            return memory.clone();
        }
        // Nothing signals that a worker is done, so this polls.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing was learned: {}", client.get("/api/jobs").await.text());
}

#[tokio::test]
async fn served_session_produces_a_memory_that_cites_its_turn() {
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
    let source =
        turns["data"].as_array().unwrap().iter().find(|saved_turn| saved_turn["id"] == json!(turn));
    assert!(source.unwrap()["content"].as_str().unwrap().contains("I live in Lisbon"));
    assert!((1..=2).contains(&service.asked()), "about memories once, and perhaps for a title");
    let log = served.end().await;
    assert!(log.contains("/api/sessions/{session_id}/close"), "the log is there");
    for content in [word.as_str(), "Lisbon"] {
        assert!(!log.contains(content), "the log contains turn content");
    }
}

#[tokio::test]
async fn separate_worker_runs_jobs_queued_by_the_server() {
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
