//! Trust in an export: one that this server did not sign for this user is an import, whatever it
//! claims. A human caller can trust it explicitly; a key cannot.

use std::collections::BTreeMap;

use lukasa_core::archive::{self, Manifest};
use serde_json::{Value, json};

use super::export::{files, zipped};
use super::restore::replace;
use super::{folder, lukasa, text};
use crate::app::{Answer, Client, TestApp};

const RULE: &str = "Only ever flies with Acme Air";

async fn import_zip(client: &Client, zip: &[u8], query: &str) -> Answer {
    let path = format!("/api/import{query}");
    client.with("content-type", "application/zip").send("POST", &path, zip.to_vec().into()).await
}

/// The export of a user with a hard rule, a confirmed memory, a plain one, and a policy.
async fn written_by(client: &Client) -> BTreeMap<String, String> {
    let rule = json!({ "content": RULE, "force": "hard", "domain": "travel", "key": "airline",
                       "importance": 1.0 });
    client.post("/api/memory", rule).await.expect(201);
    let proposed = client.post("/api/memory/propose", json!({ "content": "Plays chess" })).await;
    let (id, sha256) = (proposed.at("/memory/id"), proposed.at("/memory/sha256"));
    let yes = json!({ "sha256": sha256 });
    client.post(&format!("/api/memory/{id}/confirm"), yes).await.expect(200);
    client.save("Drinks tea").await;
    client.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    files(&client.get("/api/export").await.expect(200).body)
}

