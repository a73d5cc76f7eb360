//! Codes of locks: "the safe opens with 4711", "at the gate press 4711", "code of the shed: 4711".
//!
//! Every rule needs a number, a lock and a word that joins them, all in one sentence. The words that
//! are read around a number are bounded, so the cost is linear in the text.

use super::lists::{ENTERING, KEYPADS, LOCKS, OPENED, OPENING, SETTING};
use super::named_values::SplitText;
use super::sentence::{
    MAX_WORDS_BETWEEN, VERBS, closes, ends_clause, ends_sentence, gap_before, is_chosen, is_code,
    is_digits, is_followed_as_code, secret, value_at,
};
use super::vocabulary::{OTHER_CODES, Value};
use super::{FoundSecret, Run, SecretKind};

/// Words between a verb and the number. These lists are spelled as folded text is.
const BEFORE_NUMBER: &[&str] = &[
    "the", "code", "pin", "number", "den", "dem", "der", "die", "nummer", "le", "la", "il", "el",
    "o", "de", "du", "in", "you", "een", "numero", "codigo", "codice", "it", "then", "just",
    "with", "ein", "einfach", "man", "ich", "i", "wir", "ik", "je", "tu", "we",
];

/// Words for a code. With a lock behind them, they name its code.
const CODES: &[&str] = &[
    "code",
    "codes",
    "kode",
    "codigo",
    "codice",
    "combination",
    "combo",
    "kombination",
    "combinaison",
    "combinacion",
    "combinazione",
    "combinacao",
    "combinatie",
    "cijfercode",
    "zahlencode",
    "pin",
    "clave",
    "segredo",
    "chiffre",
    "passcode",
];

/// Words between such a word and the lock, if the first one follows directly.
const OF_LOCK: &[&str] = &[
    "of", "for", "to", "on", "at", "von", "vom", "fur", "furs", "am", "an", "zum", "zur", "der",
    "des", "de", "du", "d", "pour", "a", "sur", "del", "para", "di", "della", "dell", "dello",
    "per", "da", "do", "dos", "das", "van", "voor", "het", "in", "al",
];

pub(super) fn find(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for at in 0..split.words.len() {
        found.extend(opened_with(split, at));
        found.extend(set_to(split, at));
        found.extend(opens_after(split, at));
        found.extend(entered(split, at));
        found.extend(named_lock(split, at));
        found.extend(lock_code(split, at));
        found.extend(used(split, at));
        found.extend(listed(split, at));
        found.extend(turns(split, at));
    }
    found
}

fn word<'s>(split: &'s SplitText<'_>, at: usize) -> &'s str {
    split.folded.get(at).map_or("", String::as_str)
}

/// The words of the sentence up to `MAX_WORDS_BETWEEN` before a place.
fn before(split: &SplitText<'_>, at: usize) -> impl Iterator<Item = usize> {
    let words = (at.saturating_sub(MAX_WORDS_BETWEEN)..at).rev();
    words.take_while(move |n| !ends_sentence(split, n + 1))
}

/// The words of the sentence from a place on.
fn behind(split: &SplitText<'_>, at: usize) -> impl Iterator<Item = usize> {
    let words = at..split.words.len().min(at + MAX_WORDS_BETWEEN);
    words.take_while(move |n| !ends_sentence(split, *n))
}

fn is_lock(split: &SplitText<'_>, at: usize) -> bool {
    LOCKS.contains(&split.folded[at])
}

/// The number behind a verb, with at most three short words between them.
fn number_behind<'t>(split: &SplitText<'t>, from: usize) -> Option<(usize, Run<'t>)> {
    for at in from..(from + 4).min(split.words.len()) {
        if ends_clause(split, at) {
            return None;
        }
        if word(split, at).starts_with(|c: char| c.is_ascii_digit()) {
            return Some((at, value_at(split, at)?));
        }
        if !BEFORE_NUMBER.contains(&word(split, at)) {
            return None;
        }
    }
    None
}

