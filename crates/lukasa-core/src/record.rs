//! The verbs of the record, as pure functions.
//!
//! Each takes the versions of one fact that are known now, and answers with the versions to close
//! and the versions to open. Nothing is edited in place and nothing here touches a database: the
//! engine applies the answer in one transaction, and undo is the same answer turned around.

use crate::consolidate::Step;
use crate::fact::{Claim, Edit, Evidence, State, Tier, Version};
use crate::id::{FactId, Ids, OperationId, VersionId};
use crate::limits;
use crate::origin::Voice;
use crate::time::{Period, Timestamp};

/// One operation's place in time and its source of ids.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub at: Timestamp,
    pub operation: OperationId,
    pub ids: Ids,
}

impl Stamp {
    /// The same claim as `version`, held from now on.
    pub(crate) fn copy(&mut self, version: &Version) -> Version {
        Version {
            id: self.ids.version(),
            known: Period::since(self.at),
            opened_by: self.operation,
            closed_by: None,
            reopens: None,
            ..version.clone()
        }
    }

    /// The same version, held again.
    fn reopen(&mut self, version: &Version) -> Version {
        Version { reopens: Some(version.root()), ..self.copy(version) }
    }
}

/// What a verb does to the record: versions to close, versions to open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    pub closes: Vec<(FactId, VersionId)>,
    pub opens: Vec<Version>,
}

impl Changes {
    fn replace(old: &Version, new: impl IntoIterator<Item = Version>) -> Self {
        Self { closes: vec![(old.fact, old.id)], opens: new.into_iter().collect() }
    }
}

/// Why a verb was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the memory is not active")]
    NotActive,
    #[error("the memory is neither forgotten nor in the trash")]
    NotGone,
    #[error("the memory does not hold at the given time")]
    NotValidThen,
    #[error("the new validity would be empty")]
    EmptyValidity,
    #[error("the new validity overlaps another version of the same memory")]
    OverlapsItself,
    #[error("what was extracted or imported cannot replace what was said")]
    LessTrusted,
    #[error("nothing would change")]
    Unchanged,
    #[error("only the person the memory is about can say yes")]
    NeedsHuman,
    #[error("the words that were confirmed are not the words that are stored")]
    OtherWords,
}

/// Everything a new fact is made from besides its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Provenance {
    pub voice: Voice,
    pub confidence: Option<f32>,
    pub tier: Tier,
    pub session: Option<String>,
    pub turns: Vec<String>,
    /// Admission lets it replace what the user stated, whatever its voice.
    pub replaces_stated: bool,
}

impl Provenance {
    pub fn stated(voice: Voice) -> Self {
        Self {
            voice,
            confidence: None,
            tier: Tier::Strong,
            session: None,
            turns: Vec::new(),
            replaces_stated: false,
        }
    }
}

/// A new fact, active at once or waiting as a proposal.
pub fn save(
    claim: Claim,
    state: State,
    valid: Period,
    provenance: Provenance,
    stamp: &mut Stamp,
) -> Changes {
    let version = Version {
        fact: stamp.ids.fact(),
        id: stamp.ids.version(),
        number: 1,
        claim,
        state,
        tier: provenance.tier,
        origin: provenance.voice.origin,
        extracted: provenance.voice.extracted,
        confidence: provenance.confidence,
        session: provenance.session,
        turns: provenance.turns,
        confirmed_at: None,
        last_confirmed_at: None,
        consented_at: None,
        valid,
        known: Period::since(stamp.at),
        opened_by: stamp.operation,
        closed_by: None,
        reopens: None,
    };
    Changes { closes: Vec::new(), opens: vec![version] }
}

/// *Change*: the world moved on at `effective`. The old claim ends there and the new one begins.
pub fn change(
    known: &[Version],
    edit: &Edit,
    effective: Timestamp,
    next_number: i32,
    provenance: &Provenance,
    stamp: &mut Stamp,
) -> Result<Changes, Refusal> {
    let old = active_at(known, effective)?;
    let new = edition(old, edit, next_number, provenance, stamp)?;
    let new = Version { valid: Period { from: effective, ..old.valid }, ..new };
    let ended = old.valid.before(effective).map(|valid| Version { valid, ..stamp.copy(old) });
    Ok(Changes::replace(old, ended.into_iter().chain([new])))
}

