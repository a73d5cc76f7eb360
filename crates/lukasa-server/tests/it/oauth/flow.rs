//! The flow from discovery to a tool call, and the life of a connector.

use lukasa_core::Permission;
use lukasa_server::api::{AuthMode, McpSettings};
use reqwest::Url;
use serde_json::{Value, json};

use super::{
    CALLBACK, ISSUER, assert_oauth_error, assert_token_refused, browser, connect, decide, exchange,
    mcp, post_form, redirected, refresh, register, request_with, settings, start, tool,
    with_cookie,
};
use crate::app::TestApp;

#[tokio::test]
async fn oauth_flow_connects_an_assistant_to_mcp() {
    let app = start().await;
    let anyone = app.anonymous();
    // Discovery: from the 401 to the resource, from the resource to the authorization server.
    let refused = anyone.post("/mcp", json!({})).await.refused(401, "unauthenticated");
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    let path = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(challenge, format!("Bearer resource_metadata=\"{ISSUER}{path}\""));
    for path in ["/.well-known/oauth-protected-resource", path] {
        let resource = anyone.get(path).await.expect(200).json();
        assert_eq!(resource["resource"], format!("{ISSUER}/mcp"));
        assert_eq!(resource["authorization_servers"], json!([ISSUER]));
        assert_eq!(resource["scopes_supported"], json!(["read", "write", "propose"]));
    }
    let server = anyone.get("/.well-known/oauth-authorization-server").await.expect(200).json();
    assert_eq!(server["issuer"], ISSUER);
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["token_endpoint_auth_methods_supported"], json!(["none"]));
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
    for (name, path) in [
        ("authorization_endpoint", "/oauth/authorize"),
        ("token_endpoint", "/oauth/token"),
        ("registration_endpoint", "/oauth/register"),
        ("revocation_endpoint", "/oauth/revoke"),
    ] {
        assert_eq!(server[name], format!("{ISSUER}{path}"));
    }
    let client_id = register(&app, "My assistant", CALLBACK).await;
    let query = request_with(&client_id, &[]);

    // A navigation from another site has no cookie: the page leads to the consent page by itself.
    let first = anyone.with("sec-fetch-site", "cross-site");
    let first = first.get(&format!("/oauth/authorize?{query}")).await.expect(200);
    assert!(first.text().contains("http-equiv=\"refresh\" content=\"0;url=/oauth/consent?"));
    // Without a sign-in the consent page leads to the sign-in and back.
    let sign_in = anyone.get(&format!("/oauth/consent?{query}")).await.expect(303);
    let location = Url::parse("https://x/").unwrap().join(sign_in.header("location").unwrap());
    let location = location.unwrap();
    assert_eq!(location.path(), "/sign-in");
    let (_, back) = location.query_pairs().find(|(name, _)| name == "to").unwrap();
    let page = browser(&app, "alice").await;
    let shown = page.get(&back).await.expect(200);
    let policy = shown.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert!(policy.contains("form-action 'self' https://assistant.example;"), "{policy}");
    for text in ["My assistant", "alice", "assistant.example", "Read and search", "Propose"] {
        assert!(shown.text().contains(text), "{text}");
    }
    assert!(!shown.text().contains("<script"), "{}", shown.text());

    let (address, params) = redirected(decide(&page, &query, "allow").await);
    assert_eq!(address, CALLBACK);
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), ("some state", ISSUER));
    let issued = exchange(&app, &client_id, &params["code"], &[]).await.expect(200);
    assert_eq!(issued.header("cache-control"), Some("no-store"));
    assert_eq!(
        (issued.at("/token_type"), issued.at("/scope")),
        ("Bearer".into(), "read write propose".into())
    );
    assert_eq!(issued.json()["expires_in"], 3600);

    // The assistant is an agent of alice: its words are an assistant's, and it cannot consent.
    let token = issued.at("/access_token");
    let saved = tool(&app, &token, "save_memory", json!({ "content": "Likes green tea" })).await;
    assert_eq!(saved["structuredContent"]["event"]["type"], "memory.saved", "{saved:#}");
    let memories = page.get("/api/memory").await.expect(200);
    assert_eq!(
        (memories.each("content"), memories.each("origin")),
        (vec!["Likes green tea".to_owned()], vec!["assistant".to_owned()])
    );
    let proposed =
        tool(&app, &token, "propose_memory", json!({ "content": "May like jasmine" })).await;
    let id = proposed["structuredContent"]["memory"]["id"].clone();
    let confirmed = tool(&app, &token, "confirm_memory", json!({ "id": id })).await;
    assert_eq!(confirmed["structuredContent"]["error"]["code"], "human_needed", "{confirmed:#}");
    // Its operations name the connector, which stays the same over all tokens.
    let connector = page.get("/api/sign-ins?user=alice").await.expect(200);
    let connector = connector.json()["data"].as_array().unwrap().clone();
    let connector = connector.iter().find(|one| one["kind"] == "connector").unwrap().clone();
    let operations = page.get("/api/operations").await.expect(200).each("credential");
    assert!(operations.iter().all(|one| *one == connector["id"]), "{operations:?}");
}

