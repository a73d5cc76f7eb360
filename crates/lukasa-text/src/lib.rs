//! Text understanding that knows nothing of the record.
//!
//! What the words of a message say, without any notion of a memory: every function depends on its
//! text alone (and, for dates, on the time and zone that the caller passes), does no I/O, reads no
//! clock and calls no model.
//!
//! Reading order: [`mod@line`] (visible characters, and text as one harmless line), `word` (the
//! shared tokenizer), [`terms`] (stems for keyword search), [`topic`] (words that are not a topic),
//! [`tokens`] (the length of a text for a model), [`when`] (times, as a [`period`]), [`detect`]
//! (domains), [`name`] (things mentioned by name), [`request`] (kinds of requests), [`screen`] (rules
//! for untrusted text), [`slot`]
//! (attributes with one value), [`conflict`] (claims that exclude each other) and [`statement`] (what
//! the user states outright). The word lists are files under `lexicon/`, described in its README and
//! read by `lexicon`.

pub mod conflict;
pub mod detect;
mod lexicon;
pub mod line;
pub mod name;
pub mod period;
pub mod request;
pub mod rule;
pub mod screen;
pub mod slot;
pub mod statement;
mod term_bytes;
pub mod terms;
pub mod tokens;
pub mod topic;
pub mod when;
mod word;
