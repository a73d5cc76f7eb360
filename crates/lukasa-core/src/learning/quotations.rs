//! The places where the user typed one of several quotations, as many as are compared with a claim.

use std::collections::HashSet;

use super::transcript::{QuoteMatch, Transcript};
use crate::time::Timestamp;

/// Shorter quotations are not searched for: they occur by chance.
const MIN_QUOTE_CHARS: usize = 8;
/// How many sentences with one quotation are compared with a claim.
const MAX_SENTENCES_OF_ONE: usize = 20;
/// How many sentences are compared altogether: with several quotations each has a share.
const MAX_SENTENCES: usize = 40;

/// The first places where the user typed these quotations after a time: those of the first quotation
/// before those of the next, of each the oldest first. A sentence is found once, because comparing it
/// again takes time and has the same result.
pub fn typed_places_of_all<'a>(
    transcript: &'a Transcript,
    quotations: &'a [String],
    after: Timestamp,
) -> impl Iterator<Item = QuoteMatch> + 'a {
    let share = MAX_SENTENCES / quotations.len().clamp(1, MAX_SENTENCES);
    let mut found = HashSet::new();
    quotations.iter().filter(|quote| quote.chars().count() >= MIN_QUOTE_CHARS).flat_map(
        move |quote| {
            let places = transcript.typed_places(quote, after);
            let is_new = |place: &QuoteMatch| found.insert(place.sentence.clone());
            places.filter(is_new).take(share.min(MAX_SENTENCES_OF_ONE)).collect::<Vec<_>>()
        },
    )
}
