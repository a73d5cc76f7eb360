//! Portraits: compiled texts about a person in which every sentence says which facts it rests on.
//!
//! A portrait is a cache. It is made from facts that could stand in a prompt anyway, it can be made
//! again from them at any time, and a sentence is shown only as long as every fact it cites is still
//! among them. [`template`] compiles one from the facts' own words; [`phrase`] decides what of a
//! model's phrasing may take their place. Nothing here adds anything to what is known.

pub mod phrase;
pub mod template;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::context::{is_own, is_sure_enough, tokens};
use crate::domain;
use crate::fact::{Category, Force, MemoryType, State, Version};
use crate::id::FactId;
use crate::time::Timestamp;

/// The rules a portrait is compiled by. Other rules make another portrait of the same facts.
const EDITION: &str = "template/1";

/// Which portrait.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// Who the person is.
    Profile,
    /// How to help them, by kind of request.
    Procedures,
    /// What they are at now.
    ActiveContext,
    /// What is known about one area of their life.
    Domain(String),
}

impl Name {
    /// How many tokens its text may take.
    pub fn limit(&self) -> usize {
        match self {
            Name::Profile | Name::ActiveContext => 500,
            Name::Procedures => 1_000,
            Name::Domain(_) => 5_000,
        }
    }

    pub fn title(&self) -> String {
        match self {
            Name::Profile => "Profile".to_owned(),
            Name::Procedures => "How to help".to_owned(),
            Name::ActiveContext => "Current context".to_owned(),
            Name::Domain(name) => format!("What is known: {name}"),
        }
    }

    /// Whether a memory belongs into it.
    fn takes(&self, version: &Version) -> bool {
        let claim = &version.claim;
        let kind = claim.memory_type;
        match self {
            Name::Procedures => {
                claim.force == Force::Hard
                    || claim.category == Category::Style
                    || kind == MemoryType::Procedural
            }
            Name::ActiveContext => claim.category == Category::Context || kind == MemoryType::Task,
            Name::Profile => {
                let others = [Name::Procedures, Name::ActiveContext];
                let of_them = claim.category == Category::Profile || kind == MemoryType::Profile;
                of_them && others.iter().all(|other| !other.takes(version))
            }
            Name::Domain(name) => claim.domain.as_ref() == Some(name),
        }
    }

    /// Under which heading of it a memory stands.
    fn section<'v>(&self, version: &'v Version) -> &'v str {
        let claim = &version.claim;
        match self {
            Name::Procedures | Name::ActiveContext => claim.domain.as_deref().unwrap_or("general"),
            Name::Profile | Name::Domain(_) => claim.kind.as_str(),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Profile => f.write_str("profile"),
            Name::Procedures => f.write_str("procedures"),
            Name::ActiveContext => f.write_str("active_context"),
            Name::Domain(name) => write!(f, "domain:{name}"),
        }
    }
}

/// The text names no portrait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a portrait")]
pub struct BadName;

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text {
            "profile" => Ok(Name::Profile),
            "procedures" => Ok(Name::Procedures),
            "active_context" => Ok(Name::ActiveContext),
            _ => {
                let name = text.strip_prefix("domain:").filter(|name| domain::is_name(name));
                Ok(Name::Domain(name.ok_or(BadName)?.to_owned()))
            }
        }
    }
}

/// One sentence, and the facts it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    pub text: String,
    pub facts: Vec<FactId>,
}

/// A sentence in its place in a portrait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub section: String,
    /// Whether its person said all of it. What was inferred was only mentioned, and one inferred fact
    /// is enough.
    pub told: bool,
    pub sentence: Sentence,
}

impl Placed {
    /// How it is told to its person: where it comes from, and no judgement of them.
    pub fn lead(&self) -> &'static str {
        if self.told { "You told me" } else { "You mentioned" }
    }
}

/// A compiled text about a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portrait {
    pub name: Name,
    pub sentences: Vec<Placed>,
    /// What its text takes in a prompt, without the list of memories at its end.
    pub tokens: usize,
    /// The facts that found no room.
    pub left_out: Vec<FactId>,
}

impl Portrait {
    /// The facts it cites, each once, in the order in which they are cited first.
    pub fn facts(&self) -> Vec<FactId> {
        let mut seen = BTreeSet::new();
        let all = self.sentences.iter().flat_map(|placed| &placed.sentence.facts);
        all.copied().filter(|fact| seen.insert(*fact)).collect()
    }

