//! Webhooks: every acknowledged write is delivered in order, signed, and without memory content;
//! failed deliveries are retried, and dead ones are listed and can be replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::model::NoModels;
use lukasa_core::{Timestamp, Verb};
use lukasa_engine::webhooks::{WebhookPayload, WebhookRequest};
use lukasa_server::clock;
use lukasa_server::webhook::webhook_sender;
use lukasa_server::workers::Workers;
use serde_json::json;

use super::receiver::Receiver;
use crate::app::{Client, TestApp, canary};
use crate::binary::Served;

/// Saves this many memories; returns the operation ids, in order.
async fn save(client: &Client, count: usize) -> Vec<String> {
    let mut written = Vec::new();
    for number in 0..count {
        let saved = client.save(&format!("{} {number}", canary("hook"))).await;
        written.push(saved.at("/event/operation_id"));
    }
    written
}

fn after(from: Timestamp, seconds: i64) -> Timestamp {
    from + SignedDuration::from_secs(seconds)
}

#[tokio::test]
async fn webhook_request_is_signed_and_contains_no_memory_content() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let made = receiver.hook(&acme, &[]).await;
    let (id, secret) = (made.at("/id"), made.at("/secret"));
    assert!(secret.starts_with("whsec_"));
    let listed = acme.get("/api/webhooks").await.expect(200);
    assert_eq!(listed.each("id"), [id.as_str()]);
    assert!(!listed.text().contains(&secret) && !listed.text().contains("whsec_"));
    let word = canary("told");
    let body = json!({ "content": format!("Likes {word}"), "summary": word, "tags": [word] });
    let saved = acme.about("alice").post("/api/memory", body).await.expect(201);
    app.work().await;
    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert!(request.is_verified_with(&secret) && request.is_signed_with(&secret));
    let other = format!("whsec_{}", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assert!(!request.is_verified_with(&other) && !request.is_signed_with(&other));
    assert_eq!(request.id, saved.at("/event/operation_id"));
    assert_eq!(request.body["type"], "memory.saved");
    let data = &request.body["data"];
    assert_eq!((&data["user"], &data["verb"]), (&json!("alice"), &json!("save")));
    assert_eq!(data["memory_ids"], json!([saved.at("/memory/id")]));
    assert!(!String::from_utf8_lossy(&request.bytes).contains(&word), "{:?}", request.body);
    let went = acme.get(&format!("/api/webhooks/{id}/deliveries")).await.expect(200);
    assert_eq!(
        (went.each("id"), went.each("state")),
        (vec![request.id.clone()], vec!["delivered".into()])
    );
    assert_eq!(
        (went.each("user"), went.json()["data"][0]["status"].clone()),
        (vec!["alice".into()], json!(204))
    );
    // Delivered once: there is nothing left to do.
    app.work().await;
    assert_eq!(receiver.requests().len(), 1);
    let tested = acme.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200);
    assert_eq!(tested.json(), json!({ "delivered": true, "status": 204, "error": null }));
    let test = receiver.requests().pop().unwrap();
    assert!(test.is_verified_with(&secret) && test.body["type"] == "test");
    acme.delete(&format!("/api/webhooks/{id}")).await.expect(204);
    save(&acme.about("alice"), 1).await;
    app.work().await;
    assert_eq!(receiver.requests().len(), 2, "a removed webhook receives nothing");
}

#[tokio::test]
async fn webhook_receives_subscribed_verbs_of_its_tenant_only() {
    let app = TestApp::with_keys().await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    let (picky, foreign) = (Receiver::start().await, Receiver::start().await);
    // Operations from before the webhook are not delivered.
    let old = acme.about("alice").save("old").await.at("/memory/id");
    picky.hook(&acme, &["forget", "erase"]).await;
    let theirs = foreign.hook(&globex, &[]).await.at("/id");
    let memory = acme.about("alice").save("new").await.at("/memory/id");
    acme.about("alice").post(&format!("/api/memory/{memory}/forget"), json!({})).await.expect(200);
    acme.about("alice").post(&format!("/api/memory/{old}/erase"), json!({})).await.expect(200);
    app.work().await;
    let verbs: Vec<_> = picky.requests().iter().map(|l| l.body["data"]["verb"].clone()).collect();
    assert_eq!(verbs, [json!("forget"), json!("erase")]);
    assert!(foreign.requests().is_empty());
    // Another tenant's delivery and another tenant's webhook are not found.
    let hers = picky.ids().remove(0);
    let path = format!("/api/webhooks/{theirs}/replay");
    globex.post(&path, json!({ "delivery": hers })).await.refused(404, "delivery_not_found");
    acme.post(&path, json!({ "delivery": hers })).await.refused(404, "webhook_not_found");
    acme.post(&path, json!({})).await.refused(422, "invalid_request");
    let body = json!({ "url": "http://8.8.8.8/hook" });
    acme.post("/api/webhooks", body).await.refused(422, "invalid_request");
    let body = json!({ "url": picky.url, "verbs": ["sing"] });
    acme.post("/api/webhooks", body).await.refused(422, "invalid_request");
    // Below the API: a tenant's rows are visible for that tenant only.
    let admin = app.database.admin().await;
    for table in ["webhook", "webhook_mark", "delivery"] {
        let sql = format!("select count(*) from {table}");
        assert!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0) > 0, "{table}");
        for other in ["", "00000000-0000-0000-0000-000000000000"] {
            let settings =
                format!("begin; set local role lukasa_serve; set local app.tenant = '{other}'");
            admin.batch_execute(&settings).await.unwrap();
            assert_eq!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
            admin.batch_execute("rollback").await.unwrap();
        }
    }
}

