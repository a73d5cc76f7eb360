//! Requests to the memory and the assistant: what to remember and to forget, rules, and the name to
//! use.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::claim::{Language, claim, main_clause, sentence};
use super::sentence::Sentence;
use super::{Statement, StatementKind};
use crate::lexicon::lexicon;
use crate::screen::ground;
use crate::screen::person::speaks_of_self;
use crate::screen::phrase::{Found, Phrases};
use crate::slot::{Slot, named_slot, slot_of};
use crate::word::is_east_asian;
use Language::{English, Other};

/// How sure a request is a request of this kind, by its words alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Any clause may follow.
    Strong,
    /// Only a clause about the user may follow.
    Weak,
    /// Only words that name a topic may follow.
    Topic,
    /// Only several words that name a thing may follow.
    Named,
}

impl Weight {
    /// How many words with content must follow.
    fn min_content_words(self) -> usize {
        match self {
            Weight::Strong | Weight::Weak => 0,
            Weight::Topic => 1,
            Weight::Named => 2,
        }
    }
}

/// Maximum number of words up to the one that mentions the user: "when I travel".
const MAX_LEAD_WORDS: usize = 4;

/// Minimum number of words of an English clause that begins with "my".
const MIN_CLAUSE_WORDS: usize = 4;

type Cue = (Language, Weight);

static REMEMBER: LazyLock<Phrases<Cue>> = LazyLock::new(|| {
    Phrases::new([
        ((English, Weight::Strong), lexicon!("statement/remember", en)),
        ((Other, Weight::Strong), lexicon!("statement/remember", de fr es it pt nl pl ru)),
        ((English, Weight::Weak), lexicon!("statement/remember_weak", en)),
        (
            (Other, Weight::Weak),
            lexicon!("statement/remember_weak", de fr es it pt nl pl ru zh ja ko),
        ),
    ])
});
static REMEMBER_END: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/remember_end", ja ko))]));
static FORGET_END: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/forget_end", ja ko))]));
static RULE_END: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/rule_end", ja ko))]));
static CALL_ME_END: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/call_me_end", ja ko))]));
/// Polite words that may follow a request at the end of a sentence.
static ENDINGS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/endings", ja ko).words());
static NOT_REMEMBER: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/not_remember", en de fr es it pt nl pl ru zh ja ko))])
});
static FORGET: LazyLock<Phrases<Cue>> = LazyLock::new(|| {
    Phrases::new([
        ((English, Weight::Strong), lexicon!("statement/forget", en)),
        ((Other, Weight::Strong), lexicon!("statement/forget", de fr es it pt nl pl ru zh)),
        ((English, Weight::Weak), lexicon!("statement/forget_weak", en)),
        ((Other, Weight::Weak), lexicon!("statement/forget_weak", de fr es it pt nl pl ru zh)),
        ((English, Weight::Topic), lexicon!("statement/forget_topic", en)),
        ((Other, Weight::Topic), lexicon!("statement/forget_topic", de fr es it pt nl pl ru)),
        ((English, Weight::Named), lexicon!("statement/forget_named", en)),
        ((Other, Weight::Named), lexicon!("statement/forget_named", de fr es pt)),
    ])
});
/// "Delete … from your memory": the thing is between the words.
static FORGET_FROM: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/forget_from", en))]));
/// The beginning of another request after a comma: "and suggest", "can you".
static NEXT_REQUESTS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/next_requests", en))]));
static NOT_FORGET: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/not_forget", en de fr es it pt nl pl ru zh ja ko))])
});
static RULE: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/rule", en)),
        (Other, lexicon!("statement/rule", de fr es it pt nl pl ru zh)),
    ])
});
static NOT_RULE: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/not_rule", en de fr es it pt nl pl ru zh ja ko))])
});
static CALL_ME: LazyLock<Phrases<Language>> = LazyLock::new(|| {
    Phrases::new([
        (English, lexicon!("statement/call_me", en)),
        (Other, lexicon!("statement/call_me", de fr es it pt nl pl ru zh ja ko)),
    ])
});
/// Words that follow "call me" and are not names.
static NOT_NAMES: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/not_names", en de fr es it pt nl pl ru zh ja ko).words());
/// Words that begin a clause after "remember that".
static CLAUSE_STARTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/clause_starts", en).words());
/// Conjunctions that always begin a clause.
static CONJUNCTIONS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/conjunctions", mul).words());
/// Modal verbs that make a question a request: "can you remember".
static MODALS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/modals", en de fr es pt it nl).words());
/// "Please", or the last word of it.
static PLEASE: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/please", mul).words());
/// Polite words at the end of a request.
static TAILS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/tails", en de fr es it pt nl pl ru zh ja ko))])
});