/// *Correction*: it was never so. What was known is closed; the world's history is set right.
pub fn correct(
    known: &[Version],
    edit: &Edit,
    valid: Option<Period>,
    next_number: i32,
    provenance: &Provenance,
    stamp: &mut Stamp,
) -> Result<Changes, Refusal> {
    let old = current_or_last(known, stamp.at)?;
    let valid = valid.unwrap_or(old.valid);
    if known.iter().any(|v| v.id != old.id && v.state == State::Active && v.valid.overlaps(&valid))
    {
        return Err(Refusal::OverlapsItself);
    }
    let new = match edition(old, edit, next_number, provenance, stamp) {
        // Putting only the dates right is a correction too, and keeps the words and their voice.
        Err(Refusal::Unchanged) if valid != old.valid => stamp.copy(old),
        other => other?,
    };
    Ok(Changes::replace(old, [Version { valid, ..new }]))
}

/// *Forget*: end it now. Restorable, audited, never in a prompt again.
pub fn forget(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let active: Vec<_> = known.iter().filter(|v| v.state == State::Active).collect();
    if active.is_empty() {
        return Err(Refusal::NotActive);
    }
    leave(active, voice, State::Forgotten, stamp)
}

/// *Delete*: into the trash, from any standing.
pub fn delete(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let here: Vec<_> = known.iter().filter(|v| v.state != State::Trashed).collect();
    if here.is_empty() {
        return Err(Refusal::NotActive);
    }
    leave(here, voice, State::Trashed, stamp)
}

fn leave(
    versions: Vec<&Version>,
    voice: Voice,
    state: State,
    stamp: &mut Stamp,
) -> Result<Changes, Refusal> {
    let mut changes = Changes::default();
    for old in versions {
        if !voice.may_replace(old) {
            return Err(Refusal::LessTrusted);
        }
        let ends_here = state == State::Forgotten && !old.valid.ended(stamp.at);
        // What had not begun yet keeps its dates: it cannot end before it starts.
        let valid = if ends_here { old.valid.before(stamp.at) } else { None };
        let gone = Version { state, valid: valid.unwrap_or(old.valid), ..stamp.copy(old) };
        changes.closes.push((old.fact, old.id));
        changes.opens.push(gone);
    }
    Ok(changes)
}

/// More evidence for an inferred memory. The claim stays as it is, and so does its confidence: saying
/// a thing twice does not make it surer, being seen by more than one eye does.
pub fn reinforce(
    old: &Version,
    evidence: Vec<Evidence>,
    turns: Vec<String>,
    session: &str,
    stamp: &mut Stamp,
) -> Changes {
    let mut new = stamp.copy(old);
    // The latest chat it was said in; the versions before it name the others.
    new.session = Some(session.to_owned());
    for item in evidence {
        let room = new.claim.evidence.len() < limits::EVIDENCE_ITEMS;
        if room && !new.claim.evidence.contains(&item) {
            new.claim.evidence.push(item);
        }
    }
    for turn in turns {
        if new.turns.len() < limits::TURNS && !new.turns.contains(&turn) {
            new.turns.push(turn);
        }
    }
    Changes::replace(old, [new])
}

/// *Confirm*: the person affirms an active memory. Resists fading; a human's yes makes it firm.
pub fn confirm(known: &[Version], human: bool, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let old = active_at(known, stamp.at)?;
    let new = affirmed(stamp.copy(old), human, stamp.at);
    Ok(Changes::replace(old, [new]))
}

/// A human accepts a proposal: exactly the words shown, or their own edit of them.
pub fn accept(
    known: &[Version],
    edit: &Edit,
    shown_digest: &str,
    next_number: i32,
    human: Option<Voice>,
    stamp: &mut Stamp,
) -> Result<Changes, Refusal> {
    let old = waiting(known)?;
    let voice = human.ok_or(Refusal::NeedsHuman)?;
    if old.claim.consent_digest() != shown_digest {
        return Err(Refusal::OtherWords);
    }
    let claim = edit.apply(&old.claim);
    let edited = claim != old.claim;
    let mut new = Version { state: State::Active, claim, ..stamp.copy(old) };
    if edited {
        new.number = next_number;
        new.origin = voice.origin;
        new.extracted = false;
        new.confidence = None;
    }
    let new = affirmed(new, true, stamp.at);
    Ok(Changes::replace(old, [new]))
}

/// A proposal is turned down, by somebody who might also have replaced it.
pub fn reject(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let old = waiting(known)?;
    if !voice.may_replace(old) {
        return Err(Refusal::LessTrusted);
    }
    Ok(Changes::replace(old, [Version { state: State::Forgotten, ..stamp.copy(old) }]))
}

/// A version that was written out comes back. A file can say anything about itself: whoever brings it
/// cannot make it more trusted than they are, and only a human brings a human's yes.
pub fn take_in(written: &Version, voice: Voice, human: bool, stamp: &mut Stamp) -> Version {
    Version {
        origin: written.origin.min(voice.origin),
        consented_at: written.consented_at.filter(|_| human),
        ..stamp.copy(written)
    }
}

