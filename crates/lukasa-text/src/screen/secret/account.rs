//! Passwords that are named by what they open or replace: networks, accounts, security questions.
//!
//! The words that are read around a name are bounded, so the cost is linear in the text.

use super::lists::{ANSWERS, CLAUSE, NETWORK_KEYS, NETWORKS, QUESTIONS, SIGNING_IN};
use super::named_values::{SplitText, has_inner_capital, is_another_thing, is_plain};
use super::sentence::{
    MAX_WORDS_BETWEEN, VERBS, closes, ends_clause, ends_sentence, gap_before, is_chosen, secret,
    value_at,
};
use super::vocabulary::Value;
use super::{FoundSecret, Run, SecretKind, is_mixed};

pub(super) fn find(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for at in 0..split.words.len() {
        found.extend(network_key(split, at));
        found.extend(signed_in(split, at));
        found.extend(login(split, at));
        if let Some(length) = QUESTIONS.length_at(&split.folded[at..]) {
            found.extend(answer(split, at, at + length));
        }
    }
    found
}

/// "Our network is Fernhill, key Blue4711": a key named in a sentence about a network.
fn network_key(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    if !NETWORK_KEYS.contains(&split.folded[at]) {
        return None;
    }
    let about = (at.saturating_sub(MAX_WORDS_BETWEEN)..at)
        .rev()
        .take_while(|n| !ends_sentence(split, n + 1))
        .any(|n| NETWORKS.contains(&split.folded[n]));
    if !about {
        return None;
    }
    let next = at + 1;
    let verb = split.folded.get(next).is_some_and(|word| VERBS.contains(&word.as_str()));
    let place = if verb { next + 1 } else { next };
    let with = ["with", "mit", "avec", "con", "com", "met", "and", "und", "et", "y", "e", "en"];
    let joined = at.checked_sub(1).is_some_and(|n| with.contains(&split.folded[n].as_str()));
    let assigned =
        verb || joined || ends_clause(split, at) || gap_before(split, place).contains([':', '=']);
    if is_another_thing(&split.folded, at, at + 1, Value::Password) {
        return None;
    }
    let run = value_at(split, place).filter(|_| !ends_clause(split, place))?;
    let letters = run.text.chars().all(char::is_alphabetic);
    let random = run.text.len() >= 8 && (is_mixed(run.text) || has_inner_capital(run.text));
    let plain = assigned && letters && run.text.len() >= 8 && !is_plain(&split.folded[place]);
    let word = plain && !CLAUSE.contains(&split.folded[place]) && closes(split, run);
    (is_chosen(run.text) || random || word).then(|| secret(run, Value::Password))
}

/// "Login lena Blue4711".
fn login(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let named =
        ["login", "username", "credentials", "zugangsdaten"].contains(&split.folded[at].as_str());
    let apart = |n: usize| [" ", ": "].contains(&gap_before(split, n));
    let run = value_at(split, at + 2).filter(|_| named && apart(at + 1) && apart(at + 2))?;
    let fits = is_chosen(run.text) && closes(split, run);
    fits.then(|| FoundSecret { range: run.range(), kind: SecretKind::LOGIN })
}

/// "I log in as lena with Blue4711", "sign in with lena@firm.example and Blue4711".
fn signed_in(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    const JOINS: &[&str] = &[
        "with",
        "using",
        "and",
        "password",
        "pass",
        "pw",
        "mit",
        "und",
        "passwort",
        "kennwort",
        "avec",
        "et",
        "con",
        "y",
        "e",
        "com",
        "met",
        "en",
        "wachtwoord",
        "contrasena",
        "clave",
        "senha",
        "mdp",
    ];
    let from = at + SIGNING_IN.length_at(&split.folded[at..])?;
    let near = from..split.words.len().min(from + MAX_WORDS_BETWEEN);
    near.skip(1).take_while(|n| !ends_sentence(split, *n)).find_map(|n| {
        let joined = JOINS.contains(&split.folded[n - 1].as_str()) && gap_before(split, n) == " ";
        let beside = [" / ", " | ", " : ", "/"].contains(&gap_before(split, n));
        let run = value_at(split, n).filter(|_| joined || beside)?;
        let fits = is_login_password(run.text);
        fits.then(|| FoundSecret { range: run.range(), kind: SecretKind::LOGIN })
    })
}

fn is_login_password(text: &str) -> bool {
    let marked = text.contains(|c| "!#$%&*?".contains(c)) && text.len() >= 8;
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    let address = text.contains("://") || text.contains('@') && text.contains('.');
    !address
        && (is_chosen(text) || (digit && (marked || has_inner_capital(text) && text.len() >= 8)))
}

/// "The answer to my secret question is Rover", "security question: first pet? Answer: Rover".
fn answer(split: &SplitText<'_>, question: usize, end: usize) -> Option<FoundSecret> {
    const REACH: usize = 12;
    // One question mark or full stop may be between the question and the answer.
    let last = (end..split.words.len().min(end + REACH))
        .scan(0, |ends, n| {
            *ends += usize::from(ends_sentence(split, n));
            (*ends <= 1).then_some(n)
        })
        .last()?;
    let first = question.saturating_sub(MAX_WORDS_BETWEEN);
    let is_answer = |n: &usize| ANSWERS.contains(&split.folded[*n]);
    let before = (first..question).rev().take_while(|n| !ends_sentence(split, n + 1));
    let said = before.into_iter().find(is_answer).or_else(|| (end..=last).find(is_answer))?;
    // "Auf die Sicherheitsfrage habe ich Rover geantwortet".
    let final_verb = ["geantwortet", "geantwoord"].contains(&split.folded[said].as_str());
    if final_verb {
        return said.checked_sub(1).and_then(|n| answer_at(split, n, n + 1));
    }
    let from = said.max(end);
    let assigns = |n: &usize| {
        let behind = gap_before(split, *n).contains([':', '=']);
        let verb = *n > from && VERBS.contains(&split.folded[*n - 1].as_str());
        (behind && *n > said) || verb
    };
    let place = (from..=last).find(assigns)?;
    let end = (place..split.words.len().min(place + 4)).skip(1);
    let end = end.take_while(|n| !ends_clause(split, *n)).last().map_or(place + 1, |n| n + 1);
    answer_at(split, place, end)
}

/// The words from one place to another as an answer, if none of them is of an ordinary clause.
fn answer_at(split: &SplitText<'_>, from: usize, end: usize) -> Option<FoundSecret> {
    const MAX_WORDS: usize = 3;
    let words = split.folded.get(from..end)?;
    let ordinary = |word: &String| CLAUSE.contains(word) || is_plain(word);
    let range = split.words[from].start..split.words[end - 1].end;
    let run = Run { text: &split.text[range.clone()], start: range.start };
    let ends = closes(split, run) || end == from + 1;
    let fits = words.len() <= MAX_WORDS && !words.iter().any(ordinary) && ends;
    fits.then_some(FoundSecret { range, kind: SecretKind::PASSWORD })
}
