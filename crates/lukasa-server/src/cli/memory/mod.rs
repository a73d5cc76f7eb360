//! The everyday commands about one person's memory: save, recall, list, log, forget, confirm, undo.
//! They ask the server like any other caller and decide nothing about a memory themselves.

mod answer;
mod list;
mod log;
mod recall;
mod save;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Refused, Server, encoded};
use super::show::{DIM, count, field, paint, plain};
use super::{say, say_json};

pub use answer::{Confirm, Forget, Undo};
pub use list::List;
pub use log::Log;
pub use recall::Recall;
pub use save::Save;

/// How long a printed id is; a shorter one is the beginning of one.
const ID_CHARS: usize = 26;

/// The memory that a person means: an id, the beginning of one, or words that occur in only one. Words
/// are left to the server, which knows what occurs where.
async fn memory_named(server: &Server, words: &[String]) -> anyhow::Result<String> {
    let text = words.join(" ");
    whole_id(server, &text, "mem_", "/api/memory?status=all&limit=200", "memory").await
}

/// The operation that a person means: an id, or the beginning of one.
async fn operation_named(server: &Server, text: &str) -> anyhow::Result<String> {
    whole_id(server, text, "op_", "/api/operations?limit=200", "operation").await
}

async fn whole_id(
    server: &Server,
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
            // `status=all` lists every version of a memory; the words that stand are shown.
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
    let refuse = |status: u16, code: &str, detail: String, candidates: &[Value]| Refused {
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
            let detail = format!("{many} ids begin with {text}; give more of it");
            Err(refuse(409, "ambiguous_target", detail, several).into())
        }
    }
}

/// Asks the server to do something with a memory.
async fn act(server: &Server, id: &str, verb: &str, body: &Value) -> anyhow::Result<Value> {
    server.post(&format!("/api/memory/{}/{verb}", encoded(id)), body).await
}

/// What a write did: the server's own sentence, and how to take it back.
fn tell_written(written: &Value, json: bool) -> anyhow::Result<()> {
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

/// Opens a domain for its person.
async fn open_domain(server: &Server, domain: &str) -> anyhow::Result<()> {
    let path = format!("/api/domains/{}/opt-in", encoded(domain));
    server.send(server.request(Method::PUT, &path)?.json(&json!({}))).await?;
    Ok(())
}

/// A memory's words with its area, as one cell.
fn words_of(memory: &Value) -> String {
    field(memory, "content")
}
