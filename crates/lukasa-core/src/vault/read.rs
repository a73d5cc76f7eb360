//! From files to entries, however they were edited: reordered, moved, with other line ends, without a
//! last one. Whatever is neither a memory nor a heading is the person's own note, and is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{self, Line, Mark};
use super::{BASE, Base, File, Home, Problem};
use crate::id::FactId;

/// One line that is, or should become, a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Nothing if it is new.
    pub fact: Option<FactId>,
    /// Its mark names nothing.
    pub broken: bool,
    pub content: String,
    pub tags: Vec<String>,
    pub hints: Vec<String>,
    pub home: Home,
    pub section: String,
    pub line: usize,
    /// As it stands there.
    pub raw: String,
}

/// A paragraph that is no memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub home: Home,
    pub section: String,
    pub text: String,
}

/// Everything that the files say.
#[derive(Debug, Clone, Default)]
pub struct Read {
    pub base: Base,
    pub entries: Vec<Entry>,
    pub notes: Vec<Note>,
    /// What an editor keeps at the top of a file, by path.
    pub fronts: BTreeMap<String, String>,
    pub problems: Vec<Problem>,
}

pub fn read(files: &[File]) -> Read {
    let mut read = Read::default();
    let mut seen = BTreeSet::new();
    for file in files {
        if !seen.insert(file.path.as_str()) {
            let what = "the same file twice; only the first is read".to_owned();
            read.problems.push(Problem { file: file.path.clone(), line: 0, what });
        } else if file.path == BASE {
            read.base = Base::read(&file.content, &mut read.problems);
        } else if let Some(home) = Home::at(&file.path) {
            page(&file.content, &file.path, &home, &mut read);
        }
    }
    read
}

/// What a line of a file is.
enum Is<'a> {
    Nothing,
    Heading(&'a str),
    Bullet(&'a str),
    /// Indented text under a bullet.
    More(&'a str),
    Text,
}

fn is<'a>(line: &'a str, home: &Home, after_bullet: bool) -> Is<'a> {
    let text = line.trim();
    if text.is_empty() {
        return Is::Nothing;
    }
    if let Some(title) = line.strip_prefix("## ") {
        return Is::Heading(title.trim());
    }
    let said = line.strip_prefix("> ").is_some_and(|said| said.trim_end() == home.introduction());
    if said || (text.starts_with("→ ") && text.contains("[[")) {
        return Is::Nothing;
    }
    for bullet in ["-", "*", "+"] {
        match text.strip_prefix(bullet) {
            Some("") => return Is::Nothing,
            Some(rest) if rest.starts_with([' ', '\t']) => return Is::Bullet(rest),
            _ => {}
        }
    }
    match line.starts_with([' ', '\t']) && after_bullet {
        true => Is::More(text),
        false => Is::Text,
    }
}

fn page(content: &str, path: &str, home: &Home, read: &mut Read) {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let (front, skipped, content) = front(content);
    if !front.is_empty() {
        read.fronts.insert(path.to_owned(), front);
    }
    let mut section = String::new();
    let mut open: Option<(Vec<Line>, usize, String)> = None;
    let mut note: Vec<&str> = Vec::new();
    let mut titled = false;
    for (number, line) in content.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        let mut kind = is(line, home, open.is_some());
        if !titled && line.starts_with("# ") {
            // The title is ours to write; any further one is the person's.
            (titled, kind) = (true, Is::Nothing);
        }
        if !matches!(kind, Is::More(_)) {
            close(open.take(), home, &section, read);
        }
        if !matches!(kind, Is::Text) && !note.is_empty() {
            let text = note.join("\n");
            read.notes.push(Note { home: home.clone(), section: section.clone(), text });
            note.clear();
        }
        match kind {
            Is::Nothing => {}
            Is::Heading(title) => title.clone_into(&mut section),
            Is::Bullet(text) => {
                let parsed = line::parse(text);
                open = Some((vec![parsed], skipped + number + 1, line.to_owned()));
            }
            Is::More(text) => {
                if let Some((lines, _, raw)) = &mut open {
                    lines.push(line::parse(text));
                    raw.push('\n');
                    raw.push_str(line);
                }
            }
            Is::Text => note.push(line),
        }
    }
    close(open, home, &section, read);
    if !note.is_empty() {
        read.notes.push(Note { home: home.clone(), section, text: note.join("\n") });
    }
}

/// A bullet with the lines under it is one entry.
fn close(open: Option<(Vec<Line>, usize, String)>, home: &Home, section: &str, read: &mut Read) {
    let Some((lines, number, raw)) = open else { return };
    let mut entry = Entry {
        fact: None,
        broken: false,
        content: String::new(),
        tags: Vec::new(),
        hints: Vec::new(),
        home: home.clone(),
        section: section.to_owned(),
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

/// What an editor keeps between two `---` at the top, how many lines it is, and what follows.
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
            // However many carriage returns an editor has left before the end of a line.
            let lines = content[..at].split('\n').map(|line| line.trim_end_matches('\r'));
            let front = lines.collect::<Vec<_>>().join("\n");
            let front = if front.ends_with('\n') { front } else { front + "\n" };
            return (front, count + 2, &content[at..]);
        }
    }
    none
}

/// The same text with a bullet before every line that is neither empty, a heading nor a bullet: what
/// an assistant writes as prose is meant to be remembered.
pub fn as_bullets(content: &str, home: &Home) -> String {
    let bullet = |line: &str| match is(line, home, false) {
        Is::Text | Is::More(_) if !line.starts_with('#') => format!("- {}", line.trim()),
        _ => line.to_owned(),
    };
    content.split('\n').map(bullet).collect::<Vec<_>>().join("\n")
}
