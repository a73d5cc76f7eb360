//! Hostile registrations, authorization requests and consents.

use lukasa_core::{Permission, TenantId};
use lukasa_server::clock;
use serde_json::json;

use super::{
    CALLBACK, ISSUER, assert_oauth_error, browser, connect, consent_fields, decide, exchange,
    post_form, redirected, register, request_with, start, tool, with_cookie,
};
use crate::app::Client;

#[tokio::test]
async fn oauth_registration_refuses_unsafe_redirect_uris() {
    let app = start().await;
    for uri in [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://assistant.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "https://assistant.example/cb#fragment",
        "https://assistant.example@evil.example/cb",
        "https://assistant.example/cb\r\nset-cookie: x",
        "custom://callback",
        "//assistant.example/cb",
        "/cb",
        "",
    ] {
        let metadata = json!({ "client_name": "x", "redirect_uris": [CALLBACK, uri] });
        let refused = app.anonymous().post("/oauth/register", metadata).await;
        assert_oauth_error(&refused, "invalid_redirect_uri");
    }
    for metadata in [json!({ "client_name": "x" }), json!({ "redirect_uris": [] })] {
        let refused = app.anonymous().post("/oauth/register", metadata).await;
        assert_oauth_error(&refused, "invalid_redirect_uri");
    }
    let metadata = json!({ "redirect_uris": [CALLBACK], "grant_types": ["client_credentials"] });
    let refused = app.anonymous().post("/oauth/register", metadata).await;
    assert_oauth_error(&refused, "invalid_client_metadata");
    let large = json!({ "redirect_uris": [CALLBACK], "x": "x".repeat(40_000) });
    app.anonymous().post("/oauth/register", large).await.refused(413, "body_too_large");
}

