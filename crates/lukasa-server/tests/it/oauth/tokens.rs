//! Stolen, repeated, expired and foreign codes and tokens.

use std::sync::Arc;

use lukasa_core::model::NoModels;
use lukasa_server::api::{App, AuthMode};
use lukasa_server::http::router;
use serde_json::json;

use super::{
    CALLBACK, CHALLENGE, assert_oauth_error, assert_token_refused, browser, code_for, connect,
    decide, exchange, mcp, refresh, register, request_with, settings, start, tool,
};

#[tokio::test]
async fn oauth_code_replay_revokes_issued_tokens() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    let next = refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    mcp(&app, &next.at("/access_token"), "tools/list", json!({})).await.expect(200);
    assert_oauth_error(&exchange(&app, &one.client_id, &one.code, &[]).await, "invalid_grant");
    for token in [&one.access, &next.at("/access_token")] {
        assert_token_refused(&app, token).await;
    }
    let token = next.at("/refresh_token");
    assert_oauth_error(&refresh(&app, &one.client_id, &token, "").await, "invalid_grant");
    assert_eq!(page.get("/api/sign-ins").await.expect(200).each("kind"), ["sign_in"]);
}

#[tokio::test]
async fn oauth_concurrent_use_of_a_code_leaves_no_valid_token() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    for _ in 0..3 {
        let code = code_for(&page, &request_with(&client_id, &[])).await;
        let (one, two) = tokio::join!(
            exchange(&app, &client_id, &code, &[]),
            exchange(&app, &client_id, &code, &[])
        );
        let mut came = [one.status, two.status];
        came.sort_unstable();
        assert_eq!(came, [200, 400]);
        let issued = if one.status == 200 { one } else { two };
        assert_token_refused(&app, &issued.at("/access_token")).await;
    }
}

#[tokio::test]
async fn oauth_code_is_used_up_by_a_wrong_exchange() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let other = register(&app, "Other", "https://other.example/cb").await;
    let long = "x".repeat(43);
    for (who, changed) in [
        (&client_id, vec![("code_verifier", long.as_str())]),
        (&client_id, vec![("code_verifier", CHALLENGE)]),
        (&client_id, vec![("redirect_uri", "https://evil.example/callback")]),
        (&other, vec![]),
    ] {
        let code = code_for(&page, &request_with(&client_id, &[])).await;
        assert_oauth_error(&exchange(&app, who, &code, &changed).await, "invalid_grant");
        assert_oauth_error(&exchange(&app, &client_id, &code, &[]).await, "invalid_grant");
    }
    // What is not an exchange leaves the code as it is.
    let code = code_for(&page, &request_with(&client_id, &[])).await;
    for (changed, error) in [
        (vec![("code_verifier", "")], "invalid_request"),
        (vec![("grant_type", "password")], "unsupported_grant_type"),
        (vec![("resource", "https://evil.example/mcp")], "invalid_target"),
    ] {
        assert_oauth_error(&exchange(&app, &client_id, &code, &changed).await, error);
    }
    exchange(&app, &client_id, &code, &[("resource", "")]).await.expect(200);
    assert_eq!(
        page.get("/api/sign-ins").await.expect(200).each("kind"),
        ["connector", "sign_in"],
        "a refused exchange ends its connector"
    );
}

#[tokio::test]
async fn oauth_expired_code_and_tokens_are_refused() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let admin = app.database.admin().await;
    let code = code_for(&page, &request_with(&client_id, &[])).await;
    let lives = "select extract(epoch from expires_at - created_at)::bigint, encode(secret_hash, 'hex') \
                 from credential where kind = 'code'";
    let row = admin.query_one(lives, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 60);
    assert!(!code.contains(&row.get::<_, String>(1)), "only a hash is stored");
    let expire = async |kind: &str| {
        let sql = "update credential set expires_at = now() where kind = $1";
        admin.execute(sql, &[&kind]).await.unwrap();
    };
    expire("code").await;
    assert_oauth_error(&exchange(&app, &client_id, &code, &[]).await, "invalid_grant");

    let one = connect(&app, &page).await;
    expire("access").await;
    assert_token_refused(&app, &one.access).await;
    let next = refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    expire("refresh").await;
    let token = next.at("/refresh_token");
    assert_oauth_error(&refresh(&app, &one.client_id, &token, "").await, "invalid_grant");

    // A consent that has ended ends its tokens, although they have not expired themselves.
    let two = connect(&app, &page).await;
    expire("connector").await;
    assert_token_refused(&app, &two.access).await;
    assert_oauth_error(&refresh(&app, &two.client_id, &two.refresh, "").await, "invalid_grant");
}

