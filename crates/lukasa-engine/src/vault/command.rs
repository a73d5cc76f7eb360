//! The vault for an assistant with a file tool: a command edits the current files, and its edits
//! are applied like any others, as one operation.

use std::sync::Arc;

use lukasa_core::vault::{self, File, PlannedChange, PreservedParts};
use lukasa_core::{OperationId, ProjectScope};

use super::Vault;
use super::apply::PlanRun;
use super::{load_contents_in, missing_content, seen_contents};
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
            let command = command.clone();
            let answer = self.parts.cpu.run(move || command.run(&mut files)).await?;
            return Ok(command_answer(answer, None));
        }
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(Outcome { message, operation, .. }) => {
                return Ok(command_answer(Ok(message), operation));
            }
        };
        let (all, hidden) = load_contents_in(&writing.scope, projects).await?;
        let (command, seen_projects) = (command.clone(), projects.clone());
        let edit = move || {
            let seen = seen_contents(&all, &seen_projects, &hidden, now);
            let shown = seen.as_ref().unwrap_or(&all);
            let mut files: Vec<File> = vault::render(shown, now, &PreservedParts::default());
            let answer = command.run(&mut files).map(|answer| (answer, vault::read(&files)));
            (answer, seen, all)
        };
        let (answer, seen, all) = self.parts.cpu.run(edit).await?;
        let (answer, read) = match answer {
            Ok(answer) => answer,
            Err(refused) => return Ok(command_answer(Err(refused), None)),
        };
        let missing = missing_content(&writing.scope, &read, &all).await?;
        let read = Arc::new(read);
        let (all, mut plan) = match seen {
            Some(seen) => (all, self.make_plan(read, seen, missing, now).await?.1),
            None => self.make_plan(read, all, missing, now).await?,
        };
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
