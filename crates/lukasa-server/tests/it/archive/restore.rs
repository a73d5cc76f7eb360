//! Importing an export: the same memory, trusted no further than its caller, and no removed memory
//! is restored.

use std::collections::BTreeMap;

use lukasa_core::archive;
use serde_json::{Value, json};

use super::export::{files, zipped};
use super::{fill_user, folder, lukasa, run_json, text};
use crate::app::{Answer, Client, TestApp};

async fn state(client: &Client) -> Value {
    client.get("/api/state").await.expect(200).json()
}

pub async fn import_zip(client: &Client, zip: Vec<u8>) -> Answer {
    client.with("content-type", "application/zip").send("POST", "/api/import", zip.into()).await
}

#[tokio::test]
async fn archive_restores_the_same_memory_and_a_second_import_changes_nothing() {
    let app = TestApp::local().await;
    let ana = fill_user(&app, "ana").await;
    let (_folder, file) = folder("ana.zip");
    run_json(&app, "ana", &["export", text(&file)]).await;
    let dry = run_json(&app, "bea", &["import", text(&file), "--dry-run", "--trust"]).await;
    assert_eq!(dry["counts"]["known"], 0);
    assert_eq!(dry["archive"], json!({ "signed_here": false, "trusted": true }));
    let bea = app.anonymous().about("bea");
    assert_eq!(state(&bea).await["memories"], 0, "a dry run writes nothing");
    let taken = run_json(&app, "bea", &["import", text(&file), "--trust"]).await;
    assert_eq!(taken["counts"]["memories"], 6);
    assert_eq!((&taken["counts"]["links"], &taken["counts"]["chats"]), (&json!(1), &json!(2)));
    assert_eq!(run_json(&app, "bea", &["state"]).await, run_json(&app, "ana", &["state"]).await);
    // Earlier versions too, word for word.
    let first = files(&ana.get("/api/export").await.expect(200).body);
    let second = files(&bea.get("/api/export").await.expect(200).body);
    for name in [
        archive::MEMORIES,
        archive::TRASH,
        archive::LINKS,
        archive::TURNS,
        archive::SESSIONS,
        archive::EPISODES,
        archive::USAGE,
        archive::DOMAINS,
    ] {
        assert_eq!(first[name], second[name], "{name}");
    }
    let log = bea.get("/api/operations?limit=200").await.expect(200).each("verb");
    assert_eq!((log[0].as_str(), log.len()), ("import", 13));
    let found = bea.post("/api/memory/search", json!({ "query": "Porto" })).await.expect(200);
    assert!(found.text().contains("Lives in Porto"), "it is found by recall: {}", found.text());
    let again = run_json(&app, "bea", &["import", text(&file)]).await;
    for what in ["memories", "proposals", "links", "chats", "turns", "episodes"] {
        assert_eq!(again["counts"][what], 0, "{what}");
    }
    assert_eq!(run_json(&app, "bea", &["state"]).await, run_json(&app, "ana", &["state"]).await);
}

#[tokio::test]
async fn archive_restores_a_deleted_user() {
    let app = TestApp::local().await;
    let ana = fill_user(&app, "ana").await;
    let before = state(&ana).await;
    let zip = ana.get("/api/export").await.expect(200).body;
    app.anonymous().delete("/api/users/ana").await;
    app.anonymous().post("/api/users", json!({ "user": "ana" })).await.expect(201);
    assert_eq!(state(&ana).await["memories"], 0);
    let taken = import_zip(&ana, zip.to_vec()).await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": true, "trusted": true }));
    assert_eq!(state(&ana).await, before);
}

#[tokio::test]
async fn archive_restore_can_be_undone_as_a_whole() {
    let app = TestApp::local().await;
    let zip = fill_user(&app, "ana").await.get("/api/export").await.expect(200).body;
    let bea = app.anonymous().about("bea");
    bea.save("Sings").await;
    let before = state(&bea).await;
    let import = import_zip(&bea, zip.to_vec()).await.expect(200).at("/import_id");
    assert_ne!(state(&bea).await, before);
    let undone = run_json(&app, "bea", &["import", "undo", &import]).await;
    assert_eq!((&undone["operations"], &undone["chats"]), (&json!(1), &json!(1)));
    assert_eq!(state(&bea).await["sha256"], before["sha256"]);
    let list = run_json(&app, "bea", &["import", "list"]).await;
    assert!(list["data"][0]["undone_at"].is_string());
    let foreign = lukasa(&app, "ana", &["import", "undo", &import]).await;
    assert_eq!(foreign.status.code(), Some(4), "it is another user's");
}

