//! Rotation of keys, webhook secrets and the installation's signing key, over the API and on the
//! command line.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use lukasa_core::archive::Manifest;
use lukasa_core::{Permission, StateHash, TenantId, UserId};
use lukasa_server::clock;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::live::receiver::Receiver;

fn lukasa(app: &TestApp, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(args).env("DATABASE_URL", app.database.url()).env_remove("LUKASA_TENANT");
    command.output().expect("lukasa runs")
}

#[track_caller]
fn printed_json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[tokio::test]
async fn key_rotation_keeps_the_old_key_valid_for_the_overlap() {
    let app = TestApp::with_keys().await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let admin = app.presenting(&secret);
    let rotate = async |id: &str, hours: i64| {
        admin.post(&format!("/api/keys/{id}/rotate"), json!({ "overlap_hours": hours })).await
    };
    let made = admin.post("/api/keys", json!({ "name": "bot", "user": "alice" })).await.expect(201);
    let (old_id, old) = (made.at("/id"), app.presenting(&made.at("/secret")));
    old.save("Likes tea").await;
    let rotated = rotate(&old_id, 24).await.expect(200);
    let new = app.presenting(&rotated.at("/secret"));
    let (before, after) = (made.json(), rotated.json());
    for name in ["name", "user", "permissions", "origin"] {
        assert_eq!(before[name], after[name], "{name}");
    }
    assert_eq!((&after["replaced"]["id"], &after["expires_at"]), (&json!(old_id), &Value::Null));
    assert!(after["replaced"]["expires_at"].is_string());
    for client in [&old, &new] {
        assert_eq!(client.get("/api/memory").await.expect(200).each("content"), ["Likes tea"]);
    }
    // Without an overlap the old key ends at once.
    let last = rotate(&rotated.at("/id"), 0).await.expect(200);
    new.get("/api/memory").await.refused(401, "unauthenticated");
    app.presenting(&last.at("/secret")).get("/api/memory").await.expect(200);
    old.get("/api/memory").await.expect(200);
    // A key that has ended cannot be replaced, and an overlap has a limit.
    rotate(&rotated.at("/id"), 1).await.refused(404, "key_not_found");
    rotate(&last.at("/id"), 721).await.refused(422, "invalid_request");
    rotate(&last.at("/id"), -1).await.refused(422, "invalid_request");
    let log = admin.get("/api/audit?event=key.rotate").await.expect(200).json();
    assert_eq!(log["data"].as_array().unwrap().len(), 2, "{log:#}");
    assert_eq!(log["data"][1]["subject"], json!(old_id));
    assert_eq!(log["data"][1]["actor"], json!(id));
    let detail = format!("new={},overlap_hours=24", rotated.at("/id"));
    assert_eq!(log["data"][1]["detail"], json!(detail));
    // The same on the command line. The serving role cannot prolong a credential.
    let last_id = last.at("/id");
    let line = ["key", "rotate", "--tenant", "acme", &last_id, "--json", "--overlap", "2"];
    let printed = printed_json(&lukasa(&app, &line));
    assert_eq!(printed["replaced"]["id"], json!(last_id));
    app.presenting(printed["secret"].as_str().unwrap()).get("/api/memory").await.expect(200);
    let later = format!(
        "set role lukasa_serve; set app.key_id = '{old_id}'; \
         update credential set expires_at = expires_at + interval '1 day'"
    );
    let refused = app.database.admin().await.batch_execute(&later).await.unwrap_err();
    assert!(format!("{refused:?}").contains("a credential cannot be prolonged"), "{refused:?}");
}

