//! Policy: what may happen without asking. One document, said by the server, then by the tenant, then
//! by the user; whoever speaks later overrides only what they name.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::admission::{AgentPolicy, Replacing};
use crate::context::INJECT_CONFIDENCE;
use crate::domain;
use crate::fact::{Category, words};
use crate::session::Keep;

words!(
    /// What becomes of something that was inferred rather than said to Lukasa (C01).
    Admission {
        // It is remembered at once.
        Auto = "auto",
        // It is remembered as far as its evidence carries: fully, for recall only, or as a guess.
        Tiered = "tiered",
        // It waits for its person's yes.
        Propose = "propose",
        // Nothing is inferred.
        Off = "off",
    }
);
words!(
    /// When a conversation is learned from (C05).
    Trigger {
        // When it is closed, by whoever closes it.
        Close = "close",
        // After every turn.
        Turn = "turn",
        // When nobody has spoken for a while.
        Idle = "idle",
        // When asked to.
        Manual = "manual",
    }
);

/// What may happen without asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub preset: String,
    pub admission: Admission,
    /// Domains where it is otherwise.
    pub domains: BTreeMap<String, Admission>,
    pub extract: Trigger,
    /// How many turns that were learned from already a pass sees again, for context.
    pub window: usize,
    pub keep_turns: Keep,
    /// After how many minutes of silence a chat counts as closed; nothing means never.
    pub idle_close_minutes: Option<u32>,
    /// From this confidence on, what was inferred goes into a prompt unasked.
    pub inject_confidence: f32,
    /// From here up to that, it is found by recall only; below, it waits for more evidence.
    pub recall_confidence: f32,
    /// Categories that need more confidence before they go into a prompt (R085).
    pub floors: BTreeMap<Category, f32>,
    /// Below this importance, what was inferred is found by recall only (R084).
    pub inject_importance: f32,
    /// Whether chats are named after their first exchange.
    pub titles: bool,
    /// How many tokens a tenant may spend on chat models in a day; nothing means no limit.
    pub daily_tokens: Option<u64>,
    /// What agents may do without asking.
    #[serde(default)]
    pub agents: AgentPolicy,
}

/// What a patch says of agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPatch {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replacing>,
}

/// Only what is named is overridden.
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
    /// Zero means no limit. Only a tenant or the server can say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentPatch>,
}

/// The preset that nobody has to choose.
pub const BALANCED: &str = "balanced";
/// Every preset: the default, and one for each way of keeping a memory that people expect.
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
            idle_close_minutes: Some(30),
            inject_confidence: INJECT_CONFIDENCE,
            recall_confidence: 0.4,
            floors: BTreeMap::new(),
            inject_importance: 0.4,
            titles: true,
            daily_tokens: None,
            agents: AgentPolicy::default(),
        }
    }
}

impl Policy {
    /// A preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        let base = Self { preset: name.to_owned(), ..Self::default() };
        Some(match name {
            BALANCED => base,
            // Said things are kept at once; what is inferred stands when it is sure enough.
            "advisor" => Self { admission: Admission::Auto, ..base },
            // After every turn, only what is both important and sure, nothing in between.
            "chat" => Self {
                extract: Trigger::Turn,
                recall_confidence: 0.7,
                inject_importance: 0.7,
                floors: BTreeMap::from([(Category::Profile, 0.9), (Category::Context, 0.7)]),
                ..base
            },
            // Whatever is inferred asks first.
            "assistant" => Self { admission: Admission::Propose, ..base },
            // Long sessions, whole transcripts.
            "research" => Self { idle_close_minutes: Some(120), window: 20, ..base },
            // By evidence alone, and quickly.
            "clone" => Self { extract: Trigger::Idle, idle_close_minutes: Some(10), ..base },
            _ => return None,
        })
    }

    /// The policy that holds once the tenant and the user have spoken. A user cannot raise what the
    /// tenant may spend.
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
            *self = Self { daily_tokens: self.daily_tokens, ..base };
        }
        fn set<T: Clone>(field: &mut T, said: Option<&T>) {
            if let Some(said) = said {
                field.clone_from(said);
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
        set(&mut self.agents.replace, patch.agents.as_ref().and_then(|a| a.replace.as_ref()));
        self.domains.extend(patch.domains.clone().unwrap_or_default());
        self.floors.extend(patch.floors.clone().unwrap_or_default());
        if let Some(minutes) = patch.idle_close_minutes {
            self.idle_close_minutes = Some(minutes).filter(|minutes| *minutes > 0);
        }
        if let Some(tokens) = patch.daily_tokens {
            self.daily_tokens = Some(tokens).filter(|tokens| *tokens > 0);
        }
    }

    /// What becomes of something inferred about a domain.
    pub fn admission_in(&self, domain: Option<&str>) -> Admission {
        domain.and_then(|name| self.domains.get(name)).copied().unwrap_or(self.admission)
    }

    /// How sure something of a category must be to go into a prompt. Prompts have a floor of their
    /// own, which no policy lowers.
    pub fn floor(&self, category: Category) -> f32 {
        let floor = self.floors.get(&category).copied().unwrap_or(self.inject_confidence);
        floor.max(INJECT_CONFIDENCE)
    }

    pub fn idle_close(&self) -> Option<SignedDuration> {
        self.idle_close_minutes.map(|minutes| SignedDuration::from_mins(i64::from(minutes)))
    }
}

impl Patch {
    /// What is wrong with it, as (field, reason).
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
        if self.domains.iter().flatten().any(|(name, _)| !domain::is_name(name)) {
            faults.push(("domains", "each is the name of a domain".into()));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_speaks_later_overrides_only_what_they_name() {
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
        assert_eq!(policy.daily_tokens, Some(1_000), "a user cannot raise what may be spent");
    }

    #[test]
    fn every_preset_exists_and_none_lowers_the_floor_of_a_prompt() {
        for name in PRESETS {
            let policy = Policy::preset(name).unwrap();
            assert_eq!(policy.preset, name);
            for category in Category::ALL {
                assert!(policy.floor(*category) >= INJECT_CONFIDENCE);
            }
        }
        assert!(Policy::preset("reckless").is_none());
    }

    #[test]
    fn zero_minutes_means_never() {
        let patch = Patch { idle_close_minutes: Some(0), ..Patch::default() };
        let policy = Policy::resolve(&Policy::default(), None, Some(&patch));
        assert_eq!(policy.idle_close(), None);
    }

    #[test]
    fn a_patch_is_checked() {
        let patch = Patch {
            preset: Some("reckless".into()),
            inject_confidence: Some(1.5),
            ..Patch::default()
        };
        assert_eq!(patch.faults().len(), 2);
    }
}
