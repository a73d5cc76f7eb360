//! The vault: a user's memory as a folder of markdown files, for export, comparison and sync; and
//! the same files for an assistant's memory tool.

mod spool;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::vault::{
    self, BASE, File, FileProblem, Home, PlanStep, PlannedChange, SyncConflict, SyncPlan,
    is_episodes,
};
use lukasa_engine::vault::{Command, CommandAnswer, SyncReport};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::spool::SpooledFiles;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::project::AskedProject;
use crate::api::request::{JsonRequest, QueryParams};

/// Maximum size of a request body with files.
pub const VAULT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of files per request.
const MAX_FILES: usize = 2_000;
/// Maximum length of a file's path.
const MAX_PATH_BYTES: usize = 200;

/// One file of a vault.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultFile {
    /// Path in the vault's folder, with forward slashes.
    #[schema(example = "profile.md")]
    path: String,
    #[schema(example = "# Profile\n\n- Prefers window seats\n")]
    content: String,
}

/// A user's memory as files.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultView {
    files: Vec<VaultFile>,
    /// Digest of all paths and contents. The same memory always gives the same files, byte for
    /// byte.
    sha256: String,
}

/// The current files of a vault's folder.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct VaultFiles {
    /// Memories are in `profile.md`, `procedures.md`, `active_context.md`, `proposals.md` and
    /// `domains/{name}.md`, and summaries of conversations in `episodes/`; `.lukasa/base.jsonl` is the
    /// state they were made from. An edited file in
    /// `portraits/` is reported as a problem. Other files are ignored.
    files: Vec<VaultFile>,
    /// For a sync: trust a base that this server did not sign for this user, and restore memories
    /// with the origins and consents it names. Accepted only from the user.
    #[serde(default)]
    trust: bool,
}

impl VaultFiles {
    /// The files, if their number and paths are valid. Files that are not part of a vault are left
    /// out.
    fn checked(&self) -> Result<Vec<File>, Problem> {
        let refuse = |pointer: String, detail: &str| {
            let errors = vec![FieldError { pointer, detail: detail.to_owned() }];
            Problem::of(ErrorCode::InvalidRequest).fields(errors)
        };
        if self.files.len() > MAX_FILES {
            return Err(refuse("/files".to_owned(), "at most 2000 files"));
        }
        for (at, file) in self.files.iter().enumerate() {
            if !is_inside(&file.path) {
                let pointer = format!("/files/{at}/path");
                return Err(refuse(pointer, "a path inside the vault, with forward slashes"));
            }
        }
        let known = |file: &&VaultFile| {
            let path = &file.path;
            path == BASE
                || Home::at(path).is_some()
                || vault::is_portrait(path)
                || is_episodes(path)
        };
        let file =
            |file: &VaultFile| File { path: file.path.clone(), content: file.content.clone() };
        Ok(self.files.iter().filter(known).map(file).collect())
    }
}

/// Whether a path stays inside its folder on every operating system.
fn is_inside(path: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.len() <= MAX_PATH_BYTES && !path.contains(['\\', ':', '\0']) && path.split('/').all(part)
}

/// A change that a sync makes.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultChange {
    /// `save`, `change`, `forget`, `confirm`, `accept` or `reject`, or `episode` for a summary.
    #[schema(example = "change")]
    what: &'static str,
    /// Null if the line is new.
    memory_id: Option<String>,
    /// The summary whose words are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    episode_id: Option<String>,
    #[schema(example = "profile.md")]
    file: String,
    /// Zero if the line was removed.
    line: usize,
    before: Option<String>,
    after: Option<String>,
}

impl From<&PlanStep> for VaultChange {
    fn from(step: &PlanStep) -> Self {
        Self {
            what: step.what.as_str(),
            memory_id: step.fact.map(|fact| fact.to_string()),
            episode_id: match &step.what {
                PlannedChange::Episode { id, .. } => Some(id.to_string()),
                _ => None,
            },
            file: step.file.clone(),
            line: step.line,
            before: step.before.clone(),
            after: step.after.clone(),
        }
    }
}

/// A line that was edited both in the files and on the server. Neither is changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultConflict {
    memory_id: String,
    file: String,
    line: usize,
    /// The common ancestor.
    base: Option<String>,
    /// The content in the file; null if the line was removed.
    theirs: Option<String>,
    /// The content on the server; null if it was removed.
    ours: Option<String>,
}

