//! Learning from sessions, with a scripted model and a real PostgreSQL.

use std::sync::Arc;

use lukasa_core::job::LEASE;
use lukasa_core::model::{Chat, ChatRequest, Embedder};
use lukasa_core::policy::{Admission, Patch, Trigger};
use lukasa_core::{
    JobKind, Mark, NewTurn, Origin, Role, SessionState, Span, State, Status, Version,
};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{ListFilter, Listing, ProposalDecision, Target};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::review::ContradictionChoice;
use lukasa_engine::sessions::{NewSession, WindowRequest};
use lukasa_engine::{Error, Point};
pub(crate) use lukasa_models::scripted::extraction::{answer, proposed_memory as memory};
use lukasa_models::scripted::{ScriptedChat, ScriptedModel, TestModels};
use serde_json::{Value, json};

use crate::story::Story;

/// Chat models in order of preference, and an embedder.
pub(crate) fn chain(chats: Vec<Arc<ScriptedChat>>) -> Arc<TestModels> {
    let chats = chats.into_iter().map(|chat| chat as Arc<dyn Chat>).collect();
    let embedders: Vec<Arc<dyn Embedder>> = vec![Arc::new(ScriptedModel::local(32))];
    Arc::new(TestModels { embedders, chats, ..TestModels::default() })
}

/// A story whose model always answers extraction requests with these memories.
pub(crate) async fn story_where(memories: Vec<Value>) -> (Story, Arc<ScriptedChat>) {
    story_saying(move |_| answer(&memories)).await
}

pub(crate) async fn story_saying(
    words: impl Fn(&ChatRequest) -> String + Send + Sync + 'static,
) -> (Story, Arc<ScriptedChat>) {
    let chat =
        Arc::new(ScriptedChat::saying(move |ask| match ask.schema.as_ref().map(|s| s.name) {
            Some("memories") => words(ask),
            Some("title") => r#"{"title":"Moving to Lisbon"}"#.into(),
            _ => r#"{"summary":"The user talked for a long time."}"#.into(),
        }));
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![chat.clone()]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    (story, chat)
}

pub(crate) fn user(content: &str) -> NewTurn {
    NewTurn::saying(Role::User, content)
}

pub(crate) async fn chat_about(story: &Story, session: &str, turns: Vec<NewTurn>) {
    story.engine.sessions.append_turns(&story.request(), session, turns).await.unwrap();
    let ending = story.engine.sessions.close(&story.request(), session, None).await.unwrap();
    assert!(ending.learning);
}

/// Runs all due jobs, and returns their results.
pub(crate) async fn work(story: &Story) -> Vec<WorkOutcome> {
    let mut done = Vec::new();
    loop {
        match story.engine.jobs.work("w", story.moment()).await.unwrap() {
            WorkOutcome::Nothing => return done,
            worked => done.push(worked),
        }
    }
}

pub(crate) async fn memories(story: &Story, status: Status) -> Vec<Version> {
    let listing = Listing {
        filter: ListFilter { status: Some(status), ..ListFilter::default() },
        point: Point::default(),
        after: None,
        limit: 100,
    };
    let page = story.engine.facts.list(&story.alice(), &listing, story.now()).await.unwrap();
    page.memories.into_iter().map(|memory| memory.version).collect()
}

