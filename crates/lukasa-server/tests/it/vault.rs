//! `lukasa vault` against a server in local mode.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::SystemTime;

use tokio::process::Command;

use crate::app::TestApp;
use crate::binary::Served;

struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let name = format!("lukasa-vault-{}-{}", std::process::id(), crate::app::canary("v"));
        Self(std::env::temp_dir().join(name))
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{text}");
        fs::write(self.0.join(path), text.replace(from, to)).unwrap();
    }

    /// Every file with its modification time, to see which were written.
    fn times(&self) -> Vec<(PathBuf, SystemTime)> {
        fn walk(folder: &Path, found: &mut Vec<(PathBuf, SystemTime)>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let about = entry.metadata().unwrap();
                match about.is_dir() {
                    true => walk(&entry.path(), found),
                    false => found.push((entry.path(), about.modified().unwrap())),
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.0, &mut found);
        found.sort();
        found
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn vault(served: &Served, place: &Place, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.arg("vault").arg(arguments[0]).arg(&place.0).args(&arguments[1..]);
    command
        .env_remove("LUKASA_KEY")
        .env_remove("LUKASA_USER")
        .env("LUKASA_URL", &served.client.base);
    let Output { status, stdout, stderr } = command.output().await.expect("lukasa runs");
    let output =
        format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    (status.code().unwrap(), output)
}

#[tokio::test]
async fn cli_vault_export_and_sync_touch_only_changed_files() {
    let app = TestApp::local().await;
    let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
    let (me, place) = (&served.client, Place::new());
    me.save("Lives in Lisbon").await;
    let plums = me.save("Grows plums").await.at("/memory/id");
    let (code, output) = vault(&served, &place, &["export"]).await;
    assert_eq!((code, output.contains("3 files written")), (0, true), "{output}");
    assert_eq!(vault(&served, &place, &["export"]).await.0, 1, "a vault is not written over");
    let times = place.times();
    for arguments in [&["sync"][..], &["status"], &["export", "--force"]] {
        assert_eq!(vault(&served, &place, arguments).await.0, 0);
        assert_eq!(place.times(), times, "{arguments:?} touches nothing");
    }
    assert_eq!(me.get("/api/operations").await.each("verb"), ["save", "save"]);
    place.edit("profile.md", "Lisbon", "Faro");
    fs::create_dir_all(place.0.join("domains")).unwrap();
    fs::write(place.0.join("domains/food.md"), "- Likes oolong #tea\n\nMy note.\n").unwrap();
    let (code, output) = vault(&served, &place, &["sync", "--dry-run"]).await;
    assert!(code == 0 && output.contains("Lives in Lisbon -> Lives in Faro"), "{output}");
    assert_eq!(me.get("/api/operations").await.each("verb").len(), 2, "only reported");
    let (code, output) = vault(&served, &place, &["sync"]).await;
    assert!(code == 0 && output.contains("2 changes"), "{output}");
    let mut known = me.get("/api/memory").await.each("content");
    known.sort();
    assert_eq!(known, ["Grows plums", "Likes oolong", "Lives in Faro"]);
    let food = place.read("domains/food.md");
    assert!(food.contains("- Likes oolong #tea ^mem-") && food.contains("\nMy note.\n"), "{food}");
    // Edited in both places: reported as a three-way conflict, left alone in both, and the rest is
    // synced.
    place.edit("profile.md", "Faro", "Porto");
    place.edit("profile.md", "Grows plums", "Grows pears");
    me.patch(&format!("/api/memory/{plums}"), serde_json::json!({"content": "Grows figs"}))
        .await
        .expect(200);
    let (code, output) = vault(&served, &place, &["sync"]).await;
    assert_eq!(code, 5, "{output}");
    for side in ["CONFLICT profile.md:", "Grows plums", "Grows pears", "Grows figs"] {
        assert!(output.contains(side), "{output}");
    }
    let profile = place.read("profile.md");
    assert!(profile.contains("Grows pears") && profile.contains("Lives in Porto"), "{profile}");
    let known = me.get("/api/memory").await.each("content");
    assert!(known.contains(&"Grows figs".into()) && known.contains(&"Lives in Porto".into()));
    assert_eq!(vault(&served, &place, &["status"]).await.0, 5, "until the user decides");
    place.edit("profile.md", "Grows pears", "Grows figs");
    assert_eq!(vault(&served, &place, &["sync", "--json"]).await.0, 0);
}

#[tokio::test]
async fn cli_vault_writes_conversations_on_request_and_syncs_none() {
    let app = TestApp::local().await;
    let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
    let (me, place) = (&served.client, Place::new());
    me.save("Lives in Lisbon").await;
    let turns = serde_json::json!({ "turns": [{ "role": "user", "content": "I like trains." }] });
    me.post("/api/sessions/talk/turns", turns).await.expect(201);
    assert_eq!(vault(&served, &place, &["export"]).await.0, 0);
    let folder = place.0.join("conversations");
    assert!(!folder.exists(), "only on request");
    let again = ["export", "--force", "--conversations"];
    let (code, output) = vault(&served, &place, &again).await;
    assert_eq!((code, output.contains("2 files written")), (0, true), "{output}");
    let times = place.times();
    let is_talk = |path: &&PathBuf| path.starts_with(&folder) && !path.ends_with("README.md");
    let talk = times.iter().map(|(path, _)| path).find(is_talk).unwrap().clone();
    assert!(fs::read_to_string(&talk).unwrap().contains("> I like trains.\n"));
    assert_eq!(vault(&served, &place, &again).await.0, 0);
    assert_eq!(place.times(), times, "nothing is written twice");
    // An edit or a removal of such a file changes nothing, and a sync leaves it alone.
    fs::write(&talk, "edited").unwrap();
    fs::remove_file(folder.join("README.md")).unwrap();
    let (code, output) = vault(&served, &place, &["sync"]).await;
    assert!(code == 0 && output.contains("nothing was changed"), "{output}");
    assert_eq!(fs::read_to_string(&talk).unwrap(), "edited");
    assert_eq!(me.get("/api/sessions/talk/turns").await.each("content"), ["I like trains."]);
    // A removed conversation is removed from the folder by the next export.
    me.delete("/api/sessions/talk").await.expect(200);
    assert_eq!(vault(&served, &place, &again).await.0, 0);
    assert!(!talk.exists());
    // An edited portrait is reported, and stays as it is.
    place.edit("portraits/profile.md", "Lisbon", "Faro");
    let (code, output) = vault(&served, &place, &["sync"]).await;
    assert!(code == 1 && output.contains("PROBLEM  portraits/profile.md"), "{output}");
    assert!(place.read("portraits/profile.md").contains("Faro"));
    assert_eq!(me.get("/api/memory").await.each("content"), ["Lives in Lisbon"]);
}

#[tokio::test]
async fn vault_sync_refuses_an_emptied_folder() {
    let app = TestApp::local().await;
    let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
    let place = Place::new();
    for n in 0..12 {
        served.client.save(&format!("Memory number {n}")).await;
    }
    vault(&served, &place, &["export"]).await;
    fs::remove_file(place.0.join("profile.md")).unwrap();
    let (code, output) = vault(&served, &place, &["sync"]).await;
    assert!(code == 1 && output.contains("12 of 12 lines are gone"), "{output}");
    assert_eq!(served.client.get("/api/memory").await.each("id").len(), 12);
    assert_eq!(vault(&served, &place, &["sync", "--yes"]).await.0, 0);
    assert!(served.client.get("/api/memory").await.each("id").is_empty());
}
