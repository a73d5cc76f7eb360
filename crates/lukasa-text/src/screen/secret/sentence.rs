//! Secrets that a sentence names without putting the value right behind the name: "is Blue4711 a good
//! password?", "the password we share is ...", "locker 4711, that is the code".
//!
//! Every rule needs the name of a secret and a value in one clause. The words of a clause are bounded,
//! so the cost is linear in the text.

use super::lists::{AFTER_CODE, LOCKS};
use super::named_values::{SplitText, is_another_thing, name_at, whole_value};
use super::vocabulary::{OTHER_CODES, Value};
use super::{FoundSecret, Run, SecretKind, head, is_mixed, is_placeholder};

/// The longest value that is examined, in bytes.
const MAX_VALUE_BYTES: usize = 64;

/// How many words may be between a name and its value.
pub(super) const MAX_WORDS_BETWEEN: usize = 8;

/// Verbs that join a name and a value. These lists are spelled as folded text is.
pub(super) const VERBS: &[&str] = &[
    "is", "was", "are", "ist", "war", "lautet", "heist", "sind", "est", "es", "era", "e", "jest",
    "ar", "er", "son", "sao", "sont", "sono", "zijn",
];

/// Words before a password that a user mentions or asks about.
const USES: &[&str] = &[
    "is", "use", "used", "using", "uses", "ist", "verwende", "nutze", "benutze", "utilise", "est",
    "uso", "es", "e",
];

/// Words between a value and the name that refers back to it: "4711, that is the code".
const REFERS: &[&str] = &[
    "that", "that's", "thats", "das", "c'est", "c", "cela", "ese", "esa", "eso", "quello", "esse",
];

/// Account names that are followed by a colon and a password: "root:Blue4711".
const ACCOUNTS: &[&str] = &["root", "admin", "administrator", "guest", "postgres", "ubuntu", "pi"];

/// Commands whose `-p` is a password.
const LOGIN_COMMANDS: &[&str] =
    &["docker login", "podman login", "helm registry login", "oc login"];

pub(super) fn find(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for at in 0..split.words.len() {
        if let Some((length, value)) = name_at(&split.folded[at..])
            && !is_another_thing(&split.folded, at, at + length, value)
        {
            found.extend(after_verb(split, at + length, value));
            found.extend(after_place(split, at, at + length, value));
            found.extend(before_name(split, at, value));
            found.extend(referred_to(split, at, value));
            found.extend(changed(split, at + length, value));
            found.extend(restated(split, at + length, value));
            found.extend(sent_code(split, at, at + length, value));
        }
        found.extend(account(split, at));
    }
    found.extend(login_commands(split));
    found.extend(password_files(split));
    found
}

/// "The password we share is Blue4711": the value behind a verb in the same clause.
fn after_verb(split: &SplitText<'_>, from: usize, value: Value) -> Option<FoundSecret> {
    let from = behind_relative_clause(split, from);
    for at in from..split.words.len().min(from + MAX_WORDS_BETWEEN) {
        if at > from && ends_clause(split, at) {
            return None;
        }
        if VERBS.contains(&split.folded[at].as_str()) && !ends_clause(split, at + 1) {
            let run = value_at(split, at + 1)?;
            let whole = whole_value(split, run.start, value);
            if value == Value::Code && is_grouped(whole.text) && closes(split, whole) {
                return Some(secret(whole, value));
            }
            return is_value(split, run, value).then(|| secret(run, value));
        }
    }
    None
}

/// The place behind a clause such as ", which the bank asks for," after a name.
fn behind_relative_clause(split: &SplitText<'_>, from: usize) -> usize {
    const RELATIVE: &[&str] =
        &["which", "that", "der", "die", "das", "den", "qui", "que", "che", "dat", "wie"];
    let opens = gap_before(split, from).contains(',')
        && split.folded.get(from).is_some_and(|word| RELATIVE.contains(&word.as_str()));
    let near = from + 1..split.words.len().min(from + MAX_WORDS_BETWEEN + 1);
    let mut near = near.filter(|_| opens).take_while(|at| !ends_sentence(split, *at));
    near.find(|at| gap_before(split, *at).contains(',')).unwrap_or(from)
}

