//! Local mode: one user on one machine, without authentication.

use std::time::Duration;

use serde_json::json;

use crate::app::TestApp;

#[tokio::test]
async fn local_mode_needs_no_key_and_the_caller_is_human() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let saved = me.save("Likes tea").await;
    assert_eq!(saved.at("/memory/origin"), "user_said");
    let log = me.get("/api/operations").await.expect(200);
    assert_eq!(
        (log.each("caller"), log.each("credential")),
        (vec!["human".into()], vec!["local".into()])
    );
    assert_eq!(me.get("/api/users").await.expect(200).each("user"), ["me"]);
    assert_eq!(me.about("me").get("/api/memory").await.each("content"), ["Likes tea"]);
    assert!(me.about("somebody").get("/api/memory").await.expect(200).each("id").is_empty());
    // A human caller can answer proposals and open domains.
    let proposed = me.post("/api/memory/propose", json!({ "content": "Likes mate" })).await;
    let path = format!("/api/memory/{}/confirm", proposed.at("/memory/id"));
    let yes = json!({ "sha256": proposed.at("/memory/sha256") });
    assert_eq!(me.post(&path, yes).await.expect(200).at("/memory/status"), "active");
    me.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    // An unneeded credential is ignored.
    app.presenting("lk_live_whatever").get("/api/memory").await.expect(200);
}

#[tokio::test]
async fn local_mode_refuses_requests_from_other_origins() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let body = json!({ "content": "Sent by a web page" });
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "evil.example:7777"),
        ("host", "localhost.evil.example"),
        ("host", "127.0.0.1.nip.io"),
        ("host", "0.0.0.0:7777"),
        ("origin", "https://evil.example"),
        ("origin", "http://localhost.evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost:3000"),
        ("origin", "http://127.0.0.1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let page = me.with(name, value);
        page.get("/api/memory").await.refused(403, "cross_site");
        page.post("/api/memory", body.clone()).await.refused(403, "cross_site");
        page.get("/openapi.json").await.refused(403, "cross_site");
        page.get("/api/nothing").await.refused(403, "cross_site");
    }
    assert!(me.get("/api/memory").await.expect(200).each("id").is_empty());
    for (name, value) in [
        ("host", "localhost:7777"),
        ("host", "[::1]:7777"),
        ("origin", &me.base),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "none"),
    ] {
        me.with(name, value).get("/api/memory").await.expect(200);
    }
    // A simple form post is never parsed as JSON.
    let form = me.with("content-type", "text/plain");
    let text = body.to_string();
    form.send("POST", "/api/memory", text.into()).await.refused(415, "unsupported_media_type");
}

#[tokio::test]
async fn keys_mode_allows_cross_origin_requests_with_a_credential() {
    let app = TestApp::with_keys().await;
    let page =
        app.anonymous().with("origin", "https://evil.example").with("host", "memory.example");
    let refused = page.get("/api/memory").await.refused(401, "unauthenticated");
    // A page may send a token of its own; the browser's cookies for this server are not sent.
    assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
    assert_eq!(refused.header("access-control-allow-credentials"), None);
    let key = app.tenant_key("acme").await.about("alice").with("host", "memory.example");
    key.get("/api/memory").await.expect(200);
}

/// Runs `lukasa` until it exits; returns its exit code and standard error.
async fn lukasa(arguments: &[&str], database: &str) -> (Option<i32>, String) {
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"))
        .args(arguments)
        .env("DATABASE_URL", database)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(20), output).await;
    let output = output.expect("it gives up by itself").expect("lukasa runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[tokio::test]
async fn serving_the_network_without_authentication_is_refused() {
    let app = TestApp::local().await;
    let url = app.database.url();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let (code, stderr) = lukasa(&["serve", "--listen", address], &url).await;
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("without authentication"), "{stderr}");
        assert!(stderr.contains("lukasa key create") && stderr.contains("--auth keys"), "{stderr}");
    }
    let (code, stderr) = lukasa(&["serve", "--listen", "everywhere"], &url).await;
    assert_eq!(code, Some(2), "{stderr}");
}
