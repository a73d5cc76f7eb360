//! Screens for untrusted text: rules that decide what may become a memory.
//!
//! A model that reads a conversation and proposes memories is assumed to be controlled by the
//! author of that conversation. So nothing it says about its own proposals counts: the rules here
//! use the words alone, and are deterministic. Every rule is a pure function of its text and errs
//! towards refusing: a refused claim is shown to the user, an accepted one is believed.
//!
//! [`secret`] masks secrets, [`directive`] distinguishes orders from statements, [`person`] detects
//! statements in the first person, [`sensitive`] detects kinds that need consent, and [`ground`]
//! checks that a claim is supported by its evidence; [`reading`] caches all of them for one text. No
//! rule looks anything up or calls a model.

pub mod directive;
pub mod ground;
pub mod person;
pub(crate) mod phrase;
pub mod reading;
pub mod secret;
pub mod sensitive;

pub use reading::{Reading, Readings};
pub use sensitive::Sensitive;