/// "Code Haustür 4711", "code immeuble 4711": a number at most two words behind the name.
fn after_place(
    split: &SplitText<'_>,
    name: usize,
    from: usize,
    value: Value,
) -> Option<FoundSecret> {
    if value != Value::StatedCode {
        return None;
    }
    let other = |at: usize| OTHER_CODES.contains(&split.folded[at]);
    if name.checked_sub(1).is_some_and(other) {
        return None;
    }
    for at in from..split.words.len().min(from + 3) {
        if other(at) || ends_clause(split, at) {
            return None;
        }
        if let Some(run) = value_at(split, at).filter(|run| is_code(run.text)) {
            let place = from == at || (from..at).any(|n| LOCKS.contains(&split.folded[n]));
            return (place && closes(split, run)).then(|| secret(run, value));
        }
    }
    None
}

/// "Is Blue4711 a good password?", "I use Blue4711 for everything, is it safe as a password?"
fn before_name(split: &SplitText<'_>, name: usize, value: Value) -> Option<FoundSecret> {
    if value != Value::Password {
        return None;
    }
    for at in (name.saturating_sub(MAX_WORDS_BETWEEN + 2)..name).rev() {
        if ends_sentence(split, at + 1) {
            return None;
        }
        let used = at.checked_sub(1).is_some_and(|b| USES.contains(&split.folded[b].as_str()));
        if used && let Some(run) = value_at(split, at).filter(|run| is_chosen(run.text)) {
            return Some(secret(run, value));
        }
    }
    None
}

/// "Locker 4711 at the gym, that is the combination": the number before a clause that names it.
fn referred_to(split: &SplitText<'_>, name: usize, value: Value) -> Option<FoundSecret> {
    let refers = (name.saturating_sub(4)..name)
        .find(|at| REFERS.contains(&split.folded[*at].as_str()) && opens_clause(split, *at))?;
    (refers.saturating_sub(MAX_WORDS_BETWEEN)..refers).rev().find_map(|at| {
        let run = value_at(split, at)?;
        let fits = match value {
            Value::Password => is_chosen(run.text),
            Value::Code | Value::StatedCode => is_code(run.text),
            _ => false,
        };
        fits.then(|| secret(run, value))
    })
}

/// "My PIN has changed, it's 4711 now": a value that a pronoun assigns in the next clause.
fn restated(split: &SplitText<'_>, from: usize, value: Value) -> Option<FoundSecret> {
    const PRONOUNS: &[&str] =
        &["it", "its", "sie", "es", "c", "ce", "e", "het", "hij", "er", "that", "das", "now", "y"];
    const STILL: &[&str] = &[
        "now",
        "still",
        "currently",
        "just",
        "jetzt",
        "noch",
        "immer",
        "weiterhin",
        "nun",
        "maintenant",
        "toujours",
        "encore",
        "ahora",
        "todavia",
        "adesso",
        "ora",
        "ancora",
        "agora",
        "ainda",
        "nu",
        "nog",
        "steeds",
        "simply",
        "again",
        "wieder",
        "le",
        "la",
        "el",
        "o",
        "il",
        "de",
        "die",
        "it",
        "s",
    ];
    if !matches!(value, Value::Code | Value::Password) {
        return None;
    }
    let near = from..split.words.len().min(from + MAX_WORDS_BETWEEN + 2);
    let word = |at: usize| split.folded.get(at).map_or("", String::as_str);
    for at in
        near.take_while(|at| !ends_sentence(split, *at) || gap_before(split, *at).contains(';'))
    {
        if !opens_clause(split, at) || !(PRONOUNS.contains(&word(at)) || VERBS.contains(&word(at)))
        {
            continue;
        }
        let is_verb = |n: &usize| VERBS.contains(&word(*n)) || STILL.contains(&word(*n));
        let first = (at + 1..at + 6).find(|n| !is_verb(n))?;
        // "It's" has no word for "is".
        let said = (at..first).any(|n| VERBS.contains(&word(n)) || word(n) == "it");
        let run = value_at(split, first).filter(|_| said && !ends_clause(split, first))?;
        let fits = match value {
            Value::Password => is_chosen(run.text),
            _ => is_code(run.text) && is_followed_as_code(split, run),
        };
        return fits.then(|| secret(run, value));
    }
    None
}

