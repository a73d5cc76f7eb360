//! Export and import of a user's whole memory.

use std::io::{Cursor, Read as _};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use lukasa_core::import::{Format, ImportCounts, ImportItem};
use lukasa_core::{FactId, ImportId, Timestamp};
use lukasa_engine::archive::{
    ArchiveTrust, DecidedImport, Estimate, ITEMS_AT_ONCE, ImportDecision, ImportOptions,
    ImportRecord, ImportReport, ImportSource, ImportWaiting, UndoneImport,
};
use lukasa_engine::{Error, Request};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::{IntoParams, ToSchema};

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::body::{MAX_LINES_VALUES, ReadBody};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams, QueryParams};
use crate::api::wire::{MemoryEvent, WriteResult};
use crate::archive;

/// Size of the chunks in which an export is sent.
const CHUNK_BYTES: usize = 256 * 1024;

/// Export everything stored about the user as one ZIP.
///
/// It contains JSON lines for programs, markdown for people, and a manifest with the SHA-256 of
/// every file. `docs/export-import.md` documents each field.
#[utoipa::path(get, path = "/api/export", tag = "archive", responses(
    (status = 200, body = [u8], content_type = "application/zip"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn export(State(app): State<App>, Reader(caller): Reader) -> Result<Response, Problem> {
    app.limits().take_bulk_slot(&caller).await?;
    let (engine, now) = (app.engine().clone(), app.now());
    let packed = archive::pack(&engine, &caller, now).await.map_err(export_problem)?;
    let length = packed.metadata().map_err(|error| export_problem(error.into()))?.len();
    let pieces = stream::try_unfold(packed, |mut file| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; CHUNK_BYTES];
            let count = file.read(&mut piece)?;
            piece.truncate(count);
            Ok::<_, std::io::Error>((piece, file))
        });
        let (piece, file) = read.await.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!piece.is_empty()).then(|| (Bytes::from(piece), file)))
    });
    let name = format!("attachment; filename=\"lukasa-{}.zip\"", now.strftime("%Y-%m-%d"));
    let headers = [
        (CONTENT_TYPE, "application/zip".to_owned()),
        (CONTENT_LENGTH, length.to_string()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

/// The problem of a failed export: the engine's error, or an internal one if packing failed.
fn export_problem(error: anyhow::Error) -> Problem {
    match error.downcast::<Error>() {
        Ok(error) => error.into(),
        Err(error) => {
            tracing::error!(%error, "could not pack the export");
            Problem::of(ErrorCode::Internal)
        }
    }
}

/// Query parameters of an import.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportQuery {
    /// The source format: `mem0`, `mcp`, `chatgpt`, `claude`, `basic-memory` or `jsonl`. A ZIP is
    /// always an export of Lukasa.
    format: Option<String>,
    /// A digest of the whole source, or another stable name for it. All requests with the same
    /// value belong to the same import.
    source: Option<String>,
    /// A display name, such as the name of the file.
    name: Option<String>,
    /// Only report the result, without writing anything.
    #[serde(default)]
    dry_run: bool,
    /// Trust an export that this server did not sign for this user: keep its origins, consents,
    /// policy and log. Accepted only from the user; from a key it has no effect.
    #[serde(default)]
    trust: bool,
}

impl ImportQuery {
    fn source(&self, format: Format, bytes: &[u8]) -> Result<ImportSource, Problem> {
        let digest = self.source.clone().unwrap_or_else(|| hex::encode(Sha256::digest(bytes)));
        let name = self.name.clone().unwrap_or_default();
        let fits = |text: &str| text.chars().count() <= 255 && !text.chars().any(char::is_control);
        if fits(&digest) && fits(&name) {
            return Ok(ImportSource { format, digest, name });
        }
        Err(Problem::of(ErrorCode::MalformedQuery)
            .because("`source` and `name` have at most 255 characters"))
    }

    fn format(&self) -> Result<Format, Problem> {
        let named = self.format.as_deref().unwrap_or("jsonl");
        let known = Format::parse(named).filter(|format| *format != Format::Lukasa);
        known.ok_or_else(|| {
            Problem::of(ErrorCode::MalformedQuery).because("`format` is not supported")
        })
    }
}

/// Counts of imported and skipped items.
#[derive(Debug, Serialize, ToSchema)]
pub struct CountsView {
    /// New memories.
    memories: usize,
    /// Memories that wait for the user's consent.
    proposals: usize,
    /// Items that exist already, or existed and were removed by the user.
    known: usize,
    links: usize,
    episodes: usize,
    chats: usize,
    turns: usize,
    observations: usize,
    /// Items left out because they look like a secret.
    secrets: usize,
    /// Items left out for another reason.
    left_out: usize,
}

impl From<ImportCounts> for CountsView {
    fn from(counts: ImportCounts) -> Self {
        let ImportCounts {
            memories,
            proposals,
            known,
            links,
            episodes,
            chats,
            turns,
            observations,
            secrets,
            left_out,
        } = counts;
        Self {
            memories,
            proposals,
            known,
            links,
            episodes,
            chats,
            turns,
            observations,
            secrets,
            left_out,
        }
    }
}

/// Estimated chat model cost of learning from the sessions; zeroes if no model is configured.
#[derive(Debug, Serialize, ToSchema)]
pub struct EstimateView {
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// In millionths of the currency of the configured prices.
    cost_micros: u64,
    seconds: u64,
}

impl From<Estimate> for EstimateView {
    fn from(estimate: Estimate) -> Self {
        let Estimate { calls, input_tokens, output_tokens, cost_micros, seconds } = estimate;
        Self { calls, input_tokens, output_tokens, cost_micros, seconds }
    }
}

/// Whether an export is trusted. An untrusted one is imported with the origin `import`, without
/// consents or confirmations, and its rules, instructions and sensitive memories wait for consent.
#[derive(Debug, Serialize, ToSchema)]
pub struct ArchiveTrustView {
    /// Whether this server signed it for this user, and it has not been changed since.
    signed_here: bool,
    /// Whether it is imported unchanged.
    trusted: bool,
}

impl From<ArchiveTrust> for ArchiveTrustView {
    fn from(ArchiveTrust { signed_here, trusted }: ArchiveTrust) -> Self {
        Self { signed_here, trusted }
    }
}

/// Result or preview of an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportReportView {
    import_id: String,
    /// The operations it wrote, in order.
    operation_ids: Vec<String>,
    counts: CountsView,
    estimate: EstimateView,
    /// Null unless it is an export of Lukasa.
    archive: Option<ArchiveTrustView>,
}

