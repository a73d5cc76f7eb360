//! Application of an answer: one short transaction that holds the user's lock, reads the affected
//! facts again, and writes what was learned together with the watermark and the end of the job.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use futures_util::try_join;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::learning::judge::{
    self, ExtractionVerdict, JudgeContext, JudgedClaim, SimilarMemory,
};
use lukasa_core::learning::{ExtractionAnswer, LeftProposal};
use lukasa_core::link::CONTRADICTS;
use lukasa_core::record::{self, Provenance};
use lukasa_core::time::micros;
use lukasa_core::{
    Changes, Edit, FactId, Keep, Link, Period, Project, ProjectScope, Session, Stamp, State, Tier,
    Turn, TurnId, Verb, Version, Voice,
};
use lukasa_store::job::{self, ClaimedJob};
use lukasa_store::learning::{self, Pass};
use lukasa_store::passage::{self, Change};
use lukasa_store::{Batch, fact, session};
use lukasa_text::tokens;
use serde::Serialize;
use serde_json::json;

use super::plan::Plan;
use super::{Learning, episodes, left_out};
use crate::admission::NOT_KEPT;
use crate::directory::domains;
use crate::error::Result;
use crate::queue::JobFailure;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

/// Maximum number of plans, if something is removed while the model is asked.
const MAX_PLANS: usize = 3;

/// An answer of a model, with the memories similar to its proposals.
#[derive(Clone, Copy)]
pub(super) struct JudgedAnswer<'s> {
    pub pass: &'s Pass,
    pub read: &'s ExtractionAnswer,
    pub near: &'s [Vec<SimilarMemory>],
}

impl JudgedAnswer<'_> {
    /// The memories that the proposals may be about.
    pub fn facts(&self) -> Vec<FactId> {
        let near = self.near.iter().flatten().map(|near| near.fact);
        self.pass.offered.iter().copied().chain(near).collect()
    }
}

impl Learning {
    /// Learns from the turns of a session since the last pass.
    pub(crate) async fn extract(
        &self,
        request: &Request,
        job: &ClaimedJob,
        session: &str,
    ) -> Result<(), JobFailure> {
        for _ in 0..MAX_PLANS {
            let Some(plan) = self.plan(request, session).await? else {
                return self.queue.drop_job(job).await;
            };
            if plan.turns.is_empty() {
                return self.skip_erased_turns(request, job, &plan).await;
            }
            if !self.parts.has_chat() && plan.news.is_imported() {
                return self.pass_over_import(request, job, &plan).await;
            }
            if let Some((pass, read)) = self.answer(request, &plan).await? {
                let near = self.compare(request, &read, &plan.projects()).await?;
                let answer = JudgedAnswer { pass: &pass, read: &read, near: &near };
                let restated = self.restate(request, &plan, &answer).await?;
                return self.apply(request, job, &plan, &answer, &restated).await;
            }
        }
        Err(lukasa_store::Error::Unavailable(
            "memory was removed repeatedly while a model was asked".into(),
        )
        .into())
    }

