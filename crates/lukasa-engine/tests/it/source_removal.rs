//! Withdrawing, erasing and restoring sources, and what depends on them.

use std::time::Duration;

use lukasa_core::{
    Episode, Fate, JobKind, Keep, NewTurn, OperationId, State, StateHash, Status, Tier, Version,
};
use lukasa_engine::Error;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{ProposalDecision, Target};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::removal::FactSource;
use lukasa_engine::sessions::NewSession;
use serde_json::{Value, json};

use crate::learning::{chat_about, memories, story_where, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

/// A word that occurs only in the session under test.
const CANARY: &str = "xylophone";

fn plays() -> Value {
    json!({"op": "add", "content": "User plays the xylophone.", "kind": "habit", "importance": 8,
           "confidence": 0.9, "evidence": [{"turn": 1, "quote": "I play the xylophone"}]})
}

/// A story in which the xylophone is mentioned in this many sessions, and learned.
async fn story_with_sessions(chats: usize) -> Story {
    let (story, _) = story_where(vec![plays()]).await;
    for chat in 0..chats {
        let turns = vec![user("I play the xylophone."), user("What is the time?")];
        chat_about(&story, &format!("c{chat}"), turns).await;
        work(&story).await;
        story.pass(60);
    }
    story
}

async fn hash(story: &Story) -> StateHash {
    story.engine.insights.summary(&story.alice(), story.now()).await.unwrap().hash
}

/// The first turn of a session.
async fn opening(story: &Story, session: &str) -> FactSource {
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), session, 0, 1, story.now()).await.unwrap();
    FactSource::Turn(turns[0].id)
}

/// Whether an assistant can still find it: in the context, by search, or in episodes.
async fn is_visible(story: &Story) -> bool {
    let mut ask = ContextRequest::about("Which xylophone do I play when I make music at home?");
    ask.session = Some("listening".into());
    ask.within = Duration::from_secs(60);
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    let mut recall = RecallQuery::about(CANARY);
    (recall.memories, recall.turns) = (10, 10);
    let found = story.engine.recall.search(&story.alice(), &recall, story.now()).await.unwrap();
    let episodes = story
        .engine
        .learning
        .episodes(&story.alice(), None, None, 50, story.now())
        .await
        .unwrap()
        .0;
    let found = found.memories.iter().map(|found| &found.memory.version.claim.content);
    context.baseline.content.contains(CANARY)
        || context.dynamic.content.contains(CANARY)
        || found.into_iter().any(|content| content.contains(CANARY))
        || episodes.iter().any(|episode| episode.summary.contains(CANARY))
}

#[tokio::test]
async fn fact_is_withdrawn_and_restored_with_its_only_turn() {
    let story = story_with_sessions(1).await;
    assert!(is_visible(&story).await);
    let before = hash(&story).await;
    let shown = story
        .engine
        .removals
        .dependents(&story.alice(), &opening(&story, "c0").await, story.now())
        .await
        .unwrap();
    assert_eq!((shown.reached.withdrawn, shown.reached.turns, shown.reached.episodes), (1, 1, 1));
    assert_eq!(hash(&story).await, before, "a preview changes nothing");

    let gone = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    assert_eq!(gone.reached.as_ref(), Some(&shown.reached));
    assert!(!is_visible(&story).await);
    assert!(memories(&story, Status::Active).await.is_empty());
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "c0", 0, 10, story.now()).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [2]);

    let back = story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
    assert!(is_visible(&story).await);
    story.engine.undo.undo(&story.request(), back.operation.unwrap()).await.unwrap();
    assert!(!is_visible(&story).await, "undoing the undo withdraws it again");
    story.engine.undo.undo_last(&story.request()).await.unwrap();
    assert_eq!(hash(&story).await, before);
}