#[tokio::test]
async fn failed_webhook_delivery_is_retried_before_later_ones() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let id = receiver.hook(&acme, &[]).await.at("/id");
    let failures = Arc::new(AtomicUsize::new(0));
    let count = failures.clone();
    receiver.answers(move |_| if count.fetch_add(1, Ordering::SeqCst) < 3 { 500 } else { 200 });
    let written = save(&acme.about("alice"), 3).await;
    let now = clock::now();
    let mut at = now;
    // One attempt at a time, and not before it is due.
    for (early, wait) in [(4, 6), (299, 331), (1_799, 1_981)] {
        app.work_at(at).await;
        assert_eq!(receiver.take(), written[..1]);
        let went = acme.get(&format!("/api/webhooks/{id}/deliveries")).await.expect(200);
        assert_eq!(went.each("state"), ["waiting"], "{}", went.text());
        app.work_at(after(at, early)).await;
        assert!(receiver.take().is_empty(), "{early} seconds are too early");
        at = after(at, wait);
    }
    let well = acme.get("/api/webhooks").await.expect(200);
    assert!(well.json()["data"][0]["failing_since"].is_string());
    app.work_at(at).await;
    assert_eq!(receiver.take(), written, "the same one again, then those behind it");
    let well = acme.get("/api/webhooks").await.expect(200);
    assert!(well.json()["data"][0]["failing_since"].is_null());
    let went = acme.get(&format!("/api/webhooks/{id}/deliveries?state=delivered")).await.json();
    let attempts: i64 =
        went["data"].as_array().unwrap().iter().map(|d| d["attempts"].as_i64().unwrap()).sum();
    assert_eq!(attempts, 4 + 1 + 1);
}

#[tokio::test]
async fn dead_webhook_deliveries_are_listed_and_replayed_and_the_webhook_is_disabled() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let id = receiver.hook(&acme, &[]).await.at("/id");
    let well = Arc::new(AtomicBool::new(false));
    let is_well = well.clone();
    receiver.answers(move |_| if is_well.load(Ordering::SeqCst) { 200 } else { 503 });
    let written = save(&acme.about("alice"), 6).await;
    let (now, mut dead) = (clock::now(), Vec::new());
    let hook = async || acme.get("/api/webhooks").await.expect(200).json()["data"][0].clone();
    // In steps of six hours, beyond the retry period.
    for step in 0..30 {
        for part in [0, 6, 400, 2_500, 10_000] {
            app.work_at(after(now, step * 6 * 3600 + part)).await;
        }
        if hook().await["enabled"] == json!(false) {
            assert!((20..=22).contains(&step), "after {} hours", step * 6);
            break;
        }
        let path = format!("/api/webhooks/{id}/deliveries?state=dead");
        dead = acme.get(&path).await.expect(200).each("id");
    }
    let off = hook().await;
    assert_eq!(off["enabled"], json!(false), "{off}");
    assert_eq!(off["disabled_because"], "no delivery has succeeded for 120 hours");
    dead.reverse();
    assert!(!dead.is_empty() && dead.len() < written.len());
    assert_eq!(dead, written[..dead.len()], "given up in order");
    let tried = receiver.ids().iter().filter(|id| **id == dead[0]).count();
    assert_eq!(tried, 8);
    receiver.take();
    app.work_at(after(now, 200 * 3600)).await;
    assert!(receiver.take().is_empty(), "nothing is sent to a disabled webhook");
    // The receiver works again and gets what it missed; dead deliveries are sent on request.
    well.store(true, Ordering::SeqCst);
    acme.patch(&format!("/api/webhooks/{id}"), json!({ "enabled": true })).await.expect(200);
    app.work_at(after(now, 201 * 3600)).await;
    assert_eq!(receiver.take(), written[dead.len()..]);
    let replay = format!("/api/webhooks/{id}/replay");
    let sent = acme.post(&replay, json!({ "delivery": dead[0] })).await.expect(200);
    assert_eq!(sent.at("/delivery/state"), "delivered", "{}", sent.text());
    assert_eq!(receiver.take(), dead[..1]);
    let again = acme.post(&replay, json!({ "since": "2026-01-01" })).await.expect(200);
    assert_eq!(again.json(), json!({ "users": 1, "delivery": null }));
    app.work_at(after(now, 202 * 3600)).await;
    assert_eq!(receiver.take(), written, "everything, in order, under the same ids");
    // A 410 disables the webhook at once.
    receiver.answers(|_| 410);
    save(&acme.about("alice"), 1).await;
    app.work_at(after(now, 203 * 3600)).await;
    assert_eq!(hook().await["disabled_because"], "the receiver answered 410 Gone");
}

