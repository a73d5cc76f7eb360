//! Sorts more lines than memory should hold: they are sorted in runs, and full runs are written to
//! unnamed temporary files, which the system removes when they are closed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};

/// Bytes of lines that are kept in memory.
const RUN_BYTES: usize = 4 << 20;
/// How many files are merged at a time. A line of each is in memory then.
const MERGED_RUNS: usize = 16;

/// Collects lines in any order, and returns them in the order of their bytes.
pub(crate) struct LineSorter {
    run_bytes: usize,
    lines: Vec<String>,
    /// Of the lines in memory.
    bytes: usize,
    runs: Vec<Run>,
}

/// A file of sorted lines, each after its length.
struct Run {
    file: File,
    /// How often its lines were merged.
    level: u32,
}

impl Default for LineSorter {
    fn default() -> Self {
        Self::with_run_bytes(RUN_BYTES)
    }
}

impl LineSorter {
    fn with_run_bytes(run_bytes: usize) -> Self {
        Self { run_bytes, lines: Vec::new(), bytes: 0, runs: Vec::new() }
    }

    pub(crate) fn push(&mut self, line: String) -> io::Result<()> {
        self.bytes += line.len() + size_of::<String>();
        self.lines.push(line);
        if self.bytes >= self.run_bytes { self.write_run() } else { Ok(()) }
    }

    /// The size of all lines; of those in files it is the least that they have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.saturating_add(self.runs.len().saturating_mul(self.run_bytes))
    }

    fn write_run(&mut self) -> io::Result<()> {
        let mut run = RunWriter::begin()?;
        self.lines.sort_unstable();
        for line in self.lines.drain(..) {
            run.write(&line)?;
        }
        self.bytes = 0;
        self.runs.push(run.finish(0)?);
        // Runs of one level become one of the next: every line is written a few times at most.
        while let Some(level) = self.full_level() {
            let merged = self.runs.split_off(self.runs.len() - MERGED_RUNS);
            let mut run = RunWriter::begin()?;
            merge(merged, |line| run.write(line))?;
            self.runs.push(run.finish(level + 1)?);
        }
        Ok(())
    }

    /// The level of the last runs, if there are as many of it as are merged.
    fn full_level(&self) -> Option<u32> {
        let level = self.runs.last()?.level;
        let same = self.runs.iter().rev().take_while(|run| run.level == level).count();
        (same >= MERGED_RUNS).then_some(level)
    }

    /// Calls `each` with every line, in order.
    pub(crate) fn finish(mut self, mut each: impl FnMut(&str)) -> io::Result<()> {
        if self.runs.is_empty() {
            self.lines.sort_unstable();
            self.lines.iter().for_each(|line| each(line));
            return Ok(());
        }
        if !self.lines.is_empty() {
            self.write_run()?;
        }
        drop(std::mem::take(&mut self.lines));
        // The last ones are the smallest.
        while self.runs.len() > MERGED_RUNS {
            let excess = self.runs.len() - MERGED_RUNS + 1;
            let merged = self.runs.split_off(self.runs.len() - excess.min(MERGED_RUNS));
            let mut run = RunWriter::begin()?;
            merge(merged, |line| run.write(line))?;
            self.runs.push(run.finish(0)?);
        }
        merge(self.runs, |line| {
            each(line);
            Ok(())
        })
    }
}

/// Reads sorted runs side by side, and passes on their lines in order.
fn merge(runs: Vec<Run>, mut each: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut files: Vec<BufReader<File>> =
        runs.into_iter().map(|run| BufReader::new(run.file)).collect();
    let mut heads = BinaryHeap::new();
    for (number, file) in files.iter_mut().enumerate() {
        heads.extend(read_line(file)?.map(|line| Reverse((line, number))));
    }
    while let Some(Reverse((line, number))) = heads.pop() {
        each(&line)?;
        heads.extend(read_line(&mut files[number])?.map(|line| Reverse((line, number))));
    }
    Ok(())
}

struct RunWriter(BufWriter<File>);

impl RunWriter {
    fn begin() -> io::Result<Self> {
        Ok(Self(BufWriter::new(tempfile::tempfile()?)))
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(&(line.len() as u64).to_le_bytes())?;
        self.0.write_all(line.as_bytes())
    }

    fn finish(self, level: u32) -> io::Result<Run> {
        let mut file = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(Run { file, level })
    }
}

/// The next line of a run; `None` at its end.
fn read_line(file: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut length = [0; 8];
    match file.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u64::from_le_bytes(length);
    let mut line = String::new();
    if file.take(length).read_to_string(&mut line)? as u64 == length {
        return Ok(Some(line));
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of different lengths in no order, some of them equal.
    fn lines(count: u64) -> Vec<String> {
        let number = |n: u64| n.wrapping_mul(6_364_136_223_846_793_005) >> 40;
        (0..count).map(|n| format!("{:x}ä", number(n) % 50_000).repeat(n as usize % 7)).collect()
    }

    #[test]
    fn sorted_lines_are_the_same_whether_they_are_in_memory_or_in_files() {
        for count in [0, 1, 100, 5_000] {
            let mut sorted = lines(count);
            sorted.sort_unstable();
            for run_bytes in [usize::MAX, 100_000, 500] {
                let mut sorter = LineSorter::with_run_bytes(run_bytes);
                lines(count).into_iter().for_each(|line| sorter.push(line).unwrap());
                let mut found = Vec::new();
                sorter.finish(|line| found.push(line.to_owned())).unwrap();
                assert!(found == sorted, "{count} lines in runs of {run_bytes} bytes");
            }
        }
    }

    #[test]
    fn sorted_lines_in_memory_and_open_files_are_bounded() {
        let mut sorter = LineSorter::with_run_bytes(500);
        let mut runs = 0;
        for line in lines(20_000) {
            sorter.push(line).unwrap();
            assert!(sorter.bytes < 500, "{} bytes", sorter.bytes);
            runs = runs.max(sorter.runs.len());
        }
        assert!((20..=3 * MERGED_RUNS).contains(&runs), "{runs} files");
    }
}