#[tokio::test]
async fn replaced_key_is_not_rotated_again_and_names_the_newer_one() {
    let app = TestApp::with_keys().await;
    let (_, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let admin = app.presenting(&secret);
    let rotate = async |id: &str| {
        admin.post(&format!("/api/keys/{id}/rotate"), json!({ "overlap_hours": 24 })).await
    };
    let made = admin.post("/api/keys", json!({ "name": "bot" })).await.expect(201);
    let old = made.at("/id");
    // Of two concurrent rotations one replaces the key.
    let (one, other) = tokio::join!(rotate(&old), rotate(&old));
    let (rotated, refused) = if one.status == 200 { (one, other) } else { (other, one) };
    let newer = rotated.expect(200).at("/id");
    let again = rotate(&old).await;
    for refused in [refused, again] {
        let refused = refused.refused(409, "key_replaced");
        assert!(refused.at("/detail").contains(&newer), "{}", refused.text());
    }
    // The newer key can be replaced, and what replaces it does not expire either.
    let last = rotate(&newer).await.expect(200);
    assert_eq!(last.json()["expires_at"], Value::Null);
    let key_line = |args: &[&str]| {
        let output = lukasa(&app, &[&["key"][..], args].concat());
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.success(), texts.concat())
    };
    let (done, text) = key_line(&["rotate", "--tenant", "acme", &old]);
    assert!(!done && text.contains(&newer), "{text}");
    let (_, list) = key_line(&["list", "--tenant", "acme"]);
    let line = list.lines().find(|line| line.starts_with(&old)).expect("the old key is listed");
    assert!(line.contains("live until ") && line.ends_with(&newer), "{line}");
    // The command says what has happened to the old key.
    let last = last.at("/id");
    let (done, text) = key_line(&["rotate", "--tenant", "acme", &last, "--overlap", "0"]);
    assert!(done && text.contains(&format!("The old key {last} is no longer valid.")), "{text}");
    let made = admin.post("/api/keys", json!({ "name": "bot" })).await.expect(201).at("/id");
    let (done, text) = key_line(&["rotate", "--tenant", "acme", &made, "--overlap", "2"]);
    assert!(done && text.contains(&format!("The old key {made} is valid until 20")), "{text}");
}

#[tokio::test]
async fn webhook_secret_is_not_rotated_again_within_the_overlap() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let made = receiver.hook(&acme, &[]).await;
    let (id, first) = (made.at("/id"), made.at("/secret"));
    let path = format!("/api/webhooks/{id}/rotate");
    let rotate = async |hours: i64| acme.post(&path, json!({ "overlap_hours": hours })).await;
    let test = async || {
        acme.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200);
        receiver.requests().pop().expect("a delivery")
    };
    // Of two concurrent rotations one replaces the secret.
    let (one, other) = tokio::join!(rotate(1), rotate(1));
    let (rotated, refused) = if one.status == 200 { (one, other) } else { (other, one) };
    let second = rotated.expect(200).at("/secret");
    for refused in [refused, rotate(1).await] {
        refused.refused(409, "secret_replaced");
    }
    let request = test().await;
    assert!(request.is_verified_with(&first) && request.is_verified_with(&second));
    // Without an overlap both older secrets end at once, which a leaked secret may need.
    let third = rotate(0).await.expect(200).at("/secret");
    let request = test().await;
    assert!(request.is_verified_with(&third));
    assert!(!request.is_verified_with(&second) && !request.is_verified_with(&first));
    rotate(1).await.expect(200);
}

