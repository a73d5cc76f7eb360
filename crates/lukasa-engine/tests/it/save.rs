//! Saving, duplicates, and refused saves.

use lukasa_core::{Force, Origin, Status, Voice};
use lukasa_engine::Error;
use lukasa_engine::facts::{NewMemory, Target, Update};

use crate::story::Story;

#[tokio::test]
async fn saved_memory_is_readable_at_once() {
    let story = Story::begin().await;
    let saved = story.save("I prefer window seats").await;
    let memory = story.get(Story::fact(&saved)).await.unwrap();
    assert_eq!(memory.version.claim.content, "I prefer window seats");
    assert_eq!(memory.status, Status::Active);
    assert_eq!(memory.version.voice(), Voice::stated(Origin::UserSaid));
    assert_eq!(memory.version.confidence, None);
    assert!(saved.operation.is_some());
    assert_eq!(saved.message, "Saved: I prefer window seats");
}

#[tokio::test]
async fn saving_a_duplicate_returns_the_existing_memory() {
    let story = Story::begin().await;
    let first = story.save("I prefer window seats").await;
    story.pass(10);
    let again = story.save("  i prefer WINDOW seats ").await;
    assert_eq!(Story::fact(&again), Story::fact(&first));
    assert_eq!(again.operation, None);
    assert_eq!(story.active().await.len(), 1);
}

#[tokio::test]
async fn forgotten_memory_is_not_a_duplicate() {
    let story = Story::begin().await;
    let first = story.save("tea").await;
    story.pass(1);
    story.engine.removals.forget(&story.request(), &Target::Id(Story::fact(&first))).await.unwrap();
    story.pass(1);
    let again = story.save("tea").await;
    assert_ne!(Story::fact(&again), Story::fact(&first));
}

#[tokio::test]
async fn hard_memory_key_is_taken_once() {
    let story = Story::begin().await;
    let mut diet = NewMemory::saying("Eats vegan");
    diet.claim.force = Force::Hard;
    diet.claim.domain = Some("food".into());
    diet.claim.key = Some("diet".into());
    diet.claim.value = Some("vegan".into());
    let first = story.engine.facts.save(&story.request(), diet.clone()).await.unwrap();
    story.pass(1);
    diet.claim.content = "Eats vegetarian".into();
    diet.claim.value = Some("vegetarian".into());
    match story.engine.facts.save(&story.request(), diet.clone()).await {
        Err(Error::KeyTaken(Some(holder))) => {
            assert_eq!(holder.version.fact, Story::fact(&first));
        }
        other => panic!("the key is taken: {other:?}"),
    }
    // A proposal under the same key can exist beside it.
    story.engine.facts.propose(&story.request(), diet).await.unwrap();
}

#[tokio::test]
async fn saving_a_rule_under_an_existing_key_changes_the_rule() {
    let story = Story::begin().await;
    let mut diet = NewMemory::saying("vegan");
    diet.claim.force = Force::Hard;
    diet.claim.domain = Some("food".into());
    diet.claim.key = Some("diet".into());
    diet.claim.value = Some("vegan".into());
    let save = async |new: &NewMemory| {
        story.pass(1);
        story.engine.facts.save_or_change(&story.request(), new.clone()).await.unwrap()
    };
    let first = save(&diet).await;
    diet.claim.content = "vegetarian".into();
    diet.claim.value = Some("vegetarian".into());
    let second = save(&diet).await;
    assert_eq!(Story::fact(&second), Story::fact(&first));
    assert_eq!((second.memories[0].version.number, second.verb), (2, lukasa_core::Verb::Change));
    assert_eq!(second.memories[0].version.claim.value, Some("vegetarian".into()));
    assert_eq!(story.active().await, ["vegetarian"]);
    // An assistant cannot change a rule that the user set: the change waits for the user.
    diet.claim.value = Some("meat".into());
    diet.claim.content = "meat".into();
    let assistant = story.by(story.assistant());
    story.engine.facts.save_or_change(&assistant, diet).await.unwrap();
    assert_eq!(story.active().await, ["vegetarian"]);
}

#[tokio::test]
async fn closed_domain_refuses_saves_until_the_user_opts_in() {
    use lukasa_engine::directory::OptIn;
    let story = Story::begin().await;
    let mut new = NewMemory::saying("Has type 2 diabetes");
    new.claim.domain = Some("health".into());
    let refused = story.engine.facts.save(&story.request(), new.clone()).await;
    assert!(matches!(refused, Err(Error::OptInNeeded(_))));
    let refused = story.engine.facts.propose(&story.by(story.assistant()), new.clone()).await;
    assert!(matches!(refused, Err(Error::OptInNeeded(_))));
    let assistant = story.by(story.assistant());
    let agent = story.engine.directory.set_opt_in(&assistant, "health", OptIn::Open).await;
    assert!(agent.is_err(), "an assistant cannot consent");
    story.engine.directory.set_opt_in(&story.request(), "health", OptIn::Open).await.unwrap();
    story.engine.facts.save(&story.request(), new).await.unwrap();
}

