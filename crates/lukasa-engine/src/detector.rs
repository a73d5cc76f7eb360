//! Detects which domains a text is about, with the domains that the tenant added.

use std::sync::LazyLock;

use lukasa_core::Domain;
use lukasa_core::domain::own_names;
use lukasa_text::detect::{DetectedDomain, Detector};

/// The domains that a text is about, best first.
pub(crate) fn detect(domains: &[Domain], text: &str) -> Vec<DetectedDomain> {
    detect_with(own_names(domains).collect(), text)
}

/// The same, with the names and the displayed names of the domains that the tenant added.
pub(crate) fn detect_with(own: Vec<(&str, &str)>, text: &str) -> Vec<DetectedDomain> {
    static BUILTIN: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    if own.is_empty() {
        return BUILTIN.detect(text);
    }
    BUILTIN.clone().with_domains(own).detect(text)
}
