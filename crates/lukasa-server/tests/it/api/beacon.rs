//! The beacon that a page sends on unload: plain text, no headers, and a response that is not read
//! (R052).

use lukasa_server::clock;
use serde_json::json;

use crate::app::{Answer, Client, PERSONAL, TestApp};

/// Sends the body as `navigator.sendBeacon` does.
async fn beacon(client: &Client, body: &str) -> Answer {
    let page = client.with("content-type", "text/plain;charset=UTF-8");
    page.send("POST", "/api/beacon", body.to_owned().into()).await
}

fn body(session: &str, token: &str) -> String {
    json!({ "session_id": session, "token": token }).to_string()
}

async fn talk(client: &Client) {
    let turns = json!({ "turns": [{ "role": "user", "content": "hello" }] });
    client.post("/api/sessions/c/turns", turns).await.expect(201);
}

#[tokio::test]
async fn beacon_closes_its_session_without_headers() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    talk(&alice).await;
    let token = app.mint("acme", "alice", clock::now()).await;
    let closed = beacon(&app.anonymous(), &body("c", &token)).await.expect(202);
    assert!(closed.body.is_empty());
    assert_eq!(alice.get("/api/sessions/c").await.at("/state"), "idle");
    let again = beacon(&app.anonymous(), &body("c", &token)).await.expect(202);
    let nowhere = beacon(&app.anonymous(), &body("nowhere", &token)).await.expect(202);
    assert_eq!(
        (again.body, nowhere.body),
        (closed.body.clone(), closed.body),
        "the response reveals nothing"
    );
}

#[tokio::test]
async fn beacon_with_a_wrong_token_changes_nothing_and_reveals_nothing() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let alice = acme.about("alice");
    talk(&alice).await;
    let hour_ago = clock::now() - jiff::SignedDuration::from_hours(1);
    let old = app.mint("acme", "alice", hour_ago).await;
    let good = app.mint("acme", "alice", clock::now()).await;
    let mut answers = Vec::new();
    for token in ["", "let me in", "lk_user_x", "a\nb", &old, &good[..good.len() - 1]] {
        for session in ["c", "nowhere"] {
            let answer = beacon(&app.anonymous(), &body(session, token)).await;
            answers.push(answer.refused(401, "unauthenticated").text());
        }
    }
    answers.push(beacon(&app.anonymous(), r#"{"session_id":"c"}"#).await.expect(401).text());
    answers.dedup();
    assert_eq!(answers.len(), 1, "every refusal is the same: {answers:?}");
    for malformed in ["", "c", "{}", r#"{"session_id":7}"#, r#"{"session_id":"c","more":1}"#] {
        beacon(&app.anonymous(), malformed).await.refused(400, "malformed_body");
    }
    let reads = app.make_key("acme", Some("alice"), &PERSONAL[..1], None).await.1;
    beacon(&app.anonymous(), &body("c", &reads)).await.refused(403, "forbidden");
    // Another user's token closes only that user's session.
    let bobs = app.mint("acme", "bob", clock::now()).await;
    beacon(&app.anonymous(), &body("c", &bobs)).await.expect(202);
    assert_eq!(alice.get("/api/sessions/c").await.at("/state"), "active");
    let big = format!("{}{}", body("c", &good), " ".repeat(300_000));
    beacon(&app.anonymous(), &big).await.refused(413, "body_too_large");
}

#[tokio::test]
async fn beacon_from_another_origin_is_refused() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    talk(&me).await;
    let evil = me.with("origin", "https://evil.example");
    beacon(&evil, r#"{"session_id":"c"}"#).await.refused(403, "cross_site");
    assert_eq!(me.get("/api/sessions/c").await.at("/state"), "active");
    beacon(&me, r#"{"session_id":"a\u0000"}"#).await.refused(422, "invalid_request");
    me.get("/api/sessions/a%00b").await.refused(404, "session_not_found");
    let own = me.with("origin", &me.base);
    beacon(&own, r#"{"session_id":"c"}"#).await.expect(202);
    assert_eq!(me.get("/api/sessions/c").await.at("/state"), "idle");
}
