//! The judge: what becomes of each memory that a model proposes. It takes nothing from the model but
//! words: where they came from, whether they are sensitive, whether they give orders and how far they
//! may be believed is decided here, from what was really said.
//!
//! The rules, in order. A proposal is left out if it holds a secret, if it is about a domain its
//! person has not opened, or if nothing quoted for it was ever said. It asks first if it is shaped
//! like an order, would let somebody act for the person, is sensitive, or speaks against something
//! important; also if the sentence it rests on commands memory or what is to come, or speaks of "the
//! user" as of another. A request in that sentence is no matter. It is a guess, kept aside, if the
//! words are not the person's own, do not carry it, or only ask for something and so state nothing.
//! What remains is remembered: for prompts if the person spoke of themselves and it is sure enough,
//! otherwise for recall only. Nothing inferred ever replaces what was said.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::answer::{Item, Op};
use super::transcript::{Found, Transcript};
use crate::admission::{Decision, Sensitivity, Traits, Writer, decide};
use crate::domain::Domain;
use crate::fact::{
    Category, Claim, Evidence, Force, Kind, MemoryType, State, Tier, Version, fingerprint, words,
};
use crate::id::{FactId, TurnId};
use crate::origin::{Origin, Voice};
use crate::policy::{Admission, Policy};
use crate::screen::{Reading, Readings, Sensitive, directive, ground, secret, sensitive};
use crate::time::Timestamp;

/// Two memories this near in meaning may be one (R092).
pub const SAME_MEANING: f32 = 0.85;
/// What speaks against a memory this important asks first (R125).
pub const IMPORTANT: f32 = 0.85;
/// Just under what goes into a prompt.
const RECALL_ONLY: f32 = 0.69;

words!(
    /// Why a proposal was not kept.
    Reason {
        Skipped = "skipped",
        Known = "known_already",
        NoEvidence = "no_evidence",
        OthersOrder = "order_in_others_words",
        Secret = "secret",
        ClosedDomain = "closed_domain",
        UnknownTarget = "unknown_target",
        Off = "off",
        TooLong = "too_long",
    }
);

/// A memory that was offered to the model, under a handle that only this one call knows.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    pub fact: FactId,
    pub content: String,
}

/// The handle of the memory in this place of the offer.
pub fn handle(place: usize) -> String {
    format!("m{}", place + 1)
}

/// A memory near in meaning to a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub fact: FactId,
    pub score: f32,
}

/// What a proposal is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'s> {
    pub transcript: &'s Transcript,
    /// The facts that were offered, in the order of their handles.
    pub offered: &'s [FactId],
    /// The memories concerned, as they stand now.
    pub standing: &'s BTreeMap<FactId, Version>,
    /// Every domain, and whether its person has opened it.
    pub domains: &'s [(Domain, bool)],
    pub policy: &'s Policy,
}

/// A memory to be kept, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub claim: Claim,
    pub state: State,
    pub tier: Tier,
    pub origin: Origin,
    pub confidence: f32,
    pub turns: Vec<TurnId>,
    pub said_at: Timestamp,
}

/// What becomes of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A new memory.
    Keep(Kept),
    /// A change of one that was itself inferred.
    Change {
        fact: FactId,
        kept: Kept,
    },
    /// It speaks against one that stands: kept beside it, for the person to decide.
    Contest {
        fact: FactId,
        kept: Kept,
    },
    /// Said again: more evidence for one that is there.
    Reinforce {
        fact: FactId,
        kept: Kept,
    },
    Leave(Reason),
}

/// Judges all of an answer. A second proposal that says what an earlier one said is known already.
pub fn all(items: &[Item], near: &[Vec<Near>], scene: &Scene<'_>) -> Vec<Verdict> {
    let mut seen = BTreeSet::new();
    let none = Vec::new();
    let readings = Readings::default();
    let verdict = |(place, item): (usize, &Item)| {
        let verdict = judged(item, near.get(place).unwrap_or(&none), scene, &readings);
        let print = match &verdict {
            Verdict::Keep(kept)
            | Verdict::Change { kept, .. }
            | Verdict::Contest { kept, .. }
            | Verdict::Reinforce { kept, .. } => fingerprint(&kept.claim),
            Verdict::Leave(_) => return verdict,
        };
        if seen.insert(print) { verdict } else { Verdict::Leave(Reason::Known) }
    };
    items.iter().enumerate().map(verdict).collect()
}

