//! Corrections and changes: what is not true, or no longer true, and what is true instead.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::claim::{Language, claim};
use super::sentence::Sentence;
use super::{Statement, StatementKind};
use crate::lexicon::lexicon;
use crate::screen::person::speaks_of_self;
use crate::screen::phrase::{Found, Phrases, fold};
use crate::slot::{Slot, is_about_other, slot_of};
use crate::word::{is_east_asian, words};
use Language::{English, Other};

/// "That's wrong": any clause about the user that follows is a correction.
static CORRECT: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/correct", en)),
        (Other, lexicon!("statement/correct", de fr es it pt nl pl ru zh ja ko)),
    ])
});
/// "No", "actually": only a clause about an attribute with one value is a correction.
static CORRECT_WEAK: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/correct_weak", en)),
        (Other, lexicon!("statement/correct_weak", de fr es it pt nl pl ru zh ja ko)),
    ])
});
static NOT_CORRECT: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/not_correct", en de fr es it pt nl pl ru zh ja ko))])
});
/// Words that deny a clause.
static NEGATIONS: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/negations", en)),
        (Other, lexicon!("statement/negations", de fr es it pt nl pl ru zh)),
    ])
});
/// "But", between what is denied and what is true.
static CONTRASTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/contrasts", en de fr es it pt nl pl ru zh).words());
/// Words after the verb that show a kind or an origin: "a nurse", "from Porto".
static KINDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/kinds", en de fr es it pt nl pl ru zh).words());
static CHANGE: LazyLock<Phrases<(Language, Option<Slot>)>> = LazyLock::new(|| {
    Phrases::new([
        ((English, Some(Slot::Residence)), lexicon!("statement/change_residence", en)),
        (
            (Other, Some(Slot::Residence)),
            lexicon!("statement/change_residence", de fr es it pt nl pl ru zh),
        ),
        ((English, Some(Slot::Job)), lexicon!("statement/change_job", en)),
        ((Other, Some(Slot::Job)), lexicon!("statement/change_job", de fr es it pt nl pl ru zh)),
        ((English, Some(Slot::Partner)), lexicon!("statement/change_partner", en)),
        (
            (Other, Some(Slot::Partner)),
            lexicon!("statement/change_partner", de fr es it pt nl pl ru zh),
        ),
        ((English, None), lexicon!("statement/change", en)),
        ((Other, None), lexicon!("statement/change", de fr es it pt nl pl ru zh)),
    ])
});
/// Changes in languages with the verb at the end.
static CHANGE_END: LazyLock<Phrases<Option<Slot>>> = LazyLock::new(|| {
    Phrases::new([
        (Some(Slot::Residence), lexicon!("statement/change_residence_end", ja ko)),
        (Some(Slot::Job), lexicon!("statement/change_job_end", ja ko)),
        (Some(Slot::Partner), lexicon!("statement/change_partner_end", ja ko)),
        (None, lexicon!("statement/change_end", ja ko)),
    ])
});
/// Words between what is denied and what is true, in languages with the verb at the end.
static CONTRAST_MIDDLE: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/contrast_middle", ja ko))]));
static NOT_CHANGE: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/not_change", en de fr es it pt nl pl ru zh ja ko))])
});
/// "No longer", and the words around a verb that mean it.
static NO_LONGER: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/no_longer", en)),
        (Other, lexicon!("statement/no_longer", de fr es it pt nl pl ru zh)),
    ])
});
/// The beginning of a clause after the change: "and I need", "so can you".
static CONTINUATIONS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/continuations", en de fr es it pt nl pl ru zh))])
});

