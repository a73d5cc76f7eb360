//! Policy over HTTP: the user's overrides the tenant's, which overrides the server's.

use lukasa_core::Permission;
use serde_json::{Value, json};

use crate::app::TestApp;

#[tokio::test]
async fn policy_defaults_to_balanced() {
    let app = TestApp::with_keys().await;
    let alice = app.application_key("acme").await.about("alice");
    let policy = alice.get("/api/policy").await.expect(200).json();
    assert_eq!(
        (&policy["in_force"]["preset"], &policy["version"]),
        (&json!("balanced"), &json!("t0.u0"))
    );
    assert_eq!((&policy["tenant"], &policy["user"]), (&json!({}), &json!({})));
    for preset in policy["presets"].as_array().unwrap() {
        let put = alice.put("/api/policy", json!({ "preset": preset })).await.expect(200).json();
        assert_eq!(&put["in_force"]["preset"], preset);
    }
}

#[tokio::test]
async fn user_policy_overrides_the_tenant_policy() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    let (alice, bob) = (acme.about("alice"), acme.about("bob"));
    let patch = json!({ "preset": "assistant", "daily_tokens": 1000 });
    let tenant = acme.put("/api/tenant/policy", patch.clone()).await.expect(200).json();
    assert_eq!((&tenant["tenant"], &tenant["version"]), (&patch, &json!(1)));
    let own = json!({ "extract": "manual", "domains": { "work": "off" }, "daily_tokens": 9 });
    let policy = alice.put("/api/policy", own.clone()).await.expect(200).json();
    assert_eq!((&policy["user"], &policy["version"]), (&own, &json!("t1.u1")));
    let of = |policy: &Value, key: &str| policy["in_force"][key].clone();
    assert_eq!(of(&policy, "admission"), "propose", "unset fields come from the tenant");
    assert_eq!(
        (of(&policy, "extract"), of(&policy, "domains")),
        (json!("manual"), json!({ "work": "off" }))
    );
    assert_eq!(of(&policy, "daily_tokens"), 1000, "a user cannot raise the tenant's limit");
    let again = alice.put("/api/policy", own).await.expect(200).json();
    assert_eq!(again["version"], "t1.u1", "an unchanged policy is not a new version");
    let bobs = bob.get("/api/policy").await.expect(200).json();
    assert_eq!((of(&bobs, "admission"), of(&bobs, "extract")), (json!("propose"), json!("close")));
    let cleared = alice.put("/api/policy", json!({})).await.expect(200).json();
    assert_eq!((of(&cleared, "extract"), &cleared["version"]), (json!("close"), &json!("t1.u2")));
    let globex = app.application_key("globex").await;
    assert_eq!(globex.get("/api/tenant/policy").await.expect(200).json()["version"], 0);
    let human = app.human("acme", "alice").await;
    human.put("/api/tenant/policy", patch).await.refused(403, "forbidden");
    human.get("/api/tenant/policy").await.refused(403, "forbidden");
}

#[tokio::test]
async fn invalid_policy_is_refused_and_changes_nothing() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    let alice = acme.about("alice");
    for (wrong, status) in [
        (json!({ "preset": "reckless" }), 422),
        (json!({ "inject_confidence": 1.5 }), 422),
        (json!({ "floors": { "profile": -0.1 } }), 422),
        (json!({ "window": 101 }), 422),
        (json!({ "domains": { "Not A Name": "auto" } }), 422),
        (json!({ "admission": "always" }), 422),
        (json!({ "extract": "never" }), 422),
        (json!({ "keep_turns": "some" }), 422),
        (json!({ "floors": { "moods": 0.9 } }), 422),
        (json!({ "idle_close_minutes": -1 }), 400),
        (json!({ "surprise": true }), 400),
    ] {
        for answer in [
            alice.put("/api/policy", wrong.clone()).await,
            acme.put("/api/tenant/policy", wrong.clone()).await,
        ] {
            assert_eq!(answer.status, status, "{wrong}: {}", answer.text());
        }
    }
    assert_eq!(alice.get("/api/policy").await.at("/version"), "t0.u0");
}