impl From<&SyncConflict> for VaultConflict {
    fn from(conflict: &SyncConflict) -> Self {
        Self {
            memory_id: conflict.fact.to_string(),
            file: conflict.file.clone(),
            line: conflict.line,
            base: conflict.base.clone(),
            theirs: conflict.theirs.clone(),
            ours: conflict.ours.clone(),
        }
    }
}

/// A line that cannot be synced. It is left unchanged.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultProblem {
    file: String,
    line: usize,
    /// The problem, and how to fix it.
    what: String,
}

impl From<&FileProblem> for VaultProblem {
    fn from(problem: &FileProblem) -> Self {
        Self { file: problem.file.clone(), line: problem.line, what: problem.what.clone() }
    }
}

/// Preview of a sync.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultPlan {
    changes: Vec<VaultChange>,
    /// How many memories are restored that never existed on this server.
    restores: usize,
    conflicts: Vec<VaultConflict>,
    problems: Vec<VaultProblem>,
    /// Whether this server signed `.lukasa/base.jsonl` for this user, and it has not been changed
    /// since. Memories restored from any other base have the origin `import`.
    base_signed: bool,
}

impl From<&SyncPlan> for VaultPlan {
    fn from(plan: &SyncPlan) -> Self {
        let mut restored: Vec<_> = plan.restores.iter().map(|version| version.fact).collect();
        restored.sort_unstable();
        restored.dedup();
        Self {
            changes: plan.steps.iter().map(VaultChange::from).collect(),
            restores: restored.len(),
            conflicts: plan.conflicts.iter().map(VaultConflict::from).collect(),
            problems: plan.problems.iter().map(VaultProblem::from).collect(),
            base_signed: plan.base_signed,
        }
    }
}

/// Result of a sync.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultSynced {
    /// The operation that undo reverses as a whole; null if nothing was written.
    operation_id: Option<String>,
    #[serde(flatten)]
    done: VaultPlan,
    /// The new content of the folder.
    files: Vec<VaultFile>,
}

