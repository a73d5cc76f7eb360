//! Embeddings and what recall keeps: when they are made, how a model is changed while people search,
//! and that nothing of it outlives what it was made from (R034, R035).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lukasa_core::model::{Answer, Embedder, EmbeddingModel, ModelError, Models, Reranker};
use lukasa_core::{NewTurn, Role};
use lukasa_engine::context::{Ask, NewUsage};
use lukasa_engine::facts::Target;
use lukasa_engine::recall::Recall;
use lukasa_engine::{Engine, Error};
use lukasa_models::scripted::{Mood, Scripted};

use crate::story::Story;

/// Several embedders, the first of which a new installation begins with.
struct Shelf(Vec<Arc<dyn Embedder>>);

impl Models for Shelf {
    fn preferred(&self) -> Option<String> {
        self.0.first().map(|embedder| embedder.model().name.clone())
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        let found = self.0.iter().find(|embedder| embedder.model().name == name);
        found.cloned().ok_or_else(|| ModelError::Missing(name.to_owned()))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        None
    }
}

async fn story_with(shelf: Vec<Arc<dyn Embedder>>) -> Story {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(Arc::new(Shelf(shelf)));
    story.engine.settle_model(story.now()).await.unwrap().unwrap();
    story
}

/// How many rows a table has, seen from behind.
async fn rows(story: &Story, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    story.database.admin().await.query_one(&sql, &[]).await.unwrap().get(0)
}

async fn rows_with(story: &Story, model: &str) -> i64 {
    let sql = "select count(*) from embedding where model = $1";
    story.database.admin().await.query_one(sql, &[&model]).await.unwrap().get(0)
}

/// Waits for work that nobody waits for.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

async fn found(story: &Story, query: &str) -> Vec<String> {
    let recalled = story.engine.recall(&story.alice(), &Recall::about(query), story.now()).await;
    let recalled = recalled.unwrap();
    recalled.memories.into_iter().map(|found| found.memory.version.claim.content).collect()
}

fn said(content: &str) -> NewTurn {
    NewTurn::saying(Role::User, content)
}

#[tokio::test]
async fn a_local_model_embeds_within_the_request_and_a_remote_one_behind_it() {
    let local = story_with(vec![Arc::new(Scripted::local(32))]).await;
    local.save("Likes tea").await;
    assert_eq!(rows(&local, "embedding").await, 1);
    local.engine.append_turns(&local.request(), "chat", vec![said("hello")]).await.unwrap();
    assert_eq!(rows(&local, "embedding").await, 2);
    let admin = local.database.admin().await;
    let sql = "select model, dimension, content_hash = (select p.content_hash from passage p \
               where p.source_id = e.source_id and p.part = e.part) from embedding e limit 1";
    let row = admin.query_one(sql, &[]).await.unwrap();
    let (model, dimension, same): (String, i32, bool) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((model.as_str(), dimension, same), ("scripted-32", 32, true));

    let slow = Arc::new(Scripted::remote(32));
    slow.set_mood(Mood::Late(Duration::from_millis(300)));
    let remote = story_with(vec![slow]).await;
    let start = std::time::Instant::now();
    remote.save("Likes tea").await;
    assert_eq!(rows(&remote, "embedding").await, 0, "after {:?}", start.elapsed());
    assert_eq!(found(&remote, "tea").await, ["Likes tea"], "by its words at once");
    until("the embedding is made", async || rows(&remote, "embedding").await == 1).await;
}

#[tokio::test]
async fn what_lacks_its_embedding_gets_it_when_recall_finds_out() {
    let embedder = Arc::new(Scripted::local(32));
    embedder.set_mood(Mood::Failing);
    let story = story_with(vec![embedder.clone()]).await;
    for n in 0..5 {
        story.save(&format!("Likes tea number {n}")).await;
    }
    assert_eq!(rows(&story, "embedding").await, 0);
    embedder.set_mood(Mood::Well);
    assert_eq!(found(&story, "tea").await.len(), 5);
    until("they are made", async || rows(&story, "embedding").await == 5).await;
}

#[tokio::test]
async fn an_embedder_with_the_wrong_dimension_is_refused() {
    let embedder = Arc::new(Scripted::local(32));
    let story = story_with(vec![embedder.clone()]).await;
    embedder.set_mood(Mood::Short);
    story.save("Likes tea").await;
    assert_eq!(rows(&story, "embedding").await, 0, "no vector of another length is kept");
    let refused = story.engine.reembed("scripted-32", story.now(), |_| ()).await.unwrap_err();
    assert!(matches!(refused, Error::Model(ModelError::Malformed(_))), "{refused:?}");
    // The database would refuse it too.
    let admin = story.database.admin().await;
    let sql = "insert into embedding select user_id, tenant_id, 'x', source_id, part, 1, 3, \
               content_hash, '[1,0]'::halfvec from passage limit 1";
    assert!(admin.execute(sql, &[]).await.is_err());
    // A model cannot come back under its name in another size.
    let other: Arc<dyn Embedder> = Arc::new(Scripted::local(16).named("scripted-32"));
    let changed = story.engine.clone().with_models(Arc::new(Shelf(vec![other])));
    assert!(changed.reembed("scripted-32", story.now(), |_| ()).await.is_err());
}

