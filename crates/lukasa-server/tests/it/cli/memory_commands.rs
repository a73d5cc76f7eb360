//! The everyday commands, against a server in local mode.

use std::process::Output;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::app::TestApp;
use crate::binary::Served;

/// Output and exit code of a command.
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
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

struct LocalUser {
    served: Served,
    _app: TestApp,
}

impl LocalUser {
    async fn new() -> Self {
        let app = TestApp::local().await;
        let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
        Self { served, _app: app }
    }

    async fn run(&self, line: &[&str]) -> CommandOutput {
        let mut command = self.command(line);
        command.stdin(std::process::Stdio::null());
        CommandOutput::of(&command.output().await.expect("lukasa runs"))
    }

    /// Runs a command with a JSON object on its standard input.
    async fn run_with_input(&self, line: &[&str], input: &Value) -> CommandOutput {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), input.to_string()).unwrap();
        let mut command = self.command(line);
        command.stdin(std::fs::File::open(file.path()).unwrap());
        CommandOutput::of(&command.output().await.expect("lukasa runs"))
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(line).env("LUKASA_URL", &self.served.client.base).env("TZ", "UTC");
        command.env_remove("LUKASA_KEY").env_remove("LUKASA_USER").env_remove("NO_COLOR");
        command
    }
}

#[tokio::test]
async fn cli_saves_recalls_forgets_and_restores_a_memory() {
    let me = LocalUser::new().await;
    let saved = me.run(&["save", "Prefers", "window", "seats", "--domain", "travel"]).await.ok();
    assert!(
        saved.contains("Prefers window seats") && saved.contains("undo: lukasa undo op_"),
        "{saved}"
    );
    assert!(!saved.contains('\u{1b}'), "no colour without a terminal");
    me.run(&["save", "Grows plums"]).await.ok();
    let found = me.run(&["recall", "which", "seats", "on", "a", "plane"]).await.ok();
    assert!(found.contains("Prefers window seats") && found.contains(" ms"), "{found}");
    let why = me.run(&["recall", "window seats", "--explain"]).await.ok();
    assert!(why.contains("keyword") && why.contains("matched words: "), "{why}");
    let listed = me.run(&["list"]).await.ok();
    assert!(listed.contains("Grows plums") && listed.contains("2 memories"), "{listed}");
    let which = me.run(&["forget", "window seats", "--dry-run"]).await.ok();
    assert!(which.starts_with("Would forget: Prefers window seats"), "{which}");
    me.run(&["forget", "window seats"]).await.ok();
    assert!(!me.run(&["list"]).await.ok().contains("window"));
    let log = me.run(&["log"]).await.ok();
    assert!(log.contains("forget") && log.contains("you"), "{log}");
    assert_eq!(log.matches("Prefers window seats").count(), 2, "saved and forgotten: {log}");
    let would = me.run(&["undo", "--dry-run"]).await.ok();
    assert!(would.starts_with("Would undo: forget Prefers window seats"), "{would}");
    me.run(&["undo"]).await.ok();
    assert!(me.run(&["list"]).await.ok().contains("Prefers window seats"));
}

#[tokio::test]
async fn cli_log_shows_content_changes_of_a_memory() {
    let me = LocalUser::new().await;
    let saved = me.run(&["save", "Lives in Lisbon", "--json"]).await.json();
    let id = saved["memory"]["id"].as_str().unwrap();
    let path = format!("/api/memory/{id}");
    me.served.client.patch(&path, json!({ "content": "Lives in Faro" })).await.expect(200);
    let printed = me.run(&["log", "Faro"]).await.ok();
    assert!(printed.contains("Lives in [-Lisbon-]{+Faro+}"), "{printed}");
    assert!(printed.contains("2 editions, 2 operations"), "{printed}");
    // An id prefix is enough if it is unique.
    let begins = &id[..20];
    assert!(me.run(&["log", begins]).await.ok().contains(id));
    me.run(&["save", "Likes oolong"]).await.ok();
    let both = me.run(&["forget", "mem_0"]).await;
    assert_eq!(both.code, 5, "{}", both.err);
    assert!(
        both.err.contains("Likes oolong") && both.err.contains("Lives in Faro"),
        "{}",
        both.err
    );
}