#[tokio::test]
async fn unknown_domain_and_long_content_are_named_in_errors() {
    let story = Story::begin().await;
    let mut new = NewMemory::saying("x");
    new.claim.domain = Some("astrology".into());
    let unknown = story.engine.facts.save(&story.request(), new.clone()).await;
    assert!(matches!(unknown, Err(Error::DomainNotFound(name)) if name == "astrology"));
    new.claim.domain = None;
    new.claim.content = "x".repeat(2_001);
    match story.engine.facts.save(&story.request(), new).await {
        Err(Error::Invalid(faults)) => assert_eq!(faults[0].field, "content"),
        other => panic!("too long: {other:?}"),
    }
}

#[tokio::test]
async fn extraction_cannot_change_stated_memory() {
    let story = Story::begin().await;
    let said = story.save("I am vegetarian").await;
    let target = Target::Id(Story::fact(&said));
    story.pass(1);
    let request = story.by(story.extractor());
    let mut guess = Update::change(lukasa_core::Edit::content("I eat meat"));
    guess.confidence = Some(1.0);
    let refused = story.engine.facts.update(&request, &target, guess).await.unwrap_err();
    assert_eq!(refused.code(), "less_trusted");
    for refused in [
        story.engine.removals.forget(&story.by(story.extractor()), &target).await,
        story.engine.removals.delete(&story.by(story.extractor()), &target).await,
        story.engine.removals.erase(&story.by(story.extractor()), &target).await,
    ] {
        assert_eq!(refused.unwrap_err().code(), "less_trusted");
    }
    assert_eq!(story.active().await, ["I am vegetarian"]);
}

/// The database enforces the same rule as the code above; here the code is bypassed.
#[tokio::test]
async fn database_refuses_extraction_over_stated_memory() {
    let story = Story::begin().await;
    let said = story.save("I am vegetarian").await;
    let version = &said.memories[0].version;
    let admin = story.database.admin().await;
    let user = story.alice().user.uuid();
    let op = lukasa_core::Ids::new(story.now(), [99; 16]).draw();
    admin
        .execute(
            "insert into operation select user_id, tenant_id, $2, recorded_at + interval '1 s', \
             'change', 'job', 'x', 'user_turn', true, facts, null from operation where user_id = $1",
            &[&user, &op],
        )
        .await
        .unwrap();
    let closed = admin
        .execute(
            "update fact_version set known_until = known_from + interval '1 s', closed_by = $3 \
             where user_id = $1 and version_id = $2",
            &[&user, &version.id.uuid(), &op],
        )
        .await
        .unwrap_err();
    let constraint = closed.as_db_error().and_then(|e| e.constraint()).map(str::to_owned);
    assert_eq!(constraint.as_deref(), Some("said_over_extracted"));
}

#[tokio::test]
async fn idempotent_retry_gets_the_same_response() {
    use lukasa_engine::IdempotencyKey;
    let story = Story::begin().await;
    let key =
        |hash: u8| Some(IdempotencyKey { key: "retry-1".into(), request_hash: vec![hash; 32] });
    let mut request = story.request();
    request.idempotency = key(1);
    let first = story.engine.facts.save(&request, NewMemory::saying("tea")).await.unwrap();
    story.pass(60);
    let mut request = story.request();
    request.idempotency = key(1);
    let again = story.engine.facts.save(&request, NewMemory::saying("tea")).await.unwrap();
    assert_eq!(again, first);
    request.idempotency = key(2);
    let other = story.engine.facts.save(&request, NewMemory::saying("coffee")).await.unwrap_err();
    assert_eq!(other.code(), "idempotency_mismatch");
    assert_eq!(story.active().await, ["tea"]);
}

#[tokio::test]
async fn idempotent_retry_after_expiry_gets_the_same_response() {
    let story = Story::begin().await;
    let mut trip = NewMemory::saying("in Rome this week");
    trip.valid_until = Some(crate::story::time(60));
    let key = lukasa_engine::IdempotencyKey { key: "trip".into(), request_hash: vec![1] };
    let mut request = story.request();
    request.idempotency = Some(key.clone());
    let first = story.engine.facts.save(&request, trip.clone()).await.unwrap();
    story.pass(3600);
    let mut late = story.request();
    late.idempotency = Some(key);
    assert_eq!(story.engine.facts.save(&late, trip).await.unwrap(), first);
}

#[tokio::test]
async fn extraction_cannot_erase_undone_stated_memory() {
    let story = Story::begin().await;
    let said = story.save("I am vegetarian").await;
    story.pass(1);
    let undone = story.engine.undo.undo(&story.request(), said.operation.unwrap()).await.unwrap();
    story.pass(1);
    let target = Target::Id(Story::fact(&said));
    let erased =
        story.engine.removals.erase(&story.by(story.extractor()), &target).await.unwrap_err();
    assert_eq!(erased.code(), "less_trusted");
    story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    assert_eq!(story.active().await, ["I am vegetarian"]);
}
