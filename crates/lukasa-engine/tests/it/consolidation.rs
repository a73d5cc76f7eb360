//! Consolidation of extracted facts.

use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::consolidation::Move;
use lukasa_core::policy::{Admission, Patch};
use lukasa_core::{Force, Keep, Kind, State, Status, Tier};
use lukasa_engine::Outcome;
use lukasa_engine::context::{NewUsage, USAGE_TYPES};
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::recall::RecallQuery;
use lukasa_models::scripted::ScriptedChat;
use serde_json::{Value, json};

use crate::learning::{chain, chat_about, memories, story_where, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

fn tea() -> Value {
    json!({"op": "add", "content": "User drinks tea.", "kind": "habit", "importance": 7,
           "confidence": 0.8, "evidence": [{"turn": 1, "quote": "I drink tea"}]})
}

/// A story in which a habit is mentioned in this many sessions.
async fn story_with_sessions(chats: usize) -> Story {
    let (story, _) = story_where(vec![tea()]).await;
    for chat in 0..chats {
        chat_about(&story, &format!("c{chat}"), vec![user("I drink tea.")]).await;
        work(&story).await;
        story.pass(60);
    }
    story
}

#[tokio::test]
async fn consolidation_strengthens_repeated_facts_and_can_be_undone() {
    let story = story_with_sessions(5).await;
    let [before] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((before.tier, before.turns.len()), (Tier::Tentative, 5));
    let dry = story.engine.consolidation.consolidate(&story.request(), true).await.unwrap();
    assert_eq!((dry.operation, dry.steps.len()), (None, 1));
    assert_eq!(
        memories(&story, Status::Active).await[0].tier,
        Tier::Tentative,
        "a dry run changes nothing"
    );
    story.pass(2 * DAY);
    assert!(work(&story).await.contains(&WorkOutcome::Done(lukasa_core::JobKind::Upkeep)));
    let [after] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((after.tier, after.claim.content.as_str()), (Tier::Strong, "User drinks tea."));
    assert!(after.claim.importance >= 0.9);
    let again = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert_eq!((again.operation, again.steps.len()), (None, 0), "a second run changes nothing");
    let hash = async || {
        story.engine.insights.summary(&story.request().caller, story.now()).await.unwrap().hash
    };
    let strong = hash().await;
    let undone = story.engine.undo.undo(&story.request(), after.opened_by).await.unwrap();
    assert_eq!(memories(&story, Status::Active).await[0].tier, Tier::Tentative);
    assert_ne!(hash().await, strong);
    story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    assert_eq!(hash().await, strong, "equal states have equal hashes");
}

#[tokio::test]
async fn repeated_candidate_is_promoted_by_the_daily_consolidation() {
    let mut unsure = tea();
    unsure["confidence"] = json!(0.3);
    let (story, _) = story_where(vec![unsure]).await;
    chat_about(&story, "a", vec![user("I drink tea.")]).await;
    work(&story).await;
    // The upkeep of that day comes before the second session.
    story.pass(DAY);
    work(&story).await;
    let [said_once] = &memories(&story, Status::Candidate).await[..] else { panic!("a candidate") };
    assert_eq!((said_once.tier, said_once.turns.len()), (Tier::Candidate, 1));
    chat_about(&story, "b", vec![user("I drink tea.")]).await;
    work(&story).await;
    let [repeated] = &memories(&story, Status::Candidate).await[..] else { panic!("a candidate") };
    assert_eq!((repeated.fact, repeated.turns.len()), (said_once.fact, 2));
    assert!(memories(&story, Status::Active).await.is_empty());
    story.pass(2 * DAY);
    work(&story).await;
    let [promoted] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((promoted.fact, promoted.tier), (repeated.fact, Tier::Tentative));
    assert!(promoted.confidence.is_some_and(|sure| sure < 0.7), "{promoted:?}");
    assert!(memories(&story, Status::Candidate).await.is_empty());
}

#[tokio::test]
async fn consolidation_weighs_usage_of_inferred_facts_only() {
    let story = story_with_sessions(1).await;
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
        story.engine.context.report_usage(&story.request(), new).await.unwrap();
    }
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.fact, step.what), (inferred, Move::Weigh));
    assert!((step.after.confidence - 0.65).abs() < 1e-6);
    let again = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "each use counts once");
}

#[tokio::test]
async fn consolidation_counts_all_reports_of_assistants_as_one() {
    let story = story_with_sessions(1).await;
    let inferred = memories(&story, Status::Active).await[0].fact;
    for _ in 0..10 {
        let new = NewUsage {
            fact: inferred,
            session: None,
            retrieval: None,
            turn: None,
            kind: "contradicted".into(),
            influence: None,
        };
        story.pass(1);
        let agent = story.by(story.assistant());
        story.engine.context.report_usage(&agent, new).await.unwrap();
    }
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.fact, step.what), (inferred, Move::Weigh));
    assert!((step.after.confidence - 0.65).abs() < 1e-6);
}

