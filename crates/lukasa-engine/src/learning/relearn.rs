//! Learns again from the turns of a session about a domain that was opened since. What was left out
//! because the domain was closed is asked for once more, and only what belongs to the domain is
//! learned: the rest of these turns was learned before.

use std::collections::BTreeMap;

use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::learning::judge::{self, ExtractionVerdict, JudgeContext};
use lukasa_core::learning::prompt::{self, ExtractInput};
use lukasa_core::learning::{ExtractionAnswer, OfferedMemory, Transcript, answer, own};
use lukasa_core::model::CallPurpose;
use lukasa_core::policy::Policy;
use lukasa_core::{Domain, FactId, ProjectScope, Session, Verb, Version};
use lukasa_store::job::{self, ClaimedJob};
use lukasa_store::passage::{self, RecallState};
use lukasa_store::{Batch, Scope, fact, left_out, session};

use super::Learning;
use super::apply::{LearnedChanges, standing_in};
use super::plan::cut;
use crate::directory::domains;
use crate::error::Result;
use crate::queue::JobFailure;
use crate::request::Request;
use crate::transaction::{Outcome, WriteStart};
use crate::transcript::TurnsToRead;

/// Maximum number of turns that are read again per session.
const MAX_TURNS: i64 = 20;

/// The turns to read again, and the state of the record when they were read.
struct Reread {
    session: Session,
    turns: TurnsToRead,
    domains: Vec<(Domain, bool)>,
    state: RecallState,
}

impl Reread {
    /// Loads the turns; `None` if there are none, or if the domain is closed again.
    async fn load(scope: &Scope, domain: &str, id: &str) -> Result<Option<Self>> {
        let domains = domains(scope).await?;
        let is_open =
            domains.iter().any(|(d, opened)| d.name == domain && (*opened || !d.requires_opt_in));
        let there = session::find(scope, id).await?.filter(|s| s.trashed_at.is_none());
        let (Some(session), true) = (there, is_open) else { return Ok(None) };
        let ids = left_out::turns_of_domain(scope, domain, id, MAX_TURNS).await?;
        let mut turns = session::turns_by_id(scope, &ids).await?;
        turns.sort_by_key(|turn| turn.number);
        cut(&mut turns);
        if turns.is_empty() {
            return Ok(None);
        }
        let turns = TurnsToRead::load(scope, turns).await?;
        let state = passage::state(scope).await?;
        Ok(Some(Self { session, turns, domains, state }))
    }
}

impl Learning {
    /// Learns what was left out of a session because this domain was not open.
    pub(crate) async fn relearn(
        &self,
        request: &Request,
        job: &ClaimedJob,
        domain: &str,
        id: &str,
    ) -> Result<(), JobFailure> {
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let (found, (policy, _)) =
            (Reread::load(&scope, domain, id).await?, self.policies.load(&scope).await?);
        drop(scope);
        let Some(read) = found else { return self.queue.drop_job(job).await };
        let news = read.turns.transcript().await?;
        let projects = ProjectScope::of(read.session.project.as_ref());
        let offered = self.offer_for(request, &news, projects.clone()).await?;
        let answered = match self.parts.has_chat() && !news.is_empty() {
            true => self.ask_again(request, &read, &news, &offered, &policy).await?,
            false => own::by_rules(&news),
        };
        let near = self.compare(request, &answered, &projects).await?;

        let WriteStart::New(mut writing) = self.transactions.begin(request).await? else {
            return Ok(());
        };
        let scope = &writing.scope;
        if !job::is_held(scope, job).await? {
            return Ok(());
        }
        let mut batch = Batch::default();
        job::finish(&mut batch, scope, job);
        let Some(now) = Reread::load(scope, domain, id).await? else {
            return Ok(writing.close(batch).await?);
        };
        // The model may have read what was removed or taken back since.
        let is_other = now.turns != read.turns && now.turns.transcript().await? != news;
        if is_other || now.state.has_lost_since(read.state) {
            return Err(lukasa_store::Error::Unavailable(
                "memory was removed while a model was asked".into(),
            )
            .into());
        }
        let offered: Vec<FactId> = offered.iter().map(|memory| memory.fact).collect();
        let mut wanted = offered.clone();
        wanted.extend(near.iter().flatten().map(|near| near.fact));
        let standing = fact::current_and_pending(scope, &wanted, request.moment.now).await?;
        let standing: BTreeMap<FactId, Version> =
            standing_in(standing, now.session.project.as_ref());
        let scene = JudgeContext {
            transcript: &news,
            offered: &offered,
            standing: &standing,
            domains: &now.domains,
            policy: &policy,
            project: now.session.project.as_ref(),
        };
        let mut learned = LearnedChanges::of(&now.session);
        for verdict in judge::judge_all(&answered.items, &near, &scene) {
            let (fact, kept) = match &verdict {
                ExtractionVerdict::Change { fact, kept } => (Some(*fact), kept),
                ExtractionVerdict::Keep(kept)
                | ExtractionVerdict::Restate { kept, .. }
                | ExtractionVerdict::Contest { kept, .. }
                | ExtractionVerdict::Reinforce { kept, .. } => (None, kept),
                ExtractionVerdict::Leave(_) => continue,
            };
            if kept.claim.domain.as_deref() != Some(domain) {
                continue;
            }
            let known = match fact {
                Some(fact) => fact::known_now(scope, fact).await?,
                None => Vec::new(),
            };
            learned.take(verdict, &standing, &known, &mut writing.stamp);
        }
        let cited: Vec<_> = learned.cited.iter().map(|turn| turn.uuid()).collect();
        left_out::remove_learned(&mut batch, scope, domain, &cited);
        let retracted = news.turns.iter().filter(|turn| turn.pieces.is_empty());
        let retracted: Vec<_> = retracted.map(|turn| turn.turn.uuid()).collect();
        left_out::remove_of_turns(&mut batch, scope, &retracted);
        if learned.is_empty() {
            return Ok(writing.close(batch).await?);
        }
        let at = writing.stamp.at;
        let (id, due) = (request.job_id("upkeep"), next_upkeep(scope.user(), at));
        job::queue_sole(&mut batch, scope, id, &Task::Upkeep, due, at);
        learned.effect.with = batch;
        let outcome = Outcome::of(Verb::Learn, "Learned from a conversation.".into());
        writing.finish(Verb::Learn, learned.effect, outcome).await?;
        Ok(())
    }

    /// The model's answer about the turns that are read again.
    async fn ask_again(
        &self,
        request: &Request,
        read: &Reread,
        news: &Transcript,
        offered: &[OfferedMemory],
        policy: &Policy,
    ) -> Result<ExtractionAnswer, JobFailure> {
        let names: Vec<&str> =
            read.domains.iter().map(|(domain, _)| domain.name.as_str()).collect();
        let shown = ExtractInput { summary: None, before: &[], offered, domains: &names };
        let ask = prompt::extract(news, shown, self.parts.chat_timeout);
        let (caller, moment) = (&request.caller, request.moment);
        let asked =
            self.chat.ask(caller, CallPurpose::Relearn, &ask, policy, moment, answer::read).await?;
        let asked = asked.map_err(|why| JobFailure::no_answer(&why, moment.now))?;
        let mut answered = asked.read;
        own::complete(&mut answered, news);
        Ok(answered)
    }
}