pub(super) fn remember(sentence: &Sentence) -> Option<Statement> {
    remember_following(sentence)
        .or_else(|| request_at_end(sentence, StatementKind::Remember, &REMEMBER_END, &NOT_REMEMBER))
}

fn remember_following(sentence: &Sentence) -> Option<Statement> {
    let found = first(sentence, &REMEMBER, &NOT_REMEMBER)?;
    let clause = content(sentence, found.end)?;
    let (language, weight) = found.means;
    let is_name =
        || own_text(sentence, found.end).is_some_and(|text| text.starts_with(char::is_uppercase));
    let is_about_user = match weight {
        Weight::Strong => {
            begins_with_self(sentence, found.end, MAX_LEAD_WORDS)
                || is_name()
                || begins_clause(sentence, found.end)
        }
        Weight::Weak | Weight::Topic | Weight::Named => {
            // "Don't forget my order" names a thing and states nothing.
            let is_thing = sentence.token(found.end) == "my"
                && sentence.words.len() - found.end < MIN_CLAUSE_WORDS;
            begins_with_self(sentence, found.end, 2) && !is_thing
        }
    };
    let is_cut_off = weight == Weight::Strong && follows_comma(sentence, found.end);
    if !is_about_user || is_cut_off {
        return None;
    }
    let is_subordinate = ["dass", "dat"].contains(&sentence.token(found.end - 1));
    let main = is_subordinate.then(|| main_clause(clause)).flatten();
    let content = claim(main.as_deref().unwrap_or(clause), language)?;
    Some(statement(StatementKind::Remember, content, sentence, slot_of(clause)))
}

/// Whether a clause begins at a word. "Remember that scene" names a thing.
fn begins_clause(own: &Sentence, at: usize) -> bool {
    let before = own.token(at - 1);
    CONJUNCTIONS.contains(before)
        || (before == "that" && CLAUSE_STARTS.contains(own.token(at)) && at + 2 < own.words.len())
}

/// Whether a sentence asks to remember something, which may follow.
pub(super) fn asks_to_remember(sentence: &Sentence) -> bool {
    sentence.matches(&REMEMBER).iter().any(|found| is_direct(sentence, found.start))
}

pub(super) fn forget(sentence: &Sentence) -> Option<Statement> {
    forget_following(sentence)
        .or_else(|| forget_from_memory(sentence))
        .or_else(|| request_at_end(sentence, StatementKind::Forget, &FORGET_END, &NOT_FORGET))
}

/// "Delete my address from your memory."
fn forget_from_memory(own: &Sentence) -> Option<Statement> {
    let found = first(own, &FORGET_FROM, &NOT_FORGET)?;
    let clause = content(own, found.start + 1)?;
    Some(statement(StatementKind::Forget, claim(clause, English)?, own, slot_of(clause)))
}

/// A request at the end of its sentence, after its object.
fn request_at_end(
    own: &Sentence,
    kind: StatementKind,
    cues: &Phrases<()>,
    except: &Phrases<()>,
) -> Option<Statement> {
    const MIN_CHARS: usize = 3;
    let found = last(own, cues, except)?;
    let clause = own.slice(own.clause_start()..found.start);
    if clause.chars().count() < MIN_CHARS {
        return None;
    }
    Some(statement(kind, claim(clause, Other)?, own, slot_of(clause)))
}

