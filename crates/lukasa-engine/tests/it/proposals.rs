//! Proposals wait for a human's consent to their exact wording; memories can be targeted by a
//! substring.

use lukasa_core::{Caller, Edit, Origin, Status};
use lukasa_engine::Error;
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};

use crate::story::Story;

fn yes(digest: &str) -> ProposalDecision {
    ProposalDecision::Yes { digest: Some(digest.to_owned()), edit: Box::default() }
}

#[tokio::test]
async fn proposal_is_inactive_until_a_human_confirms() {
    let story = Story::begin().await;
    let new = NewMemory::saying("Orders from Kroger");
    let proposed = story.engine.facts.propose(&story.by(story.assistant()), new).await.unwrap();
    let memory = &proposed.memories[0];
    let target = Target::Id(memory.version.fact);
    let digest = memory.version.claim.consent_digest();
    assert_eq!(memory.status, Status::Proposed);
    assert!(story.active().await.is_empty());
    story.pass(1);
    let agent =
        story.engine.facts.confirm(&story.by(story.assistant()), &target, yes(&digest)).await;
    assert_eq!(agent.unwrap_err().code(), "human_needed");
    let other =
        story.engine.facts.confirm(&story.request(), &target, yes("other")).await.unwrap_err();
    assert_eq!(other.code(), "other_words");
    let confirmed =
        story.engine.facts.confirm(&story.request(), &target, yes(&digest)).await.unwrap();
    assert_eq!(confirmed.memories[0].status, Status::Active);
    assert!(confirmed.memories[0].version.consented_at.is_some());
    assert_eq!(story.active().await, ["Orders from Kroger"]);
}

#[tokio::test]
async fn proposal_is_edited_or_rejected_on_confirmation() {
    let story = Story::begin().await;
    let request = story.by(story.assistant());
    let one = story
        .engine
        .facts
        .propose(&request, NewMemory::saying("Orders from Kroger"))
        .await
        .unwrap();
    let request = story.by(story.assistant());
    let two =
        story.engine.facts.propose(&request, NewMemory::saying("Dislikes rain")).await.unwrap();
    story.pass(1);
    let digest = one.memories[0].version.claim.consent_digest();
    let edit = Box::new(Edit::content("Orders from Aldi"));
    let decision = ProposalDecision::Yes { digest: Some(digest), edit };
    let target = Target::Id(Story::fact(&one));
    let edited = story.engine.facts.confirm(&story.request(), &target, decision).await.unwrap();
    assert_eq!(edited.memories[0].version.number, 2);
    assert_eq!(edited.memories[0].version.origin, lukasa_core::Origin::UserSaid);
    let target = Target::Id(Story::fact(&two));
    let no =
        story.engine.facts.confirm(&story.request(), &target, ProposalDecision::No).await.unwrap();
    assert_eq!(no.memories[0].status, Status::Forgotten);
    assert_eq!(story.active().await, ["Orders from Aldi"]);
    // Restoring a rejected one makes it a proposal again, never a memory without consent.
    story.pass(1);
    let back = story.engine.removals.restore(&story.request(), &target).await.unwrap();
    assert_eq!(back.memories[0].status, Status::Proposed);
}

#[tokio::test]
async fn confirmation_is_dated_and_requires_a_human() {
    let story = Story::begin().await;
    let saved = story.save("tea").await;
    assert_eq!(saved.memories[0].version.last_confirmed_at, None);
    let target = Target::Id(Story::fact(&saved));
    let affirm = || ProposalDecision::Yes { digest: None, edit: Box::default() };
    story.pass(10);
    let agent = story.by(story.assistant());
    let refused = story.engine.facts.confirm(&agent, &target, affirm()).await.unwrap_err();
    assert_eq!(refused.code(), "human_needed", "an agent confirms nothing");
    let app = Caller::key(story.alice().tenant, "alice", "app", Origin::UserSaid);
    let first = story.engine.facts.confirm(&story.by(app), &target, affirm()).await.unwrap();
    story.pass(10);
    let second = story.engine.facts.confirm(&story.request(), &target, affirm()).await.unwrap();
    let (first, second) = (&first.memories[0].version, &second.memories[0].version);
    assert_eq!(second.confirmed_at, first.confirmed_at);
    assert!(second.last_confirmed_at > first.last_confirmed_at);
    assert_eq!(first.consented_at, None, "a key cannot consent");
    assert!(second.consented_at.is_some());
    let no = story
        .engine
        .facts
        .confirm(&story.request(), &target, ProposalDecision::No)
        .await
        .unwrap_err();
    assert_eq!(no.code(), "not_proposed");
}

#[tokio::test]
async fn substring_target_must_match_one_memory() {
    let story = Story::begin().await;
    story.save("Flies from Lisbon").await;
    story.save("Flies with TAP").await;
    story.pass(1);
    let engine = &story.engine;
    match engine.removals.forget(&story.request(), &Target::parse("flies")).await {
        Err(Error::Ambiguous(candidates)) => assert_eq!(candidates.len(), 2),
        other => panic!("two memories match: {other:?}"),
    }
    let none = engine.removals.forget(&story.request(), &Target::parse("sails")).await.unwrap_err();
    assert_eq!(none.code(), "memory_not_found");
    engine.removals.forget(&story.request(), &Target::parse("LISBON")).await.unwrap();
    assert_eq!(story.active().await, ["Flies with TAP"]);
}

#[tokio::test]
async fn stale_version_is_not_overwritten() {
    let story = Story::begin().await;
    let saved = story.save("tea").await;
    let target = Target::Id(Story::fact(&saved));
    story.pass(1);
    story.change(Story::fact(&saved), "coffee").await;
    let mut request = story.request();
    request.if_match = Some(saved.memories[0].version.id);
    let stale = story.engine.removals.forget(&request, &target).await.unwrap_err();
    assert_eq!(stale.code(), "version_mismatch");
}
