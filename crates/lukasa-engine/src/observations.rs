//! Observations: raw events that other applications and agents record, and the memories made of
//! those that repeat. Patterns are counted by rules; no model takes part.

use lukasa_core::admission::Writer;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::limits::{OBSERVATIONS, OBSERVATIONS_AT_ONCE, OBSERVATIONS_KEPT};
use lukasa_core::observation::{Observation, ObservedEvent, ObservedPattern, PATTERN_PERIOD};
use lukasa_core::policy::{ObservedPatterns, Policy};
use lukasa_core::record::Provenance;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, Ids, ObservationId, Origin, Period, Project, State, Timestamp, Verb, Voice,
    record,
};
use lukasa_store::{Batch, Scope, job, observation};
use serde_json::Value;

use crate::admission::{self, AdmissionRequest, AdmittedClaim};
use crate::error::{Error, InvalidField, Result};
use crate::policy::Policies;
use crate::request::Request;
use crate::sessions::refuse_incognito;
use crate::signing::Signatures;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart, Writing, keep_answer};

pub use lukasa_store::observation::{ObservationFilter, ObservationPlace};

/// How many patterns one run looks at, new ones and frequent ones first, and how many it notes at
/// most.
const MAX_PATTERNS: i64 = 200;
const MAX_NOTED: usize = 20;
/// Distinguishes the ids of a run from those of other steps of the same upkeep.
const UPKEEP_STEP: usize = 41;

/// An observation to record.
#[derive(Debug, Clone, PartialEq)]
pub struct NewObservation {
    pub source: String,
    pub kind: String,
    /// Now, if absent.
    pub at: Option<Timestamp>,
    pub payload: Value,
    pub session: Option<String>,
    pub project: Option<Project>,
}

/// Observations of one user.
#[derive(Clone)]
pub struct Observations {
    transactions: Transactions,
    policies: Policies,
    signatures: Signatures,
}

impl Observations {
    pub(crate) fn new(
        transactions: Transactions,
        policies: Policies,
        signatures: Signatures,
    ) -> Self {
        Self { transactions, policies, signatures }
    }

    /// Appends observations: all of them or none. Secrets in them are masked; one about a domain that
    /// is not open, or with a secret that cannot be masked, is refused.
    pub async fn record(
        &self,
        request: &Request,
        new: Vec<NewObservation>,
    ) -> Result<Vec<ObservationId>> {
        if !(1..=OBSERVATIONS_AT_ONCE).contains(&new.len()) {
            let reason = format!("between 1 and {OBSERVATIONS_AT_ONCE} observations");
            return Err(Error::invalid("observations", &reason));
        }
        let now = micros(request.moment.now);
        let mut ids = Ids::new(now, request.moment.seed);
        let observed = new.into_iter().map(|new| Observation {
            id: ids.observation(),
            source: new.source,
            kind: new.kind,
            at: new.at.map_or(now, micros),
            recorded_at: now,
            payload: new.payload,
            session: new.session,
            project: new.project,
            origin: request.caller.voice.origin,
        });
        let observed: Vec<Observation> = observed.collect();
        let faults = observed.iter().enumerate().flat_map(|(place, observation)| {
            observation.faults(now).into_iter().map(move |(field, reason)| InvalidField {
                field: format!("observations/{place}/{field}"),
                reason,
            })
        });
        let faults: Vec<InvalidField> = faults.collect();
        if !faults.is_empty() {
            return Err(Error::Invalid(faults));
        }
        let screened = tokio::task::spawn_blocking(move || {
            let mut observed = observed;
            observed.iter_mut().for_each(Observation::mask_secrets);
            let screenings: Vec<_> = observed.iter().map(Observation::screening).collect();
            (observed, screenings)
        });
        let (observed, screenings) = screened.await.map_err(|_| {
            let what = "observations could not be screened".to_owned();
            Error::Internal(lukasa_store::Error::Corrupt { table: "observation", what })
        })?;
        // Counted before the user's lock is taken, and under it only if the limit is near: other
        // requests add fewer in between.
        let scope = self.transactions.read(&request.caller, now).await?;
        let mut stored = observation::count(&scope, limit_of(OBSERVATIONS)).await?;
        drop(scope);
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(ids) => return Ok(ids),
        };
        admission::check_not_paused(&scope, &request.caller).await?;
        admission::check_words(&scope, Writer::of(&request.caller), &screenings).await?;
        check_sessions(&scope, &observed).await?;
        if stored > limit_of(OBSERVATIONS_KEPT) {
            stored = observation::count(&scope, limit_of(OBSERVATIONS)).await?;
        }
        if stored + limit_of(observed.len()) > limit_of(OBSERVATIONS) {
            let reason = format!("a user can have {OBSERVATIONS} observations; delete some first");
            return Err(Error::invalid("observations", &reason));
        }
        let ids: Vec<ObservationId> = observed.iter().map(|observation| observation.id).collect();
        let mut batch = Batch::default();
        observation::insert(&mut batch, &scope, &observed, None);
        let (job, due) = (request.job_id("upkeep"), next_upkeep(scope.user(), now));
        job::queue_sole(&mut batch, &scope, job, &Task::Upkeep, due, now);
        keep_answer(&mut batch, &scope, request, &ids, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(ids)
    }

