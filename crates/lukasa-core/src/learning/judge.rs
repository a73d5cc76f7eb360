//! Decides about each memory that a model proposes. Only the wording of a proposal comes from the
//! model: its origin, whether it is sensitive, whether it gives orders and how far it is trusted are
//! computed here from the stored turns.
//!
//! The rules, in order. A proposal is left out if it contains a secret, if it is in a domain the
//! user has not opened, or if none of its quotations was ever said. It needs consent if it has the
//! form of an order, would let another party act for the user, is sensitive, or contradicts
//! something important; also if the quoted sentence commands the memory or future behaviour, or
//! speaks of "the user" in the third person. An ordinary request in that sentence is allowed. It
//! becomes a candidate if the words are not the user's own, do not support the claim or say it of
//! something else, or only ask for something and so state nothing. The rest is stored: for injection
//! if the user spoke about themselves and the confidence is high enough, otherwise for recall only.
//! An inferred fact never replaces a stated one, unless the user's own sentence says that it is
//! wrong or has changed.
//!
//! A repetition becomes evidence. An update without a valid target is matched with the memory it
//! most likely changes, and a second value of an attribute that has only one is asked about.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use lukasa_text::screen::{Reading, Readings, Sensitive, ground};
use lukasa_text::slot::{Slot, slot_of};
use lukasa_text::statement::{self, StatementKind};
use lukasa_text::when;

use super::answer::{ExtractionOp, ProposedMemory, Quote};
use super::classify::{category_of, complete, given_reasoning, type_of};
use super::transcript::{QuoteMatch, Transcript};
use crate::admission::{Decision, IMPORTANT, Sensitivity, Traits, Writer, decide};
use crate::domain::Domain;
use crate::fact::{Claim, ClaimEvidence, Force, Kind, State, Tier, Version, fingerprint};
use crate::fade::{TEMPORARY_LIFETIME, expires_at};
use crate::id::{FactId, TurnId};
use crate::limits::{MAX_INFERRED_CONFIDENCE, tentative_importance};
use crate::origin::{Origin, Voice};
use crate::policy::{Admission, Policy};
use crate::project::Project;
use crate::time::Timestamp;
use crate::words;

/// Two memories with at least this similarity may be duplicates (R092).
pub const SAME_MEANING: f32 = 0.85;
/// Two memories with this many content words in common, and at least half of them, are about the
/// same.
const MIN_SHARED_WORDS: usize = 2;
/// An end that a model gives is ignored if it is later than this after the statement.
const MAX_LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 365 * 10);
/// Confidence cap of memories for recall only: just below the injection threshold.
const RECALL_ONLY_CONFIDENCE: f32 = 0.69;

words!(
    /// Why a proposal was left out.
    Reason {
        Skipped = "skipped",
        Known = "known_already",
        NoEvidence = "no_evidence",
        OthersOrder = "order_in_others_words",
        Secret = "secret",
        ClosedDomain = "closed_domain",
        Off = "off",
        TooLong = "too_long",
    }
);

/// A memory that was offered to the model, under a handle that is valid for this one call.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedMemory {
    pub fact: FactId,
    pub content: String,
}

/// The handle of the offered memory at this index.
pub fn handle(place: usize) -> String {
    format!("m{}", place + 1)
}

/// An existing memory similar to a proposal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarMemory {
    pub fact: FactId,
    pub score: f32,
}

/// The context in which proposals are judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgeContext<'s> {
    pub transcript: &'s Transcript,
    /// The facts that were offered, in the order of their handles.
    pub offered: &'s [FactId],
    /// The current versions of the memories concerned.
    pub standing: &'s BTreeMap<FactId, Version>,
    /// Every domain, and whether the user has opened it.
    pub domains: &'s [(Domain, bool)],
    pub policy: &'s Policy,
    /// The project of the session.
    pub project: Option<&'s Project>,
}

/// A claim to be stored, with its state and rating.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedClaim {
    pub claim: Claim,
    pub state: State,
    pub tier: Tier,
    pub origin: Origin,
    pub confidence: f32,
    pub turns: Vec<TurnId>,
    pub said_at: Timestamp,
    /// When it ends: as the user said, or else as its kind or its domain has it.
    pub until: Option<Timestamp>,
}

