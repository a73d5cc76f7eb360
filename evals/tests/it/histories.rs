//! Three hundred histories against the reference model, and proof that the checks can fail.

use lukasa_evals::histories::driver::History;
use lukasa_evals::histories::mutants::Mutant;
use lukasa_evals::histories::report::Report;
use lukasa_evals::histories::stage::Stage;
use lukasa_evals::histories::{Args, hunt, shrink, tell};

/// A hundred histories, the first with this seed. What fails is printed with its seed.
async fn a_hundred(seed: u64) {
    println!("seed {seed}");
    let args = Args { count: 100, seed, steps: None, jobs: 1, mutant: None };
    let report = tell(&args).await.unwrap();
    assert_eq!(report.histories, 100);
    assert!(report.failed.is_empty(), "failed seeds: {:?}", report.failed);
}

#[tokio::test]
async fn the_engine_does_what_the_model_says() {
    a_hundred(1).await;
}

#[tokio::test]
async fn the_engine_does_what_the_model_says_again() {
    a_hundred(101).await;
}

#[tokio::test]
async fn the_engine_does_what_the_model_says_once_more() {
    a_hundred(201).await;
}

/// Each planted fault is noticed, by the check that is there for it, within a few histories.
#[tokio::test]
async fn every_mutant_is_caught() {
    const MOST: u64 = 40;
    for mutant in Mutant::ALL {
        let caught = hunt(mutant, 1, MOST).await.unwrap();
        let by = mutant.caught_by().name();
        println!("{mutant:?}: caught by {by} in history {caught:?}");
        assert!(caught.is_some(), "{mutant:?} survived {MOST} histories; {by} saw nothing");
    }
}

#[tokio::test]
async fn a_failing_history_is_told_again_in_fewer_steps() {
    let mutant = Some(Mutant::Gap);
    let stage = Stage::open(mutant).await.unwrap();
    for seed in 1.. {
        let mut report = Report::default();
        let history = History::random(&stage, seed, None, mutant, &mut report).await.unwrap();
        if history.findings.violations.is_empty() || history.script.len() < 6 {
            continue;
        }
        let text = shrink::transcript(&stage, seed, &history, mutant).await.unwrap();
        let steps = text.lines().filter(|line| line.starts_with("  #")).count();
        assert!(text.contains(&format!("seed {seed}")), "{text}");
        assert!(steps < history.script.len(), "{text}");
        assert!(text.contains("I2 no gap"), "{text}");
        return;
    }
}