    /// Observations, newest first.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &ObservationFilter,
        after: Option<ObservationPlace>,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Observation>, Option<ObservationPlace>)> {
        let scope = self.transactions.read(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut found = observation::page(&scope, filter, after, wanted).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let place = |last: &Observation| ObservationPlace { at: last.at, id: last.id };
        let next = found.last().filter(|_| more).map(place);
        Ok((found, next))
    }

    /// Makes memories of the patterns in the observations of a user, as the policy says, and promotes
    /// those that have become strong. One operation, which can be undone. A pattern that was noted
    /// once, whatever became of it, is not noted again. One that admission rejects is looked at again
    /// after all new ones, because the user may open its domain.
    pub async fn learn_patterns(&self, request: &Request) -> Result<Outcome> {
        Ok(self.count_patterns(request, false).await?.0)
    }

    /// The same, with the number of memories that were made or promoted. A dry run only counts them.
    pub(crate) async fn count_patterns(
        &self,
        request: &Request,
        dry_run: bool,
    ) -> Result<(Outcome, usize)> {
        let mut request = request.numbered(UPKEEP_STEP);
        request.caller.voice = Voice::extracted(Origin::Observed);
        let (tenant, user) = (request.caller.tenant, request.caller.user);
        let key = self.signatures.pattern_key(tenant, user).await?;
        let mut writing = match self.transactions.begin(&request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok((outcome, 0)),
        };
        let nothing = || (Outcome::of(Verb::Learn, "No new patterns.".into()), 0);
        let (policy, _) = self.policies.load(&writing.scope).await?;
        let wanted = match policy.observed {
            _ if policy.paused => return Ok(nothing()),
            ObservedPatterns::Off => return Ok(nothing()),
            ObservedPatterns::Ask => State::Proposed,
            ObservedPatterns::On => State::Active,
        };
        let mut changes = promote(&mut writing).await?;
        let mut marks = Batch::default();
        let (at, mut noted) = (writing.stamp.at, 0);
        let since = at - PATTERN_PERIOD;
        let found = observation::new_patterns(&writing.scope, &key, since, MAX_PATTERNS).await?;
        for mut pattern in found {
            if noted == MAX_NOTED {
                break;
            }
            let mut rejected_at = None;
            if !observation::has_memory(&writing.scope, &pattern.event).await? {
                pattern.latest = observation::latest(&writing.scope, &pattern.event, &[]).await?;
                pattern.latest.truncate(pattern.times);
                let opens = note(&mut writing, &pattern, pattern.state(wanted), &policy).await?;
                match opens.is_empty() {
                    true => rejected_at = Some(at),
                    false => noted += 1,
                }
                changes.opens.extend(opens);
            }
            let event = &pattern.event;
            observation::mark_pattern(&mut marks, &writing.scope, &key, event, rejected_at);
        }
        let count = changes.opens.len();
        if dry_run {
            return Ok((nothing().0, count));
        }
        if changes.opens.is_empty() {
            writing.close(marks).await?;
            return Ok(nothing());
        }
        let message = format!("Patterns in observations: {count}");
        let outcome = Outcome::of(Verb::Learn, message);
        let effect = Effect { with: marks, ..Effect::of(changes) };
        Ok((writing.finish(Verb::Learn, effect, outcome).await?, count))
    }

    /// Removes the oldest observations of a user who has many, as far as they are too old to be
    /// counted in patterns. Memories that cite them stay.
    pub(crate) async fn expire(&self, request: &Request) -> Result<usize> {
        let scope = self.transactions.write(request).await?;
        let (most, kept) = (limit_of(OBSERVATIONS), limit_of(OBSERVATIONS_KEPT));
        let above = observation::count(&scope, most).await? - kept;
        if above <= 0 {
            return Ok(0);
        }
        let before = micros(request.moment.now) - PATTERN_PERIOD;
        let expired = observation::expire(&scope, before, above).await?;
        scope.commit().await?;
        Ok(expired)
    }
}

