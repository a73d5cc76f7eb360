//! Policy: what may happen without asking. One document with three layers, server, tenant and user;
//! each layer overrides only the fields it sets.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::admission::{AgentPolicy, Replacing};
use crate::domain::{self, DomainExpiry};
use crate::fact::Category;
use crate::fade::INJECT_CONFIDENCE;
use crate::session::Keep;
use crate::words;

words!(
    /// What happens to a claim that was inferred rather than stated to Lukasa.
    Admission {
        // It is stored as active at once.
        Auto = "auto",
        // Its evidence decides: fully active, for recall only, or a candidate.
        Tiered = "tiered",
        // The same, but what would be active waits as a candidate for the next consolidation.
        Staged = "staged",
        // It is a proposal until the user accepts it.
        Propose = "propose",
        // Nothing is inferred.
        Off = "off",
    }
);
words!(
    /// What happens to a pattern that was counted in observations.
    ObservedPatterns {
        // Nothing is counted.
        Off = "off",
        // It is a proposal until the user accepts it.
        Ask = "ask",
        // It is stored at once: for recall only, and in prompts too, as tentative, once it is strong.
        On = "on",
    }
);
words!(
    /// When a conversation is learned from.
    Trigger {
        // When it is closed, by any caller or by the idle timeout.
        Close = "close",
        // After every turn.
        Turn = "turn",
        // Only on request.
        Manual = "manual",
    }
);

/// A resolved policy: what may happen without asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub preset: String,
    pub admission: Admission,
    /// Admission for domains that differ from the default.
    pub domains: BTreeMap<String, Admission>,
    pub extract: Trigger,
    /// How many already processed turns an extraction pass sees again, for context.
    pub window: usize,
    pub keep_turns: Keep,
    /// Days after which a memory that has expired is permanently removed; `None` means never.
    pub history_days: Option<u32>,
    /// Minutes without a turn after which a session counts as closed; `None` means never.
    pub idle_close_minutes: Option<u32>,
    /// Minimum confidence for an inferred fact to be put into a prompt unasked.
    pub inject_confidence: f32,
    /// From this confidence up to `inject_confidence` a fact is found by recall only; below, it is
    /// a candidate until there is more evidence.
    pub recall_confidence: f32,
    /// Categories that need more confidence to be put into a prompt (R085).
    pub floors: BTreeMap<Category, f32>,
    /// Below this importance, an inferred fact is found by recall only (R084).
    pub inject_importance: f32,
    /// Whether sessions get a title after their first exchange.
    pub titles: bool,
    /// Tokens a tenant may spend on chat models per day; `None` means no limit.
    pub daily_tokens: Option<u64>,
    /// What agents may do without asking.
    #[serde(default)]
    pub agents: AgentPolicy,
    /// What happens to patterns in observations.
    #[serde(default = "ask_about_observed")]
    pub observed: ObservedPatterns,
    /// Whether memory is paused: nothing is learned, stored by others than the user, or put into a
    /// prompt.
    #[serde(default)]
    pub paused: bool,
    /// Sensitive domains whose inferred facts are used without asking, by the user's consent. No
    /// preset and no patch sets them.
    #[serde(default)]
    pub admits_inferred: BTreeSet<String>,
    /// Minimum confidences that were derived from how the memories so far turned out. They raise
    /// those of `floors` and `inject_confidence`, and never lower them. No preset and no patch sets
    /// them.
    #[serde(default)]
    pub calibrated: BTreeMap<Category, f32>,
}

fn ask_about_observed() -> ObservedPatterns {
    ObservedPatterns::Ask
}

/// The part of a patch about agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replacing>,
}

/// Changes to a policy: only the fields that are set override.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission: Option<Admission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domains: Option<BTreeMap<String, Admission>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract: Option<Trigger>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_turns: Option<Keep>,
    /// Zero means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_days: Option<u32>,
    /// Zero means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_close_minutes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_confidence: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_confidence: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floors: Option<BTreeMap<Category, f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject_importance: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub titles: Option<bool>,
    /// Zero means no limit. Only a tenant or the server can set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentPatch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<ObservedPatterns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
}

