//! `lukasa import`

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lukasa_core::import::{
    ChatItem, Format, ImportCounts, ImportItem, ParsedImport, basic_memory, chatgpt, claude, lines,
    mcp, mem0,
};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};
use crate::archive::{self, CheckedArchive};
use crate::url::encoded;

/// Most items, turns and bytes of one request. Small enough for a progress bar to move.
const BATCH_ITEMS: usize = 200;
const BATCH_TURNS: usize = 200;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// The largest file that is read from a ZIP.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  lukasa import alice.zip                      an export of this server
  lukasa import --trust alice.zip              your own export of another server
  lukasa import chatgpt export.zip --dry-run   show what would happen, and what learning would cost
  lukasa import mem0 memories.json
  lukasa import mem0 memories.json --use all   use the imported memories in prompts at once
  lukasa import basic-memory ~/notes
  lukasa import list
  lukasa import undo imp_...                   undo the whole import

An interrupted import continues when it is run again, and a second run adds nothing. Content that looks
like a secret is left out; instructions and sensitive content become proposals: `GET /api/review`.
Imported memories are found by search, and used in prompts once you decide so: `--use all`.
docs/export-import.md describes how each format is read."
)]
pub struct ImportArgs {
    #[command(subcommand)]
    from: Option<Source>,
    /// An export of Lukasa
    #[arg(value_name = "FILE.zip")]
    file: Option<PathBuf>,
    /// Trust an export that this server did not sign: keep its origins, consents, policy and log
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Only show what would happen
    #[arg(long)]
    dry_run: bool,
    /// Which of the imported memories to use in prompts; only the user may decide, not an assistant's key
    #[arg(long = "use", value_name = "WHICH")]
    usage: Option<UseImported>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The decision about the memories of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UseImported {
    /// Every imported memory except proposals
    All,
}

#[derive(Debug, Args)]
struct Place {
    /// The file, ZIP or folder
    path: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Subcommand)]
enum Source {
    /// mem0: the result of get_all, or an export, as JSON or JSON lines
    Mem0 {
        /// Import only this user's memories, if the file has several users
        #[arg(long, value_name = "ID")]
        source_user: Option<String>,
        #[command(flatten)]
        at: Place,
    },
    /// The reference MCP memory server: its memory.jsonl
    Mcp(Place),
    /// ChatGPT: the ZIP of a data export, its folder, or conversations.json
    Chatgpt(Place),
    /// Claude: the ZIP of a data export, its folder, or conversations.json
    Claude(Place),
    /// basic-memory: a folder of markdown notes
    BasicMemory(Place),
    /// One memory per line, as a JSON string or an object with `content`
    Jsonl(Place),
    /// List the imports
    List {
        #[command(flatten)]
        server: ServerArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Undo an import
    Undo {
        /// The import's id, as `lukasa import list` shows it
        id: String,
        #[command(flatten)]
        server: ServerArgs,
        #[command(flatten)]
        format: FormatArgs,
    },
}

impl ImportArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let (format, at, parsed) = match self.from {
            None => {
                let Some(file) = self.file else {
                    bail!("no export and no format is named; see `lukasa import --help`");
                };
                return import_archive(&file, self.trust, &self.how).await;
            }
            Some(Source::List { server, format }) => return list(&server, &format).await,
            Some(Source::Undo { id, server, format }) => return undo(&id, &server, &format).await,
            Some(Source::Mem0 { source_user, at }) => {
                let text = read(&at.path, &[])?;
                let users = mem0::users(&text);
                ensure!(
                    users.len() < 2 || source_user.is_some(),
                    "the file has memories of {} users; choose one with --source-user",
                    users.len()
                );
                let parsed = mem0::parse(&text, source_user.as_deref());
                (Format::Mem0, at, parsed)
            }
            Some(Source::Mcp(at)) => {
                let parsed = mcp::parse(&read(&at.path, &["memory.jsonl", "memory.json"])?);
                (Format::Mcp, at, parsed)
            }
            Some(Source::Chatgpt(at)) => {
                let parsed = parse_chats(&at.path, chatgpt::parse)?;
                (Format::ChatGpt, at, parsed)
            }
            Some(Source::Claude(at)) => {
                let mut parsed = parse_chats(&at.path, claude::parse)?;
                // Claude's own memories may be in a file beside the conversations.
                let alone = at.path.extension().is_some_and(|ending| ending == "json");
                if let Ok(text) = read(&at.path, &["memories.json"])
                    && !alone
                {
                    parsed.append(claude::memories(&text));
                }
                (Format::Claude, at, parsed)
            }
            Some(Source::BasicMemory(at)) => {
                let parsed = basic_memory::parse(&notes(&at.path)?);
                (Format::BasicMemory, at, parsed)
            }
            Some(Source::Jsonl(at)) => {
                let parsed = lines::parse(&read(&at.path, &[])?);
                (Format::Lines, at, parsed)
            }
        };
        import_items(format, &at, parsed).await
    }
}

