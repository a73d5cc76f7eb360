//! The whole memory in blocks: its hash is that of all rows at once, and no block is large.

use lukasa_core::session::NewTurn;
use lukasa_core::{EpisodeId, Role, StateHash, state_hash};
use lukasa_engine::facts::Target;
use lukasa_store::blocks::{BLOCK_BYTES, BLOCK_ROWS};
use lukasa_store::{Scope, everything};

use crate::story::Story;

async fn scope(story: &Story) -> Scope {
    let alice = story.alice();
    story.database.store().read(alice.tenant, alice.user).await.unwrap()
}

/// The hash of all rows at once.
async fn whole_hash(story: &Story) -> StateHash {
    let scope = scope(story).await;
    let versions = everything::version_blocks(&scope).await.unwrap().all().await.unwrap();
    let links = everything::open_link_blocks(&scope).await.unwrap().all().await.unwrap();
    let episodes = everything::episode_blocks(&scope).await.unwrap().all().await.unwrap();
    let sessions = everything::session_blocks(&scope).await.unwrap().all().await.unwrap();
    let turns = everything::turn_blocks(&scope).await.unwrap().all().await.unwrap();
    let observations = everything::observation_blocks(&scope).await.unwrap().all().await.unwrap();
    StateHash {
        memories: state_hash::of_memories(&versions, &links),
        episodes: state_hash::of_episodes(&episodes),
        sessions: state_hash::of_sessions(&sessions, &turns),
        observations: state_hash::of_observations(&observations),
    }
}

#[tokio::test]
async fn state_hash_in_blocks_is_that_of_all_rows_at_once() {
    let story = Story::begin().await;
    let summary =
        async || story.engine.insights.summary(&story.alice(), story.now()).await.unwrap();
    assert_eq!(summary().await.hash, whole_hash(&story).await, "of an empty memory");
    let mut facts = Vec::new();
    for content in ["tea", "cake", "coffee", "pie"] {
        story.pass(1);
        facts.push(Story::fact(&story.save(content).await));
    }
    for (from, to) in [(0, 1), (1, 2), (2, 3)] {
        story.pass(1);
        let (from, to) = (Target::Id(facts[from]), Target::Id(facts[to]));
        story.engine.facts.link(&story.request(), &from, &to, "goes_with").await.unwrap();
    }
    story.pass(1);
    story.change(facts[0], "green tea").await;
    // With a memory in the trash its links do not count.
    story.pass(1);
    story.engine.removals.delete(&story.request(), &Target::Id(facts[3])).await.unwrap();
    for session in ["kept", "trashed"] {
        let turns = ["Hello", "I cycle", "I \"quote\"\n\ttext \u{7f}é"];
        let turns = turns.map(|text| NewTurn::saying(Role::User, text)).to_vec();
        story.pass(1);
        story.engine.sessions.append_turns(&story.request(), session, turns).await.unwrap();
    }
    story.pass(1);
    story.engine.sessions.trash(&story.request(), "trashed").await.unwrap();
    let admin = story.database.admin().await;
    let episode = "insert into episode (user_id, tenant_id, episode_id, session_id, first_turn, \
                     last_turn, summary, origin, started_at, ended_at, pass_id, prompt, recorded_at) \
                   select user_id, tenant_id, $1, session_id, 1, 2, 'They cycle.', 'assistant', \
                     opened_at, opened_at, $1, 'p', opened_at from session where session_id = 'kept'";
    let id = EpisodeId::from_uuid(uuid::Uuid::from_bytes([7; 16])).uuid();
    admin.execute(episode, &[&id]).await.unwrap();
    let summary = summary().await;
    assert_eq!(summary.hash, whole_hash(&story).await);
    let counts = (summary.memories, summary.links, summary.sessions, summary.turns);
    assert_eq!((counts, summary.episodes), ((4, 3, 2, 3), 1));
}

#[tokio::test]
async fn large_history_is_hashed_and_exported_in_bounded_blocks() {
    const TURNS: i32 = 60;
    let story = Story::begin().await;
    let turns = vec![NewTurn::saying(Role::User, "Hello")];
    story.engine.sessions.append_turns(&story.request(), "long", turns).await.unwrap();
    let admin = story.database.admin().await;
    let many = format!(
        "insert into turn (user_id, tenant_id, turn_id, session_id, number, role, content, origin, \
           said_at, recorded_at) \
         select user_id, tenant_id, gen_random_uuid(), session_id, n, role, \
           repeat(md5(n::text), 3000), origin, said_at, recorded_at \
           from turn, generate_series(2, {TURNS}) n; \
         update session set turns = {TURNS}"
    );
    admin.batch_execute(&many).await.unwrap();
    let scope = scope(&story).await;
    let mut blocks = everything::all_turn_blocks(&scope).await.unwrap();
    let mut numbers = Vec::new();
    let mut count = 0;
    while let Some(block) = blocks.next().await.unwrap() {
        assert!(block.rows.len() <= BLOCK_ROWS);
        assert!(block.bytes < BLOCK_BYTES + 100_000, "{} bytes", block.bytes);
        numbers.extend(block.rows.iter().map(|turn| turn.number));
        count += 1;
    }
    assert!(count >= 5, "{count} blocks");
    assert_eq!(numbers, (1..=TURNS).collect::<Vec<_>>());
    drop((blocks, scope));
    // The lines of the hash are more than are kept in memory.
    let summary = story.engine.insights.summary(&story.alice(), story.now()).await.unwrap();
    assert_eq!(summary.hash, whole_hash(&story).await);
    assert_eq!(summary.turns, 60);
}

#[tokio::test]
async fn exported_operations_have_the_undo_that_is_in_effect() {
    let story = Story::begin().await;
    let mut last = story.save("tea").await.operation.unwrap();
    story.pass(1);
    story.save("cake").await;
    for _ in 0..3 {
        story.pass(1);
        last = story.engine.undo.undo(&story.request(), last).await.unwrap().operation.unwrap();
        let scope = scope(&story).await;
        let mut all = everything::operation_blocks(&scope).await.unwrap().all().await.unwrap();
        all.reverse();
        let facts = &story.engine.facts;
        let log = facts.operations(&story.alice(), None, None, 50, story.now()).await.unwrap();
        assert_eq!(all, log.operations);
    }
}
