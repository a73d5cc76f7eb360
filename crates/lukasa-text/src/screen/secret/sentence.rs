//! Secrets that a sentence names without putting the value right behind the name: "is Blue4711 a good
//! password?", "the password we share is ...", "locker 4711, that is the code".
//!
//! Every rule needs the name of a secret and a value in one clause. The words of a clause are bounded,
//! so the cost is linear in the text.

use super::named_values::{SplitText, is_another_thing, name_at};
use super::vocabulary::{OTHER_CODES, Value};
use super::{FoundSecret, Run, SecretKind, head, is_mixed, is_placeholder};

/// The longest value that is examined, in bytes.
const MAX_VALUE_BYTES: usize = 64;

/// How many words may be between a name and its value.
const MAX_WORDS_BETWEEN: usize = 8;

/// Verbs that join a name and a value. These lists are spelled as folded text is.
const VERBS: &[&str] =
    &["is", "was", "are", "ist", "war", "lautet", "est", "es", "era", "e", "jest", "ar", "er"];

/// Words before a password that a user mentions or asks about.
const USES: &[&str] = &[
    "is", "use", "used", "using", "uses", "ist", "verwende", "nutze", "benutze", "utilise", "est",
    "uso", "es", "e",
];

/// Words between a value and the name that refers back to it: "4711, that is the code".
const REFERS: &[&str] = &[
    "that", "that's", "thats", "das", "c'est", "c", "cela", "ese", "esa", "eso", "quello", "esse",
];

/// Things that are opened with a number.
const LOCKS: &[&str] = &[
    "door",
    "gate",
    "garage",
    "safe",
    "lock",
    "padlock",
    "locker",
    "lockbox",
    "keypad",
    "suitcase",
    "luggage",
    "tur",
    "haustur",
    "tor",
    "tresor",
    "schloss",
    "koffer",
    "porte",
    "portail",
    "coffre",
    "cadenas",
    "puerta",
    "candado",
    "porton",
    "porta",
    "cancello",
    "lucchetto",
    "deur",
    "kluis",
];

/// Places and devices with a code of their own.
const DEVICES: &[&str] = &[
    "alarm",
    "phone",
    "sim",
    "card",
    "atm",
    "voicemail",
    "tablet",
    "building",
    "entrance",
    "flat",
    "apartment",
    "house",
    "office",
    "gym",
    "haus",
    "wohnung",
    "handy",
    "karte",
    "alarmanlage",
    "eingang",
    "immeuble",
    "residence",
    "maison",
    "telephone",
    "carte",
    "alarme",
    "entree",
    "edificio",
    "casa",
    "movil",
    "tarjeta",
    "alarma",
    "entrada",
    "garaje",
    "portal",
    "cartao",
    "telefono",
    "ingresso",
];

/// What says that a number opens a lock: one of these, then a word that joins it to the number.
const OPENS: &[(&str, &[&str])] = &[
    ("opens", &["with", "on", "by"]),
    ("unlocks", &["with", "on", "by"]),
    ("set", &["to"]),
    ("offnet", &["mit"]),
    ("auf", &["mit"]),
    ("s'ouvre", &["avec"]),
    ("ouvre", &["avec"]),
    ("abre", &["con", "com"]),
    ("apre", &["con"]),
];

/// Passwords that are often several plain words.
const PASSPHRASES: &[&str] = &[
    "passphrase",
    "pass phrase",
    "master password",
    "masterpasswort",
    "hauptpasswort",
    "phrase de passe",
    "phrase secrete",
    "frase de contrasena",
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
            found.extend(turns(split, at, at + length));
            found.extend(passphrase(split, at, at + length));
        }
        found.extend(opened_lock(split, at));
        found.extend(entered(split, at));
        found.extend(account(split, at));
    }
    found.extend(login_commands(split));
    found.extend(password_files(split));
    found
}