/// The decision about a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum ExtractionVerdict {
    /// A new memory.
    Keep(JudgedClaim),
    /// A change of an inferred memory.
    Change {
        fact: FactId,
        kept: JudgedClaim,
    },
    /// A change of a stated memory in the user's own words: carried out like a change that an
    /// assistant quotes the user for, or proposed.
    Restate {
        fact: FactId,
        kept: JudgedClaim,
        kind: StatementKind,
    },
    /// It contradicts an existing memory: stored beside it, for the user to decide.
    Contest {
        fact: FactId,
        kept: JudgedClaim,
    },
    /// A repetition: more evidence for an existing memory.
    Reinforce {
        fact: FactId,
        kept: JudgedClaim,
    },
    Leave(LeftProposal),
}

/// A proposal that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftProposal {
    pub reason: Reason,
    /// The turn that it quotes and the whole sentences around the quotation; `None` if the quotation
    /// was not found.
    pub said: Option<(TurnId, String)>,
    /// The domain that the user has not opened, if that is the reason.
    pub domain: Option<String>,
}

impl LeftProposal {
    /// A proposal left out for this reason, with the most trusted of its quotations.
    fn quoting(reason: Reason, found: &[QuoteMatch]) -> Self {
        let said = found.iter().max_by_key(|found| found.origin);
        let said = said.map(|found| (found.turn, found.sentence.clone()));
        Self { reason, said, domain: None }
    }
}

impl From<Reason> for LeftProposal {
    fn from(reason: Reason) -> Self {
        Self { reason, said: None, domain: None }
    }
}

/// Judges all proposals of an answer. A duplicate of an earlier proposal is left out as known.
pub fn judge_all(
    items: &[ProposedMemory],
    near: &[Vec<SimilarMemory>],
    scene: &JudgeContext<'_>,
) -> Vec<ExtractionVerdict> {
    let mut seen = BTreeSet::new();
    let none = Vec::new();
    let readings = Readings::default();
    let verdict = |(place, item): (usize, &ProposedMemory)| {
        let near = near.get(place).unwrap_or(&none);
        let verdict = complete(verdict_on(item, near, scene, &readings), item, scene.policy);
        let print = match &verdict {
            ExtractionVerdict::Keep(kept)
            | ExtractionVerdict::Change { kept, .. }
            | ExtractionVerdict::Restate { kept, .. }
            | ExtractionVerdict::Contest { kept, .. }
            | ExtractionVerdict::Reinforce { kept, .. } => fingerprint(&kept.claim),
            ExtractionVerdict::Leave(_) => return verdict,
        };
        if seen.insert(print) { verdict } else { ExtractionVerdict::Leave(Reason::Known.into()) }
    };
    items.iter().enumerate().map(verdict).collect()
}

/// Judges one proposal.
pub fn judge(
    item: &ProposedMemory,
    near: &[SimilarMemory],
    scene: &JudgeContext<'_>,
) -> ExtractionVerdict {
    complete(verdict_on(item, near, scene, &Readings::default()), item, scene.policy)
}

