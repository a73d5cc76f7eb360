//! Plan of a learning pass: the turns it reads, and the question it asks.

use futures_util::try_join;
use lukasa_core::learning::judge::SimilarMemory;
use lukasa_core::learning::prompt::{self, ExtractInput};
use lukasa_core::learning::transcript::TranscriptTurn;
use lukasa_core::learning::{ExtractionAnswer, OfferedMemory, Transcript, answer, own};
use lukasa_core::model::CallPurpose;
use lukasa_core::policy::{Policy, Trigger};
use lukasa_core::time::micros;
use lukasa_core::{Domain, Ids, Origin, ProjectScope, Session, Turn, Version};
use lukasa_store::learning::{self, Pass};
use lukasa_store::passage::{self, RecallState};
use lukasa_store::{portrait, session};

use super::Learning;
use crate::directory::domains;
use crate::error::Result;
use crate::queue::JobFailure;
use crate::recall::RecallQuery;
use crate::request::Request;
use crate::transcript::TurnsToRead;

/// Maximum number of turns per pass; the rest is for the next.
const MAX_TURNS: i64 = 80;
/// Maximum number of characters per pass, so that the question fits into a small model's window.
const MAX_CHARS: usize = 24_000;
/// Number of known memories shown to the model.
const MAX_OFFERED: usize = 30;
/// What is stored as the answer of a pass in which no model was asked.
const NO_ANSWER: &str = r#"{"memories":[]}"#;
/// How many of the most important memories are offered beside the relevant ones.
const MAX_IMPORTANT: i64 = 12;

/// A range of a session to learn from.
pub(super) struct Plan {
    pub(super) session: Session,
    pub(super) turns: Vec<Turn>,
    pub(super) news: Transcript,
    pub(super) policy: Policy,
    pub(super) domains: Vec<(Domain, bool)>,
    /// A stored answer that was not applied yet.
    pub(super) answered: Option<Pass>,
    before: Vec<TranscriptTurn>,
    /// The state of the record when the turns were read.
    state: RecallState,
}

impl Plan {
    pub(super) fn first(&self) -> i32 {
        // Turns right after the watermark may be removed, so do not use the first turn's number.
        self.session.extracted_through + 1
    }

    /// The projects whose memories the session sees.
    pub(super) fn projects(&self) -> ProjectScope {
        ProjectScope::of(self.session.project.as_ref())
    }

    pub(super) fn last(&self) -> i32 {
        self.turns.last().map_or(0, |turn| turn.number)
    }
}

impl Learning {
    /// Loads what there is to learn from; `None` if there is nothing.
    pub(super) async fn plan(&self, request: &Request, id: &str) -> Result<Option<Plan>> {
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let there = session::find(&scope, id).await?.filter(|s| s.trashed_at.is_none());
        let Some(session) = there.filter(Session::has_unextracted_turns) else { return Ok(None) };
        let through = session.extracted_through;
        let ((policy, _), domains, state, answered, turns) = try_join!(
            self.policies.load(&scope),
            domains(&scope),
            async { Ok(passage::state(&scope).await?) },
            async { Ok(learning::unapplied_answer(&scope, id).await?) },
            async { Ok(session::turns(&scope, id, through, MAX_TURNS).await?) }
        )?;
        let mut turns = turns;
        // A stored answer covers only the turns it was asked about, whatever was appended since.
        match &answered {
            Some(pass) => turns.retain(|turn| turn.number <= pass.last_turn),
            None => cut(&mut turns),
        }
        if answered.is_none() && !self.parts.has_chat() {
            cut_at_import(&mut turns);
        }
        let window = i32::try_from(earlier_turns(&policy, turns.len())).unwrap_or(0).min(through);
        let mut all = session::turns(&scope, id, through - window, i64::from(window)).await?;
        all.extend(turns.iter().cloned());
        let (before, news) =
            TurnsToRead::load(&scope, all).await?.transcript().await?.split_after(through);
        Ok(Some(Plan { session, turns, news, policy, domains, answered, before, state }))
    }

    /// The answer for a plan: the stored one, or a new one that is stored before it is used. `None`
    /// if something was removed while the model was asked: the model may have read it.
    pub(super) async fn answer(
        &self,
        request: &Request,
        plan: &Plan,
    ) -> Result<Option<(Pass, ExtractionAnswer)>, JobFailure> {
        if let Some(pass) = &plan.answered {
            let text = pass.answer.as_deref().unwrap_or_default();
            if pass.prompt == own::RULES {
                return Ok(Some((pass.clone(), own::by_rules(&plan.news))));
            }
            if let Ok(mut read) = answer::read(text) {
                // The handles of sentences belong to the prompt that was asked with.
                if pass.prompt == prompt::EXTRACT.name {
                    own::complete(&mut read, &plan.news);
                }
                return Ok(Some((pass.clone(), read)));
            }
            let scope = self.parts.store.write_as(&request.caller).await?;
            learning::drop_answer(&scope, pass.id).await?;
            scope.commit().await?;
        }
        let now = request.moment.now;
        let offered = self.offer_for(request, &plan.news, plan.projects()).await?;
        let typed = plan.news.learnable_texts().any(|text| !text.trim().is_empty());
        let with_model = self.parts.has_chat();
        let (text, model, read) = if !with_model {
            (NO_ANSWER.to_owned(), "none".to_owned(), own::by_rules(&plan.news))
        } else if typed {
            let names: Vec<&str> =
                plan.domains.iter().map(|(domain, _)| domain.name.as_str()).collect();
            let shown = ExtractInput {
                summary: plan.session.summary.as_deref(),
                before: &plan.before,
                offered: &offered,
                domains: &names,
            };
            let ask = prompt::extract(&plan.news, shown, self.parts.chat_timeout);
            let (caller, policy) = (&request.caller, &plan.policy);
            let asked = self
                .chat
                .ask(caller, CallPurpose::Extract, &ask, policy, request.moment, answer::read)
                .await?;
            let mut answered = asked.map_err(|why| JobFailure::no_answer(&why, now))?;
            own::complete(&mut answered.read, &plan.news);
            (answered.text, answered.model, answered.read)
        } else {
            // The user has typed nothing themselves, so there is nothing to ask about.
            (NO_ANSWER.to_owned(), "none".to_owned(), ExtractionAnswer::default())
        };
        let pass = Pass {
            id: Ids::new(now, request.moment.seed).pass(),
            session: plan.session.id.clone(),
            first_turn: plan.first(),
            last_turn: plan.last(),
            prompt: if with_model { prompt::EXTRACT.name } else { own::RULES }.to_owned(),
            model,
            offered: offered.iter().map(|old| old.fact).collect(),
            // PostgreSQL keeps no U+0000, and the rules would drop it anyway.
            answer: Some(text.replace('\0', "")),
            answered_at: micros(now),
            applied_at: None,
            operation: None,
            outcome: None,
        };
        let scope = self.parts.store.write_as(&request.caller).await?;
        let kept = learning::keep_answer(&scope, &pass, plan.state).await?;
        scope.commit().await?;
        Ok(kept.then_some((pass, read)))
    }

