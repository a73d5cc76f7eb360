//! `lukasa import`

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use lukasa_core::import::{
    ChatItem, Counts, Format as FileFormat, Item, Parsed, basic_memory, chatgpt, claude, lines,
    mcp, mem0,
};
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::Server;
use super::{Format, say, say_json};
use crate::archive::{self, Opened};

/// How many items, turns and bytes one request brings. Small enough that a bar moves.
const ITEMS: usize = 200;
const TURNS: usize = 200;
const BYTES: usize = 4 * 1024 * 1024;
/// The largest file that is read from a ZIP or a folder.
const FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  lukasa import alice.zip                      an export that this server made
  lukasa import --trust alice.zip              one of yours that another server made
  lukasa import chatgpt export.zip --dry-run   say what would happen, and what learning would cost
  lukasa import mem0 memories.json
  lukasa import basic-memory ~/notes
  lukasa import list
  lukasa import undo imp_...                   take all of it back

An import that broke off goes on where it was when it is run again, and a second run brings nothing.
What looks like a secret is left out; orders and sensitive things wait for your yes: `GET /api/review`.
docs/moving.md says how each file is read."
)]
pub struct Import {
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
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
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
    /// mem0: what get_all gives, or an export, as JSON or JSON lines
    Mem0 {
        /// Take only this user's memories, where the file holds several
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
    /// A memory on each line, as a JSON string or an object with `content`
    Jsonl(Place),
    /// What was taken in so far
    List {
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        format: Format,
    },
    /// Take an import back
    Undo {
        /// The import's id, as `lukasa import list` shows it
        id: String,
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        format: Format,
    },
}

impl Import {
    pub async fn run(self) -> anyhow::Result<()> {
        let (format, at, parsed) = match self.from {
            None => {
                let Some(file) = self.file else {
                    bail!("name an export, or where to import from; see `lukasa import --help`");
                };
                return bring_archive(&file, self.trust, &self.how).await;
            }
            Some(Source::List { server, format }) => return list(&server, &format).await,
            Some(Source::Undo { id, server, format }) => return undo(&id, &server, &format).await,
            Some(Source::Mem0 { source_user, at }) => {
                let text = read(&at.path, &[])?;
                let users = mem0::users(&text);
                ensure!(
                    users.len() < 2 || source_user.is_some(),
                    "the file holds memories of {} users; say whose with --source-user",
                    users.len()
                );
                let parsed = mem0::parse(&text, source_user.as_deref());
                (FileFormat::Mem0, at, parsed)
            }
            Some(Source::Mcp(at)) => {
                let parsed = mcp::parse(&read(&at.path, &["memory.jsonl", "memory.json"])?);
                (FileFormat::Mcp, at, parsed)
            }
            Some(Source::Chatgpt(at)) => {
                let parsed = chatgpt::parse(&read(&at.path, &["conversations.json"])?);
                (FileFormat::ChatGpt, at, parsed)
            }
            Some(Source::Claude(at)) => {
                let mut parsed = claude::parse(&read(&at.path, &["conversations.json"])?);
                // Beside the conversations there may be what Claude itself remembers.
                let alone = at.path.extension().is_some_and(|ending| ending == "json");
                if let Ok(text) = read(&at.path, &["memories.json"])
                    && !alone
                {
                    parsed.append(claude::memories(&text));
                }
                (FileFormat::Claude, at, parsed)
            }
            Some(Source::BasicMemory(at)) => {
                let parsed = basic_memory::parse(&notes(&at.path)?);
                (FileFormat::BasicMemory, at, parsed)
            }
            Some(Source::Jsonl(at)) => {
                let parsed = lines::parse(&read(&at.path, &[])?);
                (FileFormat::Lines, at, parsed)
            }
        };
        bring_items(format, &at, parsed).await
    }
}

/// Reads a file; out of a ZIP or a folder, the first of these that is there.
fn read(path: &Path, names: &[&str]) -> anyhow::Result<String> {
    let told = || format!("cannot read {}", path.display());
    let is_zip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
    let bytes = if path.is_dir() {
        let file = names.iter().map(|name| path.join(name)).find(|file| file.is_file());
        let Some(file) = file else {
            bail!("there is no {} in {}", names.join(" or "), path.display());
        };
        std::fs::read(file).with_context(told)?
    } else if is_zip {
        let file = File::open(path).with_context(told)?;
        let mut zip = zip::ZipArchive::new(BufReader::new(file)).with_context(told)?;
        let all: Vec<String> =
            zip.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
        // An export may have a folder around everything.
        let is = |found: &str, name: &str| found == name || found.ends_with(&format!("/{name}"));
        let found = names.iter().find_map(|name| all.iter().find(|found| is(found, name)));
        let Some(found) = found else {
            bail!("there is no {} in {}", names.join(" or "), path.display());
        };
        archive::read(&mut zip.by_name(found).with_context(told)?, &mut { FILE_BYTES })?
    } else {
        std::fs::read(path).with_context(told)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Every markdown file below a folder, in the order of their names; hidden folders are left alone.
fn notes(folder: &Path) -> anyhow::Result<Vec<basic_memory::Note>> {
    ensure!(folder.is_dir(), "{} is not a folder", folder.display());
    let (mut folders, mut notes) = (vec![folder.to_path_buf()], BTreeMap::new());
    while let Some(next) = folders.pop() {
        let told = || format!("cannot read {}", next.display());
        for entry in std::fs::read_dir(&next).with_context(told)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "md") {
                let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                let bytes = std::fs::read(&path).with_context(told)?;
                notes.insert(name, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    Ok(notes.into_iter().collect())
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The path of an import with these words about it.
fn asking(about: &[(&str, &str)]) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    let escape = |b: u8| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") };
    let pair = |(name, value): &(&str, &str)| {
        format!("{name}={}", value.bytes().map(escape).collect::<String>())
    };
    format!("/api/import?{}", about.iter().map(pair).collect::<Vec<_>>().join("&"))
}

async fn bring_archive(file: &Path, trust: bool, how: &How) -> anyhow::Result<()> {
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Opened::check(std::io::Cursor::new(&bytes), archive::UNPACKED_BYTES)
        .with_context(|| format!("{} is not an export of Lukasa", file.display()))?;
    let word = |yes: bool| if yes { "true" } else { "false" };
    let (dry_run, trust) = (word(how.dry_run), word(trust));
    let path = asking(&[("name", &name_of(file)), ("dry_run", dry_run), ("trust", trust)]);
    let request = how.server.request(Method::POST, &path)?;
    let request = request.header(CONTENT_TYPE, "application/zip").body(bytes);
    let taken: Value = how.server.send(request).await?.json().await?;
    let mut total = Total::default();
    total.add(&taken)?;
    total.tell(how, 0)
}

/// What the requests of one import came to.
#[derive(Default)]
struct Total {
    import: String,
    counts: Counts,
    estimate: BTreeMap<String, u64>,
    /// How far an export is trusted; null for anything else.
    archive: Value,
}

impl Total {
    fn add(&mut self, taken: &Value) -> anyhow::Result<()> {
        self.import = taken["import_id"].as_str().unwrap_or_default().to_owned();
        let counts: Counts = serde_json::from_value(taken["counts"].clone())
            .context("the server's answer could not be read")?;
        self.counts.add(&counts);
        self.archive = taken["archive"].clone();
        for (name, value) in taken["estimate"].as_object().into_iter().flatten() {
            *self.estimate.entry(name.clone()).or_default() += value.as_u64().unwrap_or(0);
        }
        Ok(())
    }

    fn tell(&self, how: &How, unread: usize) -> anyhow::Result<()> {
        if how.format.json {
            return say_json(&json!({
                "import_id": self.import, "dry_run": how.dry_run, "counts": self.counts,
                "unread": unread, "estimate": self.estimate, "archive": self.archive,
            }));
        }
        let Counts { memories, proposals, known, links, chats, turns, secrets, left_out, .. } =
            self.counts;
        let mut said = vec![format!("{memories} new")];
        let mut also = |count: usize, words: &str| {
            if count > 0 {
                said.push(format!("{count} {words}"));
            }
        };
        also(proposals, "held for your yes");
        also(links, "links");
        also(chats, &format!("chats with {turns} turns"));
        also(known, "here already");
        also(secrets, "left out: looks like a secret");
        also(left_out, "left out: empty, or its domain is shut");
        also(unread, "could not be read");
        let would = if how.dry_run { "Would take in: " } else { "" };
        say(&format!("{would}{}", said.join(", ")))?;
        if self.archive["trusted"] == json!(false) {
            let so = if how.dry_run { "would come" } else { "came" };
            say(&format!(
                "This server did not sign the file, so it {so} in as an import: no consents, and rules \
                 wait for your yes.{}",
                if how.dry_run { " If it is yours, say --trust." } else { "" }
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
        if !how.dry_run && self.counts.is_news() {
            say(&format!("To take it back: lukasa import undo {}", self.import))?;
        }
        Ok(())
    }
}

async fn bring_items(format: FileFormat, at: &Place, parsed: Parsed) -> anyhow::Result<()> {
    let how = &at.how;
    let unread = parsed.unread;
    // The same source is the same import, so that one that broke off goes on under its id.
    let mut hash = Sha256::new();
    for item in &parsed.items {
        hash.update(serde_json::to_vec(item)?);
        hash.update(b"\n");
    }
    let digest = archive::hex(&hash.finalize());
    let items: Vec<Item> = parsed.items.into_iter().flat_map(pieces).collect();
    let bar = progress(items.len());
    let mut total = Total::default();
    let batches = batches(&items)?;
    // With nothing to bring, there is still an answer to give.
    for (body, count) in if batches.is_empty() { vec![(String::new(), 0)] } else { batches } {
        let path = asking(&[
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
    total.tell(how, unread)
}

/// A long chat in pieces that fit into a request; anything else as it is.
fn pieces(item: Item) -> Vec<Item> {
    let Item::Chat(chat) = item else { return vec![item] };
    let (mut pieces, mut part, mut bytes, mut before) = (Vec::new(), Vec::new(), 0, 0);
    let of = |before: usize, turns: Vec<_>, last: bool| {
        let (source, title) = (chat.source.clone(), chat.title.clone());
        Item::Chat(ChatItem { source, title, opened_at: chat.opened_at, before, turns, last })
    };
    for turn in &chat.turns {
        if part.len() >= TURNS || (bytes + turn.content.len() > BYTES && !part.is_empty()) {
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

/// The bodies of the requests, and how many items each brings.
fn batches(items: &[Item]) -> anyhow::Result<Vec<(String, usize)>> {
    let mut batches: Vec<(String, usize)> = Vec::new();
    let mut turns = 0;
    for item in items {
        let line = serde_json::to_string(item)?;
        let said = if let Item::Chat(chat) = item { chat.turns.len() } else { 0 };
        turns += said;
        match batches.last_mut() {
            Some((body, count))
                if *count < ITEMS && body.len() + line.len() < BYTES && turns <= TURNS =>
            {
                body.push_str(&line);
                body.push('\n');
                *count += 1;
            }
            _ => {
                batches.push((line + "\n", 1));
                turns = said;
            }
        }
    }
    Ok(batches)
}

async fn list(server: &Server, format: &Format) -> anyhow::Result<()> {
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
            false => "taken back".to_owned(),
        };
        let day: String = text("started_at").chars().take(10).collect();
        say(&format!("{}  {day}  {:<12}  {what}  {}", text("id"), text("format"), text("name")))?;
    }
    Ok(())
}

async fn undo(id: &str, server: &Server, format: &Format) -> anyhow::Result<()> {
    let undone = server.post(&format!("/api/imports/{id}/undo"), &json!({})).await?;
    if format.json {
        return say_json(&undone);
    }
    let (chats, kept) = (&undone["chats"], undone["kept"].as_u64().unwrap_or(0));
    say(&format!("Taken back; {chats} chats are in the trash."))?;
    if kept > 0 {
        say(&format!("{kept} memories were changed since and stay as they are."))?;
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
