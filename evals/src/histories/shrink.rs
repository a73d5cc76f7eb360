//! Makes a failing history small: tells it again without one step after the other, and leaves out
//! for good whatever is not needed for the same check to fail.

use anyhow::Result;

use super::driver::History;
use super::mutants::Mutant;
use super::report::Check;
use super::stage::Stage;
use super::step::Step;

/// A failed history on one line: enough to tell one kind of failure from another.
pub fn headline(seed: u64, failed: &History<'_>) -> String {
    let first = failed.findings.violations.first();
    let check = first.map_or("nothing", |violation| violation.check.name());
    let what: String = first.map_or("", |violation| &violation.what).chars().take(160).collect();
    let step = failed.transcript.last().map_or("", String::as_str);
    format!("seed {seed} failed: {check}: {} after {step}", what.replace('\n', " "))
}

/// The shortest telling found of a history that failed, with what was found.
pub async fn transcript(
    stage: &Stage,
    seed: u64,
    failed: &History<'_>,
    mutant: Option<Mutant>,
) -> Result<String> {
    let wanted = failed.findings.violations.first().map(|violation| violation.check);
    let kept = match wanted {
        Some(check) => smallest(stage, seed, failed.script.clone(), check, mutant).await?,
        None => failed.script.clone(),
    };
    let told = History::retold(stage, seed, kept.iter(), mutant).await?;
    // A fault that does not come back is still a fault: then the whole history is shown.
    let shown = if told.findings.violations.is_empty() { failed } else { &told };
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
    stage: &Stage,
    seed: u64,
    mut script: Vec<Step>,
    check: Check,
    mutant: Option<Mutant>,
) -> Result<Vec<Step>> {
    // What one pass leaves may have been needed only by what it took away later.
    loop {
        let before = script.len();
        let mut at = before;
        while at > 0 {
            at -= 1;
            let without = script.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, step)| step);
            let told = History::retold(stage, seed, without, mutant).await?;
            let first = told.findings.violations.first();
            if first.is_some_and(|violation| violation.check == check) {
                // Steps after the one that failed are gone as well.
                script = told.script;
                at = at.min(script.len());
            }
        }
        if script.len() == before {
            return Ok(script);
        }
    }
}
