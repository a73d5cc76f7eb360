//! What the user says outright in a turn: remember, forget, correct, change, a rule, a name.
//!
//! The statements are found by rules and carried out by a job of the turn, without a model, through
//! the same use cases as those of an assistant that quotes the user: admission decides, a protected
//! memory is not replaced or forgotten without consent, and each statement is one operation that the
//! user sees and can undo. A statement is carried out once: its idempotency key is the turn and its
//! place in it.

use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::learning::explicit::{self, KnownMemory, TOOL_WINDOW, TypedStatement};
use lukasa_core::learning::judge::says_the_same;
use lukasa_core::time::micros;
use lukasa_core::{Edit, FactId, Ids, ProjectScope, State, Status, Turn, TurnId, Version};
use lukasa_store::context::{self, Usage};
use lukasa_store::job::ClaimedJob;
use lukasa_store::{Batch, domain_question, fact, portrait, session};
use lukasa_text::statement::StatementKind;

use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};
use crate::facts::{Facts, NewMemory, Target, Update};
use crate::memory::{Memory, as_memory};
use crate::parts::Parts;
use crate::queue::{JobFailure, JobQueue};
use crate::recall::Recall;
use crate::removal::Removals;
use crate::request::Request;
use crate::transaction::Transactions;

/// How many of the most important memories a statement is compared with, beside the similar ones.
const MAX_IMPORTANT: i64 = 100;

/// Carries out statements.
#[derive(Clone)]
pub(crate) struct Statements {
    parts: Arc<Parts>,
    transactions: Transactions,
    facts: Facts,
    removals: Removals,
    recall: Recall,
    queue: JobQueue,
}

