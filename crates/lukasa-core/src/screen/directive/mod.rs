//! Tells an order, or a rule for an assistant, from a statement about a person.
//!
//! A memory says what is so about somebody. Text that tells an assistant what to do would be obeyed
//! in every later conversation, so it never becomes one by itself, whoever wrote it: a page, a tool,
//! or a link that typed it for the user. The rules look at the shape of sentences and at phrases
//! that only orders have. They do not ask who speaks, and they do not look anything up.
//!
//! Two questions are kept apart. A memory must not be an order of any kind ([`is_directive`]). The
//! sentence it was drawn from may well hold one, since people state a thing and ask for another in
//! one breath: "I love spicy food, give me something hot". There only what commands memory or the
//! conversations to come counts ([`commands`]).

mod address;
mod english;
mod grants;
mod languages;
mod markup;
mod standing;
mod verbs;

use std::ops::Range;
use std::sync::LazyLock;

use super::phrase::{Heard, Phrases};

static ORDERS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), english::ORDERS), ((), languages::ORDERS), ((), languages::MORE)])
});
static INNOCENT: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), english::INNOCENT), ((), languages::INNOCENT), ((), standing::INNOCENT)])
});
static STANDING: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), standing::STANDING)]));
static OF_A_USER: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), standing::OF_A_USER)]));
static GRANTS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), grants::GRANTS)]));
static DENIALS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), grants::DENIALS)]));

/// Whether the text tells somebody what to do, or how an assistant is to act, or only asks, rather
/// than stating something about a person.
pub fn is_directive(text: &str) -> bool {
    orders(text, &Heard::new(text))
}

/// Whether the text commands memory or later conversations: what is to be stored, from now on,
/// whom to trust, which rules to drop, or notes that are meant for a machine.
pub fn commands(text: &str) -> bool {
    stands(text, &Heard::new(text))
}

/// Whether the text asks or orders, states nothing about anybody beside that, and commands no more
/// than the task at hand.
pub fn only_requests(text: &str) -> bool {
    requests(text, &Heard::new(text))
}

/// Whether the text speaks of "the user" as of somebody else, as nobody does who types.
pub fn speaks_of_a_user(text: &str) -> bool {
    OF_A_USER.any(&Heard::new(text))
}

/// Whether the text grants permission to act for the user.
pub fn authorises(text: &str) -> bool {
    allows(&Heard::new(text))
}

pub(super) fn orders(text: &str, heard: &Heard) -> bool {
    markup::is_marked_up(text)
        || !places(heard).is_empty()
        || only_asks(heard)
        || address::is_given(text, heard)
        || !standing_places(heard).is_empty()
}

pub(super) fn stands(text: &str, heard: &Heard) -> bool {
    markup::is_marked_up(text)
        || address::is_given(text, heard)
        || !standing_places(heard).is_empty()
}

pub(super) fn of_a_user(heard: &Heard) -> bool {
    OF_A_USER.any(heard)
}

pub(super) fn allows(heard: &Heard) -> bool {
    let denied: Vec<_> = DENIALS.find(heard).map(|found| found.start..found.end).collect();
    GRANTS
        .find(heard)
        .any(|found| !denied.iter().any(|d| d.start <= found.start && found.end <= d.end))
}

pub(super) fn requests(text: &str, heard: &Heard) -> bool {
    if stands(text, heard) {
        return false;
    }
    let ordered = places(heard);
    let states = |number: usize| {
        let own = heard.tokens.iter().filter(|token| token.sentence == number);
        let mut own = own.filter(|token| !verbs::GREETINGS.contains(&token.text.as_str()));
        own.next().is_some_and(|token| verbs::STATES.contains(&token.text.as_str()))
    };
    // What stands beside a request and is about nobody is what the request is about.
    let asks = !ordered.is_empty() || heard.asked.contains(&true);
    asks && (0..heard.asked.len()).all(|number| heard.asked[number] || !states(number))
}

/// Whether nothing but questions is put. A question grants nothing.
pub(super) fn questions(heard: &Heard) -> bool {
    !heard.asked.is_empty() && heard.asked.iter().all(|asked| *asked)
}

/// Where the orders begin, but for phrases that only look so.
fn places(heard: &Heard) -> Vec<usize> {
    let innocent = innocent(heard);
    let phrases = ORDERS.find(heard).map(|found| found.start..found.end);
    let verbs = (0..heard.tokens.len()).filter(|at| verbs::orders(&heard.tokens, *at));
    let found = phrases.chain(verbs.map(|at| at..at + 1));
    found.filter(|range| !covers(&innocent, range)).map(|range| range.start).collect()
}

fn standing_places(heard: &Heard) -> Vec<usize> {
    let innocent = innocent(heard);
    let found = STANDING.find(heard).map(|found| found.start..found.end);
    found.filter(|range| !covers(&innocent, range)).map(|range| range.start).collect()
}

fn innocent(heard: &Heard) -> Vec<Range<usize>> {
    INNOCENT.find(heard).map(|found| found.start..found.end).collect()
}

fn covers(innocent: &[Range<usize>], range: &Range<usize>) -> bool {
    innocent.iter().any(|own| own.start <= range.start && range.end <= own.end)
}

/// Whether every sentence is a question. Who only asks has stated nothing.
fn only_asks(heard: &Heard) -> bool {
    let mut sentences = 0;
    for (number, asked) in heard.asked.iter().enumerate() {
        let own: Vec<_> = heard.tokens.iter().filter(|token| token.sentence == number).collect();
        let Some(first) = own.first() else { continue };
        sentences += 1;
        let opener = own.iter().find(|token| !verbs::GREETINGS.contains(&token.text.as_str()));
        let states = opener.is_some_and(|token| verbs::STATES.contains(&token.text.as_str()));
        let next = own.get(1).map_or("", |token| token.text.as_str());
        let bare = verbs::ASKS.contains(&first.text.as_str()) && verbs::ASKED.contains(&next);
        // A greeting in front of a question states nothing either.
        let greets = own.len() <= 3
            && own.iter().all(|token| verbs::GREETINGS.contains(&token.text.as_str()));
        if greets {
            continue;
        }
        if !((*asked && !states) || bare) {
            return false;
        }
    }
    sentences > 0
}

#[cfg(test)]
mod tests;
