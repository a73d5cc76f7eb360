//! `/v1/embeddings`: by this installation's own embedder, or by the service behind if the client names
//! a model of its.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use lukasa_models::protocol::embeddings::Wanted;

use super::refusal::Refusal;
use super::{Arrived, Gateway, Taps, pass, read, with_query};
use crate::clock;
use crate::http::error::Problem;

/// What a client can call the embedder in use without knowing which one it is.
const OURS: &str = "lukasa";

pub async fn embed(State(gateway): State<Gateway>, request: Request) -> Result<Response, Refusal> {
    let Arrived { parts, body, meter, permit: _permit, .. } = read(&gateway, request).await?;
    let wanted = Wanted::read(&body);
    let engine = gateway.0.app.engine();
    let now = clock::now();
    if let Some(upstream) = &gateway.0.upstream {
        let model = wanted.as_ref().map_or("", |wanted| &wanted.model);
        let ours =
            model == OURS || engine.embedder_name(now).await.is_some_and(|name| name == model);
        if !ours {
            let headers = upstream.headers(&parts.headers, meter.is_some());
            let path = with_query("embeddings", &parts.uri);
            let answer = upstream.ask(Method::POST, &path, headers, body).await?;
            return Ok(pass(answer, Taps { meter, listener: None }));
        }
    }
    let wanted = wanted.map_err(|what| Refusal::because("malformed_body", what))?;
    let texts: Vec<&str> = wanted.texts.iter().map(String::as_str).collect();
    let made = engine.embed_texts(&texts, now).await.map_err(Problem::from)?;
    let (model, vectors) = made.ok_or_else(|| Refusal::of("no_embedder"))?;
    let has = vectors.first().map_or(0, Vec::len) as u64;
    if wanted.dimensions.is_some_and(|asked| asked != has) {
        let what = format!("`{model}` has {has} dimensions, no more and no fewer");
        return Err(Refusal::because("malformed_body", &what));
    }
    let count = engine.count_tokens(wanted.texts.clone()).await.map_err(Problem::from)?;
    Ok(Json(wanted.answer(&model, &vectors, count)).into_response())
}
