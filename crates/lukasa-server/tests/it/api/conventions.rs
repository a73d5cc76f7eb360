//! Conventions of every operation: problem documents, headers, versions, idempotency keys, and that
//! malformed requests never break the server.

use std::collections::BTreeSet;
use std::io::Read as _;

use lukasa_server::api::ErrorCode;
use lukasa_server::http::VERSION;
use serde_json::json;

use crate::app::{Answer, Client, TestApp};

async fn alice(app: &TestApp) -> Client {
    app.tenant_key("acme").await.about("alice")
}

fn json_of(client: &Client) -> Client {
    client.with("content-type", "application/json")
}

#[tokio::test]
async fn client_errors_have_stable_codes() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let json = json_of(&alice);
    let unknown = json!({ "content": "x", "colour": "red" });
    let unknown = alice.post("/api/memory", unknown).await.refused(400, "malformed_body");
    assert!(unknown.at("/detail").contains("colour"), "{}", unknown.text());
    for body in ["{", "", "null", "[]", "{\"content\": 7}", "{\"content\": \"x\"} trailing"] {
        json.send("POST", "/api/memory", body.into()).await.refused(400, "malformed_body");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"] {
        let client = alice.with("content-type", kind);
        let form = client.send("POST", "/api/memory", "{\"content\":\"x\"}".into()).await;
        form.refused(415, "unsupported_media_type");
    }
    alice.send("POST", "/api/memory", "{}".into()).await.refused(415, "unsupported_media_type");
    let charset = alice.with("content-type", "application/json; charset=utf-8");
    charset.send("POST", "/api/memory", "{\"content\":\"x\"}".into()).await.expect(201);

    let large = json!({ "content": "x".repeat(300 * 1024) });
    alice.post("/api/memory", large).await.refused(413, "body_too_large");
    let long = json!({ "content": "x".repeat(2_001) });
    let long = alice.post("/api/memory", long).await.refused(422, "invalid_request");
    assert_eq!(long.at("/errors/0/pointer"), "/content");
    alice.get("/api/nothing").await.refused(404, "not_found");
    alice.get("/nothing").await.refused(404, "not_found");
    app.anonymous().get("/api/nothing").await.refused(404, "not_found");
    alice.put("/api/memory", json!({})).await.refused(405, "method_not_allowed");
    app.anonymous().delete("/healthz").await.refused(405, "method_not_allowed");
    let closed = json!({ "content": "x", "kind": "mood", "category": "tone", "force": "iron" });
    let closed = alice.post("/api/memory", closed).await.refused(422, "invalid_request");
    assert_eq!(closed.json()["errors"].as_array().unwrap().len(), 3, "every fault at once");

    let unnamed = app.tenant_key("acme").await;
    unnamed.get("/api/memory").await.refused(400, "user_required");
    for name in ["", " ", &"x".repeat(256)] {
        unnamed.about(name).get("/api/memory").await.refused(400, "malformed_header");
    }
}

#[tokio::test]
async fn unsupported_api_version_is_refused_and_responses_name_the_supported_one() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    alice.with("lukasa-version", VERSION).get("/api/memory").await.expect(200);
    let old = alice.with("lukasa-version", "2020-01-01");
    old.get("/api/memory").await.refused(400, "unsupported_version");
    let anonymous = app.anonymous();
    let large = "x".repeat(300 * 1024);
    let answers: Vec<Answer> = vec![
        alice.get("/api/memory").await,
        alice.post("/api/memory", json!({ "content": "x" })).await,
        alice.post("/api/memory", json!({ "content": large })).await,
        alice.post("/api/memory", json!({})).await,
        alice.get("/api/memory/none").await,
        alice.get("/nothing").await,
        alice.delete("/healthz").await,
        old.get("/api/memory").await,
        anonymous.get("/api/memory").await,
        anonymous.get("/healthz").await,
        anonymous.get("/readyz").await,
        anonymous.get("/openapi.json").await,
    ];
    let mut ids = BTreeSet::new();
    for answer in &answers {
        assert_eq!(answer.header("lukasa-version"), Some(VERSION), "{}", answer.text());
        let id = answer.header("lukasa-request-id").unwrap().to_owned();
        assert!(id.starts_with("req_") && ids.insert(id.clone()), "{id}");
        if !answer.is_good() {
            assert_eq!(answer.header("content-type"), Some("application/problem+json"));
            assert!(ErrorCode::parse(&answer.code()).is_some(), "{}", answer.text());
            assert!(!answer.text().contains(&id), "the body does not depend on the request");
        }
    }
    assert_eq!(answers[8].header("www-authenticate"), Some("Bearer"));
    let document = serde_json::to_value(lukasa_server::http::document()).unwrap();
    assert_eq!(answers[11].json(), document);
}