#[tokio::test]
async fn archive_does_not_restore_removed_memories() {
    let app = TestApp::local().await;
    let ana = fill_user(&app, "ana").await;
    let tea = ana.get("/api/memory/tea").await.expect(200).at("/id");
    let city = ana.get("/api/memory/Porto").await.expect(200).at("/id");
    let zip = ana.get("/api/export").await.expect(200).body;
    ana.post(&format!("/api/memory/{tea}/erase"), json!({})).await.expect(200);
    ana.post(&format!("/api/memory/{city}/forget"), json!({})).await.expect(200);
    let before = state(&ana).await;
    let taken = import_zip(&ana, zip.to_vec()).await.expect(200).json();
    assert_eq!((&taken["counts"]["memories"], &taken["counts"]["known"]), (&json!(0), &json!(8)));
    assert_eq!(state(&ana).await, before);
    ana.get(&format!("/api/memory/{tea}")).await.refused(404, "memory_not_found");
}

#[tokio::test]
async fn archive_import_is_capped_by_the_trust_of_its_key() {
    let app = TestApp::with_keys().await;
    let human = app.human("acme", "ana").await;
    let proposed = human.post("/api/memory/propose", json!({ "content": "Plays chess" })).await;
    let (id, sha256) = (proposed.at("/memory/id"), proposed.at("/memory/sha256"));
    let yes = json!({ "sha256": sha256 });
    human.post(&format!("/api/memory/{id}/confirm"), yes).await.expect(200);
    let zip = human.get("/api/export").await.expect(200).body;
    let key = app.bound_key("acme", "bea").await;
    import_zip(&key, zip.to_vec()).await.expect(200);
    let brought = files(&key.get("/api/export").await.expect(200).body);
    let versions = brought[archive::MEMORIES].lines().map(|line| {
        let version: Value = serde_json::from_str(line).unwrap();
        (version["origin"].as_str().unwrap().to_owned(), version["consented_at"].is_null())
    });
    for version in versions {
        assert_eq!(version, ("import".to_owned(), true));
    }
}

#[tokio::test]
async fn archive_with_inconsistent_contents_is_refused() {
    let app = TestApp::local().await;
    let good = files(&fill_user(&app, "ana").await.get("/api/export").await.expect(200).body);
    let bea = app.anonymous().about("bea");
    // The manifest is corrected, so that only the content of the file is wrong.
    let forged = |change: &dyn Fn(&str) -> String| {
        let mut files = good.clone();
        let words = change(&files[archive::MEMORIES]);
        replace(&mut files, archive::MEMORIES, words);
        zipped(&files)
    };
    let empty = state(&bea).await;
    import_zip(&bea, forged(&|words| words.replace("\"number\":1,", "\"number\":0,")))
        .await
        .refused(422, "invalid_request");
    import_zip(&bea, forged(&|words| words.replace("op_0", "op_1")))
        .await
        .refused(422, "invalid_request");
    import_zip(&bea, forged(&|words| words.replace("\"fact\"", "\"fcat\"")))
        .await
        .refused(400, "malformed_archive");
    import_zip(&bea, b"PK not a zip".to_vec()).await.refused(400, "malformed_archive");
    let mut changed = good.clone();
    changed.insert(archive::MEMORIES.into(), String::new());
    import_zip(&bea, zipped(&changed)).await.refused(400, "malformed_archive");
    assert_eq!(state(&bea).await, empty);
    import_zip(&bea, forged(&str::to_owned)).await.expect(200);
}

/// Replaces the text of a file, and its checksum in the manifest. The signature stays as it is.
pub fn replace(files: &mut BTreeMap<String, String>, name: &str, words: String) {
    let mut manifest: archive::Manifest = serde_json::from_str(&files[archive::MANIFEST]).unwrap();
    let sum = manifest.files.get_mut(name).unwrap();
    sum.bytes = words.len() as u64;
    sum.lines = words.lines().count() as u64;
    sum.sha256 = sha256(words.as_bytes());
    files.insert(name.into(), words);
    files.insert(archive::MANIFEST.into(), serde_json::to_string(&manifest).unwrap());
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex::encode(Sha256::digest(bytes))
}
