//! A memory as files over HTTP: export, edit, diff, sync; and the memory tool.

use serde_json::{Value, json};

use crate::app::{Client, TestApp};

async fn export(client: &Client) -> Value {
    client.get("/api/vault").await.expect(200).json()["files"].clone()
}

fn edit(files: &mut Value, path: &str, from: &str, to: &str) {
    let file = files.as_array_mut().unwrap().iter_mut().find(|file| file["path"] == path).unwrap();
    let text = file["content"].as_str().unwrap();
    assert!(text.contains(from), "{text}");
    file["content"] = json!(text.replace(from, to));
}

#[tokio::test]
async fn vault_is_exported_edited_and_synced() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    alice.save("Lives in Lisbon").await;
    let first = alice.get("/api/vault").await.expect(200);
    assert_eq!(first.at("/sha256"), alice.get("/api/vault").await.at("/sha256"));
    let mut files = first.json()["files"].clone();
    let unchanged = alice.post("/api/vault", json!({ "files": files })).await.expect(200);
    assert_eq!(unchanged.json()["operation_id"], Value::Null);
    assert_eq!(unchanged.json()["files"], files);
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    let plan = alice.post("/api/vault/plan", json!({ "files": files })).await.expect(200);
    assert_eq!(plan.at("/changes/0/what"), "change");
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Lives in Lisbon"]);
    let synced = alice.post("/api/vault", json!({ "files": files })).await.expect(200);
    assert_eq!(synced.at("/changes/0/after"), "Lives in Faro");
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Lives in Faro"]);
    let log = alice.get("/api/operations").await.expect(200);
    assert_eq!(log.each("verb")[0], "sync");
    let undo = format!("/api/operations/{}/undo", synced.at("/operation_id"));
    alice.post(&undo, json!({})).await.expect(200);
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Lives in Lisbon"]);
}

#[tokio::test]
async fn vault_has_portraits_and_on_request_conversations() {
    let app = TestApp::with_keys().await;
    let (alice, bob) = (app.human("acme", "alice").await, app.human("acme", "bob").await);
    alice.save("Lives in Lisbon").await;
    let turns = json!({ "turns": [{ "role": "user", "content": "I like trains." }] });
    alice.post("/api/sessions/talk/turns", turns).await.expect(201);
    let paths = async |client: &Client, query: &str| -> Vec<String> {
        let answer = client.get(&format!("/api/vault{query}")).await.expect(200).json();
        let files = answer["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    let plain = paths(&alice, "").await;
    assert_eq!(plain, ["portraits/profile.md", "profile.md", ".lukasa/base.jsonl"]);
    let all = paths(&alice, "?conversations=true").await;
    assert_eq!(all.len(), 5, "{all:?}");
    assert!(all[0].starts_with("conversations/2") && all[1] == "conversations/README.md");
    let bobs = paths(&bob, "?conversations=true").await;
    assert!(bobs.iter().all(|path| !path.starts_with("conversations/")), "{bobs:?}");
    alice.get("/api/vault?conversation=true").await.refused(400, "malformed_query");
    let mut files = export(&alice).await;
    edit(&mut files, "portraits/profile.md", "Lisbon", "Faro");
    let plan = alice.post("/api/vault/plan", json!({ "files": files })).await.expect(200);
    assert_eq!(plan.at("/problems/0/file"), "portraits/profile.md");
    assert_eq!(plan.json()["changes"], json!([]));
}

#[tokio::test]
async fn retried_vault_sync_has_one_effect() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    alice.save("Lives in Lisbon").await;
    let mut files = export(&alice).await;
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    let once = alice.with("idempotency-key", "k");
    let first = once.post("/api/vault", json!({ "files": files })).await.expect(200);
    let again = once.post("/api/vault", json!({ "files": files })).await.expect(200);
    assert_eq!(first.at("/operation_id"), again.at("/operation_id"));
    assert_eq!(first.json()["files"], again.json()["files"]);
    assert_eq!(alice.get("/api/operations").await.each("verb"), ["sync", "save"]);
}

#[tokio::test]
async fn vault_of_another_user_reads_and_changes_nothing() {
    let app = TestApp::with_keys().await;
    let (alice, bob) = (app.human("acme", "alice").await, app.human("acme", "bob").await);
    alice.save("Lives in Lisbon").await;
    let mut files = export(&alice).await;
    let state = alice.get("/api/state").await.text();
    edit(&mut files, "profile.md", "Lisbon", "Faro");
    bob.post("/api/vault", json!({ "files": files })).await.expect(200);
    assert_eq!(bob.get("/api/memory").await.each("content"), ["Lives in Faro"]);
    assert_eq!(alice.get("/api/state").await.text(), state);
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Lives in Lisbon"]);
}

#[tokio::test]
async fn invalid_vault_files_are_refused() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let send = async |path: &str| {
        let files = json!([{ "path": path, "content": "- x" }]);
        alice.post("/api/vault", json!({ "files": files })).await
    };
    for path in ["../profile.md", "/etc/passwd", "a//b", "domains\\food.md", "", "c:profile.md"] {
        send(path).await.refused(422, "invalid_request");
    }
    send("README.md").await.expect(200);
    assert!(alice.get("/api/memory").await.each("id").is_empty(), "other files are passed over");
    let many: Vec<Value> =
        (0..2_001).map(|n| json!({ "path": format!("n{n}.md"), "content": "" })).collect();
    let many = json!({ "files": many });
    alice.post("/api/vault", many).await.refused(422, "invalid_request");
    // Larger than the body limit of other requests, within the limit of a vault.
    let large = json!({ "files": [{ "path": "notes.md", "content": "x".repeat(1_000_000) }] });
    alice.post("/api/vault", large).await.expect(200);
    let huge = json!({ "files": [{ "path": "notes.md", "content": "x".repeat(17_000_000) }] });
    alice.post("/api/vault", huge).await.refused(413, "body_too_large");
    alice.post("/api/vault", json!({ "filez": [] })).await.refused(400, "malformed_body");
}