/// "The password we share is Blue4711": the value behind a verb in the same clause.
fn after_verb(split: &SplitText<'_>, from: usize, value: Value) -> Option<FoundSecret> {
    for at in from..split.words.len().min(from + MAX_WORDS_BETWEEN) {
        if at > from && ends_clause(split, at) {
            return None;
        }
        if VERBS.contains(&split.folded[at].as_str()) && !ends_clause(split, at + 1) {
            let run = value_at(split, at + 1)?;
            return is_value(split, run, value).then(|| secret(run, value));
        }
    }
    None
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
            let place = from == at || (from..at).any(|n| is_lock(&split.folded[n]));
            return (place && closes(split, run)).then(|| secret(run, value));
        }
    }
    None
}

/// "At the front gate I enter 4711": a number that is typed into a lock, a phone or a card reader.
fn entered(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    const ENTERS: &[&str] = &[
        "enter", "enters", "press", "type", "punch", "dial", "tippe", "gib", "taper", "tape",
        "tapez", "marca", "marcar", "teclea", "digita", "digito",
    ];
    const BEHIND_CODE: &[&str] = &[
        "at", "on", "in", "and", "then", "into", "to", "auf", "an", "am", "und", "sur", "au", "et",
        "en", "y", "e", "a", "al", "nel", "no", "na",
    ];
    if !ENTERS.contains(&split.folded[at].as_str()) {
        return None;
    }
    let next =
        if split.folded.get(at + 1).is_some_and(|word| word == "in") { at + 2 } else { at + 1 };
    let run = value_at(split, next).filter(|run| is_code(run.text))?;
    // "I type 4000 words" counts something.
    let counts =
        split.folded.get(next + 1).is_some_and(|word| !BEHIND_CODE.contains(&word.as_str()));
    if counts && !closes(split, run) {
        return None;
    }
    let before = (at.saturating_sub(MAX_WORDS_BETWEEN)..at).rev();
    let before = before.take_while(|n| !ends_sentence(split, n + 1));
    let behind = next + 1..split.words.len().min(next + 1 + MAX_WORDS_BETWEEN);
    let mut near = before.chain(behind.take_while(|n| !ends_sentence(split, *n)));
    near.any(|n| is_lock(&split.folded[n])).then(|| secret(run, Value::Code))
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
        .find(|at| REFERS.contains(&split.folded[*at].as_str()) && ends_clause(split, *at))?;
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

/// "The combination is 74 left, 48 right, 71 left": all numbers as one run.
fn turns(split: &SplitText<'_>, name: usize, from: usize) -> Option<FoundSecret> {
    const TURNS: &[&str] = &["left", "right", "links", "rechts", "gauche", "droite", "then"];
    if !["combination", "combo", "kombination", "combinacion", "combinaison"]
        .contains(&split.folded[name].as_str())
    {
        return None;
    }
    let number = |at: usize| {
        split.folded.get(at).is_some_and(|w| w.len() <= 2 && w.bytes().all(|b| b.is_ascii_digit()))
    };
    let first = (from..split.words.len().min(from + MAX_WORDS_BETWEEN)).find(|at| number(*at))?;
    let mut last = first;
    let mut numbers = 1;
    for at in first + 1..split.words.len().min(first + 8) {
        match () {
            () if number(at) => (last, numbers) = (at, numbers + 1),
            () if TURNS.contains(&split.folded[at].as_str()) => (),
            () => break,
        }
    }
    let range = split.words[first].start..split.words[last].end;
    (numbers >= 3).then_some(FoundSecret { range, kind: SecretKind::ACCESS_CODE })
}

/// "Master password of the vault: maple river copper falcon": all words behind the colon.
fn passphrase(split: &SplitText<'_>, name: usize, from: usize) -> Option<FoundSecret> {
    const WORDS: std::ops::RangeInclusive<usize> = 3..=12;
    const INSTRUCTIONS: &[&str] = &["the", "you", "your", "of", "to", "is", "and", "or", "please"];
    let named = split.folded[name..from].join(" ");
    if !PASSPHRASES.contains(&named.as_str()) {
        return None;
    }
    let near = from..split.words.len().min(from + MAX_WORDS_BETWEEN);
    let first = near.take_while(|at| !ends_sentence(split, *at));
    let first = first.into_iter().find(|at| gap_before(split, *at).contains([':', '=']))?;
    let plain = |at: &usize| {
        let gap = gap_before(split, *at);
        (*at == first || gap == " " || gap == "-")
            && split.folded[*at].bytes().all(|b| b.is_ascii_lowercase())
            && !INSTRUCTIONS.contains(&split.folded[*at].as_str())
    };
    let count = (first..split.words.len().min(first + WORDS.end() + 1)).take_while(plain).count();
    let range = split.words[first].start..split.words.get(first + count.checked_sub(1)?)?.end;
    let run = Run { text: &split.text[range.clone()], start: range.start };
    let fits = WORDS.contains(&count) && closes(split, run);
    fits.then_some(FoundSecret { range, kind: SecretKind::PASSWORD })
}

/// "The door of the flat opens with 4711": a number behind a verb of opening, with a lock before it.
fn opened_lock(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let word = |n: usize| split.folded.get(n).map_or("", String::as_str);
    let (_, joins) = OPENS.iter().find(|(verb, _)| word(at) == *verb)?;
    if !joins.contains(&word(at + 1)) {
        return None;
    }
    let lock = (at.saturating_sub(MAX_WORDS_BETWEEN)..at)
        .rev()
        .take_while(|n| !ends_sentence(split, n + 1))
        .any(|n| is_lock(word(n)));
    let run = value_at(split, at + 2).filter(|_| lock)?;
    let digits = run.text.bytes().filter(u8::is_ascii_digit).count();
    let number = run.text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    let fits = number && (3..=10).contains(&digits) && closes(split, run);
    fits.then(|| secret(run, Value::Code))
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
fn value_at<'t>(split: &SplitText<'t>, at: usize) -> Option<Run<'t>> {
    let run = split.run_at(split.words.get(at)?.start);
    (run.text.len() <= MAX_VALUE_BYTES && !is_placeholder(run.text)).then_some(run)
}

