//! Sends a step to the engine and records its answer.

use lukasa_core::{Edit, Operation, ProjectScope};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{
    HistoryEntry, LinkedMemory, ListFilter, Listing, NewMemory, ProposalDecision, Update,
    UpdateMode,
};
use lukasa_engine::{Engine, Error, IdempotencyKey, Memory, Outcome, Request, facts};

use super::fixture::{Bound, TestUsers, time};
use super::model::UserModel;
use super::step::{Action, Answer, Matching, Point, Shown, Step, Target};

/// The engine's answer.
#[derive(Debug)]
pub enum Reply {
    Wrote(Box<Outcome>),
    Opened,
    Listed(Vec<Memory>),
    Got(Box<Memory>),
    Versions(Vec<HistoryEntry>),
    Links(Vec<LinkedMemory>),
    Log(Vec<Operation>),
}

/// More rows than any history has, so that every list is one page.
pub const EVERYTHING: usize = 1_000;

pub struct Performer<'a> {
    pub engine: &'a Engine,
    pub test_users: &'a TestUsers,
    pub bound: &'a Bound,
    /// The expected state of the user just before the step.
    pub model: &'a UserModel,
}

impl Performer<'_> {
    pub async fn perform(&self, step: &Step) -> Result<Reply, Error> {
        let (engine, caller, now) = (self.engine, self.test_users.caller(step), time(step.now));
        match &step.action {
            Action::OptIn { domain, open } => {
                let open = if *open { OptIn::Open } else { OptIn::Close };
                let request = self.request(step).await;
                engine.directory.set_opt_in(&request, domain, open).await.map(|_| Reply::Opened)
            }
            Action::List { status, point, page } => {
                let filter = ListFilter { status: *status, ..ListFilter::default() };
                let point = on_axes(*point);
                let mut listing = Listing { filter, point, after: None, limit: *page };
                let mut listed = Vec::new();
                loop {
                    let page = engine.facts.list(&caller, &listing, now).await?;
                    listed.extend(page.memories);
                    listing.after = page.next;
                    if listing.after.is_none() {
                        return Ok(Reply::Listed(listed));
                    }
                }
            }
            Action::Get { target, point } => {
                let memory =
                    engine.facts.get(&caller, &self.named(target), on_axes(*point), now).await?;
                Ok(Reply::Got(Box::new(memory)))
            }
            Action::Versions(target) => {
                let whole = (None, EVERYTHING);
                let page = engine.facts.history(&caller, &self.named(target), whole, now).await?;
                Ok(Reply::Versions(page.entries))
            }
            Action::Links(target) => {
                let (target, all, whole) =
                    (self.named(target), ProjectScope::All, (None, EVERYTHING));
                let page = engine.facts.links(&caller, &target, &all, whole, now).await?;
                Ok(Reply::Links(page.links))
            }
            Action::Log => {
                let page = engine.facts.operations(&caller, None, None, EVERYTHING, now).await?;
                Ok(Reply::Log(page.operations))
            }
            _ => self.write(step).await.map(|outcome| Reply::Wrote(Box::new(outcome))),
        }
    }

    async fn write(&self, step: &Step) -> Result<Outcome, Error> {
        let (engine, request) = (self.engine, self.request(step).await);
        match &step.action {
            Action::Save(new) => {
                let memory = NewMemory {
                    claim: new.claim.clone(),
                    valid_from: new.from.map(time),
                    valid_until: new.until.map(time),
                    session: new.session.clone(),
                    turns: Vec::new(),
                    confidence: new.confidence,
                    lifetime: None,
                    tier: new.tier,
                    keep_without_domain: true,
                    active_project: None,
                    left_out: None,
                    note_of: None,
                };
                match new.proposal {
                    true => engine.facts.propose(&request, memory).await,
                    false => engine.facts.save(&request, memory).await,
                }
            }
            Action::Change { target, edit, effective, confidence } => {
                let mode = UpdateMode::Change { effective: effective.map(time) };
                let update = update(edit, mode, *confidence);
                engine.facts.update(&request, &self.named(target), update).await
            }
            Action::Correct { target, edit, from, until } => {
                let mode = UpdateMode::Correct {
                    valid_from: from.map(time),
                    valid_until: until.map(|until| until.map(time)),
                };
                engine.facts.update(&request, &self.named(target), update(edit, mode, None)).await
            }
            Action::Forget(target) => engine.removals.forget(&request, &self.named(target)).await,
            Action::Delete(target) => engine.removals.delete(&request, &self.named(target)).await,
            Action::Restore(target) => engine.removals.restore(&request, &self.named(target)).await,
            Action::Erase(target) => engine.removals.erase(&request, &self.named(target)).await,
            Action::Confirm { target, answer } => {
                let decision = self.decision(target, answer, step.now);
                engine.facts.confirm(&request, &self.named(target), decision).await
            }
            Action::Link { from, to, relation } => {
                engine.facts.link(&request, &self.named(from), &self.named(to), relation).await
            }
            Action::Unlink { of, link } => {
                engine.facts.unlink(&request, &self.named(of), self.bound.link(*link)).await
            }
            Action::UndoLast => engine.undo.undo_last(&request).await,
            Action::Undo(no) => engine.undo.undo(&request, self.bound.operation(*no)).await,
            _ => engine.removals.purge(&request).await,
        }
    }

    async fn request(&self, step: &Step) -> Request {
        let mut request = Request::new(self.test_users.caller(step), self.test_users.moment(step));
        request.idempotency = step.key.map(|key| IdempotencyKey {
            key: format!("key-{}", key.name),
            request_hash: key.request.to_be_bytes().to_vec(),
        });
        request.if_match = match (step.matching, step.action.target()) {
            (Matching::Stale, _) => Some(Bound::no_version()),
            (Matching::Fresh, Some(target)) => {
                let point = lukasa_engine::Point::default();
                let named = self.named(target);
                let seen =
                    self.engine.facts.get(&request.caller, &named, point, time(step.now)).await;
                seen.ok().map(|memory| memory.version.id)
            }
            _ => None,
        };
        request
    }

    /// A confirmation carries the digest of the content as its author wrote it.
    fn decision(&self, target: &Target, answer: &Answer, now: i64) -> ProposalDecision {
        let Answer::Yes { shown, edit } = answer else { return ProposalDecision::No };
        let waiting = self.model.find(target, now).ok().and_then(|fact| {
            let mut rows = self.model.rows.iter();
            rows.find(|row| row.fact == fact && row.open() && row.waits())
        });
        let digest = match shown {
            Shown::Nothing => None,
            Shown::OtherWords => Some("0".repeat(64)),
            Shown::TheWords => waiting.map(|row| row.claim.consent_digest()),
        };
        ProposalDecision::Yes { digest, edit: edit.clone() }
    }

    fn named(&self, target: &Target) -> facts::Target {
        match target {
            Target::Fact(no) => facts::Target::Id(self.bound.fact(*no)),
            Target::Words(words) => facts::Target::Substring(words.clone()),
        }
    }
}

fn update(edit: &Edit, mode: UpdateMode, confidence: Option<f32>) -> Update {
    Update { mode, confidence, ..Update::change(edit.clone()) }
}

pub fn on_axes(point: Point) -> lukasa_engine::Point {
    lukasa_engine::Point { as_of: point.valid.map(time), known_at: point.known.map(time) }
}
