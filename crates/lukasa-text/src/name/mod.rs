//! Finds the memories that a message names.
//!
//! This is precise lookup: a memory matches because the message contains its key or one of its
//! tags, never because it is about something similar. It uses names only, not the memories'
//! contents, and is deterministic. Similarity is up to the search.
//!
//! A name matches when all its words are in the message next to each other and in order.
//! Capitals, the plural and the marks between words do not matter: "next.js" is "NextJS" and
//! "if-else" is "if else". A single word may also be mistyped, within limits (see
//! `is_mistyped`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::word::{Word, is_east_asian, words};

/// Function words. A name that is one of these ("IT", "Go", "Who") matches only with its capitals.
static FUNCTION_WORDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("name/function_words", en).words());
/// Common words of four letters or more. They are never taken for a typo of a name: "scale" is no
/// misspelt "Scala".
static COMMON_WORDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("name/common_words", en).words());

/// A memory that a message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedMemory<'a> {
    /// The number passed in for the memory.
    pub index: usize,
    /// The matched name; of several the longest, and an exact one before a mistyped one.
    pub name: &'a str,
    /// Whether it was written without a typing error.
    pub exact: bool,
}

/// One name of one memory.
#[derive(Debug, Clone, Copy)]
struct Entry<'a> {
    index: usize,
    name: &'a str,
}

/// Lookup table of the names of a user's memories.
#[derive(Debug, Clone, Default)]
pub struct Names<'a> {
    /// From the words of a name, in the singular and joined by spaces, to the memories with it.
    by_words: HashMap<String, Vec<Entry<'a>>>,
    /// The names of one word that may be mistyped, by their first two letters.
    by_start: HashMap<[char; 2], Vec<(String, Entry<'a>)>>,
    /// The number of words in the longest name.
    longest: usize,
}

impl<'a> Names<'a> {
    /// From each memory's number and its names: its key, whose underscores read as spaces, and
    /// its tags.
    pub fn new<N>(memories: impl IntoIterator<Item = (usize, N)>) -> Self
    where
        N: IntoIterator<Item = &'a str>,
    {
        let mut names = Self::default();
        for (index, own) in memories {
            for name in own {
                names.add(Entry { index, name });
            }
        }
        names
    }

    fn add(&mut self, entry: Entry<'a>) {
        let parts = words(entry.name);
        // A single character would match any stray letter.
        if parts.iter().map(|part| part.text.chars().count()).sum::<usize>() < 2 {
            return;
        }
        self.longest = self.longest.max(parts.len());
        let chunks = chunks(entry.name, &parts);
        if chunks.len() < parts.len() {
            self.by_words.entry(key(&chunks)).or_default().push(entry);
        }
        self.by_words.entry(key(&parts)).or_default().push(entry);
        if let [word] = parts.as_slice()
            && can_be_mistyped(&word.text)
            && let Some(start) = start_of(&word.text)
        {
            self.by_start.entry(start).or_default().push((word.text.clone(), entry));
        }
    }

    /// The memories that `text` names, by their numbers. Where a long name contains a short one
    /// ("house rules", "house") both memories match, each once.
    pub fn named_in(&self, text: &str) -> Vec<NamedMemory<'a>> {
        let parts = words(text);
        let chunks = chunks(text, &parts);
        let mut found = BTreeMap::new();
        for sequence in [&parts, &chunks] {
            for at in 0..sequence.len() {
                self.exact_at(text, &sequence[at..], &mut found);
            }
        }
        for word in &parts {
            self.mistyped(&word.text, &mut found);
        }
        found.into_values().collect()
    }

    /// Every name that begins with the first of `words`.
    fn exact_at(&self, text: &str, words: &[Word], found: &mut BTreeMap<usize, NamedMemory<'a>>) {
        let mut said = String::new();
        for (at, word) in words.iter().take(self.longest).enumerate() {
            if at > 0 {
                if is_clause_end_between(text, &words[at - 1], word) {
                    return;
                }
                said.push(' ');
            }
            said.push_str(&singular(&word.text));
            let written = &text[words[0].start..word.end];
            for entry in self.by_words.get(&said).into_iter().flatten() {
                if !is_function_word(entry.name, written) {
                    keep_best(
                        found,
                        NamedMemory { index: entry.index, name: entry.name, exact: true },
                    );
                }
            }
        }
    }

    fn mistyped(&self, word: &str, found: &mut BTreeMap<usize, NamedMemory<'a>>) {
        // A word that is one memory's exact name is not another one's typo.
        if !can_be_mistyped(word) || self.by_words.contains_key(&singular(word)) {
            return;
        }
        let near = start_of(word).and_then(|start| self.by_start.get(&start));
        for (name, entry) in near.into_iter().flatten() {
            if is_mistyped(word, name) && !is_common(word) {
                keep_best(
                    found,
                    NamedMemory { index: entry.index, name: entry.name, exact: false },
                );
            }
        }
    }
}

