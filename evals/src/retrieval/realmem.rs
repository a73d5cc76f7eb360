//! RealMem: users and their assistant over months, with the memories that should be stored of every
//! session. A question is answered by memories of earlier sessions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::set::{DataMemory, DataTurn, DataUser, Question, Set, Unit, midnight, read};

#[derive(Deserialize)]
struct Life {
    dialogues: Vec<Dialogue>,
}

#[derive(Deserialize)]
struct Dialogue {
    session_uuid: String,
    current_time: String,
    dialogue_turns: Vec<Turn>,
    extracted_memory: Vec<Memory>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    content: String,
    #[serde(default)]
    is_query: bool,
    category_name: Option<String>,
    memory_used: Option<Vec<Used>>,
}

#[derive(Deserialize)]
struct Memory {
    content: Value,
}

#[derive(Deserialize)]
struct Used {
    session_uuid: String,
    content: Value,
}

/// All users; with --quick, six of the ten.
pub fn load(data: &Path, quick: bool) -> Result<Set> {
    let folder = data.join("realmem");
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files.truncate(if quick { 6 } else { usize::MAX });
    let users = files.iter().enumerate().map(|(index, path)| read_user(index, &read(path)?));
    let users = users.collect::<Result<_>>()?;
    Ok(Set { name: "realmem", unit: Unit::Memory, only_user: false, users })
}

fn read_user(index: usize, life: &Life) -> Result<DataUser> {
    let begins = beginnings(life)?;
    let mut memories: Vec<DataMemory> = Vec::new();
    let mut first: HashMap<(&str, String), usize> = HashMap::new();
    for (session, dialogue) in life.dialogues.iter().enumerate() {
        for memory in &dialogue.extracted_memory {
            let text = words(&memory.content);
            let key = (dialogue.session_uuid.as_str(), text.clone());
            first.entry(key).or_insert(memories.len());
            memories.push(DataMemory { session, text, at: begins[session] });
        }
    }
    let (mut turns, mut questions) = (Vec::new(), Vec::new());
    for (session, dialogue) in life.dialogues.iter().enumerate() {
        for (place, turn) in dialogue.dialogue_turns.iter().enumerate() {
            turns.push(DataTurn {
                session,
                by_user: turn.speaker.eq_ignore_ascii_case("user"),
                speaker: None,
                text: turn.content.clone(),
                at: begins[session],
            });
            let answer = dialogue.dialogue_turns.get(place + 1);
            let Some(answer) = answer.filter(|_| turn.is_query) else { continue };
            let used = answer.memory_used.iter().flatten();
            let mut gold: Vec<usize> = used
                .filter_map(|used| {
                    first.get(&(used.session_uuid.as_str(), words(&used.content))).copied()
                })
                .collect();
            gold.sort_unstable();
            gold.dedup();
            if gold.is_empty() {
                continue;
            }
            questions.push(Question {
                text: turn.content.clone(),
                gold,
                category: turn.category_name.clone().unwrap_or_else(|| "none".into()),
                half: index % 2,
                before: Some((session, begins[session] - SignedDuration::from_secs(1))),
            });
        }
    }
    let name = format!("realmem-{index}");
    Ok(DataUser { name, sessions: life.dialogues.len(), turns, memories, questions })
}

/// When each session began. The data gives days, several sessions on one, and for three users the
/// last sessions have days before those of the first; the order of the file counts. So a session
/// begins on its day, or a minute after the previous one.
fn beginnings(life: &Life) -> Result<Vec<Timestamp>> {
    let mut begins: Vec<Timestamp> = Vec::new();
    for dialogue in &life.dialogues {
        let text = dialogue.current_time.get(..10).context("a session without a day")?;
        let day = midnight(text.parse::<Date>().with_context(|| text.to_owned())?)?;
        let next = begins.last().map(|last| *last + SignedDuration::from_mins(1));
        begins.push(next.map_or(day, |next| day.max(next)));
    }
    Ok(begins)
}

fn words(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), ToOwned::to_owned)
}
