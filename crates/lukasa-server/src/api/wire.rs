//! Request and response types of the API. They are separate from the engine's types, so that the
//! engine can change without changing the API.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lukasa_core::context::listed_line;
use lukasa_core::fade::ConfidenceInputs;
use lukasa_core::{Link, Operation, Origin, Status, Verb, Version};
use lukasa_engine::RemovalCounts;
use lukasa_engine::facts::{HistoryEntry, LinkedMemory};
use lukasa_engine::{ErasureSummary, Memory, Outcome};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// An instant: RFC 3339, or a date, which means its start in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When(pub Timestamp);

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let refuse = || serde::de::Error::custom("an instant such as 2026-03-01T12:00:00Z");
        let at = match text.parse::<Timestamp>() {
            Ok(at) => at,
            Err(_) => {
                let date: Date = text.parse().map_err(|_| refuse())?;
                date.to_zoned(TimeZone::UTC).map_err(|_| refuse())?.timestamp()
            }
        };
        if is_storable(at) { Ok(When(at)) } else { Err(refuse()) }
    }
}

/// Whether a time can be stored: outside these years PostgreSQL and the printed form differ.
pub fn is_storable(at: Timestamp) -> bool {
    (1..=9999).contains(&at.to_zoned(TimeZone::UTC).year())
}

/// Deserializes a field so that null differs from absent.
pub fn present<'de, T, D>(d: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(d).map(Some)
}

/// Evidence for a memory.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    #[serde(rename = "type")]
    #[schema(example = "pattern")]
    pub kind: String,
    #[schema(example = "the last 5 orders were from Kroger")]
    pub description: String,
}

/// Evidence as it is sent: with its type, or as a text alone.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EvidenceInput {
    Item(Evidence),
    Text(String),
}

impl From<EvidenceInput> for lukasa_core::ClaimEvidence {
    fn from(sent: EvidenceInput) -> Self {
        match sent {
            EvidenceInput::Item(item) => Self::of(&item.kind, &item.description),
            EvidenceInput::Text(text) => Self::of("note", &text),
        }
    }
}

/// The content of a memory: a text, or the value of a rule.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum MemoryContent {
    Text(String),
    List(Vec<serde_json::Value>),
    Object(serde_json::Map<String, serde_json::Value>),
}

impl MemoryContent {
    /// The text, and the value if it is a list or an object.
    pub fn into_parts(self) -> (String, Option<serde_json::Value>) {
        let value = match self {
            Self::Text(text) => return (text, None),
            Self::List(list) => serde_json::Value::Array(list),
            Self::Object(map) => serde_json::Value::Object(map),
        };
        (lukasa_core::value_text(&value), Some(value))
    }
}

/// Evidence for a memory, with the turn it comes from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EvidenceView {
    #[serde(rename = "type")]
    #[schema(example = "quote")]
    pub kind: String,
    #[schema(example = "I never fly before ten")]
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
}

impl From<lukasa_core::ClaimEvidence> for EvidenceView {
    fn from(evidence: lukasa_core::ClaimEvidence) -> Self {
        let lukasa_core::ClaimEvidence { kind, description, turn } = evidence;
        Self { kind, description, turn_id: turn }
    }
}