fn is_value(split: &SplitText<'_>, run: Run<'_>, value: Value) -> bool {
    match value {
        Value::Password => is_chosen(run.text),
        Value::Code => is_code(run.text) && closes(split, run),
        // Many harmless things are called a code; six digits are what one-time codes have.
        Value::StatedCode => is_code(run.text) && run.text.len() == 6 && closes(split, run),
        _ => false,
    }
}

fn is_lock(word: &str) -> bool {
    LOCKS.contains(&word) || DEVICES.contains(&word)
}

/// Whether a text looks like a chosen password: a word with a number or a mark in it.
fn is_chosen(text: &str) -> bool {
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
fn is_code(text: &str) -> bool {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
    digits && (4..=8).contains(&text.len()) && !year
}

/// Whether nothing of the clause follows a value: "is 4711 lines long" names no code.
fn closes(split: &SplitText<'_>, run: Run<'_>) -> bool {
    let behind = split.text[run.range().end..].trim_start_matches([' ', '\t']);
    behind.chars().next().is_none_or(|c| !c.is_alphanumeric())
}

/// Whether a clause ends before this word.
fn ends_clause(split: &SplitText<'_>, at: usize) -> bool {
    gap_before(split, at).contains([',', '，', '、']) || ends_sentence(split, at)
}

/// Whether a sentence ends before this word.
fn ends_sentence(split: &SplitText<'_>, at: usize) -> bool {
    let gap = gap_before(split, at);
    gap.contains(['\n', '!', '?', ';', '。', '！', '？']) || gap.contains(". ")
}

/// The text between a word and the one before it.
fn gap_before<'t>(split: &SplitText<'t>, at: usize) -> &'t str {
    let start = at.checked_sub(1).and_then(|b| split.words.get(b)).map_or(0, |word| word.end);
    let end = split.words.get(at).map_or(split.text.len(), |word| word.start);
    split.text.get(start..end).unwrap_or_default()
}

fn secret(run: Run<'_>, value: Value) -> FoundSecret {
    FoundSecret { range: run.range(), kind: value.kind() }
}
