//! Portraits: compiled texts about a user in which every sentence cites its facts.
//!
//! A portrait is a cache. It is made from facts that may be in a prompt anyway, it can be made
//! again from them at any time, and a sentence is shown only as long as every fact it cites is
//! still among them. [`sentence`] makes them of the facts' own words; [`phrase`] decides which
//! sentences of a model may replace them. A portrait never adds information.

pub mod phrase;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use lukasa_text::request::{RequestKind, request_kind};
use lukasa_text::tokens;
use sha2::{Digest, Sha256};

use crate::context::{is_own, is_sure_enough, is_unconfirmed_pattern};
use crate::domain;
use crate::fact::{Category, Claim, Force, Kind, State, Version};
use crate::id::FactId;
use crate::note::is_note;
use crate::sentence::{self, Sentence};
use crate::time::Timestamp;
use crate::type_policy::{TypePortrait, type_policy};

/// What made a portrait without sentences by a model.
pub const TEMPLATE: &str = "template";

/// Version of the compilation rules. New rules make a new portrait of the same facts.
const RULES_VERSION: &str = "template/2";

/// Name of a portrait.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortraitName {
    /// Who the user is.
    Profile,
    /// How to help them, by kind of request.
    Procedures,
    /// Current tasks and context.
    ActiveContext,
    /// What is known about one domain.
    Domain(String),
}

impl PortraitName {
    /// Maximum number of tokens of its text.
    pub fn limit(&self) -> usize {
        match self {
            PortraitName::Profile | PortraitName::ActiveContext => 500,
            PortraitName::Procedures => 1_000,
            PortraitName::Domain(_) => 5_000,
        }
    }

    pub fn title(&self) -> String {
        match self {
            PortraitName::Profile => "Profile".to_owned(),
            PortraitName::Procedures => "How to help".to_owned(),
            PortraitName::ActiveContext => "Current context".to_owned(),
            PortraitName::Domain(name) => format!("What is known: {name}"),
        }
    }

    /// Whether a fact belongs in this portrait.
    fn takes(&self, version: &Version) -> bool {
        let claim = &version.claim;
        let of_type = type_policy(claim.memory_type).portrait;
        match self {
            PortraitName::Procedures => {
                claim.force == Force::Hard
                    || claim.category == Category::Style
                    || (of_type == Some(TypePortrait::Procedures) && !is_of_user(claim))
            }
            PortraitName::ActiveContext => {
                claim.category == Category::Context || of_type == Some(TypePortrait::ActiveContext)
            }
            PortraitName::Profile => {
                let others = [PortraitName::Procedures, PortraitName::ActiveContext];
                let of_them = claim.category == Category::Profile
                    || of_type == Some(TypePortrait::Profile)
                    || (of_type == Some(TypePortrait::Procedures) && is_of_user(claim));
                of_them && others.iter().all(|other| !other.takes(version))
            }
            PortraitName::Domain(name) => claim.domain.as_ref() == Some(name),
        }
    }

    /// The heading of a fact in this portrait.
    fn section<'v>(&self, version: &'v Version) -> &'v str {
        let claim = &version.claim;
        match self {
            PortraitName::Procedures => request_of(claim).map_or(GENERAL, RequestKind::as_str),
            PortraitName::ActiveContext => claim.domain.as_deref().unwrap_or(GENERAL),
            PortraitName::Profile | PortraitName::Domain(_) => claim.kind.as_str(),
        }
    }

    /// The place of a heading. The guide of how to help has a fixed order, so that it changes slowly:
    /// what holds for every request, then the kinds of requests. In other portraits the heading of
    /// the best fact comes first.
    fn place(&self, section: &str) -> usize {
        let kinds = || RequestKind::ALL.iter().position(|kind| kind.as_str() == section);
        match self {
            PortraitName::Procedures => kinds().map_or(0, |at| at + 1),
            _ => 0,
        }
    }
}

/// The heading of what concerns no domain or kind of request in particular.
const GENERAL: &str = "general";

/// Whether a claim describes the user, although it is procedural: a habit or a skill does not say how
/// to help.
fn is_of_user(claim: &Claim) -> bool {
    matches!(claim.kind, Kind::Habit | Kind::Skill)
}

