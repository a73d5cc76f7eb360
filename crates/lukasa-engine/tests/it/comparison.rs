//! Comparison of memories by consolidation: contradictions, merges, and what is stored about them.

use std::sync::Arc;

use lukasa_core::consolidation::Move;
use lukasa_core::{Edit, FactId, Status};
use lukasa_engine::Error;
use lukasa_engine::consolidation::ConsolidationReport;
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};
use lukasa_engine::review::{Contradiction, ContradictionChoice};
use lukasa_models::scripted::ScriptedChat;
use lukasa_store::comparison;
use serde_json::json;

use crate::learning::{chain, memories};
use crate::story::Story;

async fn consolidate(story: &Story, dry_run: bool) -> ConsolidationReport {
    story.pass(60);
    story.engine.consolidation.consolidate(&story.request(), dry_run).await.unwrap()
}

async fn contradictions(story: &Story) -> Vec<Contradiction> {
    story.engine.review.contradictions(&story.alice(), story.now()).await.unwrap()
}

/// Saves a memory as extraction does.
async fn infer(story: &Story, content: &str) -> FactId {
    story.pass(60);
    let request = story.by(story.extractor());
    let saved = story.engine.facts.save(&request, NewMemory::saying(content)).await.unwrap();
    Story::fact(&saved)
}

/// A model that gives the same answer about every pair.
fn always(answer: &'static str) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::saying(move |_| {
        let pairs = (1..=40).map(|n| json!({"pair": format!("p{n}"), "answer": answer}));
        json!({ "pairs": pairs.collect::<Vec<_>>() }).to_string()
    }))
}

async fn story_with(chat: &Arc<ScriptedChat>) -> Story {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![chat.clone()]));
    story
}

async fn hash(story: &Story) -> lukasa_core::StateHash {
    story.engine.insights.summary(&story.alice(), story.now()).await.unwrap().hash
}

async fn stored_pairs(story: &Story) -> i64 {
    let admin = story.database.admin().await;
    admin.query_one("select count(*) from compared_pair", &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn consolidation_lists_contradiction_of_stated_memories_without_a_model() {
    let story = Story::begin().await;
    let older = Story::fact(&story.save("User lives in Porto.").await);
    story.pass(60);
    let newer = Story::fact(&story.save("User lives in Lyon.").await);
    story.save("User's sister lives in Braga.").await;
    let before = hash(&story).await;
    let dry = consolidate(&story, true).await;
    let [step] = &dry.steps[..] else { panic!("one step: {:?}", dry.steps) };
    assert_eq!((step.what, step.fact, step.other), (Move::Contradict, newer, Some(older)));
    assert_eq!((dry.operation, contradictions(&story).await.len()), (None, 0));
    let report = consolidate(&story, false).await;
    assert_eq!(report.steps, dry.steps, "the run does what the dry run showed");
    let [pair] = &contradictions(&story).await[..] else { panic!("one contradiction") };
    assert_eq!((pair.standing.version.fact, pair.against.version.fact), (older, newer));
    assert_eq!(story.active().await.len(), 3, "nothing was changed");
    assert!(consolidate(&story, false).await.steps.is_empty(), "it is listed once");
    story.engine.undo.undo(&story.request(), report.operation.unwrap()).await.unwrap();
    assert_eq!((contradictions(&story).await.len(), hash(&story).await), (0, before));
    assert!(consolidate(&story, false).await.steps.is_empty(), "an undone one is not listed again");
}

#[tokio::test]
async fn consolidation_lists_contradiction_of_a_stated_and_an_inferred_memory() {
    let story = Story::begin().await;
    let older = Story::fact(&story.save("User lives in Porto.").await);
    let newer = infer(&story, "User lives in Lyon.").await;
    let report = consolidate(&story, false).await;
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.what, step.fact, step.other), (Move::Contradict, newer, Some(older)));
    assert_eq!(contradictions(&story).await.len(), 1);
}

