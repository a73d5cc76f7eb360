//! Learning without a chat model: the user's own sentences, found by rules, on a real PostgreSQL.

use lukasa_core::learning::{LearningState, own};
use lukasa_core::policy::{Patch, Trigger};
use lukasa_core::{Caller, JobKind, NewTurn, Origin, Role, Status, Voice};
use lukasa_engine::Error;
use lukasa_engine::directory::OptIn;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::recall::RecallQuery;

use crate::learning::{chain, chat_about, memories, story_where, user, work};
use crate::story::Story;

/// A story without a chat model, on a server that learns by rules.
async fn story_by_rules() -> Story {
    let mut story = Story::begin().await;
    let engine = story.engine.clone().with_models(chain(Vec::new()));
    story.engine = engine.with_learning_by_rules(true);
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    story
}

async fn contents(story: &Story, status: Status) -> Vec<String> {
    let found = memories(story, status).await;
    found.into_iter().map(|memory| memory.claim.content).collect()
}

#[tokio::test]
async fn rules_learn_own_sentences_with_evidence_and_undo() {
    let story = story_by_rules().await;
    let turns = vec![
        user("I run a bike café with my cousin. What is a fair margin?"),
        NewTurn::saying(Role::Assistant, "Sixty percent. I live in the cloud."),
        user("thanks, make it a table"),
    ];
    chat_about(&story, "a", turns).await;
    assert!(work(&story).await.iter().all(|done| matches!(done, WorkOutcome::Done(_))));
    let [learned] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!(learned.claim.content, "User runs a bike café with their cousin.");
    assert_eq!(learned.claim.evidence[0].description, "I run a bike café with my cousin.");
    assert!(learned.extracted);
    let query = RecallQuery::about("what does my café do");
    let found = story.engine.recall.search(&story.alice(), &query, story.now()).await.unwrap();
    assert_eq!(found.memories.len(), 1);

    let [pass] =
        &story.engine.learning.passes(&story.alice(), None, 10, story.now()).await.unwrap()[..]
    else {
        panic!("one pass")
    };
    assert_eq!((pass.prompt.as_str(), pass.model.as_str()), (own::RULES, "none"));
    story.engine.undo.undo(&story.request(), pass.operation.unwrap()).await.unwrap();
    assert!(memories(&story, Status::Active).await.is_empty());
}

#[tokio::test]
async fn rules_learn_nothing_of_a_closed_domain_until_it_is_opened() {
    let story = story_by_rules().await;
    chat_about(&story, "a", vec![user("I have type 1 diabetes since I was nine.")]).await;
    work(&story).await;
    for status in [Status::Active, Status::Proposed, Status::Candidate] {
        assert!(contents(&story, status).await.is_empty(), "{status:?}");
    }
    story.pass(60);
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    work(&story).await;
    assert_eq!(contents(&story, Status::Proposed).await.len(), 1);
}

