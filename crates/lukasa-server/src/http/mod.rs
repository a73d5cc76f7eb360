//! HTTP: the route table, one line per operation, and the middleware of all requests.

mod archive;
mod audit;
mod clusters;
pub(crate) mod console;
mod consolidation;
mod context;
mod docs;
mod domains;
mod erasures;
mod events;
mod filing;
mod health;
mod home;
mod insights;
mod keys;
mod learning;
mod left_out;
mod links;
mod mcp;
mod mem0;
pub(crate) mod memory;
mod middleware;
mod model_service;
mod oauth;
mod observations;
mod oidc;
mod openapi;
mod operations;
mod policy;
mod portraits;
mod predictions;
mod proposals;
mod ratings;
mod removal;
mod review;
pub(crate) mod search;
mod sessions;
mod sign_in;
mod sign_ins;
mod sources;
mod spaces;
mod state;
mod usage;
mod users;
mod vault;
mod webhooks;

use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use middleware::VERSION;
pub use openapi::document;

use crate::api::{App, auth, error, limits};
use crate::gateway::{self, Gateway};

/// Maximum size of a request body: a memory is one line with a bounded detail.
const BODY_BYTES: usize = 256 * 1024;
/// Maximum size of a body with turns. One turn may be a pasted document, and a batch has up to a
/// hundred turns.
const TURNS_BYTES: usize = 4 * 1024 * 1024;
/// Smallest response that is compressed: a smaller one fits into one network packet anyway.
const MIN_COMPRESSED_BYTES: u64 = 1_400;
/// Maximum size of an import: the compressed archive of a whole memory.
const IMPORT_BYTES: usize = 64 * 1024 * 1024;
fn api() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(home::get_home))
        .routes(routes!(memory::list_memories, memory::save_memory))
        .routes(routes!(search::search_memories))
        .routes(routes!(context::retrieve_context))
        .routes(routes!(usage::list_usage, usage::report_usage))
        .routes(routes!(usage::get_stats))
        .routes(routes!(predictions::state_prediction))
        .routes(routes!(predictions::report_outcome))
        .routes(routes!(insights::get_insights))
        .routes(routes!(proposals::propose_memory))
        .routes(routes!(proposals::list_proposals))
        .routes(routes!(learning::list_contradictions))
        .routes(routes!(learning::resolve_contradiction))
        .routes(routes!(removal::purge_trash))
        .routes(routes!(filing::suggest_filing, filing::file_memories))
        .routes(routes!(memory::get_memory, memory::update_memory, removal::delete_memory))
        .routes(routes!(memory::get_memory_history))
        .routes(routes!(proposals::confirm_memory))
        .routes(routes!(ratings::rate_memory, ratings::remove_rating))
        .routes(routes!(removal::forget_memory))
        .routes(routes!(removal::restore_memory))
        .routes(routes!(removal::erase_memory))
        .routes(routes!(erasures::preview_erasure))
        .routes(routes!(erasures::list_erasures))
        .routes(routes!(erasures::get_receipt_key))
        .routes(routes!(links::list_links, links::link_memories))
        .routes(routes!(links::unlink_memories))
        .routes(routes!(links::get_memory_graph))
        .routes(routes!(operations::list_operations))
        .routes(routes!(operations::get_operation))
        .routes(routes!(operations::undo_operation))
        .routes(routes!(events::stream_events))
        .routes(routes!(sessions::list_sessions, sessions::open_session))
        .routes(routes!(sessions::lifecycle::search_sessions))
        .routes(routes!(
            sessions::get_session,
            sessions::lifecycle::edit_session,
            sessions::lifecycle::delete_session
        ))
        .merge(turns())
        .routes(routes!(observations::delete_observation))
        .routes(routes!(observations::erase_observation))
        .routes(routes!(sessions::lifecycle::close_session))
        .routes(routes!(sessions::lifecycle::learn_session))
        .routes(routes!(sessions::lifecycle::restore_session))
        .routes(routes!(sessions::lifecycle::get_window))
        .routes(routes!(sessions::lifecycle::get_why))
        .routes(routes!(sessions::lifecycle::beacon))
        .routes(routes!(learning::list_episodes))
        .routes(routes!(sources::list_dependents))
        .routes(routes!(sources::delete_turn))
        .routes(routes!(sources::erase_turn))
        .routes(routes!(sources::keep_reply))
        .routes(routes!(sources::erase_session))
        .routes(routes!(learning::get_episode, sources::delete_episode, learning::edit_episode))
        .routes(routes!(learning::list_passes))
        .routes(routes!(left_out::keep_left_out))
        .routes(routes!(learning::list_jobs))
        .routes(routes!(learning::retry_job))
        .routes(routes!(learning::list_model_calls))
        .routes(routes!(consolidation::consolidate))
        .routes(routes!(review::get_review))
        .routes(routes!(review::answer_review))
        .routes(routes!(portraits::list_portraits, portraits::phrase_portraits))
        .routes(routes!(portraits::get_portrait))
        .routes(routes!(clusters::list_clusters))
        .routes(routes!(state::get_state))
        .routes(routes!(archive::export))
        .merge(imports())
        .routes(routes!(archive::list_imports))
        .routes(routes!(archive::list_undecided))
        .routes(routes!(archive::decide_import))
        .routes(routes!(archive::undo_import))
        .merge(vault())
        .routes(routes!(vault::run_vault_command))
        .routes(routes!(policy::get_policy, policy::put_policy))
        .routes(routes!(policy::get_tenant_policy, policy::put_tenant_policy))
        .routes(routes!(context::get_session_context))
        .routes(routes!(context::get_retrieval))
        .routes(routes!(context::detect_domains))
        .routes(routes!(domains::list_domains))
        .routes(routes!(domains::put_domain))
        .routes(routes!(domains::open_domain, domains::close_domain))
        .routes(routes!(domains::give_consent, domains::withdraw_consent))
        .routes(routes!(users::list_users, users::create_user))
        .routes(routes!(users::get_user, users::delete_user))
        .routes(routes!(erasures::preview_user_erasure))
        .routes(routes!(erasures::list_user_erasures))
        .routes(routes!(spaces::list_spaces, spaces::create_space))
        .routes(routes!(spaces::erase_space))
        .routes(routes!(spaces::list_space_members))
        .routes(routes!(spaces::grant_space, spaces::end_space_grant))
        .routes(routes!(spaces::list_memberships))
        .routes(routes!(spaces::accept_membership, spaces::leave_space))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(keys::rotate_key))
        .routes(routes!(keys::mint_token))
        .routes(routes!(sign_in::get_sign_in, sign_in::sign_in, sign_in::sign_out))
        .routes(routes!(oidc::list_sign_in_methods))
        .routes(routes!(sign_in::make_sign_in_link))
        .routes(routes!(sign_ins::list_sign_ins, sign_ins::end_sign_ins))
        .routes(routes!(sign_ins::end_sign_in))
        .routes(routes!(audit::list_audit))
        .routes(routes!(webhooks::list_webhooks, webhooks::create_webhook))
        .routes(routes!(webhooks::edit_webhook, webhooks::delete_webhook))
        .routes(routes!(webhooks::test_webhook))
        .routes(routes!(webhooks::rotate_webhook))
        .routes(routes!(webhooks::list_deliveries))
        .routes(routes!(webhooks::replay_webhook))
        .routes(routes!(
            model_service::get_model_service,
            model_service::put_model_service,
            model_service::delete_model_service
        ))
        .routes(routes!(model_service::test_model_service))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
}

