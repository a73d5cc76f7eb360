//! Applying an answer: one short transaction that holds the user's lock, reads again what it decides
//! over, and writes what was learned together with the watermark and the end of the job.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use lukasa_core::fade::expires_at;
use lukasa_core::job::next_upkeep;
use lukasa_core::learn::Answer;
use lukasa_core::learn::judge::{self, Kept, Near, Scene, Verdict};
use lukasa_core::record::{self, Provenance};
use lukasa_core::{
    Changes, Edit, FactId, JobKind, Keep, Link, Period, Session, Stamp, State, Verb, Version, Voice,
};
use lukasa_store::job::{self, Claimed};
use lukasa_store::learning::{self, Pass};
use lukasa_store::passage::{self, Change};
use lukasa_store::{Batch, fact, session};
use serde_json::json;

use super::episodes;
use super::plan::Plan;
use crate::directory::domains;
use crate::error::Result;
use crate::facts::{Begun, CONTRADICTS, Effect, Outcome};
use crate::jobs::Failed;
use crate::sessions::job_id;
use crate::{Engine, Request};

/// What stands instead of a quotation where nothing of what was said is kept.
const NOT_KEPT: &str = "source text not kept";

/// How often a session is planned again because something was removed while the model was asked.
const PLANS: usize = 3;

impl Engine {
    /// Learns from what was said in a session since the last time.
    pub(crate) async fn extract(&self, request: &Request, job: &Claimed) -> Result<(), Failed> {
        for _ in 0..PLANS {
            let Some(plan) = self.plan(request, &job.key).await? else {
                return self.drop_job(job).await;
            };
            if plan.turns.is_empty() {
                return self.skip_what_is_gone(request, job, &plan).await;
            }
            if let Some((pass, read)) = self.answer(request, &plan).await? {
                let near = self.compare(request, &read).await?;
                return self.apply(request, job, &plan, &pass, &read, &near).await;
            }
        }
        Err(lukasa_store::Error::Unavailable("the record keeps changing".into()).into())
    }