#[tokio::test]
async fn another_model_is_filled_beside_the_first_and_switched_to_and_back() {
    let (old, new) = (Arc::new(Scripted::local(32)), Arc::new(Scripted::local(1536)));
    let story = story_with(vec![old, new]).await;
    for n in 0..10 {
        story.save(&format!("Likes tea number {n}")).await;
    }
    story.engine.append_turns(&story.request(), "chat", vec![said("more tea")]).await.unwrap();
    let finds = async |model: &str| {
        let ask = Recall::about("tea number 7");
        let recalled = story.engine.recall(&story.alice(), &ask, story.now()).await.unwrap();
        assert_eq!(recalled.memories[0].memory.version.claim.content, "Likes tea number 7");
        assert_eq!((recalled.model.as_deref(), recalled.degraded.len()), (Some(model), 0));
        let vector = |w: &lukasa_engine::recall::Why| {
            w.arms.iter().any(|(arm, ..)| arm.as_str() == "vector")
        };
        assert!(recalled.memories.iter().all(|found| vector(&found.why)), "{model}");
    };
    finds("scripted-32").await;
    assert_eq!(story.engine.lacking("scripted-1536").await.unwrap(), (11, 11));
    let mut heard = 0;
    let made = story.engine.reembed("scripted-1536", story.now(), |n| heard += n).await.unwrap();
    assert_eq!((made, heard), (11, 11));
    finds("scripted-32").await;
    assert_eq!(story.engine.lacking("scripted-1536").await.unwrap(), (11, 0));
    story.pass(10);
    story.engine.switch_model("scripted-1536", story.now()).await.unwrap();
    finds("scripted-1536").await;
    // What is written now is embedded with the new one; on the way back the old one catches up.
    story.save("Likes tea number 11").await;
    assert_eq!(
        (rows_with(&story, "scripted-32").await, rows_with(&story, "scripted-1536").await),
        (11, 12)
    );
    story.pass(10);
    story.engine.switch_model("scripted-32", story.now()).await.unwrap();
    assert!(found(&story, "number 11").await.contains(&"Likes tea number 11".to_owned()));
    until("the old one catches up", async || rows_with(&story, "scripted-32").await == 12).await;
    finds("scripted-32").await;
    assert_eq!(story.engine.reembed("scripted-1536", story.now(), |_| ()).await.unwrap(), 0);
    let unknown = story.engine.switch_model("nothing", story.now()).await.unwrap_err();
    assert!(matches!(unknown, Error::ModelNotFound(_)));
}

/// An embedder that stops answering after so many calls, as if its machine had gone down.
struct Stops {
    model: EmbeddingModel,
    inner: Scripted,
    left: AtomicUsize,
}

impl Embedder for Stops {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Answer<'a, Vec<Vec<f32>>> {
        let spent = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spent).is_err() {
            return Box::pin(async { Err(ModelError::Unavailable("stopped".to_owned())) });
        }
        self.inner.embed(texts)
    }
}

#[tokio::test]
async fn an_interrupted_reembedding_goes_on_where_it_stopped() {
    let inner = Scripted::local(16).named("other");
    let model = inner.model().clone();
    let stops = Arc::new(Stops { model, inner, left: AtomicUsize::new(1) });
    let story = story_with(vec![Arc::new(Scripted::local(32)), stops.clone()]).await;
    for batch in 0..3 {
        let turns = (0..100).map(|n| said(&format!("turn {batch} {n}"))).collect();
        story.engine.append_turns(&story.request(), "chat", turns).await.unwrap();
    }
    let mut heard = 0;
    let stopped = story.engine.reembed("other", story.now(), |n| heard += n).await;
    assert!(matches!(stopped, Err(Error::Model(ModelError::Unavailable(_)))), "{stopped:?}");
    assert!(heard > 0 && heard < 300, "{heard}");
    assert_eq!(story.engine.lacking("other").await.unwrap(), (300, 300 - heard));
    let unfinished = story.engine.models().await.unwrap();
    assert!(unfinished.iter().any(|r| r.model.name == "other" && r.filled_at.is_none()));
    stops.left.store(1_000, Ordering::SeqCst);
    let rest = story.engine.reembed("other", story.now(), |_| ()).await.unwrap();
    assert_eq!(rest, 300 - heard, "nothing is made twice");
    assert_eq!(story.engine.lacking("other").await.unwrap(), (300, 0));
}