/// Whether a text is a number for a lock: digits, with dashes or full stops between groups.
fn is_lock_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let number = text.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    number && (3..=10).contains(&digits)
}

/// "The door of the flat opens with 4711", "the laptop unlocks with Blue4711".
fn opened_with(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let length = OPENING.length_at(&split.folded[at..])?;
    let named = (at..at + length).chain(before(split, at)).any(|n| is_lock(split, n));
    let lock = named || behind(split, at + length).take(6).any(|n| is_lock(split, n));
    if !lock {
        return None;
    }
    if let Some((_, run)) = number_behind(split, at + length)
        && is_lock_number(run.text)
    {
        return is_followed_as_code(split, run).then(|| secret(run, Value::Code));
    }
    let run = value_at(split, at + length)?;
    is_chosen(run.text).then(|| secret(run, Value::Password))
}

/// "The padlock is set to 472".
fn set_to(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let length = SETTING.length_at(&split.folded[at..])?;
    let keypad = before(split, at).any(|n| KEYPADS.contains(&split.folded[n]));
    let (_, run) = number_behind(split, at + length).filter(|_| keypad)?;
    // "The alarm is set to 0630".
    let alarm = before(split, at).any(|n| word(split, n).starts_with("alarm"));
    let wakes = alarm && is_time(run.text);
    let fits = is_lock_number(run.text) && is_followed_as_code(split, run) && !wakes;
    fits.then(|| secret(run, Value::Code))
}

/// Whether a number can be a time of the day that a user chooses: "0630".
fn is_time(text: &str) -> bool {
    let (hour, minute) = text.split_at(text.len() / 2);
    let below = |part: &str, most: u32| part.parse::<u32>().is_ok_and(|number| number < most);
    text.len() == 4 && below(hour, 24) && below(minute, 60) && minute.ends_with(['0', '5'])
}

/// "4711 gets you into the building".
fn opens_after(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let run = Run { text: word(split, at), start: split.words[at].start };
    if !(is_digits(run.text) && (4..=8).contains(&run.text.len()) && split.words.len() > at + 1) {
        return None;
    }
    let length = OPENED.length_at(&split.folded[at + 1..])?;
    let introduced = at == 0
        || ends_clause(split, at)
        || ["and", "und", "et", "y", "e", "en"].contains(&word(split, at - 1))
        || CODES.contains(&word(split, at - 1));
    let next = at + 1 + length;
    let lock = (at + 1..next).chain(behind(split, next).take(4)).any(|n| is_lock(split, n));
    let range = split.words[at].start..split.words[at].end;
    (introduced && lock && gap_before(split, at + 1) == " ")
        .then_some(FoundSecret { range, kind: SecretKind::ACCESS_CODE })
}

/// "At the front gate I enter 4711", "an der Haustür 4711 eingeben".
fn entered(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    if !ENTERING.contains(&split.folded[at]) {
        return None;
    }
    let (place, run) = match number_behind(split, at + 1) {
        Some((place, run)) if is_followed_as_code(split, run) => (place, run),
        _ => {
            let place = at.checked_sub(1).filter(|_| gap_before(split, at) == " ")?;
            (place, value_at(split, place)?)
        }
    };
    let near = before(split, at).chain(behind(split, place + 1));
    let lock = is_code(run.text) && near.into_iter().any(|n| is_lock(split, n));
    lock.then(|| secret(run, Value::Code))
}

/// "To get into the shed use 4711": a verb of which a number is rarely the object.
fn used(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    const USES: &[&str] =
        &["use", "nimm", "benutze", "benutz", "utilise", "utilisez", "usa", "gebruik"];
    let (place, run) = number_behind(split, at + 1).filter(|_| USES.contains(&word(split, at)))?;
    let mut near = before(split, at).chain(behind(split, place + 1));
    let fits = is_code(run.text) && is_followed_as_code(split, run);
    let keypad = fits && near.any(|n| KEYPADS.contains(&split.folded[n]));
    keypad.then(|| secret(run, Value::Code))
}