#[tokio::test]
async fn oauth_registration_issues_no_secret_and_is_rate_limited() {
    let app = start().await;
    let metadata = json!({ "redirect_uris": [CALLBACK],
        "token_endpoint_auth_method": "client_secret_post" });
    let made = app.anonymous().post("/oauth/register", metadata.clone()).await.expect(201).json();
    assert_eq!(made["token_endpoint_auth_method"], "none");
    assert!(made["client_secret"].is_null());
    assert_eq!(made["client_name"], "assistant.example", "a client without a name has its host's");
    for _ in 1..20 {
        app.anonymous().post("/oauth/register", metadata.clone()).await.expect(201);
    }
    let limited = app.anonymous().post("/oauth/register", metadata).await;
    let limited = limited.refused(429, "rate_limited");
    assert!(limited.header("retry-after").is_some());
    // Nothing of it is stored.
    let admin = app.database.admin().await;
    let stored = "select count(*) from credential where client_id is not null";
    assert_eq!(admin.query_one(stored, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn oauth_forged_client_ids_are_refused() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let real = register(&app, "Assistant", CALLBACK).await;
    let other = register(&app, "Evil", "https://evil.example/callback").await;
    let (content, _) = other.split_once('.').unwrap();
    let (_, seal) = real.split_once('.').unwrap();
    let long = "x".repeat(5_000);
    for forged in [
        format!("{content}.{seal}"),
        content.to_owned(),
        format!("{content}."),
        "lkc_.".to_owned(),
        "x".to_owned(),
        long,
    ] {
        for path in ["/oauth/authorize", "/oauth/consent"] {
            let query = request_with(&forged, &[("redirect_uri", "https://evil.example/callback")]);
            let shown = page.get(&format!("{path}?{query}")).await.expect(400);
            assert!(!shown.text().contains("evil.example"), "{}", shown.text());
        }
        let answer = exchange(&app, &forged, "lk_code_x", &[]).await;
        assert_eq!((answer.status, answer.at("/error").as_str()), (401, "invalid_client"));
    }
}

#[tokio::test]
async fn oauth_unregistered_redirect_uri_is_never_used() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    for uri in [
        "",
        "https://evil.example/callback",
        "https://assistant.example/callback/",
        "https://assistant.example/callback?next=https://evil.example",
        "https://assistant.example/callback/../evil",
        "https://assistant.example:444/callback",
        "https://assistant.example.evil.example/callback",
        "https://assistant.example@evil.example/callback",
        "http://assistant.example/callback",
        "https://ASSISTANT.example/callback",
        "https://assistant.example/callback#x",
        "javascript:alert(1)",
        "http://127.0.0.1/callback",
    ] {
        for path in ["/oauth/authorize", "/oauth/consent"] {
            let query = request_with(&client_id, &[("redirect_uri", uri)]);
            let shown = page.get(&format!("{path}?{query}")).await.expect(400);
            assert_eq!(shown.header("location"), None, "{uri}");
            assert!(!shown.text().contains("href"), "{uri}: {}", shown.text());
        }
    }
    // A parameter that occurs twice has no meaning.
    let twice = format!("{}&redirect_uri=https://evil.example/", request_with(&client_id, &[]));
    page.get(&format!("/oauth/consent?{twice}")).await.expect(400);
}

#[tokio::test]
async fn oauth_invalid_requests_are_shown_and_not_redirected() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    for (changed, error) in [
        (vec![("code_challenge", "")], "invalid_request"),
        (vec![("code_challenge_method", "")], "invalid_request"),
        (vec![("code_challenge_method", "plain")], "invalid_request"),
        (vec![("code_challenge", "short")], "invalid_request"),
        (vec![("code_challenge", ""), ("code_challenge_method", "")], "invalid_request"),
        (vec![("response_mode", "fragment")], "invalid_request"),
        (vec![("response_type", "")], "unsupported_response_type"),
        (vec![("response_type", "token")], "unsupported_response_type"),
        (vec![("scope", "admin")], "invalid_scope"),
        (vec![("scope", "read admin")], "invalid_scope"),
        (vec![("scope", "erase")], "invalid_scope"),
        (vec![("scope", "chat")], "invalid_scope"),
        (vec![("resource", "https://evil.example/mcp")], "invalid_target"),
        (vec![("resource", "https://memory.example/api")], "invalid_target"),
    ] {
        for path in ["/oauth/authorize", "/oauth/consent"] {
            let query = request_with(&client_id, &changed);
            let shown = page.get(&format!("{path}?{query}")).await.expect(400);
            // Any site can register, so an automatic redirect would lead anywhere.
            assert_eq!(shown.header("location"), None, "{changed:?}");
            assert!(!shown.text().contains("http-equiv=\"refresh\""), "{changed:?}");
            let back = format!("{CALLBACK}?error={error}&amp;");
            assert!(shown.text().contains(&back), "{changed:?}: {}", shown.text());
        }
        // Nor can such a request be answered without its page.
        let (_, token) = consent_fields(&page, &request_with(&client_id, &[])).await;
        let request = request_with(&client_id, &changed);
        let fields = [("request", request.as_str()), ("token", &token), ("decision", "allow")];
        post_form(&page, "/oauth/consent", &fields).await.expect(400);
    }
    assert_eq!(page.get("/api/sign-ins").await.expect(200).each("kind"), ["sign_in"]);
}

#[tokio::test]
async fn oauth_client_name_cannot_inject_markup() {
    let app = start().await;
    let page = browser(&app, "alice").await;
    for name in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</b></p><form action=https://evil.example>",
        "'; DROP TABLE credential; --",
        "\u{202e}gnirts",
        "&lt;b&gt;",
    ] {
        let client_id = register(&app, name, CALLBACK).await;
        let query = request_with(&client_id, &[("state", "\"><script>alert(2)</script>")]);
        for path in ["/oauth/authorize", "/oauth/consent"] {
            let shown = page.get(&format!("{path}?{query}")).await.expect(200).text();
            for markup in ["<script", "<img", "<form action=https", "\u{202e}", "onerror=alert(1)>"]
            {
                assert!(!shown.contains(markup), "{name}: {shown}");
            }
        }
        let (_, params) = redirected(decide(&page, &query, "allow").await);
        assert_eq!(
            params["state"], "\"><script>alert(2)</script>",
            "the state comes back as it was"
        );
    }
}

