//! `lukasa sign-in`

use anyhow::bail;
use clap::Args;
use lukasa_core::Permission;
use lukasa_engine::credentials::sign_ins::USER_PERMISSIONS;
use lukasa_engine::credentials::{LINK_MINUTES, tenant_names};
use serde_json::json;

use super::show::{BOLD, DIM, paint};
use super::{TenantArgs, say, say_json};
use crate::clock;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa sign-in --tenant acme --user alice            a link that signs alice in, once
  lukasa sign-in --tenant acme --user ops --admin      the same, with administration of the tenant
  lukasa sign-in --tenant acme --user alice --public-url https://memory.acme.example

A server without authentication, as `lukasa serve` starts it for one machine, needs no link: open its address.
An admin key can also be used to sign in, on the console's sign-in page.")]
pub struct SignInArgs {
    #[command(flatten)]
    within: TenantArgs,
    /// Create the tenant if it does not exist
    #[arg(long)]
    create_tenant: bool,
    /// The user to sign in, by your own id
    #[arg(long, env = "LUKASA_USER", value_name = "NAME")]
    user: String,
    /// Also allow managing the tenant's users, keys and domains
    #[arg(long)]
    admin: bool,
    /// Where users open Lukasa; LUKASA_URL if absent, else http://127.0.0.1:7777
    #[arg(long, env = "LUKASA_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// The address of the server for commands
    #[arg(long, env = "LUKASA_URL", hide = true)]
    server_url: Option<String>,
}

impl SignInArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.within.database.open(2).await?;
        let engine = opened.engine()?;
        let mut rights = USER_PERMISSIONS.to_vec();
        if self.admin {
            rights.push(Permission::Admin);
        }
        if !self.create_tenant {
            check_tenant(&self.within.name, &tenant_names(&opened.connect).await?)?;
        }
        let now = clock::now();
        let tenant = engine.credentials.ensure_tenant(&self.within.name, now).await?;
        let link = engine
            .credentials
            .make_link(tenant, None, &self.user, &rights, &clock::random(), now)
            .await?;
        let named = [self.public_url.as_deref(), self.server_url.as_deref()];
        let base = named.into_iter().flatten().find(|url| !url.is_empty());
        let base = base.unwrap_or("http://127.0.0.1:7777").trim_end_matches('/');
        let url = format!("{base}/sign-in#{}", link.text);
        if self.within.format.json {
            return say_json(&json!({
                "url": url, "user": self.user, "admin": self.admin,
                "expires_at": link.record.expires_at,
            }));
        }
        say(&paint(BOLD, &url))?;
        say(&paint(
            DIM,
            &format!(
                "\nIt works once, within {LINK_MINUTES} minutes. Send it only to {}.",
                self.user
            ),
        ))
    }
}

/// Refuses a tenant that does not exist: its name may be mistyped, and the link would open an empty memory.
fn check_tenant(tenant: &str, existing: &[String]) -> anyhow::Result<()> {
    const MAX_NAMED: usize = 10;
    if existing.iter().any(|name| name == tenant) {
        return Ok(());
    }
    let mut listed = existing.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>();
    if existing.len() > MAX_NAMED {
        listed.push("…");
    }
    let which = match listed.is_empty() {
        true => "there are no tenants yet".to_owned(),
        false => format!("the tenants are: {}", listed.join(", ")),
    };
    bail!(
        "there is no tenant called `{tenant}`; {which}\n  next: correct --tenant, or create it with \
         --create-tenant"
    )
}
