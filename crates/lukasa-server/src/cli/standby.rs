//! The setting of a standby that users' indexes are loaded from.

use std::path::PathBuf;

use clap::Args;
use lukasa_engine::{ConnectOptions, Engine};

/// The standby, if one is set.
#[derive(Debug, Clone, Default, Args)]
pub struct StandbyArgs {
    /// A standby of the database, from which users' indexes are loaded when it is up to date
    #[arg(long, env = "LUKASA_STANDBY_URL", hide_env_values = true, value_name = "URL")]
    standby_url: Option<String>,
    /// A file with that address
    #[arg(
        long,
        env = "LUKASA_STANDBY_URL_FILE",
        value_name = "FILE",
        conflicts_with = "standby_url"
    )]
    standby_url_file: Option<PathBuf>,
}

impl StandbyArgs {
    /// How to connect to the standby, if one is set. `primary` has the other options.
    pub(super) fn connect(
        &self,
        primary: &ConnectOptions,
    ) -> anyhow::Result<Option<ConnectOptions>> {
        let in_file = crate::models::read_secret(self.standby_url_file.as_deref())?;
        let url = self.standby_url.clone().or(in_file).filter(|url| !url.is_empty());
        Ok(url.map(|url| ConnectOptions { url, ..primary.clone() }))
    }

    /// The engine with the standby, if one is set.
    pub(super) fn apply(&self, engine: Engine, primary: &ConnectOptions) -> anyhow::Result<Engine> {
        Ok(match self.connect(primary)? {
            Some(standby) => engine.with_standby(&standby)?,
            None => engine,
        })
    }
}