#[tokio::test]
async fn oauth_is_off_without_a_public_https_address() {
    let off = [
        McpSettings::default(),
        settings("http://memory.example"),
        settings("https://memory.example/path"),
        McpSettings { no_oauth: true, ..settings(ISSUER) },
        McpSettings {
            authorization_servers: vec!["https://idp.example".into()],
            ..settings(ISSUER)
        },
    ];
    for settings in off {
        let app = TestApp::with_mcp(settings).await;
        let anyone = app.anonymous().with("host", "evil.example");
        anyone.get("/.well-known/oauth-authorization-server").await.refused(404, "not_found");
        anyone.post("/oauth/register", json!({})).await.refused(404, "not_found");
        post_form(&anyone, "/oauth/token", &[]).await.refused(404, "not_found");
        post_form(&anyone, "/oauth/revoke", &[]).await.refused(404, "not_found");
        anyone.get("/oauth/authorize").await.refused(404, "not_found");
        anyone.get("/oauth/consent").await.refused(404, "not_found");
    }
    // Local mode has one user and no consent.
    let local = TestApp::start(AuthMode::Local, 8, |router| router).await;
    local.anonymous().get("/oauth/authorize").await.refused(404, "not_found");
    // The metadata never follows the name in a request.
    let app = start().await;
    let other = app.anonymous().with("host", "evil.example");
    for path in ["oauth-authorization-server", "oauth-protected-resource"] {
        let text = other.get(&format!("/.well-known/{path}")).await.expect(200).text();
        assert!(!text.contains("evil.example"), "{text}");
    }
}

#[tokio::test]
async fn oauth_refresh_rotates_both_tokens() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    let next = refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    assert_ne!(next.at("/refresh_token"), one.refresh);
    assert_ne!(next.at("/access_token"), one.access);
    mcp(&app, &next.at("/access_token"), "tools/list", json!({})).await.expect(200);
    // A narrower scope is for one access token; the refresh token keeps the whole.
    let narrow =
        refresh(&app, &one.client_id, &next.at("/refresh_token"), "read").await.expect(200);
    assert_eq!(narrow.at("/scope"), "read");
    let saving = json!({ "content": "Likes tea" });
    let refused = tool(&app, &narrow.at("/access_token"), "save_memory", saving.clone()).await;
    assert_eq!(refused["isError"], true, "{refused:#}");
    let whole = refresh(&app, &one.client_id, &narrow.at("/refresh_token"), "").await.expect(200);
    assert_eq!(whole.at("/scope"), "read write propose");
    let saved = tool(&app, &whole.at("/access_token"), "save_memory", saving).await;
    assert_eq!(saved["isError"], false, "{saved:#}");
}

