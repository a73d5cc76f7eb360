//! A baseline that was rendered before is served only while a server without it would render the same.

use std::time::Duration;

use jiff::SignedDuration;
use lukasa_engine::Engine;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target};

use crate::story::Story;

async fn baseline(engine: &Engine, story: &Story) -> String {
    let mut ask = ContextRequest::about("hello");
    ask.within = Duration::from_secs(60);
    let context = engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    context.baseline.content
}

/// The baseline of a server that has rendered one before, which is that of a new server.
async fn current(other: &Engine, story: &Story) -> String {
    let fresh = Engine::connect(&story.database.connect()).unwrap();
    let (kept, new) = (baseline(other, story).await, baseline(&fresh, story).await);
    assert_eq!(kept, new);
    assert_eq!(baseline(other, story).await, new);
    kept
}

#[tokio::test]
async fn baseline_cache_is_not_used_after_a_change_on_another_server() {
    let story = Story::begin().await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    let tea = Story::fact(&story.save("Likes green tea").await);
    assert!(current(&other, &story).await.contains("green"));
    story.save("Owns a red bicycle").await;
    assert!(current(&other, &story).await.contains("bicycle"));
    story.pass(200_000);
    story.change(tea, "Likes black tea").await;
    assert!(current(&other, &story).await.contains("black"));
    let target = Target::Id(tea);
    story.engine.removals.erase(&story.request(), &target).await.unwrap();
    let after = current(&other, &story).await;
    assert!(!after.contains("tea") && after.contains("bicycle"), "{after}");
}

#[tokio::test]
async fn baseline_cache_is_not_used_for_what_has_expired_or_was_closed() {
    let story = Story::begin().await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    story.save("Owns a red bicycle").await;
    let mut visit = NewMemory::saying("Is in Porto this week");
    visit.valid_until = Some(story.now() + SignedDuration::from_hours(1));
    story.engine.facts.save(&story.request(), visit).await.unwrap();
    let mut food = NewMemory::saying("Cooks with saffron");
    food.claim.domain = Some("food".to_owned());
    story.engine.facts.save(&story.request(), food).await.unwrap();
    let all = current(&other, &story).await;
    assert!(all.contains("Porto") && all.contains("saffron"), "{all}");
    story.pass(7_200);
    assert!(!current(&other, &story).await.contains("Porto"));
    // The tenant closes the domain: the user's record does not change.
    let sql = "insert into domain (tenant_id, name, display_name, sensitive, requires_opt_in) \
               select tenant_id, 'food', 'Food', true, true from tenant where name = 'acme'";
    story.database.admin().await.batch_execute(sql).await.unwrap();
    let rest = current(&other, &story).await;
    assert!(!rest.contains("saffron") && rest.contains("bicycle"), "{rest}");
}

#[tokio::test]
async fn baseline_cache_is_not_used_after_a_portrait_was_phrased() {
    let story = Story::begin().await;
    story.database.leave_unchecked();
    let other = Engine::connect(&story.database.connect()).unwrap();
    let mut facts = Vec::new();
    for content in ["Owns a red bicycle", "Owns a blue kayak"] {
        facts.push(Story::fact(&story.save(content).await));
    }
    assert!(current(&other, &story).await.contains("kayak"));
    let admin = story.database.admin().await;
    for (number, text) in
        [(1, "Has a bicycle and a kayak."), (2, "Rides a bicycle, paddles a kayak.")]
    {
        let sentences = serde_json::json!([{"text": text, "facts": facts}]);
        let ids: Vec<_> = facts.iter().map(|fact| fact.uuid()).collect();
        let sql = "insert into portrait (user_id, tenant_id, name, inputs_hash, sentences, facts, \
                     domains, made_by, compiled_at, tokens) \
                   values ($1, $2, 'profile', 'hash', $3, $4, '{}', 'model', to_timestamp($5), 9) \
                   on conflict (user_id, name) do update set sentences = excluded.sentences, \
                     compiled_at = excluded.compiled_at";
        let alice = story.alice();
        let at = f64::from(number);
        admin
            .execute(sql, &[&alice.user.uuid(), &alice.tenant.uuid(), &sentences, &ids, &at])
            .await
            .unwrap();
        let phrased = current(&other, &story).await;
        assert!(phrased.contains(text.trim_end_matches('.')), "{phrased}");
    }
}