/// A correction after words that announce one: "No, I live in Porto."
pub(super) fn correct(own: &Sentence) -> Option<Statement> {
    let strong = first(own, &CORRECT);
    let found =
        strong.or_else(|| first(own, &CORRECT_WEAK).filter(|found| announces(own, found)))?;
    let clause = own.slice(found.end..own.words.len());
    let slot = slot_of(clause);
    let is_own = speaks_of_self(clause) && own.words.len() - found.end >= 3;
    if !is_own || (slot.is_none() && strong.is_none()) || is_excepted(own, &NOT_CORRECT, found.end)
    {
        return None;
    }
    let clause = own.slice(found.end..continuation(own, found.end));
    let content = claim(clause, found.means)?;
    Some(statement(StatementKind::Correct, content, None, slot, own))
}

/// Whether "no" or the like stands apart from the clause behind it. In "no vivo" it denies the verb.
fn announces(own: &Sentence, found: &Found<Language>) -> bool {
    let is_apart = own.gap_before(found.end).chars().any(|c| !c.is_whitespace());
    let is_english = found.means == English && ["i", "my"].contains(&own.token(found.end));
    found.start <= own.clause_start() && (is_apart || is_english)
}

/// A correction that names both values: "I'm not a nurse, I'm a physiotherapist." or "I'm
/// vegetarian, not vegan." Also returns how many sentences it takes.
pub(super) fn contrast(own: &Sentence, next: Option<&Sentence>) -> Option<(Statement, usize)> {
    if let Some(found) = denied_before_verb(own) {
        return Some((found, 1));
    }
    let start = correction_start(own);
    let negation = own.matches(&NEGATIONS).into_iter().find(|found| found.start >= start)?;
    denied_first(own, next, negation, start)
        .or_else(|| denied_last(own, negation, start).map(|found| (found, 1)))
}

/// The position after the words that announce a correction, and a comma.
fn correction_start(own: &Sentence) -> usize {
    let start = own.clause_start();
    let weak = own.matches(&CORRECT_WEAK).into_iter().find(|found| found.start == start);
    let has_comma =
        |at: usize| at < own.words.len() && own.gap_before(at).contains([',', '，', '、']);
    weak.map(|found| found.end).filter(|at| has_comma(*at)).unwrap_or(start)
}

/// "私は看護師ではなく、理学療法士です。"
fn denied_before_verb(own: &Sentence) -> Option<Statement> {
    let found = own.matches(&CONTRAST_MIDDLE).into_iter().next()?;
    let start = own.clause_start();
    let denied = own.slice(start..found.start);
    let truth = own.slice(found.end..own.words.len());
    let subject = &denied[..subject_bytes(denied)];
    let told = format!("{subject}{truth}");
    let slot = slot_of(&told).filter(|_| !subject.is_empty() && !own.has_frame() && !own.asks)?;
    let (content, replaces) = (claim(&told, Other)?, claim(denied, Other));
    Some(statement(StatementKind::Correct, content, replaces, Some(slot), own))
}

/// The length of the user as the subject at the start of a Japanese or Korean clause.
fn subject_bytes(clause: &str) -> usize {
    const SUBJECTS: [&str; 8] = ["私は", "僕は", "俺は", "저는 ", "나는 ", "전 ", "난 ", "제가 "];
    let found = SUBJECTS.iter().find(|subject| clause.starts_with(**subject));
    found.map_or(0, |subject| subject.len())
}

fn denied_first(
    own: &Sentence,
    next: Option<&Sentence>,
    negation: Found<Language>,
    start: usize,
) -> Option<(Statement, usize)> {
    let middle = own.clause_end(start);
    if !own.tokens()[start].opens || negation.start >= middle || negation.start > start + 4 {
        return None;
    }
    let denied = affirm(own, start, middle, negation);
    let (other, from, used) = if middle < own.words.len() {
        (own, middle, 1)
    } else {
        (next.filter(|next| !next.asks && !next.is_quoted() && !next.is_too_long())?, 0, 2)
    };
    let skips = |at: &usize| CONTRASTS.contains(other.token(*at));
    let from = (from..other.words.len()).find(|at| !skips(at))?;
    let to = other.clause_end(from);
    let told = resolve_it(other, from, to, &denied);
    let (first, second) = (words_of(&denied), words_of(&told));
    let shared = first.iter().zip(&second).take_while(|(a, b)| a == b).count();
    let slot = slot_of(&told).filter(|slot| slot_of(&denied) == Some(*slot));
    let is_kind = first.get(shared.saturating_sub(1)).is_some_and(|word| KINDS.contains(word));
    let is_own = speaks_of_self(&denied);
    if shared == 0 || shared == second.len() || !is_own || !(slot.is_some() || is_kind) {
        return None;
    }
    let content = claim(&told, negation.means)?;
    let replaces = claim(&denied, negation.means);
    let mut found = statement(StatementKind::Correct, content, replaces, slot, own);
    found.at.end = other.at.end;
    Some((found, used))
}

