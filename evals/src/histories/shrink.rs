//! Shrinks a failing history: replays it without one step after the other, and permanently leaves
//! out every step that is not needed for the same check to fail.

use anyhow::Result;

use super::driver::History;
use super::fixture::Fixture;
use super::mutants::Mutant;
use super::report::Check;
use super::step::Step;

/// A failed history on one line: enough to distinguish kinds of failure.
pub fn headline(seed: u64, failed: &History<'_>) -> String {
    let first = failed.findings.violations.first();
    let check = first.map_or("nothing", |violation| violation.check.name());
    let what: String = first.map_or("", |violation| &violation.what).chars().take(160).collect();
    let step = failed.transcript.last().map_or("", String::as_str);
    format!("seed {seed} failed: {check}: {} after {step}", what.replace('\n', " "))
}

/// The shortest replay found of a failed history, with its findings.
pub async fn transcript(
    fixture: &Fixture,
    seed: u64,
    failed: &History<'_>,
    mutant: Option<Mutant>,
) -> Result<String> {
    let wanted = failed.findings.violations.first().map(|violation| violation.check);
    let smallest_script = match wanted {
        Some(check) => smallest(fixture, seed, failed.script.clone(), check, mutant).await?,
        None => failed.script.clone(),
    };
    let replayed = History::replay(fixture, seed, smallest_script.iter(), mutant).await?;
    // A fault that does not recur is still a fault: then the whole history is shown.
    let shown = if replayed.findings.violations.is_empty() { failed } else { &replayed };
    let mut text = format!(
        "history with seed {seed} failed; {} of its {} steps are enough:\n",
        shown.script.len(),
        failed.script.len()
    );
    for line in &shown.transcript {
        text.push_str(&format!("  {line}\n"));
    }
    for violation in &shown.findings.violations {
        let what = violation.what.replace('\n', "\n      ");
        text.push_str(&format!("  {}: {what}\n", violation.check.name()));
    }
    Ok(text)
}

async fn smallest(
    fixture: &Fixture,
    seed: u64,
    mut script: Vec<Step>,
    check: Check,
    mutant: Option<Mutant>,
) -> Result<Vec<Step>> {
    // A step may have been needed only by steps that were removed after it.
    loop {
        let before = script.len();
        let mut at = before;
        while at > 0 {
            at -= 1;
            let without = script.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, step)| step);
            let replayed = History::replay(fixture, seed, without, mutant).await?;
            let first = replayed.findings.violations.first();
            if first.is_some_and(|violation| violation.check == check) {
                // Steps after the failing one are removed as well.
                script = replayed.script;
                at = at.min(script.len());
            }
        }
        if script.len() == before {
            return Ok(script);
        }
    }
}
