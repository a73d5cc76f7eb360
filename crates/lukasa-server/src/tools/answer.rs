//! What a call is answered with: words for the model, the same as data, and for an interface the
//! event with its handle for undo.
//!
//! The words for the model quote memories, which anybody may have written: each becomes one harmless
//! line. The data has them as they are.

use jiff::Timestamp;
use lukasa_core::Status;
use lukasa_core::context::line::harmless;
use lukasa_engine::facts::{Memory, Outcome, Page};
use lukasa_engine::recall::Recalled;
use serde::Serialize;
use serde_json::{Value, json};

use super::list::{Action, Tool, all};
use crate::http::error::{Problem, TABLE};
use crate::http::wire::{MemoryEvent, MemoryView, Written};

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// For the model.
    pub message: String,
    /// The same as data. What was written has its `event` in it.
    pub structured: Value,
    /// Whether the call did not do what it was made for.
    pub failed: bool,
    /// What only the person can settle, if they can be asked.
    pub question: Option<Question>,
}

/// Something to ask the person. The answer stands above: it is what holds if nobody asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Names the question and, for a yes to words, the digest of the very words: an answer to other
    /// words is an answer to another question.
    pub key: String,
    pub text: String,
}

/// A memory as a model needs it: what it says, what it is called, and how far to believe it.
#[derive(Debug, Serialize)]
struct Brief {
    id: String,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    category: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    status: &'static str,
    /// How it came to be a memory.
    source: &'static str,
    confidence: f64,
    valid_from: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_until: Option<Timestamp>,
    updated_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// The digest that a yes to this proposal must carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// More digits would only be tokens.
fn hundredths(number: f32) -> f64 {
    (f64::from(number) * 100.0).round() / 100.0
}

impl From<MemoryView> for Brief {
    fn from(view: MemoryView) -> Self {
        Self {
            id: view.id,
            content: view.content,
            detail: view.detail,
            category: view.category,
            domain: view.domain,
            status: view.status,
            source: view.source,
            confidence: hundredths(view.effective_confidence),
            valid_from: view.valid_from,
            valid_until: view.valid_until,
            updated_at: view.updated_at,
            relevance: None,
            sha256: view.sha256,
        }
    }
}

/// A write's answer as data.
#[derive(Serialize)]
struct Done<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Brief>,
    event: MemoryEvent,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    similar: Vec<Brief>,
}