/// Parses the chats of an export: a file, or from a ZIP or a folder `conversations.json` and the
/// numbered files such as `conversations-001.json` that a large export has.
fn parse_chats(path: &Path, parse: fn(&str) -> ParsedImport) -> anyhow::Result<ParsedImport> {
    let read_error = || format!("cannot read {}", path.display());
    let mut files = BTreeSet::new();
    let mut add = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or(name);
        files.extend(chat_file_number(file).map(|number| (number, name.to_owned())));
    };
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(read_error)? {
            add(&entry?.file_name().to_string_lossy());
        }
    } else if is_zip(path) {
        let zip = open_zip(path)?;
        zip.file_names().flatten().for_each(|name| add(&name));
    } else {
        return Ok(parse(&read(path, &[])?));
    }
    ensure!(!files.is_empty(), "there is no conversations.json in {}", path.display());
    let mut parsed = ParsedImport::default();
    for (_, name) in &files {
        parsed.append(parse(&read(path, &[name.as_str()])?));
    }
    Ok(parsed)
}

/// The number of a file of chats: 0 for `conversations.json`, 1 for `conversations-001.json`.
fn chat_file_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("conversations")?.strip_suffix(".json")?;
    match number.strip_prefix(['-', '_']) {
        None => number.is_empty().then_some(0),
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        }
    }
}

fn is_zip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"))
}

fn open_zip(path: &Path) -> anyhow::Result<zip::ZipArchive<BufReader<File>>> {
    let read_error = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(read_error)?;
    zip::ZipArchive::new(BufReader::new(file)).with_context(read_error)
}