#[tokio::test]
async fn closed_session_yields_memory_with_evidence() {
    let (story, chat) =
        story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    chat_about(&story, "c", vec![user("Hi, I live in Lisbon.")]).await;
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Extract)]);
    let [learned] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!(learned.claim.content, "User lives in Lisbon.");
    assert!(learned.extracted);
    assert_eq!(learned.origin, Origin::UserTurn);
    assert_eq!(learned.session.as_deref(), Some("c"));
    assert_eq!(learned.claim.evidence[0].description, "I live in Lisbon");
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "c", 0, 10, story.now()).await.unwrap();
    assert_eq!(learned.turns, [turns[0].id.to_string()]);
    let session = story.engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!((session.state, session.extracted_through), (SessionState::Idle, 1));
    assert_eq!(session.summary.as_deref(), Some("They talked."));
    let (episodes, _) = story
        .engine
        .learning
        .episodes(&story.alice(), Some("c"), None, 10, story.now())
        .await
        .unwrap();
    assert_eq!((episodes.len(), episodes[0].first_turn, episodes[0].last_turn), (1, 1, 1));
    let passes = story.engine.learning.passes(&story.alice(), None, 10, story.now()).await.unwrap();
    assert_eq!((passes[0].prompt.as_str(), &passes[0].answer), ("extract/4", &None));
    assert_eq!(chat.asked(), 1);
    let ask = ContextRequest::about("hello there");
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(context.baseline.content.contains("User lives in Lisbon."));
    let (calls, _) = story.engine.chat.model_calls(&story.alice(), 10, story.now()).await.unwrap();
    assert_eq!(calls.len(), 1);
    story.engine.undo.undo(&story.request(), passes[0].operation.unwrap()).await.unwrap();
    assert!(memories(&story, Status::Active).await.is_empty(), "undone as a whole");
}

