//! `quipu-evals`: runs one of the proofs and exits with 1 if it fails.

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "quipu-evals",
    about = "Long proofs about Quipu; each prints its seed and figures"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Random histories of all verbs, checked step by step against a reference model.
    Histories(quipu_evals::histories::Args),
    /// Kills under load: nothing acknowledged may be lost, doubled or half-done.
    Kills(quipu_evals::kills::Args),
    /// What a request costs through HTTP, beside the same SQL run bare.
    Load(quipu_evals::load::Args),
    /// The frozen baseline: the same bytes within a session, and at one point of both axes.
    Freeze(quipu_evals::freeze::Args),
    /// The gateway: its bytes, its block, what it adds to a chat, and a database stopped under it.
    Gateway(quipu_evals::gateway::Args),
    #[command(hide = true)]
    GatewayProxy(quipu_evals::gateway::ProxyArgs),
    /// Crashes while learning from a conversation: everything must happen exactly once.
    Crashes(quipu_evals::crashes::Args),
    #[command(hide = true)]
    CrashChild(quipu_evals::crashes::ChildArgs),
    /// Erasure under load and kills: no word of the erased in tables, files, logs or a restored backup.
    Erasure(quipu_evals::erasure::Args),
    /// Two servers and a worker on one database: nothing removed through one is served by the other.
    Nodes(quipu_evals::nodes::Args),
    /// Overload by one user or tenant: what others notice, and how fast requests are rejected.
    Overload(quipu_evals::overload::Args),
    /// A model that obeys every attacker: nothing of theirs may be believed.
    Hostile(quipu_evals::learning::hostile::Args),
    /// Attacks through every entry point for writes of a running server.
    HostileWrites(quipu_evals::writes::Args),
    /// Nights: what they cost, and with `--hostile` what a model that lies can do to them.
    Nights(quipu_evals::living::Args),
    /// Quipu's own words come back in conversations: nothing may be learned from them.
    Relearn(quipu_evals::learning::relearn::Args),
    /// What the screens for secrets, sensitive matters and orders catch and let through.
    Screens(quipu_evals::learning::screens::Args),
    /// How well a real model learns from conversations.
    Extraction(quipu_evals::learning::extraction::Args),
    /// What is deleted is gone from all that was made of it, and undo brings the very same back.
    Reversible(quipu_evals::reversible::Args),
    /// What recall costs, beside a bare hybrid statement on the same data.
    Recall(quipu_evals::recall::Args),
    /// How much of what was said is found again, on public data sets, beside plain baselines.
    Retrieval(quipu_evals::retrieval::Args),
    /// Vaults edited, synced, wiped and brought back: the same state, to the hash.
    Vault(quipu_evals::vault::Args),
    /// Mutated vaults: nothing may fail, and nothing may be read as something else.
    FuzzVault(quipu_evals::vault::fuzz::Args),
    /// Mutated export archives, opened and imported: each is imported or refused, in bounded time.
    FuzzArchive(quipu_evals::archive::Args),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Histories(args) => quipu_evals::histories::run(args).await,
        Command::Kills(args) => quipu_evals::kills::run(args).await,
        Command::Load(args) => quipu_evals::load::run(args).await,
        Command::Freeze(args) => quipu_evals::freeze::run(args).await,
        Command::Gateway(args) => quipu_evals::gateway::run(args).await,
        Command::GatewayProxy(args) => quipu_evals::gateway::run_proxy(args).await,
        Command::Crashes(args) => quipu_evals::crashes::run(args).await,
        Command::CrashChild(args) => quipu_evals::crashes::run_child(args).await,
        Command::Erasure(args) => quipu_evals::erasure::run(args).await,
        Command::Nodes(args) => quipu_evals::nodes::run(args).await,
        Command::Overload(args) => quipu_evals::overload::run(args).await,
        Command::Hostile(args) => quipu_evals::learning::hostile::run(args).await,
        Command::HostileWrites(args) => quipu_evals::writes::run(args).await,
        Command::Nights(args) => quipu_evals::living::run(args).await,
        Command::Relearn(args) => quipu_evals::learning::relearn::run(args).await,
        Command::Screens(args) => quipu_evals::learning::screens::run(args).await,
        Command::Extraction(args) => quipu_evals::learning::extraction::run(args).await,
        Command::Reversible(args) => quipu_evals::reversible::run(args).await,
        Command::Recall(args) => quipu_evals::recall::run(args).await,
        Command::Retrieval(args) => quipu_evals::retrieval::run(args).await,
        Command::Vault(args) => quipu_evals::vault::run(args).await,
        Command::FuzzVault(args) => quipu_evals::vault::fuzz::run(&args),
        Command::FuzzArchive(args) => quipu_evals::archive::run(args).await,
    }
}
