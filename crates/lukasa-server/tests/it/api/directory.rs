//! A tenant's users, domains, keys and tokens.

use jiff::SignedDuration;
use lukasa_server::clock;
use serde_json::json;

use crate::app::TestApp;

#[tokio::test]
async fn deleted_user_can_be_created_again_and_starts_empty() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let created = admin.post("/api/users", json!({ "user": "alice" })).await.expect(201);
    assert_eq!(created.at("/user"), "alice");
    assert!(created.json()["expires_at"].is_null());
    let alice = admin.about("alice");
    alice.save("Likes tea").await;
    let counted = admin.get("/api/users/alice").await.expect(200);
    let counts = json!({ "memories": 1, "versions": 1, "links": 0, "operations": 1 });
    assert_eq!(counted.json()["counts"], counts);
    let token = app.human("acme", "alice").await;
    token.get("/api/memory").await.expect(200);

    let deleted = admin.delete("/api/users/alice").await.expect(200);
    assert_eq!(deleted.json()["removed"], counts);
    assert_eq!(deleted.json()["credentials_ended"], 1);
    token.get("/api/memory").await.refused(401, "unauthenticated");
    admin.get("/api/users/alice").await.refused(404, "user_not_found");
    admin.delete("/api/users/alice").await.refused(404, "user_not_found");
    assert!(admin.get("/api/users").await.expect(200).each("user").is_empty());
    let save = json!({ "content": "Likes tea" });
    alice.post("/api/memory", save.clone()).await.refused(410, "user_deleted");
    let mint = json!({ "user": "alice" });
    admin.post("/api/tokens", mint).await.refused(404, "user_not_found");

    admin.post("/api/users", json!({ "user": "alice" })).await.expect(201);
    assert!(alice.get("/api/memory?status=all").await.expect(200).each("id").is_empty());
    alice.post("/api/memory", save).await.expect(201);
    token.get("/api/memory").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn temporary_user_reads_as_deleted_after_expiry() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let body = json!({ "user": "guest", "expires_in_minutes": 5 });
    let created = admin.post("/api/users", body).await.expect(201);
    assert!(created.json()["expires_at"].is_string());
    let guest = admin.about("guest");
    let saved = guest.save("Only trying this out").await;
    let bound = app.bound_key("acme", "guest").await;
    let sql = "update users set expires_at = now() - interval '1 second' where name = 'guest'";
    app.database.admin().await.execute(sql, &[]).await.unwrap();
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    for read in ["/api/memory", &path, "/api/operations", "/api/memory/proposals"] {
        guest.get(read).await.refused(410, "user_deleted");
    }
    let late = json!({ "content": "Still here" });
    guest.post("/api/memory", late).await.refused(410, "user_deleted");
    bound.get("/api/memory").await.refused(401, "unauthenticated");
    admin.get("/api/users/guest").await.refused(404, "user_not_found");
    for minutes in [0, -1, 60 * 24 * 31] {
        let body = json!({ "user": "guest", "expires_in_minutes": minutes });
        admin.post("/api/users", body).await.refused(422, "invalid_request");
    }
}

#[tokio::test]
async fn users_are_listed_by_name_in_pages() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    for user in ["dora", "alice", "carol", "bob"] {
        admin.post("/api/users", json!({ "user": user })).await.expect(201);
    }
    let first = admin.get("/api/users?limit=3").await.expect(200);
    let cursor = first.at("/next_cursor");
    let rest = admin.get(&format!("/api/users?limit=3&cursor={cursor}")).await.expect(200);
    let names = [first.each("user"), rest.each("user")].concat();
    assert_eq!(names, ["alice", "bob", "carol", "dora"]);
    for name in ["", "  ", "a\nb", &"x".repeat(256)] {
        admin.post("/api/users", json!({ "user": name })).await.refused(422, "invalid_request");
    }
}

#[tokio::test]
async fn user_timezone_is_a_memory() {
    let app = TestApp::with_keys().await;
    let admin = app.application_key("acme").await;
    let zone = |name: &str| {
        json!({
            "content": format!("Lives in {name}"), "force": "hard", "domain": "personal",
            "key": "timezone", "value": name,
        })
    };
    let alice = admin.about("alice");
    let saved = alice.post("/api/memory", zone("Europe/Lisbon")).await.expect(201);
    let user = admin.get("/api/users/alice").await.expect(200);
    assert_eq!(user.at("/timezone"), "Europe/Lisbon");
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    alice.patch(&path, json!({ "value": "Mars/Olympus" })).await.expect(200);
    assert!(admin.get("/api/users/alice").await.json().get("timezone").is_none());
    alice.delete(&path).await.expect(200);
    assert!(admin.get("/api/users/alice").await.json().get("timezone").is_none());
}