fn verdict_on(
    item: &ProposedMemory,
    near: &[SimilarMemory],
    scene: &JudgeContext<'_>,
    readings: &Readings,
) -> ExtractionVerdict {
    if item.op == ExtractionOp::Skip {
        return ExtractionVerdict::Leave(Reason::Skipped.into());
    }
    let locate = |quote: &Quote| scene.transcript.locate(&quote.text, &item.content, quote.turn);
    let found: Vec<QuoteMatch> = item.evidence.iter().filter_map(locate).collect();
    let named = item.target.as_deref().and_then(|named| named_fact(named, scene));
    let is_change = item.is_change();
    let old = named.filter(|_| is_change);
    let mut kept = match assess(item, old, &found, scene, readings) {
        Ok(kept) => kept,
        Err((reason, domain)) => {
            let left = LeftProposal::quoting(reason, &found);
            return ExtractionVerdict::Leave(LeftProposal { domain, ..left });
        }
    };
    let replaced = match is_change {
        true => {
            let named = named.filter(|old| old.claim.project == kept.claim.project);
            named.or_else(|| find_target(&kept.claim, near, scene))
        }
        false => None,
    };
    if let Some(version) = replaced.filter(|version| !says_the_same(&kept.claim, &version.claim)) {
        let typed = found.iter().filter(|found| found.origin >= Origin::UserTurn);
        let turns: BTreeSet<TurnId> = typed.map(|found| found.turn).collect();
        let texts = scene.transcript.typed_in(&turns);
        let sign = texts.filter_map(statement::signals_change).next();
        return contest_or_change(version, kept, sign);
    }
    let repeated = named.filter(|version| {
        item.op == ExtractionOp::Again && is_repetition(&kept.claim, version, near)
    });
    let nearest = near.iter().filter(|near| near.score >= SAME_MEANING);
    let mut nearest = nearest.filter_map(|near| scene.standing.get(&near.fact));
    let same = replaced
        .or(repeated)
        .or_else(|| nearest.find(|version| adds_nothing(&kept.claim, &version.claim)))
        .or_else(|| scene.standing.values().find(|v| says_the_same(&kept.claim, &v.claim)));
    match same {
        // The database lets no extraction write a new version of a stated fact, not even to add
        // evidence; and words of others support nothing.
        Some(version) if version.is_firm() || kept.origin < Origin::UserTurn => {
            ExtractionVerdict::Leave(Reason::Known.into())
        }
        Some(version) if kept.state == State::Active && version.state == State::Active => {
            ExtractionVerdict::Reinforce { fact: version.fact, kept }
        }
        // A candidate does not prevent a plainly stated memory.
        Some(version) if kept.state == State::Active && version.state == State::Candidate => {
            ExtractionVerdict::Keep(kept)
        }
        // A repeated candidate gathers evidence; consolidation counts it (R109).
        Some(version) if kept.state == State::Candidate && version.state == State::Candidate => {
            ExtractionVerdict::Reinforce { fact: version.fact, kept }
        }
        Some(_) => ExtractionVerdict::Leave(Reason::Known.into()),
        None => match other_value(&kept, scene) {
            // A home, a name or a language of answers has one value: a second one is asked about.
            Some(version) => {
                kept.state = State::Proposed;
                ExtractionVerdict::Contest { fact: version.fact, kept }
            }
            None => ExtractionVerdict::Keep(kept),
        },
    }
}

/// The active memory that gives another value to the attribute of an active claim.
fn other_value<'s>(kept: &JudgedClaim, scene: &JudgeContext<'s>) -> Option<&'s Version> {
    let mut active = scene.standing.values().filter(|version| version.state == State::Active);
    (kept.state == State::Active).then_some(())?;
    active.find(|old| {
        old.claim.project == kept.claim.project
            && shared_slot(&kept.claim, &old.claim).is_some_and(Slot::has_one_value)
    })
}

/// The attribute of the user that two claims are both about.
fn shared_slot(claim: &Claim, other: &Claim) -> Option<Slot> {
    slot_of(&claim.content).filter(|slot| slot_of(&other.content) == Some(*slot))
}

/// Whether a claim that a model calls a repetition repeats this memory.
fn is_repetition(claim: &Claim, version: &Version, near: &[SimilarMemory]) -> bool {
    let old = &version.claim;
    let is_near = near.iter().any(|near| near.fact == version.fact && near.score >= SAME_MEANING);
    adds_nothing(claim, old)
        || adds_nothing(old, claim)
        || (is_near
            && negations(&claim.content) == negations(&old.content)
            && !shared_slot(claim, old).is_some_and(Slot::has_one_value))
}

