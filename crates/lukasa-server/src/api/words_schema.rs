//! Schemas of words: texts that are one of a fixed set, so that a client can translate each of them.

use lukasa_core::Verb;
use lukasa_core::context::block::LeftOutReason;
use lukasa_core::model::CallPurpose;
use lukasa_core::recall::Degraded;
use lukasa_core::recall::rank::Arm;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, Type};

/// Why a memory, turn or episode was left out of a prompt.
pub(crate) fn left_out_reason() -> Object {
    one_of(LeftOutReason::ALL.map(LeftOutReason::as_str))
}

/// An arm of the search.
pub(crate) fn arm() -> Object {
    one_of(Arm::ALL.map(Arm::as_str))
}

/// What an operation did.
pub(crate) fn verb() -> Object {
    one_of(Verb::ALL.map(Verb::as_str))
}

/// What a chat model was called for.
pub(crate) fn call_purpose() -> Object {
    one_of(CallPurpose::ALL.map(CallPurpose::as_str))
}

/// What was not available for a search or a context.
pub(crate) fn degraded() -> Array {
    let description = Some("What was not available, so that the answer may be incomplete.");
    let words = one_of(Degraded::ALL.map(Degraded::as_str));
    ArrayBuilder::new().items(words).description(description).build()
}

fn one_of<const N: usize>(words: [&'static str; N]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).build()
}