/// The first match that ends the sentence, but for polite words, unless the sentence is not asserted.
fn last(own: &Sentence, cues: &Phrases<()>, except: &Phrases<()>) -> Option<Found<()>> {
    let ends = |found: &Found<()>| {
        own.tokens()[found.end..].iter().all(|token| ENDINGS.contains(&token.text))
    };
    let found = own.matches(cues).into_iter().find(ends)?;
    let is_open = !own.asks && !own.has_frame() && own.matches(except).is_empty();
    is_open.then_some(found)
}

fn forget_following(sentence: &Sentence) -> Option<Statement> {
    let found = first(sentence, &FORGET, &NOT_FORGET)?;
    let (language, weight) = found.means;
    // "Forget that I like tea, coffee and milk" lists; after a thing a comma begins something else.
    let clause = match weight {
        Weight::Strong => content(sentence, found.end)?,
        _ => content_until(sentence, found.end, sentence.clause_end(found.end))?,
    };
    let (_, content_words) = ground::shared_words(clause, clause);
    let is_about_user = begins_with_self(sentence, found.end, 2);
    let is_named = match weight {
        Weight::Weak => is_about_user,
        _ => is_about_user || content_words >= weight.min_content_words(),
    };
    if !is_named || follows_comma(sentence, found.end) {
        return None;
    }
    let content = claim(clause, language)?;
    let slot = slot_of(clause).or_else(|| named_slot(clause).filter(|_| is_about_user));
    Some(statement(StatementKind::Forget, content, sentence, slot))
}

pub(super) fn rule(own: &Sentence) -> Option<Statement> {
    if own.is_listed {
        return None;
    }
    let (start, language) = match first(own, &RULE, &NOT_RULE) {
        Some(found) => (found.start, found.means),
        None => (last(own, &RULE_END, &NOT_RULE).map(|_| own.clause_start())?, Other),
    };
    let content = sentence(content(own, start)?)?;
    let slot = slot_of(&content);
    let wish = (slot == Some(Slot::LanguageOfAnswers) && language == English)
        .then(|| language_wish(&content))
        .flatten();
    Some(statement(StatementKind::Rule, wish.unwrap_or(content), own, slot))
}

/// "Always answer in Portuguese." as a preference of the user: it is not an order that could make
/// the assistant do something.
fn language_wish(content: &str) -> Option<String> {
    let (_, name) = content.trim_end_matches('.').rsplit_once(" in ")?;
    let is_name = name.chars().all(char::is_alphabetic) && name.starts_with(char::is_uppercase);
    is_name.then(|| format!("User wants answers in {name}."))
}

pub(super) fn call_me(own: &Sentence) -> Option<Statement> {
    call_me_following(own).or_else(|| {
        const MAX_NAME_CHARS: usize = 12;
        let found = last(own, &CALL_ME_END, &NOT_FORGET)?;
        let name = own.slice(own.clause_start()..found.start);
        let is_name = (1..=MAX_NAME_CHARS).contains(&name.chars().count());
        let content = sentence(own.slice(own.clause_start()..own.words.len()))?;
        is_name.then(|| statement(StatementKind::CallMe, content, own, Some(Slot::Name)))
    })
}

fn call_me_following(own: &Sentence) -> Option<Statement> {
    let can_begin = |at: usize| is_direct(own, at) || (own.tokens()[at].opens && at < 3);
    let found = own.matches(&CALL_ME).into_iter().find(|found| can_begin(found.start))?;
    let end = name_end(own, found.end)?;
    let name = own.slice(found.end..end);
    let content = match (found.means, own.token(found.start)) {
        (English, "my") => format!("User's name is {name}."),
        (English, _) => format!("User wants to be called {name}."),
        (Other, _) => sentence(own.slice(found.start..end))?,
    };
    Some(statement(StatementKind::CallMe, content, own, Some(Slot::Name)))
}