/// "The code that the bank sent me: 471147": six digits behind a colon or a verb in the clause.
fn sent_code(split: &SplitText<'_>, name: usize, from: usize, value: Value) -> Option<FoundSecret> {
    let other = name.checked_sub(1).is_some_and(|at| OTHER_CODES.contains(&split.folded[at]));
    if value != Value::StatedCode || other {
        return None;
    }
    let near = from..split.words.len().min(from + MAX_WORDS_BETWEEN);
    let mut near = near.take_while(|at| !ends_clause(split, *at));
    let place = near.find(|at| gap_before(split, *at).contains(':'))?;
    let run = value_at(split, place)?;
    let fits = is_digits(run.text) && run.text.len() == 6 && closes(split, run);
    fits.then(|| secret(run, Value::Code))
}

/// "The PIN changed from 4711 to 4712": both values.
fn changed(split: &SplitText<'_>, from: usize, value: Value) -> Vec<FoundSecret> {
    const FROM_TO: &[(&str, &str)] =
        &[("from", "to"), ("von", "auf"), ("von", "zu"), ("de", "a"), ("da", "a")];
    if !matches!(value, Value::Code | Value::Password) {
        return Vec::new();
    }
    for at in from..split.words.len().min(from + MAX_WORDS_BETWEEN) {
        if at > from && ends_clause(split, at) {
            return Vec::new();
        }
        let word = |n: usize| split.folded.get(n).map_or("", String::as_str);
        if FROM_TO.iter().any(|(first, second)| word(at) == *first && word(at + 2) == *second) {
            let values = [value_at(split, at + 1), value_at(split, at + 3)];
            let [Some(old), Some(new)] = values else { return Vec::new() };
            let fits = |run: Run<'_>| is_code(run.text) || is_chosen(run.text);
            if fits(old) && fits(new) {
                return vec![secret(old, value), secret(new, value)];
            }
        }
    }
    Vec::new()
}

/// "root:Blue4711": an account name and a password, without a name for either.
fn account(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    if !ACCOUNTS.contains(&split.folded[at].as_str()) {
        return None;
    }
    let behind = &split.text[split.words[at].end..];
    let mark = [" / ", ":"].iter().find(|mark| behind.starts_with(**mark))?;
    let run = split.run_at(split.words[at].end + mark.len());
    let range = run.range();
    let fits = is_chosen(run.text) && !run.text.contains([':', '/']);
    fits.then_some(FoundSecret { range, kind: SecretKind::LOGIN })
}

/// `docker login -u me -p Blue4711`.
fn login_commands(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let text = split.text;
    let flags = text.match_indices(" -p ").filter_map(|(at, flag)| {
        let before = &text[text.floor_char_boundary(at.saturating_sub(80))..at];
        let command = LOGIN_COMMANDS.iter().any(|name| before.contains(name));
        let run = split.run_at(at + flag.len());
        let fits = head(run.text, MAX_VALUE_BYTES).len() >= 4 && !is_placeholder(run.text);
        let secret = FoundSecret { range: run.range(), kind: SecretKind::LOGIN };
        (command && fits).then_some(secret)
    });
    flags.collect()
}

/// A line of `.pgpass`: host, port, database, user, password.
fn password_files(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let lines = super::runs(split.text).filter_map(|run| {
        let parts: Vec<&str> = head(run.text, 256).split(':').collect();
        let &[_, port, _, user, password] = parts.as_slice() else { return None };
        let port = port == "*" || (port.len() >= 2 && port.bytes().all(|b| b.is_ascii_digit()));
        let start = run.range().end.checked_sub(password.len())?;
        let secret = FoundSecret { range: start..run.range().end, kind: SecretKind::LOGIN };
        (port && !user.is_empty() && is_chosen(password)).then_some(secret)
    });
    lines.collect()
}

