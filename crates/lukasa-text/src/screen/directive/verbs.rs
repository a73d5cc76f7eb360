//! Detects orders by their verb: a sentence that begins with an imperative is an order.
//!
//! The lists contain imperative forms. Verbs that people use without "I" ("live in Berlin", "love
//! hiking") are not listed, nor are forms that can be the third person as well.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::phrase::Token;

/// Whether the word at this position begins an order.
pub(super) fn orders(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    let word = token.text.as_str();
    let next = tokens.get(at + 1).filter(|next| next.sentence == token.sentence);
    let next = next.map_or("", |next| next.text.as_str());
    let aside = token.after_comma && AFTER_ORDER_VERB.contains(&next);
    let opens = token.opens || aside || (token.after_comma && follows_condition(tokens, at));
    if !opens {
        return false;
    }
    if IMPERATIVES.contains(word) {
        // "Call me Sam" and "forget it" are not orders.
        let tells = matches!(
            (word, next),
            ("forget", "it" | "me") | ("call" | "let", "me") | ("tell", "you")
        );
        let alone = next.is_empty() && NOT_ALONE.contains(&word);
        return !tells && !alone;
    }
    WITH_OBJECT.contains(word) && OBJECTS.contains(next)
}

/// Whether the sentence begins with a condition, as in "when asked, ...".
fn follows_condition(tokens: &[Token], at: usize) -> bool {
    // Sentences are numbered in order.
    let first = tokens.partition_point(|token| token.sentence < tokens[at].sentence);
    first < at && CONDITIONS.contains(&tokens[first].text)
}

/// Words that follow a verb after a comma only in an order: "I am vegan, give me a recipe".
const AFTER_ORDER_VERB: &[&str] = &["me", "us", "your", "all", "any", "every", "no", "only"];

/// Words that begin a condition.
static CONDITIONS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("directive/conditions", en de fr es it nl zh).words());

/// Verbs that begin only orders.
static IMPERATIVES: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("directive/imperatives", en de fr es it pt nl).words());

/// Verbs of `IMPERATIVES` that can be a noun when nothing follows.
const NOT_ALONE: &[&str] =
    &["call", "request", "direct", "mark", "rate", "pass", "stop", "let", "sort", "count", "rank"];

/// Verbs that are nouns as well, or are used without "I": they need an object to be an order.
static WITH_OBJECT: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("directive/imperatives_with_object", en).words());

/// Words after such a verb that make it an order.
static OBJECTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("directive/objects", en).words());

/// First and second words of questions without a question mark.
pub(super) const ASKS: &[&str] = &[
    "how", "what", "why", "where", "which", "who", "can", "could", "would", "will", "is", "are",
    "do", "does", "should",
];
pub(super) const ASKED: &[&str] = &[
    "can", "could", "do", "does", "did", "is", "are", "was", "were", "would", "should", "to",
    "much", "many", "you", "i", "there", "the", "will", "it", "we", "kind", "type", "have", "has",
];

/// Words that begin a statement even if a question follows: "I am vegan, what can I eat?"
pub(super) static STATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    lexicon!("directive/statement_openers", en de fr es it pt nl ru zh ja).words()
});

/// Greetings and thanks.
pub(super) static GREETINGS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("directive/greetings", en de fr es it pt nl).words());
