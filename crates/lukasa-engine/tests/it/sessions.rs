//! Sessions: what is kept of them, incognito sessions, and the trash.

use lukasa_core::{JobKind, Keep, ProjectScope, SessionState, Status};
use lukasa_engine::Error;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::sessions::{NewSession, SessionEdit, SessionFilter};

use crate::learning::{chat_about, memories, memory, story_where, user, work};

#[tokio::test]
async fn session_keep_setting_limits_stored_turns() {
    let (story, _) = story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    for (name, keep, left) in
        [("x", Keep::Excerpts, 1), ("n", Keep::Nothing, 0), ("f", Keep::Full, 2)]
    {
        let new = NewSession { id: Some(name.into()), keep: Some(keep), ..NewSession::default() };
        story.engine.sessions.open(&story.request(), new).await.unwrap();
        chat_about(&story, name, vec![user("Hello."), user("I live in Lisbon.")]).await;
        work(&story).await;
        let (turns, _) =
            story.engine.sessions.turns(&story.alice(), name, 0, 10, story.now()).await.unwrap();
        assert_eq!(turns.len(), left, "{keep:?}");
    }
    let sql = "select count(*) from passage where kind = 'turn'";
    let left: i64 = story.database.admin().await.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(left, 3);
}

#[tokio::test]
async fn incognito_session_leaves_no_rows() {
    let (story, chat) =
        story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    let new = NewSession { id: Some("i".into()), incognito: true, ..NewSession::default() };
    story.engine.sessions.open(&story.request(), new).await.unwrap();
    let said = story
        .engine
        .sessions
        .append_turns(&story.request(), "i", vec![user("I live in Lisbon.")])
        .await
        .unwrap();
    assert!(!said.kept);
    let ask =
        ContextRequest { session: Some("i".into()), ..ContextRequest::about("where do I live?") };
    story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    story.engine.sessions.close(&story.request(), "i", None).await.unwrap();
    work(&story).await;
    assert_eq!(chat.asked(), 0);
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let admin = story.database.admin().await;
    for table in ["session", "turn", "passage", "baseline", "retrieval", "pass", "idempotency"] {
        let sql = format!("select count(*) from {table}");
        let rows: i64 = admin.query_one(&sql, &[]).await.unwrap().get(0);
        assert_eq!(rows, 0, "{table}");
    }
}

#[tokio::test]
async fn archiving_an_active_session_learns_its_turns_and_a_message_reopens_it() {
    let (story, _) = story_where(vec![memory("User lives in Lisbon.", "I live in Lisbon")]).await;
    let (engine, request) = (&story.engine, || story.request());
    let say = async |text: &str| {
        engine.sessions.append_turns(&request(), "c", vec![user(text)]).await.unwrap().session
    };
    say("I live in Lisbon.").await;
    let archive = || SessionEdit { archived: Some(true), ..SessionEdit::default() };
    let archived = engine.sessions.edit(&request(), "c", archive()).await.unwrap();
    assert_eq!((archived.state, archived.closed_at), (SessionState::Archived, Some(story.now())));
    assert_eq!(work(&story).await, [WorkOutcome::Done(JobKind::Extract)]);
    assert_eq!(memories(&story, Status::Active).await.len(), 1);
    let kept = engine.sessions.get(&story.alice(), "c", story.now()).await.unwrap();
    assert_eq!((kept.state, kept.has_unextracted_turns()), (SessionState::Archived, false));

    let again = engine.sessions.edit(&request(), "c", archive()).await.unwrap();
    assert_eq!(again.state, SessionState::Archived);
    assert!(work(&story).await.is_empty(), "what is archived already is not learned from again");

    let reopened = say("One more thing.").await;
    assert_eq!((reopened.state, reopened.closed_at), (SessionState::Active, None));
    let closed = engine.sessions.close(&request(), "c", None).await.unwrap();
    assert!(closed.learning, "the new turn");
    work(&story).await;
}

#[tokio::test]
async fn trashed_session_is_not_found_and_can_be_restored() {
    let (story, _) = story_where(Vec::new()).await;
    story
        .engine
        .sessions
        .append_turns(&story.request(), "c", vec![user("The pottery class was fun.")])
        .await
        .unwrap();
    let found = story
        .engine
        .sessions
        .search(&story.alice(), "pottery", ProjectScope::All, 10, story.now())
        .await
        .unwrap();
    assert_eq!(found[0].session.id, "c");
    assert!(found[0].best.as_ref().unwrap().content.contains("pottery"));
    let edit = SessionEdit { title: Some(Some("Pottery".into())), archived: Some(true) };
    let edited = story.engine.sessions.edit(&story.request(), "c", edit).await.unwrap();
    assert_eq!((edited.title.as_deref(), edited.state), (Some("Pottery"), SessionState::Archived));
    story.engine.sessions.trash(&story.request(), "c").await.unwrap();
    assert!(
        story
            .engine
            .sessions
            .search(&story.alice(), "pottery", ProjectScope::All, 10, story.now())
            .await
            .unwrap()
            .is_empty()
    );
    let trash = SessionFilter { trashed: true, ..SessionFilter::default() };
    assert_eq!(
        story
            .engine
            .sessions
            .list(&story.alice(), trash, None, 10, story.now())
            .await
            .unwrap()
            .0
            .len(),
        1
    );
    story.engine.undo.restore_session(&story.request(), "c").await.unwrap();
    assert_eq!(
        story
            .engine
            .sessions
            .search(&story.alice(), "pottery", ProjectScope::All, 10, story.now())
            .await
            .unwrap()
            .len(),
        1
    );
    story.engine.sessions.trash(&story.request(), "c").await.unwrap();
    story.pass(24 * 31 * 3600);
    work(&story).await;
    assert!(matches!(
        story.engine.sessions.get(&story.alice(), "c", story.now()).await,
        Err(Error::SessionNotFound)
    ));
}