/// A memory, at the requested point in time.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MemoryView {
    /// Stable through every change, correction, undo and restore.
    #[schema(example = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    pub id: String,
    /// The version that was read; also its ETag.
    #[schema(example = "ver_01hx3v9d0kf7rtm4q5wz8yb2cb")]
    pub version_id: String,
    /// The version number: 1 when saved, incremented with each change or correction.
    pub version: i32,
    #[schema(example = "Prefers window seats")]
    pub content: String,
    pub summary: Option<String>,
    /// The long text. It is found by recall and never put into a prompt.
    pub detail: Option<String>,
    /// The memory as assistants read it, in one line that is safe in a prompt: the key and the value of
    /// a rule, the domain, the project, how far to rely on it, and whether not to mention it.
    #[schema(example = "Prefers window seats (fact, travel, said 2026-11-08)")]
    pub line: String,
    #[schema(example = "active")]
    pub status: &'static str,
    #[schema(example = "fact")]
    pub category: &'static str,
    #[serde(rename = "type")]
    #[schema(example = "profile")]
    pub memory_type: &'static str,
    #[schema(example = "preference")]
    pub kind: &'static str,
    #[schema(example = "soft")]
    pub force: &'static str,
    #[schema(example = "travel")]
    pub domain: Option<String>,
    /// The project it belongs to; absent if it holds everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub key: Option<String>,
    pub value: Option<serde_json::Value>,
    pub tags: Vec<String>,
    pub importance: f32,
    /// Whether assistants are told to use it without mentioning it.
    pub unmentioned: bool,
    #[schema(example = "strong")]
    pub tier: &'static str,
    /// Where the words came from; set by the server.
    #[schema(example = "user_said")]
    pub origin: &'static str,
    /// How the memory was created.
    #[schema(example = "user_explicit")]
    pub source: &'static str,
    /// Confidence of an extraction; null for a stated memory.
    pub confidence: Option<f32>,
    /// Confidence as a single number, also for stated memories.
    pub effective_confidence: f32,
    /// When it will be too weak to be put into prompts automatically, unless it is repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fades_at: Option<Timestamp>,
    pub evidence: Vec<EvidenceView>,
    pub reasoning: Option<String>,
    pub session_id: Option<String>,
    pub turn_ids: Vec<String>,
    pub confirmed_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    /// When the user agreed to exactly these words.
    pub consented_at: Option<Timestamp>,
    /// When it is valid in the world.
    pub valid_from: Timestamp,
    pub valid_until: Option<Timestamp>,
    /// When Lukasa knew this version.
    pub known_from: Timestamp,
    pub known_until: Option<Timestamp>,
    /// When the memory was first saved.
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The user's rating, `up` or `down`, where memories are read: in lists and when one is fetched.
    /// Absent if there is none, and in the answers of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "up")]
    pub rating: Option<&'static str>,
    /// The digest that a yes to this proposal must carry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// In a history: the next version, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

fn source_of(version: &Version, status: Status) -> &'static str {
    match (version.extracted, version.origin) {
        (true, Origin::UserTurn | Origin::UserSaid) => "user_inferred",
        (true, Origin::Observed) => "observed",
        // Extraction proposes only what the user said; this is an agent's inference.
        (true, Origin::Assistant | Origin::Tool) if status == Status::Proposed => "agent_proposed",
        (true, _) => "system_derived",
        (false, Origin::Import | Origin::Document) => "imported",
        (false, Origin::UserSaid | Origin::UserTurn) => "user_explicit",
        (false, _) if status == Status::Proposed => "agent_proposed",
        (false, _) => "assistant_explicit",
    }
}

impl From<&Memory> for MemoryView {
    fn from(memory: &Memory) -> Self {
        memory.clone().into()
    }
}

impl From<Memory> for MemoryView {
    fn from(memory: Memory) -> Self {
        let Memory { version: v, status } = memory;
        let waits = matches!(status, Status::Proposed | Status::Candidate);
        let created = v.fact.uuid().get_timestamp().map(|stamp| stamp.to_unix());
        let created = created.and_then(|(seconds, nanos)| {
            Timestamp::new(i64::try_from(seconds).ok()?, i32::try_from(nanos).ok()?).ok()
        });
        // What is derived from the version, before its texts are moved.
        let (sha256, source) = (waits.then(|| v.claim.consent_digest()), source_of(&v, status));
        let (effective, fades_at) =
            (v.effective_confidence(), ConfidenceInputs::from(&v).fades_at());
        let line = listed_line(&v);
        let claim = v.claim;
        Self {
            id: v.fact.to_string(),
            version_id: v.id.to_string(),
            version: v.number,
            content: claim.content,
            summary: claim.summary,
            detail: claim.detail,
            line,
            status: status.as_str(),
            category: claim.category.as_str(),
            memory_type: claim.memory_type.as_str(),
            kind: claim.kind.as_str(),
            force: claim.force.as_str(),
            domain: claim.domain,
            project: claim.project.map(String::from),
            key: claim.key,
            value: claim.value,
            tags: claim.tags,
            importance: claim.importance,
            unmentioned: claim.unmentioned,
            tier: v.tier.as_str(),
            origin: v.origin.as_str(),
            source,
            confidence: v.confidence,
            effective_confidence: effective,
            fades_at,
            evidence: claim.evidence.into_iter().map(EvidenceView::from).collect(),
            reasoning: claim.reasoning,
            session_id: v.session,
            turn_ids: v.turns,
            confirmed_at: v.confirmed_at,
            last_confirmed_at: v.last_confirmed_at,
            consented_at: v.consented_at,
            valid_from: v.valid.from,
            valid_until: v.valid.until,
            known_from: v.known.from,
            known_until: v.known.until,
            created_at: created.unwrap_or(v.known.from),
            updated_at: v.known.from,
            rating: None,
            sha256,
            superseded_by: None,
        }
    }
}

