//! `lukasa key create | list | rotate | revoke`

use std::io::Write as _;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use jiff::SignedDuration;
use lukasa_core::secret::{MAX_OVERLAP_HOURS, OVERLAP_HOURS};
use lukasa_core::{Origin, Permission, TenantId};
use lukasa_engine::credentials::rotation::RotatedKey;
use lukasa_engine::credentials::{KeyRecord, NewKey, tenant_names};
use serde_json::json;

use super::{DatabaseArgs, FormatArgs, TenantArgs, say, say_json};
use crate::clock;

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create a key. Its secret is shown once and cannot be shown again.
    Create(CreateKeyArgs),
    /// List a tenant's keys, without their secrets.
    List(ListKeysArgs),
    /// Revoke a key and every token and sign-in made from it.
    Revoke(RevokeKeyArgs),
    /// Replace a key by a new one with the same permissions. The old one stays valid for a while.
    Rotate(RotateKeyArgs),
}

impl KeyCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            KeyCommand::Create(command) => command.run().await,
            KeyCommand::List(command) => command.run().await,
            KeyCommand::Rotate(command) => command.run().await,
            KeyCommand::Revoke(command) => command.run().await,
        }
    }
}

/// A permission of a key.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum KeyPermission {
    Read,
    Write,
    Propose,
    Erase,
    Admin,
    Chat,
}

impl From<KeyPermission> for Permission {
    fn from(may: KeyPermission) -> Self {
        match may {
            KeyPermission::Read => Permission::Read,
            KeyPermission::Write => Permission::Write,
            KeyPermission::Propose => Permission::Propose,
            KeyPermission::Erase => Permission::Erase,
            KeyPermission::Admin => Permission::Admin,
            KeyPermission::Chat => Permission::Chat,
        }
    }
}

/// Parses the origin that the server records for what a key writes.
fn origin_parser() -> impl TypedValueParser<Value = Origin> {
    let parser = PossibleValuesParser::new(Origin::OF_KEYS.map(Origin::as_str));
    parser.try_map(|text| Origin::parse_of_key(&text).ok_or("not a known origin"))
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa key create --tenant acme --name 'my assistant'
  lukasa key create --tenant acme --name 'chat app' --may read,write,propose,chat
  lukasa key create --tenant acme --name backend --may read,write,propose,erase,admin
  lukasa key create --tenant acme --name 'only for alice' --user alice --may read

With a key without --user, each request names its user in the X-Lukasa-User header.
A key needs `chat` to use the models behind /v1, whose tokens the operator pays for.
A key with `admin` can create short-lived tokens for users' browsers (POST /api/tokens).")]
pub struct CreateKeyArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The tenant, by name; created if it does not exist
    #[arg(long, env = "LUKASA_TENANT")]
    tenant: String,
    /// A name that says what the key is for
    #[arg(long)]
    name: String,
    /// Bind the key to one user
    #[arg(long)]
    user: Option<String>,
    /// Its permissions
    #[arg(long, value_delimiter = ',', default_value = "read,write,propose")]
    may: Vec<KeyPermission>,
    /// The origin of what it writes, which decides how far it is trusted
    #[arg(long, default_value = "assistant", value_parser = origin_parser())]
    origin: Origin,
    /// Let the key expire after this many days
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=3650))]
    expires_in: Option<i64>,
}

impl CreateKeyArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(2).await?;
        let engine = opened.engine()?;
        let now = clock::now();
        let is_new = !tenant_names(&opened.connect).await?.contains(&self.tenant);
        let tenant = engine.credentials.ensure_tenant(&self.tenant, now).await?;
        if is_new {
            let line = format!("created the tenant {}\n", self.tenant);
            let _ = std::io::stderr().lock().write_all(line.as_bytes());
        }
        let ends = self.expires_in.map(|days| now + SignedDuration::from_hours(24 * days));
        let new = NewKey {
            name: self.name,
            user: self.user,
            permissions: self.may.into_iter().map(Permission::from).collect(),
            origin: self.origin,
            expires_at: ends,
        };
        let issued = engine.credentials.create_key(tenant, new, &clock::random(), now).await?;
        if self.format.json {
            let mut shown = as_json(&issued.record);
            shown["secret"] = json!(issued.text);
            return say_json(&shown);
        }
        say(&issued.text)?;
        say("\nThis is shown once. Send it as:  Authorization: Bearer <the line above>")
    }
}

