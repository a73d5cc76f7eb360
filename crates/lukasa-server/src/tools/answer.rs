//! Answers to tool calls: a message for the model, the same as data, and for a user interface the
//! event with its handle for undo.
//!
//! Both quote memories, whose text may come from anyone: in the message each becomes one harmless
//! line. Clients pass the data to the model too: there each field keeps its lines, numbers and links,
//! since the model may write it back, and loses what could pass for a tag or another speaker.

use jiff::Timestamp;
use lukasa_core::admission::{name_directs, project_directs};
use lukasa_core::context::listed_line;
use lukasa_core::{Force, Status, Tier};
use lukasa_engine::facts::Page;
use lukasa_engine::recall::{RecallResult, RecalledEpisode, RecalledFact};
use lukasa_engine::{Memory, Outcome};
use lukasa_text::line::{harmless, harmless_data, harmless_start};
use serde::Serialize;
use serde_json::{Value, json};

use super::list::{Action, Tool, all};
use crate::api::code::{ErrorCode, error_row};
use crate::api::error::{Problem, memory_line};
use crate::api::wire::{MemoryEvent, MemoryView, WriteResult};

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    /// The message for the model.
    pub message: String,
    /// The same as data. A write includes its `event`.
    pub structured: Value,
    /// Whether the call failed.
    pub failed: bool,
    /// A question that only the user can answer, if the user can be asked.
    pub question: Option<UserQuestion>,
}

/// A question to the user. If it is not asked, the answer it belongs to is final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserQuestion {
    /// Identifies the question. For consent it contains the digest of the words, so a reply to
    /// other words belongs to another question.
    pub key: String,
    pub text: String,
}

/// A memory as a model needs it: its content, its id, and how far to trust it.
#[derive(Debug, Serialize)]
struct Brief {
    id: String,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    category: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// `hard` for a rule, which has a key and often a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    force: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Value>,
    status: &'static str,
    /// How the memory was created.
    source: &'static str,
    confidence: f64,
    /// How well an inferred memory is supported; absent if it is strong.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<&'static str>,
    importance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<&'static str>,
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

/// Maximum length of an episode's summary in a message, in characters.
const SUMMARY_CHARS: usize = 400;

/// An episode as a model needs it. The fields have the names that they have in the API.
#[derive(Debug, Serialize)]
struct EpisodeBrief<'e> {
    id: String,
    /// Absent if it is an order: clients choose the ids of sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    summary: String,
    started_at: Timestamp,
    ended_at: Timestamp,
    domains: Vec<String>,
    relevance: f64,
}

impl<'e> From<&'e RecalledEpisode> for EpisodeBrief<'e> {
    fn from(found: &'e RecalledEpisode) -> Self {
        let episode = &found.episode;
        Self {
            id: episode.id.to_string(),
            session_id: Some(episode.session.as_str()).filter(|id| !name_directs(id)),
            title: episode.title.as_deref().map(harmless_data),
            summary: harmless_data(&episode.summary),
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            domains: found.domains.iter().map(|name| harmless_data(name)).collect(),
            relevance: hundredths(found.why.relevance),
        }
    }
}

/// Rounds to two decimals: more digits would only cost tokens.
fn hundredths(number: f32) -> f64 {
    (f64::from(number) * 100.0).round() / 100.0
}

impl From<&Memory> for Brief {
    fn from(memory: &Memory) -> Self {
        Self::from(MemoryView::from(memory))
    }
}

impl From<MemoryView> for Brief {
    fn from(view: MemoryView) -> Self {
        Self {
            id: view.id,
            content: harmless_data(&view.content),
            detail: view.detail.as_deref().map(harmless_data),
            category: view.category,
            domain: view.domain.as_deref().map(harmless_data),
            project: view
                .project
                .filter(|name| !project_directs(name))
                .as_deref()
                .map(harmless_data),
            force: Some(view.force).filter(|force| *force == Force::Hard.as_str()),
            key: view.key.as_deref().map(harmless_data),
            value: view.value.map(harmless_value),
            status: view.status,
            source: view.source,
            confidence: hundredths(view.effective_confidence),
            tier: Some(view.tier).filter(|tier| *tier != Tier::Strong.as_str()),
            importance: hundredths(view.importance),
            instruction: view.unmentioned.then_some("use it, but do not mention it"),
            valid_from: view.valid_from,
            valid_until: view.valid_until,
            updated_at: view.updated_at,
            relevance: None,
            sha256: view.sha256,
        }
    }
}

