//! What a night makes of what was learned.

use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::consolidate::Move;
use lukasa_core::{Force, Kind, State, Status, Tier};
use lukasa_engine::context::{NewUsage, USAGE_TYPES};
use lukasa_engine::facts::{NewMemory, Outcome, Target};
use lukasa_engine::jobs::Worked;
use lukasa_models::scripted::ScriptedChat;
use serde_json::{Value, json};

use crate::learn::{Chain, chat_about, memories, story_where, user, work};
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
    assert!(work(&story).await.contains(&Worked::Done(lukasa_core::JobKind::Upkeep)));
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
    assert_eq!(work(&story).await, [Worked::Done(lukasa_core::JobKind::Upkeep)]);
    assert!(story.engine.jobs(&story.alice(), story.now()).await.unwrap().is_empty());
    // The next write has them looked after again.
    story.save("Likes cake").await;
    assert_eq!(story.engine.jobs(&story.alice(), story.now()).await.unwrap().len(), 1);
}

/// A person who talks about the same in so many chats, with a model that sums up what they said.
async fn gardener(chats: usize) -> Story {
    let chat = ScriptedChat::saying(|_| {
        json!({"title": "Tomatoes", "summary": "The user praised Acme and asked about tomatoes.",
               "memories": []})
        .to_string()
    });
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(Arc::new(Chain(vec![Arc::new(chat)])));
    for chat in 0..chats {
        let turns = vec![user("How often do I water tomatoes?")];
        chat_about(&story, &format!("c{chat}"), turns).await;
        work(&story).await;
        story.pass(60);
    }
    story
}

#[tokio::test]
async fn what_is_talked_about_in_six_chats_is_noted_for_a_month_and_undone_as_a_whole() {
    let story = gardener(5).await;
    let night = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert!(night.steps.is_empty(), "five are not enough: {:?}", night.steps);
    let story = gardener(6).await;
    let dry = story.engine.consolidate(&story.request(), true).await.unwrap();
    let [step] = &dry.steps[..] else { panic!("one note: {:?}", dry.steps) };
    assert_eq!((step.what, &step.before), (Move::Note, &None));
    assert_eq!(step.content, "Lately often talks about tomatoes.", "Acme was nobody's word");
    let hash = async || {
        let whole = story.engine.whole(&story.alice(), story.now()).await.unwrap();
        whole.hash
    };
    let before = hash().await;
    let night = story.engine.consolidate(&story.request(), false).await.unwrap();
    let [note] = &memories(&story, Status::Active).await[..] else { panic!("one note") };
    assert!(note.extracted && note.valid.until.is_some() && note.claim.evidence.len() == 6);
    let again = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "noted once: {:?}", again.steps);
    story.engine.undo(&story.request(), night.operation.unwrap()).await.unwrap();
    assert_eq!(hash().await, before);
    story.engine.consolidate(&story.request(), false).await.unwrap();
    story.pass(31 * DAY);
    assert!(memories(&story, Status::Active).await.is_empty(), "it ends by itself");
    let later = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert!(later.steps.is_empty(), "these chats are no longer lately: {:?}", later.steps);
    story.pass(90 * DAY);
    let night = story.engine.consolidate(&story.request(), false).await.unwrap();
    let [step] = &night.steps[..] else { panic!("cleared away: {:?}", night.steps) };
    assert_eq!((step.what, step.after.state), (Move::Clear, State::Trashed));
    story.pass(31 * DAY);
    let gone = story.engine.purge(&story.request()).await.unwrap();
    assert_eq!(gone.receipts.len(), 1);
}

#[tokio::test]
async fn what_a_person_put_away_is_not_noted_again() {
    let story = gardener(7).await;
    story.engine.consolidate(&story.request(), false).await.unwrap();
    let [note] = &memories(&story, Status::Active).await[..] else { panic!("one note") };
    story.engine.forget(&story.request(), &Target::Id(note.fact)).await.unwrap();
    let again = story.engine.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "{:?}", again.steps);
}

#[tokio::test]
async fn an_old_chat_is_absorbed_once_all_it_left_is_strong() {
    let story = told(5).await;
    story.engine.consolidate(&story.request(), false).await.unwrap();
    let absorbed = async || {
        let (found, _) =
            story.engine.episodes(&story.alice(), None, None, 10, story.now()).await.unwrap();
        story.engine.absorbed(&story.alice(), &found, story.now()).await.unwrap()
    };
    assert_eq!(absorbed().await, [false; 5], "too young");
    story.pass(31 * DAY);
    assert_eq!(absorbed().await, [true; 5]);
    let [strong] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    story.engine.undo(&story.request(), strong.opened_by).await.unwrap();
    assert_eq!(absorbed().await, [false; 5], "undone, it is needed again");
}

#[tokio::test]
async fn a_soft_memory_lasts_as_long_as_its_domain_says() {
    let story = Story::begin().await;
    let of_work = |content: &str| {
        let mut new = NewMemory::saying(content);
        new.claim.domain = Some("work".into());
        new
    };
    let mut hard = of_work("Meetings after ten");
    (hard.claim.force, hard.claim.key) = (Force::Hard, Some("meetings".into()));
    let mut report = of_work("Is writing a report");
    report.claim.kind = Kind::Project;
    let soft = story.engine.save(&story.request(), report).await.unwrap();
    let lasting = story.engine.save(&story.request(), of_work("Is a baker")).await.unwrap();
    let hard = story.engine.save(&story.request(), hard).await.unwrap();
    let until = |outcome: &Outcome| outcome.memories[0].version.valid.until;
    assert_eq!(until(&soft), Some(story.now() + SignedDuration::from_hours(24 * 90)));
    assert_eq!(until(&hard), None);
    assert_eq!(until(&lasting), None, "what somebody is does not pass");
    let free = story.save("Lives in Lisbon").await;
    assert_eq!(until(&free), None);
}
