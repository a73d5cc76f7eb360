//! BEAM: long chats with an assistant; a question is answered by some of the messages. The
//! assistant's answers are long and repeat everything, so only the user's are candidates.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::set::{DataTurn, DataUser, Question, Set, Unit, midnight, month, read};

/// The date of a chat without one.
const SOME_DAY: Date = jiff::civil::date(2024, 1, 1);

#[derive(Deserialize)]
struct Stretch {
    turns: Vec<Vec<Message>>,
}

#[derive(Deserialize)]
struct Message {
    id: Value,
    role: String,
    content: Value,
    time_anchor: Option<String>,
}

#[derive(Deserialize)]
struct DataQuestion {
    question: String,
    #[serde(default)]
    source_chat_ids: Value,
}

pub fn load(data: &Path, name: &'static str, size: &str, quick: bool) -> Result<Set> {
    let folder = data.join("beam").join(size);
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    numbers.sort_unstable();
    numbers.truncate(if quick { 2 } else { usize::MAX });
    let users = numbers.iter().enumerate();
    let users = users
        .map(|(index, number)| read_user(&folder.join(number.to_string()), name, index))
        .collect::<Result<_>>()?;
    Ok(Set { name, unit: Unit::Turn, only_user: true, users })
}

fn read_user(folder: &Path, name: &str, index: usize) -> Result<DataUser> {
    let chat: Vec<Stretch> = read(&folder.join("chat.json"))?;
    let (mut turns, mut ids) = (Vec::new(), HashMap::new());
    let mut day: Option<Timestamp> = None;
    let sessions = chat.len();
    for (session, stretch) in chat.into_iter().enumerate() {
        for message in stretch.turns.into_iter().flatten() {
            if let Some(date) = message.time_anchor.as_deref().and_then(anchor) {
                day = Some(midnight(date)?);
            }
            let begins = day.map_or_else(|| midnight(SOME_DAY), Ok)?;
            if let Some(id) = number(&message.id) {
                ids.insert(id, turns.len());
            }
            turns.push(DataTurn {
                session,
                by_user: message.role == "user",
                speaker: None,
                text: words(&message.content),
                at: begins + SignedDuration::from_secs(turns.len() as i64),
            });
        }
    }
    let asked: serde_json::Map<String, Value> = read(&folder.join("probing_questions.json"))?;
    let mut questions = Vec::new();
    for (category, list) in asked {
        for asked in serde_json::from_value::<Vec<DataQuestion>>(list)? {
            let mut named = Vec::new();
            flatten(&asked.source_chat_ids, &mut named);
            let mut gold: Vec<usize> = named.iter().filter_map(|id| ids.get(id).copied()).collect();
            gold.sort_unstable();
            gold.dedup();
            if !gold.is_empty() {
                let (category, half) = (category.clone(), index % 2);
                let text = asked.question;
                questions.push(Question { text, gold, category, half, before: None });
            }
        }
    }
    let name = format!("{name}-{index}");
    Ok(DataUser { name, sessions, turns, memories: Vec::new(), questions })
}

/// The message without its position mark, `->-> 1,1`.
fn words(content: &Value) -> String {
    let text = content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned);
    match text.split_once("->->") {
        Some((text, _)) => text.trim_end().to_owned(),
        None => text,
    }
}

/// `March-15-2024`
fn anchor(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let (name, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    Date::new(year.trim().parse().ok()?, month(name.trim())?, day.trim().parse().ok()?).ok()
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// The ids are in a list, in nested lists or under names.
fn flatten(value: &Value, into: &mut Vec<i64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| flatten(value, into)),
        Value::Object(map) => map.values().for_each(|value| flatten(value, into)),
        other => into.extend(number(other)),
    }
}