/// "Front door: 4711".
fn listed(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let named = at.checked_sub(3).map_or(0..at, |from| from..at);
    let mut named = named.rev().take_while(|n| !ends_clause(split, n + 1));
    let number = is_digits(word(split, at)) && gap_before(split, at).trim_end() == ":";
    let run = value_at(split, at).filter(|_| number)?;
    let fits = is_code(run.text) && closes(split, run);
    let keypad = fits && named.any(|n| KEYPADS.contains(&split.folded[n]));
    keypad.then(|| secret(run, Value::Code))
}

/// "Shed code 4711", "Kellercode 4711": a code that is named after its lock.
fn lock_code(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    const ENDINGS: &[&str] = &["code", "kode", "kod", "pin", "kombination"];
    let own = word(split, at);
    let lock =
        |name: &str| LOCKS.contains(name) || LOCKS.contains(name.trim_end_matches(['s', 'n']));
    let compound = ENDINGS.iter().filter_map(|end| own.strip_suffix(end)).any(lock);
    let apart = ENDINGS.contains(&own) && at.checked_sub(1).is_some_and(|n| is_lock(split, n));
    let (_, run) = number_behind(split, at + 1).filter(|_| compound || apart)?;
    let fits = is_code(run.text) && is_followed_as_code(split, run);
    fits.then(|| secret(run, Value::Code))
}

/// "Code de la boîte à clés : 4711", "la combinazione della cassaforte è 471147".
fn named_lock(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    if !CODES.contains(&word(split, at)) || !OF_LOCK.contains(&word(split, at + 1)) {
        return None;
    }
    if at.checked_sub(1).is_some_and(|b| OTHER_CODES.contains(&split.folded[b])) {
        return None;
    }
    let mut lock = false;
    for place in at + 1..split.words.len().min(at + 1 + MAX_WORDS_BETWEEN + 4) {
        if ends_clause(split, place) {
            return None;
        }
        if lock && word(split, place).starts_with(|c: char| c.is_ascii_digit()) {
            let run = value_at(split, place)?;
            let assigned = gap_before(split, place).contains([':', '='])
                || VERBS.contains(&word(split, place - 1))
                || is_lock(split, place - 1);
            let number = is_lock_number(run.text) && run.text.len() >= 4;
            let fits = number && (assigned || is_code(run.text)) && is_followed_as_code(split, run);
            return fits.then(|| secret(run, Value::Code));
        }
        lock |= is_lock(split, place);
    }
    None
}

/// "The combination is 74 left, 48 right, 71 left", "turn 74 right, 48 left, 71 right and the safe
/// opens": all numbers as one run.
fn turns(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    const TURNS: &[&str] =
        &["left", "right", "links", "rechts", "gauche", "droite", "izquierda", "derecha"];
    const JOINS: &[&str] = &["then", "and", "dann", "und", "puis", "et", "a", "nach", "luego", "y"];
    let number = |at: usize| is_digits(word(split, at)) && word(split, at).len() <= 2;
    let turn = |at: usize| TURNS.contains(&word(split, at));
    // The first number of the row.
    let begins = number(at) && !(at.saturating_sub(3)..at).any(number);
    if !begins {
        return None;
    }
    let (mut last, mut numbers, mut turned) = (at, 1, 0);
    for place in at + 1..split.words.len().min(at + 12) {
        match () {
            () if ends_sentence(split, place) => break,
            () if number(place) => (last, numbers) = (place, numbers + 1),
            () if turn(place) => turned += 1,
            () if JOINS.contains(&word(split, place)) => (),
            () => break,
        }
    }
    let is_named = |n: usize| is_lock(split, n) || CODES.contains(&word(split, n));
    let named = || before(split, at).chain(behind(split, last + 1)).any(is_named);
    let range = split.words[at].start..split.words[last].end;
    let fits = numbers >= 3 && turned >= 2 && named();
    fits.then_some(FoundSecret { range, kind: SecretKind::ACCESS_CODE })
}
