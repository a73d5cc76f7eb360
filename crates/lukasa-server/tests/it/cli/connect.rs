//! `lukasa connect` on generated home directories, with a small program in place of Lukasa's own
//! that implements just enough of the protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use super::memory_commands::CommandOutput;

const MCP_SCRIPT: &str = concat!(
    r#"#!/bin/sh
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"serverInfo":{"name":"x","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"},{"name":"b"}]}}' ;;
  esac
done
"#
);

const CLAUDE: &str = "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \
    \"files\": { \"command\": \"f\" }\n  },\n  \"z\": [1,2]\n}";
const CURSOR: &str =
    "// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"web\": {}, // keep\r\n\t},\r\n}\r\n";
const CODEX: &str = "model = \"x\" # fast\n\n[mcp_servers.other]\ncommand = \"o\"";
const GOOSE: &str = "GOOSE_PROVIDER: y\nextensions:\n  developer:\n    enabled: true\n";

struct Home {
    place: TempDir,
    program: PathBuf,
}

impl Home {
    fn new(program: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("speaks");
        fs::write(&path, program).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let home = Self { place, program: path };
        for (file, text) in home.files() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
        }
        home
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("home")
    }

    fn files(&self) -> [(PathBuf, &'static str); 4] {
        let home = self.path();
        [
            (home.join(".claude.json"), CLAUDE),
            (home.join(".cursor/mcp.json"), CURSOR),
            (home.join(".codex/config.toml"), CODEX),
            (home.join(".config/goose/config.yaml"), GOOSE),
        ]
    }

    async fn connect(&self, more: &[&str]) -> CommandOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.arg("connect").arg("--home").arg(self.path()).arg("--program").arg(&self.program);
        command
            .args(more)
            .env_remove("LUKASA_KEY")
            .env_remove("LUKASA_USER")
            .env_remove("LUKASA_URL");
        CommandOutput::of(&command.stdin(Stdio::null()).output().await.expect("lukasa runs"))
    }

    #[track_caller]
    fn untouched(&self) {
        for (file, text) in self.files() {
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "{}", file.display());
        }
    }
}

fn holds(file: &Path, words: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains(words))
}

