//! Embeddings and derived data of recall: when they are made, how the model is switched during
//! searches, and that they are removed with their source (R034, R035).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture};
use lukasa_core::{NewTurn, Role};
use lukasa_engine::context::{ContextRequest, NewUsage};
use lukasa_engine::facts::Target;
use lukasa_engine::recall::{RecallQuery, RecallResult};
use lukasa_engine::{Engine, Error};
use lukasa_models::scripted::{ScriptedBehavior, ScriptedModel, TestModels};
use lukasa_store::passage_blocks::PassageBlocks;

use crate::story::Story;

/// Several embedders; the first is the default of a new installation.
fn shelf(embedders: Vec<Arc<dyn Embedder>>) -> Arc<TestModels> {
    Arc::new(TestModels { embedders, ..TestModels::default() })
}

async fn story_with(embedders: Vec<Arc<dyn Embedder>>) -> Story {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(shelf(embedders));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    story
}

/// Counts a table's rows, bypassing the store.
async fn rows(story: &Story, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    story.database.admin().await.query_one(&sql, &[]).await.unwrap().get(0)
}

async fn rows_with(story: &Story, model: &str) -> i64 {
    let sql = "select count(*) from embedding where model = $1";
    story.database.admin().await.query_one(sql, &[&model]).await.unwrap().get(0)
}

/// Waits for background work.
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
    let recalled =
        story.engine.recall.search(&story.alice(), &RecallQuery::about(query), story.now()).await;
    let recalled = recalled.unwrap();
    recalled.memories.into_iter().map(|found| found.memory.version.claim.content).collect()
}

fn said(content: &str) -> NewTurn {
    NewTurn::saying(Role::User, content)
}

#[tokio::test]
async fn local_model_embeds_within_request_and_remote_one_afterwards() {
    let local = story_with(vec![Arc::new(ScriptedModel::local(32))]).await;
    local.save("Likes tea").await;
    assert_eq!(rows(&local, "embedding").await, 1);
    local
        .engine
        .sessions
        .append_turns(&local.request(), "chat", vec![said("hello")])
        .await
        .unwrap();
    assert_eq!(rows(&local, "embedding").await, 2);
    let admin = local.database.admin().await;
    let sql = "select model, dimension, content_hash = (select p.content_hash from passage p \
               where p.source_id = e.source_id and p.part = e.part) from embedding e limit 1";
    let row = admin.query_one(sql, &[]).await.unwrap();
    let (model, dimension, same): (String, i32, bool) = (row.get(0), row.get(1), row.get(2));
    assert_eq!((model.as_str(), dimension, same), ("scripted-32", 32, true));

    let slow = Arc::new(ScriptedModel::remote(32));
    slow.set_behavior(ScriptedBehavior::Slow(Duration::from_millis(300)));
    let remote = story_with(vec![slow]).await;
    let start = std::time::Instant::now();
    remote.save("Likes tea").await;
    assert_eq!(rows(&remote, "embedding").await, 0, "after {:?}", start.elapsed());
    assert_eq!(found(&remote, "tea").await, ["Likes tea"], "found by its words at once");
    until("the embedding is made", async || rows(&remote, "embedding").await == 1).await;
}

#[tokio::test]
async fn missing_embeddings_are_made_after_recall() {
    let embedder = Arc::new(ScriptedModel::local(32));
    embedder.set_behavior(ScriptedBehavior::Failing);
    let story = story_with(vec![embedder.clone()]).await;
    for n in 0..5 {
        story.save(&format!("Likes tea number {n}")).await;
    }
    assert_eq!(rows(&story, "embedding").await, 0);
    embedder.set_behavior(ScriptedBehavior::Normal);
    assert_eq!(found(&story, "tea").await.len(), 5);
    until("they are made", async || rows(&story, "embedding").await == 5).await;
}

