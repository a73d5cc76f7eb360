//! Detects which domains a text is about, with the domains that the tenant added.

use std::borrow::Cow;
use std::sync::LazyLock;

use lukasa_core::admission::Screening;
use lukasa_core::domain::own_names;
use lukasa_core::{Claim, Domain};
use lukasa_text::detect::{DetectedDomain, Detector};

/// The domains that a text is about, best first.
pub(crate) fn detect(domains: &[Domain], text: &str) -> Vec<DetectedDomain> {
    detect_with(own_names(domains).collect(), text)
}

/// The same, with the names and the displayed names of the domains that the tenant added.
pub(crate) fn detect_with(own: Vec<(&str, &str)>, text: &str) -> Vec<DetectedDomain> {
    with_own(own).detect(text)
}

/// The detector of a tenant's domains, for several texts.
pub(crate) fn detector_of(domains: &[Domain]) -> Cow<'static, Detector> {
    with_own(own_names(domains).collect())
}

/// The domain that a memory is filed under by its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filing {
    Under(String),
    /// The words belong to a domain that the user has not opened, so it is not suggested.
    Closed(String),
    /// No domain, or several alike.
    Unclear,
}

/// Files a claim: sensitive words under their own domain as admission does, others under the domain
/// that they are clearly about.
pub(crate) fn file(detector: &Detector, closed: &[String], claim: &Claim) -> Filing {
    let screening = Screening::of(claim);
    if screening.secret.is_some() {
        return Filing::Unclear;
    }
    let sensitive = screening.domain().map(str::to_owned);
    match sensitive.or_else(|| clear_domain(detector, closed, &claim.content)) {
        Some(domain) if closed.contains(&domain) => Filing::Closed(domain),
        Some(domain) => Filing::Under(domain),
        None => Filing::Unclear,
    }
}

/// The domain that a text is clearly about. Of several that score the same, a closed one counts first.
fn clear_domain(detector: &Detector, closed: &[String], text: &str) -> Option<String> {
    let found = detector.detect(text);
    let best = found.first().filter(|best| best.is_clear())?;
    let mut ties = found.iter().take_while(|one| one.score >= best.score);
    Some(ties.find(|one| closed.contains(&one.domain)).unwrap_or(best).domain.clone())
}

fn with_own(own: Vec<(&str, &str)>) -> Cow<'static, Detector> {
    static BUILTIN: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    if own.is_empty() {
        return Cow::Borrowed(&BUILTIN);
    }
    Cow::Owned(BUILTIN.clone().with_domains(own))
}