#[tokio::test]
async fn concurrent_workers_deliver_webhooks_once_and_in_order() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    receiver.hook(&acme, &[]).await;
    let workers = Workers::start(&app.engine, &app.clock, 3);
    let mut written = Vec::new();
    for _ in 0..30 {
        for user in ["alice", "bob"] {
            written.extend(save(&acme.about(user), 1).await);
        }
    }
    for _ in 0..600 {
        if receiver.requests().len() >= written.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    workers.stop(Duration::from_secs(10)).await;
    for user in ["alice", "bob"] {
        let of = |ids: Vec<String>| -> Vec<String> {
            let requests = receiver.requests();
            let whose = |id: &String| {
                requests.iter().any(|l| l.id == *id && l.body["data"]["user"] == json!(user))
            };
            ids.into_iter().filter(whose).collect()
        };
        assert_eq!(of(receiver.ids()), of(written.clone()), "{user}");
        assert_eq!(of(receiver.ids()).len(), 30);
    }
}

#[tokio::test]
async fn webhook_deliveries_survive_a_killed_server() {
    let app = TestApp::local().await;
    let receiver = Receiver::start().await;
    let flags = ["--embedder", "off", "--workers", "0", "--webhook-private-networks"];
    let first = Served::start(&app, &flags).await;
    receiver.hook(&first.client, &[]).await;
    let mut written = save(&first.client, 5).await;
    // Killed as soon as it has answered, before any work after the response.
    written.push(first.client.save("the last words").await.at("/event/operation_id"));
    first.end().await;
    let (_, engine) = app.again(Arc::new(NoModels)).await;
    while engine.jobs.work("w", clock::moment()).await.unwrap()
        != lukasa_engine::jobs::WorkOutcome::Nothing
    {}
    assert_eq!(receiver.take(), written);
}

#[tokio::test]
async fn webhook_delivery_is_repeated_after_a_worker_crash() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    receiver.hook(&acme, &[]).await;
    let written = save(&acme.about("alice"), 2).await;
    // The worker is aborted as the request arrives: it was received, but that is not recorded.
    let (signal, arrived) = tokio::sync::oneshot::channel();
    let signal = std::sync::Mutex::new(Some(signal));
    receiver.answers(move |_| {
        if let Some(signal) = signal.lock().unwrap().take() {
            let _ = signal.send(());
        }
        200
    });
    let engine = app.engine.clone();
    let worker = tokio::spawn(async move { engine.jobs.work("one", clock::moment()).await });
    arrived.await.unwrap();
    worker.abort();
    let _ = worker.await;
    app.work().await;
    assert_eq!(receiver.ids(), written[..1], "its lease has not run out");
    app.work_at(after(clock::now(), 16 * 60)).await;
    let ids = receiver.ids();
    assert_eq!(ids, [written[0].clone(), written[0].clone(), written[1].clone()]);
}