#[tokio::test]
async fn webhook_rotation_signs_with_both_secrets_until_the_overlap_ends() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let made = receiver.hook(&acme, &[]).await;
    let (id, first) = (made.at("/id"), made.at("/secret"));
    let rotate = async |hours: i64| {
        let path = format!("/api/webhooks/{id}/rotate");
        acme.post(&path, json!({ "overlap_hours": hours })).await
    };
    let rotated = rotate(1).await.expect(200);
    let second = rotated.at("/secret");
    assert_ne!(first, second);
    assert!(rotated.json()["previous_secret_until"].is_string());
    let alice = acme.about("alice");
    alice.save("Likes tea").await;
    app.work().await;
    let both = receiver.requests().pop().expect("a delivery");
    assert!(both.is_verified_with(&first) && both.is_verified_with(&second));
    // After the overlap the old secret does not count any more.
    let past = "update webhook set previous_until = now() - interval '1 second'";
    app.database.admin().await.batch_execute(past).await.unwrap();
    alice.save("Likes coffee").await;
    app.work().await;
    let one = receiver.requests().pop().expect("a delivery");
    assert!(one.is_verified_with(&second) && !one.is_verified_with(&first));
    assert!(one.is_signed_with(&second), "there is one signature");
    let rotated = rotate(0).await.expect(200);
    assert_eq!(rotated.json()["previous_secret_until"], Value::Null);
    let third = rotated.at("/secret");
    acme.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200);
    let test = receiver.requests().pop().expect("a delivery");
    assert!(test.is_verified_with(&third) && !test.is_verified_with(&second));
    rotate(721).await.refused(422, "invalid_request");
    let listed = acme.get("/api/webhooks").await.expect(200).text();
    assert!(!listed.contains("whsec_"), "{listed}");
    let log = acme.get("/api/audit?event=webhook.rotate").await.expect(200).json();
    assert_eq!(log["data"].as_array().unwrap().len(), 2, "{log:#}");
    assert_eq!(
        (&log["data"][1]["subject"], &log["data"][1]["detail"]),
        (&json!(id), &json!("overlap_hours=1"))
    );
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["webhook", "rotate", &id, "--json"]).env("LUKASA_URL", &app.base);
    command.env("LUKASA_KEY", acme.header("authorization").replace("Bearer ", ""));
    let printed = printed_json(&command.output().await.expect("lukasa runs"));
    assert!(printed["secret"].as_str().unwrap().starts_with("whsec_"));
}

#[tokio::test]
async fn signing_key_rotation_accepts_earlier_signatures_for_the_overlap() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let engine = &app.engine;
    let key = async || app.anonymous().get("/receipts/key").await.expect(200).at("/public_key");
    let (first, sealed) = (key().await, engine.credentials.seal("text").await.unwrap());
    let is_accepted =
        async || engine.credentials.accepted_seals("text").await.unwrap().contains(&sealed);
    let state = ["memories", "episodes", "sessions", "observations"].map(str::to_owned);
    let [memories, episodes, sessions, observations] = state;
    let state = StateHash { memories, episodes, sessions, observations };
    let manifest = Manifest::of(clock::now(), state, BTreeMap::new());
    let tenant = TenantId::named("acme");
    let user = UserId::named(tenant, "alice");
    let manifest = engine.signatures.sign_manifest(tenant, user, manifest).await.unwrap();
    let is_ours =
        async || engine.signatures.has_signed_manifest(tenant, user, &manifest).await.unwrap();
    assert!(is_ours().await);
    let line = ["signing-key", "rotate", "--overlap", "30", "--json"];
    let printed = printed_json(&lukasa(&app, &line));
    let second = key().await;
    assert_ne!(first, second, "a running server uses the new key at once");
    let keys = printed["data"].as_array().unwrap();
    assert_eq!((&keys[0]["public_key"], &keys[1]["public_key"]), (&json!(second), &json!(first)));
    assert_eq!(keys[0]["accepted_until"], Value::Null);
    assert!(keys[1]["accepted_until"].is_string() && keys.len() == 2);
    assert!(is_accepted().await && engine.credentials.seal("text").await.unwrap() != sealed);
    assert!(is_ours().await, "an export from before the rotation");
    // The overlap ends.
    let past = "update retired_signing_key set accepted_until = now()";
    app.database.admin().await.batch_execute(past).await.unwrap();
    assert!(!is_accepted().await && !is_ours().await);
    // Without an overlap only the new key counts, and the expired one is removed.
    let line = ["signing-key", "rotate", "--overlap", "0", "--json"];
    let printed = printed_json(&lukasa(&app, &line));
    assert_eq!(printed["data"].as_array().unwrap().len(), 1, "{printed:#}");
    let left = "select count(*) from retired_signing_key";
    let left: i64 = app.database.admin().await.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
    let log = acme.get("/api/audit?event=signing_key.rotate").await.expect(200).json();
    let details = log["data"].as_array().unwrap().iter().map(|record| record["detail"].clone());
    assert_eq!(details.collect::<Vec<_>>(), ["overlap_days=0", "overlap_days=30"]);
    assert_eq!(log["data"][0]["actor_kind"], "operator");
}