fn rows(files: &BTreeMap<String, String>, name: &str) -> Vec<Value> {
    files[name].lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Changes every row of a file and corrects its checksum.
fn change(files: &mut BTreeMap<String, String>, name: &str, how: impl Fn(&mut Value)) {
    let mut rows = rows(files, name);
    rows.iter_mut().for_each(how);
    let words = rows.iter().map(|row| format!("{row}\n")).collect();
    replace(files, name, words);
}

/// Checks that a user's memory has only what an import may import_zip.
async fn assert_is_import(client: &Client) {
    let exported = files(&client.get("/api/export").await.expect(200).body);
    let versions = rows(&exported, archive::MEMORIES);
    assert!(versions.iter().any(|version| version["claim"]["content"] == RULE));
    for version in &versions {
        assert_eq!(version["origin"], "import", "{version}");
        for date in ["consented_at", "confirmed_at", "last_confirmed_at"] {
            assert!(version[date].is_null(), "{version}");
        }
        assert!(version["claim"]["importance"].as_f64().unwrap() <= 0.5, "{version}");
        assert!(version["claim"]["force"] != "hard" || version["state"] == "proposed", "{version}");
    }
    let operations = rows(&exported, archive::OPERATIONS);
    let own: Vec<_> = operations.iter().filter(|row| row["verb"] == "import").collect();
    assert_eq!(own.len(), 1);
    for row in operations.iter().filter(|row| row["verb"] != "import") {
        let credential = row["credential"].as_str().unwrap();
        assert!(row["caller"] == "job" && credential.starts_with("import:imp_"), "{row}");
        assert_eq!(row["voice"]["origin"], "import", "{row}");
    }
    let open = client.get("/api/domains").await.expect(200).json();
    let health = open["data"].as_array().unwrap().iter().find(|d| d["name"] == "health").unwrap();
    assert!(health["opted_in_at"].is_null(), "{health}");
    let asked = json!({ "query": "Which airline do I fly with?" });
    let block = client.post("/api/memory/retrieve", asked).await.expect(200).text();
    assert!(!block.contains(RULE) && !block.contains("confirmed 20"), "{block}");
}

#[tokio::test]
async fn unsigned_archive_cannot_forge_consents_rules_or_operations() {
    let app = TestApp::local().await;
    let mut forged = written_by(&app.anonymous().about("mallory")).await;
    let mut manifest: Manifest = serde_json::from_str(&forged[archive::MANIFEST]).unwrap();
    assert!(manifest.signature.take().is_some());
    forged.insert(archive::MANIFEST.into(), serde_json::to_string(&manifest).unwrap());
    change(&mut forged, archive::MEMORIES, |version| {
        version["consented_at"] = version["known"]["from"].clone();
        version["last_confirmed_at"] = version["known"]["from"].clone();
        version["origin"] = json!("user_said");
    });
    change(&mut forged, archive::OPERATIONS, |operation| operation["caller"] = json!("human"));
    let victim = app.anonymous().about("victim");
    let taken = import_zip(&victim, &zipped(&forged), "").await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": false, "trusted": false }));
    assert_eq!(
        (&taken["counts"]["memories"], &taken["counts"]["proposals"]),
        (&json!(2), &json!(1))
    );
    assert_is_import(&victim).await;
}

#[tokio::test]
async fn archive_signed_for_another_user_is_an_import() {
    let app = TestApp::local().await;
    let theirs = written_by(&app.anonymous().about("mallory")).await;
    let victim = app.anonymous().about("victim");
    let dry = import_zip(&victim, &zipped(&theirs), "?dry_run=true").await.expect(200).json();
    assert_eq!(dry["archive"], json!({ "signed_here": false, "trusted": false }));
    assert_eq!((&dry["counts"]["memories"], &dry["counts"]["proposals"]), (&json!(2), &json!(1)));
    import_zip(&victim, &zipped(&theirs), "").await.expect(200);
    assert_is_import(&victim).await;
}

#[tokio::test]
async fn changed_signed_archive_is_refused_or_an_import() {
    let app = TestApp::local().await;
    let ana = app.anonymous().about("ana");
    let mut changed = written_by(&ana).await;
    app.anonymous().delete("/api/users/ana").await;
    app.anonymous().post("/api/users", json!({ "user": "ana" })).await.expect(201);
    let memories = changed[archive::MEMORIES].replace("Drinks tea", "Drinks gin");
    let mut refused = changed.clone();
    refused.insert(archive::MEMORIES.into(), memories.clone());
    import_zip(&ana, &zipped(&refused), "").await.refused(400, "malformed_archive");
    replace(&mut changed, archive::MEMORIES, memories);
    let taken = import_zip(&ana, &zipped(&changed), "").await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": false, "trusted": false }));
    assert_is_import(&ana).await;
}

#[tokio::test]
async fn archive_trust_needs_a_human_caller() {
    let app = TestApp::with_keys().await;
    let zip = zipped(&written_by(&app.human("acme", "mallory").await).await);
    let key = app.bound_key("acme", "victim").await;
    let taken = import_zip(&key, &zip, "?trust=true").await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": false, "trusted": false }));
    assert_is_import(&key).await;
    let human = app.human("acme", "person").await;
    let taken = import_zip(&human, &zip, "?trust=true").await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": false, "trusted": true }));
    let exported = files(&human.get("/api/export").await.expect(200).body);
    let versions = rows(&exported, archive::MEMORIES);
    assert!(versions.iter().any(|v| v["origin"] == "user_said" && v["claim"]["force"] == "hard"));
    assert!(versions.iter().any(|v| v["consented_at"].is_string()));
    let operations = rows(&exported, archive::OPERATIONS);
    assert!(operations.iter().any(|row| row["verb"] == "confirm" && row["caller"] == "human"));
    // A key gets no trust from its user's own signed export either.
    let own = human.get("/api/export").await.expect(200).body;
    let other = app.bound_key("acme", "person").await;
    let taken = import_zip(&other, &own, "?dry_run=true&trust=true").await.expect(200).json();
    assert_eq!(taken["archive"], json!({ "signed_here": true, "trusted": false }));
}

#[tokio::test]
async fn untrusted_archive_cannot_set_future_times_or_rewrite_history() {
    let app = TestApp::local().await;
    let mut forged = written_by(&app.anonymous().about("mallory")).await;
    let victim = app.anonymous().about("victim");
    let saved = victim.save("Sings").await;
    let (own, operation) = (saved.at("/memory/id"), saved.at("/event/operation_id"));
    let last = rows(&forged, archive::OPERATIONS).len() - 1;
    let soon = lukasa_server::clock::now() + jiff::SignedDuration::from_hours(2);
    let mut future = forged.clone();
    let at = rows(&future, archive::OPERATIONS)[last]["at"].as_str().unwrap().to_owned();
    for name in [archive::OPERATIONS, archive::MEMORIES] {
        let words = future[name].replace(&at, &soon.to_string());
        replace(&mut future, name, words);
    }
    import_zip(&victim, &zipped(&future), "").await.refused(422, "invalid_request");
    change(&mut forged, archive::OPERATIONS, |row| {
        row["facts"].as_array_mut().unwrap().push(json!(own));
        row["undoes"] = json!(operation);
    });
    import_zip(&victim, &zipped(&forged), "").await.expect(200);
    let log = victim.get(&format!("/api/operations?memory_id={own}&limit=50")).await.expect(200);
    assert_eq!(log.each("verb"), ["save"], "{}", log.text());
    let mine = victim.get(&format!("/api/operations/{operation}")).await.expect(200).json();
    assert!(mine["undone_by"].is_null(), "{mine}");
}

#[tokio::test]
async fn verifying_an_export_names_the_key_it_was_signed_with() {
    let app = TestApp::local().await;
    app.anonymous().about("ana").save("Drinks tea").await;
    let (_folder, file) = folder("ana.zip");
    assert!(lukasa(&app, "ana", &["export", text(&file)]).await.status.success());
    let key = app.anonymous().get("/receipts/key").await.expect(200).at("/public_key");
    let verified = lukasa(&app, "ana", &["export", "--verify", text(&file)]).await;
    let verified = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(verified.contains(&format!("signed with the key {key}")), "{verified}");
    let mut unsigned = files(&std::fs::read(&file).unwrap());
    let mut manifest: Manifest = serde_json::from_str(&unsigned[archive::MANIFEST]).unwrap();
    manifest.signature = None;
    unsigned.insert(archive::MANIFEST.into(), serde_json::to_string(&manifest).unwrap());
    std::fs::write(&file, zipped(&unsigned)).unwrap();
    let verified = lukasa(&app, "ana", &["export", "--verify", text(&file)]).await;
    assert!(String::from_utf8_lossy(&verified.stdout).contains("not signed"));
}
