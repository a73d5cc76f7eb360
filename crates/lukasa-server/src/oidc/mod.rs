//! Signing in with an identity provider by `OpenID` Connect: its settings, and the requests to the
//! provider. Only the configured issuer, and the addresses that it announces, are called; every
//! request has a time limit, follows no redirect, and reads a bounded response. The pages are in
//! `http/oidc.rs`, the meaning of claims in `lukasa_core::oidc`.

mod provider;
mod token;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use lukasa_core::oidc::ClaimRules;
use reqwest::Url;

pub use provider::{AuthorizationValues, OidcFault, OidcProvider, ProviderCode};
pub use token::{PublicKey, verify as verify_token};

/// Settings of the identity provider.
#[derive(Debug, Clone, Default, Args)]
pub struct OidcSettings {
    /// The OpenID Connect provider that users sign in to the console with, such as
    /// `https://id.example.com/realms/acme`; needs LUKASA_PUBLIC_URL
    #[arg(long, env = "LUKASA_OIDC_ISSUER", value_name = "URL")]
    oidc_issuer: Option<String>,
    /// This server's id at the provider
    #[arg(long, env = "LUKASA_OIDC_CLIENT_ID", value_name = "ID")]
    oidc_client_id: Option<String>,
    /// This server's secret at the provider; absent for a public client
    #[arg(long, env = "LUKASA_OIDC_CLIENT_SECRET", hide_env_values = true, value_name = "SECRET")]
    oidc_client_secret: Option<String>,
    /// A file with the secret
    #[arg(
        long,
        env = "LUKASA_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE",
        conflicts_with = "oidc_client_secret"
    )]
    oidc_client_secret_file: Option<PathBuf>,
    /// The tenant whose users sign in
    #[arg(long, env = "LUKASA_OIDC_TENANT", value_name = "NAME")]
    oidc_tenant: Option<String>,
    /// The name of the provider on the sign-in page; its host if absent
    #[arg(long, env = "LUKASA_OIDC_NAME", value_name = "NAME")]
    oidc_name: Option<String>,
    /// What to request: the scopes that contain the claims below
    #[arg(long, env = "LUKASA_OIDC_SCOPES", default_value = "openid email", value_name = "SCOPES")]
    oidc_scopes: String,
    /// The claim with the name of the user; `email` counts only if the provider verified it
    #[arg(long, env = "LUKASA_OIDC_USER_CLAIM", default_value = "sub", value_name = "CLAIM")]
    oidc_user_claim: String,
    /// What precedes the claim in the name of the user. If absent: the issuer without its scheme and a
    /// `|`, or nothing for `email`. Set it to nothing if your application names users by the claim
    #[arg(long, env = "LUKASA_OIDC_USER_PREFIX", value_name = "TEXT")]
    oidc_user_prefix: Option<String>,
    /// The claim with the roles or groups of the user
    #[arg(long, env = "LUKASA_OIDC_ROLE_CLAIM", value_name = "CLAIM")]
    oidc_role_claim: Option<String>,
    /// Roles that administer the tenant, separated by commas
    #[arg(long, env = "LUKASA_OIDC_ADMIN_VALUES", value_delimiter = ',', value_name = "ROLE")]
    oidc_admin_values: Vec<String>,
    /// Roles that may sign in, separated by commas; `*` for everyone with an account at the provider
    #[arg(long, env = "LUKASA_OIDC_ALLOWED_VALUES", value_delimiter = ',', value_name = "ROLE")]
    oidc_allowed_values: Vec<String>,
}

impl OidcSettings {
    /// The provider, if one is configured. `origin` is the public address of this server.
    pub fn open(&self, origin: Option<String>) -> anyhow::Result<Option<OidcProvider>> {
        let Some(issuer) = self.oidc_issuer.as_deref().filter(|issuer| !issuer.is_empty()) else {
            return Ok(None);
        };
        let needed = |value: &Option<String>, name: &str| {
            let given = value.clone().filter(|value| !value.is_empty());
            given.with_context(|| format!("LUKASA_OIDC_ISSUER needs {name}\n  next: set {name}"))
        };
        let origin = origin.context(
            "LUKASA_OIDC_ISSUER needs the public address of this server\n  next: set \
             LUKASA_PUBLIC_URL to https and a host, without a path",
        )?;
        let url: Url = issuer.parse().context("LUKASA_OIDC_ISSUER is not a URL")?;
        if !provider::is_safe(&url) || url.query().is_some() || url.fragment().is_some() {
            bail!(
                "LUKASA_OIDC_ISSUER must be an https URL\n  next: use the issuer's https address"
            );
        }
        let rules = ClaimRules {
            user_claim: self.oidc_user_claim.clone(),
            user_prefix: match &self.oidc_user_prefix {
                Some(prefix) => prefix.clone(),
                None if self.oidc_user_claim == "email" => String::new(),
                None => format!("{}|", without_scheme(issuer)),
            },
            role_claim: self.oidc_role_claim.clone().filter(|claim| !claim.is_empty()),
            admin_values: trim_values(&self.oidc_admin_values),
            allowed_values: trim_values(&self.oidc_allowed_values),
        };
        if let Some(fault) = rules.fault() {
            bail!(
                "the claims of the identity provider are not usable: {fault}\n  next: change \
                 LUKASA_OIDC_USER_CLAIM, _USER_PREFIX, _ROLE_CLAIM, _ADMIN_VALUES or _ALLOWED_VALUES"
            );
        }
        if !self.oidc_scopes.split(' ').any(|scope| scope == "openid") {
            bail!("LUKASA_OIDC_SCOPES must contain openid");
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        Ok(Some(OidcProvider::new(provider::ProviderConfig {
            issuer: issuer.to_owned(),
            client_id: needed(&self.oidc_client_id, "LUKASA_OIDC_CLIENT_ID")?,
            client_secret: self.secret()?,
            tenant: needed(&self.oidc_tenant, "LUKASA_OIDC_TENANT")?,
            name: self.oidc_name.clone().filter(|name| !name.is_empty()).unwrap_or(host),
            scopes: self.oidc_scopes.clone(),
            redirect_uri: format!("{origin}/oidc/callback"),
            signed_out_uri: format!("{origin}/oidc/signed-out"),
            rules,
        })?))
    }

    fn secret(&self) -> anyhow::Result<Option<String>> {
        let Some(file) = &self.oidc_client_secret_file else {
            return Ok(self.oidc_client_secret.clone().filter(|secret| !secret.is_empty()));
        };
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("LUKASA_OIDC_CLIENT_SECRET_FILE {}", file.display()))?;
        let secret = text.trim_end();
        if secret.is_empty() {
            bail!("LUKASA_OIDC_CLIENT_SECRET_FILE {} is empty", file.display());
        }
        Ok(Some(secret.to_owned()))
    }
}

fn without_scheme(issuer: &str) -> &str {
    issuer.split_once("://").map_or(issuer, |(_, rest)| rest).trim_end_matches('/')
}

fn trim_values(values: &[String]) -> Vec<String> {
    values.iter().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()).collect()
}