#[tokio::test]
async fn sensitive_domain_is_closed_until_its_user_opts_in() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let domains = agent.get("/api/domains").await.expect(200);
    assert_eq!(domains.each("name").len(), 11);
    let body = json!({ "content": "Takes ibuprofen", "domain": "health" });
    let shut = agent.post("/api/memory", body.clone()).await.refused(403, "opt_in_needed");
    assert!(shut.at("/detail").contains("health"), "{}", shut.text());
    agent.post("/api/memory/propose", body.clone()).await.refused(403, "opt_in_needed");
    let path = "/api/domains/health/opt-in";
    agent.put(path, json!({})).await.refused(403, "human_needed");
    let opened = human.put(path, json!({})).await.expect(200);
    assert!(opened.json()["opted_in_at"].is_string());
    let saved = agent.post("/api/memory", body.clone()).await.expect(201);
    let shut = agent.delete(path).await.expect(200);
    assert!(shut.json()["opted_in_at"].is_null(), "a key may close it");
    let memory_path = format!("/api/memory/{}", saved.at("/memory/id"));
    human.get(&memory_path).await.expect(200);
    agent.get(&memory_path).await.refused(404, "memory_not_found");
    agent
        .post("/api/memory", json!({ "content": "Takes aspirin", "domain": "health" }))
        .await
        .refused(403, "opt_in_needed");
    human.put("/api/domains/astrology/opt-in", json!({})).await.refused(404, "domain_not_found");
    human.put("/api/domains/A%20B/opt-in", json!({})).await.refused(404, "domain_not_found");
}

#[tokio::test]
async fn tenant_domains_cannot_relax_the_built_in_ones() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let body = json!({ "display_name": "Gardening", "default_expiration_days": 90 });
    let put = admin.put("/api/domains/gardening", body).await.expect(200);
    assert_eq!(
        (put.at("/name"), put.json()["builtin"].clone()),
        ("gardening".into(), json!(false))
    );
    let alice = admin.about("alice");
    let memory = json!({ "content": "Grows beans", "domain": "gardening" });
    alice.post("/api/memory", memory).await.expect(201);
    let renamed = json!({ "display_name": "The garden" });
    admin.put("/api/domains/gardening", renamed).await.expect(200);
    let names = alice.get("/api/domains").await.expect(200).each("display_name");
    assert!(names.contains(&"The garden".to_owned()) && !names.contains(&"Gardening".to_owned()));
    let lax = json!({ "display_name": "Health", "requires_opt_in": false });
    admin.put("/api/domains/health", lax).await.refused(422, "invalid_request");
    for (name, body) in [
        ("Upper", json!({ "display_name": "x" })),
        ("x", json!({ "display_name": "" })),
        ("x", json!({ "display_name": "x", "default_expiration_days": 0 })),
    ] {
        let path = format!("/api/domains/{name}");
        admin.put(&path, body).await.refused(422, "invalid_request");
    }
}

#[tokio::test]
async fn api_key_secret_is_shown_once_and_revocation_is_immediate() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let body = json!({ "name": "my assistant", "user": "alice", "permissions": ["read", "write"] });
    let made = admin.post("/api/keys", body).await.expect(201);
    let (id, secret) = (made.at("/id"), made.at("/secret"));
    assert!(secret.starts_with("lk_live_"));
    let key = app.presenting(&secret);
    key.save("Likes tea").await;

    let list = admin.get("/api/keys").await.expect(200);
    assert!(list.each("id").contains(&id));
    assert!(!list.text().contains(&secret) && list.each("secret").iter().all(String::is_empty));
    let parts: Vec<&str> = secret.split('_').collect();
    assert!(!list.text().contains(parts[3]), "not even a part of it");

    key.get("/api/memory").await.expect(200);
    let revoked = admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    assert_eq!(revoked.json()["revoked"], json!([id]));
    key.get("/api/memory").await.refused(401, "unauthenticated");
    admin.delete(&format!("/api/keys/{id}")).await.refused(404, "key_not_found");
    admin.delete("/api/keys/no-such-key").await.refused(404, "key_not_found");
    let listed = admin.get("/api/keys").await.expect(200).json();
    let revoked_key =
        listed["data"].as_array().unwrap().iter().find(|key| key["id"] == id.as_str());
    assert!(revoked_key.unwrap()["revoked_at"].is_string());

    for (field, body) in [
        ("/permissions", json!({ "name": "x", "permissions": [] })),
        ("/permissions", json!({ "name": "x", "permissions": ["confirm"] })),
        ("/permissions", json!({ "name": "x", "user": "alice", "permissions": ["admin"] })),
        ("/name", json!({ "name": " " })),
        ("/origin", json!({ "name": "x", "origin": "oracle" })),
    ] {
        let refused = admin.post("/api/keys", body).await.refused(422, "invalid_request");
        assert_eq!(refused.at("/errors/0/pointer"), field);
    }
}