    async fn apply(
        &self,
        request: &Request,
        job: &ClaimedJob,
        plan: &Plan,
        answer: &JudgedAnswer<'_>,
        restated: &BTreeSet<FactId>,
    ) -> Result<(), JobFailure> {
        let JudgedAnswer { pass, read, near } = *answer;
        let tokens_read = plan.turns.iter().map(|turn| tokens::count(&turn.content)).sum();
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(_) => return Ok(()),
        };
        let scope = &writing.scope;
        let wanted = answer.facts();
        let (is_claimed, there, kept, standing, domains, (policy, _)) = try_join!(
            async { Ok(job::is_held(scope, job).await?) },
            async { Ok(session::find(scope, &plan.session.id).await?) },
            async { Ok(learning::unapplied_answer(scope, &plan.session.id).await?) },
            async { Ok(fact::current_and_pending(scope, &wanted, request.moment.now).await?) },
            domains(scope),
            self.policies.load(scope)
        )?;
        let same = kept.is_some_and(|kept| kept.id == pass.id);
        let there = there.filter(|s| s.extracted_through == pass.first_turn - 1);
        let is_answer_gone = there.is_some() && !same;
        let (Some(session), true, true) = (there, same, is_claimed) else {
            drop(writing);
            return match (is_claimed, is_answer_gone) {
                (false, _) => Ok(()),
                // An episode or a turn was removed, and the answer with it. Ask again.
                (true, true) => {
                    let why = "memory was removed while a model was asked";
                    Err(lukasa_store::Error::Unavailable(why.into()).into())
                }
                // Another worker has applied it, or the session was removed. Change nothing.
                (true, false) => self.queue.drop_job(job).await,
            };
        };
        let standing: BTreeMap<FactId, Version> = standing_in(standing, session.project.as_ref());
        let scene = JudgeContext {
            transcript: &plan.news,
            offered: &pass.offered,
            standing: &standing,
            domains: &domains,
            policy: &policy,
            project: session.project.as_ref(),
        };
        let verdicts = judge::judge_all(&read.items, near, &scene);
        let mut learned = LearnedChanges::of(&session);
        learned.restated.clone_from(restated);
        for verdict in verdicts {
            let fact = match &verdict {
                ExtractionVerdict::Change { fact, .. } => Some(*fact),
                _ => None,
            };
            let known = match fact {
                Some(fact) => fact::known_now(scope, fact).await?,
                None => Vec::new(),
            };
            learned.take(verdict, &standing, &known, &mut writing.stamp);
        }
        let mut batch = Batch::default();
        left_out::remove_retracted(&mut batch, scope, &session.id, &plan.news).await?;
        let cited: Vec<_> = learned.cited.iter().map(|turn| turn.uuid()).collect();
        if session.keep != Keep::Full {
            let except = if session.keep == Keep::Excerpts { cited } else { Vec::new() };
            session::drop_turns(&mut batch, scope, &session.id, pass.last_turn, &except);
            passage::bump(&mut batch, scope, Change::Removed);
        }
        let stays = |turn: &TurnId| match session.keep {
            Keep::Full => true,
            Keep::Excerpts => learned.cited.contains(turn),
            Keep::Nothing => false,
        };
        let kept_turns: Vec<&Turn> = plan.turns.iter().filter(|turn| stays(&turn.id)).collect();
        let at = writing.stamp.at;
        left_out::record(&mut batch, scope, pass.id, &learned.left, &kept_turns, at);
        let passages =
            episodes::write(&mut batch, scope, plan, pass, read, &domains, &mut writing.stamp);
        session::advance(&mut batch, scope, &session.id, pass.first_turn - 1, pass.last_turn);
        let operation = (!learned.is_empty()).then_some(writing.stamp.operation);
        learned.outcome.left.malformed = NonZeroUsize::new(read.malformed);
        learned.outcome.tokens.read = tokens_read;
        let (outcome, at) = (json!(learned.outcome), writing.stamp.at);
        learning::mark_applied(&mut batch, scope, pass.id, operation, outcome, at);
        job::finish(&mut batch, scope, job);
        if !learned.is_empty() {
            let now = writing.stamp.at;
            let (id, due) = (request.job_id("upkeep"), next_upkeep(scope.user(), now));
            job::queue_sole(&mut batch, scope, id, &Task::Upkeep, due, now);
        }
        if pass.last_turn < session.turns {
            let (id, now) = (request.job_id("further"), writing.stamp.at);
            let task = Task::Extract { session: session.id.clone() };
            job::queue(&mut batch, scope, id, &task, now, now);
        }
        let outcome = Outcome::of(Verb::Learn, "Learned from a conversation.".into());
        if learned.is_empty() {
            writing.close_with(batch, passages).await?;
        } else {
            (learned.effect.with, learned.effect.passages) = (batch, passages);
            writing.finish(Verb::Learn, learned.effect, outcome).await?;
        }
        Ok(())
    }

    /// Handles imported turns without a model: the rules learn nothing from them, so they wait for a
    /// model. If the user has typed more since, only the watermark moves, because these turns would
    /// wait too.
    async fn pass_over_import(
        &self,
        request: &Request,
        job: &ClaimedJob,
        plan: &Plan,
    ) -> Result<(), JobFailure> {
        let scope = self.transactions.write(request).await?;
        let id = &plan.session.id;
        let there = session::find(&scope, id).await?;
        let from = plan.session.extracted_through;
        let unchanged = there.is_some_and(|session| session.extracted_through == from);
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let mut batch = Batch::default();
        if unchanged && session::has_own_turn_after(&scope, id, plan.last()).await? {
            session::advance(&mut batch, &scope, id, from, plan.last());
            let (next, now) = (request.job_id("further"), micros(request.moment.now));
            job::queue(&mut batch, &scope, next, &Task::Extract { session: id.clone() }, now, now);
        }
        job::finish(&mut batch, &scope, job);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Handles turns past the watermark that the user has erased: only the watermark moves.
    async fn skip_erased_turns(
        &self,
        request: &Request,
        job: &ClaimedJob,
        plan: &Plan,
    ) -> Result<(), JobFailure> {
        let scope = self.transactions.write(request).await?;
        let there = session::find(&scope, &plan.session.id).await?;
        let unchanged = there.is_some_and(|s| s.turns == plan.session.turns);
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let mut batch = Batch::default();
        if unchanged {
            let (id, from) = (&plan.session.id, plan.session.extracted_through);
            session::advance(&mut batch, &scope, id, from, plan.session.turns);
        }
        job::finish(&mut batch, &scope, job);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

/// The versions that a session of this project sees, by fact.
pub(super) fn standing_in(
    standing: Vec<Version>,
    project: Option<&Project>,
) -> BTreeMap<FactId, Version> {
    let seen = ProjectScope::of(project);
    let standing = standing.into_iter();
    let standing = standing.filter(|version| seen.admits(version.claim.project.as_ref()));
    standing.map(|version| (version.fact, version)).collect()
}

/// What became of a proposal that was accepted, as it is named in the outcome of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum LearnedAs {
    Added,
    Proposed,
    Guessed,
    Contested,
    Changed,
    Reinforced,
}

impl LearnedAs {
    /// How a new fact in this state is counted.
    fn new_fact(state: State) -> Self {
        match state {
            State::Proposed => LearnedAs::Proposed,
            State::Candidate => LearnedAs::Guessed,
            State::Active | State::Forgotten | State::Trashed => LearnedAs::Added,
        }
    }
}

/// The outcome of a pass, as it is stored.
#[derive(Debug, Clone, Default, Serialize)]
struct PassOutcome {
    learned: BTreeMap<LearnedAs, usize>,
    left: LeftProposals,
    tokens: PassTokens,
}

/// Tokens of the turns that a pass read, and of the memories that it added or changed.
#[derive(Debug, Clone, Default, Serialize)]
struct PassTokens {
    read: usize,
    learned: usize,
}

/// Counts of the proposals that were left out.
#[derive(Debug, Clone, Default, Serialize)]
struct LeftProposals {
    #[serde(flatten)]
    reasons: BTreeMap<judge::Reason, usize>,
    /// Those that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<NonZeroUsize>,
}

impl PassOutcome {
    fn count(&mut self, learned: LearnedAs) {
        *self.learned.entry(learned).or_default() += 1;
    }

    fn leave_out(&mut self, reason: judge::Reason) {
        *self.left.reasons.entry(reason).or_default() += 1;
    }
}

/// Changes that a pass makes, with the counts for its report.
pub(super) struct LearnedChanges {
    session: String,
    keep: Keep,
    pub(super) effect: Effect,
    /// Stated facts whose change was carried out or proposed before.
    restated: BTreeSet<FactId>,
    /// Facts that this pass has changed: each at most once.
    touched: BTreeSet<FactId>,
    pub(super) cited: BTreeSet<TurnId>,
    outcome: PassOutcome,
    left: Vec<LeftProposal>,
}

impl LearnedChanges {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            session: session.id.clone(),
            keep: session.keep,
            effect: Effect::default(),
            restated: BTreeSet::new(),
            touched: BTreeSet::new(),
            cited: BTreeSet::new(),
            outcome: PassOutcome::default(),
            left: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let changes = &self.effect.changes;
        changes.opens.is_empty() && changes.closes.is_empty()
    }

    pub(super) fn take(
        &mut self,
        verdict: ExtractionVerdict,
        standing: &BTreeMap<FactId, Version>,
        known: &[Version],
        stamp: &mut Stamp,
    ) {
        match verdict {
            ExtractionVerdict::Leave(left) => {
                self.outcome.leave_out(left.reason);
                self.left.push(left);
            }
            ExtractionVerdict::Keep(kept) => {
                self.outcome.count(LearnedAs::new_fact(kept.state));
                self.open(&kept, stamp);
            }
            ExtractionVerdict::Contest { fact, kept } => {
                self.link_contradiction(fact, &kept, stamp);
            }
            ExtractionVerdict::Restate { fact, .. } if self.restated.contains(&fact) => {
                self.outcome.leave_out(judge::Reason::Known);
            }
            ExtractionVerdict::Restate { fact, mut kept, .. } => {
                (kept.state, kept.tier) = (State::Candidate, Tier::Candidate);
                self.link_contradiction(fact, &kept, stamp);
            }
            ExtractionVerdict::Change { fact, kept } => {
                if !self.touched.insert(fact) {
                    return self.outcome.leave_out(judge::Reason::Known);
                }
                match self.change(&kept, known, stamp) {
                    Ok(changes) => {
                        self.outcome.count(LearnedAs::Changed);
                        self.outcome.tokens.learned += tokens::count(&kept.claim.content);
                        self.merge(changes);
                    }
                    // It cannot replace the existing fact, so it is added beside it.
                    Err(_) => {
                        self.outcome.count(LearnedAs::new_fact(kept.state));
                        self.open(&kept, stamp);
                    }
                }
            }
            ExtractionVerdict::Reinforce { fact, kept } => {
                let Some(old) = standing.get(&fact).filter(|_| self.touched.insert(fact)) else {
                    return self.outcome.leave_out(judge::Reason::Known);
                };
                self.outcome.count(LearnedAs::Reinforced);
                let turns = self.turns(&kept);
                let evidence = self.evidence(&kept);
                self.merge(record::reinforce(old, evidence, turns, &self.session, stamp));
            }
        }
    }

    /// Stores a claim beside the memory that it contradicts.
    fn link_contradiction(&mut self, fact: FactId, kept: &JudgedClaim, stamp: &mut Stamp) {
        self.outcome.count(LearnedAs::Contested);
        let new = self.open(kept, stamp);
        self.effect.opens_links.push(Link {
            id: stamp.ids.link(),
            from: new,
            to: fact,
            relation: CONTRADICTS.into(),
            known: Period::since(stamp.at),
            opened_by: stamp.operation,
            closed_by: None,
            reopens: None,
        });
    }

    fn open(&mut self, kept: &JudgedClaim, stamp: &mut Stamp) -> FactId {
        let provenance = self.provenance(kept);
        self.outcome.tokens.learned += tokens::count(&kept.claim.content);
        let mut claim = kept.claim.clone();
        claim.evidence = self.evidence(kept);
        let valid = Period { from: kept.said_at, until: kept.until };
        let changes = record::save(claim, kept.state, valid, provenance, stamp);
        let fact = changes.opens[0].fact;
        self.merge(changes);
        fact
    }

    fn change(
        &mut self,
        kept: &JudgedClaim,
        known: &[Version],
        stamp: &mut Stamp,
    ) -> Result<Changes, lukasa_core::Refusal> {
        let edit = Edit {
            content: Some(kept.claim.content.clone()),
            importance: Some(kept.claim.importance),
            reasoning: Some(kept.claim.reasoning.clone()),
            ..Edit::default()
        };
        let begun = known.iter().map(|version| version.valid.from).max();
        let effective = begun.map_or(kept.said_at, |begun| kept.said_at.max(begun));
        let number = known.iter().map(|version| version.number).max().unwrap_or(0) + 1;
        let provenance = self.provenance(kept);
        let mut changes = record::change(known, &edit, effective, number, &provenance, stamp)?;
        for opened in changes.opens.iter_mut().filter(|version| version.number == number) {
            opened.claim.evidence = self.evidence(kept);
        }
        Ok(changes)
    }

    fn provenance(&mut self, kept: &JudgedClaim) -> Provenance {
        Provenance {
            voice: Voice::extracted(kept.origin),
            confidence: Some(kept.confidence),
            tier: kept.tier,
            session: Some(self.session.clone()),
            turns: self.turns(kept),
            replaces_stated: false,
        }
    }

    fn turns(&mut self, kept: &JudgedClaim) -> Vec<String> {
        self.cited.extend(kept.turns.iter().copied());
        kept.turns.iter().map(ToString::to_string).collect()
    }

    fn evidence(&self, kept: &JudgedClaim) -> Vec<lukasa_core::ClaimEvidence> {
        let mut evidence = kept.claim.evidence.clone();
        if self.keep == Keep::Nothing {
            evidence.iter_mut().for_each(|item| item.description = NOT_KEPT.into());
        }
        evidence
    }

    fn merge(&mut self, changes: Changes) {
        self.effect.changes.closes.extend(changes.closes);
        self.effect.changes.opens.extend(changes.opens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_outcome_names_only_what_happened() {
        let mut outcome = PassOutcome::default();
        assert_eq!(
            json!(outcome),
            json!({"learned": {}, "left": {}, "tokens": {"read": 0, "learned": 0}})
        );
        for learned in [LearnedAs::Added, LearnedAs::Changed, LearnedAs::Added] {
            outcome.count(learned);
        }
        for state in [State::Proposed, State::Candidate, State::Active] {
            outcome.count(LearnedAs::new_fact(state));
        }
        outcome.count(LearnedAs::Contested);
        outcome.count(LearnedAs::Reinforced);
        outcome.leave_out(judge::Reason::Known);
        outcome.leave_out(judge::Reason::OthersOrder);
        outcome.left.malformed = NonZeroUsize::new(4);
        outcome.tokens = PassTokens { read: 900, learned: 40 };
        let expected = json!({
            "learned": {"added": 3, "changed": 1, "proposed": 1, "guessed": 1, "contested": 1, "reinforced": 1},
            "left": {"known_already": 1, "order_in_others_words": 1, "malformed": 4},
            "tokens": {"read": 900, "learned": 40},
        });
        assert_eq!(json!(outcome), expected);
    }
}
