//! What the user says outright in a turn: remember, forget, correct, change, a rule, a name.
//!
//! The statements are found by rules and carried out by a job of the turn, without a model, through
//! the same use cases as those of an assistant that quotes the user: admission decides, a protected
//! memory is not replaced or forgotten without consent, and each statement is one operation that the
//! user sees and can undo. A statement is carried out once: its idempotency key is the turn and its
//! place in it.

use lukasa_core::learning::explicit::{self, CREDENTIAL, KnownMemory, TOOL_WINDOW, TypedStatement};
use lukasa_core::learning::judge::says_the_same;
use lukasa_core::time::micros;
use lukasa_core::{Caller, Edit, Origin, State, Status, Turn, TurnId, Version};
use lukasa_store::job::ClaimedJob;
use lukasa_store::{Batch, domain_question, fact, session};
use lukasa_text::statement::StatementKind;

use crate::error::{Error, Result};
use crate::facts::{Facts, NewMemory, Target, Update};
use crate::memory::Memory;
use crate::queue::{JobFailure, JobQueue};
use crate::recall::Recall;
use crate::removal::Removals;
use crate::request::{IdempotencyKey, Moment, Request};
use crate::transaction::Transactions;

/// Carries out statements.
#[derive(Clone)]
pub(crate) struct Statements {
    transactions: Transactions,
    facts: Facts,
    removals: Removals,
    recall: Recall,
    queue: JobQueue,
}

impl Statements {
    pub(crate) fn new(
        transactions: Transactions,
        facts: Facts,
        removals: Removals,
        recall: Recall,
        queue: JobQueue,
    ) -> Self {
        Self { transactions, facts, removals, recall, queue }
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
        drop(scope);
        let Some(turn) = turns.into_iter().next() else { return self.queue.drop_job(job).await };
        for (place, stated) in explicit::find(&turn).iter().enumerate() {
            let request = request_of(request, &turn, place);
            match self.carry_out_one(&request, &turn, stated).await {
                Ok(()) => {}
                Err(Error::Unavailable(why)) => return Err(Error::Unavailable(why).into()),
                // It was rejected by a rule, or the memory is not there any more. The other
                // statements of the turn do not depend on it.
                Err(error) => {
                    if let Error::OptInNeeded(domain) = &error {
                        self.ask_about(&request, &turn, domain).await?;
                    }
                    let (kind, code) = (stated.statement.kind, error.code());
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
    ) -> Result<()> {
        let statement = &stated.statement;
        let known = self.known(request, stated).await?;
        if statement.kind != StatementKind::Forget
            && self.is_saved(request, turn, stated, &known).await?
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
                let request = numbered(request, place);
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
                self.facts.update(request, &target, update).await?;
            }
            None => {
                self.facts.save(request, new_memory(turn, stated)).await?;
            }
        }
        Ok(())
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
    ) -> Result<bool> {
        let claim = explicit::claim(&stated.statement);
        if known.iter().any(|(memory, _)| says_the_same(&claim, &memory.version.claim)) {
            return Ok(true);
        }
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let recent = fact::opened_since(&scope, turn.said_at - TOOL_WINDOW, None).await?;
        let repeats = |old: &Version| explicit::repeats(&claim.content, &old.claim.content);
        Ok(recent.iter().any(repeats))
    }

    /// The active memories nearest to a statement: to the claim that it replaces, and to its own.
    async fn known(
        &self,
        request: &Request,
        stated: &TypedStatement,
    ) -> Result<Vec<(Memory, f32)>> {
        let statement = &stated.statement;
        let mut known: Vec<(Memory, f32)> = Vec::new();
        let texts = statement.replaces.iter().chain([&statement.content]);
        for text in texts {
            for (memory, score) in
                self.recall.near(&request.caller, text, request.moment.now).await?
            {
                let is_active =
                    memory.status == Status::Active && memory.version.state == State::Active;
                let is_new = known.iter().all(|(old, _)| old.version.fact != memory.version.fact);
                if is_active && is_new {
                    known.push((memory, score));
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

/// The request of the statement at this place of a turn: by an assistant, with an idempotency key.
fn request_of(request: &Request, turn: &Turn, place: usize) -> Request {
    let caller = Caller {
        kind: lukasa_core::CallerKind::Key,
        credential: CREDENTIAL.to_owned(),
        voice: lukasa_core::Voice::stated(Origin::Assistant),
        ..request.caller.clone()
    };
    let key = format!("statement {} {place}", turn.id);
    let request_hash = key.clone().into_bytes();
    let request = Request { caller, moment: request.moment, idempotency: None, if_match: None };
    Request { idempotency: Some(IdempotencyKey { key, request_hash }), ..numbered(&request, place) }
}

/// The same request with ids and an idempotency key of its own.
fn numbered(request: &Request, place: usize) -> Request {
    let mut seed = request.moment.seed;
    let offset = u8::try_from(place).unwrap_or(u8::MAX);
    for byte in &mut seed {
        *byte = byte.rotate_left(3) ^ offset.wrapping_mul(29).wrapping_add(1);
    }
    let idempotency = request.idempotency.as_ref().map(|old| {
        let key = format!("{} {place}", old.key);
        IdempotencyKey { request_hash: key.clone().into_bytes(), key }
    });
    let moment = Moment { now: request.moment.now, seed };
    Request { moment, idempotency, ..request.clone() }
}
