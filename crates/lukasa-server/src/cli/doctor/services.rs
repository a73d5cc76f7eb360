//! Checks beside the database: the running server, its service file, the identity provider, the
//! collector of traces, and the audit log. What is not configured has no check.

use std::time::Duration;

use lukasa_core::TenantId;
use lukasa_core::placement::MAIN_CELL;
use lukasa_engine::Engine;
use serde_json::Value;

use super::{Check, DoctorArgs, with_cause};
use crate::cli::service::installed_program;
use crate::traces::check_collector;

/// How long the server may take to answer.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the audit log is read. A longer one is left to `lukasa audit verify`.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(10);

impl DoctorArgs {
    pub(super) async fn services(&self) -> Vec<Check> {
        let mut checks = vec![self.server().await];
        checks.extend(service_file());
        checks.extend(self.identity_provider().await);
        checks.extend(self.collector().await);
        checks
    }

    /// Whether a server answers, is ready, and has the version of this program.
    async fn server(&self) -> Check {
        const FIX: &str = "start `lukasa serve`, or name the server with LUKASA_URL; restart it after an \
                           upgrade";
        let own = env!("CARGO_PKG_VERSION");
        let url = self.url.trim_end_matches('/');
        let check = |good, found: String| Check::new("server", good, found, FIX).or_warn();
        let Ok(client) = lukasa_models::tls::client(url).timeout(SERVER_TIMEOUT).build() else {
            return check(false, format!("{url} is not a URL of a server"));
        };
        let Ok(answer) = client.get(format!("{url}/readyz")).send().await else {
            return check(false, format!("none answers at {url}"));
        };
        if !answer.status().is_success() {
            return check(false, format!("{url} is not ready: {}", answer.status().as_u16()));
        }
        let alive: Value = answer.json().await.unwrap_or_default();
        match alive["version"].as_str() {
            Some(version) if version == own => check(true, format!("{version} is ready at {url}")),
            Some(version) => {
                check(false, format!("{version} is ready at {url}; this program is {own}"))
            }
            None => check(false, format!("another program answers at {url}")),
        }
    }

    /// Whether users can sign in with the identity provider, if one is set.
    async fn identity_provider(&self) -> Option<Check> {
        const FIX: &str = "correct LUKASA_OIDC_ISSUER and the settings beside it, or start the provider: \
                           users cannot sign in with it until then";
        let check = |good, found: String| Check::new("identity provider", good, found, FIX);
        let provider = match self.oidc.open(self.mcp.public_origin()) {
            Ok(provider) => provider?,
            // A server with these settings does not start.
            Err(error) => return Some(check(false, first_line(&error.to_string()))),
        };
        let name = provider.name();
        Some(match provider.check().await {
            Ok(()) => check(true, format!("{name} answers with its metadata")),
            Err(fault) => check(false, format!("{name}: {}", fault.as_str())).or_warn(),
        })
    }

    /// Whether the collector of traces answers, if one is set.
    async fn collector(&self) -> Option<Check> {
        const FIX: &str = "start the collector, or correct LUKASA_OTLP_ENDPOINT; traces are lost until \
                           then, requests are not affected";
        let endpoint = self.otlp_endpoint.as_deref().filter(|url| !url.is_empty())?;
        let (good, found) = match check_collector(endpoint).await {
            Ok(status) if status.is_success() => (true, "accepts traces".to_owned()),
            Ok(status) => (false, format!("answers {} to traces", status.as_u16())),
            Err(error) => (false, first_line(&error.to_string())),
        };
        Some(Check::new("collector", good, found, FIX).or_warn())
    }

    /// Whether the audit log of the tenant is intact.
    pub(super) async fn audit(&self, engine: &Engine) -> Check {
        const FIX: &str = "run `lukasa audit verify`, and compare with an export from before: the records \
                           were changed in the database";
        let verified = engine.audit.verify(TenantId::named(&self.tenant), MAIN_CELL);
        let tenant = &self.tenant;
        match tokio::time::timeout(AUDIT_TIMEOUT, verified).await {
            Ok(Ok(report)) => {
                let found = match &report.fault {
                    Some(fault) => format!("{tenant}: {fault}"),
                    None => format!("{tenant}: {} records, intact", report.records),
                };
                Check::new("audit log", report.fault.is_none(), found, FIX)
            }
            Ok(Err(error)) => Check::new("audit log", false, with_cause(&error), FIX).or_warn(),
            Err(_) => {
                let found = format!("{tenant}: too long to verify here");
                Check::new("audit log", false, found, "run `lukasa audit verify`").or_warn()
            }
        }
    }
}

/// Whether the program of the installed service exists, if a service is installed.
fn service_file() -> Option<Check> {
    const FIX: &str = "run `lukasa service install` again: the program was moved or removed";
    let home = crate::system::folders::home()?;
    let program = installed_program(&home)?;
    let there = program.is_file();
    let word = if there { "starts" } else { "is installed for a missing program," };
    let found = format!("the service {word} {}", program.display());
    Some(Check::new("service", there, found, FIX).or_warn())
}

/// The first line of a message: the others name next steps.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
