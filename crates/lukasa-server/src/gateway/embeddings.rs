//! `/v1/embeddings`: computed by the built-in embedder, or by the model service if the client names
//! one of its models.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use lukasa_models::protocol::embeddings::EmbeddingsRequest;

use super::refusal::GatewayError;
use super::{Gateway, ReadRequest, ResponseObservers, pass, read, with_query};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

/// Model name for the embedder in use, whichever it is.
const OWN_MODEL: &str = "lukasa";

pub async fn embed(
    State(gateway): State<Gateway>,
    request: Request,
) -> Result<Response, GatewayError> {
    let ReadRequest { caller, parts, body, meter, permit: _permit } =
        read(&gateway, request).await?;
    let wanted = EmbeddingsRequest::read(&body);
    let engine = gateway.0.app.engine();
    let now = gateway.0.app.now();
    if let Some(upstream) = gateway.0.upstream.get() {
        let model = wanted.as_ref().map_or("", |wanted| &wanted.model);
        let is_own = model == OWN_MODEL
            || engine.embeddings.embedder_name(now).await.is_some_and(|name| name == model);
        if !is_own {
            gateway.check_account(&upstream, &caller.caller, &parts.headers, &body).await?;
            let headers = upstream.headers(&parts.headers, meter.is_some());
            let path = with_query("embeddings", &parts.uri);
            let answer = upstream.ask(Method::POST, &path, headers, body).await?;
            return Ok(pass(answer, ResponseObservers { meter, ..ResponseObservers::default() }));
        }
    }
    let wanted = wanted.map_err(|what| GatewayError::because(ErrorCode::MalformedBody, what))?;
    let texts: Vec<&str> = wanted.texts.iter().map(String::as_str).collect();
    let made = engine.embeddings.embed_texts(&texts, now).await.map_err(Problem::from)?;
    let (model, vectors) = made.ok_or_else(|| GatewayError::of(ErrorCode::NoEmbedder))?;
    let dimensions = vectors.first().map_or(0, Vec::len) as u64;
    if wanted.dimensions.is_some_and(|wanted| wanted != dimensions) {
        let what = format!("`{model}` has exactly {dimensions} dimensions");
        return Err(GatewayError::because(ErrorCode::MalformedBody, &what));
    }
    let count =
        engine.embeddings.count_tokens(wanted.texts.clone()).await.map_err(Problem::from)?;
    Ok(Json(wanted.answer(&model, &vectors, count)).into_response())
}
