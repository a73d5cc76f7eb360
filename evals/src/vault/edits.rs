//! Simulated edits: random changes of the lines of a vault, and the expected result of each.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::FactId;
use lukasa_core::vault::{BASE, File, Home, encode};
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use super::generate::{DOMAINS, words};

/// The expected record after the edits.
#[derive(Debug, Default)]
pub struct Expected {
    /// By mark: the content, the file and the tags; `None` if the memory must be gone.
    pub lines: BTreeMap<String, Option<(String, String)>>,
    /// New contents and the file they were written into.
    pub new: BTreeSet<(String, String)>,
    pub edits: usize,
}

/// The mark at the end of a line.
fn mark(line: &str) -> Option<String> {
    let (_, mark) = line.rsplit_once(" ^mem-")?;
    let real = format!("mem_{mark}").parse::<FactId>().is_ok();
    (line.starts_with("- ") && real).then(|| mark.to_owned())
}

/// Where the content of a line ends and its marks begin.
fn tail(line: &str) -> usize {
    let mut at = line.rfind(" ^mem-").unwrap_or(line.len());
    loop {
        let word = line[..at].rfind(' ').map_or(0, |space| space + 1);
        if line[word..at].starts_with('#') && word > 2 && is_tag(&line[word..at]) {
            at = word - 1;
        } else {
            break;
        }
    }
    match line[..at].strip_suffix(")*").and_then(|inside| inside.rfind(" *(")) {
        Some(hint)
            if ["inferred", "rule", "until", "from"]
                .iter()
                .any(|w| line[hint + 3..].starts_with(w)) =>
        {
            hint
        }
        _ => at,
    }
}

/// Tags as written in the files: letters and digits, not only digits, and references for the rest.
fn is_tag(word: &str) -> bool {
    let (mut rest, mut number) = (&word[1..], true);
    while let Some(character) = rest.chars().next() {
        let reference = rest.strip_prefix("&#").and_then(|after| after.split_once(';'));
        match reference.filter(|(digits, _)| digits.bytes().all(|b| b.is_ascii_digit())) {
            Some((_, after)) => (rest, number) = (after, false),
            None if character.is_alphanumeric() || "_-/".contains(character) => {
                number = number && character.is_ascii_digit();
                rest = &rest[character.len_utf8()..];
            }
            None => return false,
        }
    }
    !number && word.len() > 1
}

/// Edits the files `count` times.
pub fn edit(files: &mut [File], count: usize, rng: &mut StdRng) -> (Vec<File>, Expected) {
    let mut expected = Expected::default();
    let mut pages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut others = Vec::new();
    for file in files.iter() {
        if file.path == BASE || Home::at(&file.path).is_none() || file.path == "proposals.md" {
            others.push(file.clone());
        } else {
            let lines = file.content.lines().map(str::to_owned).collect();
            pages.insert(file.path.clone(), lines);
        }
    }
    for _ in 0..count {
        one(&mut pages, rng, &mut expected);
    }
    let crlf = rng.random_bool(0.2);
    let mut edited: Vec<File> = pages
        .into_iter()
        .map(|(path, lines)| {
            let mut content = lines.join("\n");
            if rng.random_bool(0.8) {
                content.push('\n');
            }
            File { path, content: if crlf { content.replace('\n', "\r\n") } else { content } }
        })
        .collect();
    edited.extend(others);
    edited.shuffle(rng);
    (edited, expected)
}

fn one(pages: &mut BTreeMap<String, Vec<String>>, rng: &mut StdRng, expected: &mut Expected) {
    expected.edits += 1;
    let marked: Vec<(String, usize)> = pages
        .iter()
        .flat_map(|(path, lines)| {
            let marked = lines.iter().enumerate().filter(|(_, line)| mark(line).is_some());
            marked.map(|(at, _)| (path.clone(), at)).collect::<Vec<_>>()
        })
        .collect();
    let chosen = marked.choose(rng).cloned();
    match (rng.random_range(0..10), chosen) {
        // New content for a line.
        (0..=3, Some((path, at))) => {
            let Some(lines) = pages.get_mut(&path) else { return };
            let (line, new) = (lines[at].clone(), words(rng));
            let end = tail(&line);
            lines[at] = format!("- {}{}", encode(&new), &line[end..]);
            let Some(mark) = mark(&line) else { return };
            expected.lines.insert(mark, Some((new, path)));
        }
        // A line is removed.
        (4, Some((path, at))) => {
            let Some(lines) = pages.get_mut(&path) else { return };
            let line = lines.remove(at);
            if let Some(mark) = mark(&line) {
                expected.lines.insert(mark, None);
            }
        }
        // A line is moved into another file. A rule stays: it needs its domain.
        (5, Some((path, at))) => {
            let Some(lines) = pages.get_mut(&path) else { return };
            if lines[at].contains("*(rule ") || lines[at].contains("; rule ") {
                return;
            }
            let line = lines.remove(at);
            let domain = DOMAINS.choose(rng).copied().unwrap_or("food");
            let there = [
                "profile.md".to_owned(),
                "procedures.md".to_owned(),
                "active_context.md".to_owned(),
                format!("domains/{domain}.md"),
            ];
            let there = there.choose(rng).cloned().unwrap_or(path);
            let words = lukasa_core::vault::decode(&line[2..tail(&line)]);
            pages.entry(there.clone()).or_default().push(line.clone());
            if let Some(mark) = mark(&line) {
                let edited_words =
                    expected.lines.get(&mark).cloned().flatten().map(|(words, _)| words);
                expected.lines.insert(mark, Some((edited_words.unwrap_or(words), there)));
            }
        }
        // A tag is added.
        (6, Some((path, at))) => {
            let Some(lines) = pages.get_mut(&path) else { return };
            let line = lines[at].clone();
            let Some(mark) = line.rfind(" ^mem-") else { return };
            let few = line[tail(&line)..mark].matches(" #").count() < 15;
            if few {
                let tag = format!(" #new{}", rng.random_range(0..1_000_000));
                lines[at] = format!("{}{tag}{}", &line[..mark], &line[mark..]);
            }
        }
        // Lines are swapped, or a note is written between them.
        (7, _) => {
            let paths: Vec<String> = pages.keys().cloned().collect();
            let Some(lines) = paths.choose(rng).and_then(|path| pages.get_mut(path)) else {
                return;
            };
            if rng.random_bool(0.8) {
                lines.shuffle(rng);
            } else {
                lines.push(String::new());
                lines.push(format!("A note of mine, number {}.", rng.random_range(0..1_000_000)));
            }
        }
        // A new line.
        _ => {
            let paths: Vec<String> = pages.keys().cloned().collect();
            let path = paths.choose(rng).cloned().unwrap_or_else(|| "profile.md".to_owned());
            let new = words(rng);
            let Some(lines) = pages.get_mut(&path) else { return };
            lines.push(String::new());
            lines.push(format!("- {}", encode(&new)));
            expected.new.insert((new, path));
        }
    }
}