#[tokio::test]
async fn cli_correct_replaces_words_and_undo_restores_them() {
    let me = LocalUser::new().await;
    me.run(&["save", "Prefers window seats", "--since", "2024-01-10"]).await.ok();
    let line = ["correct", "window", "seats", "--to", "Prefers", "aisle", "seats"];
    let corrected = me.run(&line).await.ok();
    assert!(corrected.contains("undo: lukasa undo op_"), "{corrected}");
    // It was never a window seat, not even at the beginning.
    let listed = me.run(&["list", "--json"]).await.json();
    assert_eq!(listed["data"][0]["content"], "Prefers aisle seats");
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert!(listed["data"][0]["valid_from"].as_str().unwrap().starts_with("2024-01-10"));
    me.run(&["undo"]).await.ok();
    assert!(me.run(&["list"]).await.ok().contains("Prefers window seats"));
    // With a day, the old words hold before it.
    let line = ["correct", "window", "--to", "Prefers aisle seats", "--since", "2024-03-01"];
    me.run(&line).await.ok();
    let before = me.run(&["list", "--as-of", "2024-02-01"]).await.ok();
    assert!(before.contains("window") && !before.contains("aisle"), "{before}");
    assert!(me.run(&["list"]).await.ok().contains("Prefers aisle seats"));
    assert_eq!(me.run(&["correct", "plums", "--to", "Grows figs"]).await.code, 4);
}

#[tokio::test]
async fn cli_failures_have_distinct_exit_codes() {
    let me = LocalUser::new().await;
    for words in ["Likes tea in the morning", "Likes tea in the evening"] {
        me.run(&["save", words]).await.ok();
    }
    let ambiguous = me.run(&["forget", "Likes tea"]).await;
    assert_eq!(ambiguous.code, 5);
    assert!(ambiguous.err.contains("in the morning") && ambiguous.err.contains("in the evening"));
    let printed = me.run(&["forget", "Likes tea", "--json"]).await;
    let printed: Value = serde_json::from_str(&printed.err).expect("a failure as JSON too");
    assert_eq!(printed["problem"]["code"], "ambiguous_target");
    assert_eq!(me.run(&["forget", "no such words"]).await.code, 4);
    assert_eq!(me.run(&["undo", "op_7zzzz"]).await.code, 4);
    let shut = me.run(&["save", "Has a mortgage", "--domain", "finance"]).await;
    assert_eq!(shut.code, 3, "{}", shut.err);
    assert!(shut.err.contains("--open"), "it says what to do: {}", shut.err);
    me.run(&["save", "Has a mortgage", "--domain", "finance", "--open"]).await.ok();
    assert_eq!(me.run(&["save"]).await.code, 2);
    let unreachable = me.run(&["list", "--url", "http://127.0.0.1:1"]).await;
    assert_eq!(unreachable.code, 1);
    assert!(unreachable.err.contains("lukasa serve"), "{}", unreachable.err);
}

#[tokio::test]
async fn cli_confirm_lists_and_answers_proposals() {
    let me = LocalUser::new().await;
    let propose = async |words: &str| {
        let body = json!({ "content": words });
        me.served.client.post("/api/memory/propose", body).await.expect(201);
    };
    propose("Would like oat milk").await;
    propose("Would like a dog").await;
    assert!(me.run(&["confirm"]).await.ok().contains("Would like oat milk"));
    let unasked = me.run(&["confirm", "oat milk"]).await;
    assert_eq!(unasked.code, 1, "there is no prompt without a terminal");
    me.run(&["confirm", "oat milk", "--yes"]).await.ok();
    me.run(&["confirm", "a dog", "--no"]).await.ok();
    assert_eq!(me.run(&["confirm"]).await.ok().trim(), "No proposals are waiting for an answer.");
    let known = me.run(&["list", "--json"]).await.json();
    assert_eq!(known["data"].as_array().unwrap().len(), 1);
    assert_eq!(known["data"][0]["content"], "Would like oat milk");
}

