//! Tests of the lexicon files: their format, that the code uses each of them, and that every entry
//! can match.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::entries;
use crate::screen::phrase::{Phrases, TokenizedText, fold};
use crate::word::words;

/// Entries, or patterns with one alternative of a place chosen, that cannot match any text. They are
/// kept as they are: to correct one changes what the rules accept.
const DEAD: &[&str] = &[
    // A punctuation mark is not a word.
    "directive/standing.de: merk ,",
    "directive/standing.es: recuerda ,",
    "directive/standing.it: ricorda ,",
    "directive/standing.nl: onthoud ,",
    "directive/standing.pt: lembre ,",
    "directive/standing.zh: 记住 ~ ，",
    "directive/standing.zh: 记住 ~ ：",
    "directive/orders.en: stay - character",
    "sensitive/figures.mul: soy - médico",
    "secret/says.mul: =",
    // `_` is a place of its own, not an alternative.
    "directive/harmless.en: please remember that ~ _",
    "sensitive/figures.en: adopt a ~ _",
    "sensitive/figures.en: religion about ~ _",
    // A `*` inside an alternative is ignored.
    "sensitive/ethnicity.en: colou*red",
    "sensitive/ethnicity.en: indo*-caribbean",
    "sensitive/figures.en: wedding ~ plan*-for-a-client",
    "sensitive/health.en: appendi*citis",
    "sensitive/politics.es: afiliad*-al-partido",
    "sensitive/union_membership.de: arbeitnehmer*-vertretung",
    // Several words where one is compared: an apostrophe and a hyphen separate words, and so do
    // Chinese and Japanese characters.
    "directive/conditions.zh: 如果",
    "directive/imperatives.en: don't",
    "ground/refusals.en: can't",
    "ground/refusals.ja: 嫌い",
    "ground/refusals.ja: 苦手",
    "ground/refusals.ja: 避け",
    "ground/refusals.zh: 讨厌",
    "ground/refusals.zh: 避免",
    "ground/retelling.fr: s'appelle",
    "phrase/fillers.pt: por-favor",
    "secret/other_codes.en: the-error",
    "secret/says.mul: c'est",
    // Not spelled as in a folded text.
    "directive/statement_openers.ru: мой",
    // A group of one word.
    "ground/synonyms.it: vado",
];

struct File {
    list: String,
    language: String,
    text: String,
}

impl File {
    fn syntax(&self) -> &str {
        let line = self.text.lines().nth(1).unwrap_or_default();
        line.strip_prefix("# Syntax: ").and_then(|line| line.strip_suffix('.')).unwrap_or_default()
    }
}

