//! The mem0 API reaches no other user's memory: another user's memory is answered like an unknown
//! one, byte for byte.

use lukasa_core::Permission;
use serde_json::{Value, json};

use super::{added, all, as_token, texts};
use crate::app::{Answer, TestApp, canary};

/// A response without its request id and date.
fn bare(answer: Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers = answer.headers;
    headers.retain(|(name, _)| !["date", "lukasa-request-id"].contains(&name.as_str()));
    (answer.status, headers, answer.body.to_vec())
}

/// Every request that names one memory.
fn ways(id: &str) -> Vec<(&'static str, String, Option<Value>)> {
    let (hosted, own) = (format!("/mem0/v1/memories/{id}/"), format!("/mem0/memories/{id}"));
    let several = json!({ "memories": [{ "memory_id": id, "text": "mine now" }] });
    vec![
        ("GET", hosted.clone(), None),
        ("GET", format!("{hosted}history/"), None),
        ("PUT", hosted.clone(), Some(json!({ "text": "mine now" }))),
        ("DELETE", hosted, None),
        ("GET", own.clone(), None),
        ("GET", format!("{own}/history"), None),
        ("PUT", own.clone(), Some(json!({ "text": "mine now" }))),
        ("DELETE", own, None),
        ("PUT", "/mem0/v1/batch/".into(), Some(several.clone())),
        ("DELETE", "/mem0/v1/batch/".into(), Some(several)),
    ]
}

#[tokio::test]
async fn mem0_foreign_memory_is_answered_like_an_unknown_one() {
    let app = TestApp::with_keys().await;
    let backend = as_token(&app.tenant_key("acme").await);
    let secret = canary("bob");
    let bobs = added(&backend, "bob", &secret).await;
    let plain = bobs.split('.').next().unwrap().to_owned();
    let (memory, owner) = bobs.split_once('.').unwrap();
    let absent = format!("{}.{owner}", "mem_01hx3v9d0kf7rtm4q5wz8yb2ca");
    let absent_plain = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca".to_owned();
    // The same memory under alice's name is not there either.
    let as_alices = format!("{memory}.YWxpY2U");
    let absent_alices = format!("{absent_plain}.YWxpY2U");
    let pairs = [(&bobs, &absent), (&plain, &absent_plain), (&as_alices, &absent_alices)];
    let alice = as_token(&app.bound_key("acme", "alice").await);
    let token = as_token(&app.human("acme", "alice").await);
    let outsider = as_token(&app.tenant_key("globex").await);
    for who in [&alice, &token, &outsider] {
        added(who, "alice", "something of alice's").await;
        for (theirs, unknown) in pairs {
            for ((method, path, body), (_, other, nothing)) in
                ways(theirs).into_iter().zip(ways(unknown))
            {
                let what = format!("{method} {path}");
                let answer = who.call(method, &path, body).await;
                let like = who.call(method, &other, nothing).await;
                assert_eq!(
                    (answer.status, answer.code().as_str()),
                    (404, "memory_not_found"),
                    "{what}"
                );
                assert_eq!(bare(answer), bare(like), "{what}");
            }
        }
        for filters in [json!({ "user_id": "alice" }), json!({ "OR": [{ "user_id": "alice" }] })] {
            let listed = all(who, filters).await.expect(200);
            assert!(!listed.text().contains(&secret));
        }
    }
    // Nothing was touched.
    let listed = all(&backend, json!({ "user_id": "bob" })).await.expect(200);
    assert_eq!(texts(&listed), [secret]);
}

#[tokio::test]
async fn mem0_bound_key_cannot_name_another_user() {
    let app = TestApp::with_keys().await;
    let backend = as_token(&app.tenant_key("acme").await);
    added(&backend, "bob", "Bob's").await;
    let alice = as_token(&app.bound_key("acme", "alice").await);
    let message = json!({ "messages": "x", "user_id": "bob", "infer": false });
    let by_filter = json!({ "messages": "x", "filters": { "user_id": "bob" }, "infer": false });
    let asked = json!({ "query": "x", "filters": { "user_id": "bob" } });
    for (method, path, body) in [
        ("POST", "/mem0/v3/memories/add/", Some(message.clone())),
        ("POST", "/mem0/v3/memories/add/", Some(by_filter)),
        ("POST", "/mem0/memories", Some(message)),
        ("POST", "/mem0/v3/memories/search/", Some(asked.clone())),
        ("POST", "/mem0/search", Some(asked.clone())),
        ("POST", "/mem0/v3/memories/", Some(asked)),
        ("GET", "/mem0/memories?user_id=bob", None),
        ("DELETE", "/mem0/memories?user_id=bob", None),
        ("DELETE", "/mem0/v1/memories/?user_id=bob", None),
        ("DELETE", "/mem0/v2/entities/user/bob/", None),
    ] {
        let answer = alice.call(method, path, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "wrong_user"), "{method} {path}");
    }
    // It need not name a user, and may name its own.
    let own = json!({ "messages": "I like figs", "infer": false });
    alice.post("/mem0/v3/memories/add/", own).await.expect(200);
    assert_eq!(texts(&all(&alice, json!({})).await.expect(200)), ["I like figs"]);
    assert_eq!(texts(&all(&alice, json!({ "user_id": "alice" })).await), ["I like figs"]);
    assert_eq!(alice.get("/mem0/v1/entities/").await.expect(403).code(), "forbidden");
}

#[tokio::test]
async fn mem0_enforces_credentials_permissions_and_users() {
    let app = TestApp::with_keys().await;
    let backend = as_token(&app.tenant_key("acme").await);
    let id = added(&backend, "bob", "Bob's").await;
    let anonymous = app.anonymous();
    let wrong = anonymous.with("authorization", "Token lk_live_nonsense");
    let reader = as_token(&app.key_with_permissions("acme", &[Permission::Read]).await);
    for (method, path, body) in ways(&id) {
        for who in [&anonymous, &wrong] {
            let answer = who.call(method, &path, body.clone()).await;
            assert_eq!(answer.status, 401, "{method} {path}");
        }
        if method != "GET" {
            let answer = reader.call(method, &path, body).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (403, "forbidden"),
                "{method} {path}"
            );
        }
    }
    anonymous.get("/mem0/v1/ping/").await.expect(401);
    // The scheme `Token` is valid for the mem0 API only.
    reader.about("bob").get("/api/memory").await.refused(401, "unauthenticated");
    // A key for all users must name a user, above all to forget.
    for (method, path, body) in [
        ("POST", "/mem0/v3/memories/add/", Some(json!({ "messages": "x", "infer": false }))),
        ("POST", "/mem0/v3/memories/search/", Some(json!({ "query": "x" }))),
        ("GET", "/mem0/memories", None),
        ("DELETE", "/mem0/v1/memories/", None),
        ("DELETE", "/mem0/v1/memories/?agent_id=a", None),
    ] {
        let answer = backend.call(method, path, body).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "user_required"),
            "{method} {path}"
        );
    }
    let alice = as_token(&app.bound_key("acme", "alice").await);
    added(&alice, "alice", "Alice's").await;
    // A filter that cannot be parsed does not delete everything.
    for query in ["", "?filters=%7B%27agent_id%27%3A%20%27a%27%7D"] {
        alice.delete(&format!("/mem0/v1/memories/{query}")).await.expect(400);
    }
    assert_eq!(texts(&all(&alice, json!({})).await), ["Alice's"]);
}
