//! The OpenAPI document: generated from the handlers, committed as `openapi.json`, and served.

use axum::Json;
use utoipa::openapi::path::{HttpMethod, Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Components, ContactBuilder, InfoBuilder, License, OpenApi, Required, SecurityRequirement,
};

use super::VERSION;
use crate::api::project::OPERATIONS_IN_PROJECTS;
use crate::api::space::OPERATIONS_IN_SPACES;

const DESCRIPTION: &str = "\
Long-term memory for AI assistants that its user can read, correct, undo and erase.

Every request about memories is about one user: the one a credential is bound to, or the one that \
`X-Lukasa-User` names. Writes about memories, sessions and jobs can have an `Idempotency-Key`, and are \
then applied once. A write that changes memories returns the operation that undoes it; erasing cannot be \
undone. Errors are `application/problem+json` with a stable `code`. Times are UTC.";

/// Builds the document.
pub fn document() -> OpenApi {
    let (_, mut api) = super::api().split_for_parts();
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".into());
    api.info = InfoBuilder::new()
        .title("Lukasa")
        .version(VERSION)
        .description(Some(DESCRIPTION))
        .contact(Some(ContactBuilder::new().name(Some("Lukasa")).build()))
        .license(Some(license))
        .build();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = api.components.get_or_insert_with(Components::new);
    components.add_security_scheme("bearer", bearer);
    for (path, item) in &mut api.paths.paths {
        let methods = [
            (HttpMethod::Get, &mut item.get),
            (HttpMethod::Put, &mut item.put),
            (HttpMethod::Post, &mut item.post),
            (HttpMethod::Patch, &mut item.patch),
            (HttpMethod::Delete, &mut item.delete),
        ];
        for (method, operation) in methods {
            if let Some(operation) = operation.as_mut().filter(|_| path.starts_with("/api/")) {
                add_common_parts(path, &method, operation);
            }
        }
    }
    api
}

/// Adds the credential and the headers that operations have in common.
fn add_common_parts(path: &str, method: &HttpMethod, operation: &mut Operation) {
    let signing_in = path == "/api/sign-in" || path.starts_with("/api/sign-in/");
    let changes_sign_in = signing_in && *method != HttpMethod::Get;
    // Signing out needs no valid credential, nor do the ways to sign in.
    let is_open = path == "/api/sign-in/methods";
    if is_open || (changes_sign_in && *method == HttpMethod::Delete) {
        operation.security = Some(Vec::new());
        return;
    }
    let no_scopes: [&str; 0] = [];
    operation.security = Some(vec![SecurityRequirement::new("bearer", no_scopes)]);
    let of_the_tenant = [
        "/api/audit",
        "/api/users",
        "/api/keys",
        "/api/tokens",
        "/api/tenant",
        "/api/webhooks",
        "/api/sign-ins",
        "/api/spaces",
        "/api/model-service",
    ];
    let about_one_user = !of_the_tenant.iter().any(|prefix| path.starts_with(prefix))
        && path != "/api/domains/{name}"
        && !changes_sign_in;
    let mut headers = Vec::new();
    if about_one_user {
        headers.push((
            "X-Lukasa-User",
            "Your own id for the user; required with a key for the whole tenant.",
        ));
    }
    let id = operation.operation_id.as_deref().unwrap_or_default();
    if OPERATIONS_IN_SPACES.contains(&id) {
        headers.push((
            "X-Lukasa-Space",
            "Act in this space, as a member; in the user's own memory if absent.",
        ));
    }
    if OPERATIONS_IN_PROJECTS.contains(&id) {
        headers.push((
            "X-Lukasa-Project",
            "The project that the request is about: what belongs to it and what belongs to no project. An \
             empty value: only what belongs to no project.",
        ));
    }
    let reads = ["/api/memory/search", "/api/memory/retrieve", "/api/vault/plan"].contains(&path);
    let writes = *method != HttpMethod::Get && !reads;
    // Repeating these requests has no effect, so they need no idempotency key.
    let repeatable =
        ["/api/domains", "/api/policy", "/api/beacon", "/api/import", "/api/memberships"];
    if about_one_user && writes && !repeatable.iter().any(|prefix| path.starts_with(prefix)) {
        headers.push((
            "Idempotency-Key",
            "Repeating a request with the same key returns the same answer.",
        ));
    }
    // Their secrets are not stored, so their answers are not either.
    if *method == HttpMethod::Post && ["/api/keys", "/api/webhooks"].contains(&path) {
        headers.push((
            "Idempotency-Key",
            "Repeating a request with the same key creates nothing: it is answered 409 `answer_not_kept`.",
        ));
    }
    // Links and ratings are not part of a version.
    let on_a_memory = path.starts_with("/api/memory/{id}")
        && !path.contains("/links")
        && !path.ends_with("/rating");
    if on_a_memory && *method != HttpMethod::Get {
        headers.push(("If-Match", "The last seen ETag; 412 if the memory has changed since."));
    }
    let parameters = operation.parameters.get_or_insert_with(Vec::new);
    for (name, description) in headers {
        parameters.push(
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String).build()))
                .build()
                .into(),
        );
    }
}

pub async fn serve() -> Json<OpenApi> {
    Json(document())
}
