//! Paused memory: what is imported, reported and titled by others than the user.

use lukasa_core::import::{ChatItem, ChatTurn, Format, ImportItem};
use lukasa_core::policy::Patch;
use lukasa_core::{FactId, NewTurn, Role};
use lukasa_engine::archive::{Archive, ImportOptions};
use lukasa_engine::context::{NewPrediction, NewUsage, PredictionResult};
use lukasa_engine::sessions::{NewSession, SessionEdit};
use lukasa_engine::{Error, Request, Result};

use crate::archive::source;
use crate::learning::{story_where, user, work};
use crate::story::Story;

async fn pause(story: &Story, paused: bool) {
    let patch = Patch { paused: Some(paused), ..Patch::default() };
    story.engine.policies.set(&story.request(), patch).await.unwrap();
}

fn chat() -> ImportItem {
    let turn = ChatTurn { role: Role::User, content: "I drink tea.".into(), said_at: None };
    let (source, title) = ("c1".into(), Some("Tea".into()));
    let (opened_at, before, last) = (None, 0, true);
    ImportItem::Chat(ChatItem { source, title, opened_at, before, turns: vec![turn], last })
}

fn is_paused<T>(answer: &Result<T>) -> bool {
    matches!(answer, Err(Error::MemoryPaused))
}

#[tokio::test]
async fn paused_memory_refuses_imports_of_assistants_and_accepts_those_of_the_user() {
    let story = Story::begin().await;
    pause(&story, true).await;
    let (archives, from, items) = (&story.engine.archives, source(Format::Claude), [chat()]);
    let agent = || story.by(story.assistant());
    for dry_run in [true, false] {
        let answer = archives.import_items(&agent(), &from, &items, dry_run).await;
        assert!(is_paused(&answer), "{answer:?}");
        let answer = archives.import_items(&agent(), &from, &[], dry_run).await;
        assert!(is_paused(&answer), "{answer:?}");
        let how = ImportOptions { dry_run, trust: false };
        let answer = archives.import_archive(&agent(), &from, Archive::default(), how).await;
        assert!(is_paused(&answer), "{answer:?}");
    }
    let imports = archives.imports(&story.alice(), story.now()).await.unwrap();
    assert!(imports.is_empty(), "{imports:?}");
    let imported = archives.import_items(&story.request(), &from, &items, false).await.unwrap();
    assert_eq!(imported.counts.turns, 1);
    let how = ImportOptions::default();
    archives.import_archive(&story.request(), &from, Archive::default(), how).await.unwrap();
}

fn prediction(fact: FactId) -> NewPrediction {
    let expects = "Will order a tea".into();
    NewPrediction { fact, expects, session: None, retrieval: None, turn: None }
}

fn contradicted(fact: FactId) -> NewUsage {
    let (kind, influence) = ("contradicted".into(), None);
    NewUsage { fact, session: None, retrieval: None, turn: None, kind, influence }
}

#[tokio::test]
async fn paused_memory_refuses_feedback_of_assistants() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Drinks tea").await);
    let (context, agent) = (&story.engine.context, || story.by(story.assistant()));
    let stated = context.predict(&agent(), prediction(tea)).await.unwrap().stated.id;
    pause(&story, true).await;
    let wrong = PredictionResult::Wrong;
    let reported =
        async |request: Request| context.report_outcome(&request, stated, wrong, None).await;
    assert!(is_paused(&context.predict(&agent(), prediction(tea)).await));
    assert!(is_paused(&reported(agent()).await));
    assert!(is_paused(&context.report_usage(&agent(), contradicted(tea)).await));
    let (used, _) = context.usage(&story.alice(), Some(tea), None, 10, story.now()).await.unwrap();
    assert_eq!(used.iter().map(|usage| usage.kind.as_str()).collect::<Vec<_>>(), ["predicted"]);
    context.predict(&story.request(), prediction(tea)).await.unwrap();
    context.report_usage(&story.request(), contradicted(tea)).await.unwrap();
    reported(story.request()).await.unwrap();
}

#[tokio::test]
async fn paused_memory_gives_no_title_to_a_session() {
    let (story, _) = story_where(Vec::new()).await;
    let sessions = &story.engine.sessions;
    let title = async |id: &str| {
        let session = sessions.get(&story.alice(), id, story.now()).await.unwrap();
        session.title
    };
    let turns = vec![user("I move to Lisbon."), NewTurn::saying(Role::Assistant, "Welcome!")];
    sessions.append_turns(&story.request(), "before", turns).await.unwrap();
    pause(&story, true).await;
    work(&story).await;
    assert_eq!(title("before").await, None, "the job waits");
    let (id, named) = (Some("meanwhile".to_owned()), Some("Tea".to_owned()));
    let new = NewSession { id, title: named.clone(), ..NewSession::default() };
    sessions.open(&story.by(story.assistant()), new).await.unwrap();
    assert_eq!(title("meanwhile").await, None);
    let rename = || SessionEdit { title: Some(named.clone()), archived: None };
    let renamed = sessions.edit(&story.by(story.assistant()), "before", rename()).await;
    assert!(is_paused(&renamed), "{renamed:?}");
    sessions.edit(&story.request(), "meanwhile", rename()).await.unwrap();
    assert_eq!(title("meanwhile").await.as_deref(), Some("Tea"));
    pause(&story, false).await;
    story.pass(600);
    work(&story).await;
    assert_eq!(title("before").await.as_deref(), Some("Moving to Lisbon"));
}
