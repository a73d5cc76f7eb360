//! What learning leaves out: listed by its place in the turn, kept by the user, and for a closed
//! domain asked about once, without storing the content.

use std::sync::Arc;

use lukasa_core::learning::{LearningState, Reason};
use lukasa_core::policy::{Admission, Patch};
use lukasa_core::{JobKind, Keep, NewTurn, PassId, Refusal, Role, Status, TurnId};
use lukasa_engine::Error;
use lukasa_engine::directory::OptIn;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::learning::LeftOutItem;
use lukasa_engine::removal::FactSource;
use lukasa_engine::sessions::NewSession;
use lukasa_models::scripted::ScriptedChat;

use crate::learning::{chat_about, memories, memory, story_where, user, work};
use crate::story::Story;

const DIAGNOSIS: &str = "I was diagnosed with diabetes.";

/// A story in which nothing is inferred, so that every proposal is left out.
async fn story_without_admission() -> Story {
    let (story, _) = story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    let patch = Patch { admission: Some(Admission::Off), titles: Some(false), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    chat_about(&story, "c", vec![user("Hello! I live in Lisbon. And you?")]).await;
    work(&story).await;
    story
}

/// A story whose model reports a diagnosis, and whose user mentioned it in this session.
async fn story_with_diagnosis() -> (Story, Arc<ScriptedChat>) {
    let proposal = memory("User was diagnosed with diabetes.", "I was diagnosed with diabetes");
    let (story, chat) = story_where(vec![proposal]).await;
    let patch = Patch { titles: Some(false), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    chat_about(&story, "c", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    (story, chat)
}

async fn left_out(story: &Story) -> Vec<LeftOutItem> {
    let (alice, now) = (story.alice(), story.now());
    let passes = story.engine.learning.passes(&alice, None, 10, now).await.unwrap();
    let ids: Vec<PassId> = passes.iter().map(|pass| pass.id).collect();
    story.engine.learning.left_out(&alice, &ids, now).await.unwrap()
}

/// The domains that the review asks about.
async fn asked(story: &Story) -> Vec<String> {
    let review = story.engine.review.list(&story.alice(), story.now()).await.unwrap();
    review.domains.into_iter().map(|asked| asked.domain.name).collect()
}

async fn set(story: &Story, open: OptIn) {
    story.engine.directory.set_opt_in(&story.request(), "health", open).await.unwrap();
}

async fn count(story: &Story, table: &str) -> i64 {
    let client = story.database.admin().await;
    let sql = format!("select count(*) from {table}");
    client.query_one(&sql, &[]).await.unwrap().get(0)
}

/// The tables in which these words occur.
async fn tables_with(story: &Story, words: &str) -> Vec<String> {
    let client = story.database.admin().await;
    let sql = "select tablename::text from pg_tables where schemaname = 'public' order by 1";
    let mut found = Vec::new();
    for row in client.query(sql, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike $1");
        let like = format!("%{words}%");
        if client.query_one(&sql, &[&like]).await.unwrap().get::<_, i64>(0) > 0 {
            found.push(table);
        }
    }
    found
}

#[tokio::test]
async fn left_out_sentence_is_listed_with_reason_and_words() {
    let story = story_without_admission().await;
    let [item] = &left_out(&story).await[..] else { panic!("one item") };
    assert_eq!((item.place, item.reason), (1, Reason::Off));
    assert_eq!(item.words.as_deref(), Some("I live in Lisbon."));
    assert_eq!((item.domain.as_deref(), item.kept), (None, None));
    assert!(story.active().await.is_empty());
    let stored = tables_with(&story, "live in lisbon").await;
    assert_eq!(stored, ["turn"], "the words are only in the turn");
}

#[tokio::test]
async fn left_out_sentence_is_kept_once_and_by_a_human_only() {
    let story = story_without_admission().await;
    let item = left_out(&story).await.remove(0);
    let learning = &story.engine.learning;
    let by_key = story.by(story.assistant());
    let refused = learning.keep_left_out(&by_key, item.pass, item.place).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::NeedsHuman))), "{refused:?}");
    assert!(story.active().await.is_empty());

    let kept = learning.keep_left_out(&story.request(), item.pass, item.place).await.unwrap();
    let version = &kept.memories[0].version;
    assert_eq!(version.claim.content, "I live in Lisbon.");
    assert!(version.is_firm(), "the user states it");
    assert_eq!(version.turns, [item.turn.to_string()]);
    assert_eq!(version.claim.evidence[0].description, "I live in Lisbon.");
    story.pass(10);
    let again = learning.keep_left_out(&story.request(), item.pass, item.place).await.unwrap();
    assert_eq!(Story::fact(&again), version.fact);
    assert_eq!(again.operation, None, "nothing was written");
    assert_eq!(story.active().await.len(), 1);
    assert_eq!(left_out(&story).await[0].kept, Some(version.fact));

    story.pass(10);
    story.engine.undo.undo(&story.request(), kept.operation.unwrap()).await.unwrap();
    assert!(story.active().await.is_empty());
    assert_eq!(left_out(&story).await[0].kept, None, "it can be kept again");
    story.pass(10);
    learning.keep_left_out(&story.request(), item.pass, item.place).await.unwrap();
    assert_eq!(story.active().await.len(), 1);
}

