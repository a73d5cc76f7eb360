//! Confidence decay: the confidence of inferred habits, preferences and circumstances decreases
//! with the time since they were last said. A pure function of time, so no rows are rewritten and
//! the same time always gives the same number.
//!
//! Stated facts do not decay; neither do inferred facts about the world, which hold until they are
//! contradicted.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use lukasa_text::when;

use crate::fact::{Claim, Force, Kind, MemoryType, Version};
use crate::recall::Facets;
use crate::time::{Timestamp, micros};
use crate::type_policy::{Decay, type_policy};
use crate::words;

/// Extracted memories below this confidence are found by recall but not injected (R178).
pub const INJECT_CONFIDENCE: f32 = 0.7;

/// A fact that has decayed below this confidence is only found if archived facts are asked for.
pub const ARCHIVE_CONFIDENCE: f32 = 0.3;
/// A stated fact that was not confirmed for this long is stale: the user may be asked about it.
pub const STALE_AFTER: SignedDuration = SignedDuration::from_hours(24 * 365);

const SECONDS_PER_DAY: f64 = 86_400.0;
/// After how many days the importance of an inferred fact is lower by `IMPORTANCE_STEP` (R139).
const IMPORTANCE_STEP_DAYS: f64 = 182.5;
const IMPORTANCE_STEP: f64 = 0.1;
/// The importance that age alone does not lower further.
const MIN_IMPORTANCE: f64 = 0.1;
/// How long a temporary memory is valid, and circumstances that the user named for today (R142).
pub(crate) const TEMPORARY_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// How long circumstances that were only mentioned are valid (R142).
const CONTEXT_LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 7);
/// How long a deadline stays valid after its date (R143).
const DEADLINE_GRACE: SignedDuration = SignedDuration::from_hours(24 * 7);
const YEAR: SignedDuration = SignedDuration::from_hours(24 * 365);

/// Words that make a date a deadline.
const DEADLINE_WORDS: [&str; 18] = [
    "deadline",
    "due",
    "expires",
    "valid until",
    "no later than",
    "frist",
    "fällig",
    "abgabe",
    "läuft ab",
    "échéance",
    "date limite",
    "à rendre",
    "fecha límite",
    "vence",
    "plazo",
    "scadenza",
    "prazo",
    "截止",
];

/// After how many days the confidence of a fact of this type and kind is halved; `None` if it does
/// not decay.
pub fn half_life_days(memory_type: MemoryType, kind: Kind) -> Option<f64> {
    match (type_policy(memory_type).decay, kind) {
        (Decay::Never, _) => None,
        (Decay::HalfLife(days), _) => Some(days),
        (Decay::ByKind, Kind::Preference | Kind::Habit) => Some(180.0),
        (Decay::ByKind, Kind::Project | Kind::Context) => Some(60.0),
        (Decay::ByKind, Kind::Fact | Kind::Skill | Kind::Artifact | Kind::Relationship) => None,
    }
}

/// The inputs of the decay of one fact's confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInputs {
    pub confidence: f32,
    /// Stated, or agreed to by a human.
    pub firm: bool,
    pub memory_type: MemoryType,
    pub kind: Kind,
    /// When it was last said or confirmed.
    pub fresh_at: Timestamp,
}

impl From<&Version> for ConfidenceInputs {
    fn from(version: &Version) -> Self {
        Self {
            confidence: version.effective_confidence(),
            firm: version.is_firm(),
            memory_type: version.claim.memory_type,
            kind: version.claim.kind,
            fresh_at: version.last_confirmed_at.unwrap_or(version.known.from),
        }
    }
}

impl From<&Facets> for ConfidenceInputs {
    fn from(facets: &Facets) -> Self {
        Self {
            confidence: facets.confidence,
            firm: facets.firm,
            memory_type: facets.memory_type,
            kind: facets.kind,
            fresh_at: facets.fresh_at,
        }
    }
}

impl ConfidenceInputs {
    fn half_life(&self) -> Option<f64> {
        half_life_days(self.memory_type, self.kind).filter(|_| !self.firm)
    }