/// Judges one proposal.
pub fn judge(item: &Item, near: &[Near], scene: &Scene<'_>) -> Verdict {
    judged(item, near, scene, &Readings::default())
}

fn judged(item: &Item, near: &[Near], scene: &Scene<'_>, readings: &Readings) -> Verdict {
    if item.op == Op::Skip {
        return Verdict::Leave(Reason::Skipped);
    }
    let found: Vec<Found> =
        item.evidence.iter().filter_map(|quote| scene.transcript.find(&quote.text)).collect();
    let kept = match weigh(item, &found, scene, readings) {
        Ok(kept) => kept,
        Err(reason) => return Verdict::Leave(reason),
    };
    let target = match (item.op, &item.target) {
        (Op::Update, Some(named)) => match named_fact(named, scene) {
            Some(version) => Some(version),
            None => return Verdict::Leave(Reason::UnknownTarget),
        },
        _ => None,
    };
    if let Some(version) = target.filter(|version| !says_the_same(&kept.claim, &version.claim)) {
        return against(version, kept);
    }
    let nearest = near.iter().filter(|near| near.score >= SAME_MEANING);
    let mut nearest = nearest.filter_map(|near| scene.standing.get(&near.fact));
    let same = target
        .or_else(|| nearest.find(|version| adds_nothing(&kept.claim, &version.claim)))
        .or_else(|| scene.standing.values().find(|v| says_the_same(&kept.claim, &v.claim)));
    match same {
        // What was said needs no support from what was inferred; and what others say supports nothing.
        Some(version) if version.is_firm() || kept.origin < Origin::UserTurn => {
            Verdict::Leave(Reason::Known)
        }
        Some(version) if kept.state == State::Active && version.state == State::Active => {
            Verdict::Reinforce { fact: version.fact, kept }
        }
        // What was only guessed is now said plainly: the guess does not stand in its way.
        Some(version) if kept.state == State::Active && version.state == State::Candidate => {
            Verdict::Keep(kept)
        }
        // A guess that is met again gathers evidence; consolidation counts it (R109).
        Some(version) if kept.state == State::Candidate && version.state == State::Candidate => {
            Verdict::Reinforce { fact: version.fact, kept }
        }
        Some(_) => Verdict::Leave(Reason::Known),
        None => Verdict::Keep(kept),
    }
}

/// A proposal that would replace a memory.
fn against(version: &Version, mut kept: Kept) -> Verdict {
    let fact = version.fact;
    if kept.origin < Origin::UserTurn || kept.state == State::Candidate {
        // A guess is no match for what stands. It is kept as what it is.
        return Verdict::Contest { fact, kept };
    }
    if kept.state == State::Proposed || version.claim.importance >= IMPORTANT {
        kept.state = State::Proposed;
        return Verdict::Contest { fact, kept };
    }
    let voice = Voice::extracted(kept.origin);
    if !voice.may_replace(version) || version.state != State::Active {
        kept.state = State::Candidate;
        kept.tier = Tier::Candidate;
        return Verdict::Contest { fact, kept };
    }
    // Preferences and circumstances change, so the newest word counts; a claim about the world is
    // replaced by one that is at least as sure (R124).
    let moves = matches!(
        version.claim.kind,
        Kind::Preference | Kind::Habit | Kind::Project | Kind::Context | Kind::Artifact
    );
    if moves || kept.confidence >= version.confidence.unwrap_or(1.0) {
        kept.claim.key.clone_from(&version.claim.key);
        return Verdict::Change { fact, kept };
    }
    kept.state = State::Candidate;
    kept.tier = Tier::Candidate;
    Verdict::Contest { fact, kept }
}

