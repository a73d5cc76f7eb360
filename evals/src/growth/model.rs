//! How far one server goes: what a number of users needs, computed from measured figures. Pure
//! functions; the figures are in `docs/growth.json`, the assumptions are constants here.

use std::fmt::Write as _;

use lukasa_core::limits::USAGE_DAYS;
use serde::{Deserialize, Serialize};

use crate::load::report::thousands;

/// How far a prediction may be from what was measured, as a share: disk space, write-ahead log, and
/// the median latency of a request, which depends on what else the machine does.
pub const BYTES_TOLERANCE: f64 = 0.1;
pub const WAL_TOLERANCE: f64 = 0.35;
pub const LATENCY_TOLERANCE: f64 = 1.0;

/// The name of the first retrieval of a user.
pub const FIRST_RETRIEVE: &str = "first retrieve";

/// The measured figures of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrowthInputs {
    /// Why the fill was not larger.
    pub limited_by: String,
    pub processors: usize,
    /// Memory of the machine and PostgreSQL's buffers, in GB.
    pub memory_gb: f64,
    pub shared_buffers_gb: f64,
    /// Whether passages have embeddings; without, facts and turns are smaller.
    pub embeddings: bool,
    pub facts_per_user: u32,
    pub turns_per_user: u32,
    /// Bytes of a message with its answer, and of the response to a retrieval.
    pub round_text_bytes: f64,
    pub retrieve_bytes: f64,
    /// From the fewest users to the most.
    pub levels: Vec<Level>,
}

/// What was measured with one number of users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub users: u64,
    pub facts: u64,
    pub turns: u64,
    /// Bytes on disk with all indexes: of a fact with its version, operation, passage and
    /// embedding, and of a turn with its passages, embedding and share of a session.
    pub bytes_per_fact: f64,
    pub bytes_per_turn: f64,
    /// Bytes on disk of the record of a retrieval, and of a user's current baseline.
    pub bytes_per_retrieval: f64,
    pub bytes_per_baseline: f64,
    pub vacuum_seconds: f64,
    /// Resident memory of the server, and PostgreSQL's with its buffers counted once.
    pub server_mb: f64,
    pub postgres_mb: f64,
    pub operations: Vec<OperationFigures>,
}

/// One kind of request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationFigures {
    pub name: String,
    pub requests: u64,
    pub per_second: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    /// Responses without everything that was asked for, because the deadline was near.
    pub degraded: u64,
    /// Processor time of each request.
    pub server_cpu_ms: f64,
    pub postgres_cpu_ms: f64,
    /// Write-ahead log of each request: its records, and the images of pages that were changed for
    /// the first time since a checkpoint.
    pub wal_bytes: f64,
    pub wal_page_bytes: f64,
}

impl Level {
    /// The figures of one kind of request; zeros if it was not measured.
    pub fn operation(&self, name: &str) -> OperationFigures {
        self.operations.iter().find(|figures| figures.name == name).cloned().unwrap_or_default()
    }

    /// Bytes on disk of a message with its answer, and of the record of its retrieval.
    pub fn bytes_per_round(&self) -> f64 {
        2.0 * self.bytes_per_turn + self.bytes_per_retrieval
    }
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Habits {
    /// Messages with an answer.
    pub rounds_per_day: f64,
    pub days: f64,
    pub facts: f64,
    pub rounds_per_session: f64,
    pub lists_per_day: f64,
    /// The busiest hour beside the mean one.
    pub peak: f64,
}

pub const HABITS: Habits = Habits {
    rounds_per_day: 10.0,
    days: 365.0,
    facts: 200.0,
    rounds_per_session: 10.0,
    lists_per_day: 1.0,
    peak: 4.0,
};

/// The machines, and the prices of a month in US dollars: assumptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A cell: a PostgreSQL server, and its standby of the same size.
    pub cell_disk_bytes: f64,
    /// The share of the disk that is used; the rest is for the log, vacuum and new indexes.
    pub disk_use: f64,
    pub cell_cores: f64,
    /// Memory of a cell as a share of its data: the rows of the users of the hour.
    pub hot_share: f64,
    pub smallest_cell_memory_gb: f64,
    pub server_cores: f64,
    /// The share of processors used in the busiest hour.
    pub core_use: f64,
    pub disk_gb: f64,
    pub core: f64,
    pub memory_gb: f64,
    pub million_input_tokens: f64,
    pub million_output_tokens: f64,
    /// Tokens of a round that the chat model reads to learn from it, of the instructions for each
    /// session, and of its answer.
    pub tokens_per_round: f64,
    pub tokens_per_session: f64,
    pub output_tokens_per_session: f64,
}