    /// The known memories of these projects relevant to the new turns.
    pub(super) async fn offer_for(
        &self,
        request: &Request,
        news: &Transcript,
        projects: ProjectScope,
    ) -> Result<Vec<OfferedMemory>> {
        let typed: String = news.learnable_texts().collect::<Vec<_>>().join(" ");
        let text: String = typed.chars().take(4_000).collect();
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut ask = RecallQuery::about(&text);
        ask.memories = MAX_OFFERED;
        ask.projects = Some(projects);
        let found = self.recall.search(&request.caller, &ask, request.moment.now).await?;
        let mut offered: Vec<Version> =
            found.memories.into_iter().map(|found| found.memory.version).collect();
        // A change often shares no word with what it changes: "I run a café now" and the old job.
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let now = request.moment.now;
        let important = portrait::material(&scope, now, MAX_IMPORTANT).await?;
        let domains = domains(&scope).await?;
        let is_closed = |version: &Version| {
            let own =
                |domain: &Domain| Some(domain.name.as_str()) == version.claim.domain.as_deref();
            domains.iter().any(|(domain, opened)| domain.requires_opt_in && !opened && own(domain))
        };
        for version in important {
            let is_new = offered.iter().all(|old| old.fact != version.fact);
            if is_new && offered.len() < MAX_OFFERED && !is_closed(&version) {
                offered.push(version);
            }
        }
        let offer =
            |version: Version| OfferedMemory { fact: version.fact, content: version.claim.content };
        Ok(offered.into_iter().map(offer).collect())
    }

    /// For each extracted claim, its possible duplicates and their similarity.
    pub(super) async fn compare(
        &self,
        request: &Request,
        read: &ExtractionAnswer,
        projects: &ProjectScope,
    ) -> Result<Vec<Vec<SimilarMemory>>> {
        let mut near = Vec::new();
        for item in &read.items {
            let (caller, now) = (&request.caller, request.moment.now);
            let found = self.recall.near(caller, &item.content, projects.clone(), now).await?;
            let found = found.into_iter();
            near.push(
                found
                    .map(|(memory, score)| SimilarMemory { fact: memory.version.fact, score })
                    .collect(),
            );
        }
        Ok(near)
    }
}

/// How many turns before the new ones a pass shows again. After a turn it shows the last messages of
/// the window and no more (R080), otherwise a whole window besides the new ones.
fn earlier_turns(policy: &Policy, new: usize) -> usize {
    match policy.extract {
        Trigger::Turn => policy.window.saturating_sub(new),
        Trigger::Close | Trigger::Manual => policy.window,
    }
}

/// Cuts a range to what fits into one question; at least one turn.
pub(super) fn cut(turns: &mut Vec<Turn>) {
    let lengths: Vec<usize> = turns.iter().map(|turn| turn.content.chars().count()).collect();
    turns.truncate(count_fitting(&lengths));
}

/// Cuts a range where imported turns and others meet. The rules learn nothing from imported ones.
fn cut_at_import(turns: &mut Vec<Turn>) {
    let is_imported = |turn: &Turn| turn.origin == Origin::Import;
    let Some(first) = turns.first().map(is_imported) else { return };
    let same = turns.iter().take_while(|turn| is_imported(turn) == first).count();
    turns.truncate(same);
}

/// How many turns of these lengths fit into one question; at least one.
fn count_fitting(lengths: &[usize]) -> usize {
    let mut chars = 0;
    let fits = lengths.iter().take_while(|length| {
        chars += shown_chars(**length);
        chars <= MAX_CHARS
    });
    fits.count().max(1)
}

fn shown_chars(length: usize) -> usize {
    length.min(6_000)
}

/// Number of questions needed for turns of these lengths, and the number of characters they show.
pub(crate) fn passes(lengths: &[usize]) -> (usize, usize) {
    let max_turns = usize::try_from(MAX_TURNS).unwrap_or(usize::MAX);
    let (mut rest, mut passes) = (lengths, 0);
    while !rest.is_empty() {
        rest = &rest[count_fitting(&rest[..rest.len().min(max_turns)]).min(rest.len())..];
        passes += 1;
    }
    (passes, lengths.iter().map(|length| shown_chars(*length)).sum())
}