    /// The confidence at a given time.
    pub fn at(&self, when: Timestamp) -> f32 {
        let Some(half_life) = self.half_life() else { return self.confidence };
        let days = when.duration_since(self.fresh_at).as_secs_f64() / SECONDS_PER_DAY;
        (f64::from(self.confidence) * (-days.max(0.0) / half_life).exp2()) as f32
    }

    /// When the confidence falls below a floor; `None` if it never does, or is below already.
    fn below(&self, floor: f32) -> Option<Timestamp> {
        let half_life = self.half_life().filter(|_| self.confidence >= floor)?;
        let days = half_life * (f64::from(self.confidence) / f64::from(floor)).log2();
        let after = SignedDuration::try_from_secs_f64(days * SECONDS_PER_DAY).ok()?;
        self.fresh_at.checked_add(after).ok().map(micros)
    }

    /// When it is no longer injected.
    pub fn fades_at(&self) -> Option<Timestamp> {
        self.below(INJECT_CONFIDENCE)
    }

    /// Whether it has decayed so far that it is no longer found by default.
    pub fn is_archived(&self, when: Timestamp) -> bool {
        self.confidence >= ARCHIVE_CONFIDENCE && self.at(when) < ARCHIVE_CONFIDENCE
    }
}

/// The importance of a memory at a given time: that of an inferred one decreases by a tenth every six
/// months since it was last said or confirmed.
pub fn importance_at(facets: &Facets, when: Timestamp) -> f32 {
    if facets.firm || facets.force == Force::Hard {
        return facets.importance;
    }
    let importance = f64::from(facets.importance);
    let days = when.duration_since(facets.fresh_at).as_secs_f64() / SECONDS_PER_DAY;
    let aged = importance - IMPORTANCE_STEP * days.max(0.0) / IMPORTANCE_STEP_DAYS;
    aged.max(importance.min(MIN_IMPORTANCE)) as f32
}

words!(
    /// How long a memory lasts, as its writer says.
    Lifetime {
        Temporary = "temporary",
        Contextual = "contextual",
        Deadline = "deadline",
        Lasting = "lasting",
    }
);

impl Lifetime {
    /// When a claim that is valid from a given time ends: after a day, after a week, or a week after
    /// the date that it names. `Err` if it is a deadline and names no date ahead.
    pub fn end_of(self, claim: &Claim, from: Timestamp) -> Result<Option<Timestamp>, NoDeadline> {
        match self {
            Lifetime::Temporary => Ok(Some(micros(from + TEMPORARY_LIFETIME))),
            Lifetime::Contextual => Ok(Some(micros(from + CONTEXT_LIFETIME))),
            Lifetime::Deadline => deadline(claim, from).map(Some).ok_or(NoDeadline),
            Lifetime::Lasting => Ok(None),
        }
    }
}

/// A deadline names no date that lies ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a deadline needs a date ahead in the content, such as \"by 31 December\"")]
pub struct NoDeadline;

/// A week after the latest date ahead that a claim names.
fn deadline(claim: &Claim, said_at: Timestamp) -> Option<Timestamp> {
    let named = when::mentions(&claim.content, said_at, &TimeZone::UTC);
    let over = named.iter().filter_map(|mention| mention.period.until).map(|until| {
        // A day and month without a year may be read as the last one; a deadline means the next.
        let last_year = until <= said_at && said_at.duration_since(until) < YEAR;
        if last_year { until + YEAR } else { until }
    });
    over.filter(|over| *over > said_at).max().map(|over| micros(over + DEADLINE_GRACE))
}

