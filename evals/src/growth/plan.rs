//! How many users are filled: by the disk, the time and the number of facts, whichever is least.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// What every user has.
pub const FACTS_PER_USER: u32 = 200;
pub const TURNS_PER_USER: u32 = 80;
/// Estimates until the first users are filled: bytes on disk of a user, and users per second.
const USER_BYTES: f64 = 1.3e6;
const USERS_PER_SECOND: f64 = 20.0;
/// Disk space that is left alone: the write-ahead log, temporary files and other programs.
pub const SPARE_BYTES: f64 = 6e9;
/// The shares of the fill at which is measured, and those of the short form.
const SHARES: [f64; 3] = [0.01, 0.1, 1.0];
const QUICK_SHARES: [f64; 3] = [0.2, 0.5, 1.0];
const FEWEST_USERS: u32 = 20;

/// What the machine has.
#[derive(Debug, Clone, Copy)]
pub struct MachineSpace {
    pub free_disk: f64,
    pub memory: f64,
    pub free_memory: f64,
}

impl MachineSpace {
    pub fn read(folder: &Path) -> Result<Self> {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kilobytes = |name: &str| {
            let line = memory.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
        };
        Ok(Self {
            free_disk: free_disk(folder)?,
            memory: kilobytes("MemTotal:").unwrap_or(4e6) * 1024.0,
            free_memory: kilobytes("MemAvailable:").unwrap_or(4e6) * 1024.0,
        })
    }

    /// PostgreSQL's buffers in megabytes: a quarter of the free memory, at most 4 GB.
    pub fn shared_buffers_mb(&self, quick: bool) -> u32 {
        let most = if quick { 256.0 } else { 4_096.0 };
        (self.free_memory / 4e6).clamp(128.0, most) as u32
    }
}

/// Free bytes of the disk of a folder.
pub fn free_disk(folder: &Path) -> Result<f64> {
    let output = Command::new("df").arg("-Pk").arg(folder).output().context("df")?;
    ensure!(output.status.success(), "df {} failed", folder.display());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().nth(1).context("df has printed nothing")?;
    let free = line.split_whitespace().nth(3).context("a line of df without the free space")?;
    Ok(free.parse::<f64>().context("the free space")? * 1024.0)
}

/// The limits of a fill.
#[derive(Debug, Clone, Copy)]
pub struct FillLimits {
    pub facts: u64,
    /// Time for the fill; a run needs about a third more for measuring.
    pub time: Option<Duration>,
    /// Disk space to use; all but a spare part of the free space if absent.
    pub disk: Option<f64>,
}

/// What a user takes, estimated or measured.
#[derive(Debug, Clone, Copy)]
pub struct UserCost {
    pub bytes: f64,
    pub per_second: f64,
}

pub const ESTIMATE: UserCost = UserCost { bytes: USER_BYTES, per_second: USERS_PER_SECOND };

/// The number of users to fill, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillTarget {
    pub users: u32,
    pub limited_by: String,
}

/// The least of what the limits allow.
pub fn target(free_disk: f64, limits: &FillLimits, cost: UserCost) -> FillTarget {
    let asked = u32::try_from(limits.facts / u64::from(FACTS_PER_USER)).unwrap_or(u32::MAX);
    let mut target = FillTarget { users: asked, limited_by: "the number of facts".to_owned() };
    let mut limit = |users: f64, why: String| {
        let users = users.max(0.0) as u32;
        if users < target.users {
            target = FillTarget { users, limited_by: why };
        }
    };
    let free = free_disk - SPARE_BYTES;
    let disk = limits.disk.map_or(free, |disk| (disk - SPARE_BYTES).min(free));
    let gigabytes = |bytes: f64| bytes.max(0.0) / 1e9;
    limit(disk / cost.bytes, format!("the disk: {:.0} GB can be used", gigabytes(disk)));
    if let Some(time) = limits.time {
        let seconds = time.as_secs_f64();
        limit(seconds * cost.per_second, format!("the time: {seconds:.0} s to fill"));
    }
    target.users = target.users.max(FEWEST_USERS);
    target
}

/// The numbers of users at which is measured.
pub fn levels(users: u32, quick: bool) -> Vec<u32> {
    let shares = if quick { QUICK_SHARES } else { SHARES };
    let mut levels: Vec<u32> = shares
        .iter()
        .map(|share| ((f64::from(users) * share).round() as u32).max(FEWEST_USERS).min(users))
        .collect();
    levels.dedup();
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_fill_is_limited_by_the_least_of_facts_disk_and_time() {
        let limits = FillLimits { facts: 50_000_000, time: None, disk: None };
        let of = |disk: f64, limits: &FillLimits| target(disk, limits, ESTIMATE);
        assert_eq!(of(1e12, &limits).users, 250_000);
        assert!(of(1e12, &limits).limited_by.contains("facts"));
        let small = of(36e9, &limits);
        assert_eq!(small.users, (30e9 / USER_BYTES) as u32);
        assert_eq!(small.limited_by, "the disk: 30 GB can be used");
        let asked = FillLimits { disk: Some(16e9), ..limits };
        assert_eq!(of(36e9, &asked).limited_by, "the disk: 10 GB can be used");
        let hasty = FillLimits { time: Some(Duration::from_secs(100)), ..limits };
        assert_eq!(of(36e9, &hasty).users, 2_000);
        assert_eq!(of(0.0, &limits).users, FEWEST_USERS);
    }

    #[test]
    fn growth_levels_are_shares_of_the_users() {
        assert_eq!(levels(250_000, false), [2_500, 25_000, 250_000]);
        assert_eq!(levels(100, true), [20, 50, 100]);
        assert_eq!(levels(20, false), [20]);
    }
}
