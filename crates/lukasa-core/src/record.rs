//! The write verbs on facts, as pure functions.
//!
//! Each takes the versions of one fact that are known now, and returns the versions to close and
//! those to open. Nothing is edited in place and nothing here touches a database: the engine
//! applies the changes in one transaction, and undo applies them in reverse.

use crate::consolidation::RatingUpdate;
use crate::fact::{Claim, ClaimEvidence, Edit, State, Tier, Version};
use crate::id::{FactId, Ids, OperationId, VersionId};
use crate::limits;
use crate::origin::Voice;
use crate::time::{Period, Timestamp};

/// One operation's timestamp, its id and its source of ids.
#[derive(Debug, Clone)]
pub struct Stamp {
    pub at: Timestamp,
    pub operation: OperationId,
    pub ids: Ids,
}

impl Stamp {
    /// A new version with the claim of `version`, known from now on.
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

    /// A new version that reopens `version`.
    fn reopen(&mut self, version: &Version) -> Version {
        Version { reopens: Some(version.root()), ..self.copy(version) }
    }
}

/// The result of a verb: versions to close, versions to open.
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
    #[error("the memory is not valid at the given time")]
    NotValidThen,
    #[error("the new validity would be empty")]
    EmptyValidity,
    #[error("the new validity overlaps another version of the same memory")]
    OverlapsItself,
    #[error("an extracted or imported claim cannot replace a stated one")]
    LessTrusted,
    #[error("nothing would change")]
    Unchanged,
    #[error("only the user the memory is about can accept it")]
    NeedsHuman,
    #[error("the confirmed text differs from the stored text")]
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
    /// Whether admission allows it to replace the user's statements, regardless of its voice.
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

/// A new fact, active at once or pending as a proposal.
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
    let new = next_version(old, edit, next_number, provenance, stamp)?;
    let new = Version { valid: Period { from: effective, ..old.valid }, ..new };
    let ended = old.valid.before(effective).map(|valid| Version { valid, ..stamp.copy(old) });
    Ok(Changes::replace(old, ended.into_iter().chain([new])))
}

/// *Correction*: the old claim was never true. It is closed, and the new one takes its validity.
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
    let new = match next_version(old, edit, next_number, provenance, stamp) {
        // Correcting only the dates is allowed too, and keeps the words and their voice.
        Err(Refusal::Unchanged) if valid != old.valid => stamp.copy(old),
        other => other?,
    };
    Ok(Changes::replace(old, [Version { valid, ..new }]))
}

/// *File*: moves the fact to another domain, or to none. Who said it, how certain it is and what was
/// agreed to stay as they are: filing says nothing about the words.
pub fn file(
    known: &[Version],
    domain: Option<&str>,
    next_number: i32,
    stamp: &mut Stamp,
) -> Result<Changes, Refusal> {
    let old = current_or_last(known, stamp.at)?;
    if old.claim.domain.as_deref() == domain {
        return Err(Refusal::Unchanged);
    }
    let claim = Claim { domain: domain.map(str::to_owned), ..old.claim.clone() };
    let new = Version { number: next_number, claim, ..stamp.copy(old) };
    Ok(Changes::replace(old, [new]))
}

/// *Forget*: end the fact now. Restorable, audited, never in a prompt again.
pub fn forget(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let active: Vec<_> = known.iter().filter(|v| v.state == State::Active).collect();
    if active.is_empty() {
        return Err(Refusal::NotActive);
    }
    close_with_state(active, voice, State::Forgotten, stamp)
}

/// *Delete*: move the fact to the trash, from any state.
pub fn delete(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let here: Vec<_> = known.iter().filter(|v| v.state != State::Trashed).collect();
    if here.is_empty() {
        return Err(Refusal::NotActive);
    }
    close_with_state(here, voice, State::Trashed, stamp)
}

fn close_with_state(
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
        // A period that has not begun keeps its dates: it cannot end before it starts.
        let valid = if ends_here { old.valid.before(stamp.at) } else { None };
        let gone = Version { state, valid: valid.unwrap_or(old.valid), ..stamp.copy(old) };
        changes.closes.push((old.fact, old.id));
        changes.opens.push(gone);
    }
    Ok(changes)
}

