//! Event streams, and webhooks with scripted receivers.

mod events;
mod receiver;
mod webhooks;