#[tokio::test]
async fn left_out_that_is_not_there_cannot_be_kept() {
    let story = story_without_admission().await;
    let item = left_out(&story).await.remove(0);
    let learning = &story.engine.learning;
    let missing = learning.keep_left_out(&story.request(), item.pass, 2).await;
    assert!(matches!(missing, Err(Error::LeftOutNotFound)), "{missing:?}");
}

#[tokio::test]
async fn left_out_words_vanish_when_the_turn_is_deleted_or_erased() {
    let story = story_without_admission().await;
    let item = left_out(&story).await.remove(0);
    let turn = FactSource::Turn(item.turn);
    story.pass(10);
    let deleted = story.engine.removals.withdraw(&story.request(), &turn).await.unwrap();
    assert_eq!(left_out(&story).await, []);
    let learning = &story.engine.learning;
    let gone = learning.keep_left_out(&story.request(), item.pass, item.place).await;
    assert!(matches!(gone, Err(Error::LeftOutNotFound)), "{gone:?}");
    story.pass(10);
    story.engine.undo.undo(&story.request(), deleted.operation.unwrap()).await.unwrap();
    assert_eq!(left_out(&story).await, [item]);
    story.pass(10);
    story.engine.removals.erase_source(&story.request(), &turn).await.unwrap();
    assert_eq!(left_out(&story).await, []);
    assert_eq!(count(&story, "left_out").await, 0);
    assert_eq!(tables_with(&story, "live in lisbon").await, [""; 0]);
}

#[tokio::test]
async fn left_out_secret_has_no_words_and_cannot_be_kept() {
    let proposal = memory("User's wifi password is hunter2-Kestrel!", "the wifi password is");
    let (story, _) = story_where(vec![proposal]).await;
    chat_about(&story, "c", vec![user("I changed it, the wifi password is hunter2-Kestrel!")])
        .await;
    work(&story).await;
    let [item] = &left_out(&story).await[..] else { panic!("one item") };
    assert_eq!((item.reason, item.words.as_deref()), (Reason::Secret, None));
    let learning = &story.engine.learning;
    let refused = learning.keep_left_out(&story.request(), item.pass, item.place).await;
    assert!(matches!(refused, Err(Error::SecretRejected(_))), "{refused:?}");
}

