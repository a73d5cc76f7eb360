//! The rules by which learning decides about proposals, with a scripted model and a real PostgreSQL.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lukasa_core::policy::{Patch, Trigger};
use lukasa_core::{Category, Status};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{ProposalDecision, Target};
use lukasa_engine::recall::RecallQuery;
use lukasa_models::scripted::ScriptedChat;
use serde_json::{Value, json};

use crate::learning::{answer, chat_about, memories, story_saying, user, work};
use crate::story::Story;

/// A proposal in the form of the schema.
fn flat(op: &str, content: &str, quote: &str) -> Value {
    json!({"op": op, "target": null, "content": content, "kind": "fact", "importance": 6,
           "certainty": "said", "until": null, "turn": 1, "quote": quote, "domain": null})
}

/// A story whose model proposes each memory when its quotation is among the new turns.
async fn story_learning(memories: Vec<Value>) -> (Story, Arc<ScriptedChat>) {
    story_saying(move |ask| {
        let shown = &ask.messages[1].content;
        let news = shown.split("New turns, to learn from:").nth(1).unwrap_or_default();
        let said = |memory: &&Value| news.contains(memory["quote"].as_str().unwrap_or_default());
        answer(&memories.iter().filter(said).cloned().collect::<Vec<_>>())
    })
    .await
}

#[tokio::test]
async fn learned_update_without_target_ends_the_old_value() {
    let (story, _) = story_learning(vec![
        flat("new", "User lives in Lisbon.", "I live in Lisbon"),
        flat("update", "User lives in Porto.", "I live in Porto"),
    ])
    .await;
    chat_about(&story, "a", vec![user("I live in Lisbon.")]).await;
    work(&story).await;
    story.pass(3600);
    chat_about(&story, "b", vec![user("I live in Porto, by the way.")]).await;
    work(&story).await;
    let [home] = &memories(&story, Status::Active).await[..] else { panic!("one home") };
    assert_eq!(home.claim.content, "User lives in Porto.");
    assert!(memories(&story, Status::Proposed).await.is_empty());
}

#[tokio::test]
async fn learned_repetition_adds_evidence_and_leaves_stated_memories_unchanged() {
    let (story, _) = story_learning(vec![
        flat("new", "User lives in Lisbon.", "I live in Lisbon"),
        flat("again", "User lives in Lisbon.", "Lisbon is where I live"),
        flat("new", "User collects stamps.", "I collect stamps"),
    ])
    .await;
    let stated = Story::fact(&story.save("User collects stamps.").await);
    chat_about(&story, "a", vec![user("I live in Lisbon. I collect stamps.")]).await;
    work(&story).await;
    let learned = memories(&story, Status::Active).await;
    assert_eq!(learned.len(), 2, "{learned:?}");
    story.pass(3600);
    chat_about(&story, "b", vec![user("Lisbon is where I live.")]).await;
    work(&story).await;
    let active = memories(&story, Status::Active).await;
    assert_eq!(active.len(), 2, "{active:?}");
    for memory in active {
        let is_stated = memory.fact == stated;
        let quotes: Vec<_> = memory.claim.evidence.iter().map(|e| e.description.as_str()).collect();
        if is_stated {
            assert!(!memory.extracted && quotes.is_empty(), "{memory:?}");
        } else {
            assert_eq!(quotes, ["I live in Lisbon", "Lisbon is where I live"]);
        }
    }
}

#[tokio::test]
async fn place_in_a_question_is_not_learned_as_home() {
    let (story, _) =
        story_learning(vec![flat("new", "User lives in Vigo.", "weather in Vigo tomorrow")]).await;
    chat_about(&story, "a", vec![user("weather in Vigo tomorrow?")]).await;
    work(&story).await;
    assert!(memories(&story, Status::Active).await.is_empty());
    assert_eq!(memories(&story, Status::Candidate).await.len(), 1);
}

#[tokio::test]
async fn facts_of_another_person_are_learned_only_as_theirs() {
    let quote = "My brother is a carpenter in Braga";
    let (story, _) = story_learning(vec![
        flat("new", "User is a carpenter.", quote),
        flat("new", "User's brother is a carpenter in Braga.", quote),
    ])
    .await;
    chat_about(&story, "a", vec![user("My brother is a carpenter in Braga.")]).await;
    work(&story).await;
    let [learned] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!(learned.claim.content, "User's brother is a carpenter in Braga.");
}