#[derive(Debug, Args)]
pub struct ListKeysArgs {
    #[command(flatten)]
    within: TenantArgs,
}

impl ListKeysArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.within.database.open(2).await?;
        let engine = opened.engine()?;
        let keys = engine.credentials.keys(TenantId::named(&self.within.name)).await?;
        if self.within.format.json {
            let data: Vec<_> = keys.iter().map(as_json).collect();
            return say_json(&json!({ "data": data }));
        }
        if keys.is_empty() {
            return say("No keys yet. Create one: lukasa key create --tenant NAME --name NAME");
        }
        let row = |id: &str, name: &str, user: &str, may: &str, state: &str| {
            format!("{id:<16}  {name:<24}  {user:<16}  {may:<32}  {state}")
        };
        say(&row("ID", "NAME", "USER", "MAY", "STATE"))?;
        for key in &keys {
            let may: Vec<_> = key.permissions.iter().map(|p| p.as_str()).collect();
            let user = key.user.as_ref().map_or("(every user)", |(_, name)| name);
            say(&row(&key.key_id, &key.name, user, &may.join(","), &state_of(key)))?;
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub struct RevokeKeyArgs {
    #[command(flatten)]
    within: TenantArgs,
    /// The key's id, as listed
    id: String,
}

impl RevokeKeyArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.within.database.open(2).await?;
        let engine = opened.engine()?;
        let tenant = TenantId::named(&self.within.name);
        let revoked = engine.credentials.revoke(tenant, &self.id, clock::now()).await?;
        if self.within.format.json {
            return say_json(&json!({ "revoked": revoked }));
        }
        let others = revoked.len().saturating_sub(1);
        say(&format!("Revoked {} and {others} tokens and sign-ins made from it.", self.id))
    }
}

#[derive(Debug, Args)]
pub struct RotateKeyArgs {
    #[command(flatten)]
    within: TenantArgs,
    /// The key's id, as listed
    id: String,
    /// For how many hours the old key stays valid; 0 ends it at once
    #[arg(long, value_name = "HOURS", default_value_t = OVERLAP_HOURS,
          value_parser = clap::value_parser!(i64).range(0..=MAX_OVERLAP_HOURS))]
    overlap: i64,
}

impl RotateKeyArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.within.database.open(2).await?;
        let engine = opened.engine()?;
        let (tenant, random) = (TenantId::named(&self.within.name), clock::random());
        let keys = &engine.credentials;
        let RotatedKey { issued, replaced } =
            keys.rotate_key(tenant, &self.id, self.overlap, &random, clock::now()).await?;
        if self.within.format.json {
            let mut shown = as_json(&issued.record);
            shown["secret"] = json!(issued.text);
            shown["replaced"] = as_json(&replaced);
            return say_json(&shown);
        }
        say(&issued.text)?;
        let validity = match replaced.expires_at.filter(|end| clock::now() < *end) {
            Some(end) => format!("is valid until {end:.0}"),
            None => "is no longer valid".to_owned(),
        };
        say(&format!("\nThis is shown once. The old key {} {validity}.", self.id))
    }
}

fn state_of(key: &KeyRecord) -> String {
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at:.0}"),
        (None, Some(end)) if end <= clock::now() => "expired".to_owned(),
        (None, Some(end)) => format!("live until {end:.0}"),
        (None, None) => "live".to_owned(),
    };
    match &key.replaced_by {
        Some(newer) => format!("{state}, replaced by {newer}"),
        None => state,
    }
}

fn as_json(key: &KeyRecord) -> serde_json::Value {
    json!({
        "id": key.key_id,
        "name": key.name,
        "user": key.user.as_ref().map(|(_, name)| name),
        "permissions": key.permissions.iter().map(|p| p.as_str()).collect::<Vec<_>>(),
        "origin": key.origin.as_str(),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    })
}