#[tokio::test]
async fn closed_domain_is_asked_about_once_and_stores_no_content() {
    let (story, _) = story_with_diagnosis().await;
    assert_eq!(asked(&story).await, ["health"]);
    let [item] = &left_out(&story).await[..] else { panic!("one item") };
    assert_eq!((item.reason, item.domain.as_deref()), (Reason::ClosedDomain, Some("health")));
    assert_eq!(item.words, None, "no words while the domain is closed");
    let learning = &story.engine.learning;
    let refused = learning.keep_left_out(&story.request(), item.pass, item.place).await;
    assert!(matches!(refused, Err(Error::OptInNeeded(_))), "{refused:?}");
    assert_eq!(tables_with(&story, "diabetes").await, ["turn"]);

    story.pass(60);
    chat_about(&story, "d", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    assert_eq!(asked(&story).await, ["health"], "one question per domain");
    assert_eq!(count(&story, "domain_question").await, 1);
}

#[tokio::test]
async fn closed_domain_opened_by_the_user_is_learned() {
    let (story, chat) = story_with_diagnosis().await;
    let before = chat.asked();
    story.pass(60);
    let agent = story.by(story.assistant());
    let refused = story.engine.directory.set_opt_in(&agent, "health", OptIn::Open).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::NeedsHuman))), "{refused:?}");
    set(&story, OptIn::Open).await;
    assert_eq!(asked(&story).await, [""; 0]);
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Relearn)]);
    assert_eq!(chat.asked(), before + 1);
    let [learned] = &memories(&story, Status::Proposed).await[..] else { panic!("one proposal") };
    assert_eq!(learned.claim.content, "User was diagnosed with diabetes.");
    assert_eq!(learned.claim.domain.as_deref(), Some("health"));
    assert_eq!(learned.session.as_deref(), Some("c"));
    assert_eq!(left_out(&story).await, [], "it was learned");
    story.pass(60);
    story.engine.undo.undo(&story.request(), learned.opened_by).await.unwrap();
    assert!(memories(&story, Status::Proposed).await.is_empty());
}

#[tokio::test]
async fn closed_domain_that_is_learned_again_is_consolidated_the_next_day() {
    const DAY: i64 = 86_400;
    let (story, _) = story_with_diagnosis().await;
    let upkeep = async || {
        let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
        let job = jobs.into_iter().find(|job| job.kind == JobKind::Upkeep).expect("a job");
        job.run_at.duration_since(story.now()).as_secs()
    };
    story.pass(2 * DAY);
    work(&story).await;
    assert!(upkeep().await > DAY, "nothing was learned since");
    set(&story, OptIn::Open).await;
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Relearn)));
    assert!(upkeep().await <= DAY);
}

#[tokio::test]
async fn closed_domain_shut_again_before_the_job_is_not_learned() {
    let (story, chat) = story_with_diagnosis().await;
    let before = chat.asked();
    set(&story, OptIn::Open).await;
    set(&story, OptIn::Close).await;
    work(&story).await;
    assert_eq!(chat.asked(), before);
    assert!(memories(&story, Status::Proposed).await.is_empty());
}