pub const PRICES: Prices = Prices {
    cell_disk_bytes: 2e12,
    disk_use: 0.7,
    cell_cores: 16.0,
    hot_share: 0.05,
    smallest_cell_memory_gb: 16.0,
    server_cores: 8.0,
    core_use: 0.6,
    disk_gb: 0.08,
    core: 20.0,
    memory_gb: 3.0,
    million_input_tokens: 0.15,
    million_output_tokens: 0.60,
    tokens_per_round: 530.0,
    tokens_per_session: 1_500.0,
    output_tokens_per_session: 300.0,
};

/// What a number of users needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    pub users: f64,
    pub data_tb: f64,
    pub cells: f64,
    pub servers: f64,
    pub cell_memory_gb: f64,
    pub server_memory_gb: f64,
    /// In the busiest hour, in megabytes per second.
    pub wal_mb: f64,
    pub network_mb: f64,
    pub million_tokens_per_day: f64,
    /// Per month: machines, and chat models.
    pub machines: f64,
    pub models: f64,
}

/// Bytes on disk of a user with these habits. Records of retrievals are kept for
/// [`USAGE_DAYS`] days, with at most one new baseline a day.
pub fn bytes_per_user(level: &Level, habits: &Habits) -> f64 {
    let rounds = habits.rounds_per_day;
    let kept_days = habits.days.min(USAGE_DAYS as f64);
    habits.facts * level.bytes_per_fact
        + rounds * habits.days * 2.0 * level.bytes_per_turn
        + kept_days * (rounds * level.bytes_per_retrieval + level.bytes_per_baseline)
}

/// How many users with these habits a disk holds.
pub fn users_on(disk_bytes: f64, level: &Level, habits: &Habits) -> f64 {
    (disk_bytes / bytes_per_user(level, habits)).floor()
}

/// The sum of a figure over all requests of a user's day.
fn per_day(level: &Level, habits: &Habits, figure: impl Fn(&OperationFigures) -> f64) -> f64 {
    let of = |name: &str| figure(&level.operation(name));
    // The first message of a session finds the user's index no more in memory.
    let sessions = habits.rounds_per_day / habits.rounds_per_session;
    (habits.rounds_per_day - sessions) * of("retrieve")
        + habits.rounds_per_day * of("append")
        + sessions * (of(FIRST_RETRIEVE) + of("close"))
        + habits.facts / habits.days * of("save")
        + habits.lists_per_day * of("list")
}

/// What this many users need, by the largest measured level; absent if nothing was measured.
pub fn deployment(
    inputs: &GrowthInputs,
    users: f64,
    habits: &Habits,
    prices: &Prices,
) -> Option<Deployment> {
    const DAY_MS: f64 = 86_400e3;
    let level = inputs.levels.last()?;
    let user_bytes = bytes_per_user(level, habits);
    let cores = |cpu_ms: f64| cpu_ms / DAY_MS * habits.peak / prices.core_use;
    let by_disk = prices.cell_disk_bytes * prices.disk_use / user_bytes;
    let by_cores = prices.cell_cores / cores(per_day(level, habits, |f| f.postgres_cpu_ms));
    let cells = (users / by_disk.min(by_cores)).ceil().max(1.0);
    let server_cores = users * cores(per_day(level, habits, |f| f.server_cpu_ms));
    // Two, so that one can be replaced.
    let servers = (server_cores / prices.server_cores).ceil().max(2.0);
    let data = users * user_bytes;
    let hot = data / cells * prices.hot_share / 1e9;
    let cell_memory_gb = hot.max(prices.smallest_cell_memory_gb).ceil();
    let server_memory_gb = (level.server_mb / 1e3).ceil().max(1.0);
    let peak = users * habits.peak / 86_400.0;
    let wal = per_day(level, habits, |f| f.wal_bytes + f.wal_page_bytes);
    let network = habits.rounds_per_day * (inputs.round_text_bytes + inputs.retrieve_bytes);
    let sessions = users * habits.rounds_per_day / habits.rounds_per_session;
    let input = users * habits.rounds_per_day * prices.tokens_per_round
        + sessions * prices.tokens_per_session;
    let output = sessions * prices.output_tokens_per_session;
    let disk_gb = data / cells / prices.disk_use / 1e9;
    let cell = disk_gb * prices.disk_gb
        + prices.cell_cores * prices.core
        + cell_memory_gb * prices.memory_gb;
    let server = prices.server_cores * prices.core + server_memory_gb * prices.memory_gb;
    let tokens = input * prices.million_input_tokens + output * prices.million_output_tokens;
    Some(Deployment {
        users,
        data_tb: data / 1e12,
        cells,
        servers,
        cell_memory_gb,
        server_memory_gb,
        wal_mb: peak * wal / 1e6,
        network_mb: peak * network / 1e6,
        million_tokens_per_day: (input + output) / 1e6,
        machines: 2.0 * cells * cell + servers * server,
        models: tokens * 30.0 / 1e6,
    })
}