/// When a learned fact expires: a deadline a week after its date, or at the `stated` end if that is
/// later; anything else at its stated end. Without one, circumstances expire a week after they were
/// mentioned, or a day if `of_today`: the sentence said "today". Everything else is valid until it is
/// changed; hard rules never expire.
pub fn expires_at(
    claim: &Claim,
    said_at: Timestamp,
    of_today: bool,
    stated: Option<Timestamp>,
) -> Option<Timestamp> {
    if claim.force == Force::Hard {
        return None;
    }
    let text = claim.content.to_lowercase();
    let starts_word = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
    let is_deadline =
        DEADLINE_WORDS.iter().any(|w| text.match_indices(w).any(|(at, _)| starts_word(at)));
    let end = is_deadline.then(|| deadline(claim, said_at)).flatten();
    let lifetime = if of_today { TEMPORARY_LIFETIME } else { CONTEXT_LIFETIME };
    end.max(stated).or_else(|| (claim.kind == Kind::Context).then(|| micros(said_at + lifetime)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    fn inputs(kind: Kind, confidence: f32) -> ConfidenceInputs {
        let memory_type = MemoryType::Profile;
        ConfidenceInputs {
            confidence,
            firm: false,
            memory_type,
            kind,
            fresh_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn day(days: i64) -> Timestamp {
        Timestamp::from_second(days * DAY).unwrap()
    }

    #[test]
    fn lifetime_ends_a_memory() {
        let said: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        let end = |lifetime: Lifetime, content: &str| {
            let end = lifetime.end_of(&Claim::saying(content), said);
            end.map(|end| end.map(|end| end.to_string()))
        };
        let ended = |text: &str| Ok(Some(text.to_owned()));
        assert_eq!(end(Lifetime::Temporary, "Is tired"), ended("2026-11-02T00:00:00Z"));
        assert_eq!(end(Lifetime::Contextual, "Is in Rome"), ended("2026-11-08T00:00:00Z"));
        let paper = end(Lifetime::Deadline, "Hands in the paper by December 2026");
        assert_eq!(paper, ended("2027-01-08T00:00:00Z"));
        assert_eq!(end(Lifetime::Deadline, "Hands in the paper"), Err(NoDeadline));
        assert_eq!(end(Lifetime::Lasting, "Is called Ada"), Ok(None));
    }

    #[test]
    fn preference_confidence_halves_after_half_a_year() {
        let tea = inputs(Kind::Preference, 0.8);
        assert!((tea.at(day(0)) - 0.8).abs() < 1e-6);
        assert!((tea.at(day(180)) - 0.4).abs() < 1e-6);
        assert!((tea.at(day(-5)) - 0.8).abs() < 1e-6, "no decay before it was said");
    }

    #[test]
    fn stated_and_world_facts_do_not_decay() {
        let stated = ConfidenceInputs { firm: true, ..inputs(Kind::Preference, 0.95) };
        for holds in [stated, inputs(Kind::Fact, 0.9)] {
            assert_eq!(holds.at(day(10_000)), holds.confidence);
            assert_eq!(holds.fades_at(), None);
            assert!(!holds.is_archived(day(10_000)));
        }
    }

    #[test]
    fn inferred_task_decays_and_domain_knowledge_does_not() {
        let of = |memory_type, kind| ConfidenceInputs { memory_type, ..inputs(kind, 0.8) };
        let task = of(MemoryType::Task, Kind::Fact);
        assert!((task.at(day(60)) - 0.4).abs() < 1e-6, "whatever its kind");
        let known = of(MemoryType::Domain, Kind::Preference);
        assert_eq!((known.at(day(10_000)), known.fades_at()), (0.8, None));
        let stated = ConfidenceInputs { firm: true, ..task };
        assert_eq!(stated.at(day(10_000)), 0.8);
    }

    #[test]
    fn inferred_importance_decreases_by_a_tenth_every_half_year() {
        let inferred = Facets {
            importance: 0.6,
            firm: false,
            force: Force::Soft,
            fresh_at: day(0),
            ..crate::recall::tests::facets()
        };
        let at = |facets: &Facets, days: i64| (importance_at(facets, day(days)) * 100.0).round();
        assert_eq!((at(&inferred, 0), at(&inferred, 365), at(&inferred, -9)), (60.0, 40.0, 60.0));
        assert_eq!(at(&inferred, 10_000), 10.0, "age alone does not make it unimportant");
        let low = Facets { importance: 0.05, ..inferred.clone() };
        assert_eq!(at(&low, 10_000), 5.0);
        let stated = Facets { firm: true, ..inferred.clone() };
        let rule = Facets { force: Force::Hard, ..inferred };
        assert_eq!((at(&stated, 10_000), at(&rule, 10_000)), (60.0, 60.0));
    }

    #[test]
    fn deadlines_and_circumstances_expire_after_a_week() {
        let said = "2026-03-10T09:00:00Z".parse().unwrap();
        let expires = |content: &str, kind: Kind| {
            let claim = Claim { kind, ..Claim::saying(content) };
            expires_at(&claim, said, false, None).map(|at| at.to_string()[..10].to_owned())
        };
        let on = |day: &str| Some(day.to_owned());
        let grant = expires("User's grant proposal is due on 14 November 2026.", Kind::Project);
        assert_eq!(grant, on("2026-11-22"));
        assert_eq!(expires("Deadline: Dec 2026", Kind::Project), on("2027-01-08"));
        assert_eq!(expires("User's thesis is due on 14 November.", Kind::Fact), on("2026-11-22"));
        assert_eq!(expires("User is travelling.", Kind::Context), on("2026-03-17"));
        assert_eq!(expires("User is subdued in winter.", Kind::Fact), None);
        assert_eq!(expires("User was born on 14 November 1990.", Kind::Fact), None);
        let hard = Claim {
            force: Force::Hard,
            kind: Kind::Context,
            ..Claim::saying("The deadline of 14 November 2026 must hold")
        };
        assert_eq!(expires_at(&hard, said, true, Some(said)), None);
    }

    #[test]
    fn circumstances_of_today_expire_after_a_day() {
        let said: Timestamp = "2026-03-10T21:00:00Z".parse().unwrap();
        let expires = |content: &str, kind: Kind| {
            let claim = Claim { kind, ..Claim::saying(content) };
            expires_at(&claim, said, true, None).map(|at| at.to_string())
        };
        let next_day = Some("2026-03-11T21:00:00Z".to_owned());
        assert_eq!(expires("User is exhausted.", Kind::Context), next_day);
        assert_eq!(expires("User bought a bicycle.", Kind::Fact), None, "only circumstances");
    }

    #[test]
    fn stated_end_wins_over_the_end_of_circumstances() {
        let said: Timestamp = "2026-03-10T21:00:00Z".parse().unwrap();
        let stated: Timestamp = "2026-03-13T00:00:00Z".parse().unwrap();
        let claim = |content: &str, kind: Kind| Claim { kind, ..Claim::saying(content) };
        let berlin = claim("User is in Berlin.", Kind::Context);
        for of_today in [true, false] {
            assert_eq!(expires_at(&berlin, said, of_today, Some(stated)), Some(stated));
        }
        let van = claim("User is renting a van.", Kind::Fact);
        assert_eq!(expires_at(&van, said, true, Some(stated)), Some(stated));
        // A deadline is still known in the week after it.
        let thesis = claim("User's thesis is due on 12 March 2026.", Kind::Context);
        let week_after = expires_at(&thesis, said, false, None);
        assert!(week_after > Some(stated), "{week_after:?}");
        assert_eq!(expires_at(&thesis, said, false, Some(stated)), week_after);
    }

    #[test]
    fn fades_at_is_where_confidence_reaches_the_floor() {
        let habit = inputs(Kind::Habit, 0.9);
        let fades = habit.fades_at().unwrap();
        let second = SignedDuration::from_secs(1);
        assert!(habit.at(fades - second) >= INJECT_CONFIDENCE);
        assert!(habit.at(fades + second) < INJECT_CONFIDENCE);
        assert_eq!(inputs(Kind::Habit, 0.5).fades_at(), None, "it was never injected");
    }

    #[test]
    fn decayed_fact_is_archived_and_low_guess_is_not() {
        let habit = inputs(Kind::Habit, 0.9);
        assert!(!habit.is_archived(day(200)));
        assert!(habit.is_archived(day(300)));
        assert!(
            !inputs(Kind::Habit, 0.2).is_archived(day(300)),
            "its confidence was never above the floor"
        );
    }
}
