//! Nobody reaches another's memory by way of mem0's shapes: whatever is somebody else's is answered like
//! what is not there, byte for byte.

use lukasa_core::Permission;
use serde_json::{Value, json};

use super::{added, all, as_token, texts};
use crate::app::{Answer, TestApp, canary};

/// An answer without what is of the one request: its id, and the time.
fn bare(answer: Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers = answer.headers;
    headers.retain(|(name, _)| !["date", "lukasa-request-id"].contains(&name.as_str()));
    (answer.status, headers, answer.body.to_vec())
}

/// Every way to name one memory.
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
async fn another_users_memory_is_like_one_that_is_not_there() {
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
        for (theirs, nobodys) in pairs {
            for ((method, path, body), (_, other, nothing)) in
                ways(theirs).into_iter().zip(ways(nobodys))
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
async fn a_bound_key_cannot_name_somebody_else() {
    let app = TestApp::with_keys().await;
    let backend = as_token(&app.tenant_key("acme").await);
    added(&backend, "bob", "Bob's").await;
    let alice = as_token(&app.bound_key("acme", "alice").await);
    let said = json!({ "messages": "x", "user_id": "bob", "infer": false });
    let by_filter = json!({ "messages": "x", "filters": { "user_id": "bob" }, "infer": false });
    let asked = json!({ "query": "x", "filters": { "user_id": "bob" } });
    for (method, path, body) in [
        ("POST", "/mem0/v3/memories/add/", Some(said.clone())),
        ("POST", "/mem0/v3/memories/add/", Some(by_filter)),
        ("POST", "/mem0/memories", Some(said)),
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
    // It needs to name nobody, and may name itself.
    let own = json!({ "messages": "I like figs", "infer": false });
    alice.post("/mem0/v3/memories/add/", own).await.expect(200);
    assert_eq!(texts(&all(&alice, json!({})).await.expect(200)), ["I like figs"]);
    assert_eq!(texts(&all(&alice, json!({ "user_id": "alice" })).await), ["I like figs"]);
    assert_eq!(alice.get("/mem0/v1/entities/").await.expect(403).code(), "forbidden");
}

#[tokio::test]
async fn the_door_asks_for_what_every_door_asks_for() {
    let app = TestApp::with_keys().await;
    let backend = as_token(&app.tenant_key("acme").await);
    let id = added(&backend, "bob", "Bob's").await;
    let nobody = app.anonymous();
    let wrong = nobody.with("authorization", "Token lk_live_nonsense");
    let reader = as_token(&app.key_that_may("acme", &[Permission::Read]).await);
    for (method, path, body) in ways(&id) {
        for who in [&nobody, &wrong] {
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
    nobody.get("/mem0/v1/ping/").await.expect(401);
    // `Token` opens this door only.
    reader.about("bob").get("/api/memory").await.refused(401, "unauthenticated");
    // A key for everybody must say whose memory it means, above all to forget it.
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
    // Nor does a filter that cannot be read let everything go.
    for query in ["", "?filters=%7B%27agent_id%27%3A%20%27a%27%7D"] {
        alice.delete(&format!("/mem0/v1/memories/{query}")).await.expect(400);
    }
    assert_eq!(texts(&all(&alice, json!({})).await), ["Alice's"]);
}