impl From<ImportReport> for ImportReportView {
    fn from(taken: ImportReport) -> Self {
        Self {
            import_id: taken.import.to_string(),
            operation_ids: taken.operations.iter().map(ToString::to_string).collect(),
            counts: taken.counts.into(),
            estimate: taken.estimate.into(),
            archive: taken.archive.map(ArchiveTrustView::from),
        }
    }
}

/// Import memories and sessions.
///
/// The body is an export of Lukasa as a ZIP, or up to 500 items of another program as JSON lines.
/// Nothing is imported twice, and nothing that was removed since is restored.
#[utoipa::path(post, path = "/api/import", tag = "archive", params(ImportQuery),
    request_body(content = String, content_type = "application/jsonl",
        description = "Items, one on each line, as docs/export-import.md has them; or a ZIP as application/zip"),
    responses(
    (status = 200, body = ImportReportView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn import(
    State(app): State<App>,
    Writer(caller): Writer,
    QueryParams(query): QueryParams<ImportQuery>,
    request: HttpRequest,
) -> Result<Json<ImportReportView>, Problem> {
    let headers = request.headers().clone();
    let budget = &app.limits().bodies;
    let mut read = ReadBody::read(budget, request).await?;
    let bytes = read.bytes.clone();
    let (engine, request) = (app.engine().clone(), Request::new(caller, app.moment()));
    let dry = query.dry_run;
    let taken = match body_format(&headers)? {
        BodyFormat::Archive => {
            let source = query.source(Format::Lukasa, &bytes)?;
            let limit = app.limits().import_unpacked_bytes;
            let opened =
                blocking(move || archive::CheckedArchive::check(Cursor::new(bytes), limit)).await?;
            // The text of the files, and about the same again for the parsed values.
            let unpacked_bytes = usize::try_from(opened.unpacked_bytes()).unwrap_or(usize::MAX);
            read.reserve(budget, unpacked_bytes.saturating_mul(2)).await?;
            let unpacked = blocking(move || opened.unpack()).await?;
            let options = ImportOptions { dry_run: dry, trust: query.trust };
            let work = async move {
                engine.archives.import_archive(&request, &source, unpacked, options).await
            };
            app.detached(work).await?
        }
        BodyFormat::Items => {
            let source = query.source(query.format()?, &bytes)?;
            read.check_json(budget, MAX_LINES_VALUES).await?;
            let parse = move || {
                let items = serde_json::Deserializer::from_slice(&bytes).into_iter::<ImportItem>();
                // One item over the limit is enough for the engine to refuse the request.
                items.take(ITEMS_AT_ONCE + 1).collect::<Result<Vec<ImportItem>, _>>()
            };
            let items = tokio::task::spawn_blocking(parse).await;
            let items = items.map_err(|_| Problem::of(ErrorCode::Internal))?;
            let items = items.map_err(|error| {
                Problem::of(ErrorCode::MalformedBody).because(&error.to_string())
            })?;
            let work =
                async move { engine.archives.import_items(&request, &source, &items, dry).await };
            app.detached(work).await?
        }
    };
    Ok(Json(taken.into()))
}

/// Opens or unpacks an archive on a blocking thread.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let done =
        tokio::task::spawn_blocking(work).await.map_err(|_| Problem::of(ErrorCode::Internal))?;
    done.map_err(|error| Problem::of(ErrorCode::MalformedArchive).because(&format!("{error:#}")))
}

/// Format of an import's body.
enum BodyFormat {
    Archive,
    Items,
}

fn body_format(headers: &HeaderMap) -> Result<BodyFormat, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    match kind.split(';').next().map_or("", str::trim) {
        "application/zip" => Ok(BodyFormat::Archive),
        "application/jsonl" | "application/x-ndjson" | "application/json" => Ok(BodyFormat::Items),
        _ => Err(Problem::of(ErrorCode::UnsupportedMediaType)),
    }
}

