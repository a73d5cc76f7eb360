//! Tells an order, or a rule for an assistant, from a statement about a person.
//!
//! A memory says what is so about somebody. Text that tells an assistant what to do would be obeyed
//! in every later conversation, so it never becomes one by itself, whoever wrote it: a page, a tool,
//! or a link that typed it for the user. The rules look at the shape of sentences and at phrases
//! that only orders have. They do not ask who speaks, and they do not look anything up.

mod address;
mod english;
mod grants;
mod languages;
mod markup;
mod verbs;

use std::sync::LazyLock;

use super::phrase::{Heard, Phrases};

static ORDERS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), english::ORDERS), ((), languages::ORDERS), ((), languages::MORE)])
});
static INNOCENT: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), english::INNOCENT), ((), languages::INNOCENT)]));
static GRANTS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), grants::GRANTS)]));
static DENIALS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), grants::DENIALS)]));

/// Whether the text tells somebody what to do, or how an assistant is to act, or only asks, rather
/// than stating something about a person.
pub fn is_directive(text: &str) -> bool {
    if markup::is_marked_up(text) {
        return true;
    }
    let heard = Heard::new(text);
    let innocent: Vec<_> = INNOCENT.find(&heard).map(|found| found.start..found.end).collect();
    let covered = |start: usize, end: usize| {
        innocent.iter().any(|range| range.start <= start && end <= range.end)
    };
    ORDERS.find(&heard).any(|found| !covered(found.start, found.end))
        || (0..heard.tokens.len())
            .any(|at| verbs::orders(&heard.tokens, at) && !covered(at, at + 1))
        || only_asks(&heard)
        || address::is_given(text, &heard)
}

/// Whether the text grants permission to act for the user.
pub fn authorises(text: &str) -> bool {
    let heard = Heard::new(text);
    let denied: Vec<_> = DENIALS.find(&heard).map(|found| found.start..found.end).collect();
    GRANTS
        .find(&heard)
        .any(|found| !denied.iter().any(|d| d.start <= found.start && found.end <= d.end))
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
