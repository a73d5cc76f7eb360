//! Turns whose words were taken back since: search finds them, and no prompt quotes them.

use std::time::Duration;

use lukasa_core::context::block::{LeftOutReason, LineSource};
use lukasa_core::{Edit, FactId, Status, TurnId};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target, Update};
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::{Outcome, Point};
use serde_json::json;

use crate::learning::{chat_about, memories, memory, story_saying, user, work};
use crate::story::Story;

const QUESTION: &str = "When do I play the xylophone?";

/// A story with a turn of an earlier session, and a memory that was learned from it.
async fn begin() -> (Story, TurnId, FactId) {
    let (story, _) = story_saying(|_| String::new()).await;
    let said = vec![user("I play the xylophone every evening and I live in Porto.")];
    let appended = story.engine.sessions.append_turns(&story.request(), "past", said).await;
    let turn = appended.unwrap().turns[0];
    story.pass(60);
    let saved = learn(&story, "Plays the xylophone every evening", turn).await;
    story.pass(60);
    (story, turn, Story::fact(&saved))
}

/// Saves a memory that cites the turn.
async fn learn(story: &Story, content: &str, turn: TurnId) -> Outcome {
    let mut new = NewMemory::saying(content);
    (new.session, new.turns) = (Some("past".into()), vec![turn.to_string()]);
    story.engine.facts.save(&story.request(), new).await.unwrap()
}

/// Whether a prompt quotes the turn, or else why not.
async fn quoted_at(story: &Story, turn: TurnId, point: Point) -> Result<(), LeftOutReason> {
    let mut ask = ContextRequest::about(QUESTION);
    (ask.turns, ask.point, ask.within) = (Some(5), point, Duration::from_secs(60));
    let caller = story.alice();
    let context = Box::pin(story.engine.context.retrieve(&caller, &ask, story.moment()));
    let dynamic = context.await.unwrap().dynamic;
    let is_turn =
        |source: &LineSource| matches!(source, LineSource::Turn { turn: one, .. } if *one == turn);
    match dynamic.items.iter().any(|line| is_turn(&line.source)) {
        true => Ok(()),
        false => {
            let left = dynamic.left_out.iter().find(|left| is_turn(&left.source));
            Err(left.expect("it was found").reason)
        }
    }
}

async fn quoted(story: &Story, turn: TurnId) -> Result<(), LeftOutReason> {
    quoted_at(story, turn, Point::default()).await
}

#[tokio::test]
async fn turn_of_a_changed_memory_is_found_and_not_quoted() {
    let (story, turn, fact) = begin().await;
    assert_eq!(quoted(&story, turn).await, Ok(()));
    let before = story.now();
    story.pass(60);
    let changed = story.change(fact, "Plays the xylophone no more").await;
    story.pass(60);
    assert_eq!(quoted(&story, turn).await, Err(LeftOutReason::ChangedSince));
    let ask = RecallQuery { turns: 5, ..RecallQuery::about(QUESTION) };
    let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    assert!(found.turns.iter().any(|found| found.turn.id == turn), "search finds it");
    let then = Point { as_of: Some(before), ..Point::default() };
    assert_eq!(quoted_at(&story, turn, then).await, Ok(()), "it held then");
    let then = Point { known_at: Some(before), as_of: Some(before) };
    assert_eq!(quoted_at(&story, turn, then).await, Ok(()), "the change was not known then");
    story.engine.undo.undo(&story.request(), changed.operation.unwrap()).await.unwrap();
    assert_eq!(quoted(&story, turn).await, Ok(()), "the change was undone");
}

#[tokio::test]
async fn turn_of_a_corrected_memory_is_not_quoted() {
    let (story, turn, fact) = begin().await;
    let correct = Update::correct(Edit::content("Plays the marimba every evening"));
    let target = Target::Id(fact);
    story.engine.facts.update(&story.request(), &target, correct).await.unwrap();
    assert_eq!(quoted(&story, turn).await, Err(LeftOutReason::ChangedSince));
}

#[tokio::test]
async fn turn_of_a_deleted_memory_is_not_quoted_until_it_is_restored() {
    let (story, turn, fact) = begin().await;
    let target = Target::Id(fact);
    story.engine.removals.delete(&story.request(), &target).await.unwrap();
    assert_eq!(quoted(&story, turn).await, Err(LeftOutReason::ChangedSince));
    story.pass(10);
    story.engine.removals.restore(&story.request(), &target).await.unwrap();
    assert_eq!(quoted(&story, turn).await, Ok(()));
}

#[tokio::test]
async fn turn_of_an_undone_memory_is_not_quoted() {
    let (story, turn, fact) = begin().await;
    let operation = story.get(fact).await.unwrap().version.opened_by;
    story.engine.undo.undo(&story.request(), operation).await.unwrap();
    assert_eq!(quoted(&story, turn).await, Err(LeftOutReason::ChangedSince));
}

#[tokio::test]
async fn turn_of_a_living_and_a_changed_memory_is_not_quoted() {
    let (story, turn, fact) = begin().await;
    let home = learn(&story, "Lives in Porto", turn).await;
    story.pass(60);
    story.change(Story::fact(&home), "Lives in Lyon").await;
    story.pass(60);
    assert_eq!(quoted(&story, turn).await, Err(LeftOutReason::ChangedSince));
    assert!(story.get(fact).await.is_ok(), "the other memory is still known");
}

#[tokio::test]
async fn turn_is_quoted_if_the_memory_still_has_its_words_or_cites_it() {
    let (story, turn, fact) = begin().await;
    let (facts, target) = (&story.engine.facts, Target::Id(fact));
    let rated = Update::change(Edit { importance: Some(0.9), ..Edit::default() });
    facts.update(&story.request(), &target, rated).await.unwrap();
    story.pass(60);
    assert_eq!(quoted(&story, turn).await, Ok(()), "only its importance changed");
    let mut reworded = Update::correct(Edit::content("Plays the xylophone at night"));
    reworded.turns = vec![turn.to_string()];
    facts.update(&story.request(), &target, reworded).await.unwrap();
    story.pass(60);
    assert_eq!(quoted(&story, turn).await, Ok(()), "the new words come from the same turn");
}

#[tokio::test]
async fn episode_that_repeats_an_outdated_turn_is_left_out() {
    let learned = memory("User plays the xylophone.", "I play the xylophone");
    let summary = "The user plays the xylophone.";
    let answer = json!({ "title": "A chat", "summary": summary, "memories": [learned] });
    let answer = answer.to_string();
    let (story, _) = story_saying(move |_| answer.clone()).await;
    Box::pin(chat_about(&story, "past", vec![user("I play the xylophone.")])).await;
    Box::pin(work(&story)).await;
    story.pass(60);
    let [fact] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    story.change(fact.fact, "Has no instrument any more").await;
    story.pass(60);
    let mut ask = ContextRequest::about(QUESTION);
    ask.within = Duration::from_secs(60);
    let caller = story.alice();
    let context = Box::pin(story.engine.context.retrieve(&caller, &ask, story.moment()));
    let dynamic = context.await.unwrap().dynamic;
    assert!(!dynamic.content.contains("xylophone"), "{}", dynamic.content);
    let is_episode = |source: &LineSource| matches!(source, LineSource::Episode { .. });
    let left = dynamic.left_out.iter().filter(|left| is_episode(&left.source));
    let reasons: Vec<LeftOutReason> = left.map(|left| left.reason).collect();
    assert_eq!(reasons, [LeftOutReason::ChangedSince]);
}
