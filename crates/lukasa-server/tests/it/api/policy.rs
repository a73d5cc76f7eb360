//! Policy over the wire: the server's, over it the tenant's, over that the user's (C01, C05, C28).

use serde_json::{Value, json};

use crate::app::TestApp;

#[tokio::test]
async fn where_nobody_has_said_anything_the_balanced_policy_holds() {
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
async fn the_tenant_speaks_for_all_and_a_user_over_it() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    let (alice, bob) = (acme.about("alice"), acme.about("bob"));
    let said = json!({ "preset": "assistant", "daily_tokens": 1000 });
    let tenant = acme.put("/api/tenant/policy", said.clone()).await.expect(200).json();
    assert_eq!((&tenant["tenant"], &tenant["version"]), (&said, &json!(1)));
    let own = json!({ "extract": "manual", "domains": { "work": "off" }, "daily_tokens": 9 });
    let policy = alice.put("/api/policy", own.clone()).await.expect(200).json();
    assert_eq!((&policy["user"], &policy["version"]), (&own, &json!("t1.u1")));
    let of = |policy: &Value, key: &str| policy["in_force"][key].clone();
    assert_eq!(of(&policy, "admission"), "propose", "what she leaves out is the tenant's to say");
    assert_eq!(
        (of(&policy, "extract"), of(&policy, "domains")),
        (json!("manual"), json!({ "work": "off" }))
    );
    assert_eq!(of(&policy, "daily_tokens"), 1000, "nobody raises what the tenant may spend");
    let again = alice.put("/api/policy", own).await.expect(200).json();
    assert_eq!(again["version"], "t1.u1", "said once more it is no new version");
    let bobs = bob.get("/api/policy").await.expect(200).json();
    assert_eq!((of(&bobs, "admission"), of(&bobs, "extract")), (json!("propose"), json!("close")));
    let cleared = alice.put("/api/policy", json!({})).await.expect(200).json();
    assert_eq!((of(&cleared, "extract"), &cleared["version"]), (json!("close"), &json!("t1.u2")));
    let globex = app.application_key("globex").await;
    assert_eq!(globex.get("/api/tenant/policy").await.expect(200).json()["version"], 0);
    let human = app.human("acme", "alice").await;
    human.put("/api/tenant/policy", said).await.refused(403, "forbidden");
    human.get("/api/tenant/policy").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_policy_that_makes_no_sense_is_refused_and_changes_nothing() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    let alice = acme.about("alice");
    for (wrong, status) in [
        (json!({ "preset": "reckless" }), 422),
        (json!({ "inject_confidence": 1.5 }), 422),
        (json!({ "floors": { "profile": -0.1 } }), 422),
        (json!({ "window": 101 }), 422),
        (json!({ "domains": { "Not A Name": "auto" } }), 422),
        (json!({ "admission": "always" }), 400),
        (json!({ "extract": "never" }), 400),
        (json!({ "keep_turns": "some" }), 400),
        (json!({ "floors": { "moods": 0.9 } }), 400),
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
async fn of_many_who_speak_at_once_each_is_heard() {
    let app = TestApp::with_keys().await;
    let acme = app.application_key("acme").await;
    for path in ["/api/tenant/policy", "/api/policy"] {
        let mut speakers = Vec::new();
        for window in 1..=8 {
            let client = acme.about("alice");
            let said = json!({ "window": window });
            speakers.push(tokio::spawn(async move { client.put(path, said).await.expect(200) }));
        }
        for speaker in speakers {
            speaker.await.unwrap();
        }
    }
    assert_eq!(acme.about("alice").get("/api/policy").await.at("/version"), "t8.u8");
}