/// The numbers of users of the table.
const TABLE_USERS: [f64; 5] = [1e4, 1e5, 1e6, 1e7, 1e8];

/// The table of `docs/scaling.md`.
pub fn table(inputs: &GrowthInputs) -> String {
    let mut text = String::from(
        "| users | data, TB | cells | servers | memory of a cell, GB | log, MB/s | network, MB/s | \
         tokens a day, millions | machines, $ a month | models, $ a month |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for users in TABLE_USERS {
        let Some(needed) = deployment(inputs, users, &HABITS, &PRICES) else { continue };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            thousands(needed.users),
            figure(needed.data_tb),
            thousands(needed.cells),
            thousands(needed.servers),
            thousands(needed.cell_memory_gb),
            figure(needed.wal_mb),
            figure(needed.network_mb),
            thousands(needed.million_tokens_per_day),
            thousands(needed.machines),
            thousands(needed.models),
        );
    }
    text
}

/// The sentence about one disk of 2 TB in `docs/scaling.md`.
pub fn disk_sentence(inputs: &GrowthInputs) -> String {
    let Some(level) = inputs.levels.last() else { return String::new() };
    format!(
        "By the measured bytes, a user with a year of ten rounds a day and 200 memories takes {} MB, \
         and 2 TB hold {} of them.",
        figure(bytes_per_user(level, &HABITS) / 1e6),
        thousands(users_on(2e12, level, &HABITS)),
    )
}

/// The measured levels, as a table.
pub fn levels_table(inputs: &GrowthInputs) -> String {
    let mut text = String::from("| |");
    for level in &inputs.levels {
        let _ = write!(text, " {} users |", thousands(level.users as f64));
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(inputs.levels.len()));
    let mut row = |what: &str, get: &dyn Fn(&Level) -> String| {
        let cells: Vec<String> = inputs.levels.iter().map(get).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    row("facts", &|level| thousands(level.facts as f64));
    row("turns", &|level| thousands(level.turns as f64));
    row("bytes per fact", &|level| thousands(level.bytes_per_fact));
    row("bytes per turn", &|level| thousands(level.bytes_per_turn));
    row("bytes per round with its retrieval", &|level| thousands(level.bytes_per_round()));
    let names = inputs.levels.last().map(|level| level.operations.as_slice()).unwrap_or_default();
    for OperationFigures { name, .. } in names {
        row(&format!("{name}, p50 / p95 ms"), &|level| {
            let figures = level.operation(name);
            format!("{:.2} / {:.2}", figures.p50_ms, figures.p95_ms)
        });
    }
    for OperationFigures { name, .. } in names {
        row(&format!("{name}, log bytes: records / page images"), &|level| {
            let figures = level.operation(name);
            format!("{} / {}", thousands(figures.wal_bytes), thousands(figures.wal_page_bytes))
        });
    }
    row("vacuum, s", &|level| format!("{:.1}", level.vacuum_seconds));
    row("memory of the server, MB", &|level| thousands(level.server_mb));
    row("memory of PostgreSQL, MB", &|level| thousands(level.postgres_mb));
    text
}

/// Where the figures are in `docs/scaling.md`.
const FIGURES_BEGIN: &str =
    "<!-- growth figures: written by `just growth --model --document docs/scaling.md` -->";
const FIGURES_END: &str = "<!-- end of growth figures -->";

/// All figures, as they are in `docs/scaling.md`.
pub fn figures(inputs: &GrowthInputs) -> String {
    let share = |level: &Level| {
        let largest = inputs.levels.last().map_or(1, |level| level.users.max(1));
        format!("{:.0} %", level.users as f64 * 100.0 / largest as f64)
    };
    let shares: Vec<String> = inputs.levels.iter().map(share).collect();
    let vectors = if inputs.embeddings { "with" } else { "without" };
    format!(
        "{} processors, {:.0} GB of memory, buffers of {:.1} GB, {vectors} embeddings; measured at {} of \
         the fill, which was limited by {}.\n\n{}\n{}\n\n{}",
        inputs.processors,
        inputs.memory_gb,
        inputs.shared_buffers_gb,
        shares.join(", "),
        inputs.limited_by,
        levels_table(inputs),
        disk_sentence(inputs),
        table(inputs),
    )
}

/// A document with the figures between their two marks; absent if it has none.
pub fn with_figures(document: &str, inputs: &GrowthInputs) -> Option<String> {
    let (before, rest) = document.split_once(FIGURES_BEGIN)?;
    let (_, after) = rest.split_once(FIGURES_END)?;
    Some(format!("{before}{FIGURES_BEGIN}\n\n{}\n{FIGURES_END}{after}", figures(inputs)))
}

/// A figure with two digits or more.
fn figure(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { thousands(value) }
}

/// A predicted figure beside the measured one.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    pub figure: String,
    pub predicted: f64,
    pub measured: f64,
    pub tolerance: f64,
}