#[tokio::test]
async fn embedder_with_wrong_dimension_is_refused() {
    let embedder = Arc::new(ScriptedModel::local(32));
    let story = story_with(vec![embedder.clone()]).await;
    embedder.set_behavior(ScriptedBehavior::Short);
    story.save("Likes tea").await;
    assert_eq!(rows(&story, "embedding").await, 0, "no vector of another length is kept");
    let refused =
        story.engine.embeddings.reembed("scripted-32", story.now(), |_| ()).await.unwrap_err();
    assert!(matches!(refused, Error::Model(ModelError::Malformed(_))), "{refused:?}");
    // The database refuses it too.
    let admin = story.database.admin().await;
    let sql = "insert into embedding select user_id, tenant_id, 'x', source_id, part, 1, 3, \
               content_hash, '[1,0]'::halfvec from passage limit 1";
    assert!(admin.execute(sql, &[]).await.is_err());
    // A model cannot be used again under its name with another dimension.
    let other: Arc<dyn Embedder> = Arc::new(ScriptedModel::local(16).named("scripted-32"));
    let changed = story.engine.clone().with_models(shelf(vec![other]));
    assert!(changed.embeddings.reembed("scripted-32", story.now(), |_| ()).await.is_err());
}

#[tokio::test]
async fn embedding_model_is_filled_and_switched_both_ways() {
    let (old, new) = (Arc::new(ScriptedModel::local(32)), Arc::new(ScriptedModel::local(1536)));
    let story = story_with(vec![old, new]).await;
    for n in 0..10 {
        story.save(&format!("Likes tea number {n}")).await;
    }
    story
        .engine
        .sessions
        .append_turns(&story.request(), "chat", vec![said("more tea")])
        .await
        .unwrap();
    let finds = async |model: &str| {
        let ask = RecallQuery::about("tea number 7");
        let recalled = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        assert_eq!(recalled.memories[0].memory.version.claim.content, "Likes tea number 7");
        assert_eq!((recalled.model.as_deref(), recalled.degraded.len()), (Some(model), 0));
        let vector = |w: &lukasa_engine::recall::ResultExplanation| {
            w.arms.iter().any(|(arm, ..)| arm.as_str() == "vector")
        };
        assert!(recalled.memories.iter().all(|found| vector(&found.why)), "{model}");
    };
    finds("scripted-32").await;
    assert_eq!(story.engine.embeddings.count_missing("scripted-1536").await.unwrap(), (11, 11));
    let mut reported = 0;
    let made = story
        .engine
        .embeddings
        .reembed("scripted-1536", story.now(), |n| reported += n)
        .await
        .unwrap();
    assert_eq!((made, reported), (11, 11));
    finds("scripted-32").await;
    assert_eq!(story.engine.embeddings.count_missing("scripted-1536").await.unwrap(), (11, 0));
    story.pass(10);
    story.engine.embeddings.switch_model("scripted-1536", story.now()).await.unwrap();
    finds("scripted-1536").await;
    // New writes are embedded with the new model; after switching back, the old one catches up.
    story.save("Likes tea number 11").await;
    assert_eq!(
        (rows_with(&story, "scripted-32").await, rows_with(&story, "scripted-1536").await),
        (11, 12)
    );
    story.pass(10);
    story.engine.embeddings.switch_model("scripted-32", story.now()).await.unwrap();
    assert!(found(&story, "number 11").await.contains(&"Likes tea number 11".to_owned()));
    until("the old one catches up", async || rows_with(&story, "scripted-32").await == 12).await;
    finds("scripted-32").await;
    assert_eq!(
        story.engine.embeddings.reembed("scripted-1536", story.now(), |_| ()).await.unwrap(),
        0
    );
    let unknown = story.engine.embeddings.switch_model("nothing", story.now()).await.unwrap_err();
    assert!(matches!(unknown, Error::ModelNotFound(_)));
}

/// An embedder that fails after this many calls, as if its machine had gone down.
struct Stops {
    model: EmbeddingModel,
    inner: ScriptedModel,
    left: AtomicUsize,
}

impl Embedder for Stops {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>> {
        let spent = |left: usize| left.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spent).is_err() {
            return Box::pin(async { Err(ModelError::Unavailable("stopped".to_owned())) });
        }
        self.inner.embed(texts)
    }
}