#[tokio::test]
async fn fact_with_other_sources_survives_source_deletion() {
    let story = story_with_sessions(2).await;
    let [both] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((both.turns.len(), both.claim.evidence.len()), (2, 2));
    let before = hash(&story).await;
    let gone = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    let reached = gone.reached.unwrap();
    assert_eq!((reached.withdrawn, reached.weakened), (0, 1));
    let [one] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((one.turns.len(), one.claim.evidence.len()), (1, 1));
    assert_eq!(one.session.as_deref(), Some("c1"));
    story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
}

#[tokio::test]
async fn strong_fact_weakens_below_five_sessions() {
    let story = story_with_sessions(5).await;
    story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert_eq!(memories(&story, Status::Active).await[0].tier, Tier::Strong);
    story.engine.removals.withdraw(&story.request(), &opening(&story, "c3").await).await.unwrap();
    let [weaker] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((weaker.tier, weaker.turns.len()), (Tier::Tentative, 4));
}

#[tokio::test]
async fn consented_fact_survives_source_deletion() {
    let story = story_with_sessions(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let yes = ProposalDecision::Yes { digest: None, edit: Box::default() };
    story.engine.facts.confirm(&story.request(), &Target::Id(fact), yes).await.unwrap();
    let gone = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    assert_eq!(gone.reached.unwrap().kept, 1);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
}

/// The rows of any table that contain the word.
async fn quoting(story: &Story) -> Vec<String> {
    let dump = story.database.dump().await;
    dump.lines().filter(|line| line.contains(CANARY)).map(str::to_owned).collect()
}

#[tokio::test]
async fn erased_turn_is_quoted_nowhere() {
    let story = story_with_sessions(2).await;
    assert!(is_visible(&story).await, "prompts and caches quote it");
    let tables = ["turn", "fact_version", "retrieval", "baseline"];
    // A retrieval is recorded after the response.
    for table in tables {
        while !quoting(&story).await.iter().any(|row| row.starts_with(table)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let first = story
        .engine
        .removals
        .erase_source(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    assert_eq!(first.reached.unwrap().weakened, 1);
    let refused = story.engine.undo.undo(&story.request(), first.operation.unwrap()).await;
    assert!(matches!(refused, Err(Error::NotUndoable)));
    let second = story
        .engine
        .removals
        .erase_source(&story.request(), &opening(&story, "c1").await)
        .await
        .unwrap();
    assert_eq!(second.receipts.len(), 1);
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    let dump = story.database.dump().await;
    let passages = dump.lines().filter(|line| line.starts_with("passage ")).count();
    assert_eq!(passages, 2, "recall keeps the two turns that ask for the time");
    assert!(!is_visible(&story).await);
}

#[tokio::test]
async fn erasing_a_turn_removes_baselines_that_quote_earlier_versions() {
    let story = story_with_sessions(2).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let mut ask = ContextRequest::about("Which instrument do I play?");
    ask.session = Some("listening".into());
    ask.within = Duration::from_secs(60);
    let given = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(given.baseline.content.contains(CANARY));
    // From here on the memory is stated by the user, and withdrawing a turn does not affect it.
    story.change(fact, "User plays the drum.").await;
    let again = story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(again.baseline.content.contains(CANARY), "the baseline is frozen for this session");

    for chat in ["c0", "c1"] {
        story
            .engine
            .removals
            .erase_source(&story.request(), &opening(&story, chat).await)
            .await
            .unwrap();
    }
    assert_eq!(story.active().await, ["User plays the drum."]);
    assert_eq!(quoting(&story).await, Vec::<String>::new());
}

#[tokio::test]
async fn erased_session_removes_only_facts_learned_from_it() {
    let story = story_with_sessions(1).await;
    story.save("Lives in Lisbon").await;
    let kept = story.active().await;
    story
        .engine
        .removals
        .erase_source(&story.request(), &FactSource::Session("c0".into()))
        .await
        .unwrap();
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    assert_eq!(story.active().await, ["Lives in Lisbon"]);
    assert_eq!(kept.len(), 2);
}

#[tokio::test]
async fn trashed_session_withdraws_facts_and_restore_returns_them() {
    let story = story_with_sessions(1).await;
    let before = hash(&story).await;
    story.engine.sessions.trash(&story.request(), "c0").await.unwrap();
    assert!(!is_visible(&story).await);
    assert!(memories(&story, Status::Active).await.is_empty());
    story.engine.undo.restore_session(&story.request(), "c0").await.unwrap();
    assert_eq!(hash(&story).await, before);
    assert!(is_visible(&story).await);
}

#[tokio::test]
async fn session_is_restored_alone_if_its_facts_changed() {
    let story = story_with_sessions(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    story.engine.sessions.trash(&story.request(), "c0").await.unwrap();
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    let session = story.engine.undo.restore_session(&story.request(), "c0").await.unwrap();
    assert_eq!(session.trashed_at, None);
    assert!(memories(&story, Status::Active).await.is_empty());
}

#[tokio::test]
async fn episode_is_summarised_again_without_withdrawn_turn() {
    let story = story_with_sessions(1).await;
    let summaries = async || {
        let all = story
            .engine
            .learning
            .episodes(&story.alice(), None, None, 9, story.now())
            .await
            .unwrap()
            .0;
        all.into_iter().map(|episode| episode.summary).collect::<Vec<_>>()
    };
    assert_eq!(summaries().await, ["They talked."]);
    let gone = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    assert_eq!(summaries().await, Vec::<String>::new());
    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Retell)));
    assert_eq!(summaries().await, ["The user talked for a long time."]);
    story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(summaries().await, ["They talked."]);
}

#[tokio::test]
async fn deleted_episode_is_summarised_again_and_keeps_its_facts() {
    let story = story_with_sessions(1).await;
    let before = hash(&story).await;
    let listed = async || {
        let (all, _) = story
            .engine
            .learning
            .episodes(&story.alice(), None, None, 9, story.now())
            .await
            .unwrap();
        all
    };
    let old = listed().await.remove(0);
    let source = FactSource::Episode(old.id);
    let shown =
        story.engine.removals.dependents(&story.alice(), &source, story.now()).await.unwrap();
    assert_eq!(shown.memories.iter().map(|(_, fate)| *fate).collect::<Vec<_>>(), [Fate::Kept]);
    let gone = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    let reached = gone.reached.unwrap();
    assert_eq!((reached.withdrawn, reached.kept, reached.episodes, reached.turns), (0, 1, 1, 0));
    assert_eq!(reached, shown.reached);
    let session = story.engine.sessions.get(&story.alice(), "c0", story.now()).await.unwrap();
    assert_eq!(session.summary, None, "nothing repeats the deleted words");
    assert!(listed().await.is_empty());
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "c0", 0, 10, story.now()).await.unwrap();
    assert_eq!(turns.len(), 2);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
    let twice = story.engine.removals.withdraw(&story.request(), &source).await;
    assert!(matches!(twice, Err(Error::EpisodeNotFound)));

    assert!(work(&story).await.contains(&WorkOutcome::Done(JobKind::Retell)));
    let new = listed().await.remove(0);
    assert_eq!(new.summary, "The user talked for a long time.");
    assert_eq!((new.first_turn, new.last_turn), (old.first_turn, old.last_turn));
    story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(listed().await, [old]);
    assert_eq!(hash(&story).await, before);
    assert!(work(&story).await.is_empty());
    // The session is the source that its memories depend on.
    story.engine.sessions.trash(&story.request(), "c0").await.unwrap();
    assert!(memories(&story, Status::Active).await.is_empty());
}

#[tokio::test]
async fn withdrawn_sources_are_purged_after_thirty_days() {
    let story = story_with_sessions(2).await;
    let gone = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    story.engine.sessions.trash(&story.request(), "c1").await.unwrap();
    assert!(!quoting(&story).await.is_empty());
    story.pass(31 * DAY);
    work(&story).await;
    story.pass(100 * DAY);
    work(&story).await;
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    let late = story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await;
    assert!(matches!(late, Err(Error::NotUndoable)));
}

#[tokio::test]
async fn withdrawn_turn_is_not_learned_from() {
    let (story, chat) = story_where(vec![plays()]).await;
    let turns: Vec<NewTurn> = vec![user("I play the xylophone."), user("I like rain.")];
    story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    story.engine.removals.withdraw(&story.request(), &opening(&story, "c").await).await.unwrap();
    story.engine.sessions.close(&story.request(), "c", None).await.unwrap();
    work(&story).await;
    assert_eq!(chat.asked(), 1, "the remaining turn is still learned from");
    assert!(memories(&story, Status::Active).await.is_empty());
    let session = story.engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 2);
}