impl From<&HistoryEntry> for MemoryView {
    fn from(entry: &HistoryEntry) -> Self {
        let memory = Memory { version: entry.version.clone(), status: entry.status };
        let superseded_by = entry.superseded_by.map(|id| id.to_string());
        Self { superseded_by, ..Self::from(memory) }
    }
}

/// A page of memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryPage {
    pub data: Vec<MemoryView>,
    /// Pass it back as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// A page of the versions of a memory, in the order they became known.
#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    pub data: Vec<MemoryView>,
    /// Pass it back as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// Result of a write: the memory, an event for a user interface, a message for an assistant.
#[derive(Debug, Serialize, ToSchema)]
pub struct WriteResult {
    /// The memory after the write; null if none is left.
    pub memory: Option<MemoryView>,
    pub event: MemoryEvent,
    /// A message for the assistant to read.
    #[schema(example = "Saved: Prefers window seats")]
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkView>,
    /// Proof of what was removed permanently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<ReceiptView>,
    /// What was removed together with a source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<RemovalCountsView>,
    /// Memories that it may duplicate, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<SimilarView>,
}

/// A memory with a similar meaning.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarView {
    pub memory: MemoryView,
    /// Similarity, at most 1.
    pub similarity: f32,
}

impl From<&(Memory, f32)> for SimilarView {
    fn from((memory, similarity): &(Memory, f32)) -> Self {
        Self { memory: MemoryView::from(memory), similarity: *similarity }
    }
}

/// A change for a user interface to show, with the request that undoes it.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryEvent {
    #[serde(rename = "type")]
    #[schema(example = "memory.saved")]
    pub kind: &'static str,
    /// Null if nothing was written.
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    pub operation_id: Option<String>,
    pub memory_ids: Vec<String>,
    /// The request that undoes it; null if it cannot be undone.
    pub undo: Option<Undo>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Undo {
    #[schema(example = "POST")]
    pub method: &'static str,
    #[schema(example = "/api/operations/op_01hx3v9d0kf7rtm4q5wz8yb2cc/undo")]
    pub href: String,
}

/// Summary of an erasure: when and how much was erased, and none of its content.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReceiptView {
    pub memory_id: String,
    /// The id of the signed receipt in `GET /api/erasures`.
    pub erasure_id: Option<String>,
    pub erased_at: Timestamp,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    /// Stored responses to idempotency keys that were emptied.
    pub answers: i32,
}

/// The event name of an operation.
pub fn event_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Save => "memory.saved",
        Verb::Change => "memory.updated",
        Verb::Correct => "memory.corrected",
        Verb::Forget => "memory.forgotten",
        Verb::Confirm => "memory.confirmed",
        Verb::Propose => "memory.proposed",
        Verb::Reject => "memory.rejected",
        Verb::Link => "memory.linked",
        Verb::Unlink => "memory.unlinked",
        Verb::Delete => "memory.deleted",
        Verb::Restore => "memory.restored",
        Verb::Undo => "memory.undone",
        Verb::Purge => "memory.purged",
        Verb::Erase => "memory.erased",
        Verb::Learn => "memory.learned",
        Verb::Consolidate => "memory.consolidated",
        Verb::Import => "memory.imported",
        Verb::Sync => "memory.synced",
        Verb::Resolve => "memory.resolved",
    }
}

impl From<&ErasureSummary> for ReceiptView {
    fn from(receipt: &ErasureSummary) -> Self {
        Self {
            memory_id: receipt.fact.to_string(),
            erasure_id: receipt.erasure.map(|id| id.to_string()),
            erased_at: receipt.erased_at,
            versions: receipt.versions,
            links: receipt.links,
            evidence: receipt.evidence,
            answers: receipt.answers,
        }
    }
}