#[tokio::test]
async fn rules_propose_no_sentence_twice() {
    let story = story_by_rules().await;
    for session in ["a", "b"] {
        chat_about(&story, session, vec![user("I run a bike café with my cousin.")]).await;
        work(&story).await;
        story.pass(3600);
    }
    assert_eq!(contents(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn rules_leave_imported_turns_to_a_model() {
    let story = story_by_rules().await;
    let importer = Caller { voice: Voice::stated(Origin::Import), ..story.alice() };
    let turns = vec![user("I run a bike café with my cousin.")];
    story.engine.sessions.append_turns(&story.by(importer), "a", turns).await.unwrap();
    story.engine.sessions.close(&story.request(), "a", None).await.unwrap();
    work(&story).await;
    assert!(contents(&story, Status::Active).await.is_empty());
    let session = story.engine.sessions.get(&story.alice(), "a", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 0, "a model can still learn from it");
}

#[tokio::test]
async fn rules_learn_after_every_turn_if_the_policy_says_so() {
    let story = story_by_rules().await;
    let patch = Patch { extract: Some(Trigger::Turn), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    let turns = vec![
        user("I run a bike café with my cousin."),
        NewTurn::saying(Role::Assistant, "Sixty percent."),
    ];
    story.engine.sessions.append_turns(&story.request(), "a", turns).await.unwrap();
    let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
    let kinds: Vec<JobKind> = jobs.iter().map(|job| job.kind).collect();
    assert!(kinds.contains(&JobKind::Extract), "{kinds:?}");
    assert!(!kinds.contains(&JobKind::Title), "no model could answer: {kinds:?}");
    work(&story).await;
    assert_eq!(contents(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn rules_pass_over_imported_turns_before_typed_ones() {
    let story = story_by_rules().await;
    let importer = Caller { voice: Voice::stated(Origin::Import), ..story.alice() };
    let turns = vec![user("I collect stamps."), user("I own a lighthouse.")];
    story.engine.sessions.append_turns(&story.by(importer), "a", turns).await.unwrap();
    chat_about(&story, "a", vec![user("I run a bike café with my cousin.")]).await;
    work(&story).await;
    let found = contents(&story, Status::Active).await;
    assert_eq!(found, ["User runs a bike café with their cousin."]);
    let session = story.engine.sessions.get(&story.alice(), "a", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 3);
}

#[tokio::test]
async fn imported_session_waits_for_a_model_on_a_server_that_learns_by_rules() {
    let story = story_by_rules().await;
    let importer = Caller { voice: Voice::stated(Origin::Import), ..story.alice() };
    let turns = vec![user("I collect stamps."), user("I own a lighthouse.")];
    story.engine.sessions.append_turns(&story.by(importer), "a", turns).await.unwrap();
    story.engine.sessions.close(&story.request(), "a", None).await.unwrap();
    work(&story).await;
    let state = async || {
        let session = story.engine.sessions.get(&story.alice(), "a", story.now()).await.unwrap();
        let learning = &story.engine.learning;
        learning.progress(&story.alice(), &session, story.now()).await.unwrap().progress.state
    };
    assert_eq!(state().await, LearningState::WaitingForModel);
    let manual = Patch { extract: Some(Trigger::Manual), ..Patch::default() };
    story.engine.policies.set(&story.request(), manual).await.unwrap();
    assert_eq!(state().await, LearningState::WaitingForModel, "asking for it would do nothing");
}

#[tokio::test]
async fn jobs_that_need_a_model_wait_for_a_server_that_has_one() {
    let (story, _) = story_where(vec![]).await;
    let turns = vec![user("I run a bike café."), NewTurn::saying(Role::Assistant, "Great.")];
    story.engine.sessions.append_turns(&story.request(), "a", turns).await.unwrap();
    let titles = async || {
        let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
        jobs.iter().filter(|job| job.kind == JobKind::Title).count()
    };
    assert_eq!(titles().await, 1);
    let without = story.engine.clone().with_models(chain(Vec::new()));
    let without = without.with_learning_by_rules(true);
    let done = without.jobs.work("w", story.moment()).await.unwrap();
    assert!(matches!(done, WorkOutcome::PutOff(JobKind::Title, _)), "{done:?}");
    assert_eq!(without.jobs.work("w", story.moment()).await.unwrap(), WorkOutcome::Nothing);
    assert_eq!(titles().await, 1);
    story.pass(600);
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Title)));
    let session = story.engine.sessions.get(&story.alice(), "a", story.now()).await.unwrap();
    assert!(session.title.is_some());
}

#[tokio::test]
async fn jobs_that_need_a_model_are_claimed_less_often_the_longer_they_wait() {
    let (story, _) = story_where(vec![]).await;
    let turns = vec![user("I run a bike café."), NewTurn::saying(Role::Assistant, "Great.")];
    story.engine.sessions.append_turns(&story.request(), "a", turns).await.unwrap();
    let without = story.engine.clone().with_models(chain(Vec::new()));
    let without = without.with_learning_by_rules(true);
    let queued = story.now();
    let mut waits = Vec::new();
    for _ in 0..10 {
        while without.jobs.work("w", story.moment()).await.unwrap() != WorkOutcome::Nothing {}
        let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
        let title = jobs.iter().find(|job| job.kind == JobKind::Title).unwrap();
        assert_eq!((title.attempts, title.queued_at), (0, queued));
        let wait = title.run_at.duration_since(story.now()).as_secs();
        waits.push(wait / 60);
        story.pass(wait + 1);
    }
    assert_eq!(waits[..5], [5, 5, 10, 20, 40]);
    assert_eq!(waits[8..], [360, 360], "{waits:?}");
}

#[tokio::test]
async fn server_that_learns_in_no_way_says_so() {
    let mut story = story_by_rules().await;
    story.engine = story.engine.clone().with_learning_by_rules(false);
    let turns = vec![user("I run a bike café with my cousin.")];
    story.engine.sessions.append_turns(&story.request(), "a", turns).await.unwrap();
    let ending = story.engine.sessions.close(&story.request(), "a", None).await.unwrap();
    assert!(!ending.learning);
    let refused = story.engine.sessions.learn_now(&story.request(), "a").await;
    assert!(matches!(refused, Err(Error::NoChatModel)), "{refused:?}");
    let state = story.engine.learning.progress(&story.alice(), &ending.session, story.now()).await;
    assert_eq!(state.unwrap().progress.state, LearningState::NoModel);
}