#[tokio::test]
async fn interrupted_reembedding_continues_where_it_stopped() {
    let inner = ScriptedModel::local(16).named("other");
    let model = inner.model().clone();
    let stops = Arc::new(Stops { model, inner, left: AtomicUsize::new(1) });
    let story = story_with(vec![Arc::new(ScriptedModel::local(32)), stops.clone()]).await;
    for batch in 0..3 {
        let turns = (0..100).map(|n| said(&format!("turn {batch} {n}"))).collect();
        story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    }
    let mut reported = 0;
    let stopped = story.engine.embeddings.reembed("other", story.now(), |n| reported += n).await;
    assert!(matches!(stopped, Err(Error::Model(ModelError::Unavailable(_)))), "{stopped:?}");
    assert!(reported > 0 && reported < 300, "{reported}");
    assert_eq!(
        story.engine.embeddings.count_missing("other").await.unwrap(),
        (300, 300 - reported)
    );
    let unfinished = story.engine.embeddings.models().await.unwrap();
    assert!(unfinished.iter().any(|r| r.model.name == "other" && r.filled_at.is_none()));
    stops.left.store(1_000, Ordering::SeqCst);
    let rest = story.engine.embeddings.reembed("other", story.now(), |_| ()).await.unwrap();
    assert_eq!(rest, 300 - reported, "nothing is made twice");
    assert_eq!(story.engine.embeddings.count_missing("other").await.unwrap(), (300, 0));
}

#[tokio::test]
async fn context_leaves_out_turns_of_its_own_session() {
    let story = story_with(vec![Arc::new(ScriptedModel::local(32))]).await;
    for (chat, words) in [("chat", "My canary sings at dawn"), ("before", "My canary is yellow")] {
        story
            .engine
            .sessions
            .append_turns(&story.request(), chat, vec![said(words)])
            .await
            .unwrap();
    }
    let mut ask = ContextRequest::about("What about my canary?");
    (ask.turns, ask.within) = (Some(5), Duration::from_secs(60));
    for (chat, expected, left_out) in [("chat", "yellow", "dawn"), ("before", "dawn", "yellow")] {
        ask.session = Some(chat.to_owned());
        let context =
            story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        let given = &context.dynamic.content;
        assert!(given.contains(expected) && !given.contains(left_out), "{chat}: {given}");
    }
    // Without a session, or in a new one, both turns are from earlier sessions.
    for chat in [None, Some("new".to_owned())] {
        ask.session = chat;
        let context =
            story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        let given = &context.dynamic.content;
        assert!(given.contains("dawn") && given.contains("yellow"), "{given}");
    }
    // A search within the session finds its turns.
    let mut recall = RecallQuery::about("canary");
    (recall.turns, recall.session) = (5, Some("chat".to_owned()));
    recall.filter.session = Some("chat".to_owned());
    let found = story.engine.recall.search(&story.alice(), &recall, story.now()).await.unwrap();
    assert_eq!(found.turns.len(), 1, "{found:?}");
}

/// The tables with data that recall and contexts are made from or derive.
const DERIVED: [&str; 9] = [
    "session",
    "turn",
    "recall_state",
    "passage",
    "embedding",
    "baseline",
    "given_baseline",
    "retrieval",
    "usage",
];

/// A story in which each of those tables has rows.
async fn lived_in() -> (Story, lukasa_core::FactId) {
    let story = story_with(vec![Arc::new(ScriptedModel::local(32))]).await;
    let fact = Story::fact(&story.save("The canary sings at dawn").await);
    story.pass(1);
    story.change(fact, "The canary sings at dusk").await;
    story
        .engine
        .sessions
        .append_turns(&story.request(), "chat", vec![said("hello")])
        .await
        .unwrap();
    let mut ask = ContextRequest::about("When does my canary sing?");
    ask.session = Some("chat".to_owned());
    ask.within = Duration::from_secs(60);
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    assert!(context.baseline.content.contains("canary"), "{context:?}");
    until("the retrieval is recorded", async || rows(&story, "retrieval").await == 1).await;
    let new = NewUsage {
        fact,
        session: None,
        retrieval: Some(context.id),
        turn: None,
        kind: "cited".to_owned(),
        influence: Some("the canary was cited".to_owned()),
    };
    story.engine.context.report_usage(&story.request(), new).await.unwrap();
    for table in DERIVED {
        assert!(rows(&story, table).await > 0, "there is something in {table}");
    }
    (story, fact)
}