#[tokio::test]
async fn learned_allergy_is_left_out_with_its_reason_while_health_is_closed() {
    let (story, _) =
        story_learning(vec![flat("new", "User is allergic to nuts.", "I'm allergic to nuts")])
            .await;
    chat_about(&story, "a", vec![user("I'm allergic to nuts, so no nut cake please.")]).await;
    work(&story).await;
    for status in [Status::Active, Status::Proposed, Status::Candidate] {
        assert!(memories(&story, status).await.is_empty(), "{status:?}");
    }
    let passes = story.engine.learning.passes(&story.alice(), None, 10, story.now()).await.unwrap();
    assert_eq!(passes[0].outcome.as_ref().unwrap()["left"]["closed_domain"], 1);
}

#[tokio::test]
async fn long_typed_introduction_is_proposed() {
    let (story, _) =
        story_learning(vec![flat("new", "User is a gardener.", "I am a gardener")]).await;
    let intro = "I am a gardener and I keep bees near the old mill. ".repeat(16);
    chat_about(&story, "a", vec![user("hi"), user(&intro)]).await;
    work(&story).await;
    assert!(memories(&story, Status::Active).await.is_empty());
    let [proposed] = &memories(&story, Status::Proposed).await[..] else { panic!("one proposal") };
    let digest = Some(proposed.claim.consent_digest());
    let target = Target::parse(&proposed.fact.to_string());
    let yes = ProposalDecision::Yes { digest, edit: Box::default() };
    story.engine.facts.confirm(&story.request(), &target, yes).await.unwrap();
    assert!(memories(&story, Status::Active).await[0].is_firm());
}

#[tokio::test]
async fn stated_memory_is_changed_by_the_users_own_correction_and_undone() {
    let mut change =
        flat("update", "User's choir meets on Thursdays at 19:30.", "it's 19:30, not 19:00");
    change["target"] = json!("m1");
    let (story, _) = story_learning(vec![change]).await;
    let choir = Story::fact(&story.save("User's choir meets on Thursdays at 19:00.").await);
    story.pass(60);
    chat_about(&story, "a", vec![user("Careful: it's 19:30, not 19:00.")]).await;
    work(&story).await;
    let [memory] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!(memory.fact, choir);
    assert_eq!(memory.claim.content, "User's choir meets on Thursdays at 19:30.");
    assert!(memories(&story, Status::Candidate).await.is_empty());
    assert!(memories(&story, Status::Proposed).await.is_empty());
    let correction = memory.opened_by;
    story.engine.undo.undo(&story.request(), correction).await.unwrap();
    assert_eq!(story.active().await, ["User's choir meets on Thursdays at 19:00."]);
}

#[tokio::test]
async fn protected_stated_memory_is_asked_about_before_it_is_changed() {
    let mut change = flat("update", "User pays 900 euros of rent.", "I pay 900 euros of rent now");
    change["target"] = json!("m1");
    let (story, _) = story_learning(vec![change]).await;
    story.engine.directory.set_opt_in(&story.request(), "finance", OptIn::Open).await.unwrap();
    story.save("User pays 800 euros of rent.").await;
    story.pass(60);
    chat_about(&story, "a", vec![user("I pay 900 euros of rent now.")]).await;
    work(&story).await;
    assert_eq!(story.active().await, ["User pays 800 euros of rent."]);
    let [asked] = &memories(&story, Status::Proposed).await[..] else { panic!("one question") };
    assert_eq!(asked.claim.content, "User pays 900 euros of rent.");
}

#[tokio::test]
async fn pasted_correction_does_not_change_a_stated_memory() {
    let mut change =
        flat("update", "User's choir meets on Thursdays at 19:30.", "it's 19:30, not 19:00");
    change["target"] = json!("m1");
    let (story, _) = story_learning(vec![change]).await;
    story.save("User's choir meets on Thursdays at 19:00.").await;
    story.pass(60);
    chat_about(&story, "a", vec![user("See this:\n> Careful: it's 19:30, not 19:00.")]).await;
    work(&story).await;
    assert_eq!(story.active().await, ["User's choir meets on Thursdays at 19:00."]);
}

#[tokio::test]
async fn pass_after_a_turn_shows_the_last_ten_messages() {
    let (story, chat) = story_learning(Vec::new()).await;
    let patch = Patch { extract: Some(Trigger::Turn), titles: Some(false), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    let say = async |numbers: std::ops::Range<usize>| {
        let turns = numbers.map(|n| user(&format!("I read page {n:02} of it."))).collect();
        story.pass(1);
        story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
        work(&story).await;
        let asks = chat.asks();
        let shown = asks.last().unwrap().messages[1].content.clone();
        (0..40).filter(|n| shown.contains(&format!("page {n:02} of"))).collect::<Vec<usize>>()
    };
    for number in 0..15 {
        let shown = say(number..number + 1).await;
        assert_eq!(shown, (number.saturating_sub(9)..=number).collect::<Vec<_>>());
    }
    assert_eq!(say(15..18).await, (8..18).collect::<Vec<_>>(), "three of the ten are new");
    assert_eq!(say(18..32).await, (18..32).collect::<Vec<_>>(), "every new one is learned from");
    assert_eq!(chat.asked(), 17);
    let session = story.engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 32, "each turn once");
}