/// The text files below a folder of this crate, with their paths from it.
fn read_folder(folder: &str, extension: &str) -> Vec<(String, String)> {
    fn collect(root: &Path, folder: &Path, extension: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("the folder is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(root, &path, extension, found);
            } else if path.extension().is_some_and(|own| own == extension) {
                let text = fs::read_to_string(&path).expect("the file is UTF-8");
                let path = path.strip_prefix(root).expect("the file is below the root");
                found.push((path.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    collect(&root, &root, extension, &mut found);
    found.sort();
    found
}

fn files() -> Vec<File> {
    let files = read_folder("lexicon", "txt").into_iter().map(|(path, text)| {
        let name = path.strip_suffix(".txt").unwrap_or(&path);
        let (list, language) = name.rsplit_once('.').unwrap_or((name, ""));
        File { list: list.to_owned(), language: language.to_owned(), text }
    });
    files.collect()
}

/// What is wrong with the form of a file.
fn format_faults(file: &File) -> Vec<String> {
    const MAX_COLUMNS: usize = 120;
    const SYNTAXES: [&str; 8] = [
        "patterns",
        "alternatives",
        "words",
        "folded words",
        "phrases",
        "groups",
        "numbers",
        "predicates",
    ];
    let mut faults = Vec::new();
    let lower = file.language.chars().all(|c| c.is_ascii_lowercase());
    if !(lower && (file.language.len() == 2 || file.language == "mul")) {
        faults.push("the name must end in a language of two letters, or in `mul`".to_owned());
    }
    let described = file.text.lines().next().is_some_and(|line| line.starts_with("# "));
    if !described || !SYNTAXES.contains(&file.syntax()) {
        faults.push("the first two lines must describe the list and its syntax".to_owned());
    }
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.chars().count() > MAX_COLUMNS {
            faults.push(format!("line {number} has more than {MAX_COLUMNS} characters"));
        }
        let indent = line.len() - line.trim_start().len();
        if line.trim_end() != line || ![0, 4].contains(&indent) || line.contains('\t') {
            faults.push(format!("line {number} has wrong white space"));
        }
    }
    let mut seen = BTreeSet::new();
    let entries = entries(&file.text);
    faults.extend(entries.iter().filter(|e| !seen.insert(*e)).map(|e| format!("`{e}` twice")));
    if entries.is_empty() {
        faults.push("the file has no entry".to_owned());
    }
    faults
}

/// The parts of an entry that cannot match a text.
fn dead_parts(syntax: &str, entry: &str) -> Vec<String> {
    let dead = |part: &str, alive: bool| (!alive).then(|| part.to_owned());
    match syntax {
        "patterns" | "alternatives" => dead_alternatives(entry),
        "predicates" => match entry.split_once(' ') {
            Some((_, pattern)) => dead_alternatives(pattern),
            None => vec![entry.to_owned()],
        },
        "words" => dead(entry, is_one_word(entry, entry)).into_iter().collect(),
        "folded words" => {
            dead(entry, is_one_word(&fold(entry), &fold(entry))).into_iter().collect()
        }
        "phrases" => dead(entry, !words(&fold(entry)).is_empty()).into_iter().collect(),
        "groups" => dead_members(entry),
        "numbers" => match entry.split_once(' ') {
            Some((digits, names)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                let names = names.split('|');
                names.filter_map(|name| dead(name, is_one_word(&fold(name), &fold(name)))).collect()
            }
            _ => vec![entry.to_owned()],
        },
        _ => vec![entry.to_owned()],
    }
}

/// Whether a folded text that consists of this word is the entry.
fn is_one_word(text: &str, entry: &str) -> bool {
    let own = words(&fold(text));
    own.len() == 1 && own[0].text == entry
}

/// The words of a group that no word can be compared with.
fn dead_members(group: &str) -> Vec<String> {
    let members: Vec<&str> = group.split('|').collect();
    if members.len() < 2 {
        return vec![group.to_owned()];
    }
    let dead = members.iter().filter(|word| !is_one_word(&fold(word), &fold(word)));
    dead.map(|word| (*word).to_owned()).collect()
}

/// The alternatives of a pattern that cannot be part of a match, each written into the pattern in
/// place of all others.
fn dead_alternatives(pattern: &str) -> Vec<String> {
    let phrases = Phrases::new([((), [pattern])]);
    let places: Vec<Vec<&str>> =
        pattern.split(' ').map(|place| place.split('|').collect()).collect();
    let is_writable = |alternative: &&&str| {
        ["_", "~", "^"].contains(*alternative) || !words(&fold(alternative)).is_empty()
    };
    let first: Vec<&str> =
        places.iter().map(|place| *place.iter().find(is_writable).unwrap_or(&"")).collect();
    let mut dead = Vec::new();
    for (at, place) in places.iter().enumerate() {
        for alternative in place {
            let mut chosen = first.clone();
            chosen[at] = alternative;
            let marks = ["_", "~", "^"].contains(alternative);
            let star = alternative.strip_suffix('*').unwrap_or(alternative).contains('*');
            let written = marks || !words(&fold(alternative)).is_empty();
            let tokenized = TokenizedText::new(&sample(&chosen));
            let found = phrases.find(&tokenized).any(|found| found.start == 0);
            if star || !written || !found {
                dead.push(chosen.join(" "));
            }
        }
    }
    dead.dedup();
    dead
}

/// A sentence that consists of the chosen alternatives.
fn sample(chosen: &[&str]) -> String {
    let mut text = String::new();
    for part in chosen {
        match *part {
            "~" => {}
            "_" => text.push_str("thing "),
            "^" if text.is_empty() => {}
            "^" => text.push_str(". "),
            part => {
                text.push_str(&part.trim_end_matches('*').replace('-', " "));
                text.push(' ');
            }
        }
    }
    text
}

#[test]
fn lexicon_files_follow_the_format() {
    let fault = |file: &File, fault| format!("{}.{}: {fault}", file.list, file.language);
    let files = files();
    let faults: Vec<String> = files
        .iter()
        .flat_map(|file| format_faults(file).into_iter().map(|found| fault(file, found)))
        .collect();
    assert!(files.len() > 400, "the lexicon is not in its place");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn lexicon_files_are_all_used() {
    let sources = read_folder("src", "rs");
    let is_used = |file: &File| {
        let opening = format!("\"{}\",", file.list);
        sources.iter().any(|(_, source)| {
            source.match_indices(&opening).any(|(at, _)| {
                let languages = source[at + opening.len()..].split(')').next().unwrap_or_default();
                languages.split_whitespace().any(|language| language == file.language)
            })
        })
    };
    let unused: Vec<_> = files().into_iter().filter(|file| !is_used(file)).collect();
    let unused: Vec<_> = unused.iter().map(|f| format!("{}.{}", f.list, f.language)).collect();
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn lexicon_entries_match_their_own_samples() {
    let files = files();
    let dead = files.iter().flat_map(|file| {
        let of_entry = |entry: String| dead_parts(file.syntax(), &entry);
        let parts = entries(&file.text).into_iter().flat_map(of_entry);
        parts.map(|part| format!("{}.{}: {part}", file.list, file.language))
    });
    let dead: BTreeSet<String> = dead.collect();
    let known: BTreeSet<String> = DEAD.iter().map(|entry| (*entry).to_owned()).collect();
    let new: Vec<_> = dead.difference(&known).collect();
    assert!(new.is_empty(), "these can never match:\n{new:#?}");
    let revived: Vec<_> = known.difference(&dead).collect();
    assert!(revived.is_empty(), "these match and need no exception:\n{revived:#?}");
}

#[test]
fn planted_dead_entries_are_detected() {
    assert_eq!(dead_parts("patterns", "_ foo"), ["_ foo"]);
    assert_eq!(dead_parts("patterns", "foo|, bar"), [", bar"]);
    assert_eq!(dead_parts("patterns", "appendi*citis|flu"), ["appendi*citis"]);
    assert_eq!(dead_parts("patterns", "foo ^ bar"), ["foo ^ bar"]);
    assert_eq!(dead_parts("patterns", "^ mot|promo*|so-to-speak ~ I'm|да _"), Vec::<String>::new());
    assert_eq!(dead_parts("words", "für"), ["für"]);
    assert_eq!(dead_parts("words", "don't"), ["don't"]);
    assert_eq!(dead_parts("folded words", "für"), Vec::<String>::new());
    assert_eq!(dead_parts("phrases", "..."), ["..."]);
    assert_eq!(dead_parts("groups", "one"), ["one"]);
    assert_eq!(dead_parts("groups", "one|is n't"), ["is n't"]);
    assert_eq!(dead_parts("numbers", "two 2"), ["two 2"]);
    assert_eq!(dead_parts("numbers", "2 two|zwei"), Vec::<String>::new());
}

#[test]
fn lexicon_format_faults_are_detected() {
    let file = |name: &str, text: &str| File {
        list: "a/b".to_owned(),
        language: name.to_owned(),
        text: text.to_owned(),
    };
    let faults = |name: &str, text: &str| format_faults(&file(name, text)).len();
    assert_eq!(faults("en", "# A list.\n# Syntax: words.\n\none\ntwo\n"), 0);
    assert_eq!(faults("english", "# A list.\n# Syntax: words.\none\n"), 1);
    assert_eq!(faults("en", "# A list.\n# Syntax: guesses.\none\n"), 1);
    assert_eq!(faults("en", "# A list.\n# Syntax: words.\none\none\n"), 1);
    assert_eq!(faults("en", "# A list.\n# Syntax: words.\none \n"), 1);
    assert_eq!(faults("en", "# A list.\n# Syntax: words.\n"), 1);
    let long = format!("# A list.\n# Syntax: words.\n{}\n", "x".repeat(121));
    assert_eq!(faults("en", &long), 1);
}

#[test]
fn lexicon_lines_are_joined_and_comments_left_out() {
    let text = "# a\n# Syntax: patterns.\n\none|\n    two\n# b\nthree\n    four|five\n    ~ six\n";
    assert_eq!(entries(text), ["one|two", "three four|five ~ six"]);
}
