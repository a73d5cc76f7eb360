//! CPU time of the server, PostgreSQL, the client, and everything else.
//!
//! Read from /proc, in ticks of 10 ms; over a few seconds that is exact enough to locate the cost
//! of a request. On other systems than Linux the figures are absent.

use std::time::Instant;

use serde::Serialize;

const TICK_MICROS: f64 = 10_000.0;

/// The processes to measure.
#[derive(Debug, Clone, Copy)]
pub struct Watch {
    pub server: Option<u32>,
    /// The postmaster, the parent of all other PostgreSQL processes.
    pub postmaster: u32,
    pub client: u32,
}

struct Reading {
    at: Instant,
    server: u64,
    postgres: u64,
    client: u64,
    busy: u64,
}

/// A measurement in progress.
pub struct Meter {
    watch: Watch,
    start: Option<Reading>,
}

/// Cores in use on average, over a period.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Cores {
    pub server: f64,
    pub postgres: f64,
    pub client: f64,
    /// Everything else on the machine, which disturbed the measurement.
    pub others: f64,
}

impl Meter {
    pub fn start(watch: Watch) -> Self {
        Self { watch, start: read(watch) }
    }

    pub fn stop(&self) -> Option<Cores> {
        let (start, end) = (self.start.as_ref()?, read(self.watch)?);
        let micros = end.at.duration_since(start.at).as_micros() as f64;
        let cores = |end: u64, start: u64| end.saturating_sub(start) as f64 * TICK_MICROS / micros;
        let server = cores(end.server, start.server);
        let postgres = cores(end.postgres, start.postgres);
        let client = cores(end.client, start.client);
        let others = cores(end.busy, start.busy) - server - postgres - client;
        Some(Cores { server, postgres, client, others: others.max(0.0) })
    }
}

fn read(watch: Watch) -> Option<Reading> {
    let mut postgres = process(watch.postmaster)?.ticks;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that has ended meanwhile is not counted.
        if let Some(found) = process(pid).filter(|found| found.parent == watch.postmaster) {
            postgres += found.ticks;
        }
    }
    Some(Reading {
        at: Instant::now(),
        server: watch.server.map_or(Some(0), |pid| Some(process(pid)?.ticks))?,
        postgres,
        client: process(watch.client)?.ticks,
        busy: busy()?,
    })
}

struct Process {
    parent: u32,
    ticks: u64,
}

fn process(pid: u32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain anything; the fields are counted from its end.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| -> Option<u64> { fields.get(at)?.parse().ok() };
    Some(Process { parent: fields.get(1)?.parse().ok()?, ticks: number(11)? + number(12)? })
}

/// The ticks of these processes, and of all processes of PostgreSQL.
pub fn ticks(pids: &[u32], postmaster: u32) -> u64 {
    let watch = Watch { server: None, postmaster, client: std::process::id() };
    let own: u64 = pids.iter().filter_map(|pid| process(*pid)).map(|found| found.ticks).sum();
    own + read(watch).map_or(0, |reading| reading.postgres)
}

/// Processor time since an earlier count of ticks, in milliseconds.
pub fn millis_since(before: u64, pids: &[u32], postmaster: u32) -> f64 {
    ticks(pids, postmaster).saturating_sub(before) as f64 * TICK_MICROS / 1e3
}

/// Processor time of a process so far, in milliseconds.
pub fn process_ms(pid: u32) -> Option<f64> {
    process(pid).map(|found| found.ticks as f64 * TICK_MICROS / 1e3)
}

/// The processes that a process has started.
pub fn children(of: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent(*pid) == Some(of)).collect()
}

/// The parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    process(pid).map(|process| process.parent)
}

/// The non-idle ticks of all processors.
fn busy() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq
    Some(fields.iter().take(7).enumerate().filter(|(i, _)| ![3, 4].contains(i)).map(|f| f.1).sum())
}

/// The number of processors.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