/// "I'm vegetarian, not vegan."
fn denied_last(own: &Sentence, negation: Found<Language>, start: usize) -> Option<Statement> {
    const MAX_DENIED_WORDS: usize = 4;
    let at = negation.start;
    let after = own.words.len().min(own.clause_end(at));
    let is_clause = at > start && own.clause_end(at - 1) == at && after == own.words.len();
    let denied = negation.end..after;
    if !is_clause || denied.is_empty() || denied.len() > MAX_DENIED_WORDS {
        return None;
    }
    let clause = own.slice(start..at);
    let slot = slot_of(clause).filter(|_| speaks_of_self(clause))?;
    let is_capital = |at: usize| own.slice(at..at + 1).starts_with(char::is_uppercase);
    // The denied words replace those from the same word on, a name, or as many as they are.
    let same = (start + 1..at).rev().find(|n| own.token(*n) == own.token(denied.start));
    let name = || (start + 1..at).rev().take_while(|n| is_capital(*n)).last();
    let kept = same
        .or_else(|| name().filter(|_| is_capital(denied.start)))
        .unwrap_or_else(|| at.saturating_sub(denied.len()).max(start + 1));
    let replaced = format!("{} {}", own.slice(start..kept), own.slice(denied));
    let content = claim(clause, negation.means)?;
    let replaces = claim(&replaced, negation.means);
    Some(statement(StatementKind::Correct, content, replaces, Some(slot), own))
}

/// The clause without its negation, as written.
fn affirm(own: &Sentence, start: usize, end: usize, negation: Found<Language>) -> String {
    let mut kept = String::new();
    let mut denies: Vec<_> = own.matches(&NEGATIONS);
    denies.retain(|found| found.end <= end && found.start >= negation.start);
    let is_denial = |at: usize| denies.iter().any(|found| found.start <= at && at < found.end);
    for at in start..end {
        if is_denial(at) {
            // "isn't" is the words "isn" and "t".
            if let Some(verb) = ["is", "was", "are"].iter().find(|verb| {
                own.token(at).strip_suffix('n') == Some(verb) && own.token(at + 1) == "t"
            }) {
                kept.push(' ');
                kept.push_str(verb);
            }
            continue;
        }
        let joined = at > start && is_denial(at - 1);
        let gap = if at == start || joined { "" } else { own.gap_before(at) };
        if joined && !kept.is_empty() && !own.slice(at..at + 1).chars().all(is_east_asian) {
            kept.push(' ');
        }
        kept.push_str(gap);
        kept.push_str(own.slice(at..at + 1));
    }
    kept
}

/// The clause, with the subject and verb of the denied one in place of "it's".
fn resolve_it(own: &Sentence, from: usize, to: usize, denied: &str) -> String {
    let is_it = own.token(from) == "it" && from + 1 < to;
    let rest = from + 1 + usize::from(own.token(from + 1) == "is");
    match denied.split_once(" is ").filter(|_| is_it) {
        Some((subject, _)) => format!("{subject} is {}", own.slice(rest..to)),
        None => own.slice(from..to).to_owned(),
    }
}

/// Folded words, with contracted and full forms of "am" alike.
fn words_of(text: &str) -> Vec<String> {
    let full = |word: String| if word == "m" { "am".to_owned() } else { word };
    words(&fold(text)).into_iter().map(|word| full(word.text)).collect()
}