#[tokio::test]
async fn retry_with_an_idempotency_key_replays_the_response() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body = json!({ "content": "Likes tea" });
    let once = alice.with("idempotency-key", "k1");
    let first = once.post("/api/memory", body.clone()).await.expect(201);
    let path = format!("/api/memory/{}", first.at("/memory/id"));
    let change = json!({ "content": "Likes mate" });
    let twice = alice.with("idempotency-key", "k2");
    let changed = twice.patch(&path, change.clone()).await.expect(200);
    // The replayed response does not show what happened after the first one.
    let again = once.post("/api/memory", body.clone()).await.expect(201);
    assert_eq!((&again.body, again.header("etag")), (&first.body, first.header("etag")));
    let again = twice.patch(&path, change.clone()).await.expect(200);
    assert_eq!(again.body, changed.body);
    assert_eq!(alice.get("/api/operations").await.each("verb"), ["change", "save"]);

    once.post("/api/memory", change.clone()).await.refused(422, "idempotency_mismatch");
    once.post("/api/memory/propose", body.clone()).await.refused(422, "idempotency_mismatch");
    once.patch(&path, change).await.refused(422, "idempotency_mismatch");
    // A refusal is not stored: the key can be used again for the corrected request.
    let third = alice.with("idempotency-key", "k3");
    third.post("/api/memory", json!({ "content": "" })).await.refused(422, "invalid_request");
    third.post("/api/memory", json!({ "content": "Likes rum" })).await.expect(201);
    for key in ["", &"x".repeat(256)] {
        let odd = alice.with("idempotency-key", key);
        odd.post("/api/memory", body.clone()).await.refused(400, "malformed_header");
    }
    alice.with("idempotency-key", &"x".repeat(255)).post("/api/memory", body.clone()).await;
    alice.post(&format!("{path}/erase"), json!({})).await.expect(200);
    once.post("/api/memory", body).await.refused(410, "answer_erased");
}

#[tokio::test]
async fn concurrent_retries_have_one_effect() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await.with("idempotency-key", "race");
    let body = || json!({ "content": "Likes tea" });
    let (a, b, c, d) = tokio::join!(
        alice.post("/api/memory", body()),
        alice.post("/api/memory", body()),
        alice.post("/api/memory", body()),
        alice.post("/api/memory", body()),
    );
    assert_eq!(a.status, 201, "{}", a.text());
    for other in [b, c, d] {
        assert_eq!((other.status, &other.body), (201, &a.body));
    }
    assert_eq!(alice.get("/api/operations").await.each("verb"), ["save"]);
}

/// Encodes this JSON as a cursor.
fn cursor(of: &serde_json::Value) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(of.to_string())
}

