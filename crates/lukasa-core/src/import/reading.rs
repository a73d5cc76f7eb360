//! Helpers for parsing import files: dates in several formats, optional fields, normalized
//! relations.

use jiff::civil;
use jiff::tz::TimeZone;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{ChatItem, ParsedImport};
use crate::time::{Timestamp, micros};

/// Parses a time: a date and time, a date alone, or seconds since 1970.
pub(super) fn moment(value: &Value) -> Option<Timestamp> {
    let at = match value {
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|s| s.is_finite() && s.abs() < 1e11)?;
            Timestamp::from_microsecond((seconds * 1e6) as i64).ok()
        }
        Value::String(text) => date(text),
        _ => None,
    }?;
    (1900..=2999).contains(&at.to_zoned(TimeZone::UTC).year()).then(|| micros(at))
}

pub(super) fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let in_utc = |at: civil::DateTime| at.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<civil::DateTime>().ok().and_then(in_utc))
        .or_else(|| text.parse::<civil::Date>().ok().and_then(|day| in_utc(day.at(0, 0, 0, 0))))
}

/// The first of these fields with a non-empty text.
pub(super) fn words<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v str> {
    let texts = fields.iter().filter_map(|field| value.get(field)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}

/// The texts of a list, or a single text as a list.
pub(super) fn list(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => {
            items.iter().filter_map(|item| Some(item.as_str()?.trim().to_owned())).collect()
        }
        Some(Value::String(text)) => vec![text.trim().to_owned()],
        _ => Vec::new(),
    }
}

/// Parses the conversations of an export, which is one conversation, a list, or several lists.
/// Entries for which `read` returns `None` are counted as unread.
pub(super) fn chats(text: &str, read: impl Fn(&Value) -> Option<ChatItem>) -> ParsedImport {
    let (values, unread) = values(text);
    let mut parsed = ParsedImport { unread, ..ParsedImport::default() };
    for value in &values {
        let chats = match value {
            Value::Array(chats) => chats.as_slice(),
            Value::Object(_) => std::slice::from_ref(value),
            _ => &[],
        };
        for chat in chats {
            match read(chat) {
                Some(item) => parsed.chat(item),
                None => parsed.unread += 1,
            }
        }
    }
    parsed
}

/// An id for an entry without one: a digest of its text, ignoring case and outer space.
pub(super) fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.trim().to_lowercase().as_bytes());
    hex::encode(&digest[..16])
}

/// Normalizes a relation to a lower-case word with underscores.
pub(super) fn relation(text: &str) -> String {
    let mut word = String::new();
    for c in text.trim().chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => word.push(c),
            _ if word.is_empty() || word.ends_with('_') => {}
            _ => word.push('_'),
        }
    }
    let word = word.trim_start_matches(|c: char| !c.is_ascii_lowercase()).trim_end_matches('_');
    let word: String = word.chars().take(crate::limits::RELATION_CHARS).collect();
    if word.is_empty() { "relates_to".to_owned() } else { word }
}

/// Parses a text as one JSON value, or as one value per line. Returns the values and the number of
/// unreadable lines.
pub(super) fn values(text: &str) -> (Vec<Value>, usize) {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(whole) = serde_json::from_str(text) {
        return (vec![whole], 0);
    }
    let (mut values, mut unread) = (Vec::new(), 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match serde_json::from_str(line) {
            Ok(value) => values.push(value),
            Err(_) => unread += 1,
        }
    }
    (values, unread)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn import_dates_are_parsed_in_several_formats() {
        for text in ["2024-07-20T08:30:36Z", "2024-07-20T01:30:36-07:00", "2024-07-20 08:30:36"] {
            assert_eq!(moment(&json!(text)).unwrap().as_second(), 1_721_464_236, "{text}");
        }
        assert_eq!(moment(&json!("2024-07-20")).unwrap().as_second(), 1_721_433_600);
        assert_eq!(moment(&json!(1_721_464_236.5)).unwrap().as_millisecond(), 1_721_464_236_500);
        for junk in [json!("soon"), json!(1e300), json!(null), json!(-1e10), json!("-009999-01-01")]
        {
            assert_eq!(moment(&junk), None, "{junk}");
        }
    }

    #[test]
    fn import_relation_is_normalized() {
        for (text, word) in [
            ("works at", "works_at"),
            ("Part-Of 2", "part_of_2"),
            ("  ", "relates_to"),
            ("99 bottles", "bottles"),
            ("живёт в", "relates_to"),
        ] {
            assert_eq!(relation(text), word, "{text}");
            assert!(crate::link::is_relation(&relation(text)));
        }
        assert!(crate::link::is_relation(&relation(&"x".repeat(500))));
    }
}
