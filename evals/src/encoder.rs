//! What it costs to embed a sentence in the process: alone, as a save and a question do, and in
//! batches, as a fill does.

use std::path::PathBuf;
use std::time::Instant;

use crate::load::cpu;
use anyhow::{Context, Result};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder of the models, each in a folder with its short name
    #[arg(long, env = "LUKASA_MODELS", value_name = "DIR")]
    models: PathBuf,
    /// Short names of the models
    #[arg(long, value_delimiter = ',', default_value = "potion,minilm")]
    only: Vec<String>,
    /// Number of sentences that are embedded one by one; four times as many in batches
    #[arg(long, default_value_t = 300)]
    sentences: usize,
}

/// Sentences of six to fourteen words, each different.
fn sentences(count: usize) -> Vec<String> {
    const FORMS: [&str; 4] = [
        "I prefer the dark theme, number",
        "My sister moved to the old house near the river in the year",
        "Prefers window seats on flights that are longer than hours:",
        "The team meets every second Tuesday at the office, in room",
    ];
    (0..count).map(|n| format!("{} {n}", FORMS[n % FORMS.len()])).collect()
}

pub async fn run(args: Args) -> Result<()> {
    println!("| model | CPU ms alone | p50 ms alone | CPU ms in batches | per second in batches |");
    println!("|---|---:|---:|---:|---:|");
    for name in &args.only {
        let embedder = lukasa_models::local::open(&args.models.join(name))?;
        embedder.embed(&["warm up"]).await?;
        let alone = sentences(args.sentences);
        let mut times = Vec::new();
        let before = own_cpu_ms()?;
        for text in &alone {
            let began = Instant::now();
            embedder.embed(&[text]).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let cpu_alone = (own_cpu_ms()? - before) / alone.len() as f64;
        times.sort_by(f64::total_cmp);
        let many = sentences(4 * args.sentences);
        let texts: Vec<&str> = many.iter().map(String::as_str).collect();
        let (before, began) = (own_cpu_ms()?, Instant::now());
        embedder.embed(&texts).await?;
        let (took, cpu) = (began.elapsed().as_secs_f64(), own_cpu_ms()? - before);
        println!(
            "| {} | {cpu_alone:.3} | {:.3} | {:.3} | {:.0} |",
            embedder.model().name,
            times[times.len() / 2],
            cpu / texts.len() as f64,
            texts.len() as f64 / took
        );
    }
    Ok(())
}

/// Processor time of this process so far, in milliseconds.
fn own_cpu_ms() -> Result<f64> {
    cpu::process_ms(std::process::id()).context("the processor time of this process is unknown")
}