    /// The text, and under it which mark is which memory.
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

/// Of these versions those that may be told of now, in order of precedence: usable, sure enough for a
/// prompt, of no domain that is shut. The order is the baseline's.
pub fn material(versions: &[Version], shut: &[String], now: Timestamp) -> Vec<Version> {
    let open = |v: &&Version| v.claim.domain.as_ref().is_none_or(|name| !shut.contains(name));
    let stands =
        |v: &&Version| v.state == State::Active && v.known.until.is_none() && v.valid.contains(now);
    let rule = |v: &Version| v.claim.force == Force::Hard && is_own(v);
    let mut chosen: Vec<Version> = versions
        .iter()
        .filter(stands)
        .filter(open)
        .filter(|v| rule(v) || is_sure_enough(v, now))
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
    // A fact may hold again after a gap; it is told once.
    let mut seen = BTreeSet::new();
    chosen.retain(|version| seen.insert(version.fact));
    chosen
}

/// What one portrait is made from, out of the material.
pub fn inputs(name: &Name, material: &[Version]) -> Vec<Version> {
    material.iter().filter(|version| name.takes(version)).cloned().collect()
}

/// The portraits that this material gives: the three that everybody has, and the domains it is of.
pub fn names(material: &[Version]) -> Vec<Name> {
    let domains: BTreeSet<&String> =
        material.iter().filter_map(|version| version.claim.domain.as_ref()).collect();
    let domains = domains.into_iter().map(|name| Name::Domain(name.clone()));
    [Name::Profile, Name::Procedures, Name::ActiveContext].into_iter().chain(domains).collect()
}

/// What a portrait depends on: its facts as they stand, and the rules. `prompt` is the question a
/// model was asked for it, if one was. Equal hashes need no new portrait.
pub fn inputs_hash(name: &Name, inputs: &[Version], prompt: Option<&str>) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(EDITION);
    part(prompt.unwrap_or(""));
    part(&name.to_string());
    for version in inputs {
        part(&version.fact.to_string());
        part(&version.root().to_string());
        part(template::words(version));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compiles a portrait: the phrased sentences that still stand, and every fact that none of them
/// cites in its own words. What comes first in the order of precedence has room first.
pub fn compile(name: &Name, inputs: &[Version], phrased: &[Sentence]) -> Portrait {
    let at = |fact: &FactId| inputs.iter().position(|version| version.fact == *fact);
    let stands = |sentence: &&Sentence| {
        !sentence.facts.is_empty() && sentence.facts.iter().all(|fact| at(fact).is_some())
    };
    let mut sentences: Vec<Sentence> = phrased.iter().filter(stands).cloned().collect();
    let cited: BTreeSet<FactId> =
        sentences.iter().flat_map(|sentence| sentence.facts.iter().copied()).collect();
    let rest: Vec<&Version> = inputs.iter().filter(|v| !cited.contains(&v.fact)).collect();
    sentences.extend(template::sentences(&rest, |version| name.section(version)));
    let first = |sentence: &Sentence| sentence.facts.iter().filter_map(at).min();
    sentences.sort_by_key(first);

    let mut portrait =
        Portrait { name: name.clone(), sentences: Vec::new(), tokens: 0, left_out: Vec::new() };
    let mut left = name.limit().saturating_sub(FRAME);
    for sentence in sentences {
        let Some(lead) = first(&sentence).map(|place| &inputs[place]) else { continue };
        let told = sentence.facts.iter().filter_map(at).all(|place| inputs[place].is_firm());
        let section = name.section(lead).to_owned();
        let placed = Placed { section, told, sentence };
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
    // Sections in the order in which their best sentence comes, and together.
    let mut order: Vec<String> = Vec::new();
    for placed in &portrait.sentences {
        if !order.contains(&placed.section) {
            order.push(placed.section.clone());
        }
    }
    portrait.sentences.sort_by_key(|p| order.iter().position(|section| *section == p.section));
    let cited = portrait.facts();
    portrait.left_out.retain(|fact| !cited.contains(fact));
    portrait.tokens = tokens::count(&portrait.body());
    portrait
}

/// What the title takes, at most.
const FRAME: usize = 20;

#[cfg(test)]
mod tests;