#[tokio::test]
async fn session_turns_are_learned_from_once() {
    let (story, chat) =
        story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    work(&story).await;
    let again = story.engine.sessions.close(&story.request(), "c", None).await.unwrap();
    assert!(!again.learning, "closing twice has no effect");
    story
        .engine
        .sessions
        .append_turns(&story.request(), "c", vec![user("What about rain?")])
        .await
        .unwrap();
    let session = story.engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.state, SessionState::Active, "a new turn makes it active again");
    let clean = story.engine.sessions.close(&story.request(), "c", Some(false)).await.unwrap();
    assert!(!clean.learning, "the client reports that nothing is new");
    story
        .engine
        .sessions
        .append_turns(&story.request(), "c", vec![user("And snow?")])
        .await
        .unwrap();
    story.engine.sessions.close(&story.request(), "c", Some(true)).await.unwrap();
    work(&story).await;
    assert_eq!(chat.asked(), 2);
    let second = &chat.asks()[1].messages[1].content;
    let new = second.split("New turns").nth(1).unwrap();
    assert!(!new.contains("I live in Lisbon") && new.contains("rain"), "{second}");
    let summary = second.split("The conversation so far, in short:").nth(1).unwrap();
    assert!(summary.trim_start().starts_with("They talked."), "the stored summary: {second}");
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn abandoned_session_is_closed_and_learned_from() {
    let (story, chat) =
        story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    story
        .engine
        .sessions
        .append_turns(&story.request(), "c", vec![user("I live in Lisbon.")])
        .await
        .unwrap();
    assert!(work(&story).await.is_empty(), "not yet");
    story.pass(20 * 60);
    story
        .engine
        .sessions
        .append_turns(&story.request(), "c", vec![user("Still here.")])
        .await
        .unwrap();
    story.pass(20 * 60);
    let checked = work(&story).await;
    assert_eq!(
        checked,
        [WorkOutcome::Done(JobKind::Close)],
        "postponed: a turn was added in between"
    );
    assert_eq!(chat.asked(), 0);
    story.pass(11 * 60);
    let done = work(&story).await;
    assert_eq!(done, [WorkOutcome::Done(JobKind::Close), WorkOutcome::Done(JobKind::Extract)]);
    assert_eq!(chat.asked(), 1);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn learning_reports_contradiction_instead_of_replacing_stated_fact() {
    let (story, _) = story_saying(|ask| {
        let handle = if ask.messages[1].content.contains("m1: Prefers tea") { "m1" } else { "m9" };
        let mut update = memory("User prefers coffee.", "I prefer coffee");
        update["op"] = json!("update");
        update["target"] = json!(handle);
        answer(&[update])
    })
    .await;
    let said = Story::fact(&story.save("Prefers tea").await);
    chat_about(&story, "c", vec![user("I prefer coffee with the cake.")]).await;
    work(&story).await;
    let active = memories(&story, Status::Active).await;
    assert_eq!((active.len(), active[0].claim.content.as_str()), (1, "Prefers tea"));
    let pairs = story.engine.review.contradictions(&story.alice(), story.now()).await.unwrap();
    let [pair] = &pairs[..] else { panic!("one contradiction") };
    assert_eq!(pair.standing.version.fact, said);
    assert_eq!(pair.against.version.state, State::Candidate);
    let against = pair.against.version.clone();
    let digest = against.claim.consent_digest();
    let key = story.by(story.assistant());
    let refused = story
        .engine
        .review
        .resolve(&key, against.fact, ContradictionChoice::Against, &digest)
        .await;
    assert!(matches!(refused, Err(Error::Refused(lukasa_core::Refusal::NeedsHuman))));
    let settled = story
        .engine
        .review
        .resolve(&story.request(), against.fact, ContradictionChoice::Against, &digest)
        .await
        .unwrap();
    let active = memories(&story, Status::Active).await;
    assert_eq!((active.len(), active[0].claim.content.as_str()), (1, "User prefers coffee."));
    assert!(
        story.engine.review.contradictions(&story.alice(), story.now()).await.unwrap().is_empty()
    );
    story.engine.undo.undo(&story.request(), settled.operation.unwrap()).await.unwrap();
    assert_eq!(memories(&story, Status::Active).await[0].claim.content, "Prefers tea");
    assert_eq!(
        story.engine.review.contradictions(&story.alice(), story.now()).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn proposal_from_session_waits_for_user_consent() {
    let (story, _) =
        story_where(vec![memory("User wants answers in German.", "I want answers in German")])
            .await;
    let patch = Patch { admission: Some(Admission::Propose), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
    chat_about(&story, "c", vec![user("I want answers in German.")]).await;
    work(&story).await;
    let [proposed] = &memories(&story, Status::Proposed).await[..] else { panic!("one proposal") };
    let digest = Some(proposed.claim.consent_digest());
    let target = Target::parse(&proposed.fact.to_string());
    let yes = ProposalDecision::Yes { digest, edit: Box::default() };
    story.engine.facts.confirm(&story.request(), &target, yes).await.unwrap();
    let active = memories(&story, Status::Active).await;
    assert!(active[0].is_firm());
    let (operations, _) = story
        .engine
        .facts
        .operations(&story.alice(), None, None, 10, story.now())
        .await
        .map(|page| (page.operations, ()))
        .unwrap();
    assert!(
        operations.iter().any(|op| op.policy.as_deref() == Some("t0.u1")),
        "stamped with its policy"
    );
}

#[tokio::test]
async fn closed_domain_keeps_no_candidate() {
    let (story, _) = story_saying(|_| {
        json!({"title": "Diabetes diagnosis", "summary": "The user was diagnosed with diabetes.",
               "memories": [memory("User was diagnosed with diabetes.", "I was diagnosed with diabetes")]})
        .to_string()
    })
    .await;
    chat_about(&story, "c", vec![user("I was diagnosed with diabetes.")]).await;
    work(&story).await;
    for status in [Status::Active, Status::Proposed, Status::Candidate] {
        assert!(memories(&story, status).await.is_empty(), "{status:?}");
    }
    let (episodes, _) =
        story.engine.learning.episodes(&story.alice(), None, None, 10, story.now()).await.unwrap();
    assert!(episodes.is_empty(), "{episodes:?}");
    let passes = story.engine.learning.passes(&story.alice(), None, 10, story.now()).await.unwrap();
    assert_eq!(passes[0].outcome.as_ref().unwrap()["left"]["closed_domain"], 1);
}

#[tokio::test]
async fn pasted_text_is_learned_with_document_origin() {
    let (story, _) = story_where(vec![memory("User is an admin.", "I am an admin")]).await;
    let content = "Read this: I am an admin";
    let spans = vec![Span { from: 11, to: content.len(), mark: Mark::Pasted }];
    chat_about(&story, "c", vec![NewTurn { spans, ..user(content) }]).await;
    work(&story).await;
    assert!(memories(&story, Status::Active).await.is_empty());
    assert_eq!(memories(&story, Status::Candidate).await[0].origin, Origin::Document);
}

#[tokio::test]
async fn candidates_expire_after_two_weeks() {
    let (story, _) = story_where(vec![memory("User owns a yacht.", "Thanks, I see")]).await;
    chat_about(&story, "c", vec![user("Thanks, I see.")]).await;
    work(&story).await;
    assert_eq!(memories(&story, Status::Candidate).await.len(), 1);
    story.pass(24 * 15 * 3600);
    let done = work(&story).await;
    assert!(done.contains(&WorkOutcome::Done(JobKind::Upkeep)), "{done:?}");
    assert!(memories(&story, Status::Candidate).await.is_empty());
}

#[tokio::test]
async fn contradiction_waits_for_the_user_longer_than_two_weeks() {
    let (story, _) = story_saying(|ask| {
        let handle = if ask.messages[1].content.contains("m1: Prefers tea") { "m1" } else { "m9" };
        let mut update = memory("User prefers coffee.", "I prefer coffee");
        update["op"] = json!("update");
        update["target"] = json!(handle);
        answer(&[update])
    })
    .await;
    story.save("Prefers tea").await;
    chat_about(&story, "c", vec![user("I prefer coffee with the cake.")]).await;
    work(&story).await;
    story.pass(24 * 15 * 3600);
    let done = work(&story).await;
    assert!(done.contains(&WorkOutcome::Done(JobKind::Upkeep)), "{done:?}");
    assert_eq!(memories(&story, Status::Candidate).await.len(), 1);
    let pairs = story.engine.review.contradictions(&story.alice(), story.now()).await.unwrap();
    let [pair] = &pairs[..] else { panic!("one contradiction") };
    let kept = story
        .engine
        .review
        .resolve(&story.request(), pair.against.version.fact, ContradictionChoice::Standing, "")
        .await;
    kept.unwrap();
    assert!(memories(&story, Status::Candidate).await.is_empty());
}

#[tokio::test]
async fn learning_waits_for_unavailable_model_and_tries_the_next() {
    let away = Arc::new(ScriptedChat::failing());
    let fine = Arc::new(ScriptedChat::saying(|_| {
        answer(&[memory("User lives in Lisbon.", "I live in Lisbon")])
    }));
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(chain(vec![away.clone()]));
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    let done = work(&story).await;
    assert!(matches!(done[..], [WorkOutcome::PutOff(JobKind::Extract, _)]), "{done:?}");
    assert!(work(&story).await.is_empty(), "not retried at once");
    story.engine = story.engine.clone().with_models(chain(vec![away.clone(), fine]));
    story.pass(10);
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Extract)]);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
    let (calls, sums) =
        story.engine.chat.model_calls(&story.alice(), 10, story.now()).await.unwrap();
    assert_eq!(calls.len(), 3, "failed ones are in the ledger too");
    assert_eq!(sums.iter().map(|sum| sum.failed).sum::<i64>(), 2);
}

#[tokio::test]
async fn failing_job_is_given_up_listed_and_retried() {
    let (story, chat) = story_saying(|_| "not what was asked for".into()).await;
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    for _ in 0..5 {
        work(&story).await;
        story.pass(16 * 60);
    }
    assert_eq!(chat.asked(), 5);
    let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
    assert_eq!(
        (jobs[0].state.as_str(), jobs[0].kind, jobs[0].attempts),
        ("dead", JobKind::Extract, 5)
    );
    assert!(jobs[0].last_error.as_deref().unwrap().contains("JSON"));
    story.engine.queue.retry(&story.request(), jobs[0].id).await.unwrap();
    work(&story).await;
    assert_eq!(chat.asked(), 6);
    let refused = story.engine.queue.retry(&story.request(), jobs[0].id).await;
    assert!(matches!(refused, Err(Error::JobNotFound)), "it is waiting, not given up");
}

#[tokio::test]
async fn job_that_never_finishes_is_given_up() {
    let (story, chat) = story_where(Vec::new()).await;
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    let admin = story.database.admin().await;
    let begun = "update job set attempts = 100 where kind = 'extract'";
    admin.batch_execute(begun).await.unwrap();
    let done = work(&story).await;
    assert!(matches!(&done[..], [WorkOutcome::GivenUp(JobKind::Extract, _)]), "{done:?}");
    let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
    story.engine.queue.retry(&story.request(), jobs[0].id).await.unwrap();
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Extract)]);
    assert_eq!(chat.asked(), 1);
}