#[tokio::test]
async fn read_only_key_cannot_sync_a_vault() {
    let app = TestApp::with_keys().await;
    let human = app.human("acme", "alice").await;
    human.save("Lives in Lisbon").await;
    let reader =
        app.key_with_permissions("acme", &[lukasa_core::Permission::Read]).await.about("alice");
    let files = export(&reader).await;
    reader.post("/api/vault/plan", json!({ "files": files })).await.expect(200);
    reader.post("/api/vault", json!({ "files": files })).await.refused(403, "forbidden");
}

#[tokio::test]
async fn memory_tool_reads_and_edits_the_vault_files() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    agent.save("Lives in Lisbon").await;
    let run = async |command: Value| agent.post("/api/vault/commands", command).await.expect(200);
    let list = run(json!({"command": "view", "path": "/memories"})).await;
    assert!(list.at("/text").starts_with("Here're the files and directories up to 2 levels deep"));
    let edit = json!({"command": "str_replace", "path": "/memories/profile.md",
                      "old_str": "Lisbon", "new_str": "Faro"});
    let edited = run(edit.clone()).await;
    assert!(edited.at("/text").starts_with("The memory file has been edited."));
    assert!(edited.at("/operation_id").starts_with("op_"));
    let again = run(edit).await;
    assert_eq!(again.json()["is_error"], true);
    assert!(again.at("/text").contains("did not appear verbatim"));
    run(json!({"command": "insert", "path": "/memories/profile.md", "insert_line": 0,
               "insert_text": "Speaks Danish"}))
    .await;
    run(
        json!({"command": "create", "path": "/memories/domains/food.md", "file_text": "Likes tea"}),
    )
    .await;
    run(json!({"command": "rename", "old_path": "/memories/domains/food.md",
               "new_path": "/memories/domains/shopping.md"}))
    .await;
    let mut known = agent.get("/api/memory").await.each("content");
    known.sort();
    assert_eq!(known, ["Likes tea", "Lives in Faro", "Speaks Danish"]);
    let gone = run(json!({"command": "delete", "path": "/memories/profile.md"})).await;
    assert_eq!(gone.at("/text"), "Successfully deleted /memories/profile.md");
    assert_eq!(agent.get("/api/memory").await.each("content"), ["Likes tea"]);
    let unknown = json!({"command": "format_disk", "path": "/memories"});
    agent.post("/api/vault/commands", unknown).await.refused(400, "malformed_body");
}

#[tokio::test]
async fn memory_tool_shows_and_edits_only_its_project() {
    let app = TestApp::with_keys().await;
    let agent = app.application_key("acme").await.about("alice");
    for (content, project) in [
        ("The launch is in Kourou", json!("apollo")),
        ("The launch is in Baikonur", json!("zeus")),
        ("Watches every launch", Value::Null),
    ] {
        let memory = json!({ "content": content, "project": project });
        agent.post("/api/memory", memory).await.expect(201);
    }
    let apollo = agent.with("x-lukasa-project", "apollo");
    let run = async |client: &Client, command: Value| {
        client.post("/api/vault/commands", command).await.expect(200)
    };
    let path = "/memories/profile.md";
    let view = json!({ "command": "view", "path": path });
    let text = run(&apollo, view.clone()).await.at("/text");
    assert!(
        text.contains("Kourou") && text.contains("every") && !text.contains("Baikonur"),
        "{text}"
    );
    let text = run(&agent, view).await.at("/text");
    assert!(
        !text.contains("Kourou") && text.contains("every") && !text.contains("Baikonur"),
        "{text}"
    );
    // An edit leaves the memories of other projects alone, even that of the whole file.
    let words = json!({ "command": "insert", "path": path, "insert_line": 0,
                        "insert_text": "The server listens on port 8080" });
    assert_eq!(run(&apollo, words).await.json()["is_error"], false);
    let page = agent.get("/api/memory?search=port").await.expect(200);
    assert_eq!(page.at("/data/0/project"), "apollo");
    let all = json!({ "command": "delete", "path": path });
    assert_eq!(run(&apollo, all).await.json()["is_error"], false);
    assert_eq!(agent.get("/api/memory").await.each("content"), ["The launch is in Baikonur"]);
    // The user's own vault is complete.
    let files = export(&app.human("acme", "alice").await).await.to_string();
    assert!(files.contains("Baikonur"), "{files}");
}
