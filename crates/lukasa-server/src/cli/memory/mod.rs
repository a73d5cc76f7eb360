//! The commands about one user's memories: save, recall, list, log, correct, forget, confirm, undo. They
//! use the API like any other caller; all rules are in the server.

mod answer;
mod correct;
mod list;
mod log;
mod recall;
mod save;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{ServerArgs, ServerError};
use super::show::{DIM, count, field, paint, plain};
use super::{say, say_json};
use crate::url::encoded;

pub use answer::{ConfirmArgs, ForgetArgs, UndoArgs};
pub use correct::CorrectArgs;
pub use list::ListMemoriesArgs;
pub use log::LogArgs;
pub use recall::RecallArgs;
pub use save::SaveArgs;

/// Length of an id without its prefix; a shorter text is the beginning of an id.
const ID_CHARS: usize = 26;

/// Resolves a memory argument: an id, the beginning of an id, or words of one memory. Words are
/// returned unchanged: the server resolves them.
async fn memory_named(server: &ServerArgs, words: &[String]) -> anyhow::Result<String> {
    let text = words.join(" ");
    whole_id(server, &text, "mem_", "/api/memory?status=all&limit=200", "memory").await
}

/// Resolves an operation argument: an id, or the beginning of one.
async fn operation_named(server: &ServerArgs, text: &str) -> anyhow::Result<String> {
    whole_id(server, text, "op_", "/api/operations?limit=200", "operation").await
}

async fn whole_id(
    server: &ServerArgs,
    text: &str,
    prefix: &str,
    list: &str,
    what: &str,
) -> anyhow::Result<String> {
    let rest = text.strip_prefix(prefix);
    let begins = rest.is_some_and(|rest| {
        (1..ID_CHARS).contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    if !begins {
        return Ok(text.to_owned());
    }
    let mut found: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = match &cursor {
            None => server.get(list).await?,
            Some(cursor) => server.get(&format!("{list}&cursor={}", encoded(cursor))).await?,
        };
        let data = page["data"].as_array().cloned().unwrap_or_default();
        for item in data.into_iter().filter(|item| field(item, "id").starts_with(text)) {
            // `status=all` lists every version of a memory; the current one is shown.
            match found.iter_mut().find(|other| other["id"] == item["id"]) {
                None => found.push(item),
                Some(other) if other["status"] == "superseded" => *other = item,
                Some(_) => {}
            }
        }
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let refuse = |status: u16, code: &str, detail: String, candidates: &[Value]| ServerError {
        status,
        code: code.into(),
        problem: json!({ "code": code, "status": status, "detail": detail, "candidates": candidates }),
    };
    match found.as_slice() {
        [only] => Ok(field(only, "id")),
        [] => {
            let detail = format!("No {what} has an id that begins with {text}");
            Err(refuse(404, &format!("{what}_not_found"), detail, &[]).into())
        }
        several => {
            let many = several.len();
            let detail = format!("{many} ids begin with {text}; give more characters");
            Err(refuse(409, "ambiguous_target", detail, several).into())
        }
    }
}

/// Posts an action on a memory.
async fn act(server: &ServerArgs, id: &str, verb: &str, body: &Value) -> anyhow::Result<Value> {
    server.post(&format!("/api/memory/{}/{verb}", encoded(id)), body).await
}

/// Prints the server's message about a write, and how to undo it.
fn print_written(written: &Value, json: bool) -> anyhow::Result<()> {
    if json {
        return say_json(written);
    }
    say(&field(written, "message"))?;
    let ids: Vec<String> = match written["event"]["memory_ids"].as_array() {
        Some(ids) => ids.iter().filter_map(|id| id.as_str().map(plain)).collect(),
        None => Vec::new(),
    };
    let what = match ids.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        many => count(many.len(), "memory", "memories"),
    };
    let undo =
        written["event"]["operation_id"].as_str().filter(|_| !written["event"]["undo"].is_null());
    let line = match undo {
        Some(operation) => format!("{what}   undo: lukasa undo {}", plain(operation)),
        None => what,
    };
    if line.trim().is_empty() { Ok(()) } else { say(&format!("  {}", paint(DIM, line.trim()))) }
}

/// Opens a domain for the user.
async fn open_domain(server: &ServerArgs, domain: &str) -> anyhow::Result<()> {
    let path = format!("/api/domains/{}/opt-in", encoded(domain));
    server.send(server.request(Method::PUT, &path)?.json(&json!({}))).await?;
    Ok(())
}

/// The content of a memory, as one cell.
fn words_of(memory: &Value) -> String {
    field(memory, "content")
}