#[tokio::test]
async fn pass_after_closing_shows_the_summary_and_ten_earlier_messages() {
    let (story, chat) = story_learning(Vec::new()).await;
    let patch = Patch { titles: Some(false), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    let learn = async |numbers: std::ops::Range<usize>| {
        let turns = numbers.map(|n| user(&format!("I read page {n:02} of it."))).collect();
        story.pass(1);
        chat_about(&story, "c", turns).await;
        work(&story).await;
        let asks = chat.asks();
        asks.last().unwrap().messages[1].content.clone()
    };
    let pages = |shown: &str| {
        (0..20).filter(|n| shown.contains(&format!("page {n:02} of"))).collect::<Vec<usize>>()
    };
    assert_eq!(pages(&learn(0..12).await), (0..12).collect::<Vec<_>>());
    let second = learn(12..13).await;
    assert_eq!(pages(&second), (2..13).collect::<Vec<_>>(), "ten earlier ones and the new one");
    assert!(second.contains("The conversation so far, in short:\nThey talked."), "{second}");
    assert_eq!(chat.asked(), 2);
}

#[tokio::test]
async fn fact_below_the_floor_of_its_category_is_kept_out_of_prompts() {
    let scored = |content: &str, quote: &str, kind: &str, confidence: f64| {
        json!({"op": "add", "content": content, "kind": kind, "importance": 8,
               "confidence": confidence, "quote": quote, "evidence": [{"turn": 1, "quote": quote}]})
    };
    let (story, _) = story_learning(vec![
        scored("User lives in Lisbon.", "I live in Lisbon", "fact", 0.85),
        scored("User owns a red boat.", "I own a red boat", "fact", 0.95),
        scored("User likes papaya.", "I like papaya", "preference", 0.85),
    ])
    .await;
    let floors = Some(BTreeMap::from([(Category::Profile, 0.9)]));
    let patch = Patch { floors, ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    let said = "I live in Lisbon. I own a red boat. I like papaya.";
    chat_about(&story, "c", vec![user(said)]).await;
    work(&story).await;
    assert_eq!(memories(&story, Status::Active).await.len(), 3);
    let mut ask = ContextRequest::about("Do I live in Lisbon with a red boat, and like papaya?");
    ask.within = Duration::from_secs(60);
    ask.turns = Some(0);
    let given = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    let text = format!("{}{}", given.baseline.content, given.dynamic.content);
    assert!(text.contains("red boat") && text.contains("papaya"), "{text}");
    assert!(!text.contains("lives in Lisbon"), "0.85 is below the floor of its category: {text}");
    let ask = RecallQuery::about("Where do I live?");
    let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    let found = found.memories.iter().map(|found| found.memory.version.claim.content.as_str());
    assert!(found.into_iter().any(|content| content == "User lives in Lisbon."), "recall finds it");
}

#[tokio::test]
async fn consent_of_the_advisor_lets_inferred_finance_into_prompts() {
    let mut income = flat("new", "User earns 4,000 euros a month.", "I earn 4,000 euros a month");
    income["domain"] = json!("finance");
    let mut rent = flat("new", "User pays 900 euros of rent.", "I pay 900 euros of rent");
    rent["domain"] = json!("finance");
    let (story, _) = story_learning(vec![income, rent]).await;
    let patch = Patch { preset: Some("advisor".into()), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    story.engine.directory.set_opt_in(&story.request(), "finance", OptIn::Open).await.unwrap();
    chat_about(&story, "a", vec![user("I earn 4,000 euros a month.")]).await;
    work(&story).await;
    assert_eq!(memories(&story, Status::Proposed).await.len(), 1, "without the consent it waits");
    assert!(story.active().await.is_empty());
    story.engine.consents.give(&story.request(), "finance").await.unwrap();
    story.pass(60);
    chat_about(&story, "b", vec![user("I pay 900 euros of rent.")]).await;
    work(&story).await;
    assert_eq!(story.active().await, ["User pays 900 euros of rent."]);
}
