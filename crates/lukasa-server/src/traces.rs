//! Traces for an OpenTelemetry collector: spans of requests, retrievals, jobs, model calls and
//! transactions.
//!
//! Only spans with the target [`TRACE_TARGET`] are exported, and no log line. Their attributes are words
//! and numbers of this program: no user, tenant, path or text is ever one.

use std::time::Duration;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use lukasa_engine::telemetry::TRACE_TARGET;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use tokio::runtime::Handle;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

/// How long the collector has for one request.
const COLLECTOR_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last spans may take when the process stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Where a collector receives traces, if its address has no path.
const TRACES_PATH: &str = "/v1/traces";

/// A layer of the subscriber.
pub type RegistryLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// The export of traces, if a collector is configured.
#[derive(Default)]
pub struct TraceExport(Option<SdkTracerProvider>);

impl TraceExport {
    /// Starts to export spans to the collector at this address; returns the layer that records them.
    pub fn start(endpoint: &str) -> anyhow::Result<(Self, RegistryLayer)> {
        let url = traces_url(endpoint)?;
        let client = lukasa_models::tls::client(&url).timeout(COLLECTOR_TIMEOUT).build();
        let client = client.context("could not create the HTTP client for traces")?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient { client, runtime: Handle::current() })
            .with_endpoint(url)
            .with_timeout(COLLECTOR_TIMEOUT)
            .build()
            .context("traces cannot be exported")?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource =
            Resource::builder_empty().with_service_name("lukasa").with_attribute(version);
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .build();
        let layer = tracing_opentelemetry::layer::<Registry>()
            .with_tracer(provider.tracer("lukasa"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|of| of.is_span() && of.target() == TRACE_TARGET));
        Ok((Self(Some(provider)), Box::new(layer)))
    }

    /// Sends what was recorded and not sent yet, and ends.
    pub async fn finish(self) {
        let Some(provider) = self.0 else { return };
        // It waits for its own thread, which waits for requests of this runtime.
        let ended =
            tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH_TIMEOUT));
        if let Ok(Err(error)) = ended.await {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Posts a request without spans to the collector at this address; returns its answer.
pub async fn check_collector(endpoint: &str) -> anyhow::Result<StatusCode> {
    let url = traces_url(endpoint)?;
    let client = lukasa_models::tls::client(&url).timeout(COLLECTOR_TIMEOUT).build();
    let client = client.context("could not create the HTTP client for traces")?;
    let request = client.post(&url).header(CONTENT_TYPE, "application/x-protobuf");
    let answer = request.body(Vec::<u8>::new()).send().await;
    Ok(answer.context("the collector does not answer")?.status())
}

/// The URL that spans are posted to.
fn traces_url(endpoint: &str) -> anyhow::Result<String> {
    let parsed = reqwest::Url::parse(endpoint).ok();
    let Some(mut url) = parsed.filter(|url| ["http", "https"].contains(&url.scheme())) else {
        bail!("LUKASA_OTLP_ENDPOINT is not a URL\n  next: set it as http://127.0.0.1:4318");
    };
    if url.path() == "/" {
        url.set_path(TRACES_PATH);
    }
    Ok(url.into())
}

/// Posts spans with the client of this program. The exporter calls it on a thread of its own, so the
/// request is made by the runtime.
#[derive(Debug)]
struct CollectorClient {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = self.client.request(head.method, head.uri.to_string());
        let request = request.headers(head.headers).body(body);
        // Also what begins the request needs the runtime, such as its timeout.
        let response = self.runtime.spawn(async move { request.send().await }).await??;
        // The body is not needed, and could be of any length.
        let mut answer = Response::new(Bytes::new());
        *answer.status_mut() = response.status();
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_url_has_the_path_of_the_protocol_unless_one_is_given() {
        let url = |text: &str| traces_url(text).ok();
        assert_eq!(url("http://c:4318").as_deref(), Some("http://c:4318/v1/traces"));
        assert_eq!(url("https://c/").as_deref(), Some("https://c/v1/traces"));
        assert_eq!(url("https://c/otlp/v1/traces").as_deref(), Some("https://c/otlp/v1/traces"));
        assert_eq!(url("c:4318"), None);
        assert_eq!(url(""), None);
    }
}
