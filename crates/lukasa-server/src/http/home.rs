//! Home: what the first screen of a console shows, in one answer.

use axum::Json;
use axum::extract::State;
use lukasa_core::Caller;
use lukasa_engine::Point;
use lukasa_engine::facts::{ListFilter, Listing};
use serde::Serialize;
use utoipa::ToSchema;

use super::domains::{DomainView, Domains};
use super::memory::{list_page, rated};
use super::policy::PolicyView;
use super::review::ReviewView;
use crate::api::App;
use crate::api::auth::Reader;
use crate::api::error::Problem;
use crate::api::request::print_cursor;
use crate::api::wire::{MemoryPage, MemoryView};
use crate::clock;

/// Memories in the first page, the most that a page can have.
const MAX_MEMORIES: usize = 200;

/// What the first screen of a console shows.
#[derive(Debug, Serialize, ToSchema)]
pub struct HomeView {
    /// The position in the log of operations before the rest was read: `GET /api/events` with it as
    /// `after` streams every change since.
    position: String,
    /// The first page of `GET /api/memory` with `status=all` and `limit=200`.
    memories: MemoryPage,
    /// As `GET /api/review` returns it.
    review: ReviewView,
    /// As `GET /api/domains` returns them.
    domains: Vec<DomainView>,
    /// The memory with the user's time zone: the rule `timezone` of the domain `personal`.
    time_zone: Option<MemoryView>,
    /// As `GET /api/policy` returns it.
    policy: PolicyView,
}

/// Get what the first screen of a console shows.
///
/// The first page of memories, the review, the domains, the time zone and the policy, as their own
/// operations return them, and the position from which to stream changes.
#[utoipa::path(get, path = "/api/home", tag = "memory", responses(
    (status = 200, body = HomeView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_home(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<HomeView>, Problem> {
    let engine = app.engine();
    // First: what changes while the rest is read is then streamed, and not missed.
    let stream = engine.events.stream_operations(&caller, None, false, clock::now).await?;
    let position = print_cursor(&stream.position());
    let filter = ListFilter::default();
    let first = Listing { filter, point: Point::default(), after: None, limit: MAX_MEMORIES };
    let memories = list_page(&app, &caller, &first).await?;
    let time_zone = find_time_zone(&app, &caller).await?;
    let now = app.now();
    Ok(Json(HomeView {
        position,
        memories,
        review: ReviewView::from(&engine.review.list(&caller, now).await?),
        domains: Domains::from(engine.directory.domains(&caller, now).await?).data,
        time_zone,
        policy: PolicyView::from(&engine.policies.get(&caller, now).await?),
    }))
}

async fn find_time_zone(app: &App, caller: &Caller) -> Result<Option<MemoryView>, Problem> {
    let (engine, now) = (app.engine(), app.now());
    let Some(memory) = engine.facts.timezone_memory(caller, now).await? else { return Ok(None) };
    let ratings = engine.context.ratings(caller, &[memory.version.fact], now).await?;
    Ok(Some(rated(memory, &ratings)))
}
