//! Parses files into entries after any edits: reordered, moved, with other line ends, without a
//! last one. Text that is neither a memory nor a heading is the user's own note, and is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::episodes::{EpisodeSection, is_episodes, sections};
use super::line::{self, Line, Mark};
use super::read_only::{is_edited, is_portrait};
use super::{BASE, Base, File, FileProblem, Home};
use crate::id::FactId;

/// One line that is, or should become, a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultEntry {
    /// `None` if it is new.
    pub fact: Option<FactId>,
    /// Whether its mark names no memory.
    pub broken: bool,
    pub content: String,
    pub tags: Vec<String>,
    pub hints: Vec<String>,
    pub home: Home,
    /// The heading above it, which all lines below that heading share.
    pub section: Arc<str>,
    pub line: usize,
    /// The original text.
    pub raw: String,
}

/// A paragraph that is not a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultNote {
    pub home: Home,
    /// The heading above it, which all lines below that heading share.
    pub section: Arc<str>,
    pub text: String,
}

/// The parsed files.
#[derive(Debug, Clone, Default)]
pub struct ParsedVault {
    pub base: Base,
    pub entries: Vec<VaultEntry>,
    pub notes: Vec<VaultNote>,
    /// Front matter of the files, by path.
    pub fronts: BTreeMap<String, String>,
    /// The portraits that were edited, which stay as they are.
    pub edited_portraits: Vec<File>,
    /// The sections about episodes.
    pub episodes: Vec<EpisodeSection>,
    pub problems: Vec<FileProblem>,
}

pub fn read(files: &[File]) -> ParsedVault {
    let mut read = ParsedVault::default();
    let mut seen = BTreeSet::new();
    for file in files {
        if !seen.insert(file.path.as_str()) {
            let what = "the file is given twice; only the first is read".to_owned();
            read.problems.push(FileProblem { file: file.path.clone(), line: 0, what });
        } else if file.path == BASE {
            read.base = Base::read(&file.content, &mut read.problems);
        } else if let Some(home) = Home::at(&file.path) {
            page(&file.content, &file.path, &home, &mut read);
        } else if is_episodes(&file.path) {
            read.episodes.extend(sections(&file.content, &file.path));
        } else if is_portrait(&file.path) && is_edited(&file.content) {
            let what = "read-only: edit the memories it cites, and delete this file to have it \
                        written again";
            let (path, what) = (file.path.clone(), what.to_owned());
            read.problems.push(FileProblem { file: path, line: 0, what });
            read.edited_portraits.push(file.clone());
        }
    }
    read
}

/// Maximum length of a heading.
const HEADING_BYTES: usize = 255;

/// Kind of a line of a file.
enum LineKind<'a> {
    Nothing,
    Heading(&'a str),
    Bullet(&'a str),
    /// Indented text under a bullet.
    More(&'a str),
    Text,
}

fn line_kind<'a>(line: &'a str, home: &Home, after_bullet: bool) -> LineKind<'a> {
    let text = line.trim();
    if text.is_empty() {
        return LineKind::Nothing;
    }
    // Every line below a heading has its text. A longer one is a note of the user.
    if let Some(title) = line.strip_prefix("## ").filter(|title| title.len() <= HEADING_BYTES) {
        return LineKind::Heading(title.trim());
    }
    let intro = line.strip_prefix("> ").is_some_and(|text| text.trim_end() == home.introduction());
    if intro || (text.starts_with("→ ") && text.contains("[[")) {
        return LineKind::Nothing;
    }
    for bullet in ["-", "*", "+"] {
        match text.strip_prefix(bullet) {
            Some("") => return LineKind::Nothing,
            Some(rest) if rest.starts_with([' ', '\t']) => return LineKind::Bullet(rest),
            _ => {}
        }
    }
    match line.starts_with([' ', '\t']) && after_bullet {
        true => LineKind::More(text),
        false => LineKind::Text,
    }
}