/// The longest retention of expired memories that a policy can name: a hundred years.
const MAX_HISTORY_DAYS: u32 = 36_500;

/// The default preset.
pub const BALANCED: &str = "balanced";
/// Every preset: the default, and one for each common style of memory.
pub const PRESETS: [&str; 6] = [BALANCED, "advisor", "chat", "assistant", "research", "clone"];

impl Default for Policy {
    fn default() -> Self {
        Self {
            preset: BALANCED.to_owned(),
            admission: Admission::Tiered,
            domains: BTreeMap::new(),
            extract: Trigger::Close,
            window: 10,
            keep_turns: Keep::Full,
            history_days: None,
            idle_close_minutes: Some(30),
            inject_confidence: INJECT_CONFIDENCE,
            recall_confidence: 0.4,
            floors: BTreeMap::new(),
            inject_importance: 0.4,
            titles: true,
            daily_tokens: None,
            agents: AgentPolicy::default(),
            observed: ObservedPatterns::Ask,
            paused: false,
            admits_inferred: BTreeSet::new(),
            calibrated: BTreeMap::new(),
        }
    }
}

impl Policy {
    /// A preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        let base = Self { preset: name.to_owned(), ..Self::default() };
        Some(match name {
            BALANCED => base,
            // Inferred facts are active at once; those about finance with the user's consent.
            "advisor" => Self { admission: Admission::Auto, ..base },
            // After every turn, only important facts with high confidence; no recall-only tier. What
            // has expired is removed after ninety days.
            "chat" => Self {
                extract: Trigger::Turn,
                history_days: Some(90),
                recall_confidence: 0.7,
                inject_importance: 0.7,
                floors: BTreeMap::from([(Category::Profile, 0.9), (Category::Context, 0.7)]),
                ..base
            },
            // Every inferred fact is a proposal first, and every soft memory of a domain with an expiry
            // expires (`domain_expiry`).
            "assistant" => Self { admission: Admission::Propose, ..base },
            // Long sessions, whole transcripts.
            "research" => Self { idle_close_minutes: Some(120), window: 20, ..base },
            // By evidence alone, soon after the last turn; patterns in observations too.
            "clone" => {
                Self { idle_close_minutes: Some(10), observed: ObservedPatterns::On, ..base }
            }
            _ => return None,
        })
    }

    /// The server's policy with the patches of the tenant and the user applied. A user cannot
    /// change the tenant's token limit.
    pub fn resolve(server: &Self, tenant: Option<&Patch>, user: Option<&Patch>) -> Self {
        let mut policy = server.clone();
        if let Some(patch) = tenant {
            policy.apply(patch);
        }
        if let Some(patch) = user {
            let spend = policy.daily_tokens;
            policy.apply(patch);
            policy.daily_tokens = spend;
        }
        policy
    }

    fn apply(&mut self, patch: &Patch) {
        if let Some(base) = patch.preset.as_deref().and_then(Self::preset) {
            let admits_inferred = std::mem::take(&mut self.admits_inferred);
            let calibrated = std::mem::take(&mut self.calibrated);
            let (daily_tokens, paused) = (self.daily_tokens, self.paused);
            *self = Self { daily_tokens, paused, admits_inferred, calibrated, ..base };
        }
        fn set<T: Clone>(field: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut self.admission, patch.admission.as_ref());
        set(&mut self.extract, patch.extract.as_ref());
        set(&mut self.window, patch.window.as_ref());
        set(&mut self.keep_turns, patch.keep_turns.as_ref());
        set(&mut self.inject_confidence, patch.inject_confidence.as_ref());
        set(&mut self.recall_confidence, patch.recall_confidence.as_ref());
        set(&mut self.inject_importance, patch.inject_importance.as_ref());
        set(&mut self.titles, patch.titles.as_ref());
        set(&mut self.observed, patch.observed.as_ref());
        set(&mut self.paused, patch.paused.as_ref());
        set(&mut self.agents.replace, patch.agents.as_ref().and_then(|a| a.replace.as_ref()));
        self.domains.extend(patch.domains.clone().unwrap_or_default());
        self.floors.extend(patch.floors.clone().unwrap_or_default());
        if let Some(minutes) = patch.idle_close_minutes {
            self.idle_close_minutes = Some(minutes).filter(|minutes| *minutes > 0);
        }
        if let Some(days) = patch.history_days {
            self.history_days = Some(days).filter(|days| *days > 0);
        }
        if let Some(tokens) = patch.daily_tokens {
            self.daily_tokens = Some(tokens).filter(|tokens| *tokens > 0);
        }
    }

    /// Admission of inferred claims about a domain.
    pub fn admission_in(&self, domain: Option<&str>) -> Admission {
        domain.and_then(|name| self.domains.get(name)).copied().unwrap_or(self.admission)
    }

    /// Which soft memories of a domain expire by default.
    pub fn domain_expiry(&self) -> DomainExpiry {
        match self.preset.as_str() {
            "assistant" => DomainExpiry::Soft,
            _ => DomainExpiry::Circumstances,
        }
    }

    /// The domains that the preset asks the user's consent for: to open them, and to use what is
    /// inferred about them.
    pub fn consent_domains(&self) -> &'static [&'static str] {
        match self.preset.as_str() {
            "advisor" => &["finance"],
            _ => &[],
        }
    }

    /// The domains of [`Policy::consent_domains`] that the user has not consented to.
    pub fn missing_consents(&self) -> Vec<&'static str> {
        let is_missing = |name: &&&str| !self.admits_inferred.contains(**name);
        self.consent_domains().iter().filter(is_missing).copied().collect()
    }

    /// Minimum confidence for facts of a category in a prompt. No policy lowers it below
    /// `INJECT_CONFIDENCE`.
    pub fn floor(&self, category: Category) -> f32 {
        let floor = self.floors.get(&category).copied().unwrap_or(self.inject_confidence);
        let calibrated = self.calibrated.get(&category).copied().unwrap_or(INJECT_CONFIDENCE);
        floor.max(calibrated).max(INJECT_CONFIDENCE)
    }

    /// Whether what is not sure enough for a prompt can still be found by recall.
    pub fn recalls_only(&self) -> bool {
        self.recall_confidence < INJECT_CONFIDENCE
    }

    /// How long an expired memory is kept; `None` means forever.
    pub fn history(&self) -> Option<SignedDuration> {
        self.history_days.map(|days| SignedDuration::from_hours(24 * i64::from(days)))
    }

    pub fn idle_close(&self) -> Option<SignedDuration> {
        self.idle_close_minutes.map(|minutes| SignedDuration::from_mins(i64::from(minutes)))
    }
}

