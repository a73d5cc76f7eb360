//! Event streams, and webhooks with scripted receivers.

mod events;
pub mod receiver;
mod webhooks;
