//! The vault for an assistant with a file tool: a command edits the current files, and its edits
//! are applied like any others, as one operation.

use lukasa_core::vault::{self, File, PlannedChange, PreservedParts};
use lukasa_core::{OperationId, ProjectScope};

use super::Vault;
use super::apply::PlanRun;
use super::{load_contents_in, make_plan_in};
use crate::error::Result;
use crate::request::Request;
use crate::transaction::{Outcome, WriteStart};

pub use lukasa_core::vault::Command;

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAnswer {
    /// The text the tool returns to the assistant.
    pub text: String,
    pub failed: bool,
    /// The operation to undo; `None` if nothing was written.
    pub operation: Option<OperationId>,
}

impl Vault {
    /// Executes a command on the files of what belongs to these projects.
    pub async fn command(
        &self,
        request: &Request,
        command: &Command,
        projects: &ProjectScope,
    ) -> Result<CommandAnswer> {
        let now = request.moment.now;
        if command.is_read_only() {
            let mut files = self.export_pages(&request.caller, projects, now).await?;
            return Ok(command_answer(command.run(&mut files), None));
        }
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(Outcome { message, operation, .. }) => {
                return Ok(command_answer(Ok(message), operation));
            }
        };
        let (all, seen) = load_contents_in(&writing.scope, projects, now).await?;
        let seen = seen.as_ref().unwrap_or(&all);
        let mut files: Vec<File> = vault::render(seen, now, &PreservedParts::default());
        let answer = match command.run(&mut files) {
            Ok(answer) => answer,
            Err(refused) => return Ok(command_answer(Err(refused), None)),
        };
        let read = vault::read(&files);
        let mut plan = make_plan_in(&writing.scope, &read, (&all, seen), now).await?;
        for step in &mut plan.steps {
            if let PlannedChange::Save(claim) = &mut step.what
                && claim.project.is_none()
            {
                claim.project = claim.project_in(projects.project());
            }
        }
        let (plan, outcome) = PlanRun::start(writing, &all, false).run(plan).await?;
        let mut text = answer;
        for problem in &plan.problems {
            text.push_str(&format!(
                "\nNot applied, {} line {}: {}",
                problem.file, problem.line, problem.what
            ));
        }
        Ok(CommandAnswer { failed: !plan.problems.is_empty(), text, operation: outcome.operation })
    }
}

fn command_answer(answer: Result<String, String>, operation: Option<OperationId>) -> CommandAnswer {
    let failed = answer.is_err();
    let text = answer.unwrap_or_else(|refused| refused);
    CommandAnswer { text, failed, operation }
}
