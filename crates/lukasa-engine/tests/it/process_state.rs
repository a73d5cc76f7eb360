//! What a process keeps between requests: it is bound to the state of the record, bounded in size, and
//! not lost when a request gives up.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lukasa_core::model::{Embedder, ModelError, Models, Reranker};
use lukasa_core::{NewTurn, Role};
use lukasa_engine::cascade::Source;
use lukasa_engine::context::Ask;
use lukasa_engine::facts::Target;
use lukasa_engine::recall::Recall;
use lukasa_engine::{Connect, Engine, Request};
use lukasa_models::scripted::{Mood, Scripted};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use tokio::time::sleep;

use crate::learn::{answer, chat_about, story_saying, user, work};
use crate::story::Story;

/// One scripted embedder, which is its own reranker.
struct One(Arc<Scripted>);

impl Models for One {
    fn preferred(&self) -> Option<String> {
        Some(self.0.model().name.clone())
    }

    fn embedder(&self, _: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        Ok(self.0.clone())
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        Some(self.0.clone())
    }
}

fn in_session(text: &str) -> Recall {
    Recall { session: Some("c".into()), ..Recall::about(text) }
}

async fn recalled(engine: &Engine, story: &Story, ask: &Recall) -> Vec<String> {
    let found = engine.recall(&story.alice(), ask, story.now()).await.unwrap();
    found.memories.into_iter().map(|found| found.memory.version.claim.content).collect()
}

#[tokio::test]
async fn nothing_cached_of_an_erased_user_is_given_to_a_user_of_the_same_name() {
    let story = Story::begin().await;
    // Another server, which hears nothing of the erasure.
    let other = Engine::connect(&story.database.connect()).unwrap();
    story.save("Takes zolpidem at night").await;
    let ask = in_session("What do I take at night?");
    assert_eq!(recalled(&other, &story, &ask).await, ["Takes zolpidem at night"]);
    story.pass(10);
    story.engine.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    story.pass(10);
    story.engine.create_user(story.tenant, "alice", None, story.now()).await.unwrap();
    // As many writes as before: the revision is the same number again.
    story.save("Drinks tea at night").await;
    assert_eq!(recalled(&other, &story, &ask).await, ["Drinks tea at night"]);
}

#[tokio::test]
async fn a_removal_on_one_server_is_seen_by_the_index_of_another() {
    let story = Story::begin().await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    let taken = Story::fact(&story.save("Takes zolpidem at night").await);
    story.save("Reads novels at night").await;
    let ask = in_session("What do I do at night?");
    assert_eq!(recalled(&other, &story, &ask).await.len(), 2);
    story.engine.erase(&story.request(), &Target::Id(taken)).await.unwrap();
    assert_eq!(recalled(&other, &story, &ask).await, ["Reads novels at night"]);
}

#[tokio::test]
async fn an_index_goes_on_loading_after_the_request_has_timed_out() {
    let story = Story::begin().await;
    story.save("Likes green tea").await;
    let fresh = Engine::connect(&story.database.connect()).unwrap();
    let admin = story.database.admin().await;
    admin.batch_execute("begin; lock table passage in access exclusive mode").await.unwrap();
    let mut ask = Ask::about("What do I like?");
    ask.within = Duration::from_millis(200);
    let late = fresh.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert_eq!(late.degraded, ["database"]);
    admin.batch_execute("rollback").await.unwrap();
    sleep(Duration::from_millis(500)).await;
    // Without the rows an index cannot be loaded any more, so what finds the memory was loaded before.
    admin.batch_execute("delete from passage").await.unwrap();
    let ask = Recall::about("What do I like?");
    let found = fresh.recall(&story.alice(), &ask, story.now()).await.unwrap();
    assert_eq!(found.memories.len(), 1);
    let unloaded = Engine::connect(&story.database.connect()).unwrap();
    let found = unloaded.recall(&story.alice(), &ask, story.now()).await.unwrap();
    assert_eq!(found.memories.len(), 0);
}