#[tokio::test]
async fn concurrent_policy_updates_are_all_applied() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    for path in ["/api/tenant/policy", "/api/policy"] {
        let mut writers = Vec::new();
        for window in 1..=8 {
            let client = acme.about("alice");
            let patch = json!({ "window": window });
            writers.push(tokio::spawn(async move { client.put(path, patch).await.expect(200) }));
        }
        for speaker in writers {
            speaker.await.unwrap();
        }
    }
    assert_eq!(acme.about("alice").get("/api/policy").await.at("/version"), "t8.u8");
}

#[tokio::test]
async fn consent_of_the_advisor_preset_is_one_card_of_the_user_and_can_be_undone() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let finance = async || {
        let domains = human.get("/api/domains").await.expect(200).json();
        let found = domains["data"].as_array().unwrap().iter().find(|d| d["name"] == "finance");
        let found = found.unwrap();
        (found["opted_in_at"].is_string(), found["admits_inferred"] == true)
    };
    let asked = async || human.get("/api/review").await.expect(200).json()["domains"].clone();
    let policy = human.get("/api/policy").await.expect(200).json();
    assert_eq!((&policy["consents"], asked().await), (&json!([]), json!([])));
    let policy = human.put("/api/policy", json!({ "preset": "advisor" })).await.expect(200).json();
    let card = &policy["consents"][0];
    assert_eq!(
        (policy["consents"].as_array().unwrap().len(), &card["domain"]),
        (1, &json!("finance"))
    );
    assert_eq!(finance().await, (false, false), "the preset alone opens nothing");
    let question = asked().await;
    assert_eq!(question.as_array().unwrap().len(), 1);
    assert_eq!((&question[0]["yes"], &question[0]["consent"]), (&card["yes"], &json!(true)));
    let path = card["yes"]["path"].as_str().unwrap();
    agent.put(path, json!({})).await.refused(403, "human_needed");
    let given = human.put(path, json!({})).await.expect(200).json();
    assert_eq!(finance().await, (true, true));
    let policy = human.get("/api/policy").await.expect(200).json();
    assert_eq!(policy["in_force"]["admits_inferred"], json!(["finance"]));
    assert_eq!((&policy["consents"], asked().await), (&json!([]), json!([])));
    let again = human.put(path, json!({})).await.expect(200).json();
    assert_eq!(again["event"]["operation_id"], Value::Null, "given once");
    let undo = given["event"]["undo"]["href"].as_str().unwrap();
    agent.post(undo, json!({})).await.refused(403, "human_needed");
    let undone = human.post(undo, json!({})).await.expect(200).json();
    assert_eq!(finance().await, (false, false));
    let redo = undone["event"]["undo"]["href"].as_str().unwrap();
    human.post(redo, json!({})).await.refused(409, "not_undoable");
    assert_eq!(finance().await, (false, false), "no redo opens a domain");
    human.put(path, json!({})).await.expect(200);
    assert_eq!(finance().await, (true, true));
    human.delete(path).await.expect(200);
    assert_eq!(finance().await, (true, false), "withdrawn, and the domain stays open");
    let (_, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let audit = app.presenting(&secret).get("/api/audit").await.expect(200).json();
    let details: Vec<&str> = audit["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|record| record["event"] == "domain.consent")
        .map(|record| record["detail"].as_str().unwrap())
        .collect();
    assert_eq!(details.len(), 4, "{details:?}");
    human.put("/api/domains/travel/consent", json!({})).await.refused(422, "invalid_request");
}

#[tokio::test]
async fn wrong_word_of_a_policy_is_refused_with_its_field() {
    let app = TestApp::with_keys().await;
    let alice = app.application_key("acme").await.about("alice");
    let wrong = json!({ "preset": "chat", "extract": "idle" });
    let refused = alice.put("/api/policy", wrong).await.refused(422, "invalid_request");
    assert_eq!(refused.at("/errors/0/pointer"), "/extract");
}
