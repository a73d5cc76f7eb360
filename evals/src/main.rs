//! `lukasa-evals`: runs one of the evals and exits with 1 if it fails.

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "lukasa-evals",
    about = "Long-running evals of Lukasa; each prints its seed and figures"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Random histories of all verbs, checked step by step against a reference model.
    Histories(lukasa_evals::histories::Args),
    /// Kills under load: no acknowledged write may be lost, duplicated or half done.
    Kills(lukasa_evals::kills::Args),
    /// Users moved between three cells, and cells stopped: nothing lost, doubled or refused.
    Cells(lukasa_evals::cells::Args),
    /// The cost of a request through HTTP, compared with the same SQL run bare.
    Load(lukasa_evals::load::Args),
    /// Growth to 50 million facts: what a request costs and what is stored, and what users need.
    Growth(lukasa_evals::growth::Args),
    /// The frozen baseline: the same bytes within a session, and at one point of both axes.
    Freeze(lukasa_evals::freeze::Args),
    /// The gateway: unchanged bytes, stable blocks, added latency, and a stopped database.
    Gateway(lukasa_evals::gateway::Args),
    #[command(hide = true)]
    GatewayProxy(lukasa_evals::gateway::ProxyArgs),
    /// Crashes while learning from a conversation: everything must happen exactly once.
    Crashes(lukasa_evals::crashes::Args),
    #[command(hide = true)]
    CrashChild(lukasa_evals::crashes::ChildArgs),
    /// Erasure under load and kills: no word of erased users in tables, files, logs or a restored
    /// backup.
    Erasure(lukasa_evals::erasure::Args),
    /// Two servers and a worker on one database: data removed on one is not served by the other.
    Nodes(lukasa_evals::nodes::Args),
    /// Overload by one user or tenant: what others notice, and how fast requests are rejected.
    Overload(lukasa_evals::overload::Args),
    /// A model that obeys every attacker: none of their content may be believed.
    Hostile(lukasa_evals::learning::hostile::Args),
    /// Attacks through every entry point for writes of a running server.
    HostileWrites(lukasa_evals::writes::Args),
    /// Consolidation: its cost, and with `--hostile` the effect of a model that lies.
    Consolidation(lukasa_evals::consolidation::Args),
    /// Comparison of memories: planted contradictions, and merges by a model that always agrees.
    Contradictions(lukasa_evals::consolidation::contradictions::Args),
    /// Lukasa's own blocks in conversations: nothing may be learned from them.
    Relearn(lukasa_evals::learning::relearn::Args),
    /// What the screens for secrets, sensitive matters and orders catch and miss.
    Screens(lukasa_evals::learning::screens::Args),
    /// How well conversations are learned, with a chat model or by the rules alone.
    Extraction(lukasa_evals::learning::extraction::Args),
    /// Five conversations of one user: repetition, a change, forgetting, and a closed domain.
    Story(lukasa_evals::learning::story::Args),
    /// Deleted sources are gone from everything derived from them, and undo restores the same
    /// state.
    Reversible(lukasa_evals::reversible::Args),
    /// The cost of recall, compared with a bare hybrid statement on the same data.
    Recall(lukasa_evals::recall::Args),
    /// One user with years of conversations: what a question costs, beside another server.
    LongHistory(lukasa_evals::long_history::Args),
    /// The cost of embedding a sentence in the process.
    Encoder(lukasa_evals::encoder::Args),
    /// Retrieval quality on public data sets, compared with plain baselines.
    Retrieval(lukasa_evals::retrieval::Args),
    /// Vaults edited, synced, wiped and restored: the same state, to the hash.
    Vault(lukasa_evals::vault::Args),
    /// Mutated vaults: nothing may fail, and nothing may be misread.
    FuzzVault(lukasa_evals::vault::fuzz::Args),
    /// Mutated export archives, opened and imported: each is imported or refused, in bounded time.
    FuzzArchive(lukasa_evals::archive::Args),
    /// Mutated imports, chat bodies and answers, OAuth requests and tokens: no parser may fail.
    FuzzParsers(lukasa_evals::parsers::Args),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Histories(args) => lukasa_evals::histories::run(args).await,
        Command::Kills(args) => lukasa_evals::kills::run(args).await,
        Command::Cells(args) => lukasa_evals::cells::run(args).await,
        Command::Load(args) => lukasa_evals::load::run(args).await,
        Command::Growth(args) => lukasa_evals::growth::run(args).await,
        Command::Freeze(args) => lukasa_evals::freeze::run(args).await,
        Command::Gateway(args) => lukasa_evals::gateway::run(args).await,
        Command::GatewayProxy(args) => lukasa_evals::gateway::run_proxy(args).await,
        Command::Crashes(args) => lukasa_evals::crashes::run(args).await,
        Command::CrashChild(args) => lukasa_evals::crashes::run_child(args).await,
        Command::Erasure(args) => lukasa_evals::erasure::run(args).await,
        Command::Nodes(args) => lukasa_evals::nodes::run(args).await,
        Command::Overload(args) => lukasa_evals::overload::run(args).await,
        Command::Hostile(args) => lukasa_evals::learning::hostile::run(args).await,
        Command::HostileWrites(args) => lukasa_evals::writes::run(args).await,
        Command::Consolidation(args) => lukasa_evals::consolidation::run(args).await,
        Command::Contradictions(args) => {
            lukasa_evals::consolidation::contradictions::run(args).await
        }
        Command::Relearn(args) => lukasa_evals::learning::relearn::run(args).await,
        Command::Screens(args) => lukasa_evals::learning::screens::run(args).await,
        Command::Extraction(args) => lukasa_evals::learning::extraction::run(args).await,
        Command::Story(args) => lukasa_evals::learning::story::run(args).await,
        Command::Reversible(args) => lukasa_evals::reversible::run(args).await,
        Command::Recall(args) => lukasa_evals::recall::run(args).await,
        Command::LongHistory(args) => lukasa_evals::long_history::run(args).await,
        Command::Encoder(args) => lukasa_evals::encoder::run(args).await,
        Command::Retrieval(args) => lukasa_evals::retrieval::run(args).await,
        Command::Vault(args) => lukasa_evals::vault::run(args).await,
        Command::FuzzVault(args) => lukasa_evals::vault::fuzz::run(&args),
        Command::FuzzArchive(args) => lukasa_evals::archive::run(args).await,
        Command::FuzzParsers(args) => lukasa_evals::parsers::run(args).await,
    }
}