#[tokio::test]
async fn oauth_connector_is_listed_and_ended_like_a_sign_in() {
    let app = start().await;
    let (alice, bob) = (browser(&app, "alice").await, browser(&app, "bob").await);
    let one = connect(&app, &alice).await;
    refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    let listed = alice.get("/api/sign-ins?user=alice").await.expect(200).json();
    let kinds: Vec<&Value> =
        listed["data"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    assert_eq!(kinds, ["connector", "sign_in"], "codes and tokens are part of the connector");
    let entry = &listed["data"][0];
    assert_eq!((&entry["name"], &entry["user"]), (&json!("Assistant"), &json!("alice")));
    assert_eq!(entry["permissions"], json!(["read", "write", "propose"]));
    assert!(entry["last_used_at"].is_string());
    assert!(!listed.to_string().contains("lk_"), "no secret is listed");
    let theirs = bob.get("/api/sign-ins?user=bob").await.expect(200).each("kind");
    assert_eq!(theirs, ["sign_in"]);

    mcp(&app, &one.access, "tools/list", json!({})).await.expect(200);
    let path = format!("/api/sign-ins/{}", entry["id"].as_str().unwrap());
    alice.delete(&path).await.expect(200);
    assert_token_refused(&app, &one.access).await;
    assert_oauth_error(&refresh(&app, &one.client_id, &one.refresh, "").await, "invalid_grant");
    alice.get("/api/memory").await.expect(200);
}

#[tokio::test]
async fn oauth_connector_ends_with_the_key_behind_its_sign_in() {
    let app = start().await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let sent = json!({ "key": secret, "user": "alice" });
    let page = with_cookie(&app, &app.anonymous().post("/api/sign-in", sent).await.expect(201));
    let one = connect(&app, &page).await;
    // Signing out keeps what was made with the sign-in.
    page.delete("/api/sign-in").await.expect(204);
    mcp(&app, &one.access, "tools/list", json!({})).await.expect(200);
    let other = app.tenant_key("acme").await;
    other.delete(&format!("/api/keys/{id}")).await.expect(200);
    assert_token_refused(&app, &one.access).await;
    assert_oauth_error(&refresh(&app, &one.client_id, &one.refresh, "").await, "invalid_grant");
}

#[tokio::test]
async fn oauth_connector_ends_with_its_user() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    tool(&app, &one.access, "save_memory", json!({ "content": "Likes tea" })).await;
    app.tenant_key("acme").await.delete("/api/users/alice").await.expect(200);
    assert_token_refused(&app, &one.access).await;
    assert_oauth_error(&refresh(&app, &one.client_id, &one.refresh, "").await, "invalid_grant");
    let admin = app.database.admin().await;
    let left = "select count(*) from credential where user_name = 'alice'";
    assert_eq!(admin.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn oauth_client_can_revoke_its_tokens() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    let other = register(&app, "Other", "https://other.example/cb").await;
    let revoke = async |client_id: &str, token: &str| {
        let params = [("client_id", client_id), ("token", token)];
        post_form(&app.anonymous(), "/oauth/revoke", &params).await
    };
    for token in ["", "unknown"] {
        let status = revoke(&one.client_id, token).await.status;
        assert_eq!(status, if token.is_empty() { 400 } else { 200 });
    }
    revoke(&other, &one.access).await.expect(200);
    mcp(&app, &one.access, "tools/list", json!({})).await.expect(200);
    // An access token ends alone, a refresh token with everything.
    revoke(&one.client_id, &one.access).await.expect(200);
    assert_token_refused(&app, &one.access).await;
    let next = refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    revoke(&one.client_id, &next.at("/refresh_token")).await.expect(200);
    assert_token_refused(&app, &next.at("/access_token")).await;
    assert_eq!(page.get("/api/sign-ins").await.expect(200).each("kind"), ["sign_in"]);
}

#[tokio::test]
async fn oauth_denied_consent_creates_nothing() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let (address, params) = redirected(decide(&page, &request_with(&client_id, &[]), "deny").await);
    assert_eq!(address, CALLBACK);
    let names: Vec<&str> = params.keys().map(String::as_str).collect();
    assert_eq!(names, ["error", "iss", "state"]);
    assert_eq!(
        (params["error"].as_str(), params["state"].as_str()),
        ("access_denied", "some state")
    );
    assert_eq!(page.get("/api/sign-ins").await.expect(200).each("kind"), ["sign_in"]);
}

#[tokio::test]
async fn oauth_loopback_client_may_use_any_port() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Editor", "http://127.0.0.1:1/callback").await;
    let query = request_with(&client_id, &[("redirect_uri", "http://127.0.0.1:54321/callback")]);
    let shown = page.get(&format!("/oauth/consent?{query}")).await.expect(200);
    assert!(shown.text().contains("a program on this computer (127.0.0.1:54321)"));
    let policy = shown.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self' http://127.0.0.1:54321;"), "{policy}");
    let (address, params) = redirected(decide(&page, &query, "allow").await);
    assert_eq!(address, "http://127.0.0.1:54321/callback");
    // OAuth 2.1 clients do not repeat the address.
    exchange(&app, &client_id, &params["code"], &[("redirect_uri", "")]).await.expect(200);
}

#[tokio::test]
async fn oauth_expired_credentials_are_swept() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    let admin = app.database.admin().await;
    let old = "update credential set expires_at = now() - interval '2 days' \
               where kind in ('connector', 'code', 'access', 'refresh')";
    assert_eq!(admin.execute(old, &[]).await.unwrap(), 6);
    assert_eq!(app.engine.credentials.sweep_credentials().await.unwrap(), 6);
}
