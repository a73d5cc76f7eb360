//! OAuth for assistants that connect by URL: the whole flow, and what must be refused.

mod flow;
mod requests;
mod tokens;

use std::collections::BTreeMap;

use lukasa_core::Permission;
use lukasa_server::api::McpSettings;
use reqwest::Url;
use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};

/// The public address of the servers under test.
const ISSUER: &str = "https://memory.example";
const CALLBACK: &str = "https://assistant.example/callback";
/// The example of RFC 7636.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn settings(public_url: &str) -> McpSettings {
    McpSettings { public_url: Some(public_url.to_owned()), ..McpSettings::default() }
}

/// A server with OAuth.
async fn start() -> TestApp {
    TestApp::with_mcp(settings(ISSUER)).await
}

/// Parameters in the form of a query.
fn encode(params: &[(&str, &str)]) -> String {
    let url = Url::parse_with_params("http://x/", params).unwrap();
    url.query().unwrap_or_default().to_owned()
}

async fn post_form(client: &Client, path: &str, params: &[(&str, &str)]) -> Answer {
    let client = client.with("content-type", "application/x-www-form-urlencoded");
    client.send("POST", path, encode(params).into()).await
}

/// Registers a client; returns its id.
async fn register(app: &TestApp, name: &str, redirect_uri: &str) -> String {
    let metadata = json!({ "client_name": name, "redirect_uris": [redirect_uri],
        "token_endpoint_auth_method": "none" });
    app.anonymous().post("/oauth/register", metadata).await.expect(201).at("/client_id")
}

/// A browser of a user on this server's own pages, with every permission of its operator.
async fn browser(app: &TestApp, user: &str) -> Client {
    let (_, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let sent = json!({ "key": secret, "user": user });
    with_cookie(app, &app.anonymous().post("/api/sign-in", sent).await.expect(201))
}

/// A browser with the cookie that an answer has set.
fn with_cookie(app: &TestApp, entered: &Answer) -> Client {
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = app.anonymous().with("cookie", &cookie).with("sec-fetch-site", "same-origin");
    page.with("origin", ISSUER)
}

/// The query of a valid authorization request, with some parameters replaced; an empty one is left
/// out.
fn request_with(client_id: &str, changed: &[(&str, &str)]) -> String {
    let resource = format!("{ISSUER}/mcp");
    let mut params = vec![
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", CALLBACK),
        ("scope", "read write propose"),
        ("state", "some state"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", resource.as_str()),
    ];
    params.retain(|(name, _)| !changed.iter().any(|(other, _)| name == other));
    params.extend(changed.iter().filter(|(_, value)| !value.is_empty()));
    encode(&params)
}

/// The value of a hidden field of a page.
fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let value = page.split(&start).nth(1).expect("the field").split('"').next().unwrap();
    value.replace("&#39;", "'").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The fields of the consent form that a browser is shown.
async fn consent_fields(page: &Client, query: &str) -> (String, String) {
    let shown = page.get(&format!("/oauth/consent?{query}")).await.expect(200).text();
    (hidden(&shown, "request"), hidden(&shown, "token"))
}

/// Answers the consent page.
async fn decide(page: &Client, query: &str, decision: &str) -> Answer {
    let (request, token) = consent_fields(page, query).await;
    let fields = [("request", request.as_str()), ("token", &token), ("decision", decision)];
    post_form(page, "/oauth/consent", &fields).await
}

/// The address that an answer redirects to, without its query, and the parameters of the query.
fn redirected(answer: Answer) -> (String, BTreeMap<String, String>) {
    let answer = answer.expect(303);
    let mut url = Url::parse(answer.header("location").unwrap()).unwrap();
    let params = url.query_pairs().into_owned().collect();
    url.set_query(None);
    (url.to_string(), params)
}

/// The authorization code that a user's browser gets for a client.
async fn code_for(page: &Client, query: &str) -> String {
    let (address, params) = redirected(decide(page, query, "allow").await);
    assert_eq!(address, CALLBACK);
    params["code"].clone()
}

/// Exchanges a code, with some parameters replaced; an empty one is left out.
async fn exchange(app: &TestApp, client_id: &str, code: &str, changed: &[(&str, &str)]) -> Answer {
    let resource = format!("{ISSUER}/mcp");
    let mut params = vec![
        ("grant_type", "authorization_code"),
        ("client_id", client_id),
        ("code", code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
        ("resource", resource.as_str()),
    ];
    params.retain(|(name, _)| !changed.iter().any(|(other, _)| name == other));
    params.extend(changed.iter().filter(|(_, value)| !value.is_empty()));
    post_form(&app.anonymous(), "/oauth/token", &params).await
}

async fn refresh(app: &TestApp, client_id: &str, token: &str, scope: &str) -> Answer {
    let mut params =
        vec![("grant_type", "refresh_token"), ("client_id", client_id), ("refresh_token", token)];
    params.extend(Some(("scope", scope)).filter(|_| !scope.is_empty()));
    post_form(&app.anonymous(), "/oauth/token", &params).await
}

/// A connected assistant.
struct Connected {
    client_id: String,
    code: String,
    access: String,
    refresh: String,
}

/// Connects an assistant to the memory of a browser's user.
async fn connect(app: &TestApp, page: &Client) -> Connected {
    let client_id = register(app, "Assistant", CALLBACK).await;
    let code = code_for(page, &request_with(&client_id, &[])).await;
    let issued = exchange(app, &client_id, &code, &[]).await.expect(200);
    let (access, refresh) = (issued.at("/access_token"), issued.at("/refresh_token"));
    Connected { client_id, code, access, refresh }
}

/// Asserts an error in the format of OAuth.
#[track_caller]
fn assert_oauth_error(answer: &Answer, error: &str) {
    assert_eq!((answer.status, answer.at("/error").as_str()), (400, error), "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

/// Sends one MCP request with a token.
async fn mcp(app: &TestApp, token: &str, method: &str, params: Value) -> Answer {
    let client = app.presenting(token).with("accept", "application/json, text/event-stream");
    let client = client.with("mcp-protocol-version", "2025-11-25");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.post("/mcp", message).await
}

/// Calls a tool with a token; returns the result.
async fn tool(app: &TestApp, token: &str, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    mcp(app, token, "tools/call", params).await.expect(200).json()["result"].clone()
}

/// Asserts that a token is refused at the MCP endpoint.
async fn assert_token_refused(app: &TestApp, token: &str) {
    mcp(app, token, "tools/list", json!({})).await.refused(401, "unauthenticated");
}
