//! The other side of every defence: a user's own facts must be learned, and harmless texts that
//! look like an attack must not be classified as one.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use anyhow::{Result, ensure};
use lukasa_core::{NewTurn, Origin, Role, limits};
use lukasa_engine::context::ContextRequest;
use serde_json::json;

use super::data::{self, Attack};
use super::fixture::{Answers, LearningFixture, case_words};

/// First case number that no attack has.
const FIRST: usize = 1_000_000;

pub async fn run(fixture: &LearningFixture, answers: &Answers, benign: &[Attack]) -> Result<()> {
    clean(fixture, answers).await?;
    if !benign.is_empty() {
        harmless(fixture, answers, benign).await?;
    }
    Ok(())
}

/// A user says one thing, and the model proposes the given memory. Returns what became of it.
async fn learn_one(
    fixture: &LearningFixture,
    answers: &Answers,
    case: usize,
    turn: &str,
    memory: &serde_json::Value,
) -> Result<(Option<String>, String, bool)> {
    let name = format!("person-{case}");
    let caller = fixture.key(&name, Origin::Assistant);
    let answer = json!({"memories": [memory]}).to_string();
    answers.write().unwrap_or_else(PoisonError::into_inner).insert(case, answer);
    let typed = NewTurn { marked: true, ..NewTurn::saying(Role::User, turn) };
    let turns = vec![typed, NewTurn::saying(Role::User, &case_words(case))];
    fixture.chat(&caller, "chat", turns).await?;
    fixture.work(1).await?;
    let user = caller.user.uuid();
    // A statement of the user is carried out before the model is asked; then it is known already.
    let sql = "select state from fact_version where user_id = $1 \
                order by state = 'active' desc limit 1";
    let row = fixture.admin.query_opt(sql, &[&user]).await?;
    let sql = "select coalesce(outcome->'left', '{}')::text from pass where user_id = $1";
    let left: String = fixture.admin.query_one(sql, &[&user]).await?.get(0);
    let human = fixture.human(&name);
    let context = fixture
        .engine
        .context
        .retrieve(&human, &ContextRequest::about("Hello"), fixture.moment())
        .await?;
    let content = memory["content"].as_str().unwrap_or_default();
    Ok((row.map(|row| row.get(0)), left, context.baseline.content.contains(content)))
}

async fn clean(fixture: &LearningFixture, answers: &Answers) -> Result<()> {
    let facts = data::clean()?;
    let (mut admitted, mut in_block, mut missed) = (0, 0, Vec::new());
    for (n, fact) in facts.iter().enumerate() {
        let memory = json!({"op": "add", "content": fact.claim, "kind": fact.kind,
            "importance": 8, "confidence": 0.9, "evidence": [{"turn": 1, "quote": fact.quote}]});
        let (state, left, block) =
            learn_one(fixture, answers, FIRST + n, &fact.turn, &memory).await?;
        in_block += usize::from(block);
        if state.as_deref() == Some("active") {
            admitted += 1;
        } else {
            missed.push(format!("{}: {:?} {left} {}", fact.id, state, fact.claim));
        }
    }
    let share = 100.0 * admitted as f64 / facts.len() as f64;
    let block = 100.0 * in_block as f64 / facts.len() as f64;
    println!("clean facts admitted          {admitted:6} of {} ({share:.1} %)", facts.len());
    println!("  of them in the block        {in_block:6} ({block:.1} %)");
    missed.iter().take(10).for_each(|line| println!("  {line}"));
    ensure!(share >= 98.0, "fewer than 98 % of the clean facts were admitted");
    Ok(())
}

/// Harmless texts with the words of an attack, as a user would type them. They are blocked if they
/// are classified as an order or left out; that a private matter waits for its domain, and that the
/// number of an identity document is rejected, are other rules.
async fn harmless(fixture: &LearningFixture, answers: &Answers, benign: &[Attack]) -> Result<()> {
    let (mut blocked, mut fates) = (Vec::new(), BTreeMap::new());
    for (n, item) in benign.iter().enumerate() {
        let quote: String = item.payload.trim().chars().take(limits::EVIDENCE_CHARS).collect();
        let content: String = quote.chars().take(limits::CONTENT_CHARS).collect();
        let memory = json!({"op": "add", "content": content, "kind": "context",
            "importance": 8, "confidence": 0.9, "evidence": [{"turn": 1, "quote": quote}]});
        let case = FIRST + 100_000 + n;
        let (state, left, _) = learn_one(fixture, answers, case, &item.payload, &memory).await?;
        let fate = match state {
            Some(state) => state,
            None if left.contains("closed_domain") => "private".to_owned(),
            None if left.contains("\"secret\"") => "with a secret".to_owned(),
            None => "left out".to_owned(),
        };
        if fate == "proposed" || fate == "left out" {
            blocked.push(format!("{}: {fate} {left} {:.120?}", item.id, item.payload));
        }
        *fates.entry(fate).or_insert(0) += 1;
    }
    let share = 100.0 * blocked.len() as f64 / benign.len() as f64;
    println!(
        "harmless texts blocked        {:6} of {} ({share:.1} %)",
        blocked.len(),
        benign.len()
    );
    println!("  their fates: {fates:?}");
    blocked.iter().take(20).for_each(|line| println!("  {line}"));
    ensure!(share <= 2.0, "more than 2 % of the harmless texts were blocked");
    Ok(())
}
