//! Test fixture: a fresh database with two tenants, the whole server on a port of its own, and
//! clients that hold one credential each. A client sends requests; the tests assert on the
//! responses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use lukasa_core::model::{Models, NoModels};
use lukasa_core::{Caller, Origin, Permission, TenantId, Timestamp};
use lukasa_engine::credentials::{NewKey, NewToken, VerifiedCredential};
use lukasa_engine::facts::NewMemory;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::{ConnectOptions, Engine, Moment, Request};
use lukasa_server::api::{App, AuthMode, LOCAL_TENANT, LimitSettings, McpSettings};
use lukasa_server::clock::{self, ServerClock};
use lukasa_server::http::router;
use lukasa_server::oidc::OidcProvider;
use lukasa_store::testing::TestDatabase;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Every permission that a credential for one user can have.
pub const PERSONAL: [Permission; 5] =
    [Permission::Read, Permission::Write, Permission::Propose, Permission::Erase, Permission::Chat];

pub struct TestApp {
    pub database: TestDatabase,
    pub engine: Engine,
    pub base: String,
    pub clock: ServerClock,
    http: reqwest::Client,
    server: JoinHandle<()>,
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.server.abort();
        self.engine.close();
    }
}

impl TestApp {
    /// A server that requires an API key.
    pub async fn with_keys() -> Self {
        Self::start(AuthMode::Keys, 8, |router| router).await
    }

    /// A server in local mode, without authentication.
    pub async fn local() -> Self {
        Self::start(AuthMode::Local, 8, |router| router).await
    }

    /// A server that requires an API key, with these models.
    pub async fn with_models(models: Arc<dyn Models>) -> Self {
        Self::over(TestDatabase::fresh().await, models, AuthMode::Keys, 8, |router| router).await
    }

    /// A server with this many database connections and whatever layers `dress` adds.
    pub async fn start(
        auth: AuthMode,
        pool_size: usize,
        dress: impl FnOnce(axum::Router) -> axum::Router,
    ) -> Self {
        Self::over(TestDatabase::fresh().await, Arc::new(NoModels), auth, pool_size, dress).await
    }

    /// Another server over the same database, as after a restart: its caches are empty.
    pub async fn again(&self, models: Arc<dyn Models>) -> (String, Engine) {
        let engine = Engine::connect(&self.database.connect()).expect("engine").with_models(models);
        let engine = engine.with_webhook_sender(lukasa_server::webhook::webhook_sender(true));
        let (base, _) = serve(router(App::new(engine.clone(), AuthMode::Keys))).await;
        (base, engine)
    }

    /// A server that requires an API key, with these limits.
    pub async fn with_limits(settings: &LimitSettings) -> Self {
        let (database, models) = (TestDatabase::fresh().await, Arc::new(NoModels));
        let limit = |app: App| app.with_limits(settings, 8);
        Self::configured(database, models, AuthMode::Keys, 8, limit, |router| router).await
    }

    /// A server whose users sign in with this identity provider, with these limits.
    pub async fn with_oidc(provider: OidcProvider, settings: &LimitSettings) -> Self {
        let (database, models) = (TestDatabase::fresh().await, Arc::new(NoModels));
        let set = |app: App| app.with_limits(settings, 8).with_oidc(Some(provider));
        Self::configured(database, models, AuthMode::Keys, 8, set, |router| router).await
    }

    /// A server that requires an API key, with these settings of its MCP endpoint.
    pub async fn with_mcp(settings: McpSettings) -> Self {
        let (database, models) = (TestDatabase::fresh().await, Arc::new(NoModels));
        let set = |app: App| app.with_mcp(settings);
        Self::configured(database, models, AuthMode::Keys, 8, set, |router| router).await
    }

    /// A server over this database, with these models.
    pub async fn over(
        database: TestDatabase,
        models: Arc<dyn Models>,
        auth: AuthMode,
        pool_size: usize,
        dress: impl FnOnce(axum::Router) -> axum::Router,
    ) -> Self {
        Self::configured(database, models, auth, pool_size, |app| app, dress).await
    }

