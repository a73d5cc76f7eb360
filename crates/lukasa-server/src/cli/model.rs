//! `lukasa model` and `lukasa reembed`: the files of local models, and embeddings by another model.

use std::io::IsTerminal as _;

use anyhow::bail;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use lukasa_engine::Engine;
use lukasa_models::local::{self, catalogue};
use serde_json::json;

use super::{DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;
use crate::models::ModelSettings;

/// The files of local models.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List the local models, and which of them are downloaded.
    List(ListModelsArgs),
    /// Download a model's files and check them against their known hashes.
    Get(GetModelArgs),
}

#[derive(Debug, Args)]
pub struct ListModelsArgs {
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct GetModelArgs {
    /// potion (30 MB) or minilm (91 MB)
    name: String,
    #[command(flatten)]
    models: ModelSettings,
    /// Download from this URL instead of the public hub; it needs the hub's layout
    #[arg(long, env = "LUKASA_MODEL_MIRROR", value_name = "URL")]
    mirror: Option<String>,
    #[command(flatten)]
    format: FormatArgs,
}

impl ModelCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            ModelCommand::List(command) => command.run(),
            ModelCommand::Get(command) => command.run().await,
        }
    }
}

impl ListModelsArgs {
    fn run(self) -> anyhow::Result<()> {
        let folder = self.models.folder();
        let is_here = |known: &catalogue::KnownModel| {
            let files = self.models.folder_of(known.short);
            known.files.iter().all(|file| files.join(file.name).exists())
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
            let here = if is_here(known) { "downloaded" } else { "not downloaded" };
            let megabytes = known.bytes() / 1_000_000;
            say(&format!(
                "{:8} {:20} {:4} dimensions  {megabytes:3} MB  {:12} {here}",
                known.short, known.full, known.dimension, known.licence
            ))?;
        }
        say(&format!("\nFolder: {}", folder.display()))
    }
}

impl GetModelArgs {
    async fn run(self) -> anyhow::Result<()> {
        let Some(known) = catalogue::find(&self.name) else {
            bail!(
                "no model is called {:?}\n  next: `lukasa model list` shows the available models",
                self.name
            );
        };
        let bar = bar(known.bytes(), "{bar:30} {bytes} of {total_bytes}, {eta} left");
        let folder = self.models.folder();
        let mut on_progress = |progress: local::Progress<'_>| bar.set_position(progress.bytes);
        let into = local::fetch(known, &folder, self.mirror.as_deref(), &mut on_progress).await?;
        bar.finish_and_clear();
        if self.format.json {
            return say_json(&json!({"name": known.full, "folder": into, "bytes": known.bytes()}));
        }
        say(&format!("{} is in {}", known.full, into.display()))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The new embeddings are stored beside the old ones, user by user, while the server uses the old model.
The command can be stopped and started again: it continues where it was. When all are computed, the new
model is put in use in one step; every server follows within a second. Switching back is one step too,
for a day; then the old embeddings are removed:
  lukasa reembed --switch potion-base-8M")]
pub struct ReembedArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    models: ModelSettings,
    /// The model to embed with: potion, minilm, or the model of the embeddings service
    #[arg(long, value_name = "NAME", conflicts_with_all = ["switch", "list"])]
    model: Option<String>,
    /// Compute the embeddings, but do not switch to the model
    #[arg(long, requires = "model")]
    no_switch: bool,
    /// Only switch to this model, whose embeddings were computed before
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    switch: Option<String>,
    /// List the models that have embeddings
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl ReembedArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(4).await?;
        let engine = Engine::connect(&opened.connect)?.with_models(self.models.open()?);
        if let Some(name) = &self.switch {
            let name = catalogue::find(name).map_or(name.as_str(), |known| known.full);
            engine.embeddings.switch_model(name, clock::now()).await?;
            return self.print_models(&engine).await;
        }
        let Some(name) = &self.model else {
            if self.list {
                return self.print_models(&engine).await;
            }
            bail!(
                "no model is named\n  next: `lukasa reembed --model minilm`, or `--list` for the models"
            );
        };
        let name = catalogue::find(name).map_or(name.as_str(), |known| known.full);
        let (_, lacking) = engine.embeddings.count_missing(name).await?;
        let bar = bar(lacking as u64, "{bar:30} {pos} of {len} passages, {eta} left");
        let made =
            engine.embeddings.reembed(name, clock::now(), |count| bar.inc(count as u64)).await?;
        bar.finish_and_clear();
        if !self.no_switch {
            engine.embeddings.switch_model(name, clock::now()).await?;
            // Passages written just before the switch have only the old embedding.
            engine.embeddings.reembed(name, clock::now(), |_| ()).await?;
        }
        if !self.format.json {
            say(&format!("{made} passages were embedded with {name}."))?;
        }
        self.print_models(&engine).await
    }

    async fn print_models(&self, engine: &Engine) -> anyhow::Result<()> {
        let mut models = Vec::new();
        for record in engine.embeddings.models().await? {
            let (passages, lacking) = engine.embeddings.count_missing(&record.model.name).await?;
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
            return say("There are no embeddings yet.");
        }
        for model in models {
            let text = |name: &str| model[name].as_str().unwrap_or("").to_owned();
            let number = |name: &str| model[name].as_u64().unwrap_or(0);
            let state = match (model["in_use"].as_bool(), number("lacking")) {
                (Some(true), _) => "in use".to_owned(),
                (_, 0) => "complete".to_owned(),
                (_, lacking) => format!("{lacking} missing"),
            };
            say(&format!(
                "{:28} {:5} dimensions  {:9} passages  {state}",
                text("name"),
                number("dimension"),
                number("passages")
            ))?;
        }
        Ok(())
    }
}

/// A progress bar; hidden if standard error is not a terminal.
fn bar(length: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