impl VaultSynced {
    /// The answer without the files, which are sent from where they were written.
    fn of<S>(synced: &SyncReport<S>) -> Self {
        Self {
            operation_id: synced.operation.map(|id| id.to_string()),
            done: VaultPlan::from(&synced.plan),
            files: Vec::new(),
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VaultQuery {
    /// Also return the conversations, in `conversations/`: the latest ones, up to 2,000 and 16 MiB.
    #[serde(default)]
    conversations: bool,
}

/// Get a user's memory as markdown files, to read, edit and keep.
///
/// `.lukasa/base.jsonl` contains what the lines do not show, so that a sync loses nothing.
#[utoipa::path(get, path = "/api/vault", tag = "vault", params(VaultQuery), responses(
    (status = 200, body = VaultView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_vault(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<VaultQuery>,
) -> Result<Response, Problem> {
    app.limits().take_bulk_slot(&caller).await?;
    let vault = &app.engine().vault;
    let more = match query.conversations {
        true => vault.export_conversations(&caller, app.now()).await?,
        false => Vec::new(),
    };
    let spool = SpooledFiles::open().map_err(|error| spool_problem(&error))?;
    let spool = vault.export(&caller, more, app.now(), spool).await?;
    let view = |sha256| around_files(&VaultView { files: Vec::new(), sha256 });
    let head = view(String::new()).0;
    let sent = spool.into_response(head, move |sha256| view(sha256).1).await;
    sent.map_err(|error| spool_problem(&error))
}

/// The JSON of an answer without files, before and after their place.
fn around_files(answer: &impl Serialize) -> (String, String) {
    const LIST: &str = "\"files\":[";
    let json = serde_json::to_string(answer).unwrap_or_default();
    // Quotes inside a value are escaped, so this is the field.
    let at = json.rfind(LIST).map_or(json.len(), |at| at + LIST.len());
    let (head, tail) = json.split_at(at);
    (head.to_owned(), tail.to_owned())
}

fn spool_problem(error: &std::io::Error) -> Problem {
    tracing::error!(%error, "could not write the files of a vault to a temporary file");
    Problem::of(ErrorCode::Internal)
}

/// Preview a sync of these files.
///
/// Lists the edits since the files were exported, and the conflicts with edits on the server.
/// Writes nothing.
#[utoipa::path(post, path = "/api/vault/plan", tag = "vault", request_body = VaultFiles,
    responses(
    (status = 200, body = VaultPlan),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn plan_vault(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: JsonRequest<VaultFiles>,
) -> Result<Json<VaultPlan>, Problem> {
    let files = sent.body.checked()?;
    Ok(Json(VaultPlan::from(&app.engine().vault.plan(&caller, &files, app.now()).await?)))
}

/// Apply the edits in these files as one operation.
///
/// Lines that were also edited on the server stay unchanged in both places; unchanged lines write
/// nothing. With an empty memory, everything is restored.
#[utoipa::path(post, path = "/api/vault", tag = "vault", request_body = VaultFiles, responses(
    (status = 200, body = VaultSynced),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn sync_vault(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<VaultFiles>,
) -> Result<Response, Problem> {
    let files = sent.body.checked()?;
    let (engine, request, trust) = (app.engine().clone(), sent.request(caller), sent.body.trust);
    let spool = SpooledFiles::open().map_err(|error| spool_problem(&error))?;
    let work = async move { engine.vault.apply(&request, &files, trust, spool).await };
    let synced = app.detached(work).await?;
    let (head, tail) = around_files(&VaultSynced::of(&synced));
    let sent = synced.files.into_response(head, move |_| tail).await;
    sent.map_err(|error| spool_problem(&error))
}

/// A command of an assistant's memory tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum VaultCommand {
    View {
        #[schema(example = "/memories")]
        path: String,
        /// First and last line; -1 is the end.
        #[serde(default)]
        view_range: Option<(i64, i64)>,
    },
    Create {
        path: String,
        file_text: String,
    },
    StrReplace {
        path: String,
        old_str: String,
        #[serde(default)]
        new_str: String,
    },
    Insert {
        path: String,
        insert_line: i64,
        insert_text: String,
    },
    Delete {
        path: String,
    },
    Rename {
        old_path: String,
        new_path: String,
    },
}

impl From<VaultCommand> for Command {
    fn from(command: VaultCommand) -> Self {
        match command {
            VaultCommand::View { path, view_range } => Command::View { path, range: view_range },
            VaultCommand::Create { path, file_text } => Command::Create { path, text: file_text },
            VaultCommand::StrReplace { path, old_str, new_str } => {
                Command::Replace { path, old: old_str, new: new_str }
            }
            VaultCommand::Insert { path, insert_line, insert_text } => {
                Command::Insert { path, line: insert_line, text: insert_text }
            }
            VaultCommand::Delete { path } => Command::Delete { path },
            VaultCommand::Rename { old_path, new_path } => {
                Command::Rename { from: old_path, to: new_path }
            }
        }
    }
}

/// Result of a memory tool command.
#[derive(Debug, Serialize, ToSchema)]
pub struct VaultAnswer {
    /// Text to give the assistant as the tool's result.
    #[schema(example = "The memory file has been edited.")]
    text: String,
    /// Whether the tool's result is an error.
    is_error: bool,
    /// The operation that undo reverses; null if nothing was written.
    operation_id: Option<String>,
}

impl From<CommandAnswer> for VaultAnswer {
    fn from(CommandAnswer { text, failed, operation }: CommandAnswer) -> Self {
        Self { text, is_error: failed, operation_id: operation.map(|id| id.to_string()) }
    }
}

/// Run one command of the memory tool (`memory_20250818`) on the files of the vault.
///
/// Paths are under `/memories`. An edit is a versioned change, deleting is forgetting, and each
/// command can be undone. The files have what belongs to the project of the request and to none.
#[utoipa::path(post, path = "/api/vault/commands", tag = "vault",
    request_body = VaultCommand, responses(
    (status = 200, body = VaultAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn run_vault_command(
    State(app): State<App>,
    Writer(caller): Writer,
    asked: AskedProject,
    sent: JsonRequest<VaultCommand>,
) -> Result<Json<VaultAnswer>, Problem> {
    // The memory tool is used by an assistant, whatever credential it has.
    let caller = caller.through_a_model();
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let command = Command::from(sent.body);
    let projects = asked.scope_or_none();
    let work = async move { engine.vault.command(&request, &command, &projects).await };
    Ok(Json(VaultAnswer::from(app.detached(work).await?)))
}