    async fn configured(
        database: TestDatabase,
        models: Arc<dyn Models>,
        auth: AuthMode,
        pool_size: usize,
        configure: impl FnOnce(App) -> App,
        dress: impl FnOnce(axum::Router) -> axum::Router,
    ) -> Self {
        let connect = ConnectOptions { pool_size, ..database.connect() };
        let engine = Engine::connect(&connect).expect("engine").with_models(models);
        // Tests wait for a model for a shorter time than the default.
        let engine = engine.with_chat_timeout(Duration::from_secs(2));
        // Webhook receivers of the tests are on the loopback interface.
        let engine = engine.with_webhook_sender(lukasa_server::webhook::webhook_sender(true));
        engine
            .embeddings
            .settle_model(clock::now())
            .await
            .expect("a database")
            .expect("its model opens");
        for tenant in ["acme", "globex", LOCAL_TENANT] {
            engine.credentials.ensure_tenant(tenant, clock::now()).await.expect("tenant");
        }
        let app = configure(App::new(engine.clone(), auth));
        let clock = app.clock().clone();
        let (base, server) = serve(dress(router(app))).await;
        // The HTTP client needs a TLS crypto provider even for plain HTTP.
        lukasa_models::tls::install();
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let http = http.build().expect("a client");
        Self { database, engine, base, clock, http, server }
    }

    /// Runs all jobs that are due now; returns what was done.
    pub async fn work(&self) -> Vec<WorkOutcome> {
        self.work_at(self.clock.now()).await
    }

    /// Runs all jobs that will be due at this time.
    pub async fn work_at(&self, now: Timestamp) -> Vec<WorkOutcome> {
        let mut done = Vec::new();
        loop {
            let moment = Moment { now, ..self.clock.moment() };
            match self.engine.jobs.work("w", moment).await.expect("a database") {
                WorkOutcome::Nothing => return done,
                worked => done.push(worked),
            }
        }
    }

    /// Saves an extracted fact. The API cannot: only the extraction pipeline uses this origin.
    pub async fn extract(&self, tenant: &str, user: &str, content: &str, confidence: f32) {
        let caller = Caller::extractor(TenantId::named(tenant), user, Origin::UserTurn);
        let mut new = NewMemory::saying(content);
        new.confidence = Some(confidence);
        let request = Request::new(caller, self.clock.moment());
        self.engine.facts.save(&request, new).await.expect("extracted");
    }

    pub fn anonymous(&self) -> Client {
        Client { base: self.base.clone(), http: self.http.clone(), headers: BTreeMap::new() }
    }

    /// A client that presents `secret`, valid or not.
    pub fn presenting(&self, secret: &str) -> Client {
        self.anonymous().with("authorization", &format!("Bearer {secret}"))
    }

    /// Creates a key as `lukasa key create` does; returns its id and secret.
    pub async fn make_key(
        &self,
        tenant: &str,
        user: Option<&str>,
        permissions: &[Permission],
        expires_at: Option<Timestamp>,
    ) -> (String, String) {
        let new = NewKey {
            name: format!("{tenant} {} {permissions:?}", user.unwrap_or("all users")),
            user: user.map(str::to_owned),
            permissions: permissions.to_vec(),
            origin: Origin::Assistant,
            expires_at,
        };
        let tenant = TenantId::named(tenant);
        let issued = self
            .engine
            .credentials
            .create_key(tenant, new, &clock::random(), self.clock.now())
            .await;
        let issued = issued.expect("a key");
        (issued.record.key_id, issued.text)
    }

    /// A key for all users of a tenant, with every permission. Requests have to name a user.
    pub async fn tenant_key(&self, tenant: &str) -> Client {
        self.presenting(&self.make_key(tenant, None, &Permission::ALL, None).await.1)
    }

    /// The same for an application whose operator vouches that its content is the user's own.
    pub async fn application_key(&self, tenant: &str) -> Client {
        self.key_with_origin(tenant, Origin::UserSaid).await
    }

    /// A key for all users of a tenant, whose content has this origin.
    pub async fn key_with_origin(&self, tenant: &str, origin: Origin) -> Client {
        let new = NewKey {
            name: format!("{tenant} {}", origin.as_str()),
            user: None,
            permissions: Permission::ALL.to_vec(),
            origin,
            expires_at: None,
        };
        let tenant = TenantId::named(tenant);
        let issued = self
            .engine
            .credentials
            .create_key(tenant, new, &clock::random(), self.clock.now())
            .await;
        self.presenting(&issued.expect("a key").text)
    }

    /// A key for all users of a tenant, with these permissions.
    pub async fn key_with_permissions(&self, tenant: &str, permissions: &[Permission]) -> Client {
        self.presenting(&self.make_key(tenant, None, permissions, None).await.1)
    }

    /// A key that is bound to one user.
    pub async fn bound_key(&self, tenant: &str, user: &str) -> Client {
        self.presenting(&self.make_key(tenant, Some(user), &PERSONAL, None).await.1)
    }

