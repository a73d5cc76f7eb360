//! `lukasa work`

use std::time::Duration;

use clap::Args;
use lukasa_engine::jobs::Worked;
use lukasa_engine::{Engine, PoolSizes};

use super::serve::{
    INDEX_MEMORY_MB, INDEX_PASSAGES, Logging, MEGABYTE, asked_to_stop, check, preset, settle_model,
};
use super::{Database, ErasureJournal, Format, say, say_json};
use crate::clock;
use crate::models::ModelSettings;
use crate::webhook::WebhookSettings;
use crate::workers::{Workers, connections};

#[derive(Debug, Args)]
#[command(after_help = "\
`lukasa serve` runs jobs itself unless told not to with `--workers 0`. Run this beside it to keep slow
models away from the server, or on several machines: they share the work through the database. Tell
the server of the chat models too: it queues nothing that nobody could do.

  lukasa work --chat qwen@http://localhost:8081/v1     until it is stopped
  lukasa work --once                                   what is due now, then end")]
pub struct Work {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    models: ModelSettings,
    /// Memory for the indexes of users whose jobs ran lately, in megabytes; 0 keeps none
    #[arg(long, env = "LUKASA_INDEX_MEMORY", default_value_t = INDEX_MEMORY_MB,
          value_name = "MB")]
    index_memory: u64,
    /// Passages of one user that recall indexes at most; beyond that, the oldest turns are left out
    #[arg(long, env = "LUKASA_INDEX_PASSAGES", default_value_t = INDEX_PASSAGES, value_name = "N")]
    index_passages: usize,
    /// How many jobs to run at a time, of learning and of webhook deliveries each
    #[arg(long, env = "LUKASA_WORKERS", default_value_t = 2, value_name = "N")]
    workers: usize,
    /// What may happen without asking where nobody has said
    #[arg(long, env = "LUKASA_POLICY", default_value = "balanced", value_name = "PRESET")]
    policy: String,
    /// Do what is due now, one after the other, and end
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    webhooks: WebhookSettings,
    #[command(flatten)]
    journal: ErasureJournal,
    #[command(flatten)]
    logging: Logging,
    #[command(flatten)]
    format: Format,
    /// How long to wait for jobs under way when stopping, in seconds
    #[arg(long, env = "LUKASA_GRACE", default_value_t = 20, value_name = "SECONDS")]
    grace: u64,
}

impl Work {
    pub async fn run(self) -> anyhow::Result<()> {
        // Every setting is named: one that nothing reads does not compile.
        let Self {
            database,
            models,
            index_memory,
            index_passages,
            workers,
            policy,
            once,
            webhooks,
            journal,
            logging,
            format,
            grace,
        } = self;
        logging.start()?;
        let workers = workers.max(1);
        let opened = database.open(4).await?;
        let sizes = PoolSizes { admission: 1, background: connections(workers) };
        let engine = Engine::connect_with(&opened.connect, sizes)?
            .with_models(models.open()?)
            .with_policy(preset(&policy)?)
            .with_courier(webhooks.courier())
            .with_index_limits(index_memory.saturating_mul(MEGABYTE), index_passages)
            .with_clock(clock::now)
            .with_ticks(clock::ticks);
        check(&engine, &opened).await?;
        let engine = journal.or_beside(&opened).replay(engine).await?;
        settle_model(&engine).await?;
        if once {
            return work_once(&engine, &format).await;
        }
        tracing::info!(workers, "working");
        let workers = Workers::start(&engine, workers);
        asked_to_stop().await;
        workers.stop(Duration::from_secs(grace)).await;
        engine.close();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Runs what is due now, one job after the other.
async fn work_once(engine: &Engine, format: &Format) -> anyhow::Result<()> {
    let (mut done, mut put_off, mut given_up) = (0, 0, 0);
    while engine.continue_erasure(clock::moment()).await? {}
    loop {
        match engine.work("once", clock::moment()).await? {
            Worked::Nothing => break,
            Worked::Done(_) => done += 1,
            Worked::PutOff(..) => put_off += 1,
            Worked::GivenUp(..) => given_up += 1,
        }
    }
    engine.close();
    if format.json {
        return say_json(&serde_json::json!({
            "done": done, "put_off": put_off, "given_up": given_up
        }));
    }
    say(&format!("{done} done, {put_off} put off, {given_up} given up"))
}
