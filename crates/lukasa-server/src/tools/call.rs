//! A call becomes the request of the API that it stands for, and its outcome an answer.

use lukasa_core::context::line::harmless;
use lukasa_core::{Caller, CallerKind, Edit};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{Decision, Memory, Outcome, Point, Target};
use lukasa_engine::{Engine, IdempotencyKey, Request};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::answer::{self, Answer, Question};
use super::arguments::Arguments;
use super::list::{Action, Tool};
use super::{Call, Said};
use crate::clock;
use crate::http::error::Problem;
use crate::http::memory::{CreateMemory, ListQuery, UpdateMemory, similar, target};
use crate::http::request::print_cursor;
use crate::http::search::SearchRequest;
use crate::http::wire::MemoryView;

/// What a call needs besides its arguments.
struct Acting<'a> {
    engine: &'a Engine,
    /// Whose credential it is: for what the person has answered.
    person: &'a Caller,
    /// The same credential with a model speaking: for everything else.
    model: Caller,
    tool: &'static Tool,
    call: &'a Call,
}

/// Does what a call asks for. What takes a human is asked once, and done if they have said yes.
pub async fn act(engine: &Engine, caller: &Caller, tool: &'static Tool, call: &Call) -> Answer {
    let acting = Acting { engine, person: caller, model: caller.through_a_model(), tool, call };
    match acting.act().await {
        Ok(answer) => answer,
        Err(problem) => match acting.settled(&problem).await {
            Ok(answer) => answer,
            Err(problem) => answer::refused(tool, &problem),
        },
    }
}