/// Reads a file; from a ZIP or a folder, the first of `names` that it has.
fn read(path: &Path, names: &[&str]) -> anyhow::Result<String> {
    let read_error = || format!("cannot read {}", path.display());
    let bytes = if path.is_dir() {
        let file = names.iter().map(|name| path.join(name)).find(|file| file.is_file());
        let Some(file) = file else {
            bail!("there is no {} in {}", names.join(" or "), path.display());
        };
        std::fs::read(file).with_context(read_error)?
    } else if is_zip(path) {
        let mut zip = open_zip(path)?;
        let all: Vec<String> =
            zip.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
        // An export may have a folder around everything.
        let is = |found: &str, name: &str| found == name || found.ends_with(&format!("/{name}"));
        let found = names.iter().find_map(|name| all.iter().find(|found| is(found, name)));
        let Some(found) = found else {
            bail!("there is no {} in {}", names.join(" or "), path.display());
        };
        archive::read(&mut zip.by_name(found).with_context(read_error)?, &mut { MAX_FILE_BYTES })?
    } else {
        std::fs::read(path).with_context(read_error)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Every markdown file below a folder, in the order of their names; hidden files are skipped.
fn notes(folder: &Path) -> anyhow::Result<Vec<basic_memory::NoteFile>> {
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    let (mut folders, mut notes) = (vec![folder.to_path_buf()], BTreeMap::new());
    while let Some(next) = folders.pop() {
        let read_error = || format!("cannot read {}", next.display());
        for entry in std::fs::read_dir(&next).with_context(read_error)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                let bytes = std::fs::read(&path).with_context(read_error)?;
                notes.insert(name, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    Ok(notes.into_iter().collect())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The path of an import request with these query parameters.
fn import_path(parameters: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", encoded(value));
    format!("/api/import?{}", parameters.iter().map(pair).collect::<Vec<_>>().join("&"))
}

async fn import_archive(file: &Path, trust: bool, how: &How) -> anyhow::Result<()> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    CheckedArchive::check(std::io::Cursor::new(&bytes), archive::MAX_UNPACKED_BYTES)
        .with_context(|| format!("{} is not an export of Lukasa", file.display()))?;
    let word = |yes: bool| if yes { "true" } else { "false" };
    let (dry_run, trust) = (word(how.dry_run), word(trust));
    let path = import_path(&[("name", &name_of(file)), ("dry_run", dry_run), ("trust", trust)]);
    let request = how.server.request(Method::POST, &path)?;
    let request = request.header(CONTENT_TYPE, "application/zip").body(bytes);
    let taken: Value = how.server.send(request).await?.json().await?;
    let mut total = Total::default();
    total.add(&taken)?;
    total.decide(how).await?;
    total.report(how, 0)
}

/// The sums of all requests of one import.
#[derive(Default)]
struct Total {
    import: String,
    counts: ImportCounts,
    estimate: BTreeMap<String, u64>,
    /// How far an export is trusted; null for anything else.
    archive: Value,
    /// How many memories `--use all` confirmed, and how many wait for the user's decision.
    confirmed: u64,
    undecided: u64,
}

impl Total {
    fn add(&mut self, taken: &Value) -> anyhow::Result<()> {
        self.import = taken["import_id"].as_str().unwrap_or_default().to_owned();
        let counts: ImportCounts = serde_json::from_value(taken["counts"].clone())
            .context("the server's response could not be read")?;
        self.counts.add(&counts);
        self.archive = taken["archive"].clone();
        for (name, value) in taken["estimate"].as_object().into_iter().flatten() {
            *self.estimate.entry(name.clone()).or_default() += value.as_u64().unwrap_or(0);
        }
        Ok(())
    }

    /// Confirms the imported memories if `--use all` was given, and counts those that wait.
    async fn decide(&mut self, how: &How) -> anyhow::Result<()> {
        if how.dry_run {
            return Ok(());
        }
        if how.usage == Some(UseImported::All) {
            let path = format!("/api/imports/{}/decision", self.import);
            loop {
                let decided = how.server.post(&path, &json!({ "use": "all" })).await?;
                let confirmed = decided["confirmed"].as_u64().unwrap_or(0);
                self.confirmed += confirmed;
                if confirmed == 0 || decided["undecided"] == json!(0) {
                    break;
                }
            }
        }
        let imports = how.server.get("/api/imports").await?;
        let mut imports = imports["data"].as_array().into_iter().flatten();
        let import = imports.find(|import| import["id"] == json!(self.import));
        self.undecided = import.and_then(|import| import["undecided"].as_u64()).unwrap_or(0);
        Ok(())
    }

    fn report(&self, how: &How, unread: usize) -> anyhow::Result<()> {
        if how.format.json {
            return say_json(&json!({
                "import_id": self.import, "dry_run": how.dry_run, "counts": self.counts,
                "unread": unread, "estimate": self.estimate, "archive": self.archive,
                "confirmed": self.confirmed, "undecided": self.undecided,
            }));
        }
        let ImportCounts {
            memories,
            proposals,
            known,
            links,
            chats,
            turns,
            observations,
            secrets,
            left_out,
            ..
        } = self.counts;
        let mut parts = vec![format!("{memories} new")];
        let mut also = |count: usize, words: &str| {
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        };
        also(proposals, "proposed for your review");
        also(links, "links");
        also(chats, &format!("chats with {turns} turns"));
        also(observations, "observations");
        also(known, "known already");
        also(secrets, "left out: looks like a secret");
        also(left_out, "left out: empty, or in a domain that is not open");
        also(unread, "could not be read");
        let would = if how.dry_run { "Would import: " } else { "" };
        say(&format!("{would}{}", parts.join(", ")))?;
        if self.archive["trusted"] == json!(false) {
            let was = if how.dry_run { "would be" } else { "was" };
            say(&format!(
                "This server did not sign the file, so it {was} treated as an import: without consents, \
                 and with rules as proposals.{}",
                if how.dry_run { " If it is yours, pass --trust." } else { "" }
            ))?;
        }
        let of = |name: &str| self.estimate.get(name).copied().unwrap_or(0);
        if of("calls") > 0 {
            let tokens = of("input_tokens") + of("output_tokens");
            let mut words =
                format!("Learning from them takes about {} calls, {tokens} tokens", of("calls"));
            if of("cost_micros") > 0 {
                words.push_str(&format!(", {:.2} at your prices", of("cost_micros") as f64 / 1e6));
            }
            say(&format!("{words}, {} minutes.", of("seconds").div_ceil(60)))?;
        }
        if self.confirmed > 0 {
            say(&format!("{} memories are used in prompts from now on.", self.confirmed))?;
        }
        if self.undecided > 0 {
            say(&format!(
                "{} memories wait: they are found by search, but are in no prompt. Use them with --use all.",
                self.undecided
            ))?;
        }
        if !how.dry_run && self.counts.added_anything() {
            say(&format!("Undo it with: lukasa import undo {}", self.import))?;
        }
        Ok(())
    }
}

async fn import_items(format: Format, at: &Place, parsed: ParsedImport) -> anyhow::Result<()> {
    let how = &at.how;
    let unread = parsed.unread;
    // The same source gets the same import id, so that an interrupted import continues.
    let mut hash = Sha256::new();
    for item in &parsed.items {
        hash.update(serde_json::to_vec(item)?);
        hash.update(b"\n");
    }
    let digest = hex::encode(hash.finalize());
    let items: Vec<ImportItem> = parsed.items.into_iter().flat_map(pieces).collect();
    let bar = progress(items.len());
    let mut total = Total::default();
    let batches = batches(&items)?;
    // An empty source still sends one request, to get an import id and counts.
    for (body, count) in if batches.is_empty() { vec![(String::new(), 0)] } else { batches } {
        let path = import_path(&[
            ("format", format.as_str()),
            ("source", &digest),
            ("name", &name_of(&at.path)),
            ("dry_run", if how.dry_run { "true" } else { "false" }),
        ]);
        let request = how.server.request(Method::POST, &path)?;
        let request = request.header(CONTENT_TYPE, "application/jsonl").body(body);
        let taken: Value = how.server.send(request).await?.json().await?;
        total.add(&taken)?;
        bar.inc(count as u64);
    }
    bar.finish_and_clear();
    total.decide(how).await?;
    total.report(how, unread)
}

/// A long chat in pieces that fit into a request; any other item unchanged.
fn pieces(item: ImportItem) -> Vec<ImportItem> {
    let ImportItem::Chat(chat) = item else { return vec![item] };
    let (mut pieces, mut part, mut bytes, mut before) = (Vec::new(), Vec::new(), 0, 0);
    let of = |before: usize, turns: Vec<_>, last: bool| {
        let (source, title) = (chat.source.clone(), chat.title.clone());
        ImportItem::Chat(ChatItem { source, title, opened_at: chat.opened_at, before, turns, last })
    };
    for turn in &chat.turns {
        let is_full = bytes + turn.content.len() > BATCH_BYTES && !part.is_empty();
        if part.len() >= BATCH_TURNS || is_full {
            let count = part.len();
            pieces.push(of(before, std::mem::take(&mut part), false));
            (before, bytes) = (before + count, 0);
        }
        bytes += turn.content.len();
        part.push(turn.clone());
    }
    pieces.push(of(before, part, true));
    pieces
}

/// The bodies of the requests, and how many items each has.
fn batches(items: &[ImportItem]) -> anyhow::Result<Vec<(String, usize)>> {
    let mut batches: Vec<(String, usize)> = Vec::new();
    let mut turns = 0;
    for item in items {
        let line = serde_json::to_string(item)?;
        let item_turns = if let ImportItem::Chat(chat) = item { chat.turns.len() } else { 0 };
        turns += item_turns;
        match batches.last_mut() {
            Some((body, count))
                if *count < BATCH_ITEMS
                    && body.len() + line.len() < BATCH_BYTES
                    && turns <= BATCH_TURNS =>
            {
                body.push_str(&line);
                body.push('\n');
                *count += 1;
            }
            _ => {
                batches.push((line + "\n", 1));
                turns = item_turns;
            }
        }
    }
    Ok(batches)
}

async fn list(server: &ServerArgs, format: &FormatArgs) -> anyhow::Result<()> {
    let imports = server.get("/api/imports").await?;
    if format.json {
        return say_json(&imports);
    }
    for import in imports["data"].as_array().into_iter().flatten() {
        let text = |name: &str| import[name].as_str().unwrap_or_default().to_owned();
        let what = match import["undone_at"].is_null() {
            true => format!(
                "{} memories, {} chats",
                import["counts"]["memories"].as_u64().unwrap_or(0)
                    + import["counts"]["proposals"].as_u64().unwrap_or(0),
                import["counts"]["chats"]
            ),
            false => "undone".to_owned(),
        };
        let day: String = text("started_at").chars().take(10).collect();
        say(&format!("{}  {day}  {:<12}  {what}  {}", text("id"), text("format"), text("name")))?;
    }
    Ok(())
}

async fn undo(id: &str, server: &ServerArgs, format: &FormatArgs) -> anyhow::Result<()> {
    let undone = server.post(&format!("/api/imports/{id}/undo"), &json!({})).await?;
    if format.json {
        return say_json(&undone);
    }
    let (chats, kept) = (&undone["chats"], undone["kept"].as_u64().unwrap_or(0));
    say(&format!("The import was undone; {chats} chats are in the trash."))?;
    if kept > 0 {
        say(&format!("{kept} memories were changed since and were kept."))?;
    }
    Ok(())
}

fn progress(items: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(items as u64);
    match ProgressStyle::with_template("{pos}/{len} {wide_bar} {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
