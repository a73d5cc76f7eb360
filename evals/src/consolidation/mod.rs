//! Evals of consolidation: runs with a model that lies, the cost of a run, and the comparison of
//! memories.

pub mod contradictions;
mod cost;
mod hostile;
mod lying_model;

use anyhow::Result;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The model lies in every way it can, while learning and while phrasing portraits.
    #[arg(long)]
    pub hostile: bool,
    #[arg(long, default_value_t = 100)]
    pub users: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum, requires = "hostile")]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// Consolidation loses a stated fact.
    DropFact,
    /// The model's sentences are stored without screening.
    NoScreen,
}

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    if args.hostile { hostile::run(args).await } else { cost::run(args).await }
}
