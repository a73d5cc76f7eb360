//! `lukasa hook`: stores the conversation of a coding agent, called by the agent's hook.
//!
//! The agent writes its conversation to a file, one JSON object per line, and names the file on the
//! standard input of the hook. Only what the user and the assistant said is stored: no output of
//! tools, no text that the agent adds by itself. Each run sends what is not stored yet.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use lukasa_core::limits::TURN_CHARS;
use reqwest::Method;
use serde_json::{Value, json};

use super::client::{ServerArgs, ServerError};
use super::{FormatArgs, say, say_json};
use crate::url::encoded;

/// Maximum size of the hook's input.
const MAX_INPUT_BYTES: u64 = 1024 * 1024;
/// Maximum size of a conversation. The rest of a larger one is not read.
const MAX_TRANSCRIPT_BYTES: u64 = 256 * 1024 * 1024;
/// Maximum number of turns that one request sends.
const TURNS_PER_REQUEST: usize = 50;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa hook                                  as a hook: reads its input on standard input
  lukasa hook --transcript FILE --session NAME   by hand

In the settings of Claude Code, as hooks of `Stop` and `SessionEnd`:
  {\"hooks\": [{\"type\": \"command\", \"command\": \"lukasa hook\"}]}")]
pub struct HookArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The conversation, instead of the one that the hook's input names
    #[arg(long, value_name = "FILE", requires = "session")]
    transcript: Option<PathBuf>,
    /// The name of the session to store it in, instead of the one that the hook's input names
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The project of the session; set when the session is opened
    #[arg(long, env = "LUKASA_PROJECT", value_name = "NAME")]
    project: Option<String>,
}

/// A message of a conversation.
#[derive(Debug, PartialEq, Eq)]
struct Message {
    role: &'static str,
    text: String,
    at: Option<String>,
}

impl HookArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let input = match &self.transcript {
            Some(_) => Value::Null,
            None => read_input()?,
        };
        let named = |name: &str| input[name].as_str().map(str::to_owned);
        let session = self.session.clone().or_else(|| named("session_id"));
        let session =
            session.context("the hook's input has no `session_id`; see lukasa hook -h")?;
        let path = self.transcript.clone().or_else(|| named("transcript_path").map(PathBuf::from));
        let path = path.context("the hook's input has no `transcript_path`; see lukasa hook -h")?;
        let messages = read_transcript(&path)?;
        let place = format!("/api/sessions/{}", encoded(&session));
        let stored = self.stored_turns(&place).await?;
        let news = messages.get(stored..).unwrap_or_default();
        for (part, turns) in news.chunks(TURNS_PER_REQUEST).enumerate() {
            let mut body = json!({ "turns": turns.iter().map(turn).collect::<Vec<_>>() });
            if let (0, Some(project)) = (stored, &self.project) {
                body["project"] = json!(project);
            }
            let key = format!("hook {session} {}", stored + part * TURNS_PER_REQUEST);
            let request = self.server.request(Method::POST, &format!("{place}/turns"))?;
            let request = request.header("idempotency-key", key).json(&body);
            self.server.send(request).await?;
        }
        let is_over = input["hook_event_name"] == "SessionEnd";
        if is_over && stored + news.len() > 0 {
            self.server.post(&format!("{place}/close"), &json!({})).await?;
        }
        if self.format.json {
            return say_json(&json!({ "session_id": session, "stored": news.len() }));
        }
        // A hook's output is shown to the user, so it says nothing if nothing was done.
        match news.len() {
            0 => Ok(()),
            1 => say("Stored 1 message in Lukasa."),
            count => say(&format!("Stored {count} messages in Lukasa.")),
        }
    }

    /// The number of messages that are stored already.
    async fn stored_turns(&self, place: &str) -> anyhow::Result<usize> {
        match self.server.get(place).await {
            Ok(session) => Ok(session["turns"].as_u64().map_or(0, |turns| turns as usize)),
            Err(error) => match error.downcast_ref::<ServerError>() {
                Some(refused) if refused.status == 404 => Ok(0),
                _ => Err(error),
            },
        }
    }
}

fn turn(message: &Message) -> Value {
    let mut turn = json!({ "role": message.role, "content": message.text });
    if let Some(at) = &message.at {
        turn["at"] = json!(at);
    }
    turn
}

