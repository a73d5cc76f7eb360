//! Everything that can be wrong with a chat model, at every place where one is asked, against the
//! client that asks real ones: nothing is half written, nobody else waits, the call is in the ledger,
//! and once the model is well again the work is done exactly once.

use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use lukasa_core::model::{Chat, Embedder, ModelError, Models, Reranker};
use lukasa_core::{JobKind, TenantId, UserId};
use lukasa_engine::jobs::Worked;
use lukasa_models::remote::{ChatConfig, RemoteChat};
use lukasa_models::scripted::chat_server::{Fault, Reply};
use lukasa_models::scripted::{ChatServer, ScriptedChat};
use lukasa_server::clock;
use lukasa_server::workers::Workers;
use lukasa_store::testing::postgres::Client as Admin;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::{Stage, answer, found};

/// What of a service's oddities is no fault: the words are there, and are read.
const HARMLESS: [Fault; 2] = [Fault::ExtraFields, Fault::MarkdownFence];

/// A chat model that can be exchanged for a new client of the same service, as after a restart: how
/// long a client lets a service rest after failures is not what is tried here.
struct Exchanged(Mutex<Arc<dyn Chat>>);

impl Models for Exchanged {
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

/// A server, the service its models are at, and what is wrong with that today.
struct Ward {
    app: TestApp,
    service: ChatServer,
    fault: Arc<Mutex<Option<Fault>>>,
    models: Arc<Exchanged>,
    admin: Admin,
}

fn right(asked: &Value) -> String {
    match asked["response_format"]["json_schema"]["name"].as_str() {
        Some("memories") => answer(&[found("User lives in Lisbon.", "I live in Lisbon")]),
        Some("title") => r#"{"title": "Moving to Lisbon"}"#.to_owned(),
        _ => r#"{"summary": "The user talked for a long time."}"#.to_owned(),
    }
}

fn client_of(service: &ChatServer) -> Arc<dyn Chat> {
    Arc::new(RemoteChat::new(ChatConfig::new(service.url(), "scripted")).unwrap())
}

impl Ward {
    async fn open() -> Self {
        lukasa_core::context::tokens::warm();
        lukasa_models::tls::install();
        let fault: Arc<Mutex<Option<Fault>>> = Arc::default();
        let today = fault.clone();
        let service = ChatServer::start(move |asked| match *today.lock().unwrap() {
            Some(fault) => Reply::Faulty(fault, right(asked)),
            None => Reply::Text(right(asked)),
        })
        .await;
        let models = Arc::new(Exchanged(Mutex::new(client_of(&service))));
        let app = TestApp::with_models(models.clone()).await;
        let admin = app.database.admin().await;
        Self { app, service, fault, models, admin }
    }

    fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
        *self.models.0.lock().unwrap() = client_of(&self.service);
    }

    /// Every row of a user that a job may write, but for its own bookkeeping and for what is said
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

    /// What the ledger says of the calls for a user.
    async fn calls(&self, user: &str) -> Vec<(String, String)> {
        let id = UserId::named(TenantId::named("acme"), user).uuid();
        let sql = "select purpose, outcome from model_call where user_id = $1 order by at, call_id";
        let rows = self.admin.query(sql, &[&id]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }
}

/// Where something was written between two looks; `(gone)` if a row is no longer what it was.
fn written<'r>(before: &[(String, String)], after: &'r [(String, String)]) -> Vec<&'r str> {
    let new = after.iter().filter(|row| !before.contains(row));
    let mut tables: Vec<&str> = new.map(|(table, _)| table.as_str()).collect();
    if before.iter().any(|row| !after.contains(row)) {
        tables.push("(gone)");
    }
    tables
}