/// The active memory that a change without a valid target most likely means: one about the same
/// attribute, the most similar one, or the one with the most words in common. What belongs to a
/// project changes no memory that does not.
fn find_target<'s>(
    claim: &Claim,
    near: &[SimilarMemory],
    scene: &JudgeContext<'s>,
) -> Option<&'s Version> {
    let may_change =
        |old: &Version| old.state == State::Active && old.claim.project == claim.project;
    let active = || scene.standing.values().filter(|version| may_change(version));
    let same = |old: &&Version| shared_slot(claim, &old.claim).is_some();
    if let Some(version) = active().find(same) {
        return Some(version);
    }
    let mut near: Vec<_> = near.iter().filter(|near| near.score >= SAME_MEANING).collect();
    near.sort_by(|a, b| b.score.total_cmp(&a.score));
    let similar = near.iter().filter_map(|near| scene.standing.get(&near.fact));
    if let Some(version) = similar.into_iter().find(|old| may_change(old)) {
        return Some(version);
    }
    let shared = |old: &Version| {
        let (found, all) = ground::shared_words(&claim.content, &old.claim.content);
        let (_, others) = ground::shared_words(&old.claim.content, &claim.content);
        (found >= MIN_SHARED_WORDS && found * 2 >= all.min(others)).then_some(found)
    };
    let shared = active().filter_map(|old| Some((shared(old)?, old)));
    shared.max_by_key(|(found, _)| *found).map(|(_, old)| old)
}

/// Decides about a proposal that would replace a memory. `sign`: whether the user's sentence says
/// that something is wrong or has changed.
fn contest_or_change(
    version: &Version,
    mut kept: JudgedClaim,
    sign: Option<StatementKind>,
) -> ExtractionVerdict {
    let fact = version.fact;
    let voice = Voice::extracted(kept.origin);
    let is_others = kept.origin < Origin::UserTurn;
    if is_others && kept.state == State::Active && !voice.may_replace(version) {
        (kept.state, kept.tier) = (State::Candidate, Tier::Candidate);
    }
    if kept.state == State::Candidate || (is_others && kept.state != State::Active) {
        // A candidate cannot change an existing memory; it is stored as a candidate.
        return ExtractionVerdict::Contest { fact, kept };
    }
    if kept.state == State::Proposed || version.claim.importance >= IMPORTANT {
        kept.state = State::Proposed;
        return ExtractionVerdict::Contest { fact, kept };
    }
    if let Some(kind) = sign.filter(|_| version.is_firm() && version.state == State::Active) {
        return ExtractionVerdict::Restate { fact, kept, kind };
    }
    if !voice.may_replace(version) || version.state != State::Active {
        kept.state = State::Candidate;
        kept.tier = Tier::Candidate;
        return ExtractionVerdict::Contest { fact, kept };
    }
    // Preferences and circumstances change, so the newest statement counts; a claim about the world
    // is replaced only with at least the same confidence (R124).
    let is_changeable = matches!(
        version.claim.kind,
        Kind::Preference | Kind::Habit | Kind::Project | Kind::Context | Kind::Artifact
    );
    if is_changeable || kept.confidence >= version.confidence.unwrap_or(1.0) {
        kept.claim.key.clone_from(&version.claim.key);
        return ExtractionVerdict::Change { fact, kept };
    }
    kept.state = State::Candidate;
    kept.tier = Tier::Candidate;
    ExtractionVerdict::Contest { fact, kept }
}

