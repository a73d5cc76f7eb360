//! The vault for an assistant with a file tool: a command edits the current files, and its edits
//! are applied like any others, as one operation.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use lukasa_core::vault::{
    self, Base, File, Home, MissingContent, Outline, ParsedVault, PlannedChange, PreservedParts,
    VaultContents, VisiblePart,
};
use lukasa_core::{Caller, OperationId, ProjectScope, Timestamp, Version};
use lukasa_store::{Scope, fact};

use super::Vault;
use super::apply::PlanRun;
use super::files::{FileList, FileSink, MemoryFiles};
use super::related::RelatedContents;
use crate::closed_domains::HiddenDomains;
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
            return self.view(&request.caller, command, projects, now).await;
        }
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(Outcome { message, operation, .. }) => {
                return Ok(command_answer(Ok(message), operation));
            }
        };
        let part = visible_part(&writing.scope, &request.caller, projects).await?;
        let (answer, read) = match self.edit(&writing.scope, command, &part, now).await? {
            Ok(edited) => edited,
            Err(refused) => return Ok(command_answer(Err(refused), None)),
        };
        let (scope, read) = (&writing.scope, Arc::new(read));
        let related = RelatedContents::load(scope, &self.parts.cpu, &read, &part, now).await?;
        let missing = MissingContent::default();
        let (contents, mut plan) = self.make_plan(read, related.contents, missing, now).await?;
        for step in &mut plan.steps {
            if let PlannedChange::Save(claim) = &mut step.what
                && claim.project.is_none()
            {
                claim.project = claim.project_in(projects.project());
            }
        }
        let run = PlanRun::start(writing, contents.versions, &plan, false).await?;
        let (plan, outcome) = run.run(plan).await?;
        let mut text = answer;
        for problem in &plan.problems {
            text.push_str(&format!(
                "\nNot applied, {} line {}: {}",
                problem.file, problem.line, problem.what
            ));
        }
        Ok(CommandAnswer { failed: !plan.problems.is_empty(), text, operation: outcome.operation })
    }

    /// Shows a file, or lists a folder.
    async fn view(
        &self,
        caller: &Caller,
        command: &Command,
        projects: &ProjectScope,
        now: Timestamp,
    ) -> Result<CommandAnswer> {
        drop(self.transactions.read(caller, now).await?);
        // Before the snapshot is opened, because it needs a connection of its own.
        self.audit.record_export(caller, "vault", now).await?;
        let scope = self.transactions.read(caller, now).await?;
        let part = visible_part(&scope, caller, projects).await?;
        let files = MemoryFiles::open(&scope, &self.parts.cpu, &part, now).await?;
        let found = CommandFiles::of(command.clone(), BTreeSet::new());
        let found = self.write_files(&files, found).await?;
        drop(scope);
        let answer = self.parts.cpu.run(move || found.view()).await?;
        Ok(command_answer(answer, None))
    }

    /// Runs an edit on the files that it is about. Returns the tool's answer, and the files after it.
    async fn edit(
        &self,
        scope: &Scope,
        command: &Command,
        part: &VisiblePart,
        now: Timestamp,
    ) -> Result<std::result::Result<(String, ParsedVault), String>> {
        let files = MemoryFiles::open(scope, &self.parts.cpu, part, now).await?;
        // Files with a line whose mark the edited text has too.
        let mut also = BTreeSet::new();
        loop {
            let found = CommandFiles::of(command.clone(), also.clone());
            let found = self.write_files(&files, found).await?;
            let is_about = |home: &Home| found.is_about(&home.path());
            let facts = files.outline().facts_in(is_about);
            let versions = fact::known_now_of_all(scope, &facts).await?;
            let outline = Arc::clone(files.outline());
            let edit = move || found.edit(versions, now, &outline);
            match self.parts.cpu.run(edit).await? {
                Err(refused) => return Ok(Err(refused)),
                Ok((answer, read, more)) if more.is_empty() => return Ok(Ok((answer, read))),
                Ok((_, _, more)) => also.extend(more),
            }
        }
    }

    async fn write_files(
        &self,
        files: &MemoryFiles<'_>,
        sink: CommandFiles,
    ) -> Result<CommandFiles> {
        let outline = Arc::clone(files.outline());
        let list = move || {
            let mut list = FileList::of(&outline, &PreservedParts::default(), Vec::new());
            list.retain(|path| sink.is_wanted(path));
            (list, sink)
        };
        let (list, sink) = self.parts.cpu.run(list).await?;
        files.write(list, Vec::new(), sink).await
    }
}

