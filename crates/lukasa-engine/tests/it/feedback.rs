//! Predictions and ratings weigh inferred memories, and nothing that the user stated.

use lukasa_core::consolidation::Move;
use lukasa_core::{FactId, Status};
use lukasa_engine::context::{MemoryRating, NewPrediction, NewUsage, PredictionResult};
use lukasa_engine::facts::Target;
use lukasa_engine::sessions::NewSession;
use lukasa_engine::{Error, IdempotencyKey, Request};
use serde_json::json;

use crate::learning::{chat_about, memories, story_where, user, work};
use crate::story::Story;

/// A story with an inferred and a stated memory.
async fn story() -> (Story, FactId, FactId) {
    let tea = json!({"op": "add", "content": "User drinks tea.", "kind": "habit", "importance": 7,
           "confidence": 0.8, "evidence": [{"turn": 1, "quote": "I drink tea"}]});
    let (story, _) = story_where(vec![tea]).await;
    chat_about(&story, "c", vec![user("I drink tea.")]).await;
    work(&story).await;
    let inferred = memories(&story, Status::Active).await;
    let inferred = inferred.iter().find(|version| version.extracted).unwrap().fact;
    let stated = story.save("Drinks no coffee").await.memories[0].version.fact;
    (story, inferred, stated)
}

#[tokio::test]
async fn prediction_outcomes_weigh_inferred_memories_only() {
    let (story, inferred, stated) = story().await;
    for fact in [inferred, stated] {
        let new = NewPrediction {
            fact,
            expects: "Will order a tea".into(),
            session: None,
            retrieval: None,
            turn: None,
        };
        let context = &story.engine.context;
        let made = context.predict(&story.request(), new).await.unwrap().stated.id;
        let wrong = PredictionResult::Wrong;
        context.report_outcome(&story.request(), made, wrong, None).await.unwrap();
    }
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.fact, step.what), (inferred, Move::Weigh));
    assert!((step.after.confidence - 0.65).abs() < 1e-6);
}

#[tokio::test]
async fn rating_down_weakens_an_inferred_memory_once_and_no_stated_one() {
    let (story, inferred, stated) = story().await;
    for fact in [inferred, stated] {
        let down = Some(MemoryRating::Down);
        story.engine.context.rate(&story.request(), &Target::Id(fact), down).await.unwrap();
    }
    let report = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    let [step] = &report.steps[..] else { panic!("one step: {:?}", report.steps) };
    assert_eq!((step.fact, step.what), (inferred, Move::Weigh));
    assert!(step.after.confidence < 0.8);
    let again = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(again.steps.is_empty(), "it counts once");
    // Removed before the next consolidation, a rating does not count.
    let target = Target::Id(inferred);
    let rate = async |rating| story.engine.context.rate(&story.request(), &target, rating).await;
    story.pass(60);
    rate(Some(MemoryRating::Down)).await.unwrap();
    rate(None).await.unwrap();
    let last = story.engine.consolidation.consolidate(&story.request(), false).await.unwrap();
    assert!(last.steps.is_empty());
}

#[tokio::test]
async fn satisfaction_is_the_share_of_memories_rated_up() {
    let story = Story::begin().await;
    for number in 0..10 {
        let fact = Story::fact(&story.save(&format!("Likes tea number {number}")).await);
        let rating = if number == 0 { MemoryRating::Down } else { MemoryRating::Up };
        let target = Target::Id(fact);
        story.engine.context.rate(&story.request(), &target, Some(rating)).await.unwrap();
    }
    let insights = story.engine.insights.report(&story.alice(), 30, story.now()).await.unwrap();
    let figure = insights.quality.satisfaction.unwrap();
    assert!((figure.value - 0.9).abs() < 1e-9 && figure.count == 10 && figure.is_met());
}

#[tokio::test]
async fn words_of_predictions_outcomes_and_uses_are_screened() {
    const KEY: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("Likes tea").await);
    let context = &story.engine.context;
    let new = NewSession { id: Some("dark".into()), incognito: true, ..NewSession::default() };
    story.engine.sessions.open(&story.request(), new).await.unwrap();
    let expects = |text: &str, session: Option<&str>| NewPrediction {
        fact,
        expects: text.into(),
        session: session.map(str::to_owned),
        retrieval: None,
        turn: None,
    };
    let used = |text: &str, session: Option<&str>| NewUsage {
        fact,
        session: session.map(str::to_owned),
        retrieval: None,
        turn: None,
        kind: "applied".into(),
        influence: Some(text.into()),
    };
    let secret = format!("Will paste {KEY} again");
    let masked = Some("Will paste [secret] again".to_owned());
    let made = context.predict(&story.request(), expects(&secret, None)).await.unwrap();
    assert_eq!(made.stated.influence, masked);
    let report = context.report_usage(&story.request(), used(&secret, None)).await.unwrap();
    assert_eq!(report.influence, masked);
    let health = "User has depression.";
    let closed = context.predict(&story.request(), expects(health, None)).await;
    assert!(matches!(closed, Err(Error::OptInNeeded(_))), "{closed:?}");
    let closed = context.report_usage(&story.request(), used(health, None)).await;
    assert!(matches!(closed, Err(Error::OptInNeeded(_))), "{closed:?}");
    let (id, wrong) = (made.stated.id, PredictionResult::Wrong);
    let note = Some(health.to_owned());
    let closed = context.report_outcome(&story.request(), id, wrong, note).await;
    assert!(matches!(closed, Err(Error::OptInNeeded(_))), "{closed:?}");
    let dark = context.predict(&story.request(), expects("Tea", Some("dark"))).await;
    assert!(matches!(dark, Err(Error::Invalid(_))), "{dark:?}");
    let dark = context.report_usage(&story.request(), used("Tea", Some("dark"))).await;
    assert!(matches!(dark, Err(Error::Invalid(_))), "{dark:?}");
    let admin = story.database.admin().await;
    let row = admin.query_one("select count(*) from usage", &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 2);
}

#[tokio::test]
async fn repeated_outcome_has_the_time_of_the_first_report() {
    let story = Story::begin().await;
    let fact = Story::fact(&story.save("Likes tea").await);
    let expects = "Will order tea".to_owned();
    let new = NewPrediction { fact, expects, session: None, retrieval: None, turn: None };
    let made = story.engine.context.predict(&story.request(), new).await.unwrap().stated.id;
    let key = IdempotencyKey { key: "k".into(), request_hash: vec![1] };
    let report = async |key: Option<IdempotencyKey>| {
        story.pass(60);
        let request = Request { idempotency: key, ..story.request() };
        let wrong = PredictionResult::Wrong;
        story.engine.context.report_outcome(&request, made, wrong, None).await.unwrap().outcome
    };
    let first = report(Some(key.clone())).await;
    assert_eq!(first.unwrap().1, story.now());
    assert_eq!(report(Some(key)).await, first, "the stored answer");
    assert_eq!(report(None).await, first, "the same outcome again");
}
