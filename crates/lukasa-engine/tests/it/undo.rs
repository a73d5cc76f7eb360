//! Undo of an operation as a whole, and undo of undo.

use lukasa_core::{Edit, Status};
use lukasa_engine::Point;
use lukasa_engine::facts::{Target, Update};
use lukasa_store::list::ListFilter;

use crate::story::Story;

/// All current versions, without the ids and times that every write renews.
async fn state(story: &Story) -> Vec<String> {
    let all = story.list(ListFilter::default(), Point::default()).await;
    let mut lines: Vec<String> = all
        .iter()
        .map(|m| {
            let v = &m.version;
            let content = &v.claim.content;
            format!("{} #{} {content} {:?} {:?}", v.fact, v.number, m.status, v.valid)
        })
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn undo_and_redo_work_for_every_verb() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    let other = Story::fact(&story.save("biscuits").await);
    let target = Target::Id(fact);
    for verb in ["change", "correct", "forget", "delete", "confirm", "link"] {
        story.pass(10);
        let before = state(&story).await;
        let request = story.request();
        let done = match verb {
            "change" => {
                story
                    .engine
                    .facts
                    .update(&request, &target, Update::change(Edit::content("coffee")))
                    .await
            }
            "correct" => {
                story
                    .engine
                    .facts
                    .update(&request, &target, Update::correct(Edit::content("mate")))
                    .await
            }
            "forget" => story.engine.removals.forget(&request, &target).await,
            "delete" => story.engine.removals.delete(&request, &target).await,
            "confirm" => {
                let yes = lukasa_engine::facts::ProposalDecision::Yes {
                    digest: None,
                    edit: Box::default(),
                };
                story.engine.facts.confirm(&request, &target, yes).await
            }
            _ => story.engine.facts.link(&request, &target, &Target::Id(other), "goes_with").await,
        };
        let after = state(&story).await;
        let operation = done.unwrap().operation.unwrap();
        story.pass(1);
        let undone = story.engine.undo.undo(&story.request(), operation).await.unwrap();
        assert_eq!(state(&story).await, before, "undo of {verb}");
        let twice = story.engine.undo.undo(&story.request(), operation).await.unwrap_err();
        assert_eq!(twice.code(), "already_undone", "{verb}");
        story.pass(1);
        let redone =
            story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
        assert_eq!(state(&story).await, after, "undo of undo of {verb}");
        story.pass(1);
        story.engine.undo.undo(&story.request(), redone.operation.unwrap()).await.unwrap();
        assert_eq!(state(&story).await, before, "undo of undo of undo of {verb}");
    }
}

#[tokio::test]
async fn undo_of_save_removes_and_redo_restores_the_memory() {
    let story = Story::begin().await;
    let saved = story.save("tea").await;
    story.pass(1);
    let undone = story.engine.undo.undo(&story.request(), saved.operation.unwrap()).await.unwrap();
    assert!(state(&story).await.is_empty());
    story.pass(1);
    story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    assert_eq!(story.active().await, ["tea"]);
    assert_eq!(story.get(Story::fact(&saved)).await.unwrap().status, Status::Active);
}

#[tokio::test]
async fn blocked_undo_names_the_later_operation() {
    let story = Story::begin().await;
    let saved = story.save("tea").await;
    story.pass(1);
    let changed = story.change(Story::fact(&saved), "coffee").await;
    let refused =
        story.engine.undo.undo(&story.request(), saved.operation.unwrap()).await.unwrap_err();
    match refused {
        lukasa_engine::Error::UndoBlocked(by) => assert_eq!(Some(by), changed.operation),
        other => panic!("blocked: {other:?}"),
    }
}

#[tokio::test]
async fn operation_log_shows_undos() {
    let story = Story::begin().await;
    let saved = story.save("tea").await;
    story.pass(1);
    let undone = story.engine.undo.undo(&story.request(), saved.operation.unwrap()).await.unwrap();
    let log = story
        .engine
        .facts
        .operations(&story.alice(), None, None, 10, story.now())
        .await
        .unwrap()
        .operations;
    assert_eq!(log[0].undoes, saved.operation);
    assert_eq!(log[1].undone_by, undone.operation);
    let foreign =
        lukasa_core::OperationId::from_uuid(lukasa_core::Ids::new(story.now(), [5; 16]).draw());
    let missing = story.engine.undo.undo(&story.request(), foreign).await.unwrap_err();
    assert_eq!(missing.code(), "operation_not_found");
}

#[tokio::test]
async fn undo_last_goes_back_step_by_step() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("tea").await);
    for content in ["coffee", "mate"] {
        story.pass(1);
        story.change(fact, content).await;
    }
    for left in [Some("coffee"), Some("tea"), None] {
        story.pass(1);
        story.engine.undo.undo_last(&story.request()).await.unwrap();
        assert_eq!(story.active().await.first().map(String::as_str), left);
    }
    let nothing = story.engine.undo.undo_last(&story.request()).await.unwrap_err();
    assert_eq!(nothing.code(), "operation_not_found");
}
