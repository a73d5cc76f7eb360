//! Tells an order, or a rule for an assistant, from a statement about a person.

use std::sync::LazyLock;

use super::phrase::{Heard, Phrases};

static ORDERS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([(
        (),
        ["^ ignore|disregard|override", "you must", "assistant should", "from now on"].as_slice(),
    )])
});
static GRANTS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), ["without asking", "on my behalf", "is allowed to"].as_slice())])
});

/// Whether the text tells somebody what to do, or how an assistant is to act, rather than stating
/// something about a person.
pub fn is_directive(text: &str) -> bool {
    ORDERS.any(&Heard::new(text))
}

/// Whether the text grants permission to act for the user.
pub fn authorises(text: &str) -> bool {
    GRANTS.any(&Heard::new(text))
}
