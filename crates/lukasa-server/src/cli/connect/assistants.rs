//! The assistants that can be connected: where each has its configuration file, and how an MCP server
//! is written in it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{json as text_json, sections};

/// The name of Lukasa's entry in every file.
const NAME: &str = "lukasa";

/// How an assistant reaches Lukasa.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEntry {
    /// It starts a program and uses its standard input and output.
    Program { program: String, arguments: Vec<String>, key: Option<String> },
    /// It sends HTTP requests to a server.
    Address { url: String, key: Option<String> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON with the servers under the key `servers`, and the URL of an HTTP server under `address`.
    Json {
        servers: &'static str,
        has_type: bool,
        address: Option<&'static str>,
    },
    Toml,
    Yaml,
}

/// One assistant.
#[derive(Debug, Clone, Copy)]
pub struct Assistant {
    pub name: &'static str,
    pub title: &'static str,
    /// Its configuration file, relative to the home folder.
    file: &'static str,
    /// The same on macOS, if it differs.
    mac_file: Option<&'static str>,
    /// The same on Windows, if it differs.
    windows_file: Option<&'static str>,
    /// A folder that exists if it is installed; empty for the folder of the file.
    mark: &'static str,
    form: Form,
}

const fn json_form(servers: &'static str, has_type: bool, address: Option<&'static str>) -> Form {
    Form::Json { servers, has_type, address }
}

pub const ALL: [Assistant; 8] = [
    Assistant {
        name: "claude-code",
        title: "Claude Code",
        file: ".claude.json",
        mac_file: None,
        windows_file: None,
        mark: ".claude",
        form: json_form("mcpServers", true, Some("url")),
    },
    Assistant {
        name: "claude-desktop",
        title: "Claude Desktop",
        file: ".config/Claude/claude_desktop_config.json",
        mac_file: Some("Library/Application Support/Claude/claude_desktop_config.json"),
        windows_file: Some("AppData/Roaming/Claude/claude_desktop_config.json"),
        mark: "",
        form: json_form("mcpServers", false, None),
    },
    Assistant {
        name: "cursor",
        title: "Cursor",
        file: ".cursor/mcp.json",
        mac_file: None,
        windows_file: None,
        mark: "",
        form: json_form("mcpServers", false, Some("url")),
    },
    Assistant {
        name: "vscode",
        title: "VS Code",
        file: ".config/Code/User/mcp.json",
        mac_file: Some("Library/Application Support/Code/User/mcp.json"),
        windows_file: Some("AppData/Roaming/Code/User/mcp.json"),
        mark: "",
        form: json_form("servers", true, Some("url")),
    },
    Assistant {
        name: "codex",
        title: "Codex",
        file: ".codex/config.toml",
        mac_file: None,
        windows_file: None,
        mark: "",
        form: Form::Toml,
    },
    Assistant {
        name: "gemini",
        title: "Gemini CLI",
        file: ".gemini/settings.json",
        mac_file: None,
        windows_file: None,
        mark: "",
        form: json_form("mcpServers", false, Some("httpUrl")),
    },
    Assistant {
        name: "windsurf",
        title: "Windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        mac_file: None,
        windows_file: None,
        mark: "",
        form: json_form("mcpServers", false, Some("serverUrl")),
    },
    Assistant {
        name: "goose",
        title: "Goose",
        file: ".config/goose/config.yaml",
        mac_file: None,
        windows_file: Some("AppData/Roaming/Block/goose/config/config.yaml"),
        mark: "",
        form: Form::Yaml,
    },
];

impl Assistant {
    pub fn file(&self, home: &Path) -> PathBuf {
        home.join(self.file_on(std::env::consts::OS))
    }

