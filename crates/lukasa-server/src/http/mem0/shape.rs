//! mem0's formats of ids, memories and history. They are separate from the API's own types and not
//! part of its OpenAPI document.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use lukasa_core::limits::CONTENT_CHARS;
use lukasa_core::{Claim, OperationId, State};
use lukasa_engine::Memory;
use lukasa_engine::facts::HistoryEntry;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::api::wire::{MemoryView, is_storable};

/// Key of a memory whose value contains fields that only mem0 has.
const EXTRA_KEY: &str = "mem0";
/// mem0's ids besides the user's.
pub const PARTIES: [&str; 3] = ["agent_id", "app_id", "run_id"];

/// A memory's id for mem0's clients. They name a memory without its user, so the id contains the
/// user. It carries no rights: the credential decides whether that user may be accessed.
pub struct Mem0Id {
    pub memory: String,
    pub user: Option<String>,
}

impl Mem0Id {
    pub fn print(memory: &str, user: &str) -> String {
        format!("{memory}.{}", URL_SAFE_NO_PAD.encode(user))
    }

    pub fn parse(text: &str) -> Self {
        let Some((memory, user)) = text.split_once('.') else {
            return Self { memory: text.to_owned(), user: None };
        };
        let user = URL_SAFE_NO_PAD.decode(user).ok().and_then(|name| String::from_utf8(name).ok());
        Self { memory: memory.to_owned(), user }
    }
}

/// A claim with this text. A memory's content is one line; a longer text is also stored whole in
/// `detail`.
pub fn claim(text: &str, fields: Map<String, Value>) -> Claim {
    let mut claim = Claim::saying(text);
    (claim.content, claim.detail) = line(text);
    (claim.key, claim.value) = key_and_value(fields);
    claim
}

/// The content for a text, and its detail if the text is too long.
pub fn line(text: &str) -> (String, Option<String>) {
    if text.chars().count() <= CONTENT_CHARS {
        return (text.to_owned(), None);
    }
    let short: String = text.chars().take(CONTENT_CHARS - 1).chain(['…']).collect();
    (short, Some(text.to_owned()))
}

/// The key and value that store the extra fields, where the user can read them.
pub fn key_and_value(fields: Map<String, Value>) -> (Option<String>, Option<Value>) {
    if fields.is_empty() {
        return (None, None);
    }
    (Some(EXTRA_KEY.to_owned()), Some(Value::Object(fields)))
}

/// The extra fields of a memory for mem0.
pub fn extra_fields(memory: &Memory) -> Map<String, Value> {
    let claim = &memory.version.claim;
    let value = claim.value.as_ref().filter(|_| claim.key.as_deref() == Some(EXTRA_KEY));
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The whole text of a memory.
fn text(claim: &Claim) -> &str {
    let start = claim.content.strip_suffix('…');
    match (&claim.detail, start) {
        (Some(detail), Some(start)) if detail.starts_with(start) => detail,
        _ => &claim.content,
    }
}

/// A memory in mem0's format.
pub fn memory(memory: &Memory, user: &str) -> Map<String, Value> {
    let view = MemoryView::from(memory);
    let mut extra = extra_fields(memory);
    let words = text(&memory.version.claim);
    let mut shown = Map::new();
    let mut put = |name: &str, value: Value| {
        shown.insert(name.to_owned(), value);
    };
    put("id", Mem0Id::print(&view.id, user).into());
    put("memory", words.into());
    put("user_id", user.into());
    for party in PARTIES {
        put(party, extra.remove(party).unwrap_or_default());
    }
    put("metadata", extra.remove("metadata").unwrap_or_default());
    put("categories", json!(view.domain.iter().collect::<Vec<_>>()));
    put("hash", digest(words).into());
    put("created_at", json!(view.created_at));
    put("updated_at", json!(view.updated_at));
    put("expiration_date", json!(view.valid_until.and_then(last_day)));
    shown
}

fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..16])
}

