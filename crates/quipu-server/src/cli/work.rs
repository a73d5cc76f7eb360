//! `quipu work`

use std::time::Duration;

use clap::Args;
use quipu_engine::jobs::Worked;
use quipu_engine::{Engine, PoolSizes};

use super::serve::{Logging, asked_to_stop, check, preset, settle_model};
use super::{Database, ErasureJournal, Format, say, say_json};
use crate::clock;
use crate::models::ModelSettings;
use crate::webhook::WebhookSettings;
use crate::workers::{Workers, connections};

#[derive(Debug, Args)]
#[command(after_help = "\
`quipu serve` runs jobs itself unless told not to with `--workers 0`. Run this beside it to keep slow
models away from the server, or on several machines: they share the work through the database. Tell
the server of the chat models too: it queues nothing that nobody could do.

  quipu work --chat qwen@http://localhost:8081/v1     until it is stopped
  quipu work --once                                   what is due now, then end")]
pub struct Work {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    models: ModelSettings,
    /// How many jobs to run at a time, of learning and of webhook deliveries each
    #[arg(long, env = "QUIPU_WORKERS", default_value_t = 2, value_name = "N")]
    workers: usize,
    /// What may happen without asking where nobody has said
    #[arg(long, env = "QUIPU_POLICY", default_value = "balanced", value_name = "PRESET")]
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
    #[arg(long, env = "QUIPU_GRACE", default_value_t = 20, value_name = "SECONDS")]
    grace: u64,
}

impl Work {
    pub async fn run(self) -> anyhow::Result<()> {
        self.logging.start()?;
        let opened = self.database.open(4).await?;
        let sizes = PoolSizes { admission: 1, background: connections(self.workers.max(1)) };
        let engine = Engine::connect_with(&opened.connect, sizes)?
            .with_models(self.models.open()?)
            .with_policy(preset(&self.policy)?)
            .with_courier(self.webhooks.courier())
            .with_ticks(clock::ticks);
        check(&engine, &opened).await?;
        let engine = self.journal.or_beside(&opened).replay(engine).await?;
        settle_model(&engine).await?;
        if self.once {
            return self.work_once(&engine).await;
        }
        let workers = Workers::start(&engine, self.workers.max(1));
        tracing::info!(workers = self.workers.max(1), "working");
        asked_to_stop().await;
        workers.stop(Duration::from_secs(self.grace)).await;
        engine.close();
        tracing::info!("stopped");
        Ok(())
    }

    async fn work_once(&self, engine: &Engine) -> anyhow::Result<()> {
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
        if self.format.json {
            return say_json(&serde_json::json!({
                "done": done, "put_off": put_off, "given_up": given_up
            }));
        }
        say(&format!("{done} done, {put_off} put off, {given_up} given up"))
    }
}