    async fn apply(
        &self,
        request: &Request,
        job: &Claimed,
        plan: &Plan,
        pass: &Pass,
        read: &Answer,
        near: &[Vec<Near>],
    ) -> Result<(), Failed> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(_) => return Ok(()),
        };
        let scope = &writing.scope;
        let mut wanted: Vec<FactId> = pass.offered.clone();
        wanted.extend(near.iter().flatten().map(|near| near.fact));
        let (held, there, kept, standing, domains, (policy, _)) = try_join!(
            async { Ok(job::is_held(scope, job).await?) },
            async { Ok(session::find(scope, &job.key).await?) },
            async { Ok(learning::answered(scope, &job.key).await?) },
            async { Ok(fact::standing(scope, &wanted, request.moment.now).await?) },
            domains(scope),
            self.policy_of(scope)
        )?;
        let same = kept.is_some_and(|kept| kept.id == pass.id);
        let there = there.filter(|s| s.extracted_through == pass.first_turn - 1);
        let (Some(session), true, true) = (there, same, held) else {
            // Somebody else has been here, or the session is gone. What they did stands.
            drop(writing);
            return if held { self.drop_job(job).await } else { Ok(()) };
        };
        let standing: BTreeMap<FactId, Version> =
            standing.into_iter().map(|version| (version.fact, version)).collect();
        let scene = Scene {
            transcript: &plan.news,
            offered: &pass.offered,
            standing: &standing,
            domains: &domains,
            policy: &policy,
        };
        let verdicts = judge::all(&read.items, near, &scene);
        let mut learned = Learned::of(&session);
        for verdict in verdicts {
            let fact = match &verdict {
                Verdict::Change { fact, .. } => Some(*fact),
                _ => None,
            };
            let known = match fact {
                Some(fact) => fact::known_now(scope, fact).await?,
                None => Vec::new(),
            };
            learned.take(verdict, &standing, &known, &mut writing.stamp);
        }
        let mut batch = Batch::default();
        let cited: Vec<_> = learned.cited.iter().map(|turn| turn.uuid()).collect();
        if session.keep != Keep::Full {
            let except = if session.keep == Keep::Excerpts { cited } else { Vec::new() };
            session::drop_turns(&mut batch, scope, &session.id, pass.last_turn, &except);
            passage::bump(&mut batch, scope, Change::Removed);
        }
        episodes::write(&mut batch, scope, plan, pass, read, &domains, &mut writing.stamp);
        session::advance(&mut batch, scope, &session.id, pass.first_turn - 1, pass.last_turn);
        let operation = (!learned.is_empty()).then_some(writing.stamp.operation);
        let outcome = learned.outcome(read);
        learning::applied(&mut batch, scope, pass.id, operation, outcome, writing.stamp.at);
        job::finish(&mut batch, scope, job);
        if !learned.is_empty() {
            let (id, now) = (job_id(request, "upkeep"), writing.stamp.at);
            job::queue_sole(
                &mut batch,
                scope,
                id,
                JobKind::Upkeep,
                next_upkeep(scope.user(), now),
                now,
            );
        }
        if pass.last_turn < session.turns {
            let (id, now) = (job_id(request, "further"), writing.stamp.at);
            job::queue(&mut batch, scope, id, JobKind::Extract, &session.id, now, now);
        }
        let outcome = Outcome::of(Verb::Learn, "Learned from a conversation.".into());
        if learned.is_empty() {
            writing.close(batch).await?;
        } else {
            learned.effect.with = batch;
            writing.finish(Verb::Learn, learned.effect, outcome).await?;
        }
        Ok(())
    }

    /// The turns past the watermark are gone, erased by their person: only the watermark moves.
    async fn skip_what_is_gone(
        &self,
        request: &Request,
        job: &Claimed,
        plan: &Plan,
    ) -> Result<(), Failed> {
        let scope = self.writing(request).await?;
        let there = session::find(&scope, &job.key).await?;
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

/// What a pass does to the record, and what it says about it.
struct Learned {
    session: String,
    keep: Keep,
    effect: Effect,
    /// Facts that this pass has touched: each at most once.
    touched: BTreeSet<FactId>,
    cited: BTreeSet<lukasa_core::TurnId>,
    counts: BTreeMap<&'static str, usize>,
    left: BTreeMap<&'static str, usize>,
}

impl Learned {
    fn of(session: &Session) -> Self {
        Self {
            session: session.id.clone(),
            keep: session.keep,
            effect: Effect::default(),
            touched: BTreeSet::new(),
            cited: BTreeSet::new(),
            counts: BTreeMap::new(),
            left: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        let changes = &self.effect.changes;
        changes.opens.is_empty() && changes.closes.is_empty()
    }

    fn take(
        &mut self,
        verdict: Verdict,
        standing: &BTreeMap<FactId, Version>,
        known: &[Version],
        stamp: &mut Stamp,
    ) {
        match verdict {
            Verdict::Leave(reason) => *self.left.entry(reason.as_str()).or_default() += 1,
            Verdict::Keep(kept) => {
                self.count(&kept, "added");
                self.open(&kept, stamp);
            }
            Verdict::Contest { fact, kept } => {
                self.count(&kept, "contested");
                let new = self.open(&kept, stamp);
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
            Verdict::Change { fact, kept } => {
                if !self.touched.insert(fact) {
                    return self.known_already();
                }
                match self.change(&kept, known, stamp) {
                    Ok(changes) => {
                        *self.counts.entry("changed").or_default() += 1;
                        self.merge(changes);
                    }
                    // It cannot take the place of what is there; it is still worth remembering.
                    Err(_) => {
                        self.count(&kept, "added");
                        self.open(&kept, stamp);
                    }
                }
            }
            Verdict::Reinforce { fact, kept } => {
                let Some(old) = standing.get(&fact).filter(|_| self.touched.insert(fact)) else {
                    return self.known_already();
                };
                *self.counts.entry("reinforced").or_default() += 1;
                let turns = self.turns(&kept);
                let evidence = self.evidence(&kept);
                self.merge(record::reinforce(old, evidence, turns, &self.session, stamp));
            }
        }
    }

    fn known_already(&mut self) {
        *self.left.entry(judge::Reason::Known.as_str()).or_default() += 1;
    }

    fn count(&mut self, kept: &Kept, word: &'static str) {
        let word = match (word, kept.state) {
            ("added", State::Proposed) => "proposed",
            ("added", State::Candidate) => "guessed",
            (word, _) => word,
        };
        *self.counts.entry(word).or_default() += 1;
    }

    fn open(&mut self, kept: &Kept, stamp: &mut Stamp) -> FactId {
        let provenance = self.provenance(kept);
        let mut claim = kept.claim.clone();
        claim.evidence = self.evidence(kept);
        let valid = Period { from: kept.said_at, until: expires_at(&claim, kept.said_at) };
        let changes = record::save(claim, kept.state, valid, provenance, stamp);
        let fact = changes.opens[0].fact;
        self.merge(changes);
        fact
    }

    fn change(
        &mut self,
        kept: &Kept,
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

    fn provenance(&mut self, kept: &Kept) -> Provenance {
        Provenance {
            voice: Voice::extracted(kept.origin),
            confidence: Some(kept.confidence),
            tier: kept.tier,
            session: Some(self.session.clone()),
            turns: self.turns(kept),
            replaces_stated: false,
        }
    }

    fn turns(&mut self, kept: &Kept) -> Vec<String> {
        self.cited.extend(kept.turns.iter().copied());
        kept.turns.iter().map(ToString::to_string).collect()
    }

    fn evidence(&self, kept: &Kept) -> Vec<lukasa_core::Evidence> {
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

    fn outcome(&self, read: &Answer) -> serde_json::Value {
        let mut left = self.left.clone();
        if read.malformed > 0 {
            left.insert("malformed", read.malformed);
        }
        json!({ "learned": self.counts, "left": left })
    }
}