#[tokio::test]
async fn contradiction_of_active_memories_is_resolved_by_the_user() {
    for (choice, left) in [
        (ContradictionChoice::Standing, vec!["User lives in Porto."]),
        (ContradictionChoice::Against, vec!["User lives in Lyon."]),
        (ContradictionChoice::Both, vec!["User lives in Porto.", "User lives in Lyon."]),
    ] {
        let story = Story::begin().await;
        story.save("User lives in Porto.").await;
        story.pass(60);
        let newer = Story::fact(&story.save("User lives in Lyon.").await);
        consolidate(&story, false).await;
        let by_agent = story.by(story.assistant());
        let refused = story.engine.review.resolve(&by_agent, newer, choice, "").await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        let before = hash(&story).await;
        let request = story.request();
        let done = story.engine.review.resolve(&request, newer, choice, "").await.unwrap();
        assert_eq!(story.active().await, left, "{choice:?}");
        assert!(contradictions(&story).await.is_empty());
        assert!(consolidate(&story, false).await.steps.is_empty(), "it is not listed again");
        story.engine.undo.undo(&story.request(), done.operation.unwrap()).await.unwrap();
        assert_eq!(hash(&story).await, before);
    }
}

#[tokio::test]
async fn changed_memory_is_compared_again() {
    let story = Story::begin().await;
    story.save("User lives in Porto.").await;
    let other = Story::fact(&story.save("User keeps bees.").await);
    assert!(consolidate(&story, false).await.steps.is_empty());
    story.change(other, "User lives in Lyon.").await;
    assert_eq!(consolidate(&story, false).await.steps.len(), 1);
}

#[tokio::test]
async fn confirmed_memory_is_not_compared_again() {
    let chat = always("unrelated");
    let story = story_with(&chat).await;
    let cats = infer(&story, "User has two cats.").await;
    infer(&story, "The user has 2 cats.").await;
    consolidate(&story, false).await;
    let asked = chat.asked();
    assert!(asked > 0);
    story.pass(60);
    let yes = ProposalDecision::Yes { digest: None, edit: Box::new(Edit::default()) };
    story.engine.facts.confirm(&story.request(), &Target::Id(cats), yes).await.unwrap();
    consolidate(&story, false).await;
    assert_eq!(chat.asked(), asked);
}