fn data(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// `mem_… Prefers window seats`, in one line.
fn line(id: &str, content: &str) -> String {
    format!("{id}: {}", harmless(content))
}

impl Answer {
    fn new(message: String, structured: Value) -> Self {
        Self { message, structured, failed: false, question: None }
    }

    pub(super) fn asking(self, question: Option<Question>) -> Self {
        Self { question, ..self }
    }
}

/// What a write did, and what it may be repeating.
pub(super) fn written(outcome: &Outcome, similar: &[Memory]) -> Answer {
    let Written { memory, event, message, .. } = Written::from(outcome);
    let mut message = harmless(&message);
    if let Some(memory) = &memory {
        message = format!("{message} ({})", memory.id);
        if memory.status == Status::Proposed.as_str() {
            message.push_str(". It is not used until the user has said yes to it in Lukasa.");
        }
    }
    let similar: Vec<Brief> =
        similar.iter().map(|memory| Brief::from(MemoryView::from(memory))).collect();
    if let (Some(memory), false) = (&memory, similar.is_empty()) {
        message.push_str("\nThis may say again what was known:");
        for other in &similar {
            message.push_str(&format!("\n- {}", line(&other.id, &other.content)));
        }
        message.push_str(&format!(
            "\nIf so, call forget_memory with {} and update_memory with the other id.",
            memory.id
        ));
    }
    let memory = memory.map(Brief::from);
    let structured = data(Done { message: &message, memory, event, similar });
    Answer::new(message, structured)
}

/// A list of memories for the model and as data.
fn listed(head: String, briefs: &[Brief], next: Option<String>, detailed: bool) -> Answer {
    let mut message = head;
    for brief in briefs {
        let domain = brief.domain.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
        let said = line(&brief.id, &brief.content);
        message.push_str(&format!("\n- {said} ({}{domain})", brief.category));
        if brief.status != Status::Active.as_str() {
            message.push_str(&format!(" [{}]", brief.status));
        }
        if let (true, Some(detail)) = (detailed, &brief.detail) {
            message.push_str(&format!("\n  {}", harmless(detail)));
        }
    }
    if let Some(next) = &next {
        message.push_str(&format!("\nThere are more: call again with cursor {next}"));
    }
    let mut structured = json!({ "message": message, "memories": briefs });
    if let Some(next) = next {
        structured["next_cursor"] = next.into();
    }
    Answer::new(message, structured)
}

fn many(count: usize) -> String {
    match count {
        1 => "1 memory".into(),
        _ => format!("{count} memories"),
    }
}

pub(super) fn page(page: &Page, next: Option<String>) -> Answer {
    let briefs: Vec<Brief> =
        page.memories.iter().map(|memory| Brief::from(MemoryView::from(memory))).collect();
    let head = match briefs.len() {
        0 => "Nothing is known here.".to_owned(),
        count => format!("{}, newest first:", many(count)),
    };
    listed(head, &briefs, next, false)
}

pub(super) fn recalled(found: &Recalled) -> Answer {
    let brief = |found: &lukasa_engine::recall::RecalledFact| Brief {
        relevance: Some(hundredths(found.why.relevance)),
        ..Brief::from(MemoryView::from(&found.memory))
    };
    let briefs: Vec<Brief> = found.memories.iter().map(brief).collect();
    let head = match briefs.len() {
        0 => "Nothing is remembered about this.".to_owned(),
        count => format!("{}, the best first:", many(count)),
    };
    listed(head, &briefs, None, true)
}

/// Where a memory can be cited.
fn address(id: &str) -> String {
    format!("lukasa://memories/{id}")
}

/// The shape that connectors for deep research ask for, as text and as data.
pub(super) fn results(found: &Recalled) -> Answer {
    let result = |view: MemoryView| json!({ "id": view.id, "title": harmless(&view.content), "url": address(&view.id) });
    let memories = found.memories.iter().map(|found| MemoryView::from(&found.memory));
    let structured = json!({ "results": memories.map(result).collect::<Vec<_>>() });
    Answer::new(structured.to_string(), structured)
}

pub(super) fn document(memory: &Memory) -> Answer {
    let view = MemoryView::from(memory);
    let title = harmless(&view.content);
    let detail = view.detail.as_deref().map(|detail| format!("\n\n{}", harmless(detail)));
    let structured = json!({
        "id": view.id,
        "title": title,
        "text": format!("{title}{}", detail.unwrap_or_default()),
        "url": address(&view.id),
        "metadata": Brief::from(view),
    });
    Answer::new(structured.to_string(), structured)
}

/// What a model is told to do about a refusal. The advice of the API speaks of requests that a model
/// cannot make.
fn advice(problem: &Problem, tool: &Tool) -> String {
    match problem.code.as_str() {
        "memory_not_found" => {
            "Call list_memories or recall_memories and use an id from there.".into()
        }
        "ambiguous_target" => "Call again with the id of the one that is meant.".into(),
        "key_taken" => "Call update_memory with its id instead.".into(),
        "domain_not_found" => "Leave the domain out.".into(),
        "opt_in_needed" => {
            "Nothing was kept. Only the user can open the domain, in Lukasa's settings. Do not try \
             to keep it elsewhere."
                .into()
        }
        "human_needed" => {
            "Only the user can do this, in Lukasa. Tell them that it waits there.".into()
        }
        "forbidden" if tool.action == Action::Save => {
            "This assistant may not save. Call propose_memory if it is listed.".into()
        }
        "not_active" => {
            "It was forgotten, has ended or is not confirmed yet. Call list_memories.".into()
        }
        // What is wrong, without the advice to compare it with the API's description.
        "malformed_body" | "malformed_query" => {
            let entry = TABLE.iter().find(|entry| entry.code == problem.code);
            let advice = entry.map_or("", |entry| entry.advice);
            problem.detail.strip_suffix(advice).unwrap_or(&problem.detail).to_owned()
        }
        "malformed_cursor" => "Use the cursor as it was given, or start without one.".into(),
        _ => problem.detail.clone(),
    }
}

/// What could not be done, in words that say what to do instead.
pub(super) fn refused(tool: &Tool, problem: &Problem) -> Answer {
    let title = match problem.code.as_str() {
        "malformed_body" | "malformed_query" => "An argument is not valid",
        _ => &problem.title,
    };
    let mut message = format!("{title}. ");
    for fault in &problem.errors {
        message.push_str(&format!("{}: {}. ", fault.pointer.trim_start_matches('/'), fault.detail));
    }
    if problem.errors.is_empty() {
        message.push_str(&advice(problem, tool));
    }
    let mut message = message.trim_end().to_owned();
    for candidate in &problem.candidates {
        message.push_str(&format!("\n- {}", line(&candidate.id, &candidate.content)));
    }
    let candidates = problem.candidates.iter().cloned().map(Brief::from).collect();
    failure(tool, &problem.code, message, candidates)
}

fn failure(tool: &Tool, code: &str, message: String, candidates: Vec<Brief>) -> Answer {
    let mut error = json!({ "code": code });
    if !candidates.is_empty() {
        error["candidates"] = data(candidates);
    }
    // Where a tool promises another shape, a refusal is told in words alone.
    let structured = match tool.action {
        Action::Search | Action::Fetch => Value::Null,
        _ => json!({ "message": message, "error": error }),
    };
    Answer { message, structured, failed: true, question: None }
}

pub(super) fn unknown(name: &str) -> Answer {
    let names: Vec<&str> = all().iter().map(|tool| tool.name).collect();
    let name: String = harmless(name).chars().take(64).collect();
    let message = format!("There is no tool {name:?}. There are: {}.", names.join(", "));
    Answer { message, structured: Value::Null, failed: true, question: None }
}
