//! The figures as a terminal table, as JSON and as markdown.

use std::fmt::Write as _;

use serde::Serialize;

use super::cpu::Cores;
use super::fill::{Filled, Plan};
use super::http::Sample;
use super::operation::Operation;
use super::schema::Size;

/// One side of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    pub requests: usize,
    pub per_second: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub errors: u64,
    pub first_error: Option<String>,
    pub cpu: Option<Cost>,
    /// Bytes that each request added to PostgreSQL's WAL.
    pub wal_bytes: f64,
}

/// Processor time per request, in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cost {
    pub server: f64,
    pub postgres: f64,
    pub client: f64,
    /// Cores used by other processes meanwhile: how disturbed the measurement was.
    pub others_cores: f64,
}

impl Side {
    pub fn new(sample: &Sample, cores: Option<Cores>) -> Self {
        let per_second = sample.per_second();
        let each = |cores: f64| if per_second > 0.0 { cores * 1e6 / per_second } else { 0.0 };
        Self {
            requests: sample.latencies.len(),
            per_second,
            p50_ms: sample.percentile(0.50),
            p95_ms: sample.percentile(0.95),
            p99_ms: sample.percentile(0.99),
            errors: sample.errors,
            first_error: sample.first_error.clone(),
            cpu: cores.map(|cores| Cost {
                server: each(cores.server),
                postgres: each(cores.postgres),
                client: each(cores.client),
                others_cores: cores.others,
            }),
            wal_bytes: 0.0,
        }
    }
}

/// One operation with one number of clients, through HTTP and bare.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    pub operation: Operation,
    pub clients: usize,
    pub http: Side,
    pub bare: Side,
    /// Requests per second through HTTP divided by bare ones.
    pub ratio: f64,
}

/// What the server sends to PostgreSQL for one request.
#[derive(Debug, Clone, Serialize)]
pub struct StatementCounts {
    pub operation: Operation,
    pub round_trips: usize,
    pub statements: usize,
}

/// One operation in a small and in a large database.
#[derive(Debug, Clone, Serialize)]
pub struct Growth {
    pub operation: Operation,
    pub clients: usize,
    pub small_users: u32,
    pub large_users: u32,
    pub small: Side,
    pub large: Side,
    pub p50_ratio: f64,
    pub p99_ratio: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub plan: Plan,
    pub seconds: f64,
    pub pool: usize,
    pub processors: usize,
    pub fill: Vec<Filled>,
    pub sizes: Vec<Size>,
    pub content_bytes: f64,
    pub sent: Vec<StatementCounts>,
    pub cells: Vec<Cell>,
    /// The first cell again, without authentication.
    pub without_keys: Option<(Operation, usize, Side)>,
    pub growth: Vec<Growth>,
}

impl Report {
    pub fn errors(&self) -> u64 {
        let cells = self.cells.iter().flat_map(|cell| [&cell.http, &cell.bare]);
        let growth = self.growth.iter().flat_map(|growth| [&growth.small, &growth.large]);
        let alone = self.without_keys.iter().map(|(_, _, side)| side);
        cells.chain(growth).chain(alone).map(|side| side.errors).sum()
    }

    pub fn first_error(&self) -> Option<&str> {
        self.cells.iter().find_map(|cell| cell.http.first_error.as_deref())
    }

    /// The whole report, with tables in markdown or drawn for a terminal.
    pub fn render(&self, markdown: bool) -> String {
        let mut text = String::new();
        let mut section = |title: &str, body: String| {
            if body.is_empty() {
                return;
            }
            let mark = if markdown { "## " } else { "" };
            let _ = writeln!(text, "{mark}{title}\n\n{body}");
        };
        section("What was measured", self.setting());
        section("HTTP beside bare SQL", table(&self.cells(), markdown));
        section("Processor time per request, microseconds", table(&self.costs(), markdown));
        section("Without authentication", self.alone());
        section("Growth", table(&self.growths(), markdown));
        section("What a request sends to PostgreSQL", table(&self.sents(), markdown));
        section("Bytes per fact", table(&self.bytes(), markdown));
        section("The fill", self.filled());
        text
    }

    fn setting(&self) -> String {
        let Plan { users, facts, heavy, seed } = &self.plan;
        format!(
            "{} users with {facts} facts each and one with {}; seed {seed}; {:.0} bytes of content \
             on average.\n{} processors, shared by server, PostgreSQL and client; the client is one \
             thread of the eval's own process.\nEach figure is over {} s. The server has a pool of {} \
             connections; pgbench opens one for each client. Both sides run the same statements in \
             the same round trips under row-level security; pgbench's figures include the final \
             rollback of a read, which the server sends after its answer.\n",
            thousands(f64::from(*users)),
            thousands(f64::from(*heavy)),
            self.content_bytes,
            self.processors,
            self.seconds,
            self.pool
        )
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let mut rows = vec![row(&[
            "operation",
            "clients",
            "HTTP/s",
            "p50",
            "p95",
            "p99",
            "bare/s",
            "p50",
            "p95",
            "p99",
            "HTTP/bare",
            "others",
        ])];
        for cell in &self.cells {
            let mut row = vec![cell.operation.name().to_owned(), cell.clients.to_string()];
            for side in [&cell.http, &cell.bare] {
                row.push(thousands(side.per_second));
                row.extend([side.p50_ms, side.p95_ms, side.p99_ms].map(millis));
            }
            row.push(format!("{:.2}", cell.ratio));
            let others =
                |side: &Side| side.cpu.map_or("-".into(), |c| format!("{:.1}", c.others_cores));
            row.push(format!("{}/{}", others(&cell.http), others(&cell.bare)));
            rows.push(row);
        }
        rows
    }