#[tokio::test]
async fn similar_memories_are_found_by_their_vectors() {
    let chat = always("unrelated");
    let story = story_with(&chat).await;
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    let cats = infer(&story, "User has two cats.").await;
    let dogs = infer(&story, "User walks two dogs.").await;
    story.engine.removals.forget(&story.request(), &Target::Id(dogs)).await.unwrap();
    let birds = infer(&story, "User keeps two birds.").await;
    let alice = story.alice();
    let store = story.database.store();
    let mut found = Vec::new();
    for _ in 0..500 {
        let scope = store.read(alice.tenant, alice.user).await.unwrap();
        found = comparison::similar(&scope, "scripted-32", &[cats], story.now(), -1.0, 5)
            .await
            .unwrap();
        if !found.is_empty() {
            let none =
                comparison::similar(&scope, "scripted-32", &[cats], story.now(), 1.1, 5).await;
            assert_eq!(none.unwrap(), []);
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let [pair] = found[..] else { panic!("only the active one: {found:?}") };
    assert_eq!((pair.first, pair.second), (cats, birds));
}

#[tokio::test]
async fn obedient_model_merges_only_repeated_inferred_memories() {
    let chat = always("same");
    let story = story_with(&chat).await;
    let older = infer(&story, "User has two cats.").await;
    let newer = infer(&story, "The user has 2 cats.").await;
    infer(&story, "User has three cats.").await;
    story.save("User has 2 small cats.").await;
    let before = hash(&story).await;
    let dry = consolidate(&story, true).await;
    let asked = chat.asked();
    assert!(asked > 0, "the pairs were put to the model");
    let report = consolidate(&story, false).await;
    assert_eq!(chat.asked(), asked, "a dry run's answers are used");
    assert_eq!(report.steps, dry.steps);
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.what, step.fact, step.other), (Move::Merge, older, Some(newer)));
    assert_eq!(story.active().await.len(), 3);
    assert_eq!(memories(&story, Status::Forgotten).await[0].claim.content, "User has two cats.");
    story.engine.undo.undo(&story.request(), report.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
    assert!(consolidate(&story, false).await.steps.is_empty(), "an undone merge is not repeated");
    assert_eq!(chat.asked(), asked, "a compared pair is not asked about again");
}

#[tokio::test]
async fn model_that_sees_contradictions_everywhere_lists_few() {
    let chat = always("contradicts");
    let story = story_with(&chat).await;
    for n in 0..12 {
        infer(&story, &format!("User keeps old radio number {n} in the cellar.")).await;
    }
    let report = consolidate(&story, false).await;
    assert_eq!(report.steps.len(), 10);
    assert!(report.steps.iter().all(|step| step.what == Move::Contradict));
    assert!(chat.asked() <= 4, "{} requests", chat.asked());
    assert_eq!(story.active().await.len(), 12, "nothing was removed");
}

#[tokio::test]
async fn unavailable_model_leaves_pairs_for_the_next_run() {
    let mut story = Story::begin().await;
    let failing = Arc::new(ScriptedChat::failing());
    story.engine = story.engine.clone().with_models(chain(vec![failing]));
    infer(&story, "User has two cats.").await;
    infer(&story, "The user has 2 cats.").await;
    assert!(consolidate(&story, false).await.steps.is_empty());
    assert_eq!(stored_pairs(&story).await, 0);
    let chat = always("same");
    story.engine = story.engine.clone().with_models(chain(vec![chat]));
    assert_eq!(consolidate(&story, false).await.steps.len(), 1);
}

#[tokio::test]
async fn erased_memory_leaves_no_compared_pair() {
    let story = Story::begin().await;
    story.save("User lives in Porto.").await;
    let newer = Story::fact(&story.save("User lives in Lyon.").await);
    consolidate(&story, false).await;
    assert_eq!(stored_pairs(&story).await, 1);
    story.engine.removals.erase(&story.request(), &Target::Id(newer)).await.unwrap();
    assert_eq!(stored_pairs(&story).await, 0);
}

#[tokio::test]
async fn review_counts_all_contradictions_and_lists_the_newest() {
    let story = Story::begin().await;
    let mut facts = Vec::new();
    for number in 0..21 {
        facts.push(Story::fact(&story.save(&format!("User owns {number} chairs.")).await));
    }
    for (place, newer) in facts.iter().enumerate() {
        for older in &facts[..place] {
            story.pass(1);
            let (newer, older) = (Target::Id(*newer), Target::Id(*older));
            let request = story.request();
            let linked = story.engine.facts.link(&request, &newer, &older, "contradicts");
            linked.await.unwrap();
        }
    }
    let request = story.by(story.assistant());
    let waiting = story.engine.facts.propose(&request, NewMemory::saying("User owns a bench."));
    let waiting = Story::fact(&waiting.await.unwrap());
    story.pass(1);
    let reviewed = async || story.engine.review.list(&story.alice(), story.now()).await.unwrap();
    let review = reviewed().await;
    assert_eq!((review.counts.contradictions, review.contradictions.len()), (210, 200));
    assert_eq!((review.counts.proposals, review.proposals[0].version.fact), (1, waiting));
    assert_eq!(review.contradictions, contradictions(&story).await);
    let newest = &review.contradictions[0];
    assert_eq!(newest.against.version.fact, facts[20]);
    assert_eq!(newest.standing.version.fact, facts[19]);
    let since = review.contradictions.iter().map(|pair| pair.since);
    assert!(since.is_sorted_by(|newer, older| newer > older));
    let gone = Target::Id(facts[0]);
    story.engine.removals.forget(&story.request(), &gone).await.unwrap();
    let review = reviewed().await;
    assert_eq!((review.counts.contradictions, review.contradictions.len()), (190, 190));
}
