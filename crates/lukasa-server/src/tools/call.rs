//! Executes a tool call: builds the API request it corresponds to, and turns the outcome into an
//! answer.

use lukasa_core::context::claim_line;
use lukasa_core::{Caller, CallerKind, Edit, ProjectScope, Status};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{Affirmation, NewMemory, ProposalDecision, Target};
use lukasa_engine::{IdempotencyKey, Memory, Outcome, Point, Request};
use lukasa_text::line::harmless;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::answer::{self, ToolAnswer, UserQuestion};
use super::arguments::Arguments;
use super::list::{Action, Tool};
use super::{ToolInvocation, UserReply};
use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::{CreateMemory, ListQuery, UpdateMemory, find_similar, target};
use crate::api::request::print_cursor;
use crate::api::search::SearchRequest;
use crate::api::wire::MemoryView;

/// Maximum number of episodes in the answer to a recall, as in a prompt (R164).
const MAX_EPISODES: usize = 5;

/// A call with everything it needs besides its arguments.
struct Execution<'a> {
    app: &'a App,
    /// The caller of the credential: used for what the user has agreed to.
    user: &'a Caller,
    /// The same caller acting through a model: used for everything else.
    model: Caller,
    tool: &'static Tool,
    call: &'a ToolInvocation,
}

/// Executes a call. What needs a human is asked once, and done if the user has said yes.
pub async fn act(
    app: &App,
    caller: &Caller,
    tool: &'static Tool,
    call: &ToolInvocation,
) -> ToolAnswer {
    let execution = Execution { app, user: caller, model: caller.through_a_model(), tool, call };
    match execution.act().await {
        Ok(answer) => answer,
        Err(problem) => match execution.ask_to_open(&problem).await {
            Ok(answer) => answer,
            Err(problem) => answer::refused(tool, &problem),
        },
    }
}

