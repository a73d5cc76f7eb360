//! Undo of an operation as a whole, and undo of undo.

use lukasa_core::{Caller, Edit, Origin, Status};
use lukasa_engine::Point;
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{NewMemory, Target, Update};
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

#[tokio::test]
async fn undo_last_of_an_agent_passes_over_what_it_may_not_reverse() {
    let story = Story::begin().await;
    let by = |key: &str| {
        story.pass(1);
        story.by(Caller::key(story.tenant, "alice", key, Origin::Assistant))
    };
    let facts = &story.engine.facts;
    for content in ["tea", "coffee"] {
        facts.save(&by("k1"), NewMemory::saying(content)).await.unwrap();
    }
    facts.save(&by("k2"), NewMemory::saying("mate")).await.unwrap();
    story.pass(1);
    story.save("milk").await;
    let others = ["mate", "milk"];
    for left in [vec!["tea"], vec![]] {
        story.engine.undo.undo_last(&by("k1")).await.unwrap();
        assert_eq!(story.active().await, [left, others.to_vec()].concat());
    }
    let refused = story.engine.undo.undo_last(&by("k1")).await.unwrap_err();
    assert_eq!(refused.code(), "human_needed");
    assert_eq!(story.active().await, others);
    story.pass(1);
    story.engine.undo.undo_last(&story.request()).await.unwrap();
    assert_eq!(story.active().await, ["mate"], "the user's own is their newest");
}

/// Whether a domain is open, and admits what is inferred about it.
pub(crate) async fn domain(story: &Story, name: &str) -> (bool, bool) {
    let all = story.engine.directory.domains(&story.alice(), story.now()).await.unwrap();
    let found = all.iter().find(|one| one.domain.name == name).unwrap();
    (found.opted_in_at.is_some(), found.admits_inferred)
}

#[tokio::test]
async fn undo_of_a_withdrawn_consent_opens_no_domain_that_the_user_has_closed_since() {
    let story = Story::begin().await;
    story.engine.consents.give(&story.request(), "finance").await.unwrap();
    for closes in [false, true] {
        story.pass(1);
        let withdrawn = story.engine.consents.withdraw(&story.request(), "finance").await.unwrap();
        assert_eq!(domain(&story, "finance").await, (true, false));
        story.pass(1);
        if closes {
            let (request, close) = (story.request(), OptIn::Close);
            story.engine.directory.set_opt_in(&request, "finance", close).await.unwrap();
        }
        story.pass(1);
        let undone = story.engine.undo.undo(&story.request(), withdrawn.operation.unwrap()).await;
        if closes {
            assert_eq!(undone.unwrap_err().code(), "not_undoable");
            assert_eq!(domain(&story, "finance").await, (false, false));
        } else {
            undone.unwrap();
            assert_eq!(domain(&story, "finance").await, (true, true));
        }
    }
}

#[tokio::test]
async fn undo_of_a_consent_closes_a_domain_only_if_the_consent_opened_it() {
    let story = Story::begin().await;
    let custom = lukasa_core::Domain {
        name: "salary".into(),
        display_name: "Salary".into(),
        sensitive: true,
        requires_opt_in: false,
        default_expiration_days: None,
        builtin: false,
    };
    story.engine.directory.put_domain(story.tenant, &custom).await.unwrap();
    let (request, open) = (story.request(), OptIn::Open);
    story.engine.directory.set_opt_in(&request, "health", open).await.unwrap();
    for (name, was_open) in [("salary", false), ("finance", false), ("health", true)] {
        story.pass(1);
        assert_eq!(domain(&story, name).await, (was_open, false), "{name}");
        let given = story.engine.consents.give(&story.request(), name).await.unwrap();
        let mut operation = given.operation.unwrap();
        for after in [(was_open, false), (true, true), (was_open, false)] {
            story.pass(1);
            let undone = story.engine.undo.undo(&story.request(), operation).await;
            if after.1 && !was_open {
                assert_eq!(undone.unwrap_err().code(), "not_undoable", "{name}");
                assert_eq!(domain(&story, name).await, (false, false), "only the user opens it");
                break;
            }
            assert_eq!(domain(&story, name).await, after, "{name}");
            operation = undone.unwrap().operation.unwrap();
        }
    }
}

#[tokio::test]
async fn undo_of_an_undone_consent_neither_opens_nor_closes_a_domain_for_the_user() {
    let story = Story::begin().await;
    let set = async |how: OptIn| {
        story.pass(1);
        story.engine.directory.set_opt_in(&story.request(), "finance", how).await.unwrap();
    };
    let given = story.engine.consents.give(&story.request(), "finance").await.unwrap();
    story.pass(1);
    let undone = story.engine.undo.undo(&story.request(), given.operation.unwrap()).await.unwrap();
    set(OptIn::Open).await;
    set(OptIn::Close).await;
    story.pass(1);
    let undone = undone.operation.unwrap();
    let again = story.engine.undo.undo(&story.request(), undone).await;
    assert_eq!(again.unwrap_err().code(), "not_undoable");
    assert_eq!(domain(&story, "finance").await, (false, false));
    set(OptIn::Open).await;
    story.pass(1);
    let again = story.engine.undo.undo(&story.request(), undone).await.unwrap();
    assert_eq!(domain(&story, "finance").await, (true, true));
    story.pass(1);
    story.engine.undo.undo(&story.request(), again.operation.unwrap()).await.unwrap();
    assert_eq!(domain(&story, "finance").await, (true, false), "the user has opened it");
}

#[tokio::test]
async fn undo_of_a_consent_closes_no_domain_that_the_user_has_opened_since() {
    let story = Story::begin().await;
    let given = story.engine.consents.give(&story.request(), "finance").await.unwrap();
    for how in [OptIn::Close, OptIn::Open] {
        story.pass(1);
        story.engine.directory.set_opt_in(&story.request(), "finance", how).await.unwrap();
    }
    story.pass(1);
    story.engine.undo.undo(&story.request(), given.operation.unwrap()).await.unwrap();
    assert_eq!(domain(&story, "finance").await, (true, false));
}

#[tokio::test]
async fn undo_of_a_consent_is_blocked_by_one_that_the_user_has_given_since() {
    let story = Story::begin().await;
    let give = async || {
        story.pass(1);
        let given = story.engine.consents.give(&story.request(), "finance").await.unwrap();
        given.operation.unwrap()
    };
    let undo = async |operation| {
        story.pass(1);
        story.engine.undo.undo(&story.request(), operation).await
    };
    let first = give().await;
    story.pass(1);
    story.engine.consents.withdraw(&story.request(), "finance").await.unwrap();
    let second = give().await;
    assert_eq!(undo(first).await.unwrap_err().code(), "undo_blocked");
    assert_eq!(domain(&story, "finance").await, (true, true), "the second consent is in effect");
    undo(second).await.unwrap();
    assert_eq!(domain(&story, "finance").await, (true, false), "the first consent opened it");
    undo(first).await.unwrap();
    assert_eq!(domain(&story, "finance").await, (false, false));
}
