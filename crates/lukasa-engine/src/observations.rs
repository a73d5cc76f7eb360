//! Observations: raw events that other applications and agents record, and the memories made of
//! those that repeat. Patterns are counted by rules; no model takes part.

use lukasa_core::admission::{Decision, Sensitivity, Writer, decide};
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::limits::{OBSERVATIONS_AT_ONCE, TURNS};
use lukasa_core::observation::{Observation, ObservedPattern, PATTERN_PERIOD};
use lukasa_core::policy::ObservedPatterns;
use lukasa_core::record::Provenance;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, Ids, ObservationId, Origin, Period, Project, State, Timestamp, Verb, Voice,
    record,
};
use lukasa_store::{Batch, Scope, domain, job, observation, session};
use serde_json::Value;

use crate::admission::{self, AdmissionRequest, AdmittedClaim};
use crate::error::{Error, InvalidField, Result};
use crate::policy::Policies;
use crate::request::Request;
use crate::telemetry::record_admission;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart, Writing, keep_answer};

pub use lukasa_store::observation::{ObservationFilter, ObservationPlace};

/// How many patterns one run looks at, the most frequent first.
const MAX_PATTERNS: i64 = 200;
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
}

impl Observations {
    pub(crate) fn new(transactions: Transactions, policies: Policies) -> Self {
        Self { transactions, policies }
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
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(ids) => return Ok(ids),
        };
        let writer = Writer::of(&request.caller);
        for screening in &screenings {
            if let Some(kind) = screening.secret {
                record_admission(writer, "reject_secret");
                return Err(Error::SecretRejected(kind));
            }
            let Some(name) = screening.domain() else { continue };
            let is_closed = domain::find(&scope, name)
                .await?
                .is_some_and(|(domain, opened)| domain.requires_opt_in && !opened);
            // A raw event orders nothing and is in no prompt; only its domain can keep it out.
            let traits = lukasa_core::admission::Traits {
                sensitivity: if is_closed { Sensitivity::Closed } else { Sensitivity::Open },
                ..Default::default()
            };
            if decide(writer, traits) == Decision::RejectClosed {
                record_admission(writer, "reject_closed");
                return Err(Error::OptInNeeded(name.to_owned()));
            }
        }
        check_sessions(&scope, &observed).await?;
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
    /// once, whatever became of it, is not noted again.
    pub async fn learn_patterns(&self, request: &Request) -> Result<Outcome> {
        let mut request = request.numbered(UPKEEP_STEP);
        request.caller.voice = Voice::extracted(Origin::Observed);
        let nothing = || Outcome::of(Verb::Learn, "No new patterns.".into());
        let mut writing = match self.transactions.begin(&request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let (policy, _) = self.policies.load(&writing.scope).await?;
        if policy.observed == ObservedPatterns::Off {
            return Ok(nothing());
        }
        let cited = i32::try_from(TURNS).unwrap_or(i32::MAX);
        let since = writing.stamp.at - PATTERN_PERIOD;
        let found = observation::patterns(&writing.scope, since, cited, MAX_PATTERNS).await?;
        let mut changes = Changes::default();
        for pattern in found.iter().filter(|pattern| pattern.is_frequent()) {
            let (key, project) = (pattern.key(), pattern.project.as_ref().map(Project::as_str));
            if observation::was_noted(&writing.scope, &key, project).await? {
                let now = writing.stamp.at;
                let noted = observation::noted(&writing.scope, &key, project, now).await?;
                let step = noted.as_ref().and_then(|noted| pattern.promotion(noted));
                if let Some((noted, step)) = noted.zip(step) {
                    let promoted = record::update_rating(&noted, &step, &mut writing.stamp);
                    let opens = promoted.opens.into_iter().map(|v| pattern.cited_by(v));
                    changes.closes.extend(promoted.closes);
                    changes.opens.extend(opens);
                }
            } else {
                let state = match policy.observed {
                    ObservedPatterns::On => State::Active,
                    _ => State::Proposed,
                };
                changes.opens.extend(note(&mut writing, pattern, state).await?);
            }
        }
        if changes.opens.is_empty() {
            return Ok(nothing());
        }
        let message = format!("Patterns in observations: {}", changes.opens.len());
        let outcome = Outcome::of(Verb::Learn, message);
        writing.finish(Verb::Learn, Effect::of(changes), outcome).await
    }
}

/// The first version of a pattern's memory; none if admission rejects it.
async fn note(
    writing: &mut Writing<'_>,
    pattern: &ObservedPattern,
    state: State,
) -> Result<Vec<lukasa_core::Version>> {
    let claim = pattern.claim();
    let screening = admission::screen(&claim).await;
    let ask = AdmissionRequest::new(Writer::Extraction, &screening);
    let admitted = match admission::admit(&writing.scope, claim, ask).await {
        Ok(admitted) => admitted,
        Err(Error::SecretRejected(_) | Error::OptInNeeded(_)) => return Ok(Vec::new()),
        Err(other) => return Err(other),
    };
    let AdmittedClaim { claim, state: most, domain } = admitted;
    let from = writing.stamp.at;
    let until = domain.and_then(|domain| domain.expires_at(&claim, from));
    let provenance = Provenance {
        confidence: Some(pattern.confidence()),
        tier: pattern.tier(),
        turns: pattern.cited(),
        ..Provenance::stated(Voice::extracted(Origin::Observed))
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
    for name in names {
        let found = session::find(scope, name).await?;
        if found.is_some_and(|session| session.incognito) {
            let reason = "nothing is stored of an incognito session";
            return Err(Error::invalid("session_id", reason));
        }
    }
    Ok(())
}