#[tokio::test]
async fn the_oldest_turns_are_left_out_beyond_the_limit_of_passages() {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_index_limits(1 << 20, 6);
    story.save("Keeps a cello").await;
    for n in 0..10 {
        let turn = NewTurn::saying(Role::User, &format!("My cello was tuned, day {n}"));
        let session = format!("s{n}");
        story.engine.append_turns(&story.request(), &session, vec![turn]).await.unwrap();
    }
    let ask = Recall { turns: 20, ..Recall::about("When was my cello tuned?") };
    let found = story.engine.recall(&story.alice(), &ask, story.now()).await.unwrap();
    assert_eq!(found.memories.len(), 1, "memories are never left out");
    let mut sessions: Vec<_> = found.turns.iter().map(|f| f.turn.session.as_str()).collect();
    sessions.sort_unstable();
    assert_eq!(sessions, ["s4", "s5", "s6", "s7", "s8", "s9"]);
    assert_eq!(found.degraded, ["older_turns"]);
}

#[tokio::test]
async fn no_connection_is_held_while_a_model_is_asked() {
    let mut story = Story::begin().await;
    let scripted = Arc::new(Scripted::local(32));
    let connect = Connect { pool_size: 1, ..story.database.connect() };
    story.engine = Engine::connect(&connect).unwrap().with_models(Arc::new(One(scripted.clone())));
    story.engine.settle_model(story.now()).await.unwrap().unwrap();
    for content in ["Likes green tea", "Likes black tea"] {
        story.save(content).await;
    }
    scripted.set_mood(Mood::Late(Duration::from_millis(150)));
    let mut shortest = Duration::MAX;
    // On a busy machine anything can take long once; a connection that is held takes as long every time.
    for attempt in 0..5 {
        let (engine, caller, now) = (story.engine.clone(), story.alice(), story.now());
        let ask = Recall::about(&format!("Which tea do I like, {attempt}?"));
        let asking = tokio::spawn(async move { engine.recall(&caller, &ask, now).await });
        let (mut longest, began) = (Duration::ZERO, Instant::now());
        while began.elapsed() < Duration::from_millis(400) {
            let started = Instant::now();
            story.active().await;
            longest = longest.max(started.elapsed());
        }
        assert_eq!(asking.await.unwrap().unwrap().memories.len(), 2);
        shortest = shortest.min(longest);
    }
    assert!(shortest < Duration::from_millis(120), "{shortest:?}");
}

#[tokio::test]
async fn a_question_that_one_tenant_asked_is_embedded_anew_for_another() {
    let mut story = Story::begin().await;
    let scripted = Arc::new(Scripted::local(32));
    story.engine = story.engine.clone().with_models(Arc::new(One(scripted.clone())));
    story.engine.settle_model(story.now()).await.unwrap().unwrap();
    let ask = Recall::about("Which tea do I like?");
    let other = story.engine.ensure_tenant("globex", story.now()).await.unwrap();
    let bob = lukasa_core::Caller::human(other, "bob", "local");
    let mut asked = Vec::new();
    for caller in [story.alice(), story.alice(), bob] {
        let before = scripted.asked();
        story.engine.recall(&caller, &ask, story.now()).await.unwrap();
        asked.push(scripted.asked() - before);
    }
    assert_eq!(asked, [1, 0, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_learned_from_a_turn_that_was_removed_while_the_model_was_asked() {
    type Removal = (Engine, Request, Source);
    let removal: Arc<Mutex<Option<Removal>>> = Arc::default();
    let during = Arc::clone(&removal);
    let (story, chat) = story_saying(move |_| {
        let removal = during.lock().unwrap().take();
        if let Some((engine, request, source)) = removal {
            let gone = async { engine.withdraw(&request, &source).await };
            block_in_place(|| Handle::current().block_on(gone)).unwrap();
        }
        answer(&[json!({"op": "add", "content": "User lives in Lisbon.", "kind": "fact",
                        "importance": 8, "confidence": 0.9, "reasoning": "said so",
                        "evidence": [{"turn": 1, "quote": "I live in Lisbon"}]})])
    })
    .await;
    chat_about(&story, "c", vec![user("Hi, I live in Lisbon."), user("I like tea.")]).await;
    let turns = story.engine.turns(&story.alice(), "c", 0, 10, story.now()).await.unwrap().0;
    let source = Source::Turn(turns[0].id);
    *removal.lock().unwrap() = Some((story.engine.clone(), story.request(), source));
    work(&story).await;
    assert_eq!(story.active().await, Vec::<String>::new());
    assert!(chat.asked() > 1, "asked again, about what is left");
}
