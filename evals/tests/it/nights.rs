//! The short form of the nights: a liar changes nothing, and a witness that could not see is no
//! witness.

use lukasa_evals::living::{Args, Plant, run};

fn args(plant: Option<Plant>) -> Args {
    Args { hostile: true, users: 4, seed: 1, plant }
}

#[tokio::test]
async fn nights_under_a_model_that_lies_lose_nothing() {
    run(args(None)).await.expect("no faults");
}

#[tokio::test]
async fn planted_faults_of_the_night_are_caught() {
    for plant in [Plant::DropFact, Plant::NoScreen] {
        run(args(Some(plant))).await.expect("the fault is caught");
    }
}

#[tokio::test]
async fn whoever_is_silent_costs_nothing() {
    let few = Args { hostile: false, users: 5, seed: 1, plant: None };
    run(few).await.expect("a night");
}