#[tokio::test]
async fn late_worker_has_lost_its_lease() {
    let (story, _) = story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    chat_about(&story, "c", vec![user("I live in Lisbon.")]).await;
    let store = story.database.store();
    let lost = store.claim_job("lost", story.now()).await.unwrap().unwrap();
    assert!(store.claim_job("other", story.now()).await.unwrap().is_none(), "one at a time");
    story.pass(LEASE.as_secs() + 1);
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Extract)]);
    let scope = store.write(lost.tenant, lost.user).await.unwrap();
    assert!(!lukasa_store::job::is_held(&scope, &lost).await.unwrap());
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn daily_token_limit_of_tenant_is_not_exceeded() {
    let (story, chat) = story_where(Vec::new()).await;
    let patch = Patch { daily_tokens: Some(3_000), titles: Some(false), ..Patch::default() };
    let tenant = story.alice().tenant;
    story.engine.policies.set_for_tenant(tenant, patch, story.moment()).await.unwrap();
    for n in 0..20 {
        chat_about(&story, &format!("c{n}"), vec![user("I live in Lisbon.")]).await;
    }
    let done = work(&story).await;
    let refused = |w: &WorkOutcome| matches!(w, WorkOutcome::PutOff(_, why) if why.contains("daily token limit"));
    assert!(done.iter().any(refused), "{done:?}");
    let asked = chat.asked();
    assert!((1..20).contains(&asked), "{asked}");
    let admin = story.database.admin().await;
    let spent: i64 =
        admin.query_one("select sum(tokens)::bigint from model_spend", &[]).await.unwrap().get(0);
    assert!(spent <= 3_000, "{spent}");
    story.pass(25 * 3600);
    work(&story).await;
    assert!(chat.asked() > asked, "the limit is reset the next day");
}

