//! `lukasa sign-in`

use clap::Args;
use lukasa_core::Permission;
use lukasa_engine::credentials::LINK_MINUTES;
use lukasa_engine::credentials::sign_ins::USER_PERMISSIONS;
use serde_json::json;

use super::show::{BOLD, DIM, paint};
use super::{DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa sign-in --tenant acme --user alice            a link that signs alice in, once
  lukasa sign-in --tenant acme --user ops --admin      the same, with administration of the tenant
  lukasa sign-in --tenant acme --user alice --url https://memory.acme.example

A server without authentication, as `lukasa serve` starts it for one machine, needs no link: open its address.
An admin key can also be used to sign in, on the console's sign-in page.")]
pub struct SignInArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The tenant, by name
    #[arg(long, env = "LUKASA_TENANT")]
    tenant: String,
    /// The user to sign in, by your own id
    #[arg(long, env = "LUKASA_USER", value_name = "NAME")]
    user: String,
    /// Also allow managing the tenant's users, keys and domains
    #[arg(long)]
    admin: bool,
    /// Where Lukasa is served
    #[arg(long, env = "LUKASA_URL", default_value = "http://127.0.0.1:7777", value_name = "URL")]
    url: String,
}

impl SignInArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(2).await?;
        let engine = opened.engine()?;
        let mut rights = USER_PERMISSIONS.to_vec();
        if self.admin {
            rights.push(Permission::Admin);
        }
        let now = clock::now();
        let tenant = engine.credentials.ensure_tenant(&self.tenant, now).await?;
        let link = engine
            .credentials
            .make_link(tenant, None, &self.user, &rights, &clock::random(), now)
            .await?;
        let url = format!("{}/sign-in#{}", self.url.trim_end_matches('/'), link.text);
        if self.format.json {
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
