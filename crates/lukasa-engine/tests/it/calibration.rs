//! Calibrated thresholds: derived by upkeep from what the user did with inferred memories.

use lukasa_core::Category;
use lukasa_core::calibration::CalibratedFloor;
use lukasa_core::fade::INJECT_CONFIDENCE;
use lukasa_engine::context::NewUsage;
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};

use crate::learning::work;
use crate::story::Story;

async fn floors(story: &Story) -> Vec<CalibratedFloor> {
    story.engine.insights.report(&story.alice(), 1, story.now()).await.unwrap().floors
}

/// The minimum confidence in force for facts.
async fn floor_in_force(story: &Story) -> f32 {
    let policy = story.engine.policies.get(&story.alice(), story.now()).await.unwrap().policy;
    assert_eq!(policy.floor(Category::Profile), INJECT_CONFIDENCE);
    policy.floor(Category::Fact)
}

/// An assistant infers something.
async fn infer(story: &Story, content: &str) -> Target {
    story.pass(1);
    let new = NewMemory { confidence: Some(0.72), ..NewMemory::saying(content) };
    let proposed = story.engine.facts.propose(&story.by(story.assistant()), new).await.unwrap();
    Target::Id(Story::fact(&proposed))
}

async fn reject(story: &Story, target: &Target) {
    story.pass(1);
    story.engine.facts.confirm(&story.request(), target, ProposalDecision::No).await.unwrap();
}

#[tokio::test]
async fn calibrated_floor_is_compiled_by_upkeep_from_rejected_inferences() {
    let story = Story::begin().await;
    for number in 0..8 {
        let target = infer(&story, &format!("Owns {number} chairs")).await;
        reject(&story, &target).await;
    }
    assert!(floors(&story).await.is_empty());
    assert_eq!(floor_in_force(&story).await, INJECT_CONFIDENCE);
    story.pass(2 * 86_400);
    Box::pin(work(&story)).await;
    let [floor] = &floors(&story).await[..] else { panic!("one category") };
    assert_eq!((floor.category, floor.samples, floor.wrong), (Category::Fact, 8, 8));
    assert!(floor.floor > INJECT_CONFIDENCE && floor.floor < 0.75, "shrunk: {}", floor.floor);
    assert_eq!(floor.facts.len(), 8);
    assert_eq!(floor_in_force(&story).await, floor.floor);
    // It names only some of the memories that it is based on, so erasing any memory removes it.
    let other = Target::Id(Story::fact(&story.save("Lives in Porto").await));
    for target in [Target::Id(floor.facts[0]), other] {
        story.pass(1);
        story.engine.removals.erase(&story.request(), &target).await.unwrap();
        assert!(floors(&story).await.is_empty());
        assert_eq!(floor_in_force(&story).await, INJECT_CONFIDENCE);
        story.pass(2 * 86_400);
        Box::pin(work(&story)).await;
        let [floor] = &floors(&story).await[..] else { panic!("one category") };
        assert_eq!((floor.samples, floor.wrong), (7, 7), "without the erased memory");
    }
}

#[tokio::test]
async fn calibrated_floor_counts_the_latest_outcome_of_each_inference() {
    let story = Story::begin().await;
    let report = async |target: &Target, kind: &str| {
        story.pass(1);
        let Target::Id(fact) = target else { panic!("an id") };
        let new = NewUsage {
            fact: *fact,
            session: None,
            retrieval: None,
            turn: None,
            kind: kind.to_owned(),
            influence: None,
        };
        story.engine.context.report_usage(&story.request(), new).await.unwrap();
    };
    for number in 0..6 {
        let target = infer(&story, &format!("Owns {number} lamps")).await;
        report(&target, "contradicted").await;
        if number < 5 {
            report(&target, "confirmed").await;
        }
    }
    story.save("Lives in Porto").await;
    story.pass(2 * 86_400);
    Box::pin(work(&story)).await;
    let [floor] = &floors(&story).await[..] else { panic!("one category") };
    assert_eq!((floor.samples, floor.wrong), (6, 1));
    assert_eq!(floor.floor, INJECT_CONFIDENCE, "five of six are right");
}

#[tokio::test]
async fn calibrated_floor_ignores_outcomes_that_an_assistant_reports() {
    let story = Story::begin().await;
    for number in 0..8 {
        let Target::Id(fact) = infer(&story, &format!("Owns {number} vases")).await else {
            panic!("an id")
        };
        for kind in ["contradicted", "overridden"] {
            let new = NewUsage {
                fact,
                session: None,
                retrieval: None,
                turn: None,
                kind: kind.to_owned(),
                influence: None,
            };
            let agent = story.by(story.assistant());
            story.engine.context.report_usage(&agent, new).await.unwrap();
            story.pass(1);
        }
    }
    story.pass(2 * 86_400);
    Box::pin(work(&story)).await;
    assert!(floors(&story).await.is_empty());
    assert_eq!(floor_in_force(&story).await, INJECT_CONFIDENCE);
}