    /// A human caller: the token of one user's browser.
    pub async fn human(&self, tenant: &str, user: &str) -> Client {
        self.presenting(&self.mint(tenant, user, self.clock.now()).await)
    }

    /// A token minted at the given time, which may be long ago.
    pub async fn mint(&self, tenant: &str, user: &str, at: Timestamp) -> String {
        let (_, secret) = self.make_key(tenant, None, &Permission::ALL, None).await;
        let by: VerifiedCredential = self
            .engine
            .credentials
            .authenticate(&secret, self.clock.now())
            .await
            .expect("admitted");
        let new = NewToken { user, permissions: &PERSONAL, minutes: 15, page: None };
        let minted = self.engine.credentials.mint_token(&by, new, &clock::random(), at).await;
        minted.expect("a token").text
    }
}

/// Serves a router on a free loopback port.
pub async fn serve(router: axum::Router) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let server = tokio::spawn(async move {
        axum::serve(listener, router).await.expect("served");
    });
    (base, server)
}

/// HTTP client with one credential, and optionally a user header.
#[derive(Clone)]
pub struct Client {
    pub base: String,
    http: reqwest::Client,
    headers: BTreeMap<String, String>,
}

impl Client {
    /// A copy that sends one more header with every request.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.insert(name.to_lowercase(), value.to_owned());
        other
    }

    /// A copy that names a user.
    pub fn about(&self, user: &str) -> Self {
        self.with("x-lukasa-user", user)
    }

    /// A copy for another server.
    pub fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// The value of a header that it sends with every request.
    pub fn header(&self, name: &str) -> String {
        self.headers.get(name).cloned().unwrap_or_default()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.call("PUT", path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None).await
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let Some(body) = body else { return self.send(method, path, Bytes::new()).await };
        let json = self.with("content-type", "application/json");
        json.send(method, path, body.to_string().into()).await
    }

    /// Sends exactly these bytes.
    pub async fn send(&self, method: &str, path: &str, body: Bytes) -> Answer {
        if path == "/api/memory/retrieve" {
            // Loading the tokenizer is slow; `lukasa serve` does it before it listens.
            lukasa_text::tokens::warm();
        }
        let method = method.parse().expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.base)).body(body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        Answer::read(request.send().await.expect("an answer")).await
    }

    /// Opens a response that is read in chunks.
    pub async fn open(&self, path: &str) -> reqwest::Response {
        let mut request = self.http.get(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.send().await.expect("an answer")
    }

    /// Waits until a retrieval is recorded, which happens after the response.
    pub async fn wait_for_retrieval(&self, retrieval: &str) -> Answer {
        let path = format!("/api/retrievals/{retrieval}");
        for _ in 0..500 {
            let answer = self.get(&path).await;
            if answer.status == 200 {
                return answer;
            }
            // Nothing signals the write, so this polls.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.get(&path).await.expect(200)
    }

    /// Saves a memory.
    pub async fn save(&self, content: &str) -> Answer {
        self.post("/api/memory", serde_json::json!({ "content": content })).await.expect(201)
    }
}

/// A response, to the byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Sorted by name.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Answer {
    async fn read(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let text = |value: &reqwest::header::HeaderValue| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        let headers = response.headers().iter();
        let mut headers: Vec<(String, String)> =
            headers.map(|(name, value)| (name.to_string(), text(value))).collect();
        headers.sort();
        Self { status, headers, body: response.bytes().await.expect("a body") }
    }

    /// Asserts the status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Asserts that this is a problem with the status and the code, in header and body.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.json()["status"], status);
        self
    }

    /// Asserts that this response to a retrieval without a database holds no memory: an empty
    /// context, or a refusal once the cached admission of the credential has expired.
    #[track_caller]
    pub fn expect_no_context(self) {
        if self.status == 503 {
            self.refused(503, "unavailable");
            return;
        }
        let found = self.expect(200);
        assert_eq!(found.at("/context"), "");
        assert_eq!(found.json()["degraded"], serde_json::json!(["database"]));
    }

    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The text at a JSON pointer; empty if there is none.
    pub fn at(&self, pointer: &str) -> String {
        self.json().pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    pub fn code(&self) -> String {
        self.at("/code")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The texts at one key of every item of `data`.
    pub fn each(&self, key: &str) -> Vec<String> {
        let json = self.json();
        let items = json["data"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item[key].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// A unique word, for finding every place it is stored in or sent to.
pub fn canary(of: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("canary{of}{:08x}x{number}", u32::from_be_bytes(clock::random()))
}
