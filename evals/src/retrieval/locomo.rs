//! LoCoMo: two people talk over months; a question is answered by some of the turns.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::set::{DataTurn, DataUser, Question, Set, Unit, month, read};

#[derive(Deserialize)]
struct Conversation {
    conversation: serde_json::Map<String, Value>,
    qa: Vec<DataQuestion>,
}

#[derive(Deserialize)]
struct DataQuestion {
    question: String,
    category: u8,
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    dia_id: String,
    text: String,
    blip_caption: Option<String>,
}

pub fn load(data: &Path, quick: bool) -> Result<Set> {
    let all: Vec<Conversation> = read(&data.join("locomo/locomo10.json"))?;
    let count = if quick { 2 } else { all.len() };
    let users = all.into_iter().take(count).enumerate();
    let users = users.map(|(index, one)| read_user(index, one)).collect::<Result<_>>()?;
    Ok(Set { name: "locomo", unit: Unit::Turn, only_user: false, users })
}

fn read_user(index: usize, one: Conversation) -> Result<DataUser> {
    let number = |key: &String| key.strip_prefix("session_")?.parse::<usize>().ok();
    let mut numbers: Vec<usize> = one.conversation.keys().filter_map(number).collect();
    numbers.sort_unstable();
    let (mut turns, mut ids) = (Vec::new(), HashMap::new());
    for (session, number) in numbers.iter().enumerate() {
        let date = one.conversation.get(&format!("session_{number}_date_time"));
        let date = date.and_then(Value::as_str).context("a session without a date")?;
        let begins = moment(date).with_context(|| format!("no date: {date}"))?;
        let session_turns =
            one.conversation.get(&format!("session_{number}")).cloned().unwrap_or_default();
        for (place, turn) in
            serde_json::from_value::<Vec<Turn>>(session_turns)?.into_iter().enumerate()
        {
            ids.insert(turn.dia_id, turns.len());
            let caption = turn.blip_caption.filter(|caption| !caption.is_empty());
            let text = match caption {
                Some(caption) => format!("{} [{caption}]", turn.text),
                None => turn.text,
            };
            let at = begins + SignedDuration::from_secs(place as i64);
            let speaker = Some(turn.speaker);
            turns.push(DataTurn { session, by_user: true, speaker, text, at });
        }
    }
    let questions = one.qa.into_iter().filter_map(|asked| {
        let gold = evidence(&asked.evidence, &ids);
        let category = category(asked.category).to_owned();
        let half = index % 2;
        let question = Question { text: asked.question, gold, category, half, before: None };
        (!question.gold.is_empty()).then_some(question)
    });
    let questions = questions.collect();
    let name = format!("locomo-{index}");
    Ok(DataUser { name, sessions: numbers.len(), turns, memories: Vec::new(), questions })
}

/// The named turns, of which nine names are malformed: several in one string, a colon too many, a
/// zero too many. Three name no turn at all and are left out.
fn evidence(named: &[String], ids: &HashMap<String, usize>) -> Vec<usize> {
    let parts = named.iter().flat_map(|text| {
        text.split(|c: char| c == ';' || c == ',' || c.is_whitespace()).filter(|p| !p.is_empty())
    });
    let mut gold: Vec<usize> = parts
        .filter_map(|part| {
            let part = part.strip_prefix('D').unwrap_or(part);
            let (session, turn) = part.strip_prefix(':').unwrap_or(part).split_once(':')?;
            let (session, turn): (u32, u32) = (session.parse().ok()?, turn.parse().ok()?);
            ids.get(&format!("D{session}:{turn}")).copied()
        })
        .collect();
    gold.sort_unstable();
    gold.dedup();
    gold
}

fn category(number: u8) -> &'static str {
    match number {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        _ => "adversarial",
    }
}

/// `1:56 pm on 8 May, 2023`
fn moment(text: &str) -> Option<Timestamp> {
    let (clock, date) = text.split_once(" on ")?;
    let (clock, half) = clock.split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<i8>().ok()? % 12 + if half == "pm" { 12 } else { 0 };
    let time = Time::new(hour, minute.parse().ok()?, 0, 0).ok()?;
    let mut words = date.split([' ', ',']).filter(|word| !word.is_empty());
    let (day, name, year) = (words.next()?, words.next()?, words.next()?);
    let date = Date::new(year.parse().ok()?, month(name)?, day.parse().ok()?).ok()?;
    Some(date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_malformed_evidence_are_read() {
        assert_eq!(moment("1:56 pm on 8 May, 2023").unwrap().to_string(), "2023-05-08T13:56:00Z");
        assert_eq!(
            moment("12:09 am on 13 July, 2023").unwrap().to_string(),
            "2023-07-13T00:09:00Z"
        );
        let ids = ["D8:6", "D9:17", "D11:26", "D30:5"];
        let ids = ids.iter().enumerate().map(|(at, id)| ((*id).to_owned(), at)).collect();
        let of = |text: &str| evidence(&[text.to_owned()], &ids);
        assert_eq!(of("D8:6; D9:17"), [0, 1]);
        assert_eq!(of("D9:17 D8:6"), [0, 1]);
        assert_eq!(of("D:11:26"), [2]);
        assert_eq!(of("D30:05"), [3]);
        assert_eq!(of("D"), [0; 0]);
    }
}