/// A value with harmless texts and names of fields.
fn harmless_value(value: Value) -> Value {
    match value {
        Value::String(text) => harmless_data(&text).into(),
        Value::Array(items) => items.into_iter().map(harmless_value).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| (harmless_data(&name), harmless_value(field)))
            .collect(),
        other => other,
    }
}

/// Data of a write.
#[derive(Serialize)]
struct WriteData<'a> {
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

impl ToolAnswer {
    fn new(message: String, structured: Value) -> Self {
        Self { message, structured, failed: false, question: None }
    }

    pub(super) fn with_question(self, question: Option<UserQuestion>) -> Self {
        Self { question, ..self }
    }
}

/// The answer to a write, with the memories it may duplicate.
pub(super) fn written(outcome: &Outcome, similar: &[Memory]) -> ToolAnswer {
    let WriteResult { memory, event, message, .. } = WriteResult::from(outcome);
    let mut message = harmless(&message);
    if let Some(memory) = &memory {
        message = format!("{message} ({})", memory.id);
        if memory.status == Status::Proposed.as_str() {
            message.push_str(". It is not used until the user has said yes to it in Lukasa.");
        }
    }
    if let (Some(memory), false) = (&memory, similar.is_empty()) {
        message.push_str("\nThis may say again what was known:");
        for other in similar {
            message.push_str(&format!("\n- {}", memory_line(other)));
        }
        message.push_str(&format!(
            "\nIf so, call forget_memory with {} and update_memory with the other id.",
            memory.id
        ));
    }
    let memory = memory.map(Brief::from);
    let similar = similar.iter().map(Brief::from).collect();
    let structured = data(WriteData { message: &message, memory, event, similar });
    ToolAnswer::new(message, structured)
}

/// A memory of a list, and its data.
type Listed<'m> = (&'m Memory, Brief);

/// An answer with a list of memories, as a message and as data.
fn listed(
    head: String,
    found: Vec<Listed<'_>>,
    next: Option<String>,
    detailed: bool,
) -> ToolAnswer {
    let mut message = head;
    for (memory, brief) in &found {
        message.push_str(&format!("\n- {}", memory_line(memory)));
        if brief.status != Status::Active.as_str() {
            message.push_str(&format!(" [{}]", brief.status));
        }
        if let (true, Some(detail)) = (detailed, &brief.detail) {
            message.push_str(&format!("\n  {}", harmless(detail)));
        }
    }
    let briefs: Vec<Brief> = found.into_iter().map(|(_, brief)| brief).collect();
    if let Some(next) = &next {
        message.push_str(&format!("\nThere are more: call again with cursor {next}"));
    }
    let mut structured = json!({ "message": message, "memories": briefs });
    if let Some(next) = next {
        structured["next_cursor"] = next.into();
    }
    ToolAnswer::new(message, structured)
}

fn count_memories(count: usize) -> String {
    match count {
        1 => "1 memory".into(),
        _ => format!("{count} memories"),
    }
}

pub(super) fn page(page: &Page, next: Option<String>) -> ToolAnswer {
    let found: Vec<Listed<'_>> =
        page.memories.iter().map(|memory| (memory, Brief::from(memory))).collect();
    let head = match found.len() {
        0 => "Nothing is known here.".to_owned(),
        count => format!("{}, newest first:", count_memories(count)),
    };
    listed(head, found, next, false)
}

pub(super) fn recalled(found: &RecallResult) -> ToolAnswer {
    let brief = |found: &RecalledFact| Brief {
        relevance: Some(hundredths(found.why.relevance)),
        ..Brief::from(&found.memory)
    };
    let memories: Vec<Listed<'_>> =
        found.memories.iter().map(|found| (&found.memory, brief(found))).collect();
    let head = match (memories.len(), found.episodes.len()) {
        (0, 0) => "Nothing is remembered about this.".to_owned(),
        (0, _) => "No memory is about this.".to_owned(),
        (count, _) => format!("{}, the best first:", count_memories(count)),
    };
    let mut answer = listed(head, memories, None, true);
    if !found.episodes.is_empty() {
        answer.message.push_str("\nSummaries of earlier conversations:");
        for RecalledEpisode { episode, .. } in &found.episodes {
            let day = episode.ended_at.strftime("%Y-%m-%d");
            let summary = harmless_start(&episode.summary, SUMMARY_CHARS);
            answer.message.push_str(&format!("\n- {day}: {summary}"));
        }
        answer.structured["message"] = answer.message.as_str().into();
    }
    let episodes: Vec<EpisodeBrief<'_>> = found.episodes.iter().map(EpisodeBrief::from).collect();
    answer.structured["episodes"] = data(episodes);
    answer
}

