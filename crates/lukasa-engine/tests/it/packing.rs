//! Packed sessions: upkeep packs the passages of closed sessions, recall finds the same as before, and
//! what is removed is removed from them too.

use std::sync::Arc;

use lukasa_core::model::Embedder;
use lukasa_core::{NewTurn, Role};
use lukasa_engine::Engine;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::removal::FactSource;
use lukasa_models::scripted::{ScriptedModel, TestModels};

use crate::learning::work;
use crate::story::Story;

const DAY: i64 = 86_400;

const SAID: [(&str, &str); 4] = [
    ("I grow tomatoes on my balcony", "Water tomatoes in the morning, and feed them once a week."),
    ("My tomatoes have yellow leaves", "Yellow leaves of tomatoes often mean a lack of magnesium."),
    ("Which train goes to Porto?", "The train to Porto leaves at seven."),
    ("The tomatoes are ripe now", "Store ripe tomatoes outside of the fridge."),
];

fn embedders(dimensions: &[usize]) -> Arc<TestModels> {
    let embedder = |dimension: &usize| Arc::new(ScriptedModel::local(*dimension));
    let embedders = dimensions.iter().map(embedder).map(|one| one as Arc<dyn Embedder>);
    Arc::new(TestModels { embedders: embedders.collect(), ..TestModels::default() })
}

/// A session of four rounds that was closed, a memory, and an embedder.
async fn story_with_closed_session() -> Story {
    let mut story = Story::begin().await;
    story.engine = story.engine.clone().with_models(embedders(&[32, 64]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    story.save("Likes tomato soup").await;
    for (question, answer) in SAID {
        append(&story, "garden", &[(Role::User, question), (Role::Assistant, answer)]).await;
        story.pass(60);
    }
    close(&story, "garden").await;
    story
}

async fn append(story: &Story, session: &str, turns: &[(Role, &str)]) {
    let turns = turns.iter().map(|(role, content)| NewTurn::saying(*role, content)).collect();
    story.engine.sessions.append_turns(&story.request(), session, turns).await.unwrap();
}

async fn close(story: &Story, session: &str) {
    story.engine.sessions.close(&story.request(), session, Some(false)).await.unwrap();
}

/// Runs the next upkeep, which is due in a week at most.
async fn upkeep(story: &Story) {
    story.pass(7 * DAY);
    work(story).await;
}

/// The rows of passages of turns, their vectors, packed sessions, and packed passages.
async fn rows(story: &Story) -> [i64; 4] {
    let sql = "select (select count(*) from passage where kind = 'turn'), \
                      (select count(*) from embedding e join passage p using (user_id, source_id, part) \
                        where p.kind = 'turn'), \
                      (select count(*) from packed_session), \
                      (select coalesce(sum(passages), 0)::bigint from packed_session)";
    let row = story.database.admin().await.query_one(sql, &[]).await.unwrap();
    [row.get(0), row.get(1), row.get(2), row.get(3)]
}

/// What an engine finds about tomatoes: memories and turns in their order, and the turns of assistants.
async fn found(engine: &Engine, story: &Story) -> Vec<String> {
    let mut recall = RecallQuery::about("What did I say about my tomatoes?");
    (recall.memories, recall.turns) = (10, 10);
    let mut answers = recall.clone();
    answers.filter.roles = Some(vec![Role::Assistant]);
    answers.memories = 0;
    let mut texts = Vec::new();
    for recall in [recall, answers] {
        let found = engine.recall.search(&story.alice(), &recall, story.now()).await.unwrap();
        texts.extend(found.memories.into_iter().map(|found| found.memory.version.claim.content));
        texts.extend(found.turns.into_iter().map(|found| found.turn.content));
    }
    texts
}

fn other_server(story: &Story) -> Engine {
    Engine::connect(&story.database.connect()).unwrap().with_models(embedders(&[32, 64]))
}

/// Makes every server take the record for a large one, which is read in blocks.
async fn take_for_large(story: &Story) {
    let sql = "update recall_state set revision = revision + 5000";
    story.database.admin().await.batch_execute(sql).await.unwrap();
}

#[tokio::test]
async fn packed_session_is_found_as_before_by_every_server() {
    let story = story_with_closed_session().await;
    let reader = other_server(&story);
    let before = found(&reader, &story).await;
    assert!(before.len() > 6, "{before:?}");
    assert_eq!(rows(&story).await, [8, 4, 0, 0]);
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 8]);
    assert_eq!(found(&reader, &story).await, before, "the index was loaded before");
    assert_eq!(found(&other_server(&story), &story).await, before, "a small record");
    take_for_large(&story).await;
    assert_eq!(found(&other_server(&story), &story).await, before, "a large record, in blocks");
    let (all, lacking) = story.engine.embeddings.count_missing("scripted-32").await.unwrap();
    assert_eq!((all, lacking), (5, 0));
}