#[tokio::test]
async fn session_title_is_generated_unless_given() {
    let (story, _) = story_where(Vec::new()).await;
    let turns = || vec![user("I am moving."), NewTurn::saying(Role::Assistant, "Where to?")];
    story.engine.sessions.append_turns(&story.request(), "a", turns()).await.unwrap();
    let named =
        NewSession { id: Some("b".into()), title: Some("Mine".into()), ..NewSession::default() };
    story.engine.sessions.open(&story.request(), named).await.unwrap();
    story.engine.sessions.append_turns(&story.request(), "b", turns()).await.unwrap();
    work(&story).await;
    let title = async |id: &str| {
        story.engine.sessions.get(&story.alice(), id, story.now()).await.unwrap().title
    };
    assert_eq!(title("a").await.as_deref(), Some("Moving to Lisbon"));
    assert_eq!(title("b").await.as_deref(), Some("Mine"));
}

#[tokio::test]
async fn long_session_is_summarised_for_the_window_and_kept_whole() {
    let (story, _) = story_where(Vec::new()).await;
    let long = "We talked about the garden and the many plants in it. ".repeat(20);
    for _ in 0..3 {
        let turns = (0..10).map(|_| user(&long)).collect();
        story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    }
    let usual = WindowRequest::default();
    assert_eq!((usual.budget, usual.threshold), (32_000, 0.8));
    let ask = WindowRequest { budget: 4_000, threshold: 0.8 };
    let first =
        story.engine.sessions.window(&story.alice(), "c", ask, story.moment()).await.unwrap();
    assert!(first.summary.is_none() && first.left_out > 0 && first.tokens <= 3_200);
    assert!(first.banner.unwrap().contains("None of them is deleted"));
    work(&story).await;
    let then =
        story.engine.sessions.window(&story.alice(), "c", ask, story.moment()).await.unwrap();
    assert_eq!(then.summary.as_deref(), Some("The user talked for a long time."));
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "c", 0, 100, story.now()).await.unwrap();
    assert_eq!(turns.len(), 30);
    let wide = story
        .engine
        .sessions
        .window(&story.alice(), "c", WindowRequest::default(), story.moment())
        .await
        .unwrap();
    assert_eq!((wide.turns.len(), wide.banner), (30, None));
}