#[tokio::test]
async fn retrieving_a_memory_does_not_make_it_more_certain() {
    let story = story_with_sessions(1).await;
    let inferred = async || {
        let all = memories(&story, Status::Active).await;
        let found = all.into_iter().find(|version| version.extracted).unwrap();
        (found.confidence, found.tier, found.last_confirmed_at, found.number)
    };
    let before = inferred().await;
    for _ in 0..12 {
        let ask = lukasa_engine::context::ContextRequest::about("What do you know about me?");
        let request = story.request();
        story.engine.context.retrieve(&request.caller, &ask, request.moment).await.unwrap();
        story.pass(60);
    }
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(report.steps.is_empty(), "{:?}", report.steps);
    assert_eq!(inferred().await, before);
}

#[tokio::test]
async fn upkeep_is_not_queued_without_aging_data() {
    let story = Story::begin().await;
    story.save("Likes tea").await;
    story.pass(DAY + 3_600 * 5);
    assert_eq!(work(&story).await, [WorkOutcome::Done(lukasa_core::JobKind::Upkeep)]);
    assert!(story.engine.queue.list(&story.alice(), story.now()).await.unwrap().is_empty());
    // The next write queues upkeep again.
    story.save("Likes cake").await;
    assert_eq!(story.engine.queue.list(&story.alice(), story.now()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn staged_memory_is_integrated_by_the_daily_consolidation() {
    let (story, _) = story_where(vec![tea()]).await;
    let staged = Patch { admission: Some(Admission::Staged), ..Patch::default() };
    story.engine.policies.set(&story.request(), staged).await.unwrap();
    chat_about(&story, "c", vec![user("I drink tea.")]).await;
    work(&story).await;
    assert!(memories(&story, Status::Active).await.is_empty(), "nothing is written directly");
    let [waiting] = &memories(&story, Status::Candidate).await[..] else { panic!("one waits") };
    assert_eq!((waiting.tier, waiting.confidence), (Tier::Tentative, Some(0.8)));
    story.pass(2 * DAY);
    assert!(work(&story).await.contains(&WorkOutcome::Done(lukasa_core::JobKind::Upkeep)));
    let [active] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((active.fact, active.confidence), (waiting.fact, Some(0.8)));
    assert!(memories(&story, Status::Candidate).await.is_empty());
    story.engine.undo.undo(&story.request(), active.opened_by).await.unwrap();
    assert_eq!(memories(&story, Status::Candidate).await.len(), 1, "it waits again");
}

#[tokio::test]
async fn staged_memory_without_kept_turns_is_integrated_too() {
    let (story, _) = story_where(vec![tea()]).await;
    let (admission, keep_turns) = (Some(Admission::Staged), Some(Keep::Nothing));
    let staged = Patch { admission, keep_turns, ..Patch::default() };
    story.engine.policies.set(&story.request(), staged).await.unwrap();
    chat_about(&story, "c", vec![user("I drink tea.")]).await;
    work(&story).await;
    let [waiting] = &memories(&story, Status::Candidate).await[..] else { panic!("one waits") };
    assert!(!waiting.claim.evidence[0].description.contains("tea"), "{:?}", waiting.claim);
    story.pass(2 * DAY);
    work(&story).await;
    let [active] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((active.fact, active.tier), (waiting.fact, Tier::Tentative));
}

/// A user who talks about the same topic in this many sessions, with a model that summarises.
async fn gardener(chats: usize) -> Story {
    let chat = ScriptedChat::saying(|_| {
        json!({"title": "Tomatoes", "summary": "The user praised Acme and asked about tomatoes.",
               "memories": []})
        .to_string()
    });
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![Arc::new(chat)]));
    for chat in 0..chats {
        let turns = vec![user("How often do I water tomatoes?")];
        chat_about(&story, &format!("c{chat}"), turns).await;
        work(&story).await;
        story.pass(60);
    }
    story
}

#[tokio::test]
async fn consolidation_notes_recurring_topic_for_a_month() {
    let story = gardener(5).await;
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(report.steps.is_empty(), "five are not enough: {:?}", report.steps);
    let story = gardener(6).await;
    let dry = story.engine.consolidation.consolidate(&story.request(), true).await.unwrap();
    let [step] = &dry.steps[..] else { panic!("one note: {:?}", dry.steps) };
    assert_eq!((step.what, &step.before), (Move::Topic, &None));
    assert_eq!(step.content, "Recently often talks about tomatoes.", "the user never said Acme");
    let hash = async || {
        let whole = story.engine.insights.summary(&story.alice(), story.now()).await.unwrap();
        whole.hash
    };
    let before = hash().await;
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [note] = &memories(&story, Status::Active).await[..] else { panic!("one note") };
    assert!(note.extracted && note.valid.until.is_some() && note.claim.evidence.len() == 6);
    let again = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "noted once: {:?}", again.steps);
    story.engine.undo.undo(&story.request(), report.operation.unwrap()).await.unwrap();
    assert_eq!(hash().await, before);
    story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    story.pass(31 * DAY);
    assert!(memories(&story, Status::Active).await.is_empty(), "it expires by itself");
    let later = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(later.steps.is_empty(), "these sessions are no longer recent: {:?}", later.steps);
    story.pass(90 * DAY);
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [step] = &report.steps[..] else { panic!("one cleared note: {:?}", report.steps) };
    assert_eq!((step.what, step.after.state), (Move::Clear, State::Trashed));
    story.pass(31 * DAY);
    let gone = story.engine.removals.purge(&story.request()).await.unwrap();
    assert_eq!(gone.receipts.len(), 1);
}