/// Adds evidence to an inferred fact. The claim and its confidence stay the same: repetition alone
/// does not raise confidence, independent sources do.
pub fn reinforce(
    old: &Version,
    evidence: Vec<ClaimEvidence>,
    turns: Vec<String>,
    session: &str,
    stamp: &mut Stamp,
) -> Changes {
    let mut new = stamp.copy(old);
    // The latest session that mentions it; earlier versions name the others.
    new.session = Some(session.to_owned());
    for item in evidence {
        let fits = new.claim.evidence.len() < limits::EVIDENCE_ITEMS;
        if fits && !new.claim.evidence.contains(&item) {
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

/// *Confirm*: the user affirms an active fact. It fades more slowly; a human's consent makes it firm.
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
    let old = find_proposal(known)?;
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

/// Rejects a proposal. The caller needs a voice that could also replace it.
pub fn reject(known: &[Version], voice: Voice, stamp: &mut Stamp) -> Result<Changes, Refusal> {
    let old = find_proposal(known)?;
    if !voice.may_replace(old) {
        return Err(Refusal::LessTrusted);
    }
    Ok(Changes::replace(old, [Version { state: State::Forgotten, ..stamp.copy(old) }]))
}

/// Imports a version from an export. A file can claim anything about itself: the version becomes no
/// more trusted than the caller, and keeps a human's consent only if the caller is a human.
pub fn take_in(written: &Version, voice: Voice, human: bool, stamp: &mut Stamp) -> Version {
    Version {
        origin: written.origin.min(voice.origin),
        consented_at: written.consented_at.filter(|_| human),
        ..stamp.copy(written)
    }
}

/// The same claim with a new state, tier, importance and confidence, as computed by consolidation.
pub fn update_rating(old: &Version, step: &RatingUpdate, stamp: &mut Stamp) -> Changes {
    let mut new = stamp.copy(old);
    (new.state, new.tier) = (step.state, step.tier);
    (new.claim.importance, new.claim.memory_type) = (step.importance, step.memory_type);
    new.confidence = Some(step.confidence);
    Changes::replace(old, [new])
}

/// Merges an inferred fact into another that says the same: `kept` gets its evidence and turns, and
/// `merged` is forgotten, with its own evidence, so that it can be restored.
pub fn merge(kept: &Version, merged: &Version, stamp: &mut Stamp) -> Changes {
    let latest = if kept.valid.from >= merged.valid.from { kept } else { merged };
    let session = latest.session.clone().or_else(|| kept.session.clone()).unwrap_or_default();
    let (evidence, turns) = (merged.claim.evidence.clone(), merged.turns.clone());
    let mut changes = reinforce(kept, evidence, turns, &session, stamp);
    for new in &mut changes.opens {
        new.session = Some(session.clone()).filter(|session| !session.is_empty());
    }
    let valid = merged.valid.before(stamp.at).unwrap_or(merged.valid);
    let gone = Version { state: State::Forgotten, valid, ..stamp.copy(merged) };
    changes.closes.push((merged.fact, merged.id));
    changes.opens.push(gone);
    changes
}

/// Reverses what one operation opened and closed. `opened` are the versions it opened, as they are
/// now; the engine has made sure that all of them are still open.
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

/// The next numbered version of `old` with the new provenance; the caller sets its validity.
fn next_version(
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

/// The version that waits for the user's decision, if there is one.
fn find_proposal(known: &[Version]) -> Result<&Version, Refusal> {
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
    fn filing_changes_only_the_domain() {
        let learned = Version {
            tier: Tier::Tentative,
            confidence: Some(0.9),
            session: Some("tax".into()),
            ..version(Voice { origin: Origin::UserTurn, extracted: true })
        };
        let known = std::slice::from_ref(&learned);
        let changes = file(known, Some("travel"), 2, &mut stamp(100)).unwrap();
        assert_eq!(changes.closes, [(learned.fact, learned.id)]);
        let [new] = &changes.opens[..] else { panic!("one row") };
        let claim = Claim { domain: Some("travel".into()), ..learned.claim.clone() };
        let (id, known_from, opened_by) = (new.id, new.known, new.opened_by);
        let expected =
            Version { number: 2, claim, id, known: known_from, opened_by, ..learned.clone() };
        assert_eq!(*new, expected);
        let again = file(&changes.opens, Some("travel"), 3, &mut stamp(101));
        assert_eq!(again, Err(Refusal::Unchanged));
        let out = file(&changes.opens, None, 3, &mut stamp(102)).unwrap();
        assert_eq!(out.opens[0].claim.domain, None);
    }

    #[test]
    fn change_splits_validity_without_gap_or_overlap() {
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
    fn change_from_the_start_leaves_no_empty_version() {
        let old = version(HUMAN);
        let edit = Edit::content("coffee");
        let changes = change(&[old], &edit, at(0), 2, &said(), &mut stamp(100)).unwrap();
        assert_eq!(changes.opens.len(), 1);
    }

    #[test]
    fn change_before_the_fact_was_valid_is_refused() {
        let mut old = version(HUMAN);
        old.valid = Period::since(at(60));
        let edit = Edit::content("coffee");
        let refusal = change(&[old], &edit, at(50), 2, &said(), &mut stamp(100));
        assert_eq!(refusal, Err(Refusal::NotValidThen));
    }

    #[test]
    fn correction_keeps_the_dates_and_replaces_the_words() {
        let old = version(HUMAN);
        let edit = Edit::content("coffee");
        let changes =
            correct(std::slice::from_ref(&old), &edit, None, 2, &said(), &mut stamp(100)).unwrap();
        let [new] = &changes.opens[..] else { panic!("one row") };
        assert_eq!(new.valid, old.valid);
        assert_eq!(new.claim.content, "coffee");
    }

    #[test]
    fn correction_can_change_only_the_dates() {
        let old = version(HUMAN);
        let dates = Period::new(at(10), Some(at(20)));
        let none = Edit::default();
        let changes = correct(&[old], &none, dates, 2, &said(), &mut stamp(100)).unwrap();
        assert_eq!(changes.opens[0].number, 1);
        assert_eq!(Some(changes.opens[0].valid), dates);
    }

    #[test]
    fn forget_ends_every_period_and_can_be_reversed_exactly() {
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
    fn extraction_can_neither_change_nor_forget_a_stated_fact() {
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
    fn accept_needs_a_human_and_exactly_the_words_shown() {
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
    fn import_cannot_reject_a_users_proposal() {
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
    fn confirm_keeps_the_first_date_and_moves_the_last() {
        let old = version(HUMAN);
        let first = confirm(&[old], false, &mut stamp(10)).unwrap().opens;
        let second = confirm(&first, true, &mut stamp(20)).unwrap().opens;
        assert_eq!(second[0].confirmed_at, Some(at(10)));
        assert_eq!(second[0].last_confirmed_at, Some(at(20)));
        assert_eq!(second[0].consented_at, Some(at(20)));
    }

    #[test]
    fn merged_memory_leaves_its_evidence_and_can_be_restored() {
        let quoted = |place: usize| {
            let mut version = version(Voice::extracted(Origin::UserTurn));
            version.claim.evidence = vec![ClaimEvidence::of("quote", &format!("quote {place}"))];
            version.turns = vec![format!("turn {place}")];
            version
        };
        let (kept, mut merged) = (quoted(0), quoted(1));
        (merged.fact, merged.id) = {
            let mut ids = Ids::new(at(0), [8; 16]);
            (ids.fact(), ids.version())
        };
        let changes = merge(&kept, &merged, &mut stamp(100));
        let [stays, gone] = &changes.opens[..] else { panic!("two versions") };
        assert_eq!((stays.fact, stays.state), (kept.fact, State::Active));
        assert_eq!((stays.claim.evidence.len(), stays.turns.len()), (2, 2));
        assert_eq!((gone.fact, gone.state), (merged.fact, State::Forgotten));
        assert_eq!(gone.claim, merged.claim, "nothing of it is lost");
        assert_eq!(changes.closes.len(), 2);
        assert!(crate::consolidation::only_adds_and_ends(&[kept, merged], &changes.opens));
    }
}