/// How far a proposal can be believed, by what was said.
fn weigh(
    item: &Item,
    found: &[Found],
    scene: &Scene<'_>,
    readings: &Readings,
) -> Result<Kept, Reason> {
    let content = readings.of(&item.content);
    let read = |found: &Found| readings.of(&found.sentence);
    let quoted = item.evidence.iter().map(|quote| readings.of(&quote.text));
    let reasons = item.reasoning.iter().map(|text| readings.of(text));
    let mut all = found.iter().map(read).chain([Rc::clone(&content)]).chain(quoted).chain(reasons);
    if all.any(|reading| reading.has_secret()) {
        return Err(Reason::Secret);
    }
    // Only the most trusted quotations count, and the least trusted of those decides.
    let typed: Vec<&Found> = found.iter().filter(|f| f.origin >= Origin::UserTurn).collect();
    let carrying: Vec<&Found> = if typed.is_empty() { found.iter().collect() } else { typed };
    let origin = Origin::derived(carrying.iter().map(|f| f.origin)).ok_or(Reason::NoEvidence)?;
    let own = origin >= Origin::UserTurn;

    let sentences: Vec<Rc<Reading>> = carrying.iter().map(|found| read(found)).collect();
    let order = content.orders() || content.authorises();
    if !own && (order || sentences.iter().any(|said| said.orders() || said.authorises())) {
        return Err(Reason::OthersOrder);
    }
    // Who only asks for something has told nothing; that is no reason to ask back.
    let only_asks = content.states_nothing();
    let commanded = !only_asks
        && sentences
            .iter()
            .any(|said| said.commands() || said.authorises() || said.speaks_of_a_user());
    let named = item.domain.as_deref().and_then(|name| domain_named(scene, name));
    // What would be kept is the memory and the words quoted for it, not the sentence around them.
    let kept = found.iter().map(|found| readings.of(&found.quote)).chain([Rc::clone(&content)]);
    let felt = kept.into_iter().find_map(|reading| reading.sensitive());
    let felt_domain = felt.and_then(Sensitive::domain).and_then(|name| domain_named(scene, name));
    let (domain, opened) = match felt_domain.or(named) {
        Some((domain, opened)) => (Some(domain), *opened),
        None => (None, true),
    };
    let sensitivity = match domain {
        Some(domain) if domain.requires_opt_in && !opened => Sensitivity::Closed,
        Some(domain) if felt_domain.is_some() || domain.sensitive => Sensitivity::Open,
        _ if felt.is_some() => Sensitivity::NoDomain,
        _ => Sensitivity::Plain,
    };
    let traits = Traits { secret: false, sensitivity, directs: order || commanded, hard: false };
    let asks_first = match decide(Writer::Extraction, traits) {
        Decision::Accept => false,
        Decision::Ask => true,
        Decision::RejectSecret => return Err(Reason::Secret),
        Decision::RejectClosed => return Err(Reason::ClosedDomain),
    };
    let admission = scene.policy.admission_in(domain.map(|domain| domain.name.as_str()));
    if admission == Admission::Off {
        return Err(Reason::Off);
    }
    let category = category_of(item.kind);
    let texts: Vec<&str> = sentences.iter().map(|said| said.text()).collect();
    let carried = ground::grounded(&item.content, &texts);
    let of_self = sentences.iter().any(|said| said.speaks_of_self());
    let sure = item.confidence >= scene.policy.floor(category)
        && item.importance >= scene.policy.inject_importance;
    let (state, tier, most) = if !own || !carried || only_asks {
        (State::Candidate, Tier::Candidate, RECALL_ONLY)
    } else if asks_first || admission == Admission::Propose {
        (State::Proposed, Tier::Tentative, 1.0)
    } else if item.confidence < scene.policy.recall_confidence && admission != Admission::Auto {
        (State::Candidate, Tier::Candidate, RECALL_ONLY)
    } else if sure && of_self {
        (State::Active, Tier::Tentative, 1.0)
    } else {
        (State::Active, Tier::Tentative, RECALL_ONLY)
    };
    let claim = Claim {
        category,
        memory_type: item.memory_type.unwrap_or_else(|| type_of(item.kind)),
        kind: item.kind,
        force: Force::Soft,
        domain: domain.map(|domain| domain.name.clone()),
        importance: item.importance,
        reasoning: item.reasoning.clone().filter(|text| sensitive::category(text).is_none()),
        evidence: carrying.iter().map(|found| evidence(found)).collect(),
        ..Claim::saying(&item.content)
    };
    if !claim.faults().is_empty() {
        return Err(Reason::TooLong);
    }
    let mut turns: Vec<TurnId> = carrying.iter().map(|found| found.turn).collect();
    turns.dedup();
    let said_at = carrying.iter().map(|found| found.said_at).max().ok_or(Reason::NoEvidence)?;
    let confidence = item.confidence.min(most);
    Ok(Kept { claim, state, tier, origin, confidence, turns, said_at })
}