#[tokio::test]
async fn oauth_consent_is_refused_from_another_site_or_session() {
    let app = start().await;
    let (alice, bob) = (browser(&app, "alice").await, browser(&app, "bob").await);
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let query = request_with(&client_id, &[]);
    let (request, token) = consent_fields(&alice, &query).await;
    let send = async |page: &Client, request: &str, token: &str| {
        let fields = [("request", request), ("token", token), ("decision", "allow")];
        post_form(page, "/oauth/consent", &fields).await
    };
    // Another site, or a request without an origin.
    for origin in [
        "https://evil.example",
        "null",
        "http://memory.example",
        "https://memory.example.evil.example",
        "",
    ] {
        send(&alice.with("origin", origin), &request, &token).await.refused(403, "cross_site");
    }
    for site in ["cross-site", "same-site", "none"] {
        let page = alice.with("sec-fetch-site", site);
        send(&page, &request, &token).await.refused(401, "unauthenticated");
    }
    // Without a sign-in, or with a credential that is not one.
    let nameless = app.anonymous().with("origin", ISSUER).with("sec-fetch-site", "same-origin");
    send(&nameless, &request, &token).await.refused(401, "unauthenticated");
    for client in [app.human("acme", "alice").await, app.tenant_key("acme").await.about("alice")] {
        let client = client.with("origin", ISSUER);
        send(&client, &request, &token).await.refused(401, "unauthenticated");
        client.get(&format!("/oauth/consent?{query}")).await.expect(303);
    }
    // Another user's session, no token, a changed token or a changed request.
    send(&bob, &request, &token).await.refused(403, "cross_site");
    let (expires, seal) = token.split_once('.').unwrap();
    let later = format!("{}.{seal}", expires.parse::<i64>().unwrap() + 1);
    let past = format!("0.{seal}");
    for forged in ["x", ".", &later, &past, &format!("{expires}."), expires] {
        send(&alice, &request, forged).await.refused(403, "cross_site");
    }
    send(&alice, &request, "").await.refused(400, "malformed_body");
    let wider = request_with(&client_id, &[("scope", "read")]);
    send(&alice, &wider, &token).await.refused(403, "cross_site");
    for page in [&alice, &bob] {
        let kinds = page.get("/api/sign-ins").await.expect(200).each("kind");
        assert!(!kinds.contains(&"connector".to_owned()), "{kinds:?}");
    }
    // The page that was shown to alice is still hers to answer, and connects her memory.
    send(&alice, &request, &token).await.expect(303);
    let connectors = alice.get("/api/sign-ins").await.expect(200).json();
    let connector =
        connectors["data"].as_array().unwrap().iter().find(|e| e["kind"] == "connector");
    assert_eq!(connector.unwrap()["user"], "alice");
}

#[tokio::test]
async fn oauth_consent_gives_no_more_than_the_sign_in_has() {
    let app = start().await;
    let (tenant, may) = (TenantId::named("acme"), [Permission::Read]);
    let (random, now) = (clock::random(), clock::now());
    let link = app.engine.credentials.make_link(tenant, None, "alice", &may, &random, now).await;
    let sent = json!({ "link": link.unwrap().text });
    let page = with_cookie(&app, &app.anonymous().post("/api/sign-in", sent).await.expect(201));
    let one = connect(&app, &page).await;
    let listed = page.get("/api/sign-ins").await.expect(200).json();
    assert_eq!(listed["data"][0]["permissions"], json!(["read"]));
    let answer = tool(&app, &one.access, "save_memory", json!({ "content": "x" })).await;
    assert_eq!(answer["isError"], true, "{answer:#}");
    let query = request_with(&one.client_id, &[("scope", "write")]);
    page.get(&format!("/oauth/consent?{query}")).await.expect(403);
}

#[tokio::test]
async fn oauth_pages_are_refused_to_a_frame_and_to_long_requests() {
    let app = start().await;
    let client_id = register(&app, "Assistant", CALLBACK).await;
    let long = request_with(&client_id, &[("state", "x".repeat(9_000).as_str())]);
    let shown = app.anonymous().get(&format!("/oauth/authorize?{long}")).await.expect(400);
    assert_eq!(shown.header("x-frame-options"), Some("DENY"));
    assert_eq!(shown.header("cache-control"), Some("no-store"));
}
