//! Detects which domains a text is about, with the domains that the tenant added.

use std::sync::LazyLock;

use lukasa_core::Domain;
use lukasa_core::domain::own_names;
use lukasa_text::detect::{DetectedDomain, Detector};

/// The domains that a text is about, best first.
pub(crate) fn detect(domains: &[Domain], text: &str) -> Vec<DetectedDomain> {
    static BUILTIN: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    if domains.iter().all(|domain| domain.builtin) {
        return BUILTIN.detect(text);
    }
    BUILTIN.clone().with_domains(own_names(domains)).detect(text)
}
