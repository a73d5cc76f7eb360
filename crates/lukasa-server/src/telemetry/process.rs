//! Metrics of this process under the names that Prometheus' own clients use, read from Linux's /proc. Other
//! systems have none of them.

use metrics::gauge;

/// The unit of times in /proc, in 1/s: the kernel reports them in this one on every processor.
const TICKS: f64 = 100.0;

/// What is read from /proc.
#[derive(Debug, PartialEq)]
struct ProcessUsage {
    cpu_seconds: f64,
    resident_bytes: f64,
    /// Seconds since 1970.
    started: f64,
}

pub(super) fn set_gauges() {
    let read = |file: &str| std::fs::read_to_string(file).ok();
    let texts = read("/proc/self/stat").zip(read("/proc/self/status")).zip(read("/proc/stat"));
    if let Some(usage) = texts.and_then(|((own, status), system)| parse(&own, &status, &system)) {
        gauge!("process_cpu_seconds_total").set(usage.cpu_seconds);
        gauge!("process_resident_memory_bytes").set(usage.resident_bytes);
        gauge!("process_start_time_seconds").set(usage.started);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        // One of them is the folder that is read.
        gauge!("process_open_fds").set(open.count().saturating_sub(1) as f64);
    }
    let limit = read("/proc/self/limits").and_then(|limits| max_open_files(&limits));
    if let Some(limit) = limit {
        gauge!("process_max_fds").set(limit);
    }
}

pub(super) fn describe() {
    use metrics::describe_gauge;
    describe_gauge!("process_cpu_seconds_total", "Processor time of this process");
    describe_gauge!("process_resident_memory_bytes", "Memory of this process");
    describe_gauge!("process_start_time_seconds", "When this process was started, since 1970");
    describe_gauge!("process_open_fds", "Open files and connections of this process");
    describe_gauge!("process_max_fds", "Most files and connections that it may have open");
}

/// Reads the texts of `/proc/self/stat`, `/proc/self/status` and `/proc/stat`.
fn parse(own: &str, status: &str, system: &str) -> Option<ProcessUsage> {
    // The name of the program, in parentheses, may contain spaces; the fields after it begin with the third.
    let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let (user, kernel, start) = (field(14)?, field(15)?, field(22)?);
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident: f64 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let booted = system.lines().find_map(|line| line.strip_prefix("btime "))?;
    let booted: f64 = booted.trim().parse().ok()?;
    Some(ProcessUsage {
        cpu_seconds: (user + kernel) / TICKS,
        resident_bytes: resident * 1024.0,
        started: booted + start / TICKS,
    })
}

/// The soft limit in the text of `/proc/self/limits`.
fn max_open_files(limits: &str) -> Option<f64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_metrics_are_read_from_proc() {
        let own =
            "42 (a (b) c) S 1 42 42 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 2500 1000000 512 1";
        let (status, system) = ("Name:\tx\nVmRSS:\t    2048 kB\n", "cpu 1 2\nbtime 1700000000\n");
        let expected = ProcessUsage {
            cpu_seconds: 2.0,
            resident_bytes: 2_097_152.0,
            started: 1_700_000_025.0,
        };
        assert_eq!(parse(own, status, system), Some(expected));
        for (own, status, system) in [
            ("", status, system),
            (own, "", system),
            (own, status, ""),
            ("1 (a) S", status, system),
        ] {
            assert_eq!(parse(own, status, system), None);
        }
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax open files    1024    4096    files\n";
        assert_eq!(max_open_files(limits), Some(1024.0));
        assert_eq!(max_open_files("Max open files    unlimited    unlimited    files"), None);
    }
}
