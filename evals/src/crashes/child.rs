//! The process that is crashed: it closes sessions, runs jobs, and aborts at the given crash point.

use std::sync::Arc;

use anyhow::{Context, Result};
use lukasa_core::{Caller, TenantId, Timestamp};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::{ConnectOptions, Engine, IdempotencyKey, Moment, Request};
use lukasa_models::remote::{ChatConfig, RemoteChat};
use lukasa_models::scripted::TestModels;
use lukasa_store::crash;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long)]
    pub database: String,
    #[arg(long)]
    pub chat: String,
    #[arg(long)]
    pub user: String,
    #[arg(long)]
    pub sessions: usize,
    /// The time, in seconds.
    #[arg(long)]
    pub now: i64,
    #[arg(long)]
    pub seed: u64,
    /// The crash point at which to abort.
    #[arg(long)]
    pub at: Option<u64>,
}

/// The tenant of every user here.
pub const TENANT: &str = "crashes";

pub fn moment(now: i64, seed: u64, step: u64) -> Result<Moment> {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    bytes[8..].copy_from_slice(&step.to_be_bytes());
    Ok(Moment { now: Timestamp::from_second(now)?, seed: bytes })
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    let connect = ConnectOptions { url: args.database, pool_size: 4, ca_file: None };
    let config: ChatConfig = args.chat.parse().context("the chat model")?;
    let chat = Arc::new(RemoteChat::new(config)?);
    let engine = Engine::connect(&connect)?.with_models(TestModels::that_chats(chat));
    let caller = Caller::human(TenantId::named(TENANT), &args.user, "local");
    if let Some(at) = args.at {
        crash::abort_at(at);
    }
    let mut step = 0;
    for session in 0..args.sessions {
        step += 1;
        let mut request = Request::new(caller.clone(), moment(args.now, args.seed, step)?);
        let key = format!("close-{session}");
        request.idempotency = Some(IdempotencyKey { request_hash: key.clone().into(), key });
        engine.sessions.close(&request, &format!("s{session}"), None).await?;
    }
    loop {
        step += 1;
        if engine.jobs.work("child", moment(args.now, args.seed, step)?).await?
            == WorkOutcome::Nothing
        {
            break;
        }
    }
    println!("{}", crash::passed());
    Ok(())
}