impl Statements {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        facts: Facts,
        removals: Removals,
        recall: Recall,
        queue: JobQueue,
    ) -> Self {
        Self { parts, transactions, facts, removals, recall, queue }
    }

    /// Carries out the statements of a turn.
    pub(crate) async fn carry_out(
        &self,
        request: &Request,
        job: &ClaimedJob,
        turn: TurnId,
    ) -> Result<(), JobFailure> {
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let turns = session::turns_by_id(&scope, &[turn.uuid()]).await?;
        let Some(turn) = turns.into_iter().next() else {
            drop(scope);
            return self.queue.drop_job(job).await;
        };
        let project = session::project_of(&scope, &turn.session).await?;
        let following = session::following_turns(&scope, &turn.session, &[turn.number]).await?;
        let projects = ProjectScope::of(project.as_ref());
        drop(scope);
        let large = turn.content.len() > LARGE_TEXT_CHARS;
        let find = move || (explicit::find(&turn, &following), turn);
        let (found, turn) = self.parts.cpu.run_if(large, find).await?;
        for (place, stated) in found.iter().enumerate() {
            let request = request.of_statement(&turn.id.to_string(), place, vec![turn.id]);
            match self.carry_out_one(&request, &turn, stated, &projects).await {
                Ok(()) => {}
                Err(error @ (Error::Unavailable(_) | Error::MemoryPaused)) => {
                    return Err(error.into());
                }
                // It was rejected by a rule, or the memory is not there any more. The other
                // statements of the turn do not depend on it.
                Err(error) => {
                    if let Error::OptInNeeded(domain) = &error {
                        self.ask_about(&request, &turn, domain).await?;
                    }
                    let (kind, code) = (stated.statement.kind, error.code().as_str());
                    tracing::info!(?kind, code, "a statement was not carried out");
                }
            }
        }
        self.queue.drop_job(job).await
    }

    /// Asks the user whether to open the domain of a statement.
    async fn ask_about(&self, request: &Request, turn: &Turn, domain: &str) -> Result<()> {
        let scope = self.transactions.write(request).await?;
        let mut batch = Batch::default();
        // The turn may have been removed since it was read.
        if !session::turns_by_id(&scope, &[turn.id.uuid()]).await?.is_empty() {
            let now = micros(request.moment.now);
            domain_question::ask(&mut batch, &scope, domain, &[turn.id.uuid()], now);
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    async fn carry_out_one(
        &self,
        request: &Request,
        turn: &Turn,
        stated: &TypedStatement,
        projects: &ProjectScope,
    ) -> Result<()> {
        let statement = &stated.statement;
        let known = self.known(request, stated, projects).await?;
        if statement.kind != StatementKind::Forget
            && self.is_saved(request, turn, stated, &known, projects).await?
        {
            return Ok(());
        }
        let found: Vec<KnownMemory<'_>> = known.iter().map(known_memory).collect();
        let targets = explicit::targets(statement, &found);
        // What was changed after the turn is newer than what it says.
        let is_newer = |place: &usize| known[*place].0.version.known.from > turn.recorded_at;
        if statement.kind != StatementKind::Forget && targets.iter().any(is_newer) {
            return Ok(());
        }
        let targets = targets.iter().filter(|place| !is_newer(place));
        let targets = targets.map(|place| Target::Id(known[*place].0.version.fact));
        if statement.kind == StatementKind::Forget {
            for (place, target) in targets.enumerate() {
                let request = request.numbered(place);
                self.removals.forget(&request, &target).await?;
            }
            return Ok(());
        }
        match targets.into_iter().next() {
            Some(target) => {
                let edit = Edit::content(&statement.content);
                let mut update = match statement.kind {
                    StatementKind::Correct => Update::correct(edit),
                    _ => Update::change(edit),
                };
                update.session = Some(turn.session.clone());
                update.turns = vec![turn.id.to_string()];
                update.quotations = vec![stated.sentence.clone()];
                if let (StatementKind::Correct, Target::Id(fact)) = (statement.kind, &target) {
                    self.file_contradiction(request, turn, *fact).await?;
                }
                self.facts.update(request, &target, update).await?;
            }
            None => {
                self.facts.save(request, new_memory(turn, stated)).await?;
            }
        }
        Ok(())
    }

    /// Records that the user contradicted a memory which an answer of the session had cited. It is
    /// dated just before the turn, and so before the correction: it says nothing about the corrected
    /// words.
    async fn file_contradiction(&self, request: &Request, turn: &Turn, fact: FactId) -> Result<()> {
        let scope = self.transactions.write(request).await?;
        let at = turn.recorded_at;
        if !context::is_cited(&scope, fact, &turn.session, at).await?
            || context::is_contradicted_by(&scope, fact, turn.id).await?
        {
            return Ok(());
        }
        let usage = Usage {
            id: Ids::new(micros(request.moment.now), request.moment.seed).usage(),
            fact,
            session: Some(turn.session.clone()),
            retrieval: None,
            turn: Some(turn.id),
            kind: "contradicted".to_owned(),
            influence: None,
            at: at - SignedDuration::from_micros(1),
            prediction: None,
            by_user: true,
        };
        let mut batch = Batch::default();
        context::queue_usage(&mut batch, &scope, &usage);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Whether a memory says it already, or one that says about the same was saved about the time of
    /// the turn: then an assistant has done with a tool what the user asked for. What was changed or
    /// forgotten since is not saved again.
    async fn is_saved(
        &self,
        request: &Request,
        turn: &Turn,
        stated: &TypedStatement,
        known: &[(Memory, f32)],
        projects: &ProjectScope,
    ) -> Result<bool> {
        let claim = explicit::claim(&stated.statement);
        if known.iter().any(|(memory, _)| says_the_same(&claim, &memory.version.claim)) {
            return Ok(true);
        }
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let recent = fact::opened_since(&scope, turn.said_at - TOOL_WINDOW, None).await?;
        let is_seen = |old: &&Version| projects.admits(old.claim.project.as_ref());
        let repeats = |old: &Version| explicit::repeats(&claim.content, &old.claim.content);
        Ok(recent.iter().filter(is_seen).any(repeats))
    }

    /// The active memories nearest to a statement: to the claim that it replaces, and to its own.
    async fn known(
        &self,
        request: &Request,
        stated: &TypedStatement,
        projects: &ProjectScope,
    ) -> Result<Vec<(Memory, f32)>> {
        let statement = &stated.statement;
        let mut known: Vec<(Memory, f32)> = Vec::new();
        let texts = statement.replaces.iter().chain([&statement.content]);
        for text in texts {
            let (caller, now) = (&request.caller, request.moment.now);
            for (memory, score) in self.recall.near(caller, text, projects.clone(), now).await? {
                let is_active =
                    memory.status == Status::Active && memory.version.state == State::Active;
                let is_new = known.iter().all(|(old, _)| old.version.fact != memory.version.fact);
                if is_active && is_new {
                    known.push((memory, score));
                }
            }
        }
        if statement.kind != StatementKind::Remember {
            // "Forget my address" shares no word with the address.
            let now = request.moment.now;
            let scope = self.transactions.read(&request.caller, now).await?;
            for version in portrait::material(&scope, now, MAX_IMPORTANT).await? {
                if known.iter().all(|(old, _)| old.version.fact != version.fact) {
                    known.push((as_memory(&version, std::slice::from_ref(&version), now), 0.0));
                }
            }
        }
        Ok(known)
    }
}

fn known_memory((memory, score): &(Memory, f32)) -> KnownMemory<'_> {
    KnownMemory { content: &memory.version.claim.content, score: *score }
}

fn new_memory(turn: &Turn, stated: &TypedStatement) -> NewMemory {
    let mut claim = explicit::claim(&stated.statement);
    claim.evidence = vec![lukasa_core::ClaimEvidence::of("quote", &stated.sentence)];
    NewMemory {
        claim,
        session: Some(turn.session.clone()),
        turns: vec![turn.id.to_string()],
        ..NewMemory::saying("")
    }
}