#[tokio::test]
async fn forgotten_topic_note_is_not_made_again() {
    let story = gardener(7).await;
    story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [note] = &memories(&story, Status::Active).await[..] else { panic!("one note") };
    story.engine.removals.forget(&story.request(), &Target::Id(note.fact)).await.unwrap();
    let again = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "{:?}", again.steps);
}

#[tokio::test]
async fn old_episode_is_absorbed_once_its_facts_are_strong() {
    let story = story_with_sessions(5).await;
    story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let absorbed = async || {
        let (found, _) = story
            .engine
            .learning
            .episodes(&story.alice(), None, None, 10, story.now())
            .await
            .unwrap();
        let about = story.engine.learning.about_episodes(&story.alice(), &found, story.now()).await;
        about.unwrap().into_iter().map(|about| about.absorbed).collect::<Vec<_>>()
    };
    let found = async || {
        let ask = RecallQuery { episodes: 9, ..RecallQuery::about("What was talked about?") };
        story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap().episodes.len()
    };
    assert_eq!(found().await, 5);
    assert_eq!(absorbed().await, [false; 5], "too young");
    story.pass(31 * DAY);
    assert_eq!(absorbed().await, [true; 5]);
    assert_eq!(found().await, 0, "absorbed episodes are not found");
    let [strong] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    story.engine.undo.undo(&story.request(), strong.opened_by).await.unwrap();
    assert_eq!(absorbed().await, [false; 5], "undone, it is needed again");
    assert_eq!(found().await, 5);
}

#[tokio::test]
async fn absorbed_episodes_do_not_displace_a_current_one() {
    let story = story_with_sessions(20).await;
    story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    story.pass(31 * DAY);
    chat_about(&story, "new", vec![user("What goes with bread?")]).await;
    work(&story).await;
    let ask = RecallQuery { episodes: 1, ..RecallQuery::about("What was talked about?") };
    let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    let sessions: Vec<_> = found.episodes.iter().map(|f| f.episode.session.as_str()).collect();
    assert_eq!(sessions, ["new"]);
}

#[tokio::test]
async fn soft_memory_expires_by_domain_default() {
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
    let soft = story.engine.facts.save(&story.request(), report).await.unwrap();
    let lasting = story.engine.facts.save(&story.request(), of_work("Is a baker")).await.unwrap();
    let hard = story.engine.facts.save(&story.request(), hard).await.unwrap();
    let until = |outcome: &Outcome| outcome.memories[0].version.valid.until;
    assert_eq!(until(&soft), Some(story.now() + SignedDuration::from_hours(24 * 90)));
    assert_eq!(until(&hard), None);
    assert_eq!(until(&lasting), None, "a lasting fact does not expire");
    let free = story.save("Lives in Lisbon").await;
    assert_eq!(until(&free), None);
}

#[tokio::test]
async fn every_soft_memory_expires_by_domain_default_in_preset_assistant() {
    let story = Story::begin().await;
    let patch = Patch { preset: Some("assistant".into()), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    let saved = async |content: &str, domain: &str, change: &dyn Fn(&mut NewMemory)| {
        let mut new = NewMemory::saying(content);
        new.claim.domain = Some(domain.into());
        change(&mut new);
        let outcome = story.engine.facts.save(&story.request(), new).await.unwrap();
        outcome.memories[0].version.valid.until
    };
    let days = |days: i64| Some(story.now() + SignedDuration::from_hours(24 * days));
    assert_eq!(saved("Is a baker", "work", &|_| {}).await, days(90));
    assert_eq!(saved("Has two sisters", "personal", &|_| {}).await, days(60));
    assert_eq!(saved("Likes trains", "travel", &|_| {}).await, None, "it has no expiry");
    let rule = |new: &mut NewMemory| {
        (new.claim.force, new.claim.key) = (Force::Hard, Some("meetings".into()));
    };
    assert_eq!(saved("Meetings after ten", "work", &rule).await, None, "a rule never expires so");
    let (soon, end) = (days(3), days(3));
    let short = saved("Covers for Ana", "work", &|new| new.valid_until = soon).await;
    assert_eq!(short, end, "a stated end wins");
}