#[tokio::test]
async fn closed_domain_declined_by_the_user_is_never_asked_about_again() {
    let (story, _) = story_with_diagnosis().await;
    let agent = story.by(story.assistant());
    story.engine.directory.set_opt_in(&agent, "health", OptIn::Close).await.unwrap();
    assert_eq!(asked(&story).await, ["health"], "an assistant does not answer for the user");
    set(&story, OptIn::Close).await;
    assert_eq!(asked(&story).await, [""; 0]);
    story.pass(60);
    chat_about(&story, "d", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    assert_eq!(asked(&story).await, [""; 0]);
}

#[tokio::test]
async fn domain_question_is_removed_with_the_last_turn_that_mentions_it() {
    let (story, _) = story_with_diagnosis().await;
    story.pass(60);
    chat_about(&story, "d", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    let turns: Vec<TurnId> = left_out(&story).await.iter().map(|item| item.turn).collect();
    assert_eq!(turns.len(), 2);
    for (turn, still_asked) in turns.iter().zip([1, 0]) {
        story.pass(60);
        let source = FactSource::Turn(*turn);
        let deleted = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
        assert_eq!(asked(&story).await.len(), still_asked);
        story.pass(60);
        story.engine.undo.undo(&story.request(), deleted.operation.unwrap()).await.unwrap();
        assert_eq!(asked(&story).await.len(), 1);
        story.pass(60);
        story.engine.removals.erase_source(&story.request(), &source).await.unwrap();
        assert_eq!(asked(&story).await.len(), still_asked);
    }
    assert_eq!(count(&story, "domain_question").await, 0);
}

#[tokio::test]
async fn domain_question_is_asked_for_a_session_that_keeps_no_turns() {
    let proposal = memory("User was diagnosed with diabetes.", "I was diagnosed with diabetes");
    let (story, _) = story_where(vec![proposal]).await;
    let new =
        NewSession { id: Some("c".into()), keep: Some(Keep::Nothing), ..NewSession::default() };
    story.engine.sessions.open(&story.request(), new).await.unwrap();
    chat_about(&story, "c", vec![user(DIAGNOSIS)]).await;
    work(&story).await;
    assert_eq!(asked(&story).await, ["health"]);
    assert_eq!((left_out(&story).await, count(&story, "left_out").await), (vec![], 0));
    assert_eq!(tables_with(&story, "diabetes").await, [""; 0]);
}

#[tokio::test]
async fn statement_about_a_closed_domain_becomes_a_question() {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_statements(true);
    let words = "Please remember that I was diagnosed with diabetes.";
    let turn = NewTurn::saying(Role::User, words);
    story.engine.sessions.append_turns(&story.request(), "c", vec![turn]).await.unwrap();
    work(&story).await;
    assert!(story.active().await.is_empty());
    assert_eq!(asked(&story).await, ["health"]);
    assert_eq!(tables_with(&story, "diabetes").await, ["turn"]);
    story.pass(60);
    set(&story, OptIn::Open).await;
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Statement)]);
    let active = story.active().await;
    assert_eq!(active.len(), 1, "{active:?}");
    assert!(active[0].contains("diabetes"), "{active:?}");
}

#[tokio::test]
async fn left_out_and_domain_questions_are_erased_with_the_user() {
    let (story, _) = story_with_diagnosis().await;
    assert_eq!(count(&story, "left_out").await, 1);
    assert_eq!(count(&story, "domain_question").await, 1);
    story.pass(60);
    let erasures = &story.engine.erasures;
    erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    assert_eq!(count(&story, "left_out").await, 0);
    assert_eq!(count(&story, "domain_question").await, 0);
}

#[tokio::test]
async fn learning_state_of_a_session_says_what_it_waits_for() {
    let (story, _) = story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    let learning = async || {
        let (alice, now) = (story.alice(), story.now());
        let session = story.engine.sessions.get(&alice, "c", now).await.unwrap();
        story.engine.learning.progress(&alice, &session, now).await.unwrap()
    };
    let turns = vec![user("I live in Lisbon.")];
    story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    let waiting = learning().await;
    assert_eq!(waiting.progress.state, LearningState::WaitingForPause);
    let pause = waiting.progress.starts_at.unwrap().duration_since(story.now());
    assert_eq!(pause.as_mins(), 30);
    story.engine.sessions.close(&story.request(), "c", None).await.unwrap();
    let queued = learning().await;
    assert_eq!(queued.progress.state, LearningState::Queued);
    assert_eq!(queued.progress.starts_at, Some(story.now()));
    work(&story).await;
    let learned = learning().await;
    assert_eq!(learned.progress.state, LearningState::Learned);
    let totals = learned.totals;
    assert_eq!((totals.learned, totals.proposed, totals.left_out), (1, 0, 0));
    assert_eq!(totals.learned_at.map(|at| at >= story.now()), Some(true));
}
