//! Secrets in turns are masked before anything is stored.

use std::time::Duration;

use lukasa_core::import::{ChatItem, ChatTurn, Format, ImportItem};
use lukasa_core::{Edit, Exchange, FactId, Mark, NewTurn, Project, Role, Span};
use lukasa_engine::archive::ImportSource;
use lukasa_engine::context::{ContextRequest, NewUsage, ToolRun};
use lukasa_engine::facts::{NewMemory, Target, Update};
use lukasa_engine::sessions::NewSession;
use lukasa_engine::{Error, IdempotencyKey, Request};
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

/// The field that a request was refused for.
fn refused_field<T>(result: Result<T, Error>) -> String {
    match result.map(|_| ()).unwrap_err() {
        Error::Invalid(fields) => fields[0].field.clone(),
        error => panic!("{error}"),
    }
}

fn cited(fact: FactId, session: &str) -> NewUsage {
    NewUsage {
        fact,
        session: Some(session.to_owned()),
        retrieval: None,
        turn: None,
        kind: "cited".to_owned(),
        influence: None,
    }
}

fn within_session(session: &str) -> ContextRequest {
    let session = Some(session.to_owned());
    ContextRequest { session, within: Duration::from_secs(60), ..ContextRequest::about("Tea?") }
}

#[tokio::test]
async fn session_name_with_a_secret_is_refused_by_every_write() {
    let story = Story::begin().await;
    let (engine, request) = (&story.engine, || story.request());
    let tea = Story::fact(&story.save("Drinks tea").await);
    let saved = || NewMemory { session: Some(TOKEN.to_owned()), ..NewMemory::saying("Has a dog") };
    let edit = Edit { content: Some("Drinks green tea".into()), ..Edit::default() };
    let update = Update { session: Some(TOKEN.to_owned()), ..Update::change(edit) };
    let opened = NewSession { id: Some(TOKEN.to_owned()), ..NewSession::default() };
    let turns = vec![user("Hello")];
    let exchange = Exchange { said: turns.clone(), ..Exchange::default() };
    let asked = request();
    let ask = within_session(TOKEN);
    for field in [
        refused_field(engine.sessions.open(&request(), opened).await),
        refused_field(engine.sessions.append_turns(&request(), TOKEN, turns).await),
        refused_field(engine.sessions.append_exchange(&request(), TOKEN, exchange).await),
        refused_field(engine.facts.save(&request(), saved()).await),
        refused_field(engine.facts.propose(&request(), saved()).await),
        refused_field(engine.facts.update(&request(), &Target::Id(tea), update).await),
        refused_field(engine.context.retrieve(&asked.caller, &ask, asked.moment).await),
        refused_field(engine.context.report_usage(&request(), cited(tea, TOKEN)).await),
    ] {
        assert_eq!(field, "session_id");
    }
    let admin = story.database.admin().await;
    assert_eq!(rows_with(&admin, TOKEN).await, 0);
}

#[tokio::test]
async fn session_named_by_a_number_is_accepted_though_it_passes_a_card_check() {
    const NUMBER: &str = "4111111111111111";
    let story = Story::begin().await;
    let sessions = &story.engine.sessions;
    sessions.append_turns(&story.request(), NUMBER, vec![user("Hello")]).await.unwrap();
    let new = NewMemory { session: Some(NUMBER.to_owned()), ..NewMemory::saying("Drinks tea") };
    let tea = Story::fact(&story.engine.facts.save(&story.request(), new).await.unwrap());
    let context = &story.engine.context;
    context.report_usage(&story.request(), cited(tea, NUMBER)).await.unwrap();
    let asked = story.request();
    context.retrieve(&asked.caller, &within_session(NUMBER), asked.moment).await.unwrap();
}

#[tokio::test]
async fn project_with_a_secret_is_refused() {
    let story = Story::begin().await;
    let (sessions, project) = (&story.engine.sessions, || Project::parse(TOKEN));
    let opened = NewSession { project: project(), ..NewSession::default() };
    let appended =
        sessions.append_turns_in(&story.request(), "c", project(), vec![user("Hello")]).await;
    let asked = story.request();
    let ask = ContextRequest { project: project(), ..within_session("c") };
    for field in [
        refused_field(sessions.open(&story.request(), opened).await),
        refused_field(appended),
        refused_field(story.engine.context.retrieve(&asked.caller, &ask, asked.moment).await),
    ] {
        assert_eq!(field, "project");
    }
}

#[tokio::test]
async fn secret_as_a_speaker_or_a_search_query_is_stored_nowhere() {
    let story = Story::begin().await;
    let spoken = NewTurn { speaker: Some(format!("Anna {TOKEN}")), ..user("Hello") };
    let turns = vec![spoken];
    story.engine.sessions.append_turns(&story.request(), "c", turns).await.unwrap();
    let page = story.engine.sessions.turns(&story.alice(), "c", 0, 10, story.now()).await;
    assert_eq!(page.unwrap().0[0].speaker.as_deref(), Some("Anna [secret]"));
    let asked = story.request();
    let (context, ask) = (&story.engine.context, within_session("c"));
    let given = context.retrieve(&asked.caller, &ask, asked.moment).await.unwrap();
    let run = ToolRun {
        id: "call_1".to_owned(),
        name: "search_memories".to_owned(),
        query: Some(format!("the key {TOKEN}")),
        memories: Vec::new(),
        operation: None,
        failed: false,
        took_ms: 1,
    };
    context.record_tool_calls_later(&asked.caller, given.id, vec![run]);
    let admin = story.database.admin().await;
    let mut is_recorded = false;
    for _ in 0..200 {
        is_recorded = rows_with(&admin, "the key [secret]").await > 0;
        if is_recorded {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(is_recorded, "the tool call is recorded");
    assert_nowhere(&story).await;
}
