//! Retrieval quality: public data sets are loaded through HTTP into the real server, their
//! questions are asked through HTTP, and plain baselines answer the same questions over the same
//! units in the same run. No language model is used.
//!
//! Each data set has a file (`locomo`, `longmemeval`, `beam`, `realmem`, `precision`), all but the
//! last of one shape (`set`). `client` and `asking` talk to the server, `keywords` has the
//! baselines, `metrics` counts, `known` has figures of earlier runs and the floors, `gone` checks
//! that nothing removed is found, and `report` and `plot` print.

mod asking;
mod beam;
pub mod client;
mod gone;
mod keywords;
mod known;
mod locomo;
mod longmemeval;
mod metrics;
mod plot;
mod precision;
pub(crate) mod realmem;
mod report;
pub(crate) mod set;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;
use lukasa_core::recall::rank::Arm;
use serde_json::json;

use self::asking::{Asker, Found, Places, Way};
use self::client::Client;
use self::gone::RemovalCheck;
use self::keywords::{FUSED_DEPTH, Keywords, fuse};
use self::metrics::{Figures, Ranking};
use self::report::{BM25, LUKASA, Report, Row, Scored, SetReport};
use self::set::{DataUser, Set, Unit};
use crate::processes::{Cluster, Serve, Server, connect, server_program};

