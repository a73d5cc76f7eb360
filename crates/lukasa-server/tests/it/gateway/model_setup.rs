//! Setting the model service in the console of a local server: who may, the test of a service, and
//! the effect on the gateway.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lukasa_models::scripted::server::{
    ConnectionStep, RequestRecord, ScriptedResponse, ScriptedServer, unused_address,
};
use lukasa_server::api::{App, AuthMode};
use lukasa_server::gateway::{Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::{Value, json};

use super::fixture::{reply, say};
use crate::app::{Answer, Client, TestApp, serve};

const PATH: &str = "/api/model-service";
const TEST_PATH: &str = "/api/model-service/test";
const KEY: &str = "sk-of-the-service";

/// A service with one model, which needs a key, and one that does not.
fn script(_: usize, asked: &RequestRecord) -> Vec<ConnectionStep> {
    if asked.line.starts_with("GET /v1/models") {
        let models = json!({"object": "list", "data": [{"id": "open"}, {"id": "guarded"}]});
        return ScriptedResponse::json(&models).into();
    }
    if !asked.line.starts_with("POST /v1/chat/completions") {
        return ScriptedResponse::status(404).with_body("404 page not found").into();
    }
    match asked.json()["model"].as_str().unwrap_or_default() {
        "guarded" if !asked.head.contains(KEY) => ScriptedResponse::status(401).into(),
        "open" | "guarded" | "scripted" => reply(asked, "Yes."),
        "broken" => ScriptedResponse::status(500).into(),
        _ => {
            let error = r#"{"error": {"message": "model not found"}}"#;
            ScriptedResponse::status(404).with_body(error).into()
        }
    }
}

struct SetupFixture {
    app: TestApp,
    service: ScriptedServer,
    folder: tempfile::TempDir,
}

impl SetupFixture {
    async fn open() -> Self {
        lukasa_text::tokens::warm();
        let service = ScriptedServer::start(script).await;
        let folder = tempfile::tempdir().unwrap();
        Self { app: TestApp::local().await, service, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("model.json")
    }

    fn url(&self) -> String {
        format!("{}/v1", self.service.base)
    }

    /// The console's page at a server that was just started.
    async fn console(&self, upstream: Option<Upstream>, file: Option<&Path>) -> Client {
        let app = App::new(self.app.engine.clone(), AuthMode::Local);
        let mut gateway = Gateway::new(app.clone(), upstream);
        if let Some(file) = file {
            let services = vec![
                ("Scripted".to_owned(), self.url()),
                ("Absent".to_owned(), format!("{}/v1", unused_address().await)),
            ];
            gateway = gateway.with_setup(file.to_owned()).with_local_services(services);
        }
        let (base, _) = serve(router_with(app, gateway)).await;
        self.app.anonymous().at(&base).with("sec-fetch-site", "same-origin")
    }
}

/// The text of an answer.
fn text_of(answer: &Answer) -> String {
    answer.at("/choices/0/message/content")
}

#[tokio::test]
async fn model_setup_lists_services_on_this_machine() {
    let fixture = SetupFixture::open().await;
    let console = fixture.console(None, Some(&fixture.file())).await;
    let view = console.get(PATH).await.expect(200).json();
    let found = json!([{"name": "Scripted", "url": fixture.url(), "models": ["open", "guarded"]}]);
    assert_eq!(view["found"], found);
    assert_eq!((&view["changeable"], &view["set_by"]), (&json!(true), &Value::Null));
}

#[tokio::test]
async fn model_setup_test_reports_why_a_service_does_not_answer() {
    let fixture = SetupFixture::open().await;
    let console = fixture.console(None, Some(&fixture.file())).await;
    let (url, nowhere) = (fixture.url(), format!("{}/v1", unused_address().await));
    let (url, nowhere, base) = (url.as_str(), nowhere.as_str(), fixture.service.base.as_str());
    let cases = [
        (url, None, "open", ""),
        (url, Some(KEY), "guarded", ""),
        (url, None, "guarded", "key"),
        (url, Some("a\nb"), "open", "key"),
        (url, None, "missing", "model"),
        (url, None, " ", "model"),
        (url, None, "broken", "refused"),
        (base, None, "open", "not_chat"),
        (nowhere, None, "open", "unreachable"),
        ("localhost:11434", None, "open", "address"),
        ("file:///etc/passwd", None, "open", "address"),
    ];
    for (url, key, model, reason) in cases {
        let body = json!({"url": url, "key": key, "model": model});
        let result = console.post(TEST_PATH, body.clone()).await.expect(200);
        assert_eq!(result.at("/reason"), reason, "{body}: {}", result.text());
        assert_eq!(result.json()["ok"], reason.is_empty(), "{body}");
        assert_eq!(result.at("/detail").is_empty(), reason.is_empty(), "{body}");
        if !reason.is_empty() {
            console.put(PATH, body).await.refused(422, "invalid_request");
        }
    }
    assert!(!fixture.file().exists(), "nothing was stored");
    assert_eq!(console.get("/v1/models").await.at("/data/0/id"), "lukasa/guide");
}

#[tokio::test]
async fn model_setup_applies_at_once_and_survives_a_restart() {
    let fixture = SetupFixture::open().await;
    let file = fixture.file();
    let console = fixture.console(None, Some(&file)).await;
    assert_eq!(say(&console, &["Hello"]).await.status, 404);
    let body = json!({"url": fixture.url(), "key": KEY, "model": "guarded"});
    let set = console.put(PATH, body).await.expect(200);
    assert_eq!((set.at("/set_by"), set.at("/model")), ("console".into(), "guarded".into()));
    assert_eq!(set.at("/url"), fixture.url());
    assert_eq!(text_of(&say(&console, &["Hello"]).await.expect(200)), "Yes.");
    let asked = fixture.service.asked().pop().unwrap();
    assert!(asked.head.contains(KEY), "the gateway sends the stored key");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let again = fixture.console(None, Some(&file)).await;
    assert_eq!(text_of(&say(&again, &["Hello"]).await.expect(200)), "Yes.");
    let view = again.get(PATH).await.expect(200);
    assert_eq!(view.at("/model"), "guarded");
    assert!(!view.text().contains(KEY), "the key is not shown");

    let removed = again.delete(PATH).await.expect(200);
    assert_eq!(removed.json()["set_by"], Value::Null);
    assert_eq!(again.get("/v1/models").await.at("/data/0/id"), "lukasa/guide");
    assert!(!file.exists());
    again.delete(PATH).await.expect(200);
}

#[tokio::test]
async fn model_setup_refuses_the_address_of_the_server_itself() {
    let fixture = SetupFixture::open().await;
    let console = fixture.console(None, Some(&fixture.file())).await;
    let body = json!({"url": format!("{}/v1", console.base), "model": "lukasa/guide"});
    assert_eq!(console.post(TEST_PATH, body.clone()).await.expect(200).at("/reason"), "not_chat");
    console.put(PATH, body.clone()).await.refused(422, "invalid_request");
    // Nor is it called without end if a file names it.
    let app = App::new(fixture.app.engine.clone(), AuthMode::Local);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let upstream = Upstream::new(&format!("{base}/v1"), None).unwrap();
    let gateway = Gateway::new(app.clone(), Some(upstream));
    tokio::spawn(axum::serve(listener, router_with(app, gateway)).into_future());
    let answer = say(&console.at(&base), &["Hello"]).await.expect(502);
    assert!(answer.text().contains("this server itself"), "{}", answer.text());
}

#[tokio::test]
async fn model_setup_ignores_an_invalid_file() {
    let fixture = SetupFixture::open().await;
    fs::write(fixture.file(), r#"{"url": "nonsense"}"#).unwrap();
    let console = fixture.console(None, Some(&fixture.file())).await;
    assert_eq!(console.get("/v1/models").await.at("/data/0/id"), "lukasa/guide");
    let body = json!({"url": fixture.url(), "model": "open"});
    console.put(PATH, body).await.expect(200);
    assert_eq!(text_of(&say(&console, &["Hello"]).await.expect(200)), "Yes.");
}

/// Expects that every operation is refused with this code.
async fn expect_refused(client: &Client, fixture: &SetupFixture, status: u16, code: &str) {
    let body = json!({"url": fixture.url(), "model": "open"});
    client.post(TEST_PATH, body.clone()).await.refused(status, code);
    client.put(PATH, body).await.refused(status, code);
    client.delete(PATH).await.refused(status, code);
}

#[tokio::test]
async fn model_setup_is_refused_to_programs_assistants_and_keys() {
    let fixture = SetupFixture::open().await;
    let console = fixture.console(None, Some(&fixture.file())).await;
    let program = fixture.app.anonymous().at(&console.base);
    let with_key = program.with("authorization", "Bearer lk_live_whatever");
    for client in [program.clone(), with_key, program.with("sec-fetch-site", "none")] {
        client.get(PATH).await.refused(403, "human_needed");
        expect_refused(&client, &fixture, 403, "human_needed").await;
    }
    program.with("sec-fetch-site", "cross-site").get(PATH).await.refused(403, "cross_site");
    let guarded = TestApp::with_keys().await;
    let key = guarded.tenant_key("acme").await.with("sec-fetch-site", "same-origin");
    key.get(PATH).await.refused(409, "model_service_fixed");
    expect_refused(&key, &fixture, 409, "model_service_fixed").await;
    let human = guarded.human("acme", "ada").await.with("sec-fetch-site", "same-origin");
    human.get(PATH).await.refused(403, "forbidden");
    assert!(!fixture.file().exists() && fixture.service.asked().is_empty());
}

#[tokio::test]
async fn model_setup_is_refused_if_the_settings_name_a_service_or_no_folder() {
    let fixture = SetupFixture::open().await;
    let stored = json!({"url": "http://127.0.0.1:9/v1", "model": "other"});
    fs::write(fixture.file(), stored.to_string()).unwrap();
    let address = fixture.url().replace("http://", "http://ada:secret@");
    let upstream = Upstream::new(&address, None).unwrap();
    let set = fixture.console(Some(upstream), Some(&fixture.file())).await;
    let view = set.get(PATH).await.expect(200);
    assert_eq!((view.at("/set_by"), view.at("/url")), ("settings".into(), fixture.url()));
    assert_eq!(view.json()["changeable"], false);
    expect_refused(&set, &fixture, 409, "model_service_fixed").await;
    assert_eq!(text_of(&say(&set, &["Hello"]).await.expect(200)), "Yes.");
    assert!(fixture.file().exists(), "the stored service is kept for a start without settings");

    let without_folder = fixture.console(None, None).await;
    let view = without_folder.get(PATH).await.expect(200).json();
    assert_eq!((&view["changeable"], &view["set_by"]), (&json!(false), &Value::Null));
    expect_refused(&without_folder, &fixture, 409, "model_service_fixed").await;
}