/// Keeps the best match of each memory.
fn keep_best<'a>(found: &mut BTreeMap<usize, NamedMemory<'a>>, named: NamedMemory<'a>) {
    let known = found.entry(named.index).or_insert(named);
    if (named.exact, named.name.len()) > (known.exact, known.name.len()) {
        *known = named;
    }
}

/// The words as one text, each in the singular.
fn key(words: &[Word]) -> String {
    let words: Vec<_> = words.iter().map(|word| singular(&word.text)).collect();
    words.join(" ")
}

/// The words, joined where only a mark separates them, so that "next.js" is "nextjs".
fn chunks(text: &str, words: &[Word]) -> Vec<Word> {
    let mut joined: Vec<Word> = Vec::new();
    for word in words {
        match joined.last_mut().filter(|last| is_joining_mark(&text[last.end..word.start])) {
            Some(last) => {
                last.text.push_str(&word.text);
                last.end = word.end;
            }
            None => joined.push(word.clone()),
        }
    }
    joined
}

fn is_joining_mark(between: &str) -> bool {
    let mut marks = between.chars();
    marks.next().is_some_and(|mark| "-_./'\u{2019}\u{2010}\u{2011}&+".contains(mark))
        && marks.next().is_none()
}

/// Whether a sentence or a part of one ends between two words.
fn is_clause_end_between(text: &str, first: &Word, second: &Word) -> bool {
    let between = &text[first.end..second.start];
    let closing = between.find(['.', ',', ';', ':', '!', '?', '\u{3002}', '\u{3001}']);
    closing.is_some_and(|at| between[at..].contains(char::is_whitespace))
        || between.contains("\n\n")
}

/// Whether a function word is used as such: "who" is not the WHO.
fn is_function_word(name: &str, written: &str) -> bool {
    let capital = name.contains(char::is_uppercase);
    FUNCTION_WORDS.contains(&name.to_lowercase()) && !(capital && name == written)
}

/// A word without its plural. Both sides of every comparison go through it, so it need not be
/// right about "Tunis", only consistent. Short words and those with digits are unchanged.
fn singular(word: &str) -> String {
    if word.len() < 4 || word.contains(|c: char| c.is_ascii_digit()) || word.ends_with("ss") {
        return word.to_owned();
    }
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() > 2) {
        return format!("{rest}y");
    }
    let hissing = ["sses", "shes", "ches", "xes"].iter().any(|end| word.ends_with(end));
    let rest = if hissing { word.strip_suffix("es") } else { word.strip_suffix('s') };
    rest.unwrap_or(word).to_owned()
}

/// Whether a word may match with a typo: four letters or more. Shorter words are too similar to one
/// another, and in "i18n" every character is significant.
fn can_be_mistyped(word: &str) -> bool {
    word.chars().count() >= 4 && word.chars().all(|c| c.is_alphabetic() && !is_east_asian(c))
}

fn is_common(word: &str) -> bool {
    COMMON_WORDS.contains(word) || COMMON_WORDS.contains(&singular(word))
}

fn start_of(word: &str) -> Option<[char; 2]> {
    let mut letters = word.chars();
    Some([letters.next()?, letters.next()?])
}

/// Whether `word` is `name` with a typing error: a letter too many, missing, wrong, or two changed
/// about. The first two letters must be right, since people rarely err there. A name of nine
/// letters may have two errors; one of four has too many similar words to allow a wrong letter.
fn is_mistyped(word: &str, name: &str) -> bool {
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    let most = if name.len() >= 9 { 2 } else { 1 };
    if word.len().abs_diff(name.len()) > most || word.iter().take(2).ne(name.iter().take(2)) {
        return false;
    }
    let wrong: Vec<_> = (0..name.len()).filter(|&i| word.get(i) != name.get(i)).collect();
    let one_wrong_letter = word.len() == name.len() && wrong.len() == 1;
    edits(&word, &name) <= most && !(name.len() == 4 && one_wrong_letter)
}

/// Edit distance: the least number of letters to add, drop, replace or swap with a neighbour to
/// turn one word into the other; no letter takes part in two swaps.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                let exchanged: usize = before[j - 2];
                least = least.min(exchanged + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests;