#[tokio::test]
async fn packed_session_is_read_by_a_server_that_missed_its_turns() {
    let story = story_with_closed_session().await;
    let reader = other_server(&story);
    assert!(!found(&reader, &story).await.iter().any(|text| text.contains("pumpkin")));
    append(
        &story,
        "market",
        &[
            (Role::User, "Tomatoes are cheap, and I bought a pumpkin"),
            (Role::Assistant, "A pumpkin keeps for months, tomatoes do not."),
        ],
    )
    .await;
    close(&story, "market").await;
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 2, 10]);
    let pumpkins = found(&reader, &story).await;
    assert_eq!(pumpkins.iter().filter(|text| text.contains("pumpkin")).count(), 2, "{pumpkins:?}");
}

#[tokio::test]
async fn continued_session_is_packed_again_with_its_new_turns() {
    let story = story_with_closed_session().await;
    upkeep(&story).await;
    append(&story, "garden", &[(Role::User, "I planted new tomatoes")]).await;
    assert_eq!(rows(&story).await, [1, 1, 1, 8]);
    let open = found(&other_server(&story), &story).await;
    assert!(open.contains(&"I planted new tomatoes".to_owned()));
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [1, 1, 1, 8], "the session is open");
    close(&story, "garden").await;
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 9]);
    assert_eq!(found(&other_server(&story), &story).await, open);
}

#[tokio::test]
async fn removed_turn_of_a_packed_session_is_not_found_and_the_others_are() {
    let story = story_with_closed_session().await;
    upkeep(&story).await;
    let reader = other_server(&story);
    let before = found(&reader, &story).await;
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "garden", 0, 9, story.now()).await.unwrap();
    let yellow = turns.iter().find(|turn| turn.content.contains("My tomatoes")).unwrap();
    let source = FactSource::Turn(yellow.id);
    let gone = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    let mut without = before.clone();
    without.retain(|text| *text != yellow.content);
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    assert_eq!(rows(&story).await, [7, 3, 0, 0], "unpacked");
    for engine in [&reader, &other_server(&story)] {
        assert_eq!(sorted(found(engine, &story).await), sorted(without.clone()));
    }
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 7]);
    story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    assert_eq!(sorted(found(&reader, &story).await), sorted(before.clone()));
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 8]);

    story.engine.removals.erase_source(&story.request(), &source).await.unwrap();
    assert_eq!(rows(&story).await, [7, 3, 0, 0]);
    for engine in [&reader, &other_server(&story)] {
        assert_eq!(sorted(found(engine, &story).await), sorted(without.clone()));
    }
    upkeep(&story).await;
    let session = FactSource::Session("garden".into());
    story.engine.removals.withdraw(&story.request(), &session).await.unwrap();
    assert_eq!(rows(&story).await, [0; 4]);
    assert_eq!(found(&reader, &story).await, ["Likes tomato soup"]);
    assert_eq!(found(&other_server(&story), &story).await, ["Likes tomato soup"]);
}

/// How many vectors the user has of each model, packed ones included.
async fn vectors(story: &Story) -> [i64; 2] {
    let sql = "select (select count(*) from embedding where model = $1) \
                 + (select count(*) from packed_session, unnest(vectors) v \
                     where model = $1 and v is not null)";
    let admin = story.database.admin().await;
    let count = async |model: &str| admin.query_one(sql, &[&model]).await.unwrap().get::<_, i64>(0);
    [count("scripted-32").await, count("scripted-64").await]
}

#[tokio::test]
async fn turn_restored_in_a_trashed_session_is_found_once_the_session_is_restored() {
    let story = story_with_closed_session().await;
    let before = found(&story.engine, &story).await;
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "garden", 0, 9, story.now()).await.unwrap();
    let ripe = turns.iter().find(|turn| turn.content.contains("ripe now")).unwrap();
    let gone = FactSource::Turn(ripe.id);
    let gone = story.engine.removals.withdraw(&story.request(), &gone).await.unwrap();
    let session = FactSource::Session("garden".into());
    story.engine.removals.withdraw(&story.request(), &session).await.unwrap();
    story.engine.undo.undo(&story.request(), gone.operation.unwrap()).await.unwrap();
    for engine in [&story.engine, &other_server(&story)] {
        assert_eq!(found(engine, &story).await, ["Likes tomato soup"]);
    }
    story.engine.undo.restore_session(&story.request(), "garden").await.unwrap();
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    assert_eq!(sorted(found(&other_server(&story), &story).await), sorted(before));
}

#[tokio::test]
async fn packed_session_has_the_revision_of_vectors_stored_after_its_passages() {
    let story = story_with_closed_session().await;
    let admin = story.database.admin().await;
    let later = "update recall_state set revision = revision + 1; \
                 update embedding e set revision = r.revision from recall_state r \
                  where r.user_id = e.user_id";
    admin.batch_execute(later).await.unwrap();
    upkeep(&story).await;
    let sql = "select k.revision, (select max(revision) from embedding) from packed_session k";
    let row = admin.query_one(sql, &[]).await.unwrap();
    let (packed, stored): (i64, i64) = (row.get(0), row.get(1));
    assert_eq!(packed, stored, "a server that has read the passages reads their vectors, too");
}