/// Counts of what removing a source affects.
#[derive(Debug, Serialize, ToSchema)]
pub struct RemovalCountsView {
    turns: usize,
    observations: usize,
    episodes: usize,
    /// Memories without other support: they are removed too.
    withdrawn: usize,
    /// Memories with other support: they stay, based on that.
    weakened: usize,
    /// Memories that the user stated or agreed to: they stay.
    kept: usize,
    /// Portraits that are compiled again.
    portraits: usize,
    /// The same as text.
    #[schema(example = "1 turn, 3 memories, 1 episode, 2 portraits")]
    summary: String,
}

impl From<&RemovalCounts> for RemovalCountsView {
    fn from(reached: &RemovalCounts) -> Self {
        Self {
            turns: reached.turns,
            observations: reached.observations,
            episodes: reached.episodes,
            withdrawn: reached.withdrawn,
            weakened: reached.weakened,
            kept: reached.kept,
            portraits: reached.portraits,
            summary: reached.to_string(),
        }
    }
}

impl From<&Outcome> for WriteResult {
    fn from(outcome: &Outcome) -> Self {
        let undo = outcome
            .operation
            .filter(|_| outcome.verb.can_be_undone())
            .map(|id| Undo { method: "POST", href: format!("/api/operations/{id}/undo") });
        let named = outcome.memories.iter().map(|memory| memory.version.fact.to_string());
        let removed = outcome.receipts.iter().map(|receipt| receipt.fact.to_string());
        Self {
            memory: outcome.memories.first().map(MemoryView::from),
            event: MemoryEvent {
                kind: match outcome.operation {
                    Some(_) => event_name(outcome.verb),
                    None => "memory.unchanged",
                },
                operation_id: outcome.operation.map(|id| id.to_string()),
                memory_ids: named.chain(removed).collect(),
                undo,
            },
            message: outcome.message.clone(),
            link: outcome.link.as_ref().map(|link| LinkView::new(link, None)),
            receipts: outcome.receipts.iter().map(ReceiptView::from).collect(),
            reached: outcome.reached.as_ref().map(RemovalCountsView::from),
            similar: Vec::new(),
        }
    }
}

/// A typed link between two memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkView {
    #[schema(example = "lnk_01hx3v9d0kf7rtm4q5wz8yb2cd")]
    pub id: String,
    pub from_id: String,
    pub to_id: String,
    #[schema(example = "relates_to")]
    pub relation: String,
    pub created_at: Timestamp,
    /// The memory at the other end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<MemoryView>,
}

impl LinkView {
    pub fn new(link: &Link, other: Option<MemoryView>) -> Self {
        Self {
            id: link.id.to_string(),
            from_id: link.from.to_string(),
            to_id: link.to.to_string(),
            relation: link.relation.clone(),
            created_at: link.known.from,
            other,
        }
    }
}

impl From<&LinkedMemory> for LinkView {
    fn from(view: &LinkedMemory) -> Self {
        Self::new(&view.link, Some(MemoryView::from(&view.other)))
    }
}

/// One write operation.
#[derive(Debug, Serialize, ToSchema)]
pub struct OperationView {
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    pub id: String,
    #[schema(schema_with = super::words_schema::verb)]
    pub verb: &'static str,
    pub at: Timestamp,
    /// `human`, `key` or `job`.
    pub caller: &'static str,
    /// The id of the credential, of a user token that of the key that issued it, or `local`.
    pub credential: String,
    pub origin: &'static str,
    pub extracted: bool,
    pub memory_ids: Vec<String>,
    /// The operation that this one reversed.
    pub undoes: Option<String>,
    /// The operation that reversed this one and is not undone itself.
    pub undone_by: Option<String>,
    /// The policy versions in force: the tenant's and the user's.
    #[schema(example = "t1.u0")]
    pub policy: Option<String>,
    /// In a space: the member who wrote it, unless the member was erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl From<&Operation> for OperationView {
    fn from(operation: &Operation) -> Self {
        Self {
            id: operation.id.to_string(),
            verb: operation.verb.as_str(),
            at: operation.at,
            caller: operation.caller.as_str(),
            credential: operation.credential.clone(),
            origin: operation.voice.origin.as_str(),
            extracted: operation.voice.extracted,
            memory_ids: operation.facts.iter().map(ToString::to_string).collect(),
            undoes: operation.undoes.map(|id| id.to_string()),
            undone_by: operation.undone_by.map(|id| id.to_string()),
            policy: operation.policy.clone(),
            member: None,
        }
    }
}