fn turns() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(sessions::list_turns, sessions::append_turns))
        .routes(routes!(
            observations::list_observations,
            observations::record_observations,
            observations::delete_observations
        ))
        .layer(DefaultBodyLimit::max(TURNS_BYTES))
}

fn imports() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(archive::import)).layer(DefaultBodyLimit::max(IMPORT_BYTES))
}

fn vault() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(vault::get_vault, vault::sync_vault))
        .routes(routes!(vault::plan_vault))
        .layer(DefaultBodyLimit::max(vault::VAULT_BYTES))
}

/// Compresses the responses of the API for clients that accept it, except small ones, event streams
/// and archives.
fn compression() -> CompressionLayer<impl Predicate> {
    const ZIP: NotForContentType = NotForContentType::const_new("application/zip");
    let worth = SizeAbove::new(MIN_COMPRESSED_BYTES).and(NotForContentType::SSE).and(ZIP);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worth)
}

/// The router of the whole server, without a model service behind the gateway.
pub fn router(app: App) -> Router {
    let gateway = Gateway::new(app.clone(), None);
    router_with(app, gateway)
}

/// The router of the whole server.
pub fn router_with(app: App, gateway: Gateway) -> Router {
    let (api, _) = api().split_for_parts();
    let guard = from_fn_with_state(app.clone(), auth::guard_local);
    let local = app.is_local();
    let https = app.mcp().public_origin().is_some_and(|origin| origin.starts_with("https://"));
    let router = api
        .route("/openapi.json", axum::routing::get(openapi::serve))
        .merge(docs::routes())
        .layer(Extension(gateway.clone()))
        .layer(compression())
        .merge(mcp::routes(&app))
        .merge(oauth::routes())
        .merge(oidc::routes())
        .merge(gateway::routes(gateway))
        .nest("/mem0", mem0::router())
        .fallback(console::serve)
        .method_not_allowed_fallback(middleware::no_method)
        .layer(guard)
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .layer(CatchPanicLayer::custom(error::panicked))
        .layer(from_fn_with_state(app.clone(), limits::guard_request))
        .layer(from_fn(middleware::wrap_request))
        .with_state(app);
    let router = if https { router.layer(from_fn(middleware::require_https)) } else { router };
    // Without credentials, pages of other origins must not be admitted.
    if local { router } else { router.layer(auth::cors_layer()) }
}