impl Execution<'_> {
    async fn act(&self) -> Result<ToolAnswer, Problem> {
        let mut sent = Arguments::read(self.tool, &self.call.arguments);
        let now = self.app.now();
        let (engine, model) = (self.app.engine(), &self.model);
        let projects = match sent.take_all_projects() {
            true => ProjectScope::All,
            false => self.projects().await?,
        };
        let target = |text: &str| target(text).within(&projects);
        let outcome = match self.tool.action {
            // On the heap: an unoptimized build has no room for these steps on the stack of a thread.
            Action::Save | Action::Propose => return Box::pin(self.create(sent)).await,
            Action::Update => {
                let named = target(&sent.take_required("id")?);
                self.set_session(&mut sent);
                let update = sent.into_request::<UpdateMemory>()?.into_update()?;
                engine.facts.update(&self.request(), &named, update).await?
            }
            Action::Forget => {
                engine.removals.forget(&self.request(), &target(&sent.take_required("id")?)).await?
            }
            Action::Confirm => {
                let named = target(&sent.take_required("id")?);
                return self.confirm(&named, sent.take_texts("quotations")?).await;
            }
            Action::Link => {
                let from = target(&sent.take_required("from_id")?);
                let to = target(&sent.take_required("to_id")?);
                let relation = sent.take_text("relation").unwrap_or_else(|| "relates_to".into());
                engine.facts.link(&self.request(), &from, &to, &relation).await?
            }
            Action::Undo => {
                let id = sent.take_required("operation_id")?;
                let id = id.parse().map_err(|_| Problem::of(ErrorCode::OperationNotFound))?;
                engine.undo.undo(&self.request(), id).await?
            }
            Action::List => {
                let listing = sent.into_request::<ListQuery>()?.listing_in(&projects)?;
                let page = engine.facts.list(model, &listing, now).await?;
                return Ok(answer::page(&page, page.next.as_ref().map(print_cursor)));
            }
            Action::Recall | Action::Search => {
                sent.require("query")?;
                let asked = sent.into_request::<SearchRequest>()?;
                let mut query = asked.recall()?;
                query.projects = query.projects.or(Some(projects));
                if self.tool.action == Action::Recall {
                    query.episodes = MAX_EPISODES;
                }
                let mut found = engine.recall.search(model, &query, now).await?;
                asked.leave_out_irrelevant(&mut found);
                return Ok(match self.tool.action {
                    Action::Search => answer::results(&found),
                    _ => answer::recalled(&found),
                });
            }
            Action::Fetch => {
                let named =
                    target(sent.take_required("id")?.trim_start_matches("lukasa://memories/"));
                let memory = engine.facts.get(model, &named, Point::default(), now).await?;
                return Ok(answer::document(&memory));
            }
        };
        Ok(answer::written(&outcome, &[]))
    }

    async fn create(&self, mut sent: Arguments) -> Result<ToolAnswer, Problem> {
        sent.take_rule();
        if self.tool.action == Action::Save {
            // Models add one; what they save for the user counts as stated.
            sent.ignore("confidence");
        }
        sent.require("content")?;
        self.set_session(&mut sent);
        let sent = sent.into_request::<CreateMemory>()?;
        if self.tool.action == Action::Propose {
            let new = NewMemory { active_project: self.call.project.clone(), ..sent.into_new()? };
            let outcome = Box::pin(self.app.engine().facts.propose(&self.request(), new)).await?;
            return self.proposal_answer(&outcome).await;
        }
        let new = NewMemory { active_project: self.call.project.clone(), ..sent.into_saved()? };
        let outcome =
            Box::pin(self.app.engine().facts.save_or_change(&self.request(), new)).await?;
        let near = find_similar(self.app, &self.model, &outcome).await;
        let near: Vec<Memory> = near.into_iter().map(|(memory, _)| memory).collect();
        Ok(answer::written(&outcome, &near))
    }

    /// Confirms an active memory with the words in which the user said it again. Without them, and
    /// for a proposal, the user is asked.
    async fn confirm(
        &self,
        named: &Target,
        quotations: Vec<String>,
    ) -> Result<ToolAnswer, Problem> {
        let said = Affirmation { quotations, session: self.call.session.clone() };
        match self.app.engine().facts.affirm(&self.request(), named, &said).await {
            Ok(outcome) => Ok(answer::written(&outcome, &[])),
            Err(error) => {
                let refused = Problem::from(error);
                if !refused.is(ErrorCode::HumanNeeded) {
                    return Err(refused);
                }
                let waits = self
                    .app
                    .engine()
                    .facts
                    .get(&self.model, named, Point::default(), self.app.now())
                    .await?;
                let plain = answer::refused(self.tool, &refused);
                match waits.status {
                    Status::Active => self.ask_whether_it_holds(&waits, plain).await,
                    _ => self.ask_consent(&waits, plain).await,
                }
            }
        }
    }

    /// The answer to a proposal: its outcome, and a question to the user if consent is needed.
    async fn proposal_answer(&self, outcome: &Outcome) -> Result<ToolAnswer, Problem> {
        let plain = answer::written(outcome, &[]);
        match outcome.memories.first() {
            Some(memory) => self.ask_consent(memory, plain).await,
            None => Ok(plain),
        }
    }

    /// Asks the user to consent to a proposed memory, or applies the reply. A yes is bound to the
    /// words with the digest in the question's key, and the engine checks it again.
    async fn ask_consent(&self, waits: &Memory, plain: ToolAnswer) -> Result<ToolAnswer, Problem> {
        let Some(digest) = MemoryView::from(waits).sha256 else { return Ok(plain) };
        let question = UserQuestion {
            key: format!("agree:{digest}"),
            text: format!("Remember this? {}", claim_line(&waits.version.claim)),
        };
        let edit = Box::new(Edit::default());
        let decision = match self.reply_to(&question) {
            Some(UserReply::Yes) => ProposalDecision::Yes { digest: Some(digest), edit },
            Some(UserReply::No) => ProposalDecision::No,
            Some(UserReply::Dismissed) => return Ok(plain),
            None => return Ok(plain.with_question(self.if_human(question))),
        };
        let named = Target::Id(waits.version.fact);
        let request = Request::new(self.user.clone(), self.app.moment());
        let outcome = self.app.engine().facts.confirm(&request, &named, decision).await?;
        Ok(answer::written(&outcome, &[]))
    }

    /// Asks the user whether an active memory still holds, or applies the reply. A yes is bound to the
    /// version in the question's key.
    async fn ask_whether_it_holds(
        &self,
        memory: &Memory,
        plain: ToolAnswer,
    ) -> Result<ToolAnswer, Problem> {
        let version = memory.version.id;
        let question = UserQuestion {
            key: format!("holds:{version}"),
            text: format!("Does this still hold? {}", claim_line(&memory.version.claim)),
        };
        match self.reply_to(&question) {
            Some(UserReply::Yes) => {
                let mut request = Request::new(self.user.clone(), self.app.moment());
                request.if_match = Some(version);
                let yes = ProposalDecision::Yes { digest: None, edit: Box::new(Edit::default()) };
                let named = Target::Id(memory.version.fact);
                let outcome = self.app.engine().facts.confirm(&request, &named, yes).await?;
                Ok(answer::written(&outcome, &[]))
            }
            Some(UserReply::No | UserReply::Dismissed) => Ok(plain),
            None => Ok(plain.with_question(self.if_human(question))),
        }
    }

    /// The answer to a refusal. If a domain is not open, the user may be asked to open it; after a
    /// yes it is opened and the call is executed again.
    async fn ask_to_open(&self, problem: &Problem) -> Result<ToolAnswer, Problem> {
        let plain = answer::refused(self.tool, problem);
        let Some(domain) = &problem.closed_domain else { return Ok(plain) };
        let question = UserQuestion {
            key: format!("open:{domain}"),
            text: format!(
                "Remember {} information? Lukasa keeps nothing about {domain} until you allow it.",
                harmless(domain)
            ),
        };
        match self.reply_to(&question) {
            Some(UserReply::Yes) => {
                let request = Request::new(self.user.clone(), self.app.moment());
                self.app.engine().directory.set_opt_in(&request, domain, OptIn::Open).await?;
                self.act().await
            }
            Some(UserReply::No | UserReply::Dismissed) => Ok(plain),
            None => Ok(plain.with_question(self.if_human(question))),
        }
    }

    fn reply_to(&self, question: &UserQuestion) -> Option<UserReply> {
        self.call.replies.get(&question.key).copied()
    }

    /// The question, if a yes of this caller would be accepted.
    fn if_human(&self, question: UserQuestion) -> Option<UserQuestion> {
        Some(question).filter(|_| self.user.kind == CallerKind::Human)
    }

    /// The projects whose memories the call sees: that of the client, or of the session.
    async fn projects(&self) -> Result<ProjectScope, Problem> {
        let project = match (&self.call.project, &self.call.session) {
            (Some(project), _) => Some(project.clone()),
            (None, Some(session)) => {
                self.app.engine().sessions.project_of(&self.model, session, self.app.now()).await?
            }
            (None, None) => None,
        };
        Ok(ProjectScope::of(project.as_ref()))
    }

    /// Attributes what is written to the session of the call, if it is known.
    fn set_session(&self, sent: &mut Arguments) {
        if let Some(session) = &self.call.session {
            sent.set("session_id", json!(session));
        }
    }

    /// The engine's request. A call with a unique id is executed once.
    fn request(&self) -> Request {
        let mut request = Request::new(self.model.clone(), self.app.moment());
        request.idempotency = self.call.id.as_ref().map(|id| {
            let mut hash = Sha256::new();
            hash.update(self.tool.name);
            hash.update([0]);
            hash.update(self.call.arguments.to_string());
            IdempotencyKey { key: format!("tool:{id}"), request_hash: hash.finalize().to_vec() }
        });
        request
    }
}
