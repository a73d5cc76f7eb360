//! The checks of `lukasa doctor` about quality: the figures of all users, and the alerts.

use lukasa_core::quality::{Alert, Figure};
use lukasa_engine::Engine;

use super::{Check, with_cause};
use crate::clock;

/// Days that the figures are about.
const DAYS: i64 = 30;
/// Maximum number of users whose rows are counted.
const MAX_USERS: i64 = 1_000;

/// The figures as one check, and each alert as a warning with the next step.
pub(super) async fn quality(engine: &Engine) -> Vec<Check> {
    let (quality, users) =
        match engine.insights.quality_of_users(DAYS, MAX_USERS, clock::now()).await {
            Ok(found) => found,
            Err(error) => {
                let fix = "run `lukasa migrate`";
                return vec![Check::new("quality", false, with_cause(&error), fix).or_warn()];
            }
        };
    let figures: Vec<String> =
        quality.figures().iter().map(|(name, figure)| figure_text(name, figure)).collect();
    let found = match figures.is_empty() {
        true => "there are no users yet".to_owned(),
        false => format!("{DAYS} days, users: {users}; {}", figures.join(", ")),
    };
    let alert = |alert: &Alert| {
        Check::new("alert", false, alert.message(), alert.code.next_step()).or_warn()
    };
    let mut checks = vec![Check::new("quality", true, found, "")];
    checks.extend(quality.alerts().iter().map(alert));
    checks
}

/// A figure with its name, and whether its goal is missed.
fn figure_text(name: &str, figure: &Figure) -> String {
    let value = match name {
        "active_memories" | "learned_tokens" | "message_cost_micros" => {
            format!("{:.0}", figure.value)
        }
        "recall_ms" | "rerank_ms" => format!("{:.1}", figure.value),
        _ => format!("{:.0} %", figure.value * 100.0),
    };
    let missed = if figure.is_met() { "" } else { " (goal missed)" };
    format!("{name} {value}{missed}")
}