/// A change that the user states: "I moved to Lyon.", "I no longer eat meat."
pub(super) fn change(own: &Sentence) -> Option<Statement> {
    change_following(own).or_else(|| change_at_end(own))
}

/// A change whose verb ends its clause: "東京に引っ越しました。"
fn change_at_end(own: &Sentence) -> Option<Statement> {
    let found = own.matches(&CHANGE_END).into_iter().next()?;
    let start = own.clause_start();
    let is_last =
        found.end >= own.clause_end(found.end - 1) || ["よ", "ね"].contains(&own.token(found.end));
    let before = own.slice(start..found.start);
    if !is_last || own.has_frame() || is_about_other(before) || is_excepted(own, &NOT_CHANGE, 0) {
        return None;
    }
    let clause = own.slice(start..found.end);
    let slot = found.means.or_else(|| slot_of(clause));
    Some(statement(StatementKind::Change, claim(clause, Other)?, None, slot, own))
}

fn change_following(own: &Sentence) -> Option<Statement> {
    let opens = |found: &Found<_>| own.tokens()[found.start].opens;
    let found = own.matches(&CHANGE).into_iter().find(opens)?;
    if is_excepted(own, &NOT_CHANGE, found.start) {
        return None;
    }
    let (language, slot) = found.means;
    let end = continuation(own, found.end.saturating_sub(1)).max(found.end);
    let clause = own.slice(found.start..end);
    let content = claim(clause, language)?;
    let replaces = former(own, found.start, end).and_then(|clause| claim(&clause, language));
    let said = slot_of(clause).or_else(|| replaces.as_deref().and_then(slot_of));
    let slot = said.or(slot);
    Some(statement(StatementKind::Change, content, replaces, slot, own))
}

/// The clause that was true before the change, if its words say it.
fn former(own: &Sentence, start: usize, end: usize) -> Option<String> {
    let tokens = start..end;
    let position = |word: &str| tokens.clone().find(|at| own.token(*at) == word);
    if let (Some(from), Some(to), Some(_)) = (position("from"), position("to"), position("moved"))
        && from + 1 < to
        && own.token(start) == "i"
    {
        return Some(format!("I live in {}", own.slice(from + 1..to)));
    }
    let mut denies = own.matches(&NO_LONGER);
    denies.retain(|found| found.start >= start && found.end <= end);
    let first = *denies.first()?;
    let removed = |at: usize| denies.iter().any(|found| found.start <= at && at < found.end);
    let kept: Vec<usize> = tokens.filter(|at| !removed(*at)).collect();
    let mut clause = String::new();
    for at in kept {
        let apart = at != start && !own.slice(at..at + 1).chars().all(is_east_asian);
        let gap = own.gap_before(at);
        let gap = if removed(at.saturating_sub(1)) && apart { " " } else { gap };
        clause.push_str(if at == start { "" } else { gap });
        clause.push_str(own.slice(at..at + 1));
    }
    (first.end > first.start && !clause.is_empty()).then_some(clause)
}

/// The position where a clause ends because another one begins that is not part of the claim.
fn continuation(own: &Sentence, from: usize) -> usize {
    let next = own.matches(&CONTINUATIONS).into_iter().map(|found| found.start);
    next.filter(|at| *at > from + 1).min().unwrap_or(own.words.len()).min(own.clause_end(from))
}

fn first(own: &Sentence, cues: &Phrases<Language>) -> Option<Found<Language>> {
    own.matches(cues).into_iter().find(|found| own.tokens()[found.start].opens)
}

fn is_excepted(own: &Sentence, except: &Phrases<()>, from: usize) -> bool {
    own.matches(except).into_iter().any(|found| found.start >= from)
}

fn statement(
    kind: StatementKind,
    content: String,
    replaces: Option<String>,
    slot: Option<Slot>,
    own: &Sentence,
) -> Statement {
    Statement { kind, content, replaces, slot, at: own.at.clone() }
}
