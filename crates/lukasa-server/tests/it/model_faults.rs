//! Every fault of a chat model in every job that uses one, with the real HTTP client: nothing is
//! half written, other requests do not wait, the call is in the ledger, and once the model works
//! again the job is done exactly once.

use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use lukasa_core::model::{Chat, Embedder, ModelError, Models, Reranker};
use lukasa_core::{JobKind, TenantId, UserId};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_models::remote::{ChatConfig, RemoteChat};
use lukasa_models::scripted::chat_server::{ScriptedReply, ServiceFault};
use lukasa_models::scripted::{ChatServer, ScriptedChat};
use lukasa_server::clock;
use lukasa_server::workers::Workers;
use lukasa_store::testing::postgres::Client as Admin;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::{TestModels, answer, proposed_memory};

/// Oddities of a service that are not a fault: the content is there and is read.
const HARMLESS: [ServiceFault; 2] = [ServiceFault::ExtraFields, ServiceFault::MarkdownFence];

/// A chat model that can be replaced by a new client of the same service, as after a restart: the
/// client's circuit breaker is not under test here.
struct ReplaceableChat(Mutex<Arc<dyn Chat>>);

impl Models for ReplaceableChat {
    fn preferred(&self) -> Option<String> {
        None
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        Err(ModelError::Missing(name.to_owned()))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        None
    }

    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        vec![self.0.lock().unwrap().clone()]
    }
}

/// A server, its scripted chat service, and the current fault of that service.
struct FaultFixture {
    app: TestApp,
    service: ChatServer,
    fault: Arc<Mutex<Option<ServiceFault>>>,
    models: Arc<ReplaceableChat>,
    admin: Admin,
}

fn right(asked: &Value) -> String {
    match asked["response_format"]["json_schema"]["name"].as_str() {
        Some("memories") => answer(&[proposed_memory("User lives in Lisbon.", "I live in Lisbon")]),
        Some("title") => r#"{"title": "Moving to Lisbon"}"#.to_owned(),
        _ => r#"{"summary": "The user talked for a long time."}"#.to_owned(),
    }
}

fn client_of(service: &ChatServer) -> Arc<dyn Chat> {
    Arc::new(RemoteChat::new(ChatConfig::new(service.url(), "scripted")).unwrap())
}

impl FaultFixture {
    async fn open() -> Self {
        lukasa_text::tokens::warm();
        lukasa_models::tls::install();
        let fault: Arc<Mutex<Option<ServiceFault>>> = Arc::default();
        let today = fault.clone();
        let service = ChatServer::start(move |asked| match *today.lock().unwrap() {
            Some(fault) => ScriptedReply::Faulty(fault, right(asked)),
            None => ScriptedReply::Text(right(asked)),
        })
        .await;
        let models = Arc::new(ReplaceableChat(Mutex::new(client_of(&service))));
        let app = TestApp::with_models(models.clone()).await;
        let admin = app.database.admin().await;
        Self { app, service, fault, models, admin }
    }

    fn set(&self, fault: Option<ServiceFault>) {
        *self.fault.lock().unwrap() = fault;
        *self.models.0.lock().unwrap() = client_of(&self.service);
    }

    /// Every row of a user that a job may write, except its own bookkeeping and turns appended
    /// meanwhile.
    async fn rows(&self, user: &str) -> Vec<(String, String)> {
        const TABLES: [&str; 10] = [
            "fact",
            "fact_version",
            "link",
            "operation",
            "idempotency",
            "tombstone",
            "episode",
            "pass",
            "turn",
            "session",
        ];
        let id = UserId::named(TenantId::named("acme"), user).uuid();
        let mut rows = Vec::new();
        for table in TABLES {
            let sql = format!(
                "select to_jsonb(t)::text from {table} t where user_id = $1 \
                    and (to_jsonb(t) ->> 'session_id') is distinct from 'meanwhile' order by 1"
            );
            let found = self.admin.query(&sql, &[&id]).await.unwrap();
            rows.extend(found.iter().map(|row| (table.to_owned(), row.get(0))));
        }
        rows
    }

    /// The ledger's calls for a user.
    async fn calls(&self, user: &str) -> Vec<(String, String)> {
        let id = UserId::named(TenantId::named("acme"), user).uuid();
        let sql = "select purpose, outcome from model_call where user_id = $1 order by at, call_id";
        let rows = self.admin.query(sql, &[&id]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }
}

/// Tables written to between two readings; `(gone)` if a row was changed.
fn written<'r>(before: &[(String, String)], after: &'r [(String, String)]) -> Vec<&'r str> {
    let new = after.iter().filter(|row| !before.contains(row));
    let mut tables: Vec<&str> = new.map(|(table, _)| table.as_str()).collect();
    if before.iter().any(|row| !after.contains(row)) {
        tables.push("(gone)");
    }
    tables
}