impl Acting<'_> {
    async fn act(&self) -> Result<Answer, Problem> {
        let mut sent = Arguments::read(self.tool, &self.call.arguments);
        let now = clock::now();
        let (engine, model) = (self.engine, &self.model);
        let outcome = match self.tool.action {
            Action::Save | Action::Propose => return self.create(sent).await,
            Action::Update => {
                let named = target(&sent.needed("id")?);
                self.note_session(&mut sent);
                let update = sent.into_request::<UpdateMemory>()?.into_update()?;
                engine.update(&self.request(), &named, update).await?
            }
            Action::Forget => engine.forget(&self.request(), &target(&sent.needed("id")?)).await?,
            Action::Confirm => {
                let named = target(&sent.needed("id")?);
                return self.confirm(&named).await;
            }
            Action::Link => {
                let from = target(&sent.needed("from_id")?);
                let to = target(&sent.needed("to_id")?);
                let relation = sent.text("relation").unwrap_or_else(|| "relates_to".into());
                engine.link(&self.request(), &from, &to, &relation).await?
            }
            Action::Undo => {
                let said = sent.needed("operation_id")?;
                let id = said.parse().map_err(|_| Problem::of("operation_not_found"))?;
                engine.undo(&self.request(), id).await?
            }
            Action::List => {
                let listing = sent.into_request::<ListQuery>()?.listing()?;
                let page = engine.list(model, &listing, now).await?;
                return Ok(answer::page(&page, page.next.as_ref().map(print_cursor)));
            }
            Action::Recall | Action::Search => {
                sent.require("query")?;
                let asked = sent.into_request::<SearchRequest>()?.recall()?;
                let found = engine.recall(model, &asked, now).await?;
                return Ok(match self.tool.action {
                    Action::Search => answer::results(&found),
                    _ => answer::recalled(&found),
                });
            }
            Action::Fetch => {
                let named = target(sent.needed("id")?.trim_start_matches("lukasa://memories/"));
                let memory = engine.get(model, &named, Point::default(), now).await?;
                return Ok(answer::document(&memory));
            }
        };
        Ok(answer::written(&outcome, &[]))
    }

    async fn create(&self, mut sent: Arguments) -> Result<Answer, Problem> {
        sent.require("content")?;
        self.note_session(&mut sent);
        let new = sent.into_request::<CreateMemory>()?.into_new()?;
        if self.tool.action == Action::Propose {
            let outcome = self.engine.propose(&self.request(), new).await?;
            return self.answered(&outcome).await;
        }
        let outcome = self.engine.save(&self.request(), new).await?;
        let near = similar(self.engine, &self.model, &outcome).await;
        let near: Vec<Memory> = near.into_iter().map(|(memory, _)| memory).collect();
        Ok(answer::written(&outcome, &near))
    }

    /// Affirms a memory. A proposal is only ever confirmed by its person.
    async fn confirm(&self, named: &Target) -> Result<Answer, Problem> {
        let yes = Decision::Yes { digest: Some(String::new()), edit: Box::new(Edit::default()) };
        match self.engine.confirm(&self.request(), named, yes).await {
            Ok(outcome) => Ok(answer::written(&outcome, &[])),
            Err(error) => {
                let refused = Problem::from(error);
                if !refused.is("human_needed") {
                    return Err(refused);
                }
                let waits =
                    self.engine.get(&self.model, named, Point::default(), clock::now()).await?;
                let plain = answer::refused(self.tool, &refused);
                self.agree(&waits, plain).await
            }
        }
    }

    /// The answer to a proposal: what became of it, and whether its person is to be asked.
    async fn answered(&self, outcome: &Outcome) -> Result<Answer, Problem> {
        let plain = answer::written(outcome, &[]);
        match outcome.memories.first() {
            Some(memory) => self.agree(memory, plain).await,
            None => Ok(plain),
        }
    }

    /// Asks the person for a yes to a memory that waits for one, or does what they have said. A yes
    /// is to the words with the digest in the question's key, and the engine checks it once more.
    async fn agree(&self, waits: &Memory, plain: Answer) -> Result<Answer, Problem> {
        let Some(digest) = MemoryView::from(waits).sha256 else { return Ok(plain) };
        let question = Question {
            key: format!("agree:{digest}"),
            text: format!("Remember this? {}", harmless(&waits.version.claim.content)),
        };
        let edit = Box::new(Edit::default());
        let decision = match self.said(&question) {
            Some(Said::Yes) => Decision::Yes { digest: Some(digest), edit },
            Some(Said::No) => Decision::No,
            Some(Said::Nothing) => return Ok(plain),
            None => return Ok(plain.asking(self.askable(question))),
        };
        let named = Target::Id(waits.version.fact);
        let request = Request::new(self.person.clone(), clock::moment());
        let outcome = self.engine.confirm(&request, &named, decision).await?;
        Ok(answer::written(&outcome, &[]))
    }

    /// A refusal, once more: where it is a shut domain, its person may be asked to open it, and if
    /// they have, it is opened and the call made again.
    async fn settled(&self, problem: &Problem) -> Result<Answer, Problem> {
        let plain = answer::refused(self.tool, problem);
        let Some(domain) = &problem.shut_domain else { return Ok(plain) };
        let question = Question {
            key: format!("open:{domain}"),
            text: format!(
                "Remember {} information? Lukasa keeps nothing about {domain} until you allow it.",
                harmless(domain)
            ),
        };
        match self.said(&question) {
            Some(Said::Yes) => {
                let opened = OptIn::Open;
                self.engine.set_opt_in(self.person, domain, opened, clock::now()).await?;
                self.act().await
            }
            Some(Said::No | Said::Nothing) => Ok(plain),
            None => Ok(plain.asking(self.askable(question))),
        }
    }

    fn said(&self, question: &Question) -> Option<Said> {
        self.call.said.get(&question.key).copied()
    }

    /// Only somebody whose yes would count is asked.
    fn askable(&self, question: Question) -> Option<Question> {
        Some(question).filter(|_| self.person.kind == CallerKind::Human)
    }

    /// What is written was said in the session that the call was made in, if the door knows it.
    fn note_session(&self, sent: &mut Arguments) {
        if let Some(session) = &self.call.session {
            sent.set("session_id", json!(session));
        }
    }

    /// The engine's request. A call with an id of its own happens once.
    fn request(&self) -> Request {
        let mut request = Request::new(self.model.clone(), clock::moment());
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
