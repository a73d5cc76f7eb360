//! What outside text is allowed to become.
//!
//! A model that reads a conversation and proposes memories is assumed to be in the hands of whoever
//! wrote that conversation. So nothing it says about its own proposals counts: the rules here look
//! at the words alone, and deterministic code decides by them. Every rule is a pure function of its
//! text and leans towards refusing: what is refused is shown to a person, what passes is believed.
//!
//! [`own`] takes out what Lukasa has said itself, [`secret`] what must not be kept at all.
//! [`directive`] tells an order from a statement, [`person`] whether somebody speaks of themselves,
//! [`sensitive`] whether it is of a kind that needs consent, and [`ground`] whether what is claimed
//! was said; [`reading`] asks them all of one text. No rule looks anything up, and none calls a model.

pub mod directive;
pub mod ground;
pub mod own;
pub mod person;
mod phrase;
pub mod reading;
pub mod secret;
pub mod sensitive;

pub use reading::{Reading, Readings};
pub use sensitive::Sensitive;