/// Determines state, origin and confidence of a proposal from what was said; or why it is left out,
/// with the domain if that is closed.
fn assess(
    item: &ProposedMemory,
    old: Option<&Version>,
    found: &[QuoteMatch],
    scene: &JudgeContext<'_>,
    readings: &Readings,
) -> Result<JudgedClaim, (Reason, Option<String>)> {
    let content = readings.of(&item.content);
    let read = |found: &QuoteMatch| readings.of(&found.sentence);
    let quoted = item.evidence.iter().map(|quote| readings.of(&quote.text));
    let reasons = item.reasoning.iter().map(|text| readings.of(text));
    // The rest of the sentence is not stored.
    let stored = found.iter().map(|found| readings.of(&found.quote));
    let mut all = stored.chain([Rc::clone(&content)]).chain(quoted).chain(reasons);
    if all.any(|reading| reading.has_secret()) {
        return Err((Reason::Secret, None));
    }
    // If the user typed any of the quotations, only those count; the least trusted of the counted
    // ones decides. A long introduction counts if nothing else was typed.
    let typed: Vec<&QuoteMatch> = found.iter().filter(|f| f.origin >= Origin::UserTurn).collect();
    let guessed: Vec<&QuoteMatch> = found.iter().filter(|f| f.guessed).collect();
    let is_guess = typed.is_empty() && !guessed.is_empty();
    let counted = match (typed.is_empty(), is_guess) {
        (false, _) => typed,
        (true, true) => guessed,
        (true, false) => found.iter().collect(),
    };
    let origin =
        Origin::derived(counted.iter().map(|f| f.origin)).ok_or((Reason::NoEvidence, None))?;
    let own = origin >= Origin::UserTurn;
    let is_reported = counted.iter().all(|found| found.reported);

    let sentences: Vec<Rc<Reading>> = counted.iter().map(|found| read(found)).collect();
    let order = content.orders() || content.authorises();
    if !own && (order || sentences.iter().any(|said| said.orders() || said.authorises())) {
        return Err((Reason::OthersOrder, None));
    }
    // A claim that only asks for something states nothing, so it needs no consent either.
    let only_asks = content.states_nothing();
    let commanded = !only_asks
        && sentences
            .iter()
            .any(|said| said.commands() || said.authorises() || said.speaks_of_a_user());
    let named = item.domain.as_deref().and_then(|name| domain_named(scene, name));
    // Only the memory and its quotations would be stored, not the sentences around them.
    let stored = found.iter().map(|found| readings.of(&found.quote)).chain([Rc::clone(&content)]);
    let kinds: Vec<Sensitive> = stored.filter_map(|reading| reading.sensitive()).collect();
    let sensitive_kind = kinds.first().copied();
    let sensitive_domain =
        sensitive_kind.and_then(Sensitive::domain).and_then(|name| domain_named(scene, name));
    let (domain, opened) = match sensitive_domain.or(named) {
        Some((domain, opened)) => (Some(domain), *opened),
        None => (None, true),
    };
    // A consent is for what the words say. The domain that the model wrote does not extend it to other
    // kinds, some of which have no domain.
    let is_covered =
        |domain: &Domain| kinds.iter().all(|kind| kind.domain() == Some(domain.name.as_str()));
    let sensitivity = match domain {
        Some(domain) if domain.requires_opt_in && !opened => Sensitivity::Closed,
        _ if sensitive_kind.is_some() && sensitive_domain.is_none() => Sensitivity::NoDomain,
        Some(domain) if sensitive_domain.is_some() || domain.sensitive => {
            let consents = scene.policy.admits_inferred.contains(&domain.name);
            match consents && is_covered(domain) {
                true => Sensitivity::Admitted,
                false => Sensitivity::Open,
            }
        }
        _ => Sensitivity::Plain,
    };
    let traits = Traits { sensitivity, directs: order || commanded, ..Traits::default() };
    let needs_consent = match decide(Writer::Extraction, traits) {
        Decision::Accept => false,
        Decision::Ask => true,
        Decision::RejectSecret => return Err((Reason::Secret, None)),
        Decision::RejectClosed => {
            return Err((Reason::ClosedDomain, domain.map(|domain| domain.name.clone())));
        }
    };
    let admission = scene.policy.admission_in(domain.map(|domain| domain.name.as_str()));
    if admission == Admission::Off {
        return Err((Reason::Off, None));
    }
    let category = category_of(item);
    let texts: Vec<&str> = sentences.iter().map(|said| said.text()).collect();
    // That the words occur is not enough: a sentence must say them of the same subject.
    // A change may leave out what the old memory says.
    let is_grounded = ground::grounded(&item.content, &texts)
        || old.is_some_and(|old| ground::changes(&item.content, &old.claim.content, &texts));
    let supported = is_grounded && texts.iter().any(|said| ground::carries(&item.content, said));
    let of_self = sentences.iter().any(|said| said.speaks_of_self());
    let sure = item.confidence >= scene.policy.floor(category)
        && item.importance >= scene.policy.inject_importance;
    let (state, tier, max_confidence) =
        if !(own || is_guess || is_reported) || !supported || only_asks {
            (State::Candidate, Tier::Candidate, RECALL_ONLY_CONFIDENCE)
        } else if needs_consent || is_guess || admission == Admission::Propose {
            (State::Proposed, Tier::Tentative, 1.0)
        } else if item.confidence < scene.policy.recall_confidence && admission != Admission::Auto {
            (State::Candidate, Tier::Candidate, RECALL_ONLY_CONFIDENCE)
        } else if sure && of_self {
            // What an assistant reports is found by recall, and below what the user said.
            (State::Active, Tier::Tentative, if is_reported { RECALL_ONLY_CONFIDENCE } else { 1.0 })
        } else if scene.policy.recalls_only() || admission == Admission::Auto {
            (State::Active, Tier::Tentative, RECALL_ONLY_CONFIDENCE)
        } else {
            (State::Candidate, Tier::Candidate, RECALL_ONLY_CONFIDENCE)
        };
    let is_weak = state == State::Active && max_confidence < 1.0;
    let mut claim = Claim {
        category,
        memory_type: type_of(item, category),
        kind: item.kind,
        force: Force::Soft,
        domain: domain.map(|domain| domain.name.clone()),
        importance: if is_weak { tentative_importance(item.importance) } else { item.importance },
        reasoning: given_reasoning(item),
        evidence: counted.iter().map(|found| evidence(found)).collect(),
        ..Claim::saying(&item.content)
    };
    claim.project = claim.project_in(scene.project);
    if !claim.faults().is_empty() {
        return Err((Reason::TooLong, None));
    }
    let mut turns: Vec<TurnId> = counted.iter().map(|found| found.turn).collect();
    turns.dedup();
    let said_at =
        counted.iter().map(|found| found.said_at).max().ok_or((Reason::NoEvidence, None))?;
    let confidence = item.confidence.min(max_confidence).min(MAX_INFERRED_CONFIDENCE);
    let of_today = texts.iter().any(|said| when::is_about_today(said));
    let until = expires_at(&claim, said_at, of_today, end_of(item, &texts, said_at))
        .or_else(|| domain?.expires_at(&claim, said_at, scene.policy.domain_expiry()));
    Ok(JudgedClaim { claim, state, tier, origin, confidence, turns, said_at, until })
}

