//! The vault for an assistant with a tool for files: a command edits the files as they are at this
//! moment, and what it edited is taken in like any other edit, as one operation.

use lukasa_core::OperationId;
pub use lukasa_core::vault::Command;
use lukasa_core::vault::{self, File, Kept};

use super::apply::Applying;
use super::{held, planned};
use crate::error::Result;
use crate::facts::{Begun, Outcome};
use crate::{Engine, Request};

/// What a command answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The words the tool gives its assistant.
    pub text: String,
    pub failed: bool,
    /// The operation to undo it by; nothing if nothing was written.
    pub operation: Option<OperationId>,
}

impl Engine {
    pub async fn vault_command(&self, request: &Request, command: &Command) -> Result<Answered> {
        let now = request.moment.now;
        if command.only_looks() {
            let mut files = self.vault_export(&request.caller, now).await?;
            return Ok(answered(command.run(&mut files), None));
        }
        let writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(Outcome { message, operation, .. }) => {
                return Ok(answered(Ok(message), operation));
            }
        };
        let mut files: Vec<File> =
            vault::render(&held(&writing.scope).await?, now, &Kept::default());
        let said = match command.run(&mut files) {
            Ok(said) => said,
            Err(refused) => return Ok(answered(Err(refused), None)),
        };
        let (held, plan) = planned(&writing.scope, &vault::read(&files), now).await?;
        let (plan, outcome) = Applying::start(writing, &held, false).run(plan).await?;
        let mut text = said;
        for problem in &plan.problems {
            text.push_str(&format!(
                "\nNot taken in, {} line {}: {}",
                problem.file, problem.line, problem.what
            ));
        }
        Ok(Answered { failed: !plan.problems.is_empty(), text, operation: outcome.operation })
    }
}

fn answered(said: Result<String, String>, operation: Option<OperationId>) -> Answered {
    let failed = said.is_err();
    let text = said.unwrap_or_else(|refused| refused);
    Answered { text, failed, operation }
}
