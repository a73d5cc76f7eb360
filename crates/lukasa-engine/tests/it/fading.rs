//! Fading: inferred facts fade, stated ones do not, and facts with an end date expire by
//! themselves.

use jiff::SignedDuration;
use lukasa_core::Status;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{Affirmation, NewMemory, ProposalDecision, Target};
use lukasa_engine::recall::RecallQuery;
use serde_json::json;

use crate::learning::{chat_about, memories, memory, story_where, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

async fn prompt(story: &Story) -> String {
    // A timeout long enough for a busy machine, so that nothing is left out.
    let within = std::time::Duration::from_secs(60);
    let ask =
        ContextRequest { turns: Some(0), within, ..ContextRequest::about("What should I drink?") };
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    format!("{}{}", context.baseline.content, context.dynamic.content)
}

async fn learned(content: &str, kind: &str, said: &str) -> Story {
    let (content, kind, quote) = (content.to_owned(), kind.to_owned(), said.to_owned());
    let item = json!({"op": "add", "content": content, "kind": kind, "importance": 8,
                      "confidence": 0.9, "evidence": [{"turn": 1, "quote": quote}]});
    let (story, _) = story_where(vec![item]).await;
    chat_about(&story, "c", vec![user(&format!("{said}."))]).await;
    work(&story).await;
    story
}

#[tokio::test]
async fn inferred_habit_fades_from_prompt_and_recall_but_stays_listed() {
    let story = learned("User drinks tea.", "habit", "I drink tea").await;
    story.save("Drinks no coffee").await;
    assert!(prompt(&story).await.contains("drinks tea"));
    story.pass(80 * DAY);
    let after = prompt(&story).await;
    assert!(!after.contains("drinks tea"), "{after}");
    assert!(after.contains("no coffee"), "stated facts do not fade");
    let found = |story: &Story| {
        let (engine, caller, now) = (story.engine.clone(), story.alice(), story.now());
        async move {
            let recall = RecallQuery::about("tea");
            let found = engine.recall.search(&caller, &recall, now).await.unwrap();
            found.memories.iter().any(|hit| hit.memory.version.claim.content.contains("tea"))
        }
    };
    assert!(found(&story).await, "search still finds it");
    story.pass(250 * DAY);
    assert!(!found(&story).await);
    assert_eq!(memories(&story, Status::Active).await.len(), 2, "nothing is hidden from a list");
    // Said again, it is back.
    chat_about(&story, "d", vec![user("As ever, I drink tea.")]).await;
    work(&story).await;
    assert!(found(&story).await && prompt(&story).await.contains("drinks tea"));
    assert_eq!(memories(&story, Status::Active).await.len(), 2);
}

#[tokio::test]
async fn confirm_resists_decay() {
    let story = learned("User drinks tea.", "habit", "I drink tea").await;
    let [tea] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    story.pass(80 * DAY);
    assert!(!prompt(&story).await.contains("drinks tea"));
    let turns = vec![user("As I said, I drink tea.")];
    story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    let target = Target::Id(tea.fact);
    let said = Affirmation { quotations: vec!["I drink tea".into()], session: Some("c".into()) };
    story.engine.facts.affirm(&story.by(story.assistant()), &target, &said).await.unwrap();
    assert!(prompt(&story).await.contains("drinks tea"), "back in the prompt");
    story.pass(80 * DAY);
    assert!(!prompt(&story).await.contains("drinks tea"));
    let yes = ProposalDecision::Yes { digest: None, edit: Box::default() };
    story.engine.facts.confirm(&story.request(), &target, yes).await.unwrap();
    story.pass(400 * DAY);
    assert!(prompt(&story).await.contains("drinks tea"), "the consent of the user does not fade");
}

#[tokio::test]
async fn review_is_due_thirty_days_after_the_last_answer_if_something_was_learned() {
    let (tea, chess) =
        (memory("User drinks tea.", "I drink tea"), memory("User plays chess.", "I play chess"));
    let (story, _) = story_where(vec![tea, chess]).await;
    chat_about(&story, "c", vec![user("I drink tea.")]).await;
    work(&story).await;
    let periodic = async || {
        let periodic =
            story.engine.review.list(&story.alice(), story.now()).await.unwrap().periodic;
        (periodic.last, periodic.learned_since, periodic.due)
    };
    story.pass(29 * DAY);
    assert_eq!(periodic().await, (None, 1, false), "29 days after the user was created");
    story.pass(2 * DAY);
    assert_eq!(periodic().await, (None, 1, true), "31 days");
    // An assistant does not answer for the user.
    let by_assistant = || story.by(story.assistant());
    let saved = story.engine.facts.save(&by_assistant(), NewMemory::saying("Has a cat")).await;
    let cat = Target::Id(Story::fact(&saved.unwrap()));
    story.pass(1);
    story.engine.removals.forget(&by_assistant(), &cat).await.unwrap();
    assert_eq!(periodic().await, (None, 1, true));
    let [tea] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    let yes = ProposalDecision::Yes { digest: None, edit: Box::default() };
    story.pass(1);
    story.engine.facts.confirm(&story.request(), &Target::Id(tea.fact), yes).await.unwrap();
    let last = Some(story.now());
    assert_eq!(periodic().await, (last, 0, false));
    story.pass(10 * DAY);
    chat_about(&story, "d", vec![user("I play chess.")]).await;
    work(&story).await;
    story.pass(19 * DAY);
    assert_eq!(periodic().await, (last, 1, false), "29 days after the answer");
    story.pass(2 * DAY);
    assert_eq!(periodic().await, (last, 1, true), "31 days");
}

#[tokio::test]
async fn repeated_fact_is_fresh_again() {
    let story = learned("User drinks tea.", "habit", "I drink tea").await;
    story.pass(80 * DAY);
    assert!(!prompt(&story).await.contains("drinks tea"));
    chat_about(&story, "d", vec![user("As ever, I drink tea.")]).await;
    work(&story).await;
    assert!(prompt(&story).await.contains("drinks tea"));
}

#[tokio::test]
async fn context_facts_expire_after_a_week() {
    let story = learned("User is in Rome.", "context", "I am in Rome").await;
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
    story.pass(6 * DAY);
    assert!(prompt(&story).await.contains("Rome"));
    story.pass(2 * DAY);
    assert!(!prompt(&story).await.contains("Rome"), "no job has to run for it");
    assert_eq!(memories(&story, Status::Active).await.len(), 0);
}

#[tokio::test]
async fn expiring_memory_leaves_cached_search_and_context() {
    let story = Story::begin().await;
    story.save("Drinks no coffee").await;
    let mut new = NewMemory::saying("Drinks tea this hour");
    new.valid_until = Some(story.now() + SignedDuration::from_hours(1));
    story.engine.facts.save(&story.request(), new).await.unwrap();
    let found = async || {
        let ask = RecallQuery::about("What to drink");
        let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        let contents = found.memories.into_iter().map(|found| found.memory.version.claim.content);
        contents.filter(|content| content.contains("this hour")).count()
    };
    let given = async |freeze: bool| {
        let mut ask = ContextRequest::about("What should I drink?");
        (ask.session, ask.freeze) = (Some("c".into()), freeze);
        // Long enough for a busy machine, so that nothing is left out.
        ask.within = std::time::Duration::from_secs(60);
        let caller = story.alice();
        let context = story.engine.context.retrieve(&caller, &ask, story.moment()).await.unwrap();
        format!("{}{}", context.baseline.content, context.dynamic.content)
    };
    assert_eq!(found().await, 1);
    assert!(given(true).await.contains("this hour"));
    // No write since: the index and the answer are still cached.
    story.pass(3_601);
    assert_eq!(found().await, 0);
    let after = given(false).await;
    assert!(after.contains("no coffee") && !after.contains("this hour"), "{after}");
}