#[tokio::test]
async fn erased_memory_removes_derived_rows() {
    let (story, fact) = lived_in().await;
    story.pass(1);
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    for table in ["baseline", "given_baseline", "retrieval", "usage"] {
        assert_eq!(rows(&story, table).await, 0, "{table}");
    }
    // The turn's passage and its embedding stay.
    assert_eq!((rows(&story, "passage").await, rows(&story, "embedding").await), (1, 1));
    assert!(found(&story, "canary").await.is_empty());
}

#[tokio::test]
async fn deleted_user_leaves_no_row_in_recall_tables() {
    let (story, _) = lived_in().await;
    story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    for table in DERIVED {
        assert_eq!(rows(&story, table).await, 0, "{table}");
    }
    let recalled = story
        .engine
        .recall
        .search(&story.alice(), &RecallQuery::about("canary"), story.now())
        .await;
    assert!(matches!(recalled, Err(Error::UserGone)));
}

#[tokio::test]
async fn writes_are_recalled_by_another_server_at_once() {
    let embedder: Arc<dyn Embedder> = Arc::new(ScriptedModel::local(32));
    let story = story_with(vec![embedder.clone()]).await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    let other = other.with_models(shelf(vec![embedder]));
    for n in 0..5 {
        let fact = Story::fact(&story.save(&format!("Likes tea number {n}")).await);
        let ask = RecallQuery::about("tea");
        let seen = other.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
        assert_eq!(seen.memories.len(), n + 1);
        story.pass(1);
        if n == 4 {
            story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
            let seen = other.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
            assert_eq!(seen.memories.len(), 4, "the erased memory is not recalled there either");
        }
    }
    other.close();
}

#[tokio::test]
async fn only_turns_of_the_user_are_embedded() {
    let story = story_with(vec![Arc::new(ScriptedModel::local(32))]).await;
    let turns = vec![
        said("My canary sings"),
        NewTurn::saying(Role::Assistant, &"Canaries sing at dawn. ".repeat(200)),
        NewTurn::saying(Role::Tool, "dawn is at six"),
    ];
    story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    assert_eq!(rows(&story, "passage").await, 3, "one for each, however long");
    assert_eq!(rows(&story, "embedding").await, 1);
    assert_eq!(story.engine.embeddings.count_missing("scripted-32").await.unwrap(), (1, 0));
    let mut ask = RecallQuery::about("dawn");
    (ask.turns, ask.filter.roles) = (5, Some(vec![Role::Assistant, Role::Tool]));
    let found = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    assert_eq!(found.turns.len(), 2, "found by their words");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(rows(&story, "embedding").await, 1, "recall does not embed them either");
}