/// Talks until a job of this kind is queued.
async fn queue_job(client: &Client, site: JobKind) {
    client.save("Likes tea").await;
    let turn = |role: &str, content: &str| json!({ "role": role, "content": content });
    let turns = match site {
        JobKind::Extract => vec![turn("user", "I live in Lisbon.")],
        JobKind::Title => vec![turn("user", "I am moving."), turn("assistant", "Where to?")],
        _ => vec![turn("user", &"We talked about the garden. ".repeat(8)); 10],
    };
    client.post("/api/sessions/c/turns", json!({ "turns": turns })).await.expect(201);
    match site {
        JobKind::Extract => {
            client.post("/api/sessions/c/close", json!({})).await.expect(200);
        }
        JobKind::Title => {}
        _ => {
            let cut = client.get("/api/sessions/c/window?budget=500&threshold=0.5").await;
            assert!(!cut.expect(200).at("/banner").is_empty());
        }
    }
    let waiting = client.get("/api/jobs").await.expect(200).each("kind");
    assert!(waiting.contains(&site.as_str().to_owned()), "{waiting:?}");
}

/// Requests of the user while a model call is running.
async fn use_server(client: &Client) {
    assert_eq!(client.get("/api/memory").await.expect(200).each("content"), ["Likes tea"]);
    let ask = json!({ "query": "What do I like?", "session_id": "c" });
    let mut context = client.post("/api/memory/retrieve", ask.clone()).await.expect(200);
    // On a busy machine the first response can miss its deadline and then reports that.
    if context.json()["degraded"].as_array().is_some_and(|parts| !parts.is_empty()) {
        context = client.post("/api/memory/retrieve", ask).await.expect(200);
    }
    assert!(context.text().contains("Likes tea"), "{}", context.text());
    client.get("/api/sessions").await.expect(200);
    client.get("/api/sessions/c/turns").await.expect(200);
    let turns = json!({ "turns": [{ "role": "user", "content": "Are you there?" }] });
    client.post("/api/sessions/meanwhile/turns", turns).await.expect(201);
}

/// Asserts that the job's effect is there, once.
async fn done_once(client: &Client, site: JobKind) {
    let session = client.get("/api/sessions/c").await.expect(200);
    match site {
        JobKind::Extract => {
            let learned = client.get("/api/memory?search=Lisbon").await.expect(200);
            assert_eq!(learned.each("content"), ["User lives in Lisbon."]);
            assert_eq!(client.get("/api/episodes").await.each("session_id"), ["c"]);
            assert_eq!(client.get("/api/passes").await.each("session_id"), ["c"]);
        }
        JobKind::Title => assert_eq!(session.at("/title"), "Moving to Lisbon"),
        _ => assert_eq!(session.at("/summary"), "The user talked for a long time."),
    }
}

/// The outcomes without upkeep: when it is due depends on the time of day at which the test runs.
fn without_upkeep(mut worked: Vec<WorkOutcome>) -> Vec<WorkOutcome> {
    worked.retain(|outcome| *outcome != WorkOutcome::Done(JobKind::Upkeep));
    worked
}