impl Patch {
    /// Validation errors, as (field, reason).
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        if self.preset.as_deref().is_some_and(|name| !PRESETS.contains(&name)) {
            faults.push(("preset", format!("one of {}", PRESETS.join(", "))));
        }
        let shares = [
            ("inject_confidence", self.inject_confidence),
            ("recall_confidence", self.recall_confidence),
            ("inject_importance", self.inject_importance),
        ];
        let floors = self.floors.iter().flatten().map(|(_, floor)| ("floors", Some(*floor)));
        for (field, value) in shares.into_iter().chain(floors) {
            if value.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                faults.push((field, "between 0 and 1".into()));
            }
        }
        if self.window.is_some_and(|window| window > 100) {
            faults.push(("window", "at most 100 turns".into()));
        }
        if self.history_days.is_some_and(|days| days > MAX_HISTORY_DAYS) {
            faults.push(("history_days", format!("at most {MAX_HISTORY_DAYS} days")));
        }
        if self.domains.iter().flatten().any(|(name, _)| !domain::is_name(name)) {
            faults.push(("domains", "each must be a domain name".into()));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_patch_overrides_only_the_fields_it_sets() {
        let tenant = Patch {
            admission: Some(Admission::Propose),
            daily_tokens: Some(1_000),
            ..Patch::default()
        };
        let work = BTreeMap::from([("work".to_owned(), Admission::Off)]);
        let user = Patch {
            extract: Some(Trigger::Manual),
            domains: Some(work),
            daily_tokens: Some(1_000_000),
            ..Patch::default()
        };
        let policy = Policy::resolve(&Policy::default(), Some(&tenant), Some(&user));
        assert_eq!(policy.admission, Admission::Propose);
        assert_eq!(policy.extract, Trigger::Manual);
        assert_eq!(policy.admission_in(Some("work")), Admission::Off);
        assert_eq!(policy.admission_in(Some("food")), Admission::Propose);
        assert_eq!(policy.daily_tokens, Some(1_000), "a user cannot raise the token limit");
    }

    #[test]
    fn policy_of_the_user_resumes_a_paused_memory_and_a_preset_does_not() {
        let tenant = Patch { paused: Some(true), ..Patch::default() };
        let paused =
            |user: Patch| Policy::resolve(&Policy::default(), Some(&tenant), Some(&user)).paused;
        assert!(paused(Patch::default()));
        assert!(paused(Patch { preset: Some("chat".into()), ..Patch::default() }));
        assert!(!paused(Patch { paused: Some(false), ..Patch::default() }));
    }

    #[test]
    fn policy_presets_exist_and_none_lowers_the_prompt_floor() {
        for name in PRESETS {
            let policy = Policy::preset(name).unwrap();
            assert_eq!(policy.preset, name);
            for category in Category::ALL {
                assert!(policy.floor(category) >= INJECT_CONFIDENCE);
            }
        }
        assert!(Policy::preset("reckless").is_none());
    }

    #[test]
    fn preset_clone_stores_patterns_and_others_ask() {
        for name in PRESETS {
            let stores = Policy::preset(name).unwrap().observed == ObservedPatterns::On;
            assert_eq!(stores, name == "clone", "{name}");
        }
    }

    #[test]
    fn calibrated_floor_raises_the_floor_of_its_category_and_lowers_none() {
        let mut policy = Policy::preset("chat").unwrap();
        policy.calibrated = BTreeMap::from([(Category::Context, 0.8), (Category::Profile, 0.75)]);
        assert_eq!(policy.floor(Category::Context), 0.8);
        assert_eq!(policy.floor(Category::Profile), 0.9, "the preset's own is higher");
        assert_eq!(policy.floor(Category::Fact), INJECT_CONFIDENCE);
        policy.calibrated = BTreeMap::from([(Category::Fact, 0.2)]);
        assert_eq!(policy.floor(Category::Fact), INJECT_CONFIDENCE);
        policy.apply(&Patch { preset: Some(BALANCED.into()), ..Patch::default() });
        assert_eq!(policy.calibrated.len(), 1, "no preset removes it");
    }

    #[test]
    fn policy_idle_close_of_zero_minutes_means_never() {
        let patch = Patch { idle_close_minutes: Some(0), ..Patch::default() };
        let policy = Policy::resolve(&Policy::default(), None, Some(&patch));
        assert_eq!(policy.idle_close(), None);
    }

    #[test]
    fn policy_history_of_zero_days_means_forever() {
        let chat = Policy::preset("chat").unwrap();
        assert_eq!(chat.history(), Some(SignedDuration::from_hours(24 * 90)));
        let patch = Patch { history_days: Some(0), ..Patch::default() };
        assert_eq!(Policy::resolve(&chat, None, Some(&patch)).history(), None);
        assert_eq!(Policy::default().history(), None);
    }

    #[test]
    fn policy_patch_is_validated() {
        let patch = Patch {
            preset: Some("reckless".into()),
            inject_confidence: Some(1.5),
            history_days: Some(u32::MAX),
            ..Patch::default()
        };
        assert_eq!(patch.faults().len(), 3);
    }
}