/// A past import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportView {
    id: String,
    #[schema(example = "mem0")]
    format: String,
    name: String,
    started_at: Timestamp,
    last_at: Timestamp,
    /// The operations that it wrote and those of the decisions about it, in order.
    operation_ids: Vec<String>,
    counts: CountsView,
    /// How many of its memories wait for the user's decision: they are found by search, but are in
    /// no prompt.
    undecided: usize,
    /// When it was undone, if it was.
    undone_at: Option<Timestamp>,
}

impl From<(ImportRecord, ImportWaiting)> for ImportView {
    fn from((import, waiting): (ImportRecord, ImportWaiting)) -> Self {
        Self {
            id: import.id.to_string(),
            format: import.format,
            name: import.name,
            started_at: import.started_at,
            last_at: import.last_at,
            operation_ids: import.operations.iter().map(ToString::to_string).collect(),
            counts: import.counts.into(),
            undecided: waiting.undecided,
            undone_at: import.undone_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Imports {
    data: Vec<ImportView>,
}

/// List the latest imports, newest first; at most 200.
#[utoipa::path(get, path = "/api/imports", tag = "archive", responses(
    (status = 200, body = Imports),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_imports(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<Imports>, Problem> {
    let imports = app.engine().archives.imports(&caller, app.now()).await?;
    Ok(Json(Imports { data: imports.into_iter().map(ImportView::from).collect() }))
}

/// The memories of an import that wait for the user's decision.
#[derive(Debug, Serialize, ToSchema)]
pub struct UndecidedView {
    /// At most 1,000, in the order of the import.
    memory_ids: Vec<String>,
}

/// List the memories of an import that wait for the user's decision.
#[utoipa::path(get, path = "/api/imports/{id}/undecided", tag = "archive", params(
    ("id" = String, Path, description = "The import")), responses(
    (status = 200, body = UndecidedView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_undecided(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
) -> Result<Json<UndecidedView>, Problem> {
    let request = Request::new(caller, app.moment());
    let undecided = app.engine().archives.undecided(&request, import_id(&id)?).await?;
    Ok(Json(UndecidedView { memory_ids: undecided.iter().map(ToString::to_string).collect() }))
}

/// Which memories of an import are used in prompts.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ImportUse {
    /// Every memory that waits for the decision.
    All,
    /// The memories in `memory_ids`.
    Chosen,
}

/// The user's decision about an import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideImport {
    #[serde(rename = "use")]
    usage: ImportUse,
    /// Only with `chosen`: 1 to 1,000 memories of the import.
    #[serde(default)]
    memory_ids: Vec<String>,
}

impl DecideImport {
    fn decision(&self) -> Result<ImportDecision, Error> {
        match self.usage {
            ImportUse::All if self.memory_ids.is_empty() => Ok(ImportDecision::All),
            ImportUse::All => Err(Error::invalid("memory_ids", "only with `use`: `chosen`")),
            ImportUse::Chosen => {
                let ids = self.memory_ids.iter().map(|id| id.parse::<FactId>());
                let ids = ids.collect::<Result<Vec<FactId>, _>>();
                let ids = ids.map_err(|_| Error::invalid("memory_ids", "ids of memories"))?;
                Ok(ImportDecision::Chosen(ids))
            }
        }
    }
}

/// Result of a decision about an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportDecisionView {
    event: MemoryEvent,
    #[schema(example = "Confirmed: 42")]
    message: String,
    /// How many memories were confirmed.
    confirmed: usize,
    /// How many memories of the import still wait. One request confirms at most 1,000; repeat it
    /// for the rest.
    undecided: usize,
    /// How many proposals of the import wait in `GET /api/review`. A decision accepts none of them.
    proposals: usize,
}

impl From<DecidedImport> for ImportDecisionView {
    fn from(decided: DecidedImport) -> Self {
        let WriteResult { mut event, message, .. } = WriteResult::from(&decided.outcome);
        event.memory_ids = decided.confirmed.iter().map(ToString::to_string).collect();
        let ImportWaiting { undecided, proposals } = decided.waiting;
        Self { event, message, confirmed: decided.confirmed.len(), undecided, proposals }
    }
}

/// Decide which memories of an import are used in prompts.
///
/// Confirms all memories of the import that wait, or the chosen ones, as one operation that can be
/// undone. Memories that were changed, removed or confirmed since are left as they are, and
/// proposals keep waiting for their own answers. Only the user may decide.
#[utoipa::path(post, path = "/api/imports/{id}/decision", tag = "archive", params(
    ("id" = String, Path, description = "The import")), request_body = DecideImport, responses(
    (status = 200, body = ImportDecisionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn decide_import(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<DecideImport>,
) -> Result<Json<ImportDecisionView>, Problem> {
    let (id, decision) = (import_id(&id)?, sent.body.decision()?);
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move { engine.archives.decide_import(&request, id, &decision).await };
    Ok(Json(app.detached(work).await?.into()))
}

fn import_id(id: &str) -> Result<ImportId, Problem> {
    id.parse().map_err(|_| Problem::of(ErrorCode::ImportNotFound))
}

/// Result of undoing an import.
#[derive(Debug, Serialize, ToSchema)]
pub struct UndoneView {
    import_id: String,
    /// How many of its operations were undone.
    operations: usize,
    /// How many sessions were moved into the trash.
    chats: usize,
    /// How many memories stay because they were changed, confirmed one by one or removed since.
    kept: usize,
}

impl From<UndoneImport> for UndoneView {
    fn from(undone: UndoneImport) -> Self {
        let UndoneImport { import, operations, chats, kept } = undone;
        Self { import_id: import.id.to_string(), operations, chats, kept }
    }
}

/// Undo an import.
///
/// Its memories and the decisions about them are undone, and its sessions and observations are moved
/// into the trash, from which they can be restored for thirty days by undoing these operations. What
/// was changed since stays as it is. A key of an assistant or of an import undoes only an import that it
/// made itself.
#[utoipa::path(post, path = "/api/imports/{id}/undo", tag = "archive", params(
    ("id" = String, Path, description = "The import")), responses(
    (status = 200, body = UndoneView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn undo_import(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<UndoneView>, Problem> {
    let id = import_id(&id)?;
    let (engine, request) = (app.engine().clone(), Request::new(caller, app.moment()));
    let work = async move { engine.archives.undo_import(&request, id).await };
    Ok(Json(app.detached(work).await?.into()))
}