#[tokio::test]
async fn demo_seeds_memories_once_and_removes_them() {
    let me = LocalUser::new().await;
    let first = me.run(&["demo", "--json"]).await.json();
    assert_eq!(first["seeded"], true);
    assert!(first["state"]["memories"].as_u64().unwrap() >= 30, "{first}");
    assert_eq!(first["state"]["sessions"], 4);
    // It links to the console if there is one: this binary reads it from the build folder.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/index.html");
    let console = first["console"].as_str();
    assert_eq!(console.is_some(), std::path::Path::new(page).exists());
    assert!(console.is_none_or(|console| console.ends_with("/?user=demo")), "{console:?}");
    let again = me.run(&["demo", "--json"]).await.json();
    assert_eq!((&again["seeded"], &again["state"]), (&json!(false), &first["state"]));
    let shown = me.run(&["demo"]).await.ok();
    assert!(shown.contains("user demo"), "{shown}");
    assert!(!shown.contains("chat model"), "the models of a running server are not known: {shown}");
    // The command that the box suggests, word for word.
    let tried =
        me.run(&["recall", "what can I cook for dinner", "--user", "demo", "--explain"]).await;
    assert!(tried.ok().contains("Cooks vegetarian at home"));
    let school = me.run(&["log", "school", "--user", "demo"]).await.ok();
    assert!(school.contains("[-2027-]{+2026+}"), "{school}");
    me.run(&["demo", "--clean"]).await.ok();
    assert_eq!(me.run(&["demo", "--clean", "--json"]).await.json()["removed"], false);
    assert_eq!(me.run(&["demo", "--json"]).await.json()["seeded"], true, "it can be seeded again");
}

