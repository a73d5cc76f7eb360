//! Webhooks: everything that was acknowledged is told, in order, signed, without a word of what is
//! remembered; what fails is tried again, and what is given up can be seen and sent again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::model::NoModels;
use lukasa_core::{Timestamp, Verb};
use lukasa_engine::webhooks::{About, Letter};
use lukasa_server::clock;
use lukasa_server::webhook::courier;
use lukasa_server::workers::Workers;
use serde_json::json;

use super::receiver::Receiver;
use crate::app::{Client, TestApp, canary};
use crate::binary::Served;

/// Saves so many memories; the ids of the operations, in order.
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
async fn an_operation_is_told_of_signed_and_without_a_word_of_it() {
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
    let letters = receiver.letters();
    assert_eq!(letters.len(), 1);
    let letter = &letters[0];
    assert!(letter.is_verified_with(&secret) && letter.is_signed_with(&secret));
    let other = format!("whsec_{}", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assert!(!letter.is_verified_with(&other) && !letter.is_signed_with(&other));
    assert_eq!(letter.id, saved.at("/event/operation_id"));
    assert_eq!(letter.body["type"], "memory.saved");
    let data = &letter.body["data"];
    assert_eq!((&data["user"], &data["verb"]), (&json!("alice"), &json!("save")));
    assert_eq!(data["memory_ids"], json!([saved.at("/memory/id")]));
    assert!(!String::from_utf8_lossy(&letter.bytes).contains(&word), "{:?}", letter.body);
    let went = acme.get(&format!("/api/webhooks/{id}/deliveries")).await.expect(200);
    assert_eq!(
        (went.each("id"), went.each("state")),
        (vec![letter.id.clone()], vec!["delivered".into()])
    );
    assert_eq!(
        (went.each("user"), went.json()["data"][0]["status"].clone()),
        (vec!["alice".into()], json!(204))
    );
    // Told once: there is nothing left to do.
    app.work().await;
    assert_eq!(receiver.letters().len(), 1);
    let tested = acme.post(&format!("/api/webhooks/{id}/test"), json!({})).await.expect(200);
    assert_eq!(tested.json(), json!({ "delivered": true, "status": 204, "error": null }));
    let test = receiver.letters().pop().unwrap();
    assert!(test.is_verified_with(&secret) && test.body["type"] == "test");
    acme.delete(&format!("/api/webhooks/{id}")).await.expect(204);
    save(&acme.about("alice"), 1).await;
    app.work().await;
    assert_eq!(receiver.letters().len(), 2, "what was removed hears no more");
}

#[tokio::test]
async fn a_webhook_hears_of_what_it_wants_and_of_its_own_tenant() {
    let app = TestApp::with_keys().await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    let (picky, foreign) = (Receiver::start().await, Receiver::start().await);
    // What was written before a webhook is none of its news.
    let old = acme.about("alice").save("old").await.at("/memory/id");
    picky.hook(&acme, &["forget", "erase"]).await;
    let theirs = foreign.hook(&globex, &[]).await.at("/id");
    let memory = acme.about("alice").save("new").await.at("/memory/id");
    acme.about("alice").post(&format!("/api/memory/{memory}/forget"), json!({})).await.expect(200);
    acme.about("alice").post(&format!("/api/memory/{old}/erase"), json!({})).await.expect(200);
    app.work().await;
    let verbs: Vec<_> = picky.letters().iter().map(|l| l.body["data"]["verb"].clone()).collect();
    assert_eq!(verbs, [json!("forget"), json!("erase")]);
    assert!(foreign.letters().is_empty());
    // Somebody else's delivery is no delivery, and somebody else's webhook no webhook.
    let hers = picky.ids().remove(0);
    let path = format!("/api/webhooks/{theirs}/replay");
    globex.post(&path, json!({ "delivery": hers })).await.refused(404, "delivery_not_found");
    acme.post(&path, json!({ "delivery": hers })).await.refused(404, "webhook_not_found");
    acme.post(&path, json!({})).await.refused(422, "invalid_request");
    let body = json!({ "url": "http://8.8.8.8/hook" });
    acme.post("/api/webhooks", body).await.refused(422, "invalid_request");
    let body = json!({ "url": picky.url, "verbs": ["sing"] });
    acme.post("/api/webhooks", body).await.refused(422, "invalid_request");
    // And under the API: a tenant's rows are there for that tenant only.
    let admin = app.database.admin().await;
    for table in ["webhook", "webhook_mark", "delivery"] {
        let sql = format!("select count(*) from {table}");
        assert!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0) > 0, "{table}");
        for other in ["", "00000000-0000-0000-0000-000000000000"] {
            let said =
                format!("begin; set local role lukasa_serve; set local app.tenant = '{other}'");
            admin.batch_execute(&said).await.unwrap();
            assert_eq!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
            admin.batch_execute("rollback").await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_fails_is_tried_again_and_holds_up_what_comes_after_it() {
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
    // Each time it is tried once, and not before its time.
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
async fn what_is_given_up_can_be_seen_and_sent_again_and_an_endpoint_is_given_up_too() {
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
    // Six hours at a time, for longer than anybody is patient.
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
    assert_eq!(off["disabled_because"], "nothing has arrived for 120 hours");
    dead.reverse();
    assert!(!dead.is_empty() && dead.len() < written.len());
    assert_eq!(dead, written[..dead.len()], "given up in order");
    let tried = receiver.ids().iter().filter(|id| **id == dead[0]).count();
    assert_eq!(tried, 8);
    receiver.take();
    app.work_at(after(now, 200 * 3600)).await;
    assert!(receiver.take().is_empty(), "nothing is sent to what is off");
    // It comes back, and is told what it missed; what was given up is sent when asked for.
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
    // What answers that it is gone is believed at once.
    receiver.answers(|_| 410);
    save(&acme.about("alice"), 1).await;
    app.work_at(after(now, 203 * 3600)).await;
    assert_eq!(hook().await["disabled_because"], "it answered 410: it wants to hear no more");
}

#[tokio::test]
async fn several_workers_tell_everybodys_in_order_and_once() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    receiver.hook(&acme, &[]).await;
    let workers = Workers::start(&app.engine, 3);
    let mut written = Vec::new();
    for _ in 0..30 {
        for user in ["alice", "bob"] {
            written.extend(save(&acme.about(user), 1).await);
        }
    }
    for _ in 0..600 {
        if receiver.letters().len() >= written.len() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    workers.stop(Duration::from_secs(10)).await;
    for user in ["alice", "bob"] {
        let of = |ids: Vec<String>| -> Vec<String> {
            let letters = receiver.letters();
            let whose = |id: &String| {
                letters.iter().any(|l| l.id == *id && l.body["data"]["user"] == json!(user))
            };
            ids.into_iter().filter(whose).collect()
        };
        assert_eq!(of(receiver.ids()), of(written.clone()), "{user}");
        assert_eq!(of(receiver.ids()).len(), 30);
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_missed_when_the_server_is_killed() {
    let app = TestApp::local().await;
    let receiver = Receiver::start().await;
    let flags = ["--embedder", "off", "--workers", "0", "--webhook-private-networks"];
    let first = Served::start(&app, &flags).await;
    receiver.hook(&first.client, &[]).await;
    let mut written = save(&first.client, 5).await;
    // Killed as soon as it has answered; whatever was to follow the answer does not.
    written.push(first.client.save("the last words").await.at("/event/operation_id"));
    first.end().await;
    let (_, engine) = app.again(Arc::new(NoModels)).await;
    while engine.work("w", clock::moment()).await.unwrap() != lukasa_engine::jobs::Worked::Nothing {
    }
    assert_eq!(receiver.take(), written);
}

#[tokio::test]
async fn a_worker_that_dies_before_it_has_noted_a_delivery_tells_it_again() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    let receiver = Receiver::start().await;
    receiver.hook(&acme, &[]).await;
    let written = save(&acme.about("alice"), 2).await;
    // The worker is cut off as the letter arrives: the receiver has it, and nobody has noted so.
    let (told, arrived) = tokio::sync::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    receiver.answers(move |_| {
        if let Some(told) = told.lock().unwrap().take() {
            let _ = told.send(());
        }
        200
    });
    let engine = app.engine.clone();
    let worker = tokio::spawn(async move { engine.work("one", clock::moment()).await });
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
async fn nothing_is_sent_to_a_neighbour_and_no_redirect_followed() {
    lukasa_models::tls::install();
    let receiver = Receiver::start().await;
    let port = receiver.url.rsplit(':').next().unwrap().to_owned();
    let letter = |url: &str| Letter {
        url: url.to_owned(),
        secret: vec![7; 32],
        id: "test".into(),
        at: clock::now(),
        about: About::Test,
    };
    let shut = courier(false);
    for host in ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "[::ffff:127.0.0.1]"] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}");
            let went = (shut.carry)(letter(&url)).await;
            assert!(went.is_err(), "{url}: {went:?}");
        }
    }
    let went = (shut.carry)(letter(&format!("https://localhost:{port}"))).await;
    let why = "its name leads to no address that may be connected to";
    assert_eq!(went, Err(why.to_owned()));
    assert!(receiver.take().is_empty());
    let open = courier(true);
    receiver.answers(|_| 307);
    assert_eq!((open.carry)(letter(&receiver.url)).await, Ok(307));
    assert_eq!(receiver.take().len(), 1, "a redirect is not followed");
    let nobody = (open.carry)(letter("http://127.0.0.1:9/hook")).await;
    assert_eq!(nobody, Err("it cannot be reached".to_owned()));
    assert!(Verb::ALL.iter().all(|verb| !lukasa_server::http::event_name(*verb).is_empty()));
}

#[tokio::test]
async fn a_webhook_is_looked_after_from_the_command_line() {
    let app = TestApp::local().await;
    let receiver = Receiver::start().await;
    let said = async |arguments: &[&str]| {
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
    let (code, made, told) = said(&["add", &receiver.url, "--verb", "save", "--json"]).await;
    assert_eq!(code, Some(0), "{told}");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let client = app.anonymous();
    let written = save(&client, 2).await;
    app.work().await;
    assert!(receiver.letters().iter().all(|letter| letter.is_verified_with(secret)));
    assert_eq!(receiver.take(), written);
    let (_, list, _) = said(&["list"]).await;
    assert!(list.contains(id) && list.contains("well") && !list.contains(secret), "{list}");
    let (_, listed, _) = said(&["deliveries", id, "--state", "delivered"]).await;
    assert!(written.iter().all(|id| listed.contains(id)), "{listed}");
    assert_eq!(said(&["test", id]).await.1.trim(), "It arrived.");
    let (_, again, _) = said(&["replay", id, "--delivery", &written[1]]).await;
    assert_eq!(again.trim(), "It is delivered now.");
    assert_eq!(said(&["replay", id, "--since", "2026-01-01"]).await.0, Some(0));
    receiver.take();
    app.work().await;
    assert_eq!(receiver.take(), written);
    assert_eq!(said(&["replay", id]).await.0, Some(2), "misused");
    receiver.answers(|_| 500);
    let (code, _, why) = said(&["test", id]).await;
    assert!(code == Some(1) && why.contains("it answered 500") && why.contains("next:"), "{why}");
    assert_eq!(said(&["remove", id]).await.0, Some(0));
    assert_eq!(said(&["remove", id]).await.0, Some(4), "not found");
    assert!(said(&["list"]).await.1.contains("lukasa webhook add"));
}
