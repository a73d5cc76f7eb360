//! The commands that a person types every day, against a server of their own.

use std::process::Output;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::app::TestApp;
use crate::binary::Served;

/// What a command said, and how it ended.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok()).expect("one JSON object")
    }
}

struct Person {
    served: Served,
    _app: TestApp,
}

impl Person {
    async fn new() -> Self {
        let app = TestApp::local().await;
        let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
        Self { served, _app: app }
    }

    async fn types(&self, line: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(line).env("LUKASA_URL", &self.served.client.base).env("TZ", "UTC");
        command.env_remove("LUKASA_KEY").env_remove("LUKASA_USER").env_remove("NO_COLOR");
        command.stdin(std::process::Stdio::null());
        Said::of(&command.output().await.expect("lukasa runs"))
    }
}

#[tokio::test]
async fn something_is_saved_found_forgotten_and_brought_back() {
    let me = Person::new().await;
    let saved = me.types(&["save", "Prefers", "window", "seats", "--domain", "travel"]).await.ok();
    assert!(
        saved.contains("Prefers window seats") && saved.contains("undo: lukasa undo op_"),
        "{saved}"
    );
    assert!(!saved.contains('\u{1b}'), "no colour without a terminal");
    me.types(&["save", "Grows plums"]).await.ok();
    let found = me.types(&["recall", "which", "seats", "on", "a", "plane"]).await.ok();
    assert!(found.contains("Prefers window seats") && found.contains(" ms"), "{found}");
    let why = me.types(&["recall", "window seats", "--explain"]).await.ok();
    assert!(why.contains("keyword") && why.contains("has the words: "), "{why}");
    let listed = me.types(&["list"]).await.ok();
    assert!(listed.contains("Grows plums") && listed.contains("2 memories"), "{listed}");
    let which = me.types(&["forget", "window seats", "--dry-run"]).await.ok();
    assert!(which.starts_with("Would forget: Prefers window seats"), "{which}");
    me.types(&["forget", "window seats"]).await.ok();
    assert!(!me.types(&["list"]).await.ok().contains("window"));
    let log = me.types(&["log"]).await.ok();
    assert!(log.contains("forget") && log.contains("you"), "{log}");
    assert_eq!(log.matches("Prefers window seats").count(), 2, "saved and forgotten: {log}");
    let would = me.types(&["undo", "--dry-run"]).await.ok();
    assert!(would.starts_with("Would undo: forget Prefers window seats"), "{would}");
    me.types(&["undo"]).await.ok();
    assert!(me.types(&["list"]).await.ok().contains("Prefers window seats"));
}

#[tokio::test]
async fn the_history_of_a_memory_shows_its_words_change() {
    let me = Person::new().await;
    let saved = me.types(&["save", "Lives in Lisbon", "--json"]).await.json();
    let id = saved["memory"]["id"].as_str().unwrap();
    let path = format!("/api/memory/{id}");
    me.served.client.patch(&path, json!({ "content": "Lives in Faro" })).await.expect(200);
    let told = me.types(&["log", "Faro"]).await.ok();
    assert!(told.contains("Lives in [-Lisbon-]{+Faro+}"), "{told}");
    assert!(told.contains("2 editions, 2 operations"), "{told}");
    // The beginning of an id is enough, as long as it is one memory's.
    let begins = &id[..20];
    assert!(me.types(&["log", begins]).await.ok().contains(id));
    me.types(&["save", "Likes oolong"]).await.ok();
    let both = me.types(&["forget", "mem_0"]).await;
    assert_eq!(both.code, 5, "{}", both.err);
    assert!(
        both.err.contains("Likes oolong") && both.err.contains("Lives in Faro"),
        "{}",
        both.err
    );
}

#[tokio::test]
async fn each_way_to_fail_has_its_exit_code() {
    let me = Person::new().await;
    for words in ["Likes tea in the morning", "Likes tea in the evening"] {
        me.types(&["save", words]).await.ok();
    }
    let ambiguous = me.types(&["forget", "Likes tea"]).await;
    assert_eq!(ambiguous.code, 5);
    assert!(ambiguous.err.contains("in the morning") && ambiguous.err.contains("in the evening"));
    let told = me.types(&["forget", "Likes tea", "--json"]).await;
    let told: Value = serde_json::from_str(&told.err).expect("a failure as JSON too");
    assert_eq!(told["problem"]["code"], "ambiguous_target");
    assert_eq!(me.types(&["forget", "no such words"]).await.code, 4);
    assert_eq!(me.types(&["undo", "op_7zzzz"]).await.code, 4);
    let shut = me.types(&["save", "Has a mortgage", "--domain", "finance"]).await;
    assert_eq!(shut.code, 3, "{}", shut.err);
    assert!(shut.err.contains("--open"), "it says what to do: {}", shut.err);
    me.types(&["save", "Has a mortgage", "--domain", "finance", "--open"]).await.ok();
    assert_eq!(me.types(&["save"]).await.code, 2);
    let nobody = me.types(&["list", "--url", "http://127.0.0.1:1"]).await;
    assert_eq!(nobody.code, 1);
    assert!(nobody.err.contains("lukasa serve"), "{}", nobody.err);
}

