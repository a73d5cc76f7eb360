//! `lukasa model` and `lukasa reembed`: the files of local models, and embeddings by another model.

use std::io::IsTerminal as _;

use anyhow::bail;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use lukasa_engine::Engine;
use lukasa_models::local::{self, catalogue};
use serde_json::json;

use super::{Database, Format, say, say_json};
use crate::clock;
use crate::models::ModelSettings;

/// The files of local models.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// List the models Lukasa knows, and which of them are here.
    List(List),
    /// Fetch a model's files and check them against their known hashes.
    Get(Get),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub struct Get {
    /// potion (30 MB) or minilm (91 MB)
    name: String,
    #[command(flatten)]
    models: ModelSettings,
    /// Fetch from here instead of the public hub; the layout is the hub's
    #[arg(long, env = "LUKASA_MODEL_MIRROR", value_name = "URL")]
    mirror: Option<String>,
}

impl Model {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Model::List(command) => command.run(),
            Model::Get(command) => command.run().await,
        }
    }
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let folder = self.models.folder();
        let is_here = |known: &catalogue::KnownModel| {
            known.files.iter().all(|file| folder.join(known.short).join(file.name).exists())
        };
        if self.format.json {
            let model = |known: &catalogue::KnownModel| {
                json!({"name": known.full, "short": known.short, "dimension": known.dimension,
                       "bytes": known.bytes(), "licence": known.licence, "here": is_here(known)})
            };
            return say_json(
                &json!({"folder": folder, "models": catalogue::KNOWN.iter().map(model).collect::<Vec<_>>()}),
            );
        }
        for known in &catalogue::KNOWN {
            let here = if is_here(known) { "here" } else { "not here" };
            let megabytes = known.bytes() / 1_000_000;
            say(&format!(
                "{:8} {:20} {:4} numbers  {megabytes:3} MB  {:12} {here}",
                known.short, known.full, known.dimension, known.licence
            ))?;
        }
        say(&format!("\nFolder: {}", folder.display()))
    }
}

impl Get {
    async fn run(self) -> anyhow::Result<()> {
        let Some(known) = catalogue::find(&self.name) else {
            bail!(
                "no model is called {:?}\n  next: `lukasa model list` shows what there is",
                self.name
            );
        };
        let bar = bar(known.bytes(), "{bar:30} {bytes} of {total_bytes}, {eta} left");
        let folder = self.models.folder();
        let mut tell = |progress: local::Progress<'_>| bar.set_position(progress.bytes);
        let into = local::fetch(known, &folder, self.mirror.as_deref(), &mut tell).await?;
        bar.finish_and_clear();
        say(&format!("{} is in {}", known.full, into.display()))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The new embeddings are made beside the old ones, user by user, while the server goes on with the old.
Stop it whenever you like and start it again: what is done stays done. When all are there, the new
model is put in use in one step; every server follows within a second. The way back is one step too:
  lukasa reembed --switch potion-base-8M")]
pub struct Reembed {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    models: ModelSettings,
    /// The model to embed with: potion, minilm, or the one the embeddings service is asked for
    #[arg(long, value_name = "NAME", conflicts_with_all = ["switch", "list"])]
    model: Option<String>,
    /// Make the embeddings, and leave the model in use as it is
    #[arg(long, requires = "model")]
    no_switch: bool,
    /// Only put this model in use, whose embeddings were made before
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    switch: Option<String>,
    /// List the models that embeddings were made with
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    format: Format,
}

impl Reembed {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(4).await?;
        let engine = Engine::connect(&opened.connect)?.with_models(self.models.open()?);
        if let Some(name) = &self.switch {
            let name = catalogue::find(name).map_or(name.as_str(), |known| known.full);
            engine.switch_model(name, clock::now()).await?;
            return self.tell(&engine).await;
        }
        let Some(name) = &self.model else {
            if self.list {
                return self.tell(&engine).await;
            }
            bail!(
                "which model?\n  next: `lukasa reembed --model minilm`, or `--list` for what there is"
            );
        };
        let name = catalogue::find(name).map_or(name.as_str(), |known| known.full);
        let (_, lacking) = engine.lacking(name).await?;
        let bar = bar(lacking as u64, "{bar:30} {pos} of {len} passages, {eta} left");
        let made = engine.reembed(name, clock::now(), |count| bar.inc(count as u64)).await?;
        bar.finish_and_clear();
        if !self.no_switch {
            engine.switch_model(name, clock::now()).await?;
            // What was written between the last look and the switch has the old embedding only.
            engine.reembed(name, clock::now(), |_| ()).await?;
        }
        if !self.format.json {
            say(&format!("{made} passages were embedded with {name}."))?;
        }
        self.tell(&engine).await
    }

    async fn tell(&self, engine: &Engine) -> anyhow::Result<()> {
        let mut models = Vec::new();
        for record in engine.models().await? {
            let (passages, lacking) = engine.lacking(&record.model.name).await?;
            models.push(json!({
                "name": record.model.name, "dimension": record.model.dimension,
                "in_use": record.in_use, "passages": passages, "lacking": lacking,
                "filled_at": record.filled_at, "switched_at": record.switched_at,
            }));
        }
        if self.format.json {
            return say_json(&json!({ "models": models }));
        }
        if models.is_empty() {
            return say("No embeddings have been made yet.");
        }
        for model in models {
            let text = |name: &str| model[name].as_str().unwrap_or("").to_owned();
            let number = |name: &str| model[name].as_u64().unwrap_or(0);
            let standing = match (model["in_use"].as_bool(), number("lacking")) {
                (Some(true), _) => "in use".to_owned(),
                (_, 0) => "complete".to_owned(),
                (_, lacking) => format!("{lacking} lacking"),
            };
            say(&format!(
                "{:28} {:5} numbers  {:9} passages  {standing}",
                text("name"),
                number("dimension"),
                number("passages")
            ))?;
        }
        Ok(())
    }
}

/// A bar on a terminal; nothing where nobody looks.
fn bar(length: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
