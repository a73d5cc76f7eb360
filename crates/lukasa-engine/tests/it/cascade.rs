//! What goes with what it was made from, and what comes back with it.

use std::time::Duration;

use lukasa_core::{JobKind, NewTurn, State, StateHash, Status, Tier, Version};
use lukasa_engine::Error;
use lukasa_engine::cascade::Source;
use lukasa_engine::context::Ask;
use lukasa_engine::facts::{Decision, Target};
use lukasa_engine::jobs::Worked;
use lukasa_engine::recall::Recall;
use serde_json::{Value, json};

use crate::learn::{chat_about, memories, story_where, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

/// A word that is nowhere but in what was said about it.
const CANARY: &str = "xylophone";

fn plays() -> Value {
    json!({"op": "add", "content": "User plays the xylophone.", "kind": "habit", "importance": 8,
           "confidence": 0.9, "evidence": [{"turn": 1, "quote": "I play the xylophone"}]})
}

/// The xylophone is talked about in so many chats, and learned of.
async fn told(chats: usize) -> Story {
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
    story.engine.whole(&story.alice(), story.now()).await.unwrap().hash
}

/// The first turn of a chat that is there.
async fn opening(story: &Story, session: &str) -> Source {
    let (turns, _) = story.engine.turns(&story.alice(), session, 0, 1, story.now()).await.unwrap();
    Source::Turn(turns[0].id)
}

/// Whether the assistant could still hear of it: by context, by search, in what happened.
async fn is_heard_of(story: &Story) -> bool {
    let mut ask = Ask::about("Which xylophone do I play when I make music at home?");
    ask.session = Some("listening".into());
    ask.within = Duration::from_secs(60);
    let context = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    let mut recall = Recall::about(CANARY);
    (recall.memories, recall.turns) = (10, 10);
    let found = story.engine.recall(&story.alice(), &recall, story.now()).await.unwrap();
    let told = story.engine.episodes(&story.alice(), None, None, 50, story.now()).await.unwrap().0;
    let found = found.memories.iter().map(|found| &found.memory.version.claim.content);
    context.baseline.content.contains(CANARY)
        || context.dynamic.content.contains(CANARY)
        || found.into_iter().any(|content| content.contains(CANARY))
        || told.iter().any(|episode| episode.summary.contains(CANARY))
}

#[tokio::test]
async fn what_only_a_turn_supported_goes_with_it_and_comes_back_with_it() {
    let story = told(1).await;
    assert!(is_heard_of(&story).await);
    let before = hash(&story).await;
    let shown = story
        .engine
        .dependents(&story.alice(), &opening(&story, "c0").await, story.now())
        .await
        .unwrap();
    assert_eq!((shown.reached.withdrawn, shown.reached.turns, shown.reached.episodes), (1, 1, 1));
    assert_eq!(hash(&story).await, before, "only looked");

    let gone = story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    assert_eq!(gone.reached.as_ref(), Some(&shown.reached));
    assert!(!is_heard_of(&story).await);
    assert!(memories(&story, Status::Active).await.is_empty());
    let (turns, _) = story.engine.turns(&story.alice(), "c0", 0, 10, story.now()).await.unwrap();
    assert_eq!(turns.iter().map(|turn| turn.number).collect::<Vec<_>>(), [2]);

    let back = story.engine.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
    assert!(is_heard_of(&story).await);
    story.engine.undo(&story.request(), back.operation.unwrap()).await.unwrap();
    assert!(!is_heard_of(&story).await, "undoing the undo takes it away again");
    story.engine.undo_last(&story.request()).await.unwrap();
    assert_eq!(hash(&story).await, before);
}

#[tokio::test]
async fn what_others_support_too_rests_on_them() {
    let story = told(2).await;
    let [both] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((both.turns.len(), both.claim.evidence.len()), (2, 2));
    let before = hash(&story).await;
    let gone = story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    let reached = gone.reached.unwrap();
    assert_eq!((reached.withdrawn, reached.weakened), (0, 1));
    let [one] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((one.turns.len(), one.claim.evidence.len()), (1, 1));
    assert_eq!(one.session.as_deref(), Some("c1"));
    story.engine.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
}

#[tokio::test]
async fn a_pattern_that_was_made_of_five_chats_needs_five() {
    let story = told(5).await;
    story.engine.consolidate(&story.request(), false).await.unwrap();
    assert_eq!(memories(&story, Status::Active).await[0].tier, Tier::Strong);
    story.engine.withdraw(&story.request(), &opening(&story, "c3").await).await.unwrap();
    let [weaker] = &memories(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((weaker.tier, weaker.turns.len()), (Tier::Tentative, 4));
}

#[tokio::test]
async fn what_its_person_said_yes_to_stays() {
    let story = told(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let yes = Decision::Yes { digest: None, edit: Box::default() };
    story.engine.confirm(&story.request(), &Target::Id(fact), yes).await.unwrap();
    let gone = story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    assert_eq!(gone.reached.unwrap().kept, 1);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
}

/// The rows of any table that quote it.
async fn quoting(story: &Story) -> Vec<String> {
    let dump = story.database.dump().await;
    dump.lines().filter(|line| line.contains(CANARY)).map(str::to_owned).collect()
}

#[tokio::test]
async fn an_erased_turn_is_quoted_nowhere() {
    let story = told(2).await;
    assert!(is_heard_of(&story).await, "so that prompts and caches quote it");
    let tables = ["turn", "fact_version", "retrieval", "baseline"];
    // A retrieval is noted after it was answered.
    for table in tables {
        while !quoting(&story).await.iter().any(|row| row.starts_with(table)) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let first =
        story.engine.erase_source(&story.request(), &opening(&story, "c0").await).await.unwrap();
    assert_eq!(first.reached.unwrap().weakened, 1);
    let refused = story.engine.undo(&story.request(), first.operation.unwrap()).await;
    assert!(matches!(refused, Err(Error::NotUndoable)));
    let second =
        story.engine.erase_source(&story.request(), &opening(&story, "c1").await).await.unwrap();
    assert_eq!(second.receipts.len(), 1);
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    let dump = story.database.dump().await;
    let passages = dump.lines().filter(|line| line.starts_with("passage ")).count();
    assert_eq!(passages, 2, "recall keeps the two turns that ask for the time");
    assert!(!is_heard_of(&story).await);
}

#[tokio::test]
async fn a_prompt_that_quoted_an_earlier_version_goes_with_what_it_rested_on() {
    let story = told(2).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let mut ask = Ask::about("Which instrument do I play?");
    ask.session = Some("listening".into());
    ask.within = Duration::from_secs(60);
    let given = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(given.baseline.content.contains(CANARY));
    // From here on the memory rests on its person's word, and no turn reaches it any more.
    story.change(fact, "User plays the drum.").await;
    let again = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(again.baseline.content.contains(CANARY), "it is frozen for this chat");

    for chat in ["c0", "c1"] {
        story.engine.erase_source(&story.request(), &opening(&story, chat).await).await.unwrap();
    }
    assert_eq!(story.active().await, ["User plays the drum."]);
    assert_eq!(quoting(&story).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_erased_chat_takes_what_was_learned_from_it_and_leaves_the_rest() {
    let story = told(1).await;
    story.save("Lives in Lisbon").await;
    let kept = story.active().await;
    story.engine.erase_source(&story.request(), &Source::Session("c0".into())).await.unwrap();
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    assert_eq!(story.active().await, ["Lives in Lisbon"]);
    assert_eq!(kept.len(), 2);
}

#[tokio::test]
async fn a_deleted_chat_takes_what_was_learned_and_brings_it_back() {
    let story = told(1).await;
    let before = hash(&story).await;
    story.engine.trash_session(&story.request(), "c0").await.unwrap();
    assert!(!is_heard_of(&story).await);
    assert!(memories(&story, Status::Active).await.is_empty());
    story.engine.restore_session(&story.request(), "c0").await.unwrap();
    assert_eq!(hash(&story).await, before);
    assert!(is_heard_of(&story).await);
}

#[tokio::test]
async fn a_chat_comes_back_alone_if_what_went_with_it_was_touched() {
    let story = told(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    story.engine.trash_session(&story.request(), "c0").await.unwrap();
    story.engine.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    let session = story.engine.restore_session(&story.request(), "c0").await.unwrap();
    assert_eq!(session.trashed_at, None);
    assert!(memories(&story, Status::Active).await.is_empty());
}

#[tokio::test]
async fn what_happened_is_told_again_without_what_went() {
    let story = told(1).await;
    let told = async || {
        let all =
            story.engine.episodes(&story.alice(), None, None, 9, story.now()).await.unwrap().0;
        all.into_iter().map(|episode| episode.summary).collect::<Vec<_>>()
    };
    assert_eq!(told().await, ["They talked."]);
    let gone = story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    assert_eq!(told().await, Vec::<String>::new());
    assert!(work(&story).await.contains(&Worked::Done(JobKind::Retell)));
    assert_eq!(told().await, ["The user talked for a long time."]);
    story.engine.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(told().await, ["They talked."]);
}

#[tokio::test]
async fn a_deleted_episode_takes_its_memories_and_leaves_what_was_said() {
    let story = told(1).await;
    let before = hash(&story).await;
    let episodes =
        story.engine.episodes(&story.alice(), None, None, 9, story.now()).await.unwrap().0;
    let source = Source::Episode(episodes[0].id);
    let gone = story.engine.withdraw(&story.request(), &source).await.unwrap();
    let reached = gone.reached.unwrap();
    assert_eq!((reached.withdrawn, reached.episodes, reached.turns), (1, 1, 0));
    let (turns, _) = story.engine.turns(&story.alice(), "c0", 0, 10, story.now()).await.unwrap();
    assert_eq!(turns.len(), 2);
    let twice = story.engine.withdraw(&story.request(), &source).await;
    assert!(matches!(twice, Err(Error::EpisodeNotFound)));
    story.engine.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(hash(&story).await, before);
}

#[tokio::test]
async fn what_was_deleted_is_removed_for_good_after_thirty_days() {
    let story = told(2).await;
    let gone = story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    story.engine.trash_session(&story.request(), "c1").await.unwrap();
    assert!(!quoting(&story).await.is_empty());
    story.pass(31 * DAY);
    work(&story).await;
    story.pass(100 * DAY);
    work(&story).await;
    assert_eq!(quoting(&story).await, Vec::<String>::new());
    let late = story.engine.undo(&story.request(), gone.operation.unwrap()).await;
    assert!(matches!(late, Err(Error::NotUndoable)));
}

#[tokio::test]
async fn a_turn_that_went_before_it_was_learned_from_teaches_nothing() {
    let (story, chat) = story_where(vec![plays()]).await;
    let turns: Vec<NewTurn> = vec![user("I play the xylophone."), user("I like rain.")];
    story.engine.append_turns(&story.request(), "c", turns).await.unwrap();
    story.engine.withdraw(&story.request(), &opening(&story, "c").await).await.unwrap();
    story.engine.close_session(&story.request(), "c", None).await.unwrap();
    work(&story).await;
    assert_eq!(chat.asked(), 1, "what is left is still learned from");
    assert!(memories(&story, Status::Active).await.is_empty());
    let session = story.engine.session(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!(session.extracted_through, 2);
}

#[tokio::test]
async fn a_corrected_memory_does_not_come_back_from_the_same_evidence() {
    let story = told(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    story.engine.delete(&story.request(), &Target::Id(fact)).await.unwrap();
    let turns = vec![user("And what about lunch?")];
    chat_about(&story, "c0", turns).await;
    work(&story).await;
    let states: Vec<State> =
        memories(&story, Status::Active).await.iter().map(|v: &Version| v.state).collect();
    assert_eq!(states, []);
}

#[tokio::test]
async fn an_undo_brings_nothing_back_whose_source_went_since() {
    let story = told(1).await;
    let fact = memories(&story, Status::Active).await[0].fact;
    let first = story.engine.delete(&story.request(), &Target::Id(fact)).await.unwrap();
    let second =
        story.engine.withdraw(&story.request(), &opening(&story, "c0").await).await.unwrap();
    let blocked = story.engine.undo(&story.request(), first.operation.unwrap()).await;
    let by = second.operation.unwrap();
    assert!(matches!(blocked, Err(Error::UndoBlocked(other)) if other == by));
    story.engine.undo(&story.request(), by).await.unwrap();
    story.engine.undo(&story.request(), first.operation.unwrap()).await.unwrap();
    assert!(is_heard_of(&story).await);
}

#[tokio::test]
async fn a_turn_does_not_come_back_into_a_chat_that_went_since() {
    let story = told(1).await;
    let turn = opening(&story, "c0").await;
    let first = story.engine.withdraw(&story.request(), &turn).await.unwrap().operation.unwrap();
    let chat = Source::Session("c0".into());
    let second = story.engine.withdraw(&story.request(), &chat).await.unwrap();
    let by = second.operation.unwrap();
    let blocked = story.engine.undo(&story.request(), first).await;
    assert!(matches!(blocked, Err(Error::UndoBlocked(other)) if other == by));
    assert!(memories(&story, Status::Active).await.is_empty());
    story.engine.undo(&story.request(), by).await.unwrap();
    story.engine.undo(&story.request(), first).await.unwrap();
    assert!(is_heard_of(&story).await);
}
