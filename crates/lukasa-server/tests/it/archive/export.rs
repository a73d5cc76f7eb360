//! Export: complete, readable, deterministic, and damage is detected.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use lukasa_core::archive;
use serde_json::Value;

use super::{fill_user, folder, lukasa, run_json, text};
use crate::app::TestApp;

/// The files of a ZIP.
pub fn files(zip: &[u8]) -> BTreeMap<String, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(zip)).expect("a ZIP");
    let mut files = BTreeMap::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("a file");
        let mut words = String::new();
        file.read_to_string(&mut words).expect("text");
        files.insert(file.name().expect("a name").into_owned(), words);
    }
    files
}

/// The ZIP of these files.
pub fn zipped(files: &BTreeMap<String, String>) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, words) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a file");
        zip.write_all(words.as_bytes()).expect("written");
    }
    zip.finish().expect("a ZIP").into_inner()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[tokio::test]
async fn archive_export_is_complete_and_deterministic_except_for_its_time() {
    let app = TestApp::local().await;
    let client = fill_user(&app, "ana").await;
    let first = client.get("/api/export").await.expect(200);
    assert_eq!(first.header("content-type"), Some("application/zip"));
    let (first, second) = (files(&first.body), files(&client.get("/api/export").await.body));
    for (name, words) in &first {
        if name == archive::MANIFEST {
            let zero = |text: &str| {
                let mut manifest: Value = serde_json::from_str(text).unwrap();
                manifest["exported_at"].take();
                assert!(manifest["signature"].take().is_object());
                manifest
            };
            assert_eq!(zero(words), zero(&second[name]));
        } else {
            assert_eq!(words, &second[name], "{name}");
        }
    }
    let memories = lines(&first[archive::MEMORIES]);
    let says = |content: &str| memories.iter().filter(|v| v["claim"]["content"] == content).count();
    assert_eq!((says("Lives in Lisbon"), says("Lives in Porto")), (2, 1), "every version");
    assert_eq!((says("Owns a sledge"), says("Owns a red kayak")), (1, 0));
    assert_eq!(lines(&first[archive::TRASH]).len(), 2, "all versions of what is in the trash");
    assert_eq!(lines(&first[archive::LINKS]).len(), 1);
    assert_eq!(lines(&first[archive::OPERATIONS]).len(), 12);
    assert_eq!(lines(&first[archive::SESSIONS]).len(), 2);
    assert_eq!(lines(&first[archive::TURNS]).len(), 4);
    assert_eq!(lines(&first[archive::USAGE]).len(), 1);
    assert!(first["markdown/profile.md"].contains("- Lives in Porto ^mem-"));
    let manifest: archive::Manifest = serde_json::from_str(&first[archive::MANIFEST]).unwrap();
    let state = client.get("/api/state").await.expect(200).json();
    assert_eq!(state["sha256"]["memories"], manifest.state.memories.as_str());
}

#[tokio::test]
async fn archive_verify_detects_damage() {
    let app = TestApp::local().await;
    fill_user(&app, "ana").await;
    let (_folder, file) = folder("ana.zip");
    let path = text(&file);
    run_json(&app, "ana", &["export", path]).await;
    let again = lukasa(&app, "ana", &["export", path]).await;
    assert_eq!(again.status.code(), Some(1), "a file that is there is not written over");
    let checked = run_json(&app, "verifier", &["export", "--verify", path]).await;
    assert_eq!(checked["ok"], true);
    let good = files(&std::fs::read(&file).unwrap());
    let plants: [fn(&mut BTreeMap<String, String>); 4] = [
        |files| drop(files.remove(archive::TURNS)),
        |files| {
            let words = files[archive::MEMORIES].replace("tea", "gin");
            files.insert(archive::MEMORIES.into(), words);
        },
        |files| drop(files.insert("../../evil".into(), "x".into())),
        |files| drop(files.remove(archive::MANIFEST)),
    ];
    for plant in plants {
        let mut bad = good.clone();
        plant(&mut bad);
        std::fs::write(&file, zipped(&bad)).unwrap();
        let output = lukasa(&app, "verifier", &["export", "--verify", path]).await;
        assert_eq!(output.status.code(), Some(1));
    }
    std::fs::write(&file, zipped(&good)).unwrap();
    assert_eq!(run_json(&app, "verifier", &["export", "--verify", path]).await["ok"], true);
}