#[tokio::test]
async fn switched_model_can_be_reversed_before_its_vectors_are_removed() {
    let story = story_with_closed_session().await;
    upkeep(&story).await;
    let before = found(&story.engine, &story).await;
    let embeddings = &story.engine.embeddings;
    assert_eq!(embeddings.count_missing("scripted-64").await.unwrap(), (5, 5));
    let made = embeddings.reembed("scripted-64", story.now(), |_| ()).await.unwrap();
    assert_eq!(made, 5);
    assert_eq!((rows(&story).await, vectors(&story).await), ([8, 8, 0, 0], [5, 5]));
    upkeep(&story).await;
    assert_eq!(vectors(&story).await, [5, 5], "a model that was never in use is kept");
    embeddings.switch_model("scripted-64", story.now()).await.unwrap();
    embeddings.switch_model("scripted-32", story.now()).await.unwrap();
    assert_eq!(found(&other_server(&story), &story).await, before);
    upkeep(&story).await;
    assert_eq!((rows(&story).await, vectors(&story).await), ([0, 0, 1, 8], [5, 0]));
    assert_eq!(found(&other_server(&story), &story).await, before);
}

#[tokio::test]
async fn vectors_of_a_replaced_model_are_removed_and_sessions_packed_again() {
    let story = story_with_closed_session().await;
    upkeep(&story).await;
    let is_queued = "select exists (select 1 from job where kind = 'upkeep')";
    let admin = story.database.admin().await;
    admin.batch_execute("delete from job; update users set looked_after = false").await.unwrap();
    let embeddings = &story.engine.embeddings;
    embeddings.reembed("scripted-64", story.now(), |_| ()).await.unwrap();
    let queued: bool = admin.query_one(is_queued, &[]).await.unwrap().get(0);
    assert!(queued, "upkeep of a user who does not write");
    embeddings.switch_model("scripted-64", story.now()).await.unwrap();
    let switched = found(&other_server(&story), &story).await;
    upkeep(&story).await;
    assert_eq!((rows(&story).await, vectors(&story).await), ([0, 0, 1, 8], [0, 5]));
    assert_eq!(found(&other_server(&story), &story).await, switched);
    assert_eq!(embeddings.count_missing("scripted-64").await.unwrap(), (5, 0));
}

#[tokio::test]
async fn session_packed_with_a_replaced_model_loses_its_vectors_and_is_embedded_when_asked_for() {
    let story = story_with_closed_session().await;
    upkeep(&story).await;
    let embeddings = &story.engine.embeddings;
    story.pass(60);
    embeddings.reembed("scripted-64", story.now(), |_| ()).await.unwrap();
    embeddings.switch_model("scripted-64", story.now()).await.unwrap();
    upkeep(&story).await;
    assert_eq!(vectors(&story).await, [0, 5]);
    // Switched back without embedding anything.
    embeddings.switch_model("scripted-32", story.now()).await.unwrap();
    // The first write queues upkeep again; its memory is embedded.
    story.save("Likes basil").await;
    upkeep(&story).await;
    assert_eq!((rows(&story).await, vectors(&story).await), ([0, 0, 1, 8], [1, 0]));
    embeddings.reembed("scripted-32", story.now(), |_| ()).await.unwrap();
    upkeep(&story).await;
    assert_eq!((rows(&story).await, vectors(&story).await), ([0, 0, 1, 8], [6, 0]));
    // A replaced model that is embedded with again keeps its vectors until it is replaced again.
    embeddings.reembed("scripted-64", story.now(), |_| ()).await.unwrap();
    upkeep(&story).await;
    assert_eq!(vectors(&story).await, [6, 6]);
}

#[tokio::test]
async fn session_is_packed_without_an_embedder_and_embedded_with_the_first_one() {
    let mut story = Story::begin().await;
    for (question, answer) in SAID {
        append(&story, "garden", &[(Role::User, question), (Role::Assistant, answer)]).await;
    }
    close(&story, "garden").await;
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 8]);
    let by_words = found(&story.engine, &story).await;
    assert!(by_words.iter().any(|text| text.contains("ripe now")), "{by_words:?}");
    story.engine = story.engine.clone().with_models(embedders(&[32]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    let made = story.engine.embeddings.reembed("scripted-32", story.now(), |_| ()).await.unwrap();
    assert_eq!(made, 4);
    assert_eq!(rows(&story).await, [8, 4, 0, 0]);
    // The first write after all was packed queues upkeep again.
    story.save("Likes tomato soup").await;
    upkeep(&story).await;
    assert_eq!(rows(&story).await, [0, 0, 1, 8]);
    assert_eq!(story.engine.embeddings.count_missing("scripted-32").await.unwrap(), (5, 0));
}
