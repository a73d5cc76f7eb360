//! What a night makes of what was learned.

use quipu_core::consolidate::Move;
use quipu_core::{Status, Tier};
use quipu_engine::context::{NewUsage, USAGE_TYPES};
use quipu_engine::jobs::Worked;
use serde_json::{Value, json};

use crate::learn::{chat_about, memories, story_where, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

fn tea() -> Value {
    json!({"op": "add", "content": "User drinks tea.", "kind": "habit", "importance": 7,
           "confidence": 0.8, "evidence": [{"turn": 1, "quote": "I drink tea"}]})
}

/// A habit that is told in so many chats.
async fn told(chats: usize) -> Story {
    let (story, _) = story_where(vec![tea()]).await;
    for chat in 0..chats {
        chat_about(&story, &format!("c{chat}"), vec![user("I drink tea.")]).await;
        work(&story).await;
        story.pass(60);
    }
    story
}

#[tokio::test]
async fn what_is_said_in_five_chats_is_strong_in_the_morning_and_undo_takes_it_back() {
    let story = told(5).await;
    let [before] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((before.tier, before.turns.len()), (Tier::Tentative, 5));
    let dry = story.engine.consolidate(&story.request(), true).await.unwrap();
    assert_eq!((dry.operation, dry.steps.len()), (None, 1));
    assert_eq!(memories(&story, Status::Active).await[0].tier, Tier::Tentative, "only said");
    story.pass(2 * DAY);
    assert!(work(&story).await.contains(&Worked::Done(quipu_core::JobKind::Upkeep)));
    let [after] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((after.tier, after.claim.content.as_str()), (Tier::Strong, "User drinks tea."));
    assert!(after.claim.importance >= 0.9);
    let again = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert_eq!((again.operation, again.steps.len()), (None, 0), "a second night adds nothing");
    let hash =
        async || story.engine.whole(&story.request().caller, story.now()).await.unwrap().hash;
    let strong = hash().await;
    let undone = story.engine.undo(&story.request(), after.opened_by).await.unwrap();
    assert_eq!(memories(&story, Status::Active).await[0].tier, Tier::Tentative);
    assert_ne!(hash().await, strong);
    story.engine.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    assert_eq!(hash().await, strong, "one state has one hash, however it came about");
}

#[tokio::test]
async fn using_it_moves_what_was_inferred_and_not_what_was_stated() {
    let story = told(1).await;
    let stated = story.save("Drinks no coffee").await.memories[0].version.fact;
    let inferred = memories(&story, Status::Active).await;
    let inferred = inferred.iter().find(|version| version.extracted).unwrap().fact;
    for fact in [stated, inferred] {
        assert!(USAGE_TYPES.contains(&"contradicted"));
        let new = NewUsage {
            fact,
            session: None,
            retrieval: None,
            turn: None,
            kind: "contradicted".into(),
            influence: None,
        };
        story.engine.report_usage(&story.request(), new).await.unwrap();
    }
    let night = story.engine.consolidate(&story.request(), false).await.unwrap();
    let [step] = &night.steps[..] else { panic!("one step: {:?}", night.steps) };
    assert_eq!((step.fact, step.what), (inferred, Move::Weigh));
    assert!((step.after.confidence - 0.65).abs() < 1e-6);
    let again = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "one use counts once");
}

#[tokio::test]
async fn whoever_has_nothing_that_grows_old_is_left_alone() {
    let story = Story::begin().await;
    story.save("Likes tea").await;
    story.pass(DAY + 3_600 * 5);
    assert_eq!(work(&story).await, [Worked::Done(quipu_core::JobKind::Upkeep)]);
    assert!(story.engine.jobs(&story.alice(), story.now()).await.unwrap().is_empty());
    // The next write has them looked after again.
    story.save("Likes cake").await;
    assert_eq!(story.engine.jobs(&story.alice(), story.now()).await.unwrap().len(), 1);
}