#[tokio::test]
async fn extract_trigger_follows_the_policy() {
    let (story, chat) =
        story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    let set = async |extract| {
        let patch = Patch { extract: Some(extract), titles: Some(false), ..Patch::default() };
        story.engine.policies.set(&story.request(), patch).await.unwrap();
    };
    set(Trigger::Turn).await;
    story
        .engine
        .sessions
        .append_turns(&story.request(), "t", vec![user("I live in Lisbon.")])
        .await
        .unwrap();
    work(&story).await;
    assert_eq!((chat.asked(), memories(&story, Status::Active).await.len()), (1, 1));
    set(Trigger::Manual).await;
    story
        .engine
        .sessions
        .append_turns(&story.request(), "m", vec![user("I live in Lisbon.")])
        .await
        .unwrap();
    assert!(!story.engine.sessions.close(&story.request(), "m", None).await.unwrap().learning);
    work(&story).await;
    assert_eq!(chat.asked(), 1);
    assert!(story.engine.sessions.learn_now(&story.request(), "m").await.unwrap().learning);
    work(&story).await;
    assert_eq!(chat.asked(), 2);
}

#[tokio::test]
async fn why_lists_memories_behind_a_turn() {
    let (story, _) = story_where(Vec::new()).await;
    let tea = Story::fact(&story.save("Likes tea").await);
    let cats = Story::fact(&story.save("Has two cats").await);
    story.pass(1);
    // The first token count builds its tables, which may take long on a busy machine.
    let within = std::time::Duration::from_secs(60);
    let ask = ContextRequest {
        session: Some("c".into()),
        within,
        ..ContextRequest::about("what do I like to drink?")
    };
    let given = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    let said = NewTurn {
        used: vec![tea],
        retrieval: Some(given.id),
        ..NewTurn::saying(Role::Assistant, "You like tea.")
    };
    // A retrieval is recorded after the response.
    while story.engine.context.retrieval(&story.alice(), given.id, story.now()).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    story.engine.sessions.append_turns(&story.request(), "c", vec![said]).await.unwrap();
    let why = story.engine.context.why(&story.alice(), "c", 1, story.now()).await.unwrap();
    assert_eq!(why.grounds[0].memory.version.fact, tea);
    assert_eq!(why.grounds[0].usage.as_ref().unwrap().kind, "cited");
    let other = why.grounds.iter().find(|grounds| grounds.memory.version.fact == cats).unwrap();
    assert!(other.usage.is_none(), "in the context, but not used");
    assert_eq!(why.retrieval.unwrap().id, given.id);
    let foreign = NewTurn {
        used: vec![
            lukasa_core::FactId::from_uuid(tea.uuid()),
            lukasa_core::FactId::from_uuid(given.id.uuid()),
        ],
        ..user("x")
    };
    let refused = story.engine.sessions.append_turns(&story.request(), "c", vec![foreign]).await;
    assert!(matches!(refused, Err(Error::MemoryNotFound)));
}