/// The history of a memory: one entry for each operation that changed its content or whether it is
/// active.
pub fn history(entries: &[HistoryEntry], user: &str) -> Vec<Value> {
    let mut operations: Vec<OperationId> = Vec::new();
    for entry in entries {
        if !operations.contains(&entry.version.opened_by) {
            operations.push(entry.version.opened_by);
        }
    }
    let (mut history, mut before): (Vec<Value>, Option<String>) = (Vec::new(), None);
    for operation in operations {
        let opened = entries.iter().filter(|entry| entry.version.opened_by == operation);
        let Some(last) = opened.max_by_key(|entry| (entry.version.valid.from, entry.version.id))
        else {
            continue;
        };
        let version = &last.version;
        let is_active = version.state == State::Active;
        let after = is_active.then(|| text(&version.claim).to_owned());
        let event = match (&before, &after) {
            (None, Some(_)) => "ADD",
            (Some(_), None) => "DELETE",
            (Some(_), Some(_)) => "UPDATE",
            (None, None) => continue,
        };
        history.push(json!({
            "id": version.id.to_string(),
            "memory_id": Mem0Id::print(&version.fact.to_string(), user),
            "user_id": user,
            "event": event,
            "old_memory": before,
            "new_memory": after,
            "is_deleted": !is_active,
            "created_at": version.known.from,
            "updated_at": version.known.from,
        }));
        before = after;
    }
    history
}

/// End of the validity of a memory that expires on this day: the end of the day.
pub fn end_of(day: &str) -> Option<Timestamp> {
    let day: Date = day.get(..10).unwrap_or(day).parse().ok()?;
    let next = day.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp();
    is_storable(next).then_some(next)
}

/// The last day on which a memory is valid.
fn last_day(until: Timestamp) -> Option<String> {
    let last = until.checked_sub(SignedDuration::from_micros(1)).ok()?;
    Some(last.to_zoned(TimeZone::UTC).date().to_string())
}

/// Parses a time: seconds since 1970, or text.
pub fn instant(value: &Value) -> Option<Timestamp> {
    let at = match value {
        Value::Number(seconds) => {
            let micros = seconds.as_f64()? * 1e6;
            // Far outside of the storable range; the cast would lose the value.
            if micros.abs() > 1e18 {
                return None;
            }
            Timestamp::from_microsecond(micros as i64).ok()?
        }
        Value::String(text) => match text.parse::<Timestamp>() {
            Ok(at) => at,
            Err(_) => {
                let day: Date = text.parse().ok()?;
                day.to_zoned(TimeZone::UTC).ok()?.timestamp()
            }
        },
        _ => return None,
    };
    is_storable(at).then_some(at)
}

/// The text of a message: a string, or the texts of its parts.
pub fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mem0_id_contains_the_user() {
        for user in ["alice", "", "Zoë Ångström / 3", "a.b"] {
            let id = Mem0Id::parse(&Mem0Id::print("mem_01hx", user));
            assert_eq!((id.memory.as_str(), id.user.as_deref()), ("mem_01hx", Some(user)));
        }
        assert_eq!(Mem0Id::parse("mem_01hx").user, None);
        assert_eq!(Mem0Id::parse("mem_01hx.%%%").user, None);
    }

    #[test]
    fn long_mem0_text_is_stored_whole_in_detail() {
        let long = "ö".repeat(CONTENT_CHARS + 1);
        let long_one = claim(&long, Map::new());
        assert_eq!(long_one.faults(), []);
        assert_eq!(text(&long_one), long);
        let short = claim("Likes tea…", Map::new());
        assert_eq!((text(&short), short.detail.as_deref()), ("Likes tea…", None));
    }

    #[test]
    fn mem0_expiration_date_includes_the_day() {
        let end = end_of("2026-03-01").unwrap();
        assert_eq!(end.to_string(), "2026-03-02T00:00:00Z");
        assert_eq!(last_day(end).as_deref(), Some("2026-03-01"));
        assert_eq!(end_of("soon"), None);
    }

    #[test]
    fn mem0_timestamp_is_seconds_or_text() {
        let at = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(instant(&json!(1_772_366_400)), Some(at));
        assert_eq!(instant(&json!("2026-03-01T12:00:00Z")), Some(at));
        assert_eq!(instant(&json!(1e300)), None);
        assert_eq!(instant(&json!("yesterday")), None);
    }
}
