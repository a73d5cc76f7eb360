//! Secrets in turns are masked before anything is stored.

use lukasa_core::import::{ChatItem, ChatTurn, Format, ImportItem};
use lukasa_core::{Exchange, Mark, NewTurn, Role, Span};
use lukasa_engine::archive::ImportSource;
use lukasa_engine::{IdempotencyKey, Request};
use lukasa_store::testing::postgres::Client;

use crate::learning::{story_where, user};
use crate::story::Story;

const TOKEN: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";
const PASSWORD: &str = "Copper-4711-kite!";

/// Counts the rows of any table that contain a text.
async fn rows_with(admin: &Client, text: &str) -> i64 {
    let sql = "select tablename::text from pg_tables where schemaname = 'public'";
    let mut found = 0;
    for row in admin.query(sql, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike $1");
        let pattern = format!("%{text}%");
        found += admin.query_one(&sql, &[&pattern]).await.unwrap().get::<_, i64>(0);
    }
    found
}

async fn assert_nowhere(story: &Story) {
    let admin = story.database.admin().await;
    for secret in [TOKEN, PASSWORD, "016C7f8a9B2c", "Copper-4711"] {
        assert_eq!(rows_with(&admin, secret).await, 0, "{secret}");
    }
    assert!(rows_with(&admin, "[secret]").await > 0, "the placeholder is stored");
}

async fn contents(story: &Story, session: &str) -> Vec<String> {
    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), session, 0, 100, story.now()).await.unwrap();
    turns.into_iter().map(|turn| turn.content).collect()
}

#[tokio::test]
async fn secret_in_appended_turn_is_stored_nowhere() {
    // With an embedder, so that passages and embeddings are made.
    let (story, _) = story_where(Vec::new()).await;
    let text = format!("Deploy with {TOKEN} please. Quoted: tea is ready.");
    let from = text.chars().count() - "tea is ready.".len();
    let span = Span { from, to: text.chars().count(), mark: Mark::Quoted };
    let marked = NewTurn { spans: vec![span], ..user(&text) };
    let password = user(&format!("My password is {PASSWORD}"));
    let key = IdempotencyKey { key: "k".into(), request_hash: vec![1; 32] };
    let request = Request { idempotency: Some(key), ..story.request() };
    let turns = vec![marked, password];
    let first = story.engine.sessions.append_turns(&request, "c", turns.clone()).await.unwrap();
    let again = story.engine.sessions.append_turns(&request, "c", turns).await.unwrap();
    assert_eq!(first, again, "the same request is answered with the same turns");

    let (turns, _) =
        story.engine.sessions.turns(&story.alice(), "c", 0, 100, story.now()).await.unwrap();
    assert_eq!(turns[0].content, "Deploy with [secret] please. Quoted: tea is ready.");
    assert_eq!(turns[1].content, "My password is [secret]");
    let [span] = turns[0].spans[..] else { panic!("one span") };
    let covered: String =
        turns[0].content.chars().skip(span.from).take(span.to - span.from).collect();
    assert_eq!(covered, "tea is ready.");
    assert_nowhere(&story).await;
}

#[tokio::test]
async fn repeated_exchange_with_secret_is_stored_once() {
    let story = Story::begin().await;
    let answer = format!("I noted {TOKEN}.");
    let round = |before: Option<&str>, said: &str, answer: &str| Exchange {
        before: before.map(str::to_owned),
        said: vec![user(said)],
        answer: Some(NewTurn::saying(Role::Assistant, answer)),
        response: None,
        project: None,
    };
    let said = format!("The key is {TOKEN}");
    for _ in 0..2 {
        let round = round(None, &said, &answer);
        story.engine.sessions.append_exchange(&story.request(), "c", round).await.unwrap();
    }
    let next = round(Some(&answer), &said, "Again.");
    story.engine.sessions.append_exchange(&story.request(), "c", next).await.unwrap();
    let expected = ["The key is [secret]", "I noted [secret].", "The key is [secret]", "Again."];
    assert_eq!(contents(&story, "c").await, expected);
    assert_nowhere(&story).await;
}

#[tokio::test]
async fn secret_in_imported_session_is_stored_nowhere() {
    let story = Story::begin().await;
    let turns = [format!("Use {TOKEN}"), format!("password: {PASSWORD}")];
    let turns =
        turns.into_iter().map(|content| ChatTurn { role: Role::User, content, said_at: None });
    let chat = ChatItem {
        source: "c1".into(),
        title: Some(format!("Use {TOKEN}")),
        opened_at: None,
        before: 0,
        turns: turns.collect(),
        last: true,
    };
    let source = ImportSource { format: Format::Claude, digest: "d".into(), name: "file".into() };
    let items = [ImportItem::Chat(chat)];
    for taken in [2, 0] {
        let import =
            story.engine.archives.import_items(&story.request(), &source, &items, false).await;
        assert_eq!(import.unwrap().counts.turns, taken, "the second import adds nothing");
    }
    assert_eq!(contents(&story, "claude:c1").await, ["Use [secret]", "password: [secret]"]);
    assert_nowhere(&story).await;
}

#[tokio::test]
async fn secret_in_long_turn_is_masked() {
    let story = Story::begin().await;
    let text = format!("{} {TOKEN}", "We talked about the garden. ".repeat(3_000));
    story.engine.sessions.append_turns(&story.request(), "c", vec![user(&text)]).await.unwrap();
    assert!(contents(&story, "c").await[0].ends_with(" [secret]"));
    assert_nowhere(&story).await;
}
