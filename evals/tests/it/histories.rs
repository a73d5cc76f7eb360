//! Three hundred histories against the reference model, and a check that planted faults are
//! detected.

use lukasa_evals::histories::driver::History;
use lukasa_evals::histories::fixture::Fixture;
use lukasa_evals::histories::mutants::Mutant;
use lukasa_evals::histories::report::Report;
use lukasa_evals::histories::{Args, hunt, run_histories, shrink};

/// A hundred histories, the first with this seed. Failures are printed with their seed.
async fn a_hundred(seed: u64) {
    println!("seed {seed}");
    let args = Args { count: 100, seed, steps: None, jobs: 1, mutant: None };
    let report = run_histories(&args).await.unwrap();
    assert_eq!(report.histories, 100);
    assert!(report.failed.is_empty(), "failed seeds: {:?}", report.failed);
}

#[tokio::test]
async fn engine_matches_the_reference_model() {
    a_hundred(1).await;
}

#[tokio::test]
async fn engine_matches_the_reference_model_with_a_second_seed() {
    a_hundred(101).await;
}

#[tokio::test]
async fn engine_matches_the_reference_model_with_a_third_seed() {
    a_hundred(201).await;
}

/// Each planted fault is detected, by its own check, within a few histories.
#[tokio::test]
async fn every_mutant_is_caught() {
    const MAX_HISTORIES: u64 = 40;
    for mutant in Mutant::ALL {
        let caught = hunt(mutant, 1, MAX_HISTORIES).await.unwrap();
        let by = mutant.caught_by().name();
        println!("{mutant:?}: caught by {by} in history {caught:?}");
        assert!(
            caught.is_some(),
            "{mutant:?} survived {MAX_HISTORIES} histories; {by} saw nothing"
        );
    }
}

#[tokio::test]
async fn failing_history_is_shrunk() {
    let mutant = Some(Mutant::Gap);
    let fixture = Fixture::open(mutant).await.unwrap();
    for seed in 1.. {
        let mut report = Report::default();
        let history = History::random(&fixture, seed, None, mutant, &mut report).await.unwrap();
        if history.findings.violations.is_empty() || history.script.len() < 6 {
            continue;
        }
        let text = shrink::transcript(&fixture, seed, &history, mutant).await.unwrap();
        let steps = text.lines().filter(|line| line.starts_with("  #")).count();
        assert!(text.contains(&format!("seed {seed}")), "{text}");
        assert!(steps < history.script.len(), "{text}");
        assert!(text.contains("I2 no gap"), "{text}");
        return;
    }
}