/// Promotes the memories of patterns that have become strong.
async fn promote(writing: &mut Writing<'_>) -> Result<Changes> {
    let mut changes = Changes::default();
    let now = writing.stamp.at;
    let since = now - PATTERN_PERIOD;
    for memory in observation::promotable(&writing.scope, since, now, MAX_PATTERNS).await? {
        let Some(event) = ObservedEvent::from_memory(&memory) else { continue };
        let pattern = observation::pattern_of(&writing.scope, &event, PATTERN_PERIOD, &[]).await?;
        let Some(pattern) = pattern else { continue };
        let Some(step) = pattern.promotion(&memory) else { continue };
        let promoted = record::update_rating(&memory, &step, &mut writing.stamp);
        let opens = promoted.opens.into_iter().map(|version| pattern.cited_by(version));
        changes.closes.extend(promoted.closes);
        changes.opens.extend(opens);
    }
    Ok(changes)
}

fn limit_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The first version of a pattern's memory; none if admission rejects it.
async fn note(
    writing: &mut Writing<'_>,
    pattern: &ObservedPattern,
    state: State,
    policy: &Policy,
) -> Result<Vec<lukasa_core::Version>> {
    let claim = pattern.claim();
    let screening = admission::screen(&claim).await;
    let ask = AdmissionRequest::extracted(&screening);
    let admitted = match admission::admit(&writing.scope, claim, ask).await {
        Ok(admitted) => admitted,
        Err(Error::SecretRejected(_) | Error::OptInNeeded(_)) => return Ok(Vec::new()),
        Err(other) => return Err(other),
    };
    let AdmittedClaim { claim, state: most, domain } = admitted;
    let from = writing.stamp.at;
    let until = domain.and_then(|domain| domain.expires_at(&claim, from, policy.domain_expiry()));
    let provenance = Provenance {
        confidence: Some(pattern.confidence()),
        tier: pattern.tier(),
        turns: pattern.cited(),
        ..Provenance::stated(Voice::extracted(pattern.origin))
    };
    let state = if most == State::Proposed { most } else { state };
    let valid = Period { from, until };
    Ok(record::save(claim, state, valid, provenance, &mut writing.stamp).opens)
}

/// Refuses observations of incognito sessions, of which nothing is stored.
async fn check_sessions(scope: &Scope, observed: &[Observation]) -> Result<()> {
    let mut names: Vec<&str> = observed.iter().filter_map(|o| o.session.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    refuse_incognito(scope, &names).await
}