/// The kind of request that a claim says how to help with: the one that its words or its key name, or
/// the usual one of its domain.
fn request_of(claim: &Claim) -> Option<RequestKind> {
    let key = claim.key.as_deref().unwrap_or_default().replace('_', " ");
    let of_domain = || match claim.domain.as_deref()? {
        "communication" => Some(RequestKind::Writing),
        "schedule" | "travel" => Some(RequestKind::Planning),
        "food" | "shopping" => Some(RequestKind::Recommendations),
        _ => None,
    };
    request_kind(&format!("{} {key}", claim.content)).or_else(of_domain)
}

impl fmt::Display for PortraitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortraitName::Profile => f.write_str("profile"),
            PortraitName::Procedures => f.write_str("procedures"),
            PortraitName::ActiveContext => f.write_str("active_context"),
            PortraitName::Domain(name) => write!(f, "domain:{name}"),
        }
    }
}

/// Error: the text is not the name of a portrait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a portrait")]
pub struct BadPortraitName;

impl FromStr for PortraitName {
    type Err = BadPortraitName;

    fn from_str(text: &str) -> Result<Self, BadPortraitName> {
        match text {
            "profile" => Ok(PortraitName::Profile),
            "procedures" => Ok(PortraitName::Procedures),
            "active_context" => Ok(PortraitName::ActiveContext),
            _ => {
                let name = text.strip_prefix("domain:").filter(|name| domain::is_name(name));
                Ok(PortraitName::Domain(name.ok_or(BadPortraitName)?.to_owned()))
            }
        }
    }
}

/// A sentence and its section in a portrait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedSentence {
    pub section: String,
    /// Whether all its facts are firm. One inferred fact makes the sentence "mentioned".
    pub is_stated: bool,
    pub sentence: Sentence,
}

impl PlacedSentence {
    /// Introductory words for the user: they name the source and do not judge.
    pub fn lead(&self) -> &'static str {
        if self.is_stated { "You told me" } else { "You mentioned" }
    }
}

/// A compiled text about a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portrait {
    pub name: PortraitName,
    pub sentences: Vec<PlacedSentence>,
    /// Tokens of its text in a prompt, without the list of memories at its end.
    pub tokens: usize,
    /// The facts that did not fit.
    pub left_out: Vec<FactId>,
}

impl Portrait {
    /// The facts it cites, each once, in the order in which they are cited first.
    pub fn facts(&self) -> Vec<FactId> {
        let mut seen = BTreeSet::new();
        let all = self.sentences.iter().flat_map(|placed| &placed.sentence.facts);
        all.copied().filter(|fact| seen.insert(*fact)).collect()
    }

    /// The text, followed by the list of cited memories.
    pub fn markdown(&self) -> String {
        let notes = self.facts().into_iter().enumerate();
        let notes: String = notes.map(|(at, fact)| format!("[{}]: {fact}\n", at + 1)).collect();
        let gap = if notes.is_empty() { "" } else { "\n" };
        format!("{}{gap}{notes}", self.body())
    }

    fn body(&self) -> String {
        let facts = self.facts();
        let mark = |fact: &FactId| {
            let at = facts.iter().position(|cited| cited == fact).unwrap_or_default();
            format!("[{}]", at + 1)
        };
        let mut text = format!("# {}\n", self.name.title());
        let mut section = "";
        for placed in &self.sentences {
            if placed.section != section {
                section = &placed.section;
                text.push_str(&format!("\n## {section}\n"));
            }
            let marks: String = placed.sentence.facts.iter().map(mark).collect();
            text.push_str(&format!("- {}: {} {marks}\n", placed.lead(), placed.sentence.text));
        }
        text
    }
}

/// The versions that may be used now, in order of precedence: active, confident enough for a
/// prompt, in no domain that is closed, and no note of a reply. The order is the baseline's.
pub fn material(versions: &[Version], closed: &[String], now: Timestamp) -> Vec<Version> {
    let open = |v: &&Version| v.claim.domain.as_ref().is_none_or(|name| !closed.contains(name));
    let stands =
        |v: &&Version| v.state == State::Active && v.known.until.is_none() && v.valid.contains(now);
    let rule = |v: &Version| v.claim.force == Force::Hard && is_own(v);
    let mut chosen: Vec<Version> = versions
        .iter()
        .filter(stands)
        .filter(open)
        .filter(|v| rule(v) || is_sure_enough(v, now))
        .filter(|v| !is_note(v) && !is_unconfirmed_pattern(v))
        .cloned()
        .collect();
    let fresh = |v: &Version| v.last_confirmed_at.unwrap_or(v.known.from);
    chosen.sort_by(|a, b| {
        let hard = |v: &Version| v.claim.force == Force::Hard;
        hard(b)
            .cmp(&hard(a))
            .then(b.claim.importance.total_cmp(&a.claim.importance))
            .then(fresh(b).cmp(&fresh(a)))
            .then(b.fact.cmp(&a.fact))
    });
    // A fact may be valid again after a gap; it is used once.
    let mut seen = BTreeSet::new();
    chosen.retain(|version| seen.insert(version.fact));
    chosen
}