/// The first match where a statement can begin, unless an exception matches there or behind it.
fn first<T: Copy>(own: &Sentence, cues: &Phrases<T>, except: &Phrases<()>) -> Option<Found<T>> {
    let found = own.matches(cues).into_iter().find(|found| is_direct(own, found.start))?;
    let excepted = own.matches(except).into_iter().any(|other| other.start >= found.start);
    let asks = own.asks && !(0..found.end).any(|at| MODALS.contains(own.token(at)));
    (!excepted && !asks).then_some(found)
}

/// Whether a request can begin at a word: at the start of the sentence, after a colon or a dash, or
/// after "please". After a comma alone it can be an item of a list: "I relax, forget my troubles".
fn is_direct(own: &Sentence, at: usize) -> bool {
    let is_marked = own.gap_before(at).contains([':', ';', '：', '；', '—', '–']);
    let is_polite = at.checked_sub(1).is_some_and(|before| PLEASE.contains(own.token(before)));
    own.tokens()[at].opens && (at <= own.clause_start() || is_marked || is_polite)
}

fn own_text<'t>(own: &Sentence<'t>, at: usize) -> Option<&'t str> {
    own.words.get(at).map(|word| &own.text[word.start..word.end])
}

/// Whether a comma precedes a word: then it is not the object of "forget that".
fn follows_comma(own: &Sentence, at: usize) -> bool {
    own.gap_before(at).contains([',', '，', '、'])
}

/// Whether the clause that begins at a word mentions the user in its first words.
fn begins_with_self(own: &Sentence, at: usize, words: usize) -> bool {
    speaks_of_self(own.slice(at..(at + words).min(own.words.len())))
}

/// The words from `start` to the end of the sentence, without polite words at the end.
fn content<'t>(own: &Sentence<'t>, start: usize) -> Option<&'t str> {
    content_until(own, start, own.words.len())
}

/// The words from `start` to `last`, without polite words at the end.
fn content_until<'t>(own: &Sentence<'t>, start: usize, last: usize) -> Option<&'t str> {
    const MIN_CHARS: usize = 3;
    let requests = own.matches(&NEXT_REQUESTS).into_iter().map(|found| found.start);
    let mut requests = requests.filter(|at| *at > start + 1 && follows_comma(own, *at));
    let mut end = requests.next().unwrap_or(own.words.len()).min(last);
    let tails = own.matches(&TAILS);
    while let Some(tail) = tails.iter().find(|tail| tail.end == end && tail.start > start) {
        end = tail.start;
    }
    let text = own.slice(start..end);
    (text.chars().count() >= MIN_CHARS).then_some(text)
}

/// The end of the name that begins at a word.
fn name_end(own: &Sentence, start: usize) -> Option<usize> {
    const MAX_NAME_WORDS: usize = 3;
    const MAX_NAME_CHARS: usize = 8;
    let word = own.words.get(start)?;
    let clause_end = own.clause_end(start);
    let written = &own.text[word.start..word.end];
    if written.chars().all(is_east_asian) && !NOT_NAMES.contains(&word.text) {
        return (clause_end - start <= MAX_NAME_CHARS).then_some(clause_end);
    }
    let is_capital = |at: usize| {
        let word = &own.words[at];
        own.text[word.start..].starts_with(char::is_uppercase) && !NOT_NAMES.contains(&word.text)
    };
    if NOT_NAMES.contains(&word.text) || written.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if is_capital(start) {
        let last = clause_end.min(start + MAX_NAME_WORDS);
        return Some((start + 1..last).find(|at| !is_capital(*at)).unwrap_or(last));
    }
    // Without a capital the name has to be the last word.
    (start + 1 == own.words.len()).then_some(start + 1)
}

fn statement(
    kind: StatementKind,
    content: String,
    own: &Sentence,
    slot: Option<Slot>,
) -> Statement {
    Statement { kind, content, replaces: None, slot, at: own.at.clone() }
}
