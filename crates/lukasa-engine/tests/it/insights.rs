//! Insights: daily counts of a user's memory.

use std::collections::BTreeMap;
use std::time::Duration;

use lukasa_core::Ids;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_store::context::{self, GivenBaseline, Retrieval};
use lukasa_store::passage::RecallState;

use crate::learning::{answer, chat_about, story_saying, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

#[tokio::test]
async fn insights_count_memories_at_the_end_of_each_day() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Drinks tea").await);
    let mut lisbon = NewMemory::saying("Lives in Lisbon");
    lisbon.claim.domain = Some("travel".into());
    story.engine.facts.save(&story.request(), lisbon).await.unwrap();
    story.pass(DAY);
    story.engine.removals.forget(&story.request(), &Target::Id(tea)).await.unwrap();
    story.pass(DAY);
    story.save("Sails on Sundays").await;
    let seen = story.engine.insights.report(&story.alice(), 4, story.now()).await.unwrap();
    let there: Vec<i64> = seen.days.iter().map(|day| day.strong).collect();
    assert_eq!(there, [0, 2, 1, 2]);
    let saved: Vec<i64> = seen.days.iter().map(|day| day.saved).collect();
    assert_eq!(saved, [0, 2, 0, 1]);
    let forgotten: Vec<i64> = seen.days.iter().map(|day| day.forgotten).collect();
    assert_eq!(forgotten, [0, 0, 1, 0]);
    let domains: Vec<_> = seen.days.iter().map(|day| day.domains.clone()).collect();
    let of = |counts: &[(&str, i64)]| -> BTreeMap<String, i64> {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let one = of(&[("travel", 1)]);
    let both = of(&[("", 1), ("travel", 1)]);
    assert_eq!(domains, [of(&[]), both.clone(), one, both]);
    assert_eq!(seen.domains, [(String::new(), 1), ("travel".to_owned(), 1)]);
    // A shorter period begins with the facts that exist at its start.
    let later = story.engine.insights.report(&story.alice(), 2, story.now()).await.unwrap();
    assert_eq!(later.days, seen.days[2..]);
    for days in [0, -1, 91] {
        assert!(
            story.engine.insights.report(&story.alice(), days, story.now()).await.is_err(),
            "{days}"
        );
    }
}

#[tokio::test]
async fn insights_count_learning_and_recall_separately() {
    let memory = serde_json::json!({"op": "add", "content": "User keeps bees.", "kind": "habit",
        "importance": 8, "confidence": 0.9, "evidence": [{"turn": 1, "quote": "I keep bees"}]});
    let (story, _) = story_saying(move |_| answer(std::slice::from_ref(&memory))).await;
    chat_about(&story, "c", vec![user("I keep bees."), user("What is the time?")]).await;
    work(&story).await;
    for _ in 0..3 {
        let mut ask = ContextRequest::about("What do I keep?");
        ask.session = Some("other".into());
        ask.within = Duration::from_secs(60);
        story.pass(1);
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    }
    // A retrieval is recorded after the response.
    let mut today = None;
    for _ in 0..500 {
        let seen = story.engine.insights.report(&story.alice(), 1, story.now()).await.unwrap();
        let day = seen.days[0].clone();
        if day.recalls.as_ref().is_some_and(|recalls| recalls.count == 3) {
            today = Some(day);
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let today = today.expect("three retrievals are recorded");
    assert_eq!((today.saved, today.learned, today.proposed), (0, 1, 0));
    let recalls = today.recalls.unwrap();
    assert_eq!(
        (recalls.degraded, recalls.frozen),
        (0, 2),
        "all but the first had the same baseline"
    );
    assert!(recalls.tokens > 0.0 && recalls.p50 <= recalls.p99);
    let asked = today.asked.unwrap();
    assert!(asked.calls >= 1 && asked.input_tokens > 0, "{asked:?}");
}

#[tokio::test]
async fn first_retrieval_of_a_user_is_recorded_also_after_the_first_write() {
    let story = Story::begin().await;
    story.save("User lives in Porto.").await;
    let (alice, store) = (story.alice(), story.database.store());
    let mut ids = Ids::new(story.now(), [7; 16]);
    for (epoch, is_recorded) in [(0, true), (1, false)] {
        let new = Retrieval {
            id: ids.retrieval(),
            session: None,
            at: story.now(),
            etag: None,
            dynamic: String::new(),
            trace: serde_json::json!({}),
            facts: Vec::new(),
            baseline: serde_json::Value::Null,
        };
        let state = RecallState { epoch, ..RecallState::default() };
        let scope = store.write(alice.tenant, alice.user).await.unwrap();
        context::insert_retrieval(&scope, &new, None, state).await.unwrap();
        let found = context::find_retrieval(&scope, new.id).await.unwrap();
        assert_eq!(found.is_some(), is_recorded, "made in epoch {epoch}");
        scope.commit().await.unwrap();
    }
}

#[tokio::test]
async fn retrieval_of_a_user_being_erased_is_not_recorded() {
    let story = Story::begin().await;
    story.save("User lives in Porto.").await;
    // The test marks the user as deleted without an erasure.
    story.database.leave_unchecked();
    let admin = story.database.admin().await;
    let (alice, store) = (story.alice(), story.database.store());
    let mut ids = Ids::new(story.now(), [7; 16]);
    for (erased, expected) in [(false, 1_i64), (true, 0)] {
        if erased {
            admin.batch_execute("update users set deleted_at = now()").await.unwrap();
        }
        admin.batch_execute("delete from retrieval; delete from given_baseline").await.unwrap();
        let new = Retrieval {
            id: ids.retrieval(),
            session: None,
            at: story.now(),
            etag: Some("etag".to_owned()),
            dynamic: String::new(),
            trace: serde_json::json!({}),
            facts: Vec::new(),
            baseline: serde_json::Value::Null,
        };
        let given = GivenBaseline {
            etag: "etag".to_owned(),
            items: serde_json::json!([]),
            facts: Vec::new(),
        };
        // Nothing was stored when it was made.
        let state = RecallState::default();
        let scope = store.write(alice.tenant, alice.user).await.unwrap();
        context::insert_retrieval(&scope, &new, Some(&given), state).await.unwrap();
        scope.commit().await.unwrap();
        for table in ["retrieval", "given_baseline"] {
            let sql = format!("select count(*) from {table}");
            let rows: i64 = admin.query_one(&sql, &[]).await.unwrap().get(0);
            assert_eq!(rows, expected, "{table}, erased: {erased}");
        }
    }
}