    fn file_on(&self, system: &str) -> &'static str {
        let own = match system {
            "macos" => self.mac_file,
            "windows" => self.windows_file,
            _ => None,
        };
        own.unwrap_or(self.file)
    }

    /// Whether it seems to be installed: its file or its folder exists.
    pub fn is_installed(&self, home: &Path) -> bool {
        let file = self.file(home);
        let folder = match self.mark {
            "" => file.parent().map(Path::to_owned).unwrap_or_default(),
            mark => home.join(mark),
        };
        file.exists() || folder.is_dir()
    }

    /// The file's text with Lukasa's entry.
    pub fn put(&self, text: &str, entry: &ServerEntry) -> anyhow::Result<String> {
        match self.form {
            Form::Json { servers, has_type, address } => {
                let value = as_json(entry, has_type, address)?;
                text_json::put(text, servers, NAME, &value)
            }
            Form::Toml => sections::put_toml(text, "mcp_servers.lukasa", &as_toml(entry)),
            Form::Yaml => sections::put_yaml(text, "extensions", NAME, &as_yaml(entry)),
        }
    }

    /// The file's text without Lukasa's entry; `None` if it has none.
    pub fn take(&self, text: &str) -> anyhow::Result<Option<String>> {
        match self.form {
            Form::Json { .. } if text.trim().is_empty() => Ok(None),
            Form::Json { servers, .. } => text_json::take(text, servers, NAME),
            Form::Toml => sections::take_toml(text, "mcp_servers.lukasa"),
            Form::Yaml => sections::take_yaml(text, "extensions", NAME),
        }
    }
}

fn as_json(
    entry: &ServerEntry,
    has_type: bool,
    address: Option<&'static str>,
) -> anyhow::Result<Value> {
    let mut value = json!({});
    match entry {
        ServerEntry::Program { program, arguments, key } => {
            if has_type {
                value["type"] = json!("stdio");
            }
            value["command"] = json!(program);
            value["args"] = json!(arguments);
            if let Some(key) = key {
                value["env"] = json!({ "LUKASA_KEY": key });
            }
        }
        ServerEntry::Address { url, key } => {
            let Some(word) = address else {
                anyhow::bail!(
                    "this assistant only starts programs\n  next: connect it without --http"
                );
            };
            if has_type {
                value["type"] = json!("http");
            }
            value[word] = json!(url);
            if let Some(key) = key {
                value["headers"] = json!({ "Authorization": format!("Bearer {key}") });
            }
        }
    }
    Ok(value)
}

/// A text in quotes means the same in TOML and YAML as in JSON.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

fn as_toml(entry: &ServerEntry) -> Vec<String> {
    match entry {
        ServerEntry::Program { program, arguments, key } => {
            let arguments: Vec<String> = arguments.iter().map(|text| quoted(text)).collect();
            let mut lines = vec![
                format!("command = {}", quoted(program)),
                format!("args = [{}]", arguments.join(", ")),
            ];
            lines.extend(
                key.as_ref().map(|key| format!("env = {{ LUKASA_KEY = {} }}", quoted(key))),
            );
            lines
        }
        ServerEntry::Address { url, key } => {
            let header = |key: &String| {
                format!("http_headers = {{ Authorization = {} }}", quoted(&format!("Bearer {key}")))
            };
            let mut lines = vec![format!("url = {}", quoted(url))];
            lines.extend(key.as_ref().map(header));
            lines
        }
    }
}

fn as_yaml(entry: &ServerEntry) -> Vec<String> {
    let mut lines = vec!["enabled: true".to_owned(), "name: lukasa".into(), "timeout: 300".into()];
    match entry {
        ServerEntry::Program { program, arguments, key } => {
            let arguments: Vec<String> = arguments.iter().map(|text| quoted(text)).collect();
            lines.push("type: stdio".into());
            lines.push(format!("cmd: {}", quoted(program)));
            lines.push(format!("args: [{}]", arguments.join(", ")));
            let envs = key.as_ref().map(|key| format!("LUKASA_KEY: {}", quoted(key)));
            lines.push(format!("envs: {{{}}}", envs.unwrap_or_default()));
        }
        ServerEntry::Address { url, key } => {
            lines.push("type: streamable_http".into());
            lines.push(format!("uri: {}", quoted(url)));
            let header = key
                .as_ref()
                .map(|key| format!("Authorization: {}", quoted(&format!("Bearer {key}"))));
            lines.push(format!("headers: {{{}}}", header.unwrap_or_default()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assistants_have_their_file_of_each_system() {
        let files = |name: &str| {
            let found = ALL.iter().find(|assistant| assistant.name == name).unwrap();
            ["linux", "macos", "windows"].map(|system| found.file_on(system))
        };
        assert_eq!(files("cursor"), [".cursor/mcp.json"; 3]);
        let [linux, mac, windows] = files("claude-desktop");
        assert!(linux.starts_with(".config/Claude/"), "{linux}");
        assert!(mac.starts_with("Library/Application Support/Claude/"), "{mac}");
        assert!(windows.starts_with("AppData/Roaming/Claude/"), "{windows}");
    }
}