/// Talks until a job of this kind waits.
async fn cause(client: &Client, site: JobKind) {
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

/// What people do while a model is asked.
async fn meanwhile(client: &Client) {
    assert_eq!(client.get("/api/memory").await.expect(200).each("content"), ["Likes tea"]);
    let ask = json!({ "query": "What do I like?", "session_id": "c" });
    let mut context = client.post("/api/memory/retrieve", ask.clone()).await.expect(200);
    // On a busy machine the first answer can be out of time and then says so.
    if context.json()["degraded"].as_array().is_some_and(|parts| !parts.is_empty()) {
        context = client.post("/api/memory/retrieve", ask).await.expect(200);
    }
    assert!(context.text().contains("Likes tea"), "{}", context.text());
    client.get("/api/sessions").await.expect(200);
    client.get("/api/sessions/c/turns").await.expect(200);
    let turns = json!({ "turns": [{ "role": "user", "content": "Are you there?" }] });
    client.post("/api/sessions/meanwhile/turns", turns).await.expect(201);
}

/// Whether the job's effect is there, once.
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

async fn try_one(ward: &Ward, site: JobKind, fault: Fault) {
    let user = format!("{fault:?}");
    let client = ward.app.tenant_key("acme").await.about(&user);
    cause(&client, site).await;
    let (before, asked) = (ward.rows(&user).await, ward.service.asked());
    ward.set(Some(fault));
    let (worked, ()) = tokio::join!(ward.app.work(), meanwhile(&client));
    let after = ward.rows(&user).await;
    assert_eq!(ward.service.asked() - asked, 1, "{fault:?}: it was asked, once");
    let calls = ward.calls(&user).await;
    let purpose = site.as_str();
    assert!(matches!(&calls[..], [(of, _)] if of == purpose), "{fault:?}: {calls:?}");
    if HARMLESS.contains(&fault) {
        assert_eq!(worked, [Worked::Done(site)], "{fault:?}");
        assert_eq!(calls[0].1, "answered", "{fault:?}");
    } else {
        let [Worked::PutOff(kind, reason)] = &worked[..] else { panic!("{fault:?}: {worked:?}") };
        assert_eq!(*kind, site);
        assert!(!reason.contains("Lisbon"), "{fault:?}: {reason}");
        assert_ne!(calls[0].1, "answered", "{fault:?}");
        assert_eq!(written(&before, &after), [""; 0], "{fault:?}: something is half written");
    }
    ward.set(None);
    let again = ward.app.work_at(clock::now() + SignedDuration::from_secs(10)).await;
    let expected = if HARMLESS.contains(&fault) { vec![] } else { vec![Worked::Done(site)] };
    assert_eq!(again, expected, "{fault:?}, once it is well again");
    done_once(&client, site).await;
    let calls = ward.calls(&user).await;
    let answered = calls.iter().filter(|(_, outcome)| outcome == "answered").count();
    assert_eq!((calls.len(), answered), (1 + expected.len(), 1), "{fault:?}");
    let later = ward.app.work_at(clock::now() + SignedDuration::from_mins(5)).await;
    assert_eq!(later, [], "{fault:?}: it was done once");
}

async fn try_all(site: JobKind) {
    let ward = Ward::open().await;
    for fault in Fault::ALL {
        try_one(&ward, site, fault).await;
    }
}

#[tokio::test]
async fn whatever_is_wrong_with_a_model_learning_is_put_off_and_then_done_once() {
    try_all(JobKind::Extract).await;
}

#[tokio::test]
async fn whatever_is_wrong_with_a_model_a_title_is_put_off_and_then_given_once() {
    try_all(JobKind::Title).await;
}

#[tokio::test]
async fn whatever_is_wrong_with_a_model_a_summary_is_put_off_and_then_made_once() {
    try_all(JobKind::Compress).await;
}

#[tokio::test]
async fn the_comparison_notices_what_is_written() {
    let ward = Ward::open().await;
    let client = ward.app.tenant_key("acme").await.about("u");
    cause(&client, JobKind::Extract).await;
    let before = ward.rows("u").await;
    meanwhile(&client).await;
    assert_eq!(
        written(&before, &ward.rows("u").await),
        [""; 0],
        "what people do is no work of a job"
    );
    ward.app.work().await;
    let after = ward.rows("u").await;
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
        ward.admin.batch_execute(sql).await.unwrap();
        assert!(written(&after, &ward.rows("u").await).contains(&table), "{table}");
    }
}

#[tokio::test]
async fn a_job_that_panics_takes_no_worker_with_it() {
    let chat = ScriptedChat::saying(|ask| {
        let said = &ask.messages[1].content;
        assert!(!said.contains("boom"), "as the test would have it");
        answer(&[found("User lives in Lisbon.", "I live in Lisbon")])
    });
    let app = TestApp::with_models(Stage::that_chats(Arc::new(chat))).await;
    let acme = app.tenant_key("acme").await;
    for (user, words) in [("alice", "boom"), ("bob", "I live in Lisbon.")] {
        let turns = json!({ "turns": [{ "role": "user", "content": words }] });
        acme.about(user).post("/api/sessions/c/turns", turns).await.expect(201);
        acme.about(user).post("/api/sessions/c/close", json!({})).await.expect(200);
    }
    let workers = Workers::start(&app.engine, 1);
    let bob = acme.about("bob");
    let mut learned = Vec::new();
    for _ in 0..200 {
        learned = bob.get("/api/memory").await.expect(200).each("content");
        if !learned.is_empty() {
            break;
        }
        // Nothing announces that a worker is done; one has to look.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(learned, ["User lives in Lisbon."]);
    let jobs = acme.about("alice").get("/api/jobs").await.expect(200);
    assert!(jobs.each("state").contains(&"running".into()), "its lease runs out: {}", jobs.text());
    workers.stop(std::time::Duration::from_secs(5)).await;
}