/// The files that a command is about.
struct CommandFiles {
    command: Command,
    /// The paths that it names.
    named: Vec<String>,
    /// Paths of more files.
    also: BTreeSet<String>,
    /// The files that the command runs on. Those that it cannot change have no words.
    files: Vec<File>,
    /// The paths and the sizes of the files that it is about.
    sizes: Vec<(String, usize)>,
    /// Whether the command is about the file that was begun last.
    is_counted: bool,
    /// Whether it needs the words of that file.
    has_words: bool,
}

impl CommandFiles {
    fn of(command: Command, also: BTreeSet<String>) -> Self {
        Self {
            named: command.paths(),
            command,
            also,
            files: Vec::new(),
            sizes: Vec::new(),
            is_counted: false,
            has_words: false,
        }
    }

    fn is_about(&self, path: &str) -> bool {
        self.command.is_about(path) || self.also.contains(path)
    }

    /// Whether a file, or the folder of episodes, has to be rendered.
    fn is_wanted(&self, path: &str) -> bool {
        let is_below = |named: &String| path.ends_with('/') && named.starts_with(path);
        self.is_about(path) || self.named.iter().any(is_below)
    }

    /// The answer of a view.
    fn view(mut self) -> std::result::Result<String, String> {
        match &self.command {
            Command::View { path, .. } if self.files.is_empty() => {
                vault::list_folder(&self.sizes, path)
            }
            command => command.run(&mut self.files),
        }
    }

    /// Runs an edit. Returns also the paths of more files that its plan needs.
    fn edit(
        mut self,
        versions: Vec<Version>,
        now: Timestamp,
        outline: &Outline,
    ) -> std::result::Result<(String, ParsedVault, BTreeSet<String>), String> {
        let answer = self.command.run(&mut self.files)?;
        let mut read = vault::read(&self.files);
        read.base = Base::of(&VaultContents { versions, ..VaultContents::default() }, now);
        let marked = read.entries.iter().filter_map(|entry| outline.home(entry.fact?));
        let more = marked.map(Home::path).filter(|path| !self.is_about(path)).collect();
        Ok((answer, read, more))
    }
}

impl FileSink for CommandFiles {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        self.is_counted = self.is_about(path);
        if self.is_counted {
            self.sizes.push((path.to_owned(), 0));
        }
        // A folder is listed by its sizes alone.
        let is_view = self.command.is_read_only();
        let has_file = self.is_counted && (!is_view || self.named.iter().any(|name| name == path));
        if has_file {
            self.files.push(File { path: path.to_owned(), content: String::new() });
        }
        self.has_words = has_file && (is_view || Home::at(path).is_some());
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some((_, size)) = self.sizes.last_mut().filter(|_| self.is_counted) {
            *size += text.len();
        }
        if let Some(file) = self.files.last_mut().filter(|_| self.has_words) {
            file.content.push_str(text);
        }
        Ok(())
    }
}

fn command_answer(answer: Result<String, String>, operation: Option<OperationId>) -> CommandAnswer {
    let failed = answer.is_err();
    let text = answer.unwrap_or_else(|refused| refused);
    CommandAnswer { text, failed, operation }
}

/// What the caller of a command sees.
async fn visible_part(
    scope: &Scope,
    caller: &Caller,
    projects: &ProjectScope,
) -> Result<VisiblePart> {
    let hidden_domains = HiddenDomains::load(scope, caller).await?.into_names();
    Ok(VisiblePart { projects: projects.clone(), hidden_domains })
}