async fn try_one(fixture: &FaultFixture, site: JobKind, fault: ServiceFault) {
    let user = format!("{fault:?}");
    let client = fixture.app.tenant_key("acme").await.about(&user);
    queue_job(&client, site).await;
    let (before, asked) = (fixture.rows(&user).await, fixture.service.asked());
    fixture.set(Some(fault));
    let (worked, ()) = tokio::join!(fixture.app.work(), use_server(&client));
    let worked = without_upkeep(worked);
    let after = fixture.rows(&user).await;
    assert_eq!(fixture.service.asked() - asked, 1, "{fault:?}: it was asked, once");
    let calls = fixture.calls(&user).await;
    let purpose = site.as_str();
    assert!(matches!(&calls[..], [(of, _)] if of == purpose), "{fault:?}: {calls:?}");
    if HARMLESS.contains(&fault) {
        assert_eq!(worked, [WorkOutcome::Done(site)], "{fault:?}");
        assert_eq!(calls[0].1, "answered", "{fault:?}");
    } else {
        let [WorkOutcome::PutOff(kind, reason)] = &worked[..] else {
            panic!("{fault:?}: {worked:?}")
        };
        assert_eq!(*kind, site);
        assert!(!reason.contains("Lisbon"), "{fault:?}: {reason}");
        assert_ne!(calls[0].1, "answered", "{fault:?}");
        assert_eq!(written(&before, &after), [""; 0], "{fault:?}: something is half written");
    }
    fixture.set(None);
    let again = fixture.app.work_at(clock::now() + SignedDuration::from_secs(10)).await;
    let again = without_upkeep(again);
    let expected = if HARMLESS.contains(&fault) { vec![] } else { vec![WorkOutcome::Done(site)] };
    assert_eq!(again, expected, "{fault:?}, once it works again");
    done_once(&client, site).await;
    let calls = fixture.calls(&user).await;
    let answered = calls.iter().filter(|(_, outcome)| outcome == "answered").count();
    assert_eq!((calls.len(), answered), (1 + expected.len(), 1), "{fault:?}");
    let later = fixture.app.work_at(clock::now() + SignedDuration::from_mins(5)).await;
    assert_eq!(without_upkeep(later), [], "{fault:?}: it was done once");
}

async fn try_all(site: JobKind) {
    let fixture = FaultFixture::open().await;
    for fault in ServiceFault::ALL {
        try_one(&fixture, site, fault).await;
    }
}

#[tokio::test]
async fn learning_is_deferred_on_model_faults_and_then_done_once() {
    try_all(JobKind::Extract).await;
}

#[tokio::test]
async fn title_job_is_deferred_on_model_faults_and_then_done_once() {
    try_all(JobKind::Title).await;
}

#[tokio::test]
async fn summary_job_is_deferred_on_model_faults_and_then_done_once() {
    try_all(JobKind::Compress).await;
}

#[tokio::test]
async fn row_comparison_detects_writes() {
    let fixture = FaultFixture::open().await;
    fixture.app.database.leave_unchecked();
    let client = fixture.app.tenant_key("acme").await.about("u");
    queue_job(&client, JobKind::Extract).await;
    let before = fixture.rows("u").await;
    use_server(&client).await;
    assert_eq!(
        written(&before, &fixture.rows("u").await),
        [""; 0],
        "requests of the user are not writes of a job"
    );
    fixture.app.work().await;
    let after = fixture.rows("u").await;
    let tables = written(&before, &after);
    for table in ["fact", "fact_version", "operation", "episode", "pass", "session"] {
        assert!(tables.contains(&table), "{table} is not among {tables:?}");
    }
    for (sql, table) in [
        (
            "insert into turn select * from jsonb_populate_record(null::turn, (select to_jsonb(t) \
            || jsonb_build_object('turn_id', gen_random_uuid(), 'number', 99) from turn t \
            where session_id = 'c'))",
            "turn",
        ),
        ("delete from episode", "(gone)"),
    ] {
        fixture.admin.batch_execute(sql).await.unwrap();
        assert!(written(&after, &fixture.rows("u").await).contains(&table), "{table}");
    }
}

#[tokio::test]
async fn panicking_job_does_not_stop_its_worker() {
    let chat = ScriptedChat::saying(|ask| {
        let message = &ask.messages[1].content;
        assert!(!message.contains("boom"), "the panic that this test wants");
        answer(&[proposed_memory("User lives in Lisbon.", "I live in Lisbon")])
    });
    let app = TestApp::with_models(TestModels::that_chats(Arc::new(chat))).await;
    let acme = app.tenant_key("acme").await;
    for (user, words) in [("alice", "boom"), ("bob", "I live in Lisbon.")] {
        let turns = json!({ "turns": [{ "role": "user", "content": words }] });
        acme.about(user).post("/api/sessions/c/turns", turns).await.expect(201);
        acme.about(user).post("/api/sessions/c/close", json!({})).await.expect(200);
    }
    let workers = Workers::start(&app.engine, &app.clock, 1);
    let bob = acme.about("bob");
    let mut learned = Vec::new();
    for _ in 0..200 {
        learned = bob.get("/api/memory").await.expect(200).each("content");
        if !learned.is_empty() {
            break;
        }
        // Nothing signals that a worker is done, so this polls.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(learned, ["User lives in Lisbon."]);
    let jobs = acme.about("alice").get("/api/jobs").await.expect(200);
    assert!(jobs.each("state").contains(&"running".into()), "its lease runs out: {}", jobs.text());
    workers.stop(std::time::Duration::from_secs(5)).await;
}