#[tokio::test]
async fn api_key_expires_and_its_origin_marks_its_writes() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let past = clock::now() - SignedDuration::from_secs(1);
    let body = json!({ "name": "old", "user": "alice", "expires_at": past.to_string() });
    let old = admin.post("/api/keys", body).await.expect(201).at("/secret");
    app.presenting(&old).get("/api/memory").await.refused(401, "unauthenticated");
    // Only the server itself records these origins.
    for origin in ["observed", "user_turn", "unknown"] {
        let body = json!({ "name": "app", "user": "alice", "origin": origin });
        let refused = admin.post("/api/keys", body).await.refused(422, "invalid_request");
        assert_eq!(refused.at("/errors/0/pointer"), "/origin");
    }
    let body = json!({ "name": "importer", "user": "alice", "origin": "import" });
    let importer = app.presenting(&admin.post("/api/keys", body).await.expect(201).at("/secret"));
    let imported = importer.save("Likes tea").await;
    assert_eq!(imported.at("/memory/origin"), "import");
    assert_eq!(imported.at("/memory/source"), "imported");
    let human = app.human("acme", "alice").await;
    let saved = human.save("Likes mate").await;
    assert_eq!(saved.at("/memory/source"), "user_explicit");
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    importer.patch(&path, json!({ "content": "Likes rum" })).await.refused(403, "less_trusted");
}

#[tokio::test]
async fn token_is_short_lived_acts_as_one_user_and_is_limited_by_its_key() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let body = json!({ "user": "alice", "minutes": 5 });
    let minted = admin.post("/api/tokens", body).await.expect(201);
    assert!(minted.at("/secret").starts_with("lk_user_"));
    assert_eq!(minted.json()["permissions"], json!(["read", "write"]));
    let token = app.presenting(&minted.at("/secret"));
    assert_eq!(token.save("Likes tea").await.at("/memory/origin"), "user_said");
    token.about("alice").get("/api/memory").await.expect(200);
    token.about("bob").get("/api/memory").await.refused(403, "wrong_user");
    token.post("/api/tokens", json!({ "user": "alice" })).await.refused(403, "forbidden");
    token.get("/api/users").await.refused(403, "forbidden");
    assert!(!admin.get("/api/keys").await.expect(200).text().contains("token"), "not listed");
    for (field, body) in [
        ("/minutes", json!({ "user": "alice", "minutes": 16 })),
        ("/minutes", json!({ "user": "alice", "minutes": 0 })),
        ("/permissions", json!({ "user": "alice", "permissions": ["admin"] })),
        ("/user", json!({ "user": "" })),
    ] {
        let refused = admin.post("/api/tokens", body).await.refused(422, "invalid_request");
        assert_eq!(refused.at("/errors/0/pointer"), field);
    }
    let rights = [lukasa_core::Permission::Read, lukasa_core::Permission::Admin];
    let weak = app.key_with_permissions("acme", &rights).await;
    weak.post("/api/tokens", json!({ "user": "alice" })).await.refused(422, "invalid_request");
    let read = json!({ "user": "alice", "permissions": ["read"] });
    let reader = weak.post("/api/tokens", read).await.expect(201).at("/secret");
    let reader = app.presenting(&reader);
    reader.post("/api/memory", json!({ "content": "x" })).await.refused(403, "forbidden");
    // The token can be revoked by its id, and ends with its key.
    let id = minted.at("/id");
    admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    token.get("/api/memory").await.refused(401, "unauthenticated");
    reader.get("/api/memory").await.expect(200);
}

#[tokio::test]
async fn key_and_webhook_are_created_once_with_one_idempotency_key() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let once = admin.with("idempotency-key", "k");
    let key = json!({ "name": "mine", "user": "alice", "permissions": ["read"] });
    let hook = json!({ "url": "https://hooks.example/x", "verbs": ["save"] });
    for (path, body) in [("/api/keys", key.clone()), ("/api/webhooks", hook)] {
        once.post(path, body.clone()).await.expect(201);
        let before = admin.get(path).await.expect(200).text();
        once.post(path, body).await.refused(409, "answer_not_kept");
        assert_eq!(admin.get(path).await.expect(200).text(), before);
    }
    let other = admin.with("idempotency-key", "other");
    other
        .post("/api/keys", json!({ "name": "", "permissions": ["read"] }))
        .await
        .refused(422, "invalid_request");
    other
        .post("/api/keys", json!({ "name": "", "permissions": ["read"] }))
        .await
        .refused(422, "invalid_request");
    other.post("/api/keys", key).await.expect(201);
}
