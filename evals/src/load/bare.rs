//! The bare side: the server's own statements, sent by pgbench in the server's role.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use super::cpu::{Cores, Meter, Watch};
use super::http::{Press, Sample};

/// The settings of every connection of the server's pool.
const OPTIONS: &str = "-c role=lukasa_serve -c timezone=UTC -c statement_timeout=15s \
    -c lock_timeout=10s -c idle_in_transaction_session_timeout=30s";

pub struct Pgbench {
    pub program: PathBuf,
    pub port: u16,
    pub database: String,
    /// Folder for scripts and logs; emptied for each run.
    pub dir: PathBuf,
    pub postmaster: u32,
}

impl Pgbench {
    /// Runs the scripts, each weighted by its number of targets.
    pub async fn run(
        &self,
        scripts: &[(String, usize)],
        press: Press,
    ) -> Result<(Sample, Option<Cores>)> {
        let _ = std::fs::remove_dir_all(&self.dir);
        std::fs::create_dir_all(&self.dir)?;
        let seconds = (press.warm_up + press.lasting).as_secs_f64().ceil();
        let mut command = Command::new(&self.program);
        command
            .args(["--no-vacuum", "--protocol=simple", "--define=ready=0", "--log"])
            .args(["--host=127.0.0.1", "--username=postgres"])
            .arg(format!("--port={}", self.port))
            .arg(format!("--client={}", press.clients))
            .arg(format!("--jobs={}", press.clients.min(2)))
            .arg(format!("--time={seconds}"))
            .arg(format!("--random-seed={}", press.seed & 0xffff_ffff))
            .arg(format!("--log-prefix={}", self.dir.join("log").display()));
        for (number, (script, weight)) in scripts.iter().enumerate() {
            let path = self.dir.join(format!("{number}.sql"));
            std::fs::write(&path, script)?;
            command.arg(format!("--file={}@{weight}", path.display()));
        }
        command.arg(&self.database).env("PGOPTIONS", OPTIONS);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.kill_on_drop(true).spawn().context("pgbench")?;
        let client = child.id().context("pgbench has no id")?;
        let cores = meter(
            Watch { server: None, postmaster: self.postmaster, client },
            press.warm_up.max(Duration::from_millis(300)),
            press.lasting,
        );
        let (output, cores) = tokio::join!(child.wait_with_output(), cores);
        let output = output?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pgbench: {}", stderr.lines().take(5).collect::<String>());
        let sample = read_logs(&self.dir, press)?;
        let _ = std::fs::remove_dir_all(&self.dir);
        Ok((sample, cores))
    }
}

/// Measures the processes in the middle of a run, without its start and its end.
pub async fn meter(watch: Watch, warm_up: Duration, lasting: Duration) -> Option<Cores> {
    tokio::time::sleep(warm_up).await;
    let meter = Meter::start(watch);
    tokio::time::sleep(lasting.mul_f64(0.8)).await;
    meter.stop()
}

/// pgbench writes one line per transaction: client, number, microseconds, script, and when it
/// ended.
fn read_logs(dir: &Path, press: Press) -> Result<Sample> {
    let mut ended: Vec<(i64, u32)> = Vec::new();
    let mut sample = Sample::default();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log")) {
            continue;
        }
        for line in std::fs::read_to_string(&path)?.lines() {
            match parse(line) {
                Some(found) => ended.push(found),
                None => sample.errors += 1,
            }
        }
    }
    let start = ended.iter().map(|(at, _)| *at).min().context("pgbench did nothing")?;
    let start = start + i64::try_from(press.warm_up.as_micros())?;
    let end = start + i64::try_from(press.lasting.as_micros())?;
    let last = ended.iter().map(|(at, _)| *at).max().unwrap_or(end).min(end);
    sample.latencies =
        ended.iter().filter(|(at, _)| (start..end).contains(at)).map(|(_, took)| *took).collect();
    sample.latencies.sort_unstable();
    sample.seconds = (last - start).max(1) as f64 / 1e6;
    Ok(sample)
}

/// When a transaction ended, and how long it took.
fn parse(line: &str) -> Option<(i64, u32)> {
    let fields: Vec<&str> = line.split(' ').collect();
    let seconds: i64 = fields.get(4)?.parse().ok()?;
    let micros: i64 = fields.get(5)?.parse().ok()?;
    Some((seconds * 1_000_000 + micros, fields.get(2)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgbench_log_line_is_parsed() {
        assert_eq!(parse("0 199 2241 0 1175850568 995598"), Some((1_175_850_568_995_598, 2241)));
        assert_eq!(parse("0 199 failed 0 1175850568 995598"), None);
    }
}