#[tokio::test]
async fn completions_and_manual_pages_cover_every_command() {
    let me = LocalUser::new().await;
    for shell in ["bash", "zsh", "fish"] {
        assert!(me.run(&["completions", shell]).await.ok().contains("recall"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let pages = me.run(&["man", "--dir", &path, "--json"]).await.json();
    let names = pages["pages"].as_array().unwrap();
    for page in ["lukasa.1", "lukasa-recall.1", "lukasa-key-create.1", "lukasa-vault-sync.1"] {
        assert!(names.contains(&json!(page)), "{page} is not in {names:?}");
        assert!(folder.path().join(page).exists());
    }
}

#[tokio::test]
async fn eval_cases_pass_until_recall_no_longer_finds_them() {
    let me = LocalUser::new().await;
    me.run(&["save", "Allergic to \"peanuts\"", "--domain", "food"]).await.ok();
    me.run(&["save", "Likes satay"]).await.ok();
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

    let printed = me.run(&["eval", "run", &path(&good)]).await.ok();
    assert!(printed.contains("pass") && printed.contains("1 of 1 case pass"), "{printed}");
    let printed = me.run(&["eval", "run", &path(&good), &path(&bad)]).await;
    assert_eq!(printed.code, 1, "{}", printed.out);
    for words in ["2 of 3 cases pass", "missing: Plays the cello", "unwanted: likes SATAY"] {
        assert!(printed.out.contains(words), "{words} is not in: {}", printed.out);
    }
    let printed = me.run(&["eval", "run", &path(&bad), "--json"]).await;
    let printed: Value = serde_json::from_str(&printed.out).expect("one JSON object");
    assert_eq!((&printed["passed"], &printed["failed"]), (&json!(1), &json!(1)));
    assert_eq!(printed["cases"][0]["missing"][0]["because"], "no active memory has these words");
    assert_eq!(printed["cases"][0]["found"], 1);
    // A memory that was in the file and is no longer found is a regression.
    me.run(&["forget", "peanuts"]).await.ok();
    assert_eq!(me.run(&["eval", "run", &path(&good)]).await.code, 1);

    let idle = me.run(&["eval", "run", &path(&idle)]).await;
    assert!(idle.code == 1 && idle.err.contains("could not fail"), "{}", idle.err);
    let none = me.run(&["eval", "run", "/nowhere.toml"]).await;
    assert!(none.code == 1 && none.err.contains("cannot be read"), "{}", none.err);
}

#[tokio::test]
async fn cli_hook_stores_the_conversation_of_a_coding_agent_once() {
    let me = LocalUser::new().await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let line = |role: &str, text: &str| {
        let said = json!({ "type": role, "message": { "role": role, "content": text } });
        format!("{said}\n")
    };
    let result = r#"{"message":{"role":"user","content":[{"type":"tool_result","content":"ls"}]}}"#;
    let first = [line("user", "I use tabs."), format!("{result}\n"), line("assistant", "Noted.")];
    std::fs::write(&path, first.concat()).unwrap();
    let input = |event: &str| json!({ "session_id": "agent-1", "transcript_path": path, "hook_event_name": event });
    let out = me.run_with_input(&["hook"], &input("Stop")).await.ok();
    assert_eq!(out.trim(), "Stored 2 messages in Lukasa.");
    assert_eq!(me.run_with_input(&["hook"], &input("Stop")).await.ok(), "");
    let more = first.concat() + &line("user", "And I deploy on Fridays.") + "{\"message\":{\"ro";
    std::fs::write(&path, more).unwrap();
    let out = me.run_with_input(&["hook"], &input("SessionEnd")).await.ok();
    assert_eq!(out.trim(), "Stored 1 message in Lukasa.");
    let turns = me.served.client.get("/api/sessions/agent-1/turns").await.expect(200);
    let expected = ["I use tabs.", "Noted.", "And I deploy on Fridays."];
    assert_eq!(turns.each("content"), expected);
    let session = me.served.client.get("/api/sessions/agent-1").await.expect(200).json();
    assert!(session["closed_at"].is_string(), "{session}");
    let wrong = me.run_with_input(&["hook"], &json!({})).await;
    assert!(wrong.code == 1 && wrong.err.contains("`session_id`"), "{}", wrong.err);
}

#[tokio::test]
async fn space_commands_share_a_memory_with_a_member() {
    let local = LocalUser::new().await;
    local.run(&["space", "create", "family"]).await.ok();
    let saved = local.run(&["save", "The bakery closes at noon on Sundays", "--json"]).await.json();
    let id = saved["memory"]["id"].as_str().unwrap();
    local.run(&["save", "Collects stamps", "--user", "anna"]).await.ok();
    let me = local.run(&["space", "grant", "family", "me", "--access", "write"]).await;
    assert!(me.ok().contains("until the user accepts"));
    local.run(&["space", "grant", "family", "anna"]).await.ok();
    assert_eq!(local.run(&["space", "share", "family", id]).await.code, 4);
    assert!(local.run(&["space", "mine"]).await.ok().contains("family  write  offered"));
    local.run(&["space", "accept", "family"]).await.ok();
    let shared = local.run(&["space", "share", "family", id]).await.ok();
    assert!(shared.contains("closes at noon"), "{shared}");
    let members = local.run(&["space", "members", "family"]).await.ok();
    assert!(
        members.contains("anna  read  offered") && members.contains("write  accepted"),
        "{members}"
    );
    local.run(&["space", "leave", "family"]).await.ok();
    assert_eq!(local.run(&["space", "share", "family", id]).await.code, 4);
    local.run(&["space", "end", "family", "anna"]).await.ok();
    local.run(&["space", "erase", "family"]).await.ok();
    assert_eq!(local.run(&["space", "list"]).await.ok().trim(), "");
}