    fn costs(&self) -> Vec<Vec<String>> {
        let mut rows = vec![row(&[
            "operation",
            "clients",
            "server",
            "PostgreSQL",
            "client",
            "sum",
            "bare PostgreSQL",
            "pgbench",
            "sum",
            "WAL bytes",
            "bare WAL",
        ])];
        for cell in &self.cells {
            let (Some(http), Some(bare)) = (cell.http.cpu, cell.bare.cpu) else { continue };
            let figures = [
                http.server,
                http.postgres,
                http.client,
                http.server + http.postgres + http.client,
                bare.postgres,
                bare.client,
                bare.postgres + bare.client,
            ];
            let mut row = vec![cell.operation.name().to_owned(), cell.clients.to_string()];
            row.extend(figures.map(|micros| format!("{micros:.0}")));
            row.extend([cell.http.wal_bytes, cell.bare.wal_bytes].map(thousands));
            rows.push(row);
        }
        if rows.len() > 1 { rows } else { Vec::new() }
    }

    fn alone(&self) -> String {
        let Some((operation, clients, side)) = &self.without_keys else { return String::new() };
        let cost = side.cpu.map(|cost| format!(", server {:.0} us", cost.server));
        format!(
            "{} with {clients} clients and `--auth off`: {}/s, p50 {} ms, p99 {} ms{}\n",
            operation.name(),
            thousands(side.per_second),
            millis(side.p50_ms),
            millis(side.p99_ms),
            cost.unwrap_or_default()
        )
    }

    fn growths(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for growth in &self.growth {
            if rows.is_empty() {
                let users = |users: u32| format!("{} users", thousands(f64::from(users)));
                let (small, large) = (users(growth.small_users), users(growth.large_users));
                rows.push(row(&["operation", "clients", &small, "p50", "p99"]));
                rows[0].extend(row(&[&large, "p50", "p99", "p50 ratio", "p99 ratio"]));
            }
            let mut row = vec![growth.operation.name().to_owned(), growth.clients.to_string()];
            for side in [&growth.small, &growth.large] {
                row.push(format!("{}/s", thousands(side.per_second)));
                row.extend([side.p50_ms, side.p99_ms].map(millis));
            }
            row.extend([growth.p50_ratio, growth.p99_ratio].map(|ratio| format!("{ratio:.2}")));
            rows.push(row);
        }
        rows
    }

    fn sents(&self) -> Vec<Vec<String>> {
        let mut rows = vec![row(&["operation", "round trips", "statements"])];
        for sent in &self.sent {
            rows.push(vec![
                sent.operation.name().to_owned(),
                sent.round_trips.to_string(),
                sent.statements.to_string(),
            ]);
        }
        rows
    }

    fn bytes(&self) -> Vec<Vec<String>> {
        let mut rows = vec![row(&["table", "index", "MB", "bytes per fact"])];
        let line = |table: &str, index: &str, bytes: i64, each: f64| {
            let mb = thousands(bytes as f64 / 1e6);
            vec![table.to_owned(), index.to_owned(), mb, format!("{each:.1}")]
        };
        for size in &self.sizes {
            let index = size.index.as_deref().unwrap_or("");
            rows.push(line(&size.table, index, size.bytes, size.bytes_per_fact));
        }
        let bytes = self.sizes.iter().map(|size| size.bytes).sum();
        rows.push(line("all", "", bytes, self.sizes.iter().map(|size| size.bytes_per_fact).sum()));
        rows
    }

    fn filled(&self) -> String {
        let mut text = String::new();
        for filled in &self.fill {
            let rows = (filled.facts + filled.versions + filled.operations) as f64;
            let _ = writeln!(
                text,
                "{} facts, {} versions, {} operations: COPY {:.0} s ({} rows/s), indexes and \
                 constraints {:.0} s, vacuum and checkpoint {:.0} s.",
                thousands(filled.facts as f64),
                thousands(filled.versions as f64),
                thousands(filled.operations as f64),
                filled.copy_seconds,
                thousands(rows / filled.copy_seconds.max(0.001)),
                filled.build_seconds,
                filled.vacuum_seconds,
            );
            let slow = filled.built.iter().filter(|built| built.seconds >= 1.0);
            let slow: Vec<String> =
                slow.map(|built| format!("{} {:.0} s", built.name, built.seconds)).collect();
            if !slow.is_empty() {
                let _ = writeln!(text, "Built: {}.", slow.join(", "));
            }
        }
        text
    }
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn millis(millis: f64) -> String {
    if millis < 10.0 { format!("{millis:.2}") } else { format!("{millis:.1}") }
}

/// A number in groups of three digits.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rows in columns; the first row is the head.
fn table(rows: &[Vec<String>], markdown: bool) -> String {
    let Some(head) = rows.first() else { return String::new() };
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            // Names are left-aligned, figures right-aligned.
            .map(|(at, (cell, &width))| match at {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        match markdown {
            true => text.push_str(&format!("| {} |\n", cells.join(" | "))),
            false => text.push_str(&format!("{}\n", cells.join("  "))),
        }
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            match markdown {
                true => text.push_str(&format!("|-{}:|\n", rule.join("-|-"))),
                false => text.push_str(&format!("{}\n", rule.join("  "))),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(0.4), "0");
        assert_eq!(thousands(1234567.0), "1,234,567");
    }

    #[test]
    fn report_table_is_aligned() {
        let rows = [row(&["a", "bb"]), row(&["long", "1"])];
        assert_eq!(table(&rows, false), "a     bb\n----  --\nlong   1\n");
        assert_eq!(table(&rows, true), "| a    | bb |\n|------|---:|\n| long |  1 |\n");
    }
}
