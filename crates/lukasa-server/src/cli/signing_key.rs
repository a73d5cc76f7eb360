//! `lukasa signing-key list | rotate`

use clap::{Args, Subcommand};
use lukasa_engine::signing::{PublicSigningKey, list_signing_keys, rotate_signing_key};
use serde_json::json;

use super::{DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
The installation has one key, in its database. It signs receipts of erasures, exports and the bases of vaults,
and seals the ids of OAuth clients. Servers use a new key at once, without a restart. Both commands need the
login role that owns the tables, as `lukasa migrate` does.")]
pub enum SigningKeyCommand {
    /// List the public keys that are accepted: the one in use, and earlier ones with their end.
    List(ListSigningKeysArgs),
    /// Replace the key of the installation.
    Rotate(RotateSigningKeyArgs),
}

#[derive(Debug, Args)]
pub struct ListSigningKeysArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct RotateSigningKeyArgs {
    #[command(flatten)]
    keys: ListSigningKeysArgs,
    /// For how many days what the old key signed is accepted; 0 if the key may be known to others
    #[arg(long, value_name = "DAYS", default_value_t = 90,
          value_parser = clap::value_parser!(i32).range(0..=3650))]
    overlap: i32,
}

impl SigningKeyCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            SigningKeyCommand::List(command) => command.run(None).await,
            SigningKeyCommand::Rotate(command) => command.keys.run(Some(command.overlap)).await,
        }
    }
}

impl ListSigningKeysArgs {
    /// Lists the keys, after replacing the one in use if an overlap is given.
    async fn run(self, overlap_days: Option<i32>) -> anyhow::Result<()> {
        let Self { database, format } = self;
        let opened = database.open(2).await?;
        if let Some(days) = overlap_days {
            rotate_signing_key(&opened.connect, &clock::random(), days, clock::now()).await?;
        }
        let keys = list_signing_keys(&opened.connect).await?;
        opened.close().await?;
        if format.json {
            let data: Vec<_> = keys.iter().map(as_json).collect();
            return say_json(&json!({ "data": data }));
        }
        for key in &keys {
            let state = match key.accepted_until {
                Some(until) => format!("accepted until {until:.0}"),
                None => "in use".to_owned(),
            };
            say(&format!("{}  {state}", key.public_key))?;
        }
        Ok(())
    }
}

fn as_json(key: &PublicSigningKey) -> serde_json::Value {
    json!({ "public_key": key.public_key, "created_at": key.created_at,
        "accepted_until": key.accepted_until })
}