/// The same words with another standing, as consolidation found it.
pub fn restand(old: &Version, step: &Step, stamp: &mut Stamp) -> Changes {
    let mut new = stamp.copy(old);
    (new.state, new.tier) = (step.state, step.tier);
    (new.claim.importance, new.claim.memory_type) = (step.importance, step.memory_type);
    new.confidence = Some(step.confidence);
    Changes::replace(old, [new])
}

/// Reverses what one operation opened and closed. `opened` are the versions it opened, as they stand
/// now; the engine has made sure that all of them still do.
pub fn reverse(opened: &[Version], closed: &[Version], stamp: &mut Stamp) -> Changes {
    Changes {
        closes: opened.iter().map(|v| (v.fact, v.id)).collect(),
        opens: closed.iter().map(|v| stamp.reopen(v)).collect(),
    }
}

fn affirmed(mut version: Version, human: bool, at: Timestamp) -> Version {
    version.confirmed_at.get_or_insert(at);
    version.last_confirmed_at = Some(at);
    if human {
        version.consented_at = Some(at);
    }
    version
}

/// The next edition of `old`, spoken by another voice; its validity is the caller's to set.
fn edition(
    old: &Version,
    edit: &Edit,
    number: i32,
    provenance: &Provenance,
    stamp: &mut Stamp,
) -> Result<Version, Refusal> {
    if !provenance.replaces_stated && !provenance.voice.may_replace(old) {
        return Err(Refusal::LessTrusted);
    }
    let claim = edit.apply(&old.claim);
    if claim == old.claim {
        return Err(Refusal::Unchanged);
    }
    Ok(Version {
        number,
        claim,
        tier: provenance.tier,
        origin: provenance.voice.origin,
        extracted: provenance.voice.extracted,
        confidence: provenance.confidence,
        session: provenance.session.clone(),
        turns: provenance.turns.clone(),
        confirmed_at: None,
        last_confirmed_at: None,
        consented_at: None,
        ..stamp.copy(old)
    })
}

fn active_at(known: &[Version], at: Timestamp) -> Result<&Version, Refusal> {
    let mut active = known.iter().filter(|v| v.state == State::Active).peekable();
    active.peek().ok_or(Refusal::NotActive)?;
    active.find(|v| v.valid.contains(at)).ok_or(Refusal::NotValidThen)
}

fn current_or_last(known: &[Version], at: Timestamp) -> Result<&Version, Refusal> {
    let active = || known.iter().filter(|v| v.state == State::Active);
    active()
        .find(|v| v.valid.contains(at))
        .or_else(|| active().max_by_key(|v| v.valid.from))
        .ok_or(Refusal::NotActive)
}