/// The URI of a memory for citations.
fn memory_uri(id: &str) -> String {
    format!("lukasa://memories/{id}")
}

/// Search results in the format that deep research connectors require, as text and as data.
pub(super) fn results(found: &RecallResult) -> ToolAnswer {
    let result = |found: &RecalledFact| {
        let version = &found.memory.version;
        let id = version.fact.to_string();
        json!({ "title": listed_line(version), "url": memory_uri(&id), "id": id })
    };
    let structured = json!({ "results": found.memories.iter().map(result).collect::<Vec<_>>() });
    ToolAnswer::new(structured.to_string(), structured)
}

pub(super) fn document(memory: &Memory) -> ToolAnswer {
    let view = MemoryView::from(memory);
    let title = listed_line(&memory.version);
    // The line has the summary in place of the content.
    let content = view.summary.as_ref().map(|_| view.content.as_str());
    let more = [content, view.detail.as_deref()].into_iter().flatten();
    let more: String = more.map(|text| format!("\n\n{}", harmless(text))).collect();
    let structured = json!({
        "id": view.id,
        "title": title,
        "text": format!("{title}{more}"),
        "url": memory_uri(&view.id),
        "metadata": Brief::from(view),
    });
    ToolAnswer::new(structured.to_string(), structured)
}

/// The advice to a model after a refusal. The API's advice names requests that a model cannot make.
fn advice(problem: &Problem, tool: &Tool) -> String {
    match problem.code {
        ErrorCode::MemoryNotFound => {
            "Call list_memories or recall_memories and use an id from there.".into()
        }
        ErrorCode::AmbiguousTarget => "Call again with the id of the one that is meant.".into(),
        ErrorCode::KeyTaken => "Call update_memory with its id instead.".into(),
        ErrorCode::DomainNotFound => "Leave the domain out.".into(),
        ErrorCode::OptInNeeded => {
            "Nothing was kept. Only the user can open the domain, in Lukasa's settings. Do not try \
             to keep it elsewhere."
                .into()
        }
        ErrorCode::HumanNeeded => {
            "Only the user can do this, in Lukasa. Tell them that it waits there.".into()
        }
        ErrorCode::Forbidden if tool.action == Action::Save => {
            "This assistant may not save. Call propose_memory if it is listed.".into()
        }
        ErrorCode::NotActive => {
            "It was forgotten, has ended or is not confirmed yet. Call list_memories.".into()
        }
        // Only the cause, without the advice to compare the request with the API's description.
        ErrorCode::MalformedBody | ErrorCode::MalformedQuery => {
            let advice = error_row(problem.code).advice;
            problem.detail.strip_suffix(advice).unwrap_or(&problem.detail).to_owned()
        }
        ErrorCode::MalformedCursor => {
            "Use the cursor as it was given, or start without one.".into()
        }
        _ => problem.detail.clone(),
    }
}

/// The answer to a refused call, with what to do instead.
pub(super) fn refused(tool: &Tool, problem: &Problem) -> ToolAnswer {
    let title = match problem.code {
        ErrorCode::MalformedBody | ErrorCode::MalformedQuery => "An argument is not valid",
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
    for candidate in &problem.candidate_lines {
        message.push_str(&format!("\n- {candidate}"));
    }
    let candidates = problem.candidates.iter().cloned().map(Brief::from).collect();
    failure(tool, problem.code.as_str(), message, candidates)
}

fn failure(tool: &Tool, code: &str, message: String, candidates: Vec<Brief>) -> ToolAnswer {
    let mut error = json!({ "code": code });
    if !candidates.is_empty() {
        error["candidates"] = data(candidates);
    }
    // The output schema of these tools has no field for an error, so only the message carries it.
    let structured = match tool.action {
        Action::Search | Action::Fetch => Value::Null,
        _ => json!({ "message": message, "error": error }),
    };
    ToolAnswer { message, structured, failed: true, question: None }
}

pub(super) fn unknown(name: &str) -> ToolAnswer {
    let names: Vec<&str> = all().iter().map(|tool| tool.name).collect();
    let name: String = harmless(name).chars().take(64).collect();
    let message = format!("There is no tool {name:?}. There are: {}.", names.join(", "));
    ToolAnswer { message, structured: Value::Null, failed: true, question: None }
}