fn evidence(found: &Found) -> Evidence {
    let turn = Some(found.turn.to_string());
    Evidence { turn, ..Evidence::of("quote", &found.quote) }
}

fn named_fact<'s>(named: &str, scene: &Scene<'s>) -> Option<&'s Version> {
    let place = (0..scene.offered.len()).find(|place| handle(*place) == named)?;
    scene.standing.get(&scene.offered[place])
}

fn domain_named<'s>(scene: &Scene<'s>, name: &str) -> Option<(&'s Domain, &'s bool)> {
    let found = scene.domains.iter().find(|(domain, _)| domain.name == name);
    found.map(|(domain, opened)| (domain, opened))
}

/// Whether two claims say the same, by their words.
pub fn says_the_same(new: &Claim, old: &Claim) -> bool {
    new.content.trim().to_lowercase() == old.content.trim().to_lowercase()
        || (adds_nothing(new, old) && ground::says_no_more(&old.content, &new.content))
}

/// Whether a claim says nothing that the other does not. Being near in meaning is not enough: "lives
/// in Berlin" is near to "lives in Munich", and "likes olives" to "does not like olives".
fn adds_nothing(new: &Claim, old: &Claim) -> bool {
    negations(&new.content) == negations(&old.content)
        && ground::says_no_more(&new.content, &old.content)
}

/// How often a text says no, in the languages that chats are mostly in.
fn negations(text: &str) -> usize {
    const NO: [&str; 34] = [
        "not", "no", "never", "none", "without", "stopped", "quit", "cannot", "nicht", "kein",
        "keine", "keinen", "nie", "ohne", "pas", "jamais", "plus", "sans", "nunca", "sin", "ya",
        "non", "mai", "senza", "não", "nao", "sem", "niet", "geen", "nooit", "anymore", "dislikes",
        "hates", "former",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let spelled = words.filter(|word| NO.contains(word) || word.ends_with("n't")).count();
    spelled + lower.matches(['不', '没', '無', '无']).count() + lower.matches("ない").count()
}

fn category_of(kind: Kind) -> Category {
    match kind {
        Kind::Fact | Kind::Relationship | Kind::Skill => Category::Profile,
        Kind::Preference | Kind::Habit | Kind::Artifact => Category::Fact,
        Kind::Project | Kind::Context => Category::Context,
    }
}

fn type_of(kind: Kind) -> MemoryType {
    match kind {
        Kind::Project => MemoryType::Task,
        Kind::Context => MemoryType::Episodic,
        Kind::Habit | Kind::Skill => MemoryType::Procedural,
        Kind::Preference | Kind::Fact | Kind::Artifact | Kind::Relationship => MemoryType::Profile,
    }
}

/// The parts of an outside summary that may be kept: sentences that hold no secret, give no order and
/// touch no domain that is shut.
pub fn safe_summary(text: &str, domains: &[(Domain, bool)]) -> Option<String> {
    let open = |category: Sensitive| {
        let name = category.domain();
        name.and_then(|name| domains.iter().find(|(domain, _)| domain.name == name))
            .is_some_and(|(domain, opened)| !domain.requires_opt_in || *opened)
    };
    let fine = |sentence: &&str| {
        !secret::has_secret(sentence)
            && !directive::is_directive(sentence)
            && !directive::authorises(sentence)
            && sensitive::category(sentence).is_none_or(open)
    };
    let sentences = text.split_inclusive(['.', '!', '?', '。', '！', '？']);
    let kept: String = sentences.filter(fine).collect();
    Some(kept.trim().to_owned()).filter(|kept| !kept.is_empty())
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