#[tokio::test]
async fn webhooks_refuse_private_addresses_and_redirects() {
    lukasa_models::tls::install();
    let receiver = Receiver::start().await;
    let port = receiver.url.rsplit(':').next().unwrap().to_owned();
    let request = |url: &str| WebhookRequest {
        url: url.to_owned(),
        secrets: vec![vec![7; 32]],
        id: "test".into(),
        at: clock::now(),
        payload: WebhookPayload::Test,
    };
    let shut = webhook_sender(false);
    for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]"] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}");
            let went = (shut.send)(request(&url)).await;
            assert!(went.is_err(), "{url}: {went:?}");
        }
    }
    let went = (shut.send)(request(&format!("https://localhost:{port}"))).await;
    let why = "the host name resolves to no allowed address";
    assert_eq!(went, Err(why.to_owned()));
    assert!(receiver.take().is_empty());
    let open = webhook_sender(true);
    receiver.answers(|_| 307);
    assert_eq!((open.send)(request(&receiver.url)).await, Ok(307));
    assert_eq!(receiver.take().len(), 1, "a redirect is not followed");
    let unreachable = (open.send)(request("http://127.0.0.1:9/hook")).await;
    assert_eq!(unreachable, Err("could not connect".to_owned()));
    assert!(Verb::ALL.iter().all(|verb| !lukasa_server::api::event_name(*verb).is_empty()));
}

#[tokio::test]
async fn cli_manages_webhooks() {
    let app = TestApp::local().await;
    let receiver = Receiver::start().await;
    let webhook_command = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command
            .arg("webhook")
            .args(arguments)
            .env("LUKASA_URL", &app.base)
            .env_remove("LUKASA_KEY");
        let output = command.kill_on_drop(true).output().await.expect("lukasa runs");
        let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
        (output.status.code(), out.unwrap(), err.unwrap())
    };
    let (code, made, stderr) =
        webhook_command(&["add", &receiver.url, "--verb", "save", "--json"]).await;
    assert_eq!(code, Some(0), "{stderr}");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let client = app.anonymous();
    let written = save(&client, 2).await;
    app.work().await;
    assert!(receiver.requests().iter().all(|request| request.is_verified_with(secret)));
    assert_eq!(receiver.take(), written);
    let (_, list, _) = webhook_command(&["list"]).await;
    assert!(list.contains(id) && list.contains("healthy") && !list.contains(secret), "{list}");
    let (_, listed, _) = webhook_command(&["deliveries", id, "--state", "delivered"]).await;
    assert!(written.iter().all(|id| listed.contains(id)), "{listed}");
    assert_eq!(webhook_command(&["test", id]).await.1.trim(), "The test was delivered.");
    let (_, again, _) = webhook_command(&["replay", id, "--delivery", &written[1]]).await;
    assert_eq!(again.trim(), "Delivery state: delivered");
    assert_eq!(webhook_command(&["replay", id, "--since", "2026-01-01"]).await.0, Some(0));
    receiver.take();
    app.work().await;
    assert_eq!(receiver.take(), written);
    assert_eq!(webhook_command(&["replay", id]).await.0, Some(2), "misused");
    receiver.answers(|_| 500);
    let (code, _, why) = webhook_command(&["test", id]).await;
    assert!(code == Some(1) && why.contains("answered 500") && why.contains("next:"), "{why}");
    assert_eq!(webhook_command(&["remove", id]).await.0, Some(0));
    assert_eq!(webhook_command(&["remove", id]).await.0, Some(4), "not found");
    assert!(webhook_command(&["list"]).await.1.contains("lukasa webhook add"));
}

#[tokio::test]
async fn webhook_changes_are_in_the_audit_log_without_the_url() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    let id = receiver.hook(&acme, &[]).await.at("/id");
    let path = format!("/api/webhooks/{id}");
    let url = format!("{}?token={}", receiver.url, canary("token"));
    let body = json!({ "url": url, "verbs": ["save"], "enabled": false });
    acme.patch(&path, body).await.expect(200);
    acme.patch(&path, json!({ "enabled": true })).await.expect(200);
    // A refused change is not a change.
    acme.patch(&path, json!({ "url": "nowhere" })).await.refused(422, "invalid_request");
    acme.delete(&path).await.expect(204);
    acme.delete(&path).await.refused(404, "webhook_not_found");
    let log = acme.get("/api/audit").await.expect(200).json();
    let records = log["data"].as_array().unwrap().iter();
    let hooks: Vec<_> = records.filter(|record| record["subject"] == id.as_str()).collect();
    let words = |name: &str| hooks.iter().map(|record| record[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        words("event"),
        ["webhook.remove", "webhook.edit", "webhook.edit", "webhook.create"],
        "{log:#}"
    );
    assert_eq!(words("detail")[1..3], ["enabled", "url,verbs,disabled"], "{log:#}");
    assert!(words("actor_kind").iter().all(|kind| kind == "key"), "{log:#}");
    assert!(!log.to_string().contains("http://"), "{log:#}");
}