#[tokio::test]
async fn malformed_requests_never_cause_a_server_error() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let id = alice.save("Likes tea").await.at("/memory/id");
    let own = format!("/api/memory/{id}");
    let far = json!("-009999-01-02T01:59:59Z");
    let late = json!("9999-12-30T22:00:00.999999999Z");
    let place = json!({ "fact": id, "version": id.replace("mem_", "ver_") });
    let wide =
        |at: &serde_json::Value| json!({ "at": { "valid": at, "known": at }, "place": place });
    let reads = [
        "/api/memory/%00".to_owned(),
        "/api/memory/%ff%fe".into(),
        "/api/memory/%F0%9F%8D%B5".into(),
        "/api/memory/%".into(),
        format!("/api/memory/{}", "x".repeat(5_000)),
        "/api/memory/mem_zzzzzzzzzzzzzzzzzzzzzzzzzz".into(),
        "/api/memory/mem_00000000000000000000000000".into(),
        "/api/memory/a%2Fb".into(),
        "/api/memory//history".into(),
        "/api/memory?search=%00".into(),
        "/api/memory?search=%ff".into(),
        "/api/memory?domain=%00&tag=%00".into(),
        "/api/memory?limit=99999999999999999999".into(),
        "/api/memory?limit=-1".into(),
        "/api/memory?as_of=0001-01-01&known_at=9999-12-31".into(),
        "/api/memory?as_of=-009999-01-02T01:59:59Z".into(),
        "/api/memory?as_of=2026-02-30".into(),
        "/api/memory?status=all&status=active".into(),
        format!("/api/memory?cursor={}", cursor(&wide(&far))),
        format!("/api/memory?cursor={}", cursor(&wide(&late))),
        format!("/api/memory?status=all&cursor={}", cursor(&wide(&far))),
        format!("/api/memory?cursor={}", cursor(&json!({}))),
        "/api/memory?cursor=".into(),
        format!("/api/operations?cursor={}", cursor(&far)),
        format!("/api/operations?cursor={}", cursor(&late)),
        format!("/api/operations?cursor={}", cursor(&json!("yesterday"))),
        "/api/operations/%00".into(),
        format!("/api/users?cursor={}", cursor(&json!("\0"))),
        format!("/api/users?cursor={}", cursor(&json!("x".repeat(5_000)))),
        "/api/users/%00".into(),
        "/api/users/%ff".into(),
        format!("/api/users/{}", "x".repeat(5_000)),
        "/api/%00".into(),
        "/%ff".into(),
    ];
    let mut faults = Vec::new();
    let mut judge = |what: String, answer: &Answer| {
        let problem = answer.header("content-type") == Some("application/problem+json")
            && ErrorCode::parse(&answer.code()).is_some();
        if answer.status >= 500 || !(answer.is_good() || problem) {
            let what: String = what.chars().take(120).collect();
            faults.push(format!("{what}: {} {}", answer.status, answer.text()));
        }
    };
    for path in &reads {
        judge(format!("GET {path}"), &alice.get(path).await);
    }
    let nul = "a\0b";
    let writes = [
        ("POST", "/api/memory".to_owned(), json!({ "content": nul })),
        ("POST", "/api/memory".into(), json!({ "content": "x", "domain": nul })),
        ("POST", "/api/memory".into(), json!({ "content": "x", "tags": [nul] })),
        ("POST", "/api/memory".into(), json!({ "content": "x", "session_id": nul })),
        (
            "POST",
            "/api/memory".into(),
            json!({ "content": "x", "key": "k", "value": { nul: nul } }),
        ),
        ("POST", "/api/memory".into(), json!({ "content": "x", "importance": 1e300 })),
        ("POST", "/api/memory".into(), json!({ "content": "x", "importance": -0.0 })),
        ("POST", "/api/memory".into(), json!({ "content": "x", "valid_from": "0001-01-01" })),
        (
            "POST",
            "/api/memory".into(),
            json!({ "content": "y", "valid_until": "9999-12-31T23:59:59.9999999Z" }),
        ),
        (
            "POST",
            "/api/memory".into(),
            json!({
                "content": "z", "valid_from": "2026-01-01T00:00:00.0000001Z",
                "valid_until": "2026-01-01T00:00:00.0000002Z",
            }),
        ),
        ("POST", "/api/memory".into(), json!({ "content": "\u{202e}\u{feff}\u{0007}" })),
        (
            "POST",
            "/api/memory".into(),
            json!({ "content": "x".repeat(2_000), "detail": "é".repeat(20_000) }),
        ),
        ("PATCH", own.clone(), json!({ "domain": nul })),
        ("PATCH", own.clone(), json!({ "content": nul })),
        ("PATCH", own.clone(), json!({ "key": nul })),
        ("PATCH", own.clone(), json!({ "force": "hard" })),
        ("PATCH", own.clone(), json!({ "colour": "red" })),
        (
            "PATCH",
            own.clone(),
            json!({ "mode": "correction", "valid_from": "9999-12-31", "valid_until": null }),
        ),
        ("PATCH", own.clone(), json!({})),
        ("POST", format!("{own}/links"), json!({ "to": nul })),
        ("POST", format!("{own}/links"), json!({ "to": "x", "relation": nul })),
        ("POST", format!("{own}/confirm"), json!({ "sha256": nul })),
        ("POST", format!("{own}/confirm"), json!({ "edits": { "domain": nul } })),
        ("POST", "/api/memory/%00/forget".into(), json!({})),
        ("POST", "/api/memory/%ff/forget".into(), json!({})),
        ("POST", "/api/users".into(), json!({ "user": nul })),
        ("POST", "/api/users".into(), json!({ "user": "x", "expires_in_minutes": i64::MAX })),
        ("POST", "/api/keys".into(), json!({ "name": nul })),
        ("POST", "/api/keys".into(), json!({ "name": "x", "user": nul })),
        ("POST", "/api/keys".into(), json!({ "name": "x", "expires_at": "9999-12-31" })),
        ("POST", "/api/tokens".into(), json!({ "user": nul })),
        ("POST", "/api/tokens".into(), json!({ "user": "x", "minutes": i64::MIN })),
        ("DELETE", "/api/keys/%00".into(), json!({})),
        ("DELETE", "/api/users/%00".into(), json!({})),
        ("PUT", "/api/domains/%00".into(), json!({ "display_name": "x" })),
        ("PUT", "/api/domains/x".into(), json!({ "display_name": nul })),
        (
            "PUT",
            "/api/domains/x".into(),
            json!({ "display_name": "x", "default_expiration_days": i64::MAX }),
        ),
        ("PUT", "/api/domains/%ff/opt-in".into(), json!({})),
    ];
    for (method, path, body) in writes {
        let answer = alice.call(method, &path, Some(body.clone())).await;
        judge(format!("{method} {path} {body}"), &answer);
    }
    let deep = format!(
        "{{\"content\": \"x\", \"key\": \"k\", \"value\": {}1{}}}",
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let bodies = [
        deep.into_bytes(),
        b"{\"content\": \"\xff\xfe\"}".to_vec(),
        b"{\"content\": \"\\ud800\"}".to_vec(),
    ];
    for body in bodies {
        let answer = json_of(&alice).send("POST", "/api/memory", body.into()).await;
        judge("POST bytes".into(), &answer);
    }
    for (name, value) in [
        ("if-match", "\"\""),
        ("if-match", "W/\"x\""),
        ("idempotency-key", "clé"),
        ("x-lukasa-user", "zoë"),
        ("lukasa-version", ""),
        ("authorization", "Bearer"),
        ("content-type", ""),
    ] {
        let odd = alice.with(name, value);
        judge(format!("{name}: {value}"), &odd.call("PATCH", &own, Some(json!({}))).await);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test]
async fn large_responses_are_compressed_for_clients_that_accept_it() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let note = "The garden behind the house has three apple trees and a bench.";
    for number in 0..20 {
        alice.save(&format!("{note} {number}")).await;
    }
    let gzip = alice.with("accept-encoding", "gzip");
    let plain = alice.get("/api/memory").await.expect(200);
    let packed = gzip.get("/api/memory").await.expect(200);
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert!(packed.header("vary").is_some_and(|vary| vary.contains("accept-encoding")));
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.text());
    assert!(packed.body.len() * 4 < plain.body.len(), "{} bytes", packed.body.len());
    let small = gzip.get("/api/memory?limit=1&q=nothing").await;
    assert_eq!(small.header("content-encoding"), None, "{}", small.text());
    let events = gzip.open("/api/events").await;
    assert!(events.headers().get("content-encoding").is_none(), "an event stream is sent at once");
}

#[tokio::test]
async fn unknown_word_is_refused_with_the_known_ones() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let listed = alice.get("/api/memory?status=gone").await.refused(400, "malformed_query");
    let start = "`status` is one of all, active, ";
    assert!(listed.at("/detail").starts_with(start), "{}", listed.text());
    let body = json!({ "content": "Likes tea", "force": "gone" });
    let saved = alice.post("/api/memory", body).await.refused(422, "invalid_request");
    assert_eq!(saved.at("/errors/0/detail"), "one of hard, soft");
}
