//! The whole learning pipeline against a service that applies OpenAI's published rules, and the
//! doctor's check of a chat model.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::{AnswerSchema, Chat, ChatRequest, Message};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_models::remote::{ChatConfig, RemoteChat};
use lukasa_models::scripted::server::{ScriptedResponse, ScriptedServer};
use lukasa_server::clock;
use lukasa_store::testing::TestDatabase;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::models::{TestModels, answer, proposed_memory};

/// The process of `checks/strict_openai.py`, which writes a line per request.
struct StrictService {
    process: Child,
    folder: tempfile::TempDir,
    url: String,
}

impl Drop for StrictService {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl StrictService {
    /// Starts the service with an answer that has one memory. `None` if the test should skip.
    fn start(reasoning: bool) -> Option<Self> {
        let script = crate::required_data::folder("LUKASA_SHARED")?.join("checks/strict_openai.py");
        assert!(script.exists(), "LUKASA_SHARED has no checks/strict_openai.py");
        let folder = tempfile::tempdir().unwrap();
        let memory = proposed_memory("User lives in Lisbon.", "I live in Lisbon");
        std::fs::write(folder.path().join("answer"), answer(&[memory])).unwrap();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        // The port was free a moment ago.
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new("python3");
        command.arg(script).arg(port.to_string());
        command.arg("--answer").arg(folder.path().join("answer"));
        if reasoning {
            command.arg("--reasoning");
        }
        let process = command.stdin(Stdio::null()).stdout(log).spawn().expect("python3 runs");
        let url = format!("http://127.0.0.1:{port}/v1");
        // Dropping it ends the process, also if it never listens.
        let service = Self { process, folder, url };
        for _ in 0..600 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Some(service);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("strict_openai.py does not listen");
    }

    /// The lines of its log since the start: `200`, or `400` and the message.
    fn log(&self) -> Vec<String> {
        let path: PathBuf = self.folder.path().join("log");
        std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
    }

    fn refusals(&self) -> Vec<String> {
        self.log().into_iter().filter(|line| !line.starts_with("200")).collect()
    }

    fn client(&self, model: &str) -> Arc<dyn Chat> {
        lukasa_models::tls::install();
        Arc::new(RemoteChat::new(ChatConfig::new(&self.url, model)).unwrap())
    }
}

/// Talks, closes the conversation and learns from it; returns the number of the service's answers.
async fn learn(service: &StrictService, model: &str) -> usize {
    lukasa_text::tokens::warm();
    let app = TestApp::with_models(TestModels::that_chats(service.client(model))).await;
    let engine = app.engine.clone().with_chat_timeout(Duration::from_secs(30));
    for user in ["alice", "bob"] {
        let client = app.tenant_key("acme").await.about(user);
        let turns = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." },
            { "role": "assistant", "content": "A fine city." }] });
        client.post("/api/sessions/c/turns", turns).await.expect(201);
        client.post("/api/sessions/c/close", json!({})).await.expect(200);
        loop {
            match engine.jobs.work("w", clock::moment()).await.unwrap() {
                WorkOutcome::Nothing => break,
                worked => assert!(matches!(worked, WorkOutcome::Done(_)), "{worked:?}"),
            }
        }
        let learned = client.get("/api/memory").await.expect(200);
        assert_eq!(learned.each("content"), ["User lives in Lisbon."], "{model}, {user}");
    }
    service.log().len()
}

#[tokio::test]
async fn learning_works_with_openai_rules_at_the_first_request() {
    for (reasoning, models) in [(false, ["gpt-4o-mini", "gpt-5"]), (true, ["gpt-5-mini", "o3"])] {
        let Some(service) = StrictService::start(reasoning) else { return };
        for model in models {
            assert!(learn(&service, model).await >= 2);
            assert_eq!(service.refusals(), [""; 0], "{model}");
        }
    }
}

#[tokio::test]
async fn learning_finds_the_form_for_unknown_models_once() {
    for (reasoning, expected) in [(false, 0), (true, 2)] {
        let Some(service) = StrictService::start(reasoning) else { return };
        learn(&service, "house-model").await;
        assert_eq!(service.refusals().len(), expected, "{:?}", service.refusals());
    }
}

#[tokio::test]
async fn planted_optional_key_is_refused_by_openai_rules() {
    let Some(service) = StrictService::start(false) else { return };
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["a"],
        "properties": {"a": {"type": "string"}, "note": {"type": "string"}}});
    assert_eq!(lukasa_core::strict_schema::strict_faults(&schema).len(), 1);
    let ask = ChatRequest {
        messages: vec![Message::user("Hello")],
        schema: Some(AnswerSchema { name: "planted", schema }),
        max_tokens: 9,
        within: Duration::from_secs(30),
    };
    service.client("gpt-4o").answer(&ask, None).await.unwrap();
    let log = service.log();
    assert!(log[0].contains("'required' is required to include"), "{log:?}");
    assert_eq!(log.len(), 2, "the next form is accepted: {log:?}");
}

/// The doctor's check of this chat model.
async fn doctor(database: &TestDatabase, setting: &str, more: &[&str]) -> Value {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["doctor", "--json", "--chat", setting]).args(more);
    command.env("DATABASE_URL", database.url()).kill_on_drop(true);
    let output = command.output().await.expect("lukasa runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let all = report["checks"].as_array().unwrap().clone();
    all.into_iter().find(|check| check["check"] == "chat model").expect("a check of the model")
}

#[tokio::test]
async fn doctor_sends_the_request_for_learning_and_reports_the_form() {
    let database = TestDatabase::fresh().await;
    let Some(service) = StrictService::start(true) else { return };
    let check = doctor(&database, &format!("house-model@{}", service.url), &[]).await;
    assert_eq!(check["result"], "ok", "{check}");
    let found = check["found"].as_str().unwrap();
    assert!(found.contains("JSON schema, max_completion_tokens, no temperature"), "{found}");
    assert!(found.starts_with("house-model: ") && found.ends_with(" s"), "{found}");
}

#[tokio::test]
async fn doctor_reports_the_message_of_the_service() {
    let database = TestDatabase::fresh().await;
    let server = ScriptedServer::start(|_, _| {
        let error = json!({"error": {"message": "Incorrect API key provided: sk-wro***", "code":
            "invalid_api_key"}});
        ScriptedResponse::status(401).with_body(&error.to_string())
    })
    .await;
    let setting = format!("gpt-5@{}/v1", server.base);
    let check = doctor(&database, &setting, &["--chat-key", "sk-wrong"]).await;
    assert_eq!(check["result"], "warning", "{check}");
    let found = check["found"].as_str().unwrap();
    for words in ["401", "invalid_api_key", "Incorrect API key provided", "LUKASA_CHAT_KEY"] {
        assert!(found.contains(words), "{found}");
    }
    assert!(!found.contains("sk-wro"), "{found}");
    let asked = server.asked()[0].json();
    assert_eq!(asked["response_format"]["json_schema"]["name"], "memories");
    assert!(
        asked["messages"][1]["content"].as_str().unwrap().contains("New turns, to learn from:")
    );

    let server = ScriptedServer::start(|_, _| {
        ScriptedResponse::json(&json!({"choices": [{"message": {"content": "ok"}}]}))
    })
    .await;
    let check = doctor(&database, &format!("gpt-5@{}/v1", server.base), &[]).await;
    assert_eq!(check["result"], "warning", "a model without a usable answer: {check}");
}
