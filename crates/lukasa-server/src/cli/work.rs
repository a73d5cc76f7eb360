//! `lukasa work`

use std::time::Duration;

use clap::{ArgAction, Args};
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::{Engine, PoolSizes};

use super::policy::PolicySettings;
use super::serve::{
    INDEX_MEMORY_MB, INDEX_PASSAGES, LoggingArgs, MEGABYTE, check, settle_model,
    wait_for_stop_signal,
};
use super::standby::StandbyArgs;
use super::{DatabaseArgs, ErasureJournalArgs, FormatArgs, say, say_json};
use crate::clock::{self, ServerClock};
use crate::models::ModelSettings;
use crate::telemetry::MetricsSettings;
use crate::webhook::WebhookSettings;
use crate::workers::{Workers, connections};

#[derive(Debug, Args)]
#[command(after_help = "\
`lukasa serve` runs jobs itself unless it has `--workers 0`. Run this beside it to keep slow models away
from the server, or on several machines: they share the work through the database. Configure the chat
models of the server too: without one it learns by rules, and queues no other job that needs a model.

  lukasa work --chat qwen@http://localhost:8081/v1     run until stopped
  lukasa work --once                                   run the jobs that are due now, then exit")]
pub struct WorkArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    standby: StandbyArgs,
    #[command(flatten)]
    models: ModelSettings,
    /// Memory for the cached indexes of recent users, in megabytes; 0 disables the cache
    #[arg(long, env = "LUKASA_INDEX_MEMORY", default_value_t = INDEX_MEMORY_MB,
          value_name = "MB")]
    index_memory: u64,
    /// Most passages that recall indexes for one user; beyond that, the oldest turns are left out
    #[arg(long, env = "LUKASA_INDEX_PASSAGES", default_value_t = INDEX_PASSAGES, value_name = "N")]
    index_passages: usize,
    /// Learn from conversations by rules alone if no chat model is configured here; otherwise such a
    /// worker leaves learning to one that has a model
    #[arg(long, env = "LUKASA_LEARN_BY_RULES", default_value_t = false, action = ArgAction::Set,
          value_name = "BOOL")]
    learn_by_rules: bool,
    /// How many jobs to run at a time, of learning and of webhook deliveries each
    #[arg(long, env = "LUKASA_WORKERS", default_value_t = 2, value_name = "N")]
    workers: usize,
    #[command(flatten)]
    policy: PolicySettings,
    /// Run the jobs that are due now, one after the other, and exit
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    webhooks: WebhookSettings,
    #[command(flatten)]
    journal: ErasureJournalArgs,
    #[command(flatten)]
    metrics: MetricsSettings,
    #[command(flatten)]
    logging: LoggingArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// How long to wait for jobs under way when stopping, in seconds
    #[arg(long, env = "LUKASA_GRACE", default_value_t = 20, value_name = "SECONDS")]
    grace: u64,
}

impl WorkArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        // Every setting is named here, so that an unread setting does not compile.
        let Self {
            database,
            standby,
            models,
            index_memory,
            index_passages,
            learn_by_rules,
            workers,
            policy,
            once,
            webhooks,
            journal,
            metrics,
            logging,
            format,
            grace,
        } = self;
        let traces = logging.start()?;
        let workers = workers.max(1);
        let opened = database.open(4).await?;
        let sizes = PoolSizes { auth: 1, background: connections(workers) };
        let engine = Engine::connect_with(&opened.connect, sizes)?
            .with_models(models.open()?)
            .with_chat_timeout(models.chat_timeout())
            .with_policy(policy.open()?)
            .with_learning_by_rules(learn_by_rules)
            .with_webhook_sender(webhooks.sender())
            .with_index_limits(index_memory.saturating_mul(MEGABYTE), index_passages)
            .with_clock(clock::now)
            .with_ticks(clock::ticks);
        let engine = standby.apply(engine, &opened.connect)?;
        check(&engine, &opened).await?;
        let (engine, _) = journal.or_beside(&opened).replay(engine).await?;
        settle_model(&engine).await?;
        if once {
            let worked = work_once(&engine, &format).await;
            traces.finish().await;
            return worked;
        }
        metrics.start(&engine).await?;
        tracing::info!(workers, "working");
        let workers = Workers::start(&engine, &ServerClock::default(), workers);
        wait_for_stop_signal().await;
        workers.stop(Duration::from_secs(grace)).await;
        engine.close();
        traces.finish().await;
        tracing::info!("stopped");
        Ok(())
    }
}

/// Runs the jobs that are due now, one after the other.
async fn work_once(engine: &Engine, format: &FormatArgs) -> anyhow::Result<()> {
    let (mut done, mut put_off, mut given_up) = (0, 0, 0);
    while engine.erasures.continue_erasure(clock::moment()).await? {}
    loop {
        match engine.jobs.work("once", clock::moment()).await? {
            WorkOutcome::Nothing => break,
            WorkOutcome::Done(_) => done += 1,
            WorkOutcome::PutOff(..) => put_off += 1,
            WorkOutcome::GivenUp(..) => given_up += 1,
        }
    }
    engine.close();
    if format.json {
        return say_json(&serde_json::json!({
            "done": done, "put_off": put_off, "given_up": given_up
        }));
    }
    say(&format!("{done} done, {put_off} postponed, {given_up} failed permanently"))
}