/// The end that a model gives to a memory, if the user named some time and it lies ahead. Circumstances
/// end at most a day after the last time that was named: of "exhausted today" nothing lasts for years.
fn end_of(item: &ProposedMemory, said: &[&str], said_at: Timestamp) -> Option<Timestamp> {
    let day = item.until?.tomorrow().ok()?;
    let mut end = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let named = said.iter().flat_map(|said| when::mentions(said, said_at, &TimeZone::UTC));
    let named: Vec<_> = named.map(|mention| mention.period.until).collect();
    if named.is_empty() {
        return None;
    }
    if item.kind == Kind::Context {
        end = end.min(named.into_iter().flatten().max()? + TEMPORARY_LIFETIME);
    }
    (end > said_at && end.duration_since(said_at) <= MAX_LIFETIME).then_some(end)
}

fn evidence(found: &QuoteMatch) -> ClaimEvidence {
    let turn = Some(found.turn.to_string());
    ClaimEvidence { turn, ..ClaimEvidence::of("quote", &found.quote) }
}

fn named_fact<'s>(named: &str, scene: &JudgeContext<'s>) -> Option<&'s Version> {
    let place = (0..scene.offered.len()).find(|place| handle(*place) == named)?;
    scene.standing.get(&scene.offered[place])
}

fn domain_named<'s>(scene: &JudgeContext<'s>, name: &str) -> Option<(&'s Domain, &'s bool)> {
    let found = scene.domains.iter().find(|(domain, _)| domain.name == name);
    found.map(|(domain, opened)| (domain, opened))
}

/// Whether two claims say the same, compared by their words.
pub fn says_the_same(new: &Claim, old: &Claim) -> bool {
    new.content.trim().to_lowercase() == old.content.trim().to_lowercase()
        || (adds_nothing(new, old) && ground::says_no_more(&old.content, &new.content))
}

/// Whether a claim says nothing that the other does not. Similarity is not enough: "lives in
/// Berlin" is similar to "lives in Munich", and "likes olives" to "does not like olives".
fn adds_nothing(new: &Claim, old: &Claim) -> bool {
    negations(&new.content) == negations(&old.content)
        && ground::says_no_more(&new.content, &old.content)
}

/// Counts the negations in a text, in the most common languages.
pub(super) fn negations(text: &str) -> usize {
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

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