#[tokio::test]
async fn connect_previews_writes_checks_and_restores_config_files() {
    let home = Home::new(MCP_SCRIPT);
    let shown = home.connect(&["--dry-run"]).await.ok();
    assert!(
        shown.contains("+    \"lukasa\": {") && shown.contains("+[mcp_servers.lukasa]"),
        "{shown}"
    );
    assert!(shown.ends_with("Would write 4 files.\n"), "{shown}");
    home.untouched();
    let unasked = home.connect(&[]).await;
    assert_eq!(unasked.code, 1, "there is no prompt without a terminal");
    home.untouched();
    let printed = home.connect(&["--yes"]).await.ok();
    for name in ["claude-code", "cursor", "codex", "goose"] {
        let line = printed.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        assert!(line.contains("ok (MCP 2025-11-25, 2 tools)"), "{printed}");
    }
    let again = home.connect(&["--yes"]).await.ok();
    assert!(again.contains("it was connected already") && !again.contains("+++"), "{again}");
    let list = home.connect(&["--list", "--json"]).await.json();
    let state_of = |name: &str| {
        let all = list["assistants"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["standing"].clone()
    };
    assert_eq!((state_of("cursor"), state_of("vscode")), ("connected".into(), "not here".into()));
    // Other settings rewrite the entry, and the original file is still known.
    home.connect(&["--yes", "--user", "alma", "--key", "lk_live_x"]).await.ok();
    let files = home.files();
    assert!(files.iter().all(|(file, _)| holds(file, "alma") && holds(file, "lk_live_x")));
    let undone = home.connect(&["--undo"]).await.ok();
    assert_eq!(undone.matches("restored byte for byte").count(), 4, "{undone}");
    home.untouched();
    assert_eq!(home.connect(&["--undo"]).await.ok().trim(), "No assistant is connected.");
}

#[tokio::test]
async fn connect_undo_keeps_later_changes() {
    let home = Home::new(MCP_SCRIPT);
    home.connect(&["--yes", "--no-handshake"]).await.ok();
    let (claude, _) = &home.files()[0];
    let text = fs::read_to_string(claude).unwrap();
    fs::write(claude, text.replace("\"numStartups\": 3", "\"numStartups\": 4")).unwrap();
    let (codex, _) = &home.files()[2];
    let undone = home.connect(&["--undo"]).await.ok();
    assert!(undone.contains("only Lukasa's entry was taken out"), "{undone}");
    let now = fs::read_to_string(claude).unwrap();
    assert_eq!(now, CLAUDE.replace("\"numStartups\": 3", "\"numStartups\": 4"));
    assert_eq!(fs::read_to_string(codex).unwrap(), CODEX);
    // A file that did not exist before is removed.
    let new = home.path().join(".gemini/settings.json");
    home.connect(&["--only", "gemini", "--yes", "--no-handshake"]).await.ok();
    assert!(holds(&new, "\"lukasa\""));
    home.connect(&["--only", "gemini", "--undo"]).await.ok();
    assert!(!new.exists());
}

#[tokio::test]
async fn connect_of_one_unreadable_file_does_not_block_the_others() {
    let home = Home::new(MCP_SCRIPT);
    let [(claude, _), (cursor, _), (codex, _), (goose, _)] = home.files();
    fs::write(&claude, "{ \"mcpServers\": ").unwrap();
    let printed = home.connect(&["--yes"]).await;
    assert_eq!(printed.code, 1, "{}", printed.out);
    assert!(printed.out.contains("claude-code: ") && printed.out.contains("is left as it is"));
    assert_eq!(printed.out.matches("ok (MCP 2025-11-25, 2 tools)").count(), 3, "{}", printed.out);
    for file in [&cursor, &codex, &goose] {
        assert!(holds(file, "lukasa"), "{}", file.display());
    }
    assert_eq!(fs::read_to_string(&claude).unwrap(), "{ \"mcpServers\": ");
    let shown = home.connect(&["--dry-run", "--json"]).await;
    assert_eq!(shown.code, 1);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let list = shown["assistants"].as_array().unwrap();
    let broken = list.iter().find(|one| one["name"] == "claude-code").unwrap();
    assert!(broken["error"].as_str().unwrap().contains("is left as it is"), "{shown:#}");
    assert_eq!(list.len(), 4);
    // Nor does it keep the others from being restored.
    fs::write(&cursor, "{ broken").unwrap();
    let undone = home.connect(&["--undo"]).await;
    assert_eq!(undone.code, 5, "{}", undone.err);
    assert!(undone.err.contains("cursor: "), "{}", undone.err);
    assert_eq!(undone.out.matches("restored byte for byte").count(), 2, "{}", undone.out);
    assert_eq!(fs::read_to_string(&codex).unwrap(), CODEX);
    assert_eq!(fs::read_to_string(&goose).unwrap(), GOOSE);
}

#[tokio::test]
async fn connect_leaves_unreadable_files_alone_and_reports_failed_handshakes() {
    let home = Home::new("#!/bin/sh\necho 'no server there' >&2\nexit 1\n");
    let silent = home.connect(&["--only", "cursor", "--yes"]).await;
    assert_eq!(silent.code, 1);
    assert!(
        silent.out.contains("does not answer") && silent.out.contains("no server there"),
        "{}",
        silent.out
    );
    let (claude, _) = &home.files()[0];
    fs::write(claude, "{ \"mcpServers\": ").unwrap();
    let broken = home.connect(&["--only", "claude-code", "--yes"]).await;
    assert_eq!(broken.code, 1);
    assert!(broken.err.contains("is left as it is"), "{}", broken.err);
    assert_eq!(fs::read_to_string(claude).unwrap(), "{ \"mcpServers\": ");
    // Undo does not guess: cursor's file can no longer be parsed.
    let (cursor, _) = &home.files()[1];
    fs::write(cursor, "{ broken").unwrap();
    let refused = home.connect(&["--only", "cursor", "--undo"]).await;
    assert_eq!(refused.code, 5, "{}", refused.err);
    assert_eq!(fs::read_to_string(cursor).unwrap(), "{ broken");
    let unknown = home.connect(&["--only", "clippy"]).await;
    assert!(unknown.err.contains("one of claude-code"), "{}", unknown.err);
    // A key is written to the file and masked in the output.
    let shown =
        home.connect(&["--only", "codex", "--dry-run", "--key", "lk_live_secret"]).await.ok();
    assert!(shown.contains("(your key)") && !shown.contains("lk_live_secret"), "{shown}");
}

#[tokio::test]
async fn path_in_a_cache_is_not_written_into_files() {
    let home = Home::new(MCP_SCRIPT);
    // Beside the program, so that a link is possible: it is large.
    let program = Path::new(env!("CARGO_BIN_EXE_lukasa"));
    let cache = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let folder = cache.path().join("_npx/0f/bin");
    fs::create_dir_all(&folder).unwrap();
    let cached = folder.join("lukasa");
    fs::hard_link(program, &cached).unwrap();
    let run = async |line: &[&str]| {
        let mut command = Command::new(&cached);
        command.args(line).env("HOME", home.path()).stdin(Stdio::null());
        CommandOutput::of(&command.output().await.expect("lukasa runs"))
    };
    for line in [&["connect", "--yes"][..], &["service", "install", "--print"]] {
        let refused = run(line).await;
        assert_eq!(refused.code, 1, "{line:?}");
        assert!(refused.err.contains("uv tool install lukasa"), "{}", refused.err);
        home.untouched();
    }
    // An installed program that is named, or the server's URL, is not a path in a cache.
    let installed = home.program.display().to_string();
    let named = run(&["connect", "--yes", "--no-handshake", "--program", &installed]).await.ok();
    assert!(named.contains("written"), "{named}");
    run(&["connect", "--http", "--dry-run"]).await.ok();
    let printed = run(&["service", "install", "--print", "--program", &installed]).await.ok();
    assert!(printed.contains(&installed), "{printed}");
}