impl Prediction {
    /// How far the larger one is above the smaller one, as a share.
    pub fn deviation(&self) -> f64 {
        let (low, high) = (self.predicted.min(self.measured), self.predicted.max(self.measured));
        if low > 0.0 { high / low - 1.0 } else { f64::INFINITY }
    }

    pub fn is_within(&self) -> bool {
        self.deviation() <= self.tolerance
    }
}

/// Predicts the figures of `measured` from the two smallest levels of a run.
///
/// Disk space grows by the same number of bytes with each user; what a request costs grows with the
/// logarithm of the number of users, as the depth of an index does. How long a first retrieval
/// takes depends on whether the data fits into memory, which neither predicts.
pub fn predictions(from: &GrowthInputs, measured: &Level) -> Vec<Prediction> {
    let [low, high, ..] = from.levels.as_slice() else { return Vec::new() };
    let users = [low.users as f64, high.users as f64, measured.users as f64];
    let mut made = Vec::new();
    let mut add = |figure: String, predicted: f64, measured: f64, tolerance: f64| {
        made.push(Prediction { figure, predicted, measured, tolerance });
    };
    type Bytes = fn(&Level) -> f64;
    let bytes: [(&str, Bytes); 2] =
        [("bytes per fact", |l| l.bytes_per_fact), ("bytes per turn", |l| l.bytes_per_turn)];
    for (name, of) in bytes {
        add(name.to_owned(), linear(users, of(low), of(high)), of(measured), BYTES_TOLERANCE);
    }
    for figures in &measured.operations {
        let (a, b) = (low.operation(&figures.name), high.operation(&figures.name));
        let name = &figures.name;
        if name != FIRST_RETRIEVE {
            let p50 = logarithmic(users, a.p50_ms, b.p50_ms);
            add(format!("{name}, p50 ms"), p50, figures.p50_ms, LATENCY_TOLERANCE);
        }
        // A read writes next to nothing.
        if figures.wal_bytes > 200.0 {
            let wal = logarithmic(users, a.wal_bytes, b.wal_bytes);
            add(format!("{name}, log bytes"), wal, figures.wal_bytes, WAL_TOLERANCE);
        }
    }
    made
}

/// A figure per user, if the total is a line through those of two numbers of users.
fn linear([low, high, at]: [f64; 3], of_low: f64, of_high: f64) -> f64 {
    if high <= low {
        return of_high;
    }
    let slope = (of_high * high - of_low * low) / (high - low);
    (of_high * high + slope * (at - high)) / at
}