/// The facts of one portrait, out of the material.
pub fn inputs(name: &PortraitName, material: &[Version]) -> Vec<Version> {
    material.iter().filter(|version| name.takes(version)).cloned().collect()
}

/// The portraits of this material: the three that every user has, and one for each of its domains.
pub fn names(material: &[Version]) -> Vec<PortraitName> {
    let domains: BTreeSet<&String> =
        material.iter().filter_map(|version| version.claim.domain.as_ref()).collect();
    let domains = domains.into_iter().map(|name| PortraitName::Domain(name.clone()));
    [PortraitName::Profile, PortraitName::Procedures, PortraitName::ActiveContext]
        .into_iter()
        .chain(domains)
        .collect()
}

/// Cache key of a portrait: its facts and the rules. `prompt` is the prompt sent to a model, if
/// there was one. Equal hashes need no new portrait.
pub fn inputs_hash(name: &PortraitName, inputs: &[Version], prompt: Option<&str>) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(RULES_VERSION);
    part(prompt.unwrap_or(""));
    part(&name.to_string());
    for version in inputs {
        part(&version.fact.to_string());
        part(&version.root().to_string());
        part(&sentence::words(version));
    }
    hex::encode(hash.finalize())
}

/// Compiles a portrait: the phrased sentences whose facts are all still present, and every fact
/// that none of them cites, in its own words. Facts of higher precedence get space first.
pub fn compile(name: &PortraitName, inputs: &[Version], phrased: &[Sentence]) -> Portrait {
    let at = |fact: &FactId| inputs.iter().position(|version| version.fact == *fact);
    let stands = |sentence: &&Sentence| {
        !sentence.facts.is_empty() && sentence.facts.iter().all(|fact| at(fact).is_some())
    };
    let mut sentences: Vec<Sentence> = phrased.iter().filter(stands).cloned().collect();
    let cited: BTreeSet<FactId> =
        sentences.iter().flat_map(|sentence| sentence.facts.iter().copied()).collect();
    let rest: Vec<&Version> = inputs.iter().filter(|v| !cited.contains(&v.fact)).collect();
    sentences.extend(sentence::sentences(&rest, |version| name.section(version)));
    let first = |sentence: &Sentence| sentence.facts.iter().filter_map(at).min();
    sentences.sort_by_key(first);

    let mut portrait =
        Portrait { name: name.clone(), sentences: Vec::new(), tokens: 0, left_out: Vec::new() };
    let mut left = name.limit().saturating_sub(TITLE_TOKENS);
    for sentence in sentences {
        let Some(lead) = first(&sentence).map(|place| &inputs[place]) else { continue };
        let is_stated = sentence.facts.iter().filter_map(at).all(|place| inputs[place].is_firm());
        let section = name.section(lead).to_owned();
        let placed = PlacedSentence { section, is_stated, sentence };
        let heading = portrait.sentences.iter().all(|other| other.section != placed.section);
        let marks = 4 * placed.sentence.facts.len();
        let line = tokens::count(&format!("- {}: {}\n", placed.lead(), placed.sentence.text));
        let takes = line + marks + if heading { tokens::count(&placed.section) + 4 } else { 0 };
        if takes > left {
            portrait.left_out.extend(&placed.sentence.facts);
            continue;
        }
        left -= takes;
        portrait.sentences.push(placed);
    }
    // Sections together, in their fixed order or in the order in which their best sentence comes.
    let mut order: Vec<String> = Vec::new();
    for placed in &portrait.sentences {
        if !order.contains(&placed.section) {
            order.push(placed.section.clone());
        }
    }
    order.sort_by_key(|section| name.place(section));
    portrait.sentences.sort_by_key(|p| order.iter().position(|section| *section == p.section));
    let cited = portrait.facts();
    portrait.left_out.retain(|fact| !cited.contains(fact));
    portrait.tokens = tokens::count(&portrait.body());
    portrait
}

/// Maximum number of tokens of the title.
const TITLE_TOKENS: usize = 20;

#[cfg(test)]
mod tests;