/// The run that begins with this word, if it is short enough to be a value.
pub(super) fn value_at<'t>(split: &SplitText<'t>, at: usize) -> Option<Run<'t>> {
    let run = split.run_at(split.words.get(at)?.start);
    (run.text.len() <= MAX_VALUE_BYTES && !is_placeholder(run.text)).then_some(run)
}

fn is_value(split: &SplitText<'_>, run: Run<'_>, value: Value) -> bool {
    match value {
        Value::Password => {
            is_chosen(run.text) || (run.text.len() >= 5 && is_mixed(run.text) && closes(split, run))
        }
        Value::Code => is_code(run.text) && closes(split, run),
        // Many harmless things are called a code; six digits are what one-time codes have.
        Value::StatedCode => is_code(run.text) && run.text.len() == 6 && closes(split, run),
        _ => false,
    }
}

/// Whether a text looks like a chosen password: a word with a number or a mark in it.
pub(super) fn is_chosen(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let address = text.contains("://") || text.contains('@') && text.contains('.');
    text.len() >= 6 && letters >= 3 && digits >= 2 && is_mixed(text) && !address
}

/// Whether a text is a licence key: at least three groups of capitals and digits, equally long.
pub(super) fn are_groups(run: &str) -> bool {
    let groups: Vec<&str> = run.split('-').collect();
    let capitals = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    groups.len() >= 3
        && groups.iter().all(|group| group.len() == groups[0].len() && group.bytes().all(capitals))
        && (4..=8).contains(&groups[0].len())
}

/// Whether a text is a number of four to eight digits, and not a year.
pub(super) fn is_code(text: &str) -> bool {
    is_digits(text) && (4..=8).contains(&text.len()) && !is_year(text)
}

/// Whether a text is a year of this or the last century.
pub(super) fn is_year(text: &str) -> bool {
    is_digits(text) && text.len() == 4 && ("1900".."2050").contains(&text)
}

/// Whether a text is six digits in two groups, as one-time codes are written: "471 147".
fn is_grouped(text: &str) -> bool {
    text.split([' ', '-']).map(|part| (part.len(), is_digits(part))).eq([(3, true), (3, true)])
}

/// Whether a text has only digits, and one at least.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether what follows a number does not make it a count: "4711 for the gate", not "4711 lines".
pub(super) fn is_followed_as_code(split: &SplitText<'_>, run: Run<'_>) -> bool {
    let next = split.words.partition_point(|word| word.start < run.range().end);
    closes(split, run) || split.folded.get(next).is_some_and(|word| AFTER_CODE.contains(word))
}

/// Whether nothing of the clause follows a value: "is 4711 lines long" names no code.
pub(super) fn closes(split: &SplitText<'_>, run: Run<'_>) -> bool {
    let behind = split.text[run.range().end..].trim_start_matches([' ', '\t']);
    behind.chars().next().is_none_or(|c| !c.is_alphanumeric())
}

/// Whether a clause begins with this word, behind a comma, a dash or a colon.
fn opens_clause(split: &SplitText<'_>, at: usize) -> bool {
    let gap = gap_before(split, at);
    ends_clause(split, at) || [" - ", "–", "—", ":"].iter().any(|mark| gap.contains(mark))
}

/// Whether a clause ends before this word.
pub(super) fn ends_clause(split: &SplitText<'_>, at: usize) -> bool {
    gap_before(split, at).contains([',', '，', '、']) || ends_sentence(split, at)
}

/// Whether a sentence ends before this word.
pub(super) fn ends_sentence(split: &SplitText<'_>, at: usize) -> bool {
    let gap = gap_before(split, at);
    gap.contains(['\n', '!', '?', ';', '。', '！', '？']) || gap.contains(". ")
}

/// The text between a word and the one before it.
pub(super) fn gap_before<'t>(split: &SplitText<'t>, at: usize) -> &'t str {
    let start = at.checked_sub(1).and_then(|b| split.words.get(b)).map_or(0, |word| word.end);
    let end = split.words.get(at).map_or(split.text.len(), |word| word.start);
    split.text.get(start..end).unwrap_or_default()
}

pub(super) fn secret(run: Run<'_>, value: Value) -> FoundSecret {
    FoundSecret { range: run.range(), kind: value.kind() }
}