#[tokio::test]
async fn oauth_refresh_reuse_revokes_the_connector() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    let next = refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    mcp(&app, &next.at("/access_token"), "tools/list", json!({})).await.expect(200);
    assert_oauth_error(&refresh(&app, &one.client_id, &one.refresh, "").await, "invalid_grant");
    assert_token_refused(&app, &next.at("/access_token")).await;
    let token = next.at("/refresh_token");
    assert_oauth_error(&refresh(&app, &one.client_id, &token, "").await, "invalid_grant");
    // The same for a token that another client presents.
    let two = connect(&app, &page).await;
    let other = register(&app, "Other", "https://other.example/cb").await;
    assert_oauth_error(&refresh(&app, &other, &two.refresh, "").await, "invalid_grant");
    assert_token_refused(&app, &two.access).await;
}

#[tokio::test]
async fn oauth_refresh_cannot_widen_the_scope() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let code = code_for(&page, &request_with(&client_id, &[("scope", "read")])).await;
    let issued = exchange(&app, &client_id, &code, &[("scope", "read write")]).await.expect(200);
    assert_eq!(issued.at("/scope"), "read", "the scope is what the user allowed");
    let token = issued.at("/refresh_token");
    for scope in ["write", "read write", "read propose", "admin", "read admin", "erase", "chat"] {
        assert_oauth_error(&refresh(&app, &client_id, &token, scope).await, "invalid_scope");
    }
    let next = refresh(&app, &client_id, &token, "").await.expect(200);
    assert_eq!(next.at("/scope"), "read");
    let saved =
        tool(&app, &next.at("/access_token"), "save_memory", json!({ "content": "x" })).await;
    assert_eq!(saved["isError"], true, "{saved:#}");
}

#[tokio::test]
async fn oauth_access_token_is_valid_only_at_mcp_of_its_server_and_user() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let one = connect(&app, &page).await;
    mcp(&app, &one.access, "tools/list", json!({})).await.expect(200);
    let token = app.presenting(&one.access);
    for path in [
        "/api/memory",
        "/api/sign-in",
        "/api/sign-ins",
        "/api/keys",
        "/api/export",
        "/mem0/v1/memories/",
    ] {
        let status = token.get(path).await.status;
        assert_eq!(status, 401, "{path}");
    }
    token.post("/api/tokens", json!({ "user": "alice" })).await.refused(401, "unauthenticated");
    token.post("/v1/chat/completions", json!({ "messages": [] })).await.expect(401);
    let sent = json!({ "key": one.access, "user": "alice" });
    app.anonymous().post("/api/sign-in", sent).await.refused(401, "unauthenticated");
    for secret in [&one.refresh, &one.code] {
        assert_token_refused(&app, secret).await;
        app.presenting(secret).get("/api/memory").await.refused(401, "unauthenticated");
    }
    let older = token.with("accept", "application/json, text/event-stream");
    let older = older.with("mcp-protocol-version", "2025-11-25");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    older.about("bob").post("/mcp", list.clone()).await.refused(403, "wrong_user");
    older.post("/mcp/bob", list).await.refused(403, "wrong_user");

    // The same database behind another address: the token was not issued for it.
    let engine = lukasa_engine::Engine::connect(&app.database.connect()).unwrap();
    let engine = engine.with_models(Arc::new(NoModels));
    let elsewhere = App::new(engine, AuthMode::Keys).with_mcp(settings("https://other.example"));
    let (base, _server) = crate::app::serve(router(elsewhere)).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    older.at(&base).post("/mcp", list).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn oauth_connectors_of_a_user_and_their_tokens_are_bounded() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let query = request_with(&client_id, &[]);
    let one = connect(&app, &page).await;
    let admin = app.database.admin().await;
    // Many old tokens of one connector, as after many refreshes.
    let many = "insert into credential (key_id, tenant_id, user_id, user_name, kind, name, secret_hash, \
                  permissions, origin, minted_by, created_at, expires_at, client_id, resource) \
                select 'old' || n, tenant_id, user_id, user_name, kind, name, secret_hash, permissions, \
                  origin, minted_by, created_at - interval '1 hour', expires_at, client_id, resource \
                  from credential, generate_series(1, 500) n where kind = 'refresh'";
    admin.execute(many, &[]).await.unwrap();
    refresh(&app, &one.client_id, &one.refresh, "").await.expect(200);
    let count = "select count(*) from credential where kind in ('code', 'access', 'refresh')";
    assert_eq!(admin.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 200);

    let many = "insert into credential (key_id, tenant_id, user_id, user_name, kind, name, secret_hash, \
                  permissions, origin, minted_by, created_at, expires_at, client_id, resource) \
                select 'conn' || n, tenant_id, user_id, user_name, kind, name, secret_hash, permissions, \
                  origin, minted_by, created_at, expires_at, client_id, resource \
                  from credential, generate_series(1, 49) n where kind = 'connector'";
    admin.execute(many, &[]).await.unwrap();
    let refused = decide(&page, &query, "allow").await.refused(422, "invalid_request");
    assert!(refused.text().contains("too many connected assistants"), "{}", refused.text());
}