#[tokio::test]
async fn deleted_memory_is_not_learned_again_from_the_same_evidence() {
    let story = story_with_sessions(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    story.engine.removals.delete(&story.request(), &Target::Id(fact)).await.unwrap();
    let turns = vec![user("And what about lunch?")];
    chat_about(&story, "c0", turns).await;
    work(&story).await;
    let states: Vec<State> =
        memories(&story, Status::Active).await.iter().map(|v: &Version| v.state).collect();
    assert_eq!(states, []);
}

#[tokio::test]
async fn undo_is_blocked_if_the_source_was_withdrawn_since() {
    let story = story_with_sessions(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let first = story.engine.removals.delete(&story.request(), &Target::Id(fact)).await.unwrap();
    let second = story
        .engine
        .removals
        .withdraw(&story.request(), &opening(&story, "c0").await)
        .await
        .unwrap();
    let blocked = story.engine.undo.undo(&story.request(), first.operation.unwrap()).await;
    let by = second.operation.unwrap();
    assert!(matches!(blocked, Err(Error::UndoBlocked(other)) if other == by));
    story.engine.undo.undo(&story.request(), by).await.unwrap();
    story.engine.undo.undo(&story.request(), first.operation.unwrap()).await.unwrap();
    assert!(is_visible(&story).await);
}

#[tokio::test]
async fn undo_of_turn_is_blocked_if_its_session_was_withdrawn_since() {
    let story = story_with_sessions(1).await;
    let turn = opening(&story, "c0").await;
    let first =
        story.engine.removals.withdraw(&story.request(), &turn).await.unwrap().operation.unwrap();
    let chat = FactSource::Session("c0".into());
    let second = story.engine.removals.withdraw(&story.request(), &chat).await.unwrap();
    let by = second.operation.unwrap();
    let blocked = story.engine.undo.undo(&story.request(), first).await;
    assert!(matches!(blocked, Err(Error::UndoBlocked(other)) if other == by));
    assert!(memories(&story, Status::Active).await.is_empty());
    story.engine.undo.undo(&story.request(), by).await.unwrap();
    story.engine.undo.undo(&story.request(), first).await.unwrap();
    assert!(is_visible(&story).await);
}

async fn listed_episodes(story: &Story) -> Vec<Episode> {
    let alice = story.alice();
    let page = story.engine.learning.episodes(&alice, None, None, 9, story.now());
    page.await.unwrap().0
}

async fn delete_episode(story: &Story, episode: &Episode) -> OperationId {
    let source = FactSource::Episode(episode.id);
    let gone = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    story.pass(1);
    gone.operation.unwrap()
}

async fn undo(story: &Story, operation: OperationId) -> OperationId {
    let undone = story.engine.undo.undo(&story.request(), operation).await.unwrap();
    story.pass(1);
    undone.operation.unwrap()
}

#[tokio::test]
async fn undo_and_redo_of_episode_deletions_leave_one_episode_for_a_range() {
    let story = story_with_sessions(1).await;
    let first = listed_episodes(&story).await.remove(0);
    let a = delete_episode(&story, &first).await;
    work(&story).await;
    let second = listed_episodes(&story).await.remove(0);
    let b = delete_episode(&story, &second).await;
    for _ in 0..2 {
        let blocked = story.engine.undo.undo(&story.request(), a).await;
        assert!(matches!(blocked, Err(Error::UndoBlocked(by)) if by == b), "{blocked:?}");
        work(&story).await;
    }
    assert_eq!(listed_episodes(&story).await.len(), 1);
    undo(&story, b).await;
    assert_eq!(listed_episodes(&story).await, std::slice::from_ref(&second));
    let undone = undo(&story, a).await;
    assert_eq!(listed_episodes(&story).await, std::slice::from_ref(&first));
    let redone = undo(&story, undone).await;
    assert_eq!(listed_episodes(&story).await, [second], "what the undo withdrew");
    undo(&story, redone).await;
    work(&story).await;
    assert_eq!(listed_episodes(&story).await, [first]);
}

#[tokio::test]
async fn deleted_episode_of_a_session_with_new_turns_has_it_learned_from() {
    let story = story_with_sessions(1).await;
    chat_about(&story, "c0", vec![user("And what about lunch?")]).await;
    let waiting = async || {
        let jobs = story.engine.queue.list(&story.alice(), story.now()).await.unwrap();
        jobs.iter().any(|job| job.kind == JobKind::Extract)
    };
    // The job may be running, and loses its stored answer with the episode.
    story.database.admin().await.batch_execute("delete from job").await.unwrap();
    assert!(!waiting().await);
    delete_episode(&story, &listed_episodes(&story).await.remove(0)).await;
    assert!(waiting().await);
}

#[tokio::test]
async fn redo_of_an_episode_deletion_has_it_summarised_again() {
    let story = story_with_sessions(1).await;
    let first = listed_episodes(&story).await.remove(0);
    let deleted = delete_episode(&story, &first).await;
    let undone = undo(&story, deleted).await;
    work(&story).await;
    assert_eq!(listed_episodes(&story).await, std::slice::from_ref(&first));
    undo(&story, undone).await;
    assert!(listed_episodes(&story).await.is_empty());
    work(&story).await;
    let [new] = &listed_episodes(&story).await[..] else { panic!("one episode") };
    assert_ne!(new.id, first.id);
    undo(&story, deleted).await;
    assert_eq!(listed_episodes(&story).await, [first]);
}

#[tokio::test]
async fn summary_of_a_session_has_every_episode_after_a_deletion_and_its_undo() {
    let story = story_with_sessions(1).await;
    chat_about(&story, "c0", vec![user("And what about lunch?")]).await;
    work(&story).await;
    let summary = async || {
        let session = story.engine.sessions.get(&story.alice(), "c0", story.now()).await.unwrap();
        session.summary.unwrap_or_default()
    };
    assert_eq!(summary().await, "They talked. They talked.");
    let episodes = listed_episodes(&story).await;
    let first = episodes.iter().min_by_key(|episode| episode.first_turn).unwrap();
    let deleted = delete_episode(&story, first).await;
    assert_eq!(summary().await, "They talked.");
    work(&story).await;
    assert_eq!(summary().await, "The user talked for a long time. They talked.");
    let undone = undo(&story, deleted).await;
    assert_eq!(summary().await, "They talked. They talked.");
    undo(&story, undone).await;
    assert_eq!(summary().await, "The user talked for a long time. They talked.");
}

#[tokio::test]
async fn deleted_episode_without_stored_turns_is_not_announced_to_be_summarised_again() {
    let (story, _) = story_where(vec![plays()]).await;
    for (id, keep) in [("kept", Keep::Full), ("brief", Keep::Nothing)] {
        let new = NewSession { id: Some(id.into()), keep: Some(keep), ..NewSession::default() };
        story.engine.sessions.open(&story.request(), new).await.unwrap();
        chat_about(&story, id, vec![user("I play the xylophone.")]).await;
        work(&story).await;
        let episodes = listed_episodes(&story).await;
        let episode = episodes.iter().find(|episode| episode.session == id).unwrap();
        let source = FactSource::Episode(episode.id);
        let gone = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
        assert_eq!(gone.message.contains("summarised again"), id == "kept", "{}", gone.message);
    }
}