fn page(content: &str, path: &str, home: &Home, read: &mut ParsedVault) {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let (front, skipped, content) = front(content);
    if !front.is_empty() {
        read.fronts.insert(path.to_owned(), front);
    }
    let mut section: Arc<str> = "".into();
    let mut open: Option<(Vec<Line>, usize, String)> = None;
    let mut note: Vec<&str> = Vec::new();
    let mut titled = false;
    for (number, line) in content.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        let mut kind = line_kind(line, home, open.is_some());
        if !titled && line.starts_with("# ") {
            // The first title is generated; any further one is the user's.
            (titled, kind) = (true, LineKind::Nothing);
        }
        if !matches!(kind, LineKind::More(_)) {
            close(open.take(), home, &section, read);
        }
        if !matches!(kind, LineKind::Text) && !note.is_empty() {
            let text = note.join("\n");
            read.notes.push(VaultNote { home: home.clone(), section: Arc::clone(&section), text });
            note.clear();
        }
        match kind {
            LineKind::Nothing => {}
            LineKind::Heading(title) => section = title.into(),
            LineKind::Bullet(text) => {
                let parsed = line::parse(text);
                open = Some((vec![parsed], skipped + number + 1, line.to_owned()));
            }
            LineKind::More(text) => {
                if let Some((lines, _, raw)) = &mut open {
                    lines.push(line::parse(text));
                    raw.push('\n');
                    raw.push_str(line);
                }
            }
            LineKind::Text => note.push(line),
        }
    }
    close(open, home, &section, read);
    if !note.is_empty() {
        read.notes.push(VaultNote { home: home.clone(), section, text: note.join("\n") });
    }
}

/// A bullet with the lines under it is one entry.
fn close(
    open: Option<(Vec<Line>, usize, String)>,
    home: &Home,
    section: &Arc<str>,
    read: &mut ParsedVault,
) {
    let Some((lines, number, raw)) = open else { return };
    let mut entry = VaultEntry {
        fact: None,
        broken: false,
        content: String::new(),
        tags: Vec::new(),
        hints: Vec::new(),
        home: home.clone(),
        section: Arc::clone(section),
        line: number,
        raw,
    };
    for (count, line) in lines.into_iter().enumerate() {
        if count > 0 && !line.content.is_empty() {
            entry.content.push('\n');
        }
        entry.content.push_str(&line.content);
        entry.tags.extend(line.tags);
        entry.hints.extend(line.hints);
        match line.mark {
            Mark::None => {}
            Mark::Fact(fact) if entry.fact.is_none() => entry.fact = Some(fact),
            Mark::Fact(_) | Mark::Broken => entry.broken = true,
        }
    }
    if !entry.content.is_empty() || entry.fact.is_some() || entry.broken {
        read.entries.push(entry);
    }
}

/// Splits off the front matter between two `---`: its text, its number of lines, and the rest.
fn front(content: &str) -> (String, usize, &str) {
    let none = (String::new(), 0, content);
    let Some(rest) = content.strip_prefix("---\n").or_else(|| content.strip_prefix("---\r\n"))
    else {
        return none;
    };
    let mut at = content.len() - rest.len();
    for (count, line) in rest.split_inclusive('\n').enumerate() {
        at += line.len();
        if line.trim_end() == "---" {
            // Editors may leave several carriage returns at the end of a line.
            let lines = content[..at].split('\n').map(|line| line.trim_end_matches('\r'));
            let front = lines.collect::<Vec<_>>().join("\n");
            let front = if front.ends_with('\n') { front } else { front + "\n" };
            return (front, count + 2, &content[at..]);
        }
    }
    none
}

/// Adds a bullet before every line that is neither empty, a heading nor a bullet: prose that an
/// assistant writes is meant to be remembered.
pub fn as_bullets(content: &str, home: &Home) -> String {
    let bullet = |line: &str| match line_kind(line, home, false) {
        LineKind::Text | LineKind::More(_) if !line.starts_with('#') => {
            format!("- {}", line.trim())
        }
        _ => line.to_owned(),
    };
    content.split('\n').map(bullet).collect::<Vec<_>>().join("\n")
}