#[tokio::test]
async fn large_record_is_read_in_blocks_with_the_same_results() {
    let embedder: Arc<dyn Embedder> = Arc::new(ScriptedModel::local(32));
    let story = story_with(vec![embedder.clone()]).await;
    for n in 0..8 {
        story.save(&format!("Likes tea number {n}")).await;
        let turns = vec![said(&format!("I had tea in room {n}. ").repeat(60)), said("and cake")];
        let chat = format!("chat {}", n % 3);
        story.engine.sessions.append_turns(&story.request(), &chat, turns).await.unwrap();
    }
    let mut ask = RecallQuery::about("tea in room 3");
    ask.turns = 20;
    let at_once = story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    // A record with many revisions is read in blocks.
    let admin = story.database.admin().await;
    admin.batch_execute("update recall_state set revision = 50000, facts = 50000").await.unwrap();
    let other = Engine::connect(&story.database.connect()).unwrap();
    let other = other.with_models(shelf(vec![embedder]));
    let in_blocks = other.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    let ids = |found: &RecallResult| -> Vec<String> {
        let memories = found.memories.iter().map(|found| found.memory.version.id.to_string());
        memories.chain(found.turns.iter().map(|found| found.turn.id.to_string())).collect()
    };
    assert!(at_once.memories.len() == 8 && at_once.turns.len() >= 8, "{at_once:?}");
    assert_eq!(ids(&in_blocks), ids(&at_once));
    story.pass(1);
    story.save("Likes tea number 8").await;
    let after = other.recall.search(&story.alice(), &ask, story.now()).await.unwrap();
    assert_eq!(after.memories.len(), 9, "later writes are added to it");

    // Blocks of any size have the whole record, and no turn is in two of them.
    let alice = story.alice();
    let scope = story.database.store().read(alice.tenant, alice.user).await.unwrap();
    for size in [1, 3, 7, 1_000] {
        let mut blocks = PassageBlocks::open(&scope, None).await.unwrap();
        let mut sources: Vec<HashSet<uuid::Uuid>> = Vec::new();
        let mut count = 0;
        loop {
            let block = blocks.next(&scope, size).await.unwrap();
            if block.is_empty() {
                break;
            }
            count += block.len();
            sources.push(block.iter().map(|passage| passage.source).collect());
        }
        let distinct: HashSet<_> = sources.iter().flatten().collect();
        assert_eq!(sources.iter().map(HashSet::len).sum::<usize>(), distinct.len(), "{size}");
        assert_eq!(i64::try_from(count).unwrap(), rows(&story, "passage").await, "{size}");
    }
    other.close();
}

#[tokio::test]
async fn baseline_is_recorded_once_and_shown_with_every_retrieval() {
    let (story, fact) = lived_in().await;
    let mut ask = ContextRequest::about("When does my canary sing?");
    (ask.session, ask.within) = (Some("chat".to_owned()), Duration::from_secs(60));
    for n in 2..5 {
        story.pass(1);
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        until("it is recorded", async || rows(&story, "retrieval").await == n).await;
    }
    assert_eq!(rows(&story, "given_baseline").await, 1);
    let given =
        story.engine.context.session_retrievals(&story.alice(), "chat", story.now()).await.unwrap();
    assert_eq!(given.retrievals.len(), 4);
    for retrieval in &given.retrievals {
        assert_eq!(retrieval.facts, [fact]);
        let line = &retrieval.trace["baseline"][0];
        assert_eq!(line["source"]["memory_id"], fact.to_string(), "{}", retrieval.trace);
        let found = &retrieval.trace["found"][0];
        assert_eq!(found["source"]["memory_id"], fact.to_string(), "{}", retrieval.trace);
        assert!(found["arms"][0]["rank"].is_number(), "{found}");
        assert_eq!(retrieval.trace["left_out"][0]["reason"], "in the baseline already");
    }
    let (uses, _) = story
        .engine
        .context
        .usage(&story.alice(), Some(fact), None, 20, story.now())
        .await
        .unwrap();
    let retrieved = uses.iter().filter(|used| used.kind == "retrieved").count();
    assert_eq!(retrieved, 4, "each is a use of the memory");
}

#[tokio::test]
async fn context_of_kept_versions_is_that_of_a_server_without_any() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Likes oolong tea").await);
    story.save("Lives in Porto").await;
    let mut ask = ContextRequest::about("Which tea do I like?");
    ask.within = Duration::from_secs(60);
    let contents = async |engine: &Engine| {
        let context = engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
        (context.baseline.content, context.dynamic.content)
    };
    let other = Engine::connect(&story.database.connect()).unwrap();
    let first = contents(&story.engine).await;
    assert!(first.0.contains("oolong") && first.0.contains("Porto"), "{first:?}");
    assert_eq!(contents(&story.engine).await, first);
    assert_eq!(contents(&other).await, first);
    // The memory is changed by one server, and is then in the prompts of both.
    story.pass(1);
    story.change(tea, "Likes sencha tea").await;
    for engine in [&other, &story.engine, &other] {
        let after = contents(engine).await;
        assert!(after.0.contains("sencha") && !after.0.contains("Likes oolong"), "{after:?}");
    }
    other.close();
}