#[tokio::test]
async fn a_proposal_is_shown_and_answered() {
    let me = Person::new().await;
    let propose = async |words: &str| {
        let body = json!({ "content": words });
        me.served.client.post("/api/memory/propose", body).await.expect(201);
    };
    propose("Would like oat milk").await;
    propose("Would like a dog").await;
    assert!(me.types(&["confirm"]).await.ok().contains("Would like oat milk"));
    let unasked = me.types(&["confirm", "oat milk"]).await;
    assert_eq!(unasked.code, 1, "nobody is asked without a terminal");
    me.types(&["confirm", "oat milk", "--yes"]).await.ok();
    me.types(&["confirm", "a dog", "--no"]).await.ok();
    assert_eq!(me.types(&["confirm"]).await.ok().trim(), "Nothing waits for an answer.");
    let known = me.types(&["list", "--json"]).await.json();
    assert_eq!(known["data"].as_array().unwrap().len(), 1);
    assert_eq!(known["data"][0]["content"], "Would like oat milk");
}

#[tokio::test]
async fn the_demo_fills_a_memory_once_and_removes_it_again() {
    let me = Person::new().await;
    let first = me.types(&["demo", "--json"]).await.json();
    assert_eq!(first["seeded"], true);
    assert!(first["state"]["memories"].as_u64().unwrap() >= 8, "{first}");
    assert_eq!(first["state"]["sessions"], 2);
    // It links to the console if there is one: this program reads it from where it is built.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/index.html");
    assert_eq!(first["console"].is_string(), std::path::Path::new(page).exists());
    let again = me.types(&["demo", "--json"]).await.json();
    assert_eq!((&again["seeded"], &again["state"]), (&json!(false), &first["state"]));
    let shown = me.types(&["demo"]).await.ok();
    assert!(shown.contains("user demo") && shown.contains("no model set"), "{shown}");
    // What the box says to try, word for word.
    let tried =
        me.types(&["recall", "what can I cook for dinner", "--user", "demo", "--explain"]).await;
    assert!(tried.ok().contains("Cooks vegetarian at home"));
    let school = me.types(&["log", "school", "--user", "demo"]).await.ok();
    assert!(school.contains("[-2027-]{+2026+}"), "{school}");
    me.types(&["demo", "--clean"]).await.ok();
    assert_eq!(me.types(&["demo", "--clean", "--json"]).await.json()["removed"], false);
    assert_eq!(me.types(&["demo", "--json"]).await.json()["seeded"], true, "and it comes back");
}

#[tokio::test]
async fn completions_and_manual_pages_know_every_command() {
    let me = Person::new().await;
    for shell in ["bash", "zsh", "fish"] {
        assert!(me.types(&["completions", shell]).await.ok().contains("recall"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let pages = me.types(&["man", "--dir", &path, "--json"]).await.json();
    let names = pages["pages"].as_array().unwrap();
    for page in ["lukasa.1", "lukasa-recall.1", "lukasa-key-create.1", "lukasa-vault-sync.1"] {
        assert!(names.contains(&json!(page)), "{page} is not in {names:?}");
        assert!(folder.path().join(page).exists());
    }
}

#[tokio::test]
async fn saved_cases_pass_until_recall_no_longer_finds_them() {
    let me = Person::new().await;
    me.types(&["save", "Allergic to \"peanuts\"", "--domain", "food"]).await.ok();
    me.types(&["save", "Likes satay"]).await.ok();
    let folder = tempfile::tempdir().unwrap();
    let (good, bad, idle) = (
        folder.path().join("good.toml"),
        folder.path().join("bad.toml"),
        folder.path().join("idle"),
    );
    std::fs::write(
        &good,
        r#"
            # What recall must find.
            [[case]]
            query = "Anything to be careful about with peanuts?"
            find = ["Allergic to \"peanuts\""]
            budget = 400
        "#,
    )
    .unwrap();
    let cases = r#"
        [[case]]
        query = "What satay do I like?"
        find = ["satay", "Plays the cello"]
        avoid = ["likes SATAY"]
        [[case]]
        query = "peanuts"
        find = ["peanuts"]
        budget = "compact"
    "#;
    std::fs::write(&bad, cases).unwrap();
    std::fs::write(&idle, "[[case]]\nquery = \"peanuts\"\n").unwrap();
    let path = |file: &std::path::Path| file.to_str().unwrap().to_owned();

    let told = me.types(&["eval", "run", &path(&good)]).await.ok();
    assert!(told.contains("pass") && told.contains("1 of 1 case pass"), "{told}");
    let told = me.types(&["eval", "run", &path(&good), &path(&bad)]).await;
    assert_eq!(told.code, 1, "{}", told.out);
    for words in ["2 of 3 cases pass", "missing: Plays the cello", "unwanted: likes SATAY"] {
        assert!(told.out.contains(words), "{words} is not in: {}", told.out);
    }
    let told = me.types(&["eval", "run", &path(&bad), "--json"]).await;
    let told: Value = serde_json::from_str(&told.out).expect("one JSON object");
    assert_eq!((&told["passed"], &told["failed"]), (&json!(1), &json!(1)));
    assert_eq!(told["cases"][0]["missing"][0]["because"], "no memory says this now");
    assert_eq!(told["cases"][0]["found"], 1);
    // What stood in the file and stands no longer is a regression.
    me.types(&["forget", "peanuts"]).await.ok();
    assert_eq!(me.types(&["eval", "run", &path(&good)]).await.code, 1);

    let idle = me.types(&["eval", "run", &path(&idle)]).await;
    assert!(idle.code == 1 && idle.err.contains("could not fail"), "{}", idle.err);
    let none = me.types(&["eval", "run", "/nowhere.toml"]).await;
    assert!(none.code == 1 && none.err.contains("cannot be read"), "{}", none.err);
}