fn waiting(known: &[Version]) -> Result<&Version, Refusal> {
    known
        .iter()
        .find(|v| matches!(v.state, State::Proposed | State::Candidate))
        .ok_or(Refusal::NotActive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::origin::Origin;

    const HUMAN: Voice = Voice { origin: Origin::UserSaid, extracted: false };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn stamp(second: i64) -> Stamp {
        let mut ids = Ids::new(at(second), [3; 16]);
        Stamp { at: at(second), operation: ids.operation(), ids }
    }

    fn said() -> Provenance {
        Provenance::stated(HUMAN)
    }

    #[test]
    fn a_change_splits_time_without_gap_or_overlap() {
        let old = version(HUMAN);
        let edit = Edit::content("coffee");
        let changes =
            change(std::slice::from_ref(&old), &edit, at(50), 2, &said(), &mut stamp(100)).unwrap();
        assert_eq!(changes.closes, [(old.fact, old.id)]);
        let [ended, new] = &changes.opens[..] else { panic!("two rows") };
        assert_eq!((ended.number, new.number), (1, 2));
        assert_eq!(ended.valid.until, Some(new.valid.from));
        assert_eq!(new.valid, Period::since(at(50)));
        assert_eq!(new.known, Period::since(at(100)));
        assert_eq!(ended.claim, old.claim);
    }

    #[test]
    fn a_change_from_the_very_start_leaves_no_empty_row() {
        let old = version(HUMAN);
        let edit = Edit::content("coffee");
        let changes = change(&[old], &edit, at(0), 2, &said(), &mut stamp(100)).unwrap();
        assert_eq!(changes.opens.len(), 1);
    }

    #[test]
    fn a_change_before_it_held_is_refused() {
        let mut old = version(HUMAN);
        old.valid = Period::since(at(60));
        let edit = Edit::content("coffee");
        let refusal = change(&[old], &edit, at(50), 2, &said(), &mut stamp(100));
        assert_eq!(refusal, Err(Refusal::NotValidThen));
    }

    #[test]
    fn a_correction_keeps_the_dates_and_replaces_the_words() {
        let old = version(HUMAN);
        let edit = Edit::content("coffee");
        let changes =
            correct(std::slice::from_ref(&old), &edit, None, 2, &said(), &mut stamp(100)).unwrap();
        let [new] = &changes.opens[..] else { panic!("one row") };
        assert_eq!(new.valid, old.valid);
        assert_eq!(new.claim.content, "coffee");
    }

    #[test]
    fn only_the_dates_can_be_corrected_too() {
        let old = version(HUMAN);
        let dates = Period::new(at(10), Some(at(20)));
        let none = Edit::default();
        let changes = correct(&[old], &none, dates, 2, &said(), &mut stamp(100)).unwrap();
        assert_eq!(changes.opens[0].number, 1);
        assert_eq!(Some(changes.opens[0].valid), dates);
    }

    #[test]
    fn forget_ends_every_stretch_and_can_be_reversed_exactly() {
        let old = version(HUMAN);
        let gone = forget(std::slice::from_ref(&old), HUMAN, &mut stamp(100)).unwrap();
        assert_eq!(gone.opens[0].state, State::Forgotten);
        assert_eq!(gone.opens[0].valid.until, Some(at(100)));
        let back = reverse(&gone.opens, std::slice::from_ref(&old), &mut stamp(200));
        let restored = &back.opens[0];
        assert_eq!(
            (&restored.claim, restored.valid, restored.state),
            (&old.claim, old.valid, old.state)
        );
        assert_eq!(back.closes, [(old.fact, gone.opens[0].id)]);
    }

    #[test]
    fn extraction_can_neither_change_nor_forget_what_was_said() {
        let old = [version(HUMAN)];
        let guess = Voice::extracted(Origin::UserTurn);
        let provenance = Provenance { confidence: Some(1.0), ..Provenance::stated(guess) };
        let edit = Edit::content("coffee");
        let refused = Err(Refusal::LessTrusted);
        assert_eq!(change(&old, &edit, at(50), 2, &provenance, &mut stamp(100)), refused);
        assert_eq!(correct(&old, &edit, None, 2, &provenance, &mut stamp(100)), refused);
        assert_eq!(forget(&old, guess, &mut stamp(100)), refused);
        assert_eq!(delete(&old, guess, &mut stamp(100)), refused);
    }

    #[test]
    fn a_yes_counts_only_from_a_human_and_only_for_the_words_shown() {
        let mut old = version(Voice::stated(Origin::Assistant));
        old.state = State::Proposed;
        let known = [old.clone()];
        let digest = old.claim.consent_digest();
        let none = Edit::default();
        let yes = accept(&known, &none, &digest, 2, Some(HUMAN), &mut stamp(9)).unwrap();
        assert_eq!(yes.opens[0].state, State::Active);
        assert_eq!(yes.opens[0].consented_at, Some(at(9)));
        assert_eq!(yes.opens[0].number, 1);
        let no_human = accept(&known, &none, &digest, 2, None, &mut stamp(9));
        assert_eq!(no_human, Err(Refusal::NeedsHuman));
        let other = accept(&known, &none, "other", 2, Some(HUMAN), &mut stamp(9));
        assert_eq!(other, Err(Refusal::OtherWords));
    }

    #[test]
    fn an_import_cannot_turn_down_what_a_person_proposed() {
        let mut old = version(HUMAN);
        old.state = State::Proposed;
        let known = [old];
        let import = Voice::stated(Origin::Import);
        assert_eq!(reject(&known, import, &mut stamp(9)), Err(Refusal::LessTrusted));
        let assistant = Voice::stated(Origin::Assistant);
        assert_eq!(reject(&known, assistant, &mut stamp(9)), Err(Refusal::LessTrusted));
        assert!(reject(&known, HUMAN, &mut stamp(9)).is_ok());
    }

    #[test]
    fn affirming_keeps_the_first_date_and_moves_the_last() {
        let old = version(HUMAN);
        let first = confirm(&[old], false, &mut stamp(10)).unwrap().opens;
        let second = confirm(&first, true, &mut stamp(20)).unwrap().opens;
        assert_eq!(second[0].confirmed_at, Some(at(10)));
        assert_eq!(second[0].last_confirmed_at, Some(at(20)));
        assert_eq!(second[0].consented_at, Some(at(20)));
    }
}
