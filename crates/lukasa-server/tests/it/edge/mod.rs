//! Limits on requests before they reach the engine, metrics and traces.

mod bodies;
mod budgets;
mod connections;
mod metrics;
mod rates;
mod traces;