/// A figure on the line through two over the logarithm of the number of users. It does not fall:
/// a smaller figure of the larger number is noise.
fn logarithmic([low, high, at]: [f64; 3], of_low: f64, of_high: f64) -> f64 {
    if high <= low {
        return of_high;
    }
    let slope = ((of_high - of_low) / (high / low).ln()).max(0.0);
    of_high + slope * (at / high).ln()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn document(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
        std::fs::read_to_string(&path).unwrap()
    }

    fn committed() -> GrowthInputs {
        serde_json::from_str(&document("growth.json")).unwrap()
    }

    fn level(users: u64, bytes_per_fact: f64, p50_ms: f64) -> Level {
        let figures = |name: &str| OperationFigures {
            name: name.to_owned(),
            p50_ms,
            server_cpu_ms: 1.0,
            postgres_cpu_ms: 2.0,
            wal_bytes: 1_000.0,
            ..OperationFigures::default()
        };
        Level {
            users,
            facts: 200 * users,
            turns: 80 * users,
            bytes_per_fact,
            bytes_per_turn: 2_500.0,
            bytes_per_retrieval: 1_000.0,
            bytes_per_baseline: 0.0,
            vacuum_seconds: 1.0,
            server_mb: 300.0,
            postgres_mb: 900.0,
            operations: ["save", FIRST_RETRIEVE, "retrieve", "append", "close", "list"]
                .map(figures)
                .into(),
        }
    }

    fn inputs(levels: Vec<Level>) -> GrowthInputs {
        GrowthInputs {
            limited_by: "a test".to_owned(),
            processors: 2,
            memory_gb: 8.0,
            shared_buffers_gb: 2.0,
            embeddings: true,
            facts_per_user: 200,
            turns_per_user: 80,
            round_text_bytes: 2_500.0,
            retrieve_bytes: 10_000.0,
            levels,
        }
    }

    #[test]
    fn growth_table_of_the_document_is_computed_from_the_committed_figures() {
        let (inputs, scaling) = (committed(), document("scaling.md"));
        let written = with_figures(&scaling, &inputs).unwrap();
        let rewrite = "just growth --model --document docs/scaling.md";
        assert!(written == scaling, "run `{rewrite}`; the figures are:\n{}", figures(&inputs));
        let mut other = inputs;
        other.levels.last_mut().unwrap().bytes_per_turn *= 2.0;
        assert_ne!(with_figures(&scaling, &other).unwrap(), scaling);
    }

    #[test]
    fn growth_of_the_committed_run_is_predicted_from_its_smaller_levels() {
        let inputs = committed();
        let largest = inputs.levels.last().unwrap();
        assert!(inputs.levels.len() >= 3, "a prediction needs two smaller levels");
        let made = predictions(&inputs, largest);
        assert!(made.iter().any(|one| one.figure == "bytes per fact"));
        for one in made {
            assert!(one.is_within(), "{one:?}: {:.2}", one.deviation());
        }
    }

    #[test]
    fn growth_deployment_is_limited_by_disk_or_by_processors() {
        let roomy = inputs(vec![level(1_000, 4_000.0, 1.0)]);
        // 200 facts of 4,000 bytes, 7,300 turns of 2,500, and 900 records of 1,000.
        let user = 800_000.0 + 18_250_000.0 + 900_000.0;
        assert!((bytes_per_user(&roomy.levels[0], &HABITS) - user).abs() < 1.0);
        assert_eq!(users_on(2e12, &roomy.levels[0], &HABITS), (2e12_f64 / user).floor());
        let needed = deployment(&roomy, 1e6, &HABITS, &PRICES).unwrap();
        assert_eq!(needed.cells, (1e6 * user / 1.4e12_f64).ceil());
        let mut busy = roomy.clone();
        for figures in &mut busy.levels[0].operations {
            figures.postgres_cpu_ms = 200.0;
        }
        assert!(deployment(&busy, 1e6, &HABITS, &PRICES).unwrap().cells > needed.cells);
        assert_eq!(deployment(&inputs(Vec::new()), 1e6, &HABITS, &PRICES), None);
    }

    #[test]
    fn growth_prediction_detects_figures_that_grow_faster() {
        let run = inputs(vec![level(1_000, 4_000.0, 1.0), level(10_000, 4_000.0, 1.2)]);
        let like = predictions(&run, &level(100_000, 4_100.0, 1.4));
        assert!(like.iter().all(Prediction::is_within), "{like:?}");
        let worse = predictions(&run, &level(100_000, 5_000.0, 14.0));
        let off: Vec<&str> =
            worse.iter().filter(|one| !one.is_within()).map(|one| one.figure.as_str()).collect();
        assert_eq!(off.len(), 6, "{off:?}");
    }
}
