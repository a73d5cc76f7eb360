//! Limits on requests before they reach the engine.

mod bodies;
mod budgets;
mod connections;
mod metrics;
mod rates;
