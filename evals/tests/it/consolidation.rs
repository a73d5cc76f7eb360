//! The short form of the consolidation eval: a lying model changes nothing, and planted faults are
//! detected.

use lukasa_evals::consolidation::{Args, Plant, contradictions, run};

fn args(plant: Option<Plant>) -> Args {
    Args { hostile: true, users: 4, seed: 1, plant }
}

#[tokio::test]
async fn consolidation_with_a_lying_model_loses_nothing() {
    run(args(None)).await.expect("no faults");
}

#[tokio::test]
async fn planted_consolidation_faults_are_caught() {
    for plant in [Plant::DropFact, Plant::NoScreen] {
        run(args(Some(plant))).await.expect("the fault is caught");
    }
}

#[tokio::test]
async fn silent_users_cost_nothing() {
    let few = Args { hostile: false, users: 5, seed: 1, plant: None };
    run(few).await.expect("a consolidation run");
}

#[tokio::test]
async fn planted_contradictions_are_found_and_different_memories_are_not_merged() {
    let args = contradictions::Args { seed: 1, show: true, plant: None };
    contradictions::run(args).await.expect("no faults");
}

#[tokio::test]
async fn planted_comparison_faults_are_caught() {
    use contradictions::Plant::{AlarmAll, LoseLinks, MergeAll};
    for plant in [LoseLinks, AlarmAll, MergeAll] {
        let args = contradictions::Args { seed: 1, show: false, plant: Some(plant) };
        contradictions::run(args).await.expect("the fault is caught");
    }
}