const DATABASE: &str = "lukasa";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Data {
    Locomo,
    #[value(name = "longmemeval-48")]
    Longmemeval48,
    #[value(name = "longmemeval-940")]
    Longmemeval940,
    #[value(name = "beam-100k")]
    Beam100k,
    #[value(name = "beam-500k")]
    Beam500k,
    Realmem,
    Precision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Embedder {
    Potion,
    Minilm,
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The data is not part of Lukasa. The folder has one folder for each set, with the files as published:
  locomo/locomo10.json                         github.com/snap-research/LoCoMo (CC BY-NC 4.0)
  longmemeval/longmemeval_oracle.json          github.com/xiaowu0162/LongMemEval (MIT)
  beam/100K/N, beam/500K/N                     github.com/mohammadtavakoli78/BEAM, chats/
  realmem/*.json                               github.com/AvatarMemory/RealMemBench (Apache-2.0)
  precisionmembench/fixtures/*.json            github.com/tenurehq/precisionMemBench (MIT)

The eval runs its own PostgreSQL and server and removes them when it ends. It exits with 1 if a floor
is missed, if BM25 is not what it is known to be, or if something taken back comes back.")]
pub struct Args {
    /// The folder of the data sets
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only these data sets
    #[arg(long, value_delimiter = ',')]
    only: Vec<Data>,
    /// Parts of the sets, in about a minute and a half
    #[arg(long)]
    quick: bool,
    #[arg(long, default_value = "potion")]
    embedder: Embedder,
    /// The folder of the embedders' files, one subfolder for each
    #[arg(long, env = "LUKASA_MODELS", value_name = "DIR")]
    models: PathBuf,
    /// Also measure each arm left out, and the other fusion
    #[arg(long)]
    ablate: bool,
    /// Also measure the gain of a service that reranks, as http://host/rerank
    #[arg(long, value_name = "URL")]
    rerank_url: Option<String>,
    /// The model of that service
    #[arg(long, value_name = "NAME", requires = "rerank_url")]
    rerank_model: Option<String>,
    /// Write everything as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the comparison
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Path of the server; by default `lukasa` next to this program
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
}

pub async fn run(args: Args) -> Result<()> {
    // An interrupted run must still stop its database and its server.
    let report = tokio::select! {
        report = measure(&args) => report?,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    };
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    if let Some(path) = &args.plot {
        std::fs::write(path, plot::svg(&report))?;
    }
    println!("{}", report.render());
    let faults = report.faults();
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    println!("verdict: every floor was reached");
    Ok(())
}

async fn measure(args: &Args) -> Result<Report> {
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-retrieval-{}", std::process::id()));
    let cluster = Cluster::start(&dir, false, "256MB")?;
    let admin = connect(&cluster.url("postgres")).await?;
    admin.batch_execute(&format!("drop database if exists {DATABASE} with (force)")).await?;
    admin.batch_execute(&format!("create database {DATABASE}")).await?;
    let embedder = args
        .embedder
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned());
    let reranker = [
        ("LUKASA_RERANK_URL", args.rerank_url.as_deref()),
        ("LUKASA_RERANK_MODEL", args.rerank_model.as_deref()),
    ];
    let reranker: Vec<(&str, &str)> =
        reranker.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let serve = Serve {
        program: &program,
        database: &cluster.url(DATABASE),
        auth: "off",
        pool: 16,
        migrate: true,
        models: Some((&args.models, &embedder)),
        filter: "warn",
        log: &dir.join("server.log"),
    };
    let server = Server::start_with(&serve, &reranker).await?;
    let server_log = || std::fs::read_to_string(dir.join("server.log")).unwrap_or_default();
    let report = Report { quick: args.quick, embedder, ..Report::default() };
    all(args, &cluster, &server, report)
        .await
        .with_context(|| format!("server log: {}", server_log()))
}

async fn all(
    args: &Args,
    cluster: &Cluster,
    server: &Server,
    mut report: Report,
) -> Result<Report> {
    let stage = Run::new(args, cluster, server, &mut report).await?;
    for data in Data::value_variants() {
        if args.only.is_empty() || args.only.contains(data) {
            stage.data(*data, &mut report).await?;
        }
    }
    Ok(report)
}

struct Run<'a> {
    args: &'a Args,
    client: Client,
    database: tokio_postgres::Client,
    roles: bool,
}

impl<'a> Run<'a> {
    async fn new(
        args: &'a Args,
        cluster: &Cluster,
        server: &Server,
        report: &mut Report,
    ) -> Result<Self> {
        let client = Client::to(server.address);
        let roles = client.knows("roles", json!(["user"])).await?;
        if !roles {
            let what =
                "the server does not know `roles`: assistants' turns were dropped afterwards";
            report.lacking.push(what.to_owned());
        }
        let database = connect(&cluster.url(DATABASE)).await?;
        Ok(Self { args, client, database, roles })
    }

    async fn data(&self, data: Data, report: &mut Report) -> Result<()> {
        let (folder, quick) = (&self.args.data, self.args.quick);
        let set = match data {
            Data::Locomo => locomo::load(folder, quick)?,
            Data::Longmemeval48 => longmemeval::few_chats(folder, quick)?,
            Data::Longmemeval940 => longmemeval::all_chats(folder, quick)?,
            Data::Beam100k => beam::load(folder, "beam-100k", "100K", quick)?,
            // Long chats take long; the quick form has the shorter ones.
            Data::Beam500k if quick && self.args.only.is_empty() => return Ok(()),
            Data::Beam500k => beam::load(folder, "beam-500k", "500K", quick)?,
            Data::Realmem => realmem::load(folder, quick)?,
            Data::Precision => return self.precision(folder, report).await,
        };
        let places = asking::fill(&self.client, &set).await?;
        self.all_embedded(&set).await?;
        report.sets.push(self.compare(&set, &places).await?);
        if data == Data::Realmem {
            eprintln!("realmem: taking memories away and asking again");
            let mut gone = RemovalCheck::default();
            gone::remove_answers(&self.client, &set, &places, &mut gone).await?;
            gone::change(&self.client, &mut gone).await?;
            report.gone = Some(gone);
        }
        Ok(())
    }

    async fn precision(&self, folder: &Path, report: &mut Report) -> Result<()> {
        let found = precision::run(&self.client, folder).await?;
        if !found.precise {
            let what = "the server does not know `precise`: it returned whatever it found";
            report.lacking.push(what.to_owned());
        }
        report.precision = Some(found);
        Ok(())
    }

    /// Vectors can be measured only when all of them are there.
    async fn all_embedded(&self, set: &Set) -> Result<()> {
        let sql = "select count(*) from passage p where (p.role is null or p.role = 'user') \
                   and not exists (select from embedding e \
                     where (e.user_id, e.source_id, e.part) = (p.user_id, p.source_id, p.part))";
        let started = Instant::now();
        loop {
            let missing: i64 = self.database.query_one(sql, &[]).await?.get(0);
            if missing == 0 {
                return Ok(());
            }
            ensure!(
                started.elapsed() < Duration::from_secs(120),
                "{missing} passages lack a vector"
            );
            eprintln!("{}: waiting for {missing} vectors", set.name);
            // A search notices the missing vectors and queues them.
            for data_user in &set.users {
                self.client.search(&data_user.name, &json!({ "query": "tea", "limit": 1 })).await?;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn compare(&self, set: &Set, places: &[Places]) -> Result<SetReport> {
        let started = Instant::now();
        let (client, roles) = (&self.client, self.roles);
        let asker = Asker { client, set, places, roles };
        let ask = async |name: &str, way: Way| -> Result<Vec<Found>> {
            let asked = Instant::now();
            let found = asker.ask_all(&way).await?;
            let seconds = asked.elapsed().as_secs_f64();
            eprintln!("{}: {} questions, {name}, {seconds:.0} s", set.name, found.len());
            Ok(found)
        };
        let arms = |arms: &[&'static str]| Some(arms.to_vec());
        let keywords = keywords(set);
        let lukasa = ask(LUKASA, Way::default()).await?;
        let words: Vec<Ranking> = keywords.iter().map(|(words, _)| words.clone()).collect();
        let served = |found: &[Found]| -> Vec<Ranking> {
            found.iter().map(|one| one.ranking.clone()).collect()
        };
        let scored = |name: &str, rankings: &[Ranking], places: Option<&[Places]>| {
            Row::measured(name, &score(set, rankings, places))
        };
        let mut rows = vec![scored(BM25, &words, None)];
        // Searches at a past moment load the index for every question, which is slow.
        if !(self.args.quick && set.unit == Unit::Memory) {
            let vectors = ask("vectors", Way { arms: arms(&["vector"]), ..Way::default() }).await?;
            let ranks =
                Way { arms: arms(&["keyword", "vector"]), fusion: Some("ranks"), ..Way::default() };
            let ranks = ask("RRF", ranks).await?;
            let fused: Vec<Ranking> = keywords
                .iter()
                .zip(&vectors)
                .map(|((words, matching), meant)| {
                    let units = fuse(&[&words.units[..*matching], &meant.ranking.units]);
                    Ranking { units, chars: Vec::new() }
                })
                .collect();
            rows.push(scored("vectors alone", &served(&vectors), Some(places)));
            rows.push(scored("RRF of these two", &fused, None));
            rows.push(scored("RRF in the server", &served(&ranks), Some(places)));
        }
        // An earlier figure for the whole set does not apply to a part of it.
        rows.extend(known::best(set.name).filter(|_| !self.args.quick).map(Row::earlier));
        rows.push(scored(LUKASA, &served(&lukasa), Some(places)));
        if self.args.rerank_url.is_some() {
            let found = ask("reranked", Way { rerank: true, ..Way::default() }).await?;
            rows.push(scored("Lukasa and the reranker", &served(&found), Some(places)));
        }
        if self.args.ablate {
            // With named arms the server also leaves out the refinements of their sum (feedback,
            // smoothing, centring). So each arm's absence is compared with this row, not with
            // Lukasa's.
            let every = Arm::ALL.into_iter().map(Arm::as_str).collect();
            let found = ask("all arms", Way { arms: Some(every), ..Way::default() }).await?;
            rows.push(scored("without refinements", &served(&found), Some(places)));
            for out in Arm::ALL {
                let left = Arm::ALL.into_iter().filter(|arm| *arm != out).map(Arm::as_str);
                let name = format!("without them, {}", out.as_str());
                let way = Way { arms: Some(left.collect()), ..Way::default() };
                let found = ask(&name, way).await?;
                rows.push(scored(&name, &served(&found), Some(places)));
            }
            let way = Way { fusion: Some("ranks"), ..Way::default() };
            let found = ask("fused by ranks", way).await?;
            rows.push(scored("without scores (ranks)", &served(&found), Some(places)));
        }
        let mut times: Vec<f64> = lukasa.iter().map(|one| one.took).collect();
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied();
        let mut counts = BTreeMap::new();
        for question in set.users.iter().flat_map(|data_user| &data_user.questions) {
            *counts.entry(question.category.clone()).or_default() += 1;
        }
        let pools = set.users.iter().flat_map(|data_user| {
            data_user.questions.iter().map(|question| candidates(set, data_user, question).len())
        });
        Ok(SetReport {
            name: set.name,
            users: set.users.len(),
            questions: set.questions(),
            turns: set.users.iter().map(|data_user| data_user.turns.len()).sum(),
            memories: set.users.iter().map(|data_user| data_user.memories.len()).sum(),
            pool: pools.sum::<usize>() as f64 / set.questions().max(1) as f64,
            counts,
            rows,
            p50_ms: at(0.5).unwrap_or(0.0),
            p95_ms: at(0.95).unwrap_or(0.0),
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// The units that a question chooses from.
fn candidates(set: &Set, data_user: &DataUser, question: &set::Question) -> Vec<usize> {
    match set.unit {
        Unit::Memory => (0..data_user.pool(question).min(data_user.memories.len())).collect(),
        Unit::Session => (0..data_user.sessions).collect(),
        Unit::Turn => {
            let may = |at: &usize| !set.only_user || data_user.turns[*at].by_user;
            (0..data_user.turns.len()).filter(may).collect()
        }
    }
}

/// The keyword baseline's ranking of every question, and how many of it have a word of the
/// question.
fn keywords(set: &Set) -> Vec<(Ranking, usize)> {
    let mut rankings = Vec::new();
    for data_user in &set.users {
        let documents = data_user.documents(set.unit, set.only_user);
        let index = Keywords::of(&documents);
        for question in &data_user.questions {
            let among = candidates(set, data_user, question);
            let (units, matching) = index.rank(&question.text, &among, FUSED_DEPTH);
            let chars = units.iter().map(|unit| documents[*unit].chars().count()).collect();
            rankings.push((Ranking { units, chars }, matching));
        }
    }
    rankings
}

/// The figures of every question. The server's rankings are compared with the answers as they are
/// in the server.
fn score<'s>(set: &'s Set, rankings: &[Ranking], places: Option<&[Places]>) -> Vec<Scored<'s>> {
    let users = set.users.iter().enumerate();
    let asked = users.flat_map(|(at, data_user)| data_user.questions.iter().map(move |q| (at, q)));
    asked
        .zip(rankings)
        .map(|((at, question), ranking)| {
            let data_user = &set.users[at];
            let session = |unit: usize| match set.unit {
                Unit::Turn => data_user.turns[unit].session,
                Unit::Session => unit,
                Unit::Memory => data_user.memories[unit].session,
            };
            let served = places.map(|places| places[at].gold(question, set.unit));
            let gold = served.as_ref().unwrap_or(&question.gold);
            let figures = Figures::of(ranking, gold, session);
            Scored { figures, category: &question.category, half: question.half }
        })
        .collect()
}