#[tokio::test]
async fn a_chat_is_not_told_what_was_said_in_it() {
    let story = story_with(vec![Arc::new(Scripted::local(32))]).await;
    for (chat, words) in [("chat", "My canary sings at dawn"), ("before", "My canary is yellow")] {
        story.engine.append_turns(&story.request(), chat, vec![said(words)]).await.unwrap();
    }
    let mut ask = Ask::about("What about my canary?");
    (ask.turns, ask.within) = (Some(5), Duration::from_secs(60));
    for (chat, told, seen) in [("chat", "yellow", "dawn"), ("before", "dawn", "yellow")] {
        ask.session = Some(chat.to_owned());
        let context = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        let given = &context.dynamic.content;
        assert!(given.contains(told) && !given.contains(seen), "{chat}: {given}");
    }
    // Asked in no chat, or in a new one, both were said before.
    for chat in [None, Some("new".to_owned())] {
        ask.session = chat;
        let context = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        let given = &context.dynamic.content;
        assert!(given.contains("dawn") && given.contains("yellow"), "{given}");
    }
    // Who looks for words within the very chat finds them.
    let mut recall = Recall::about("canary");
    (recall.turns, recall.session) = (5, Some("chat".to_owned()));
    recall.filter.session = Some("chat".to_owned());
    let found = story.engine.recall(&story.alice(), &recall, story.now()).await.unwrap();
    assert_eq!(found.turns.len(), 1, "{found:?}");
}

/// The tables that hold something of what recall and contexts are made of.
const DERIVED: [&str; 8] =
    ["session", "turn", "recall_state", "passage", "embedding", "baseline", "retrieval", "usage"];

/// A story in which every one of those tables has rows.
async fn lived_in() -> (Story, lukasa_core::FactId) {
    let story = story_with(vec![Arc::new(Scripted::local(32))]).await;
    let fact = Story::fact(&story.save("The canary sings at dawn").await);
    story.pass(1);
    story.change(fact, "The canary sings at dusk").await;
    story.engine.append_turns(&story.request(), "chat", vec![said("hello")]).await.unwrap();
    let mut ask = Ask::about("When does my canary sing?");
    ask.session = Some("chat".to_owned());
    ask.within = Duration::from_secs(60);
    let context = story.engine.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(context.baseline.content.contains("canary"), "{context:?}");
    until("it is noted", async || rows(&story, "retrieval").await == 1).await;
    let new = NewUsage {
        fact,
        session: None,
        retrieval: Some(context.id),
        turn: None,
        kind: "cited".to_owned(),
        influence: Some("the canary was cited".to_owned()),
    };
    story.engine.report_usage(&story.request(), new).await.unwrap();
    for table in DERIVED {
        assert!(rows(&story, table).await > 0, "there is something in {table}");
    }
    (story, fact)
}

#[tokio::test]
async fn an_erased_memory_takes_all_that_was_made_from_it_along() {
    let (story, fact) = lived_in().await;
    story.pass(1);
    story.engine.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    for table in ["baseline", "retrieval", "usage"] {
        assert_eq!(rows(&story, table).await, 0, "{table}");
    }
    // The turn's passage and its embedding stay.
    assert_eq!((rows(&story, "passage").await, rows(&story, "embedding").await), (1, 1));
    assert!(found(&story, "canary").await.is_empty());
}

#[tokio::test]
async fn a_deleted_user_leaves_no_row_in_any_table_of_recall() {
    let (story, _) = lived_in().await;
    story.engine.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    for table in DERIVED {
        assert_eq!(rows(&story, table).await, 0, "{table}");
    }
    let recalled = story.engine.recall(&story.alice(), &Recall::about("canary"), story.now()).await;
    assert!(matches!(recalled, Err(Error::UserGone)));
}

#[tokio::test]
async fn another_server_finds_what_this_one_wrote_at_once() {
    let embedder: Arc<dyn Embedder> = Arc::new(Scripted::local(32));
    let story = story_with(vec![embedder.clone()]).await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    let other = other.with_models(Arc::new(Shelf(vec![embedder])));
    for n in 0..5 {
        let fact = Story::fact(&story.save(&format!("Likes tea number {n}")).await);
        let ask = Recall::about("tea");
        let seen = other.recall(&story.alice(), &ask, story.now()).await.unwrap();
        assert_eq!(seen.memories.len(), n + 1);
        story.pass(1);
        if n == 4 {
            story.engine.erase(&story.request(), &Target::Id(fact)).await.unwrap();
            let seen = other.recall(&story.alice(), &ask, story.now()).await.unwrap();
            assert_eq!(seen.memories.len(), 4, "and what it erased is gone there too");
        }
    }
    other.close();
}
