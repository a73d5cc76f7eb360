//! What happens, as it happens: streams of events, and webhooks with receivers that answer as they are
//! told to.

mod events;
mod receiver;
mod webhooks;