fn read_input() -> anyhow::Result<Value> {
    let mut text = String::new();
    std::io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut text)?;
    serde_json::from_str(&text).context("the hook's input is not a JSON object")
}

fn read_transcript(path: &Path) -> anyhow::Result<Vec<Message>> {
    let file = std::fs::File::open(path)
        .with_context(|| format!("the conversation {} cannot be opened", path.display()))?;
    let lines = BufReader::new(file.take(MAX_TRANSCRIPT_BYTES)).split(b'\n');
    let mut messages = Vec::new();
    for line in lines {
        let line = line.with_context(|| format!("{} cannot be read", path.display()))?;
        // The last line may still be written to.
        let entry: Option<Value> = serde_json::from_slice(&line).ok();
        messages.extend(entry.as_ref().and_then(message));
    }
    Ok(messages)
}

/// The message of a line, if the user or the assistant said it: `{"message": {"role", "content"}}`
/// as Claude Code writes it, `{"payload": {...}}` as Codex does, or the object by itself.
fn message(entry: &Value) -> Option<Message> {
    let is_set = |name: &str| entry[name].as_bool().unwrap_or_default();
    if is_set("isMeta") || is_set("isSidechain") {
        return None;
    }
    let said = ["message", "payload"].into_iter().map(|name| &entry[name]);
    let said = said.chain([entry]).find(|said| said["role"].is_string())?;
    let role = match said["role"].as_str()? {
        "user" => "user",
        "assistant" => "assistant",
        _ => return None,
    };
    let text = text_of(&said["content"]);
    let text = text.trim();
    if text.is_empty() || (role == "user" && is_added_by_agent(text)) {
        return None;
    }
    let text = text.chars().take(TURN_CHARS).collect();
    Some(Message { role, text, at: entry["timestamp"].as_str().map(str::to_owned) })
}

/// The texts of a message, without calls and results of tools.
fn text_of(content: &Value) -> String {
    let Value::Array(blocks) = content else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    let is_text = |block: &&Value| {
        matches!(block["type"].as_str(), Some("text" | "input_text" | "output_text"))
    };
    let texts = blocks.iter().filter(is_text).filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Whether a coding agent wrote this in the user's place: the output of its commands, reminders, the
/// instructions of a project.
fn is_added_by_agent(text: &str) -> bool {
    const BEGINNINGS: [&str; 9] = [
        "<command-",
        "<local-command",
        "<system-reminder>",
        "<environment_context>",
        "<user_instructions>",
        "<bash-",
        "[Request interrupted",
        "Caveat: The messages below",
        "# AGENTS.md instructions",
    ];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<(&'static str, String)> {
        let entry: Value = serde_json::from_str(line).unwrap();
        message(&entry).map(|found| (found.role, found.text))
    }

    #[test]
    fn hook_reads_what_user_and_assistant_said_in_each_format() {
        for (line, role) in [
            (r#"{"type":"user","message":{"role":"user","content":"Hi there"}}"#, "user"),
            (
                r#"{"type":"assistant","message":{"role":"assistant","content":[
                    {"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi there"},
                    {"type":"tool_use","name":"Bash","input":{}}]}}"#,
                "assistant",
            ),
            (
                r#"{"type":"response_item","payload":{"type":"message","role":"user",
                    "content":[{"type":"input_text","text":"Hi there"}]}}"#,
                "user",
            ),
            (r#"{"role":"user","content":"Hi there"}"#, "user"),
        ] {
            assert_eq!(read(line), Some((role, "Hi there".to_owned())), "{line}");
        }
    }

    #[test]
    fn hook_leaves_out_tool_results_and_text_that_the_agent_added() {
        for line in [
            r#"{"message":{"role":"user","content":[{"type":"tool_result","content":"secret"}]}}"#,
            r#"{"isMeta":true,"message":{"role":"user","content":"Hi"}}"#,
            r#"{"isSidechain":true,"message":{"role":"user","content":"Do this"}}"#,
            r#"{"message":{"role":"user","content":"<command-name>/clear</command-name>"}}"#,
            r#"{"message":{"role":"system","content":"You are"}}"#,
            r#"{"type":"summary","summary":"A chat"}"#,
            r#"{"message":{"role":"user","content":"  "}}"#,
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
