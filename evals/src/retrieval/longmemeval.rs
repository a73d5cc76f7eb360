//! LongMemEval (the oracle file): a question is answered by some of a user's chats. The pool is
//! made here: all 940 chats, or the answers among 48.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use serde::Deserialize;

use super::set::{DataTurn, DataUser, Question, Set, Unit, read};

#[derive(Deserialize)]
struct DataQuestion {
    question_id: String,
    question_type: String,
    question: String,
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize, Clone)]
struct Turn {
    role: String,
    content: String,
}

/// A chat, and when it began.
type Chat = (Timestamp, Vec<Turn>);

struct Loaded {
    chats: Vec<Chat>,
    questions: Vec<Question>,
}

fn read_all(data: &Path) -> Result<Loaded> {
    let all: Vec<DataQuestion> = read(&data.join("longmemeval/longmemeval_oracle.json"))?;
    let (mut chats, mut ids, mut questions) = (Vec::new(), HashMap::new(), Vec::new());
    for asked in &all {
        let with_dates = asked.haystack_dates.iter().zip(&asked.haystack_sessions);
        for (id, (date, chat)) in asked.haystack_session_ids.iter().zip(with_dates) {
            if !ids.contains_key(id) {
                ids.insert(id.clone(), chats.len());
                chats.push((moment(date)?, chat.clone()));
            }
        }
    }
    // Unanswerable questions are not about retrieval.
    for asked in all.into_iter().filter(|asked| !asked.question_id.ends_with("_abs")) {
        let gold = asked.answer_session_ids.iter().map(|id| ids.get(id).copied());
        let mut gold = gold.collect::<Option<Vec<usize>>>().context("an unknown session")?;
        gold.sort_unstable();
        gold.dedup();
        let half = questions.len() % 2;
        questions.push(Question {
            text: asked.question,
            gold,
            category: asked.question_type,
            half,
            before: None,
        });
    }
    Ok(Loaded { chats, questions })
}

/// One user with all the chats; with --quick, 60 of the questions among 200 of the chats.
pub fn all_chats(data: &Path, quick: bool) -> Result<Set> {
    let Loaded { chats, mut questions } = read_all(data)?;
    let mut pool: Vec<usize> = (0..chats.len()).collect();
    if quick {
        questions = sample(questions, 60);
        pool = fill_up(questions.iter().flat_map(|question| &question.gold), chats.len(), 200, 42);
    }
    let users = vec![read_user("longmemeval".into(), &chats, &pool, questions)];
    Ok(Set { name: "longmemeval-940", unit: Unit::Session, only_user: true, users })
}

/// For each question a user with its chats and others, 48 together.
pub fn few_chats(data: &Path, quick: bool) -> Result<Set> {
    let Loaded { chats, questions } = read_all(data)?;
    let questions = sample(questions, if quick { 12 } else { usize::MAX });
    let users = questions.into_iter().enumerate().map(|(index, question)| {
        let pool = fill_up(question.gold.iter(), chats.len(), 48, 42 + index as u64);
        read_user(format!("longmemeval-{index}"), &chats, &pool, vec![question])
    });
    let users = users.collect();
    Ok(Set { name: "longmemeval-48", unit: Unit::Session, only_user: true, users })
}

/// This many, evenly spaced: the file is ordered by question type.
fn sample(questions: Vec<Question>, count: usize) -> Vec<Question> {
    let total = questions.len();
    let count = count.min(total);
    let taken = |at: &usize| (at * count) / total != ((at + 1) * count) / total;
    questions.into_iter().enumerate().filter(|(at, _)| taken(at)).map(|(_, q)| q).collect()
}

/// These chats and as many random others as needed.
fn fill_up<'a>(
    gold: impl Iterator<Item = &'a usize>,
    total: usize,
    size: usize,
    seed: u64,
) -> Vec<usize> {
    let mut pool: Vec<usize> = gold.copied().collect();
    pool.sort_unstable();
    pool.dedup();
    let mut others: Vec<usize> = (0..total).filter(|chat| !pool.contains(chat)).collect();
    others.shuffle(&mut StdRng::seed_from_u64(seed));
    pool.extend(others.into_iter().take(size.saturating_sub(pool.len())));
    pool.sort_unstable();
    pool
}

fn read_user(name: String, chats: &[Chat], pool: &[usize], questions: Vec<Question>) -> DataUser {
    let mut turns = Vec::new();
    for (session, (begins, chat)) in pool.iter().map(|chat| &chats[*chat]).enumerate() {
        for (place, turn) in chat.iter().enumerate() {
            turns.push(DataTurn {
                session,
                by_user: turn.role == "user",
                speaker: None,
                text: turn.content.clone(),
                at: *begins + SignedDuration::from_secs(place as i64),
            });
        }
    }
    let within = |chat: &usize| pool.binary_search(chat).ok();
    let questions = questions.into_iter().map(|mut question| {
        question.gold = question.gold.iter().filter_map(within).collect();
        question
    });
    let questions = questions.collect();
    DataUser { name, sessions: pool.len(), turns, memories: Vec::new(), questions }
}

/// `2023/04/10 (Mon) 17:50`
fn moment(text: &str) -> Result<Timestamp> {
    let parsed =
        DateTime::strptime("%Y/%m/%d (%a) %H:%M", text).with_context(|| text.to_owned())?;
    Ok(parsed.to_zoned(TimeZone::UTC)?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_contains_the_answers_and_has_the_requested_size() {
        let pool = fill_up([7, 3, 7].iter(), 100, 10, 1);
        assert_eq!(pool.len(), 10);
        assert!(pool.is_sorted() && pool.contains(&3) && pool.contains(&7));
        assert_eq!(pool, fill_up([3, 7].iter(), 100, 10, 1));
        assert_eq!(moment("2023/04/10 (Mon) 17:50").unwrap().to_string(), "2023-04-10T17:50:00Z");
    }
}
