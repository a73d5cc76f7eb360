//! `lukasa scrub`, and the daily scrub of a server.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use lukasa_engine::ConnectOptions;
use lukasa_engine::scrub::{self, ScrubProgress};
use serde_json::json;

use super::{AlreadyReported, DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;

#[derive(Debug, Args)]
#[command(after_help = "\
A deleted row stays in the database's files: in its table, in indexes, in the planner's samples, in the
write-ahead log. This rewrites the tables and recycles the log, so that erased data is in none of them.
It runs as the owner of the database; each table is locked while it is rewritten, so choose a quiet hour.
`lukasa serve` does it daily with --scrub-at, if its login role has the rights.

  lukasa scrub                          remove what was erased since the last scrub
  lukasa scrub --dry-run                only show what there is to do, and whether the rights suffice
  lukasa scrub --find 'a word' --files /var/lib/postgresql/18/main     then search the files for a word

--find searches every file below the folder, byte for byte, and exits with 1 if it finds the word.
It has to run on the database's machine, as a user who may read the files.")]
pub struct ScrubArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// Scrub even if nothing was erased since the last scrub
    #[arg(long)]
    always: bool,
    /// Only show what there is to do
    #[arg(long)]
    dry_run: bool,
    /// After scrubbing, search the files for these words
    #[arg(long, value_name = "WORD", requires = "files")]
    find: Vec<String>,
    /// The folder to search: the database's data directory
    #[arg(long, value_name = "FOLDER", requires = "find")]
    files: Option<PathBuf>,
}

impl ScrubArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let opened = self.database.open(1).await?;
        let connect = opened.connect.clone();
        let lacking = scrub::lacking_rights(&connect).await?;
        let pending = scrub::unscrubbed(&connect).await?;
        if self.dry_run {
            if self.format.json {
                return say_json(&json!({ "erasures": pending, "lacking": lacking }));
            }
            say(&format!("The data of {pending} erasures is still in the database's files."))?;
            return lacking.iter().try_for_each(|what| say(&format!("Scrubbing needs {what}.")));
        }
        if !lacking.is_empty() {
            bail!(
                "this login role may not scrub; it needs {}\n  next: run it as the owner of the \
                 database, or as a superuser",
                lacking.join("; ")
            );
        }
        let bar = bar();
        let done = scrub::scrub(&connect, clock::now(), self.always, |step| match step {
            ScrubProgress::Waiting => bar.set_message("waiting for older transactions to end"),
            ScrubProgress::Table { name, number, of } => {
                bar.set_message(format!("rewriting {name} ({number} of {of})"));
            }
            ScrubProgress::Log { left } => {
                bar.set_message(format!("recycling the write-ahead log, {left} files left"));
            }
        })
        .await?;
        bar.finish_and_clear();
        let found = match &self.files {
            Some(folder) => search_files(folder, &self.find)?,
            None => BTreeMap::new(),
        };
        if self.format.json {
            say_json(&json!({
                "erasures": done.erasures, "tables": done.tables, "log_files": done.log_files,
                "bytes_before": done.bytes_before, "bytes_after": done.bytes_after,
                "found": found,
            }))?;
        } else if done.tables == 0 {
            say("Nothing was erased since the last scrub.")?;
        } else {
            say(&format!(
                "The data of {} erasures was removed from the files: {} tables rewritten ({} to {} \
                 bytes), {} log files recycled.",
                done.erasures, done.tables, done.bytes_before, done.bytes_after, done.log_files
            ))?;
        }
        if self.format.json {
            return if found.is_empty() { Ok(()) } else { Err(AlreadyReported.into()) };
        }
        for (file, count) in &found {
            say(&format!("found {count} times in {file}"))?;
        }
        match (self.find.is_empty(), found.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => say("The words are in none of the files."),
            (false, false) => Err(AlreadyReported.into()),
        }
    }
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg}");
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

/// How often the words occur in each file below a folder; files without any are left out.
fn search_files(folder: &Path, words: &[String]) -> anyhow::Result<BTreeMap<String, usize>> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(search_files(&path, words)?);
        } else if path.is_file() {
            let count = occurrences(&path, words)?;
            if count > 0 {
                found.insert(path.display().to_string(), count);
            }
        }
    }
    Ok(found)
}

fn occurrences(path: &Path, words: &[String]) -> anyhow::Result<usize> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        // The database removes files while it runs.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    }
    let of = |word: &String| {
        let word = word.as_bytes();
        bytes.windows(word.len().max(1)).filter(|window| *window == word).count()
    };
    Ok(words.iter().map(of).sum())
}

/// Scrubs every day at this hour (UTC) if something was erased. Without the rights, logs it and ends.
pub async fn scrub_daily(connect: ConnectOptions, hour: i8) {
    match scrub::lacking_rights(&connect).await {
        Ok(lacking) if lacking.is_empty() => {}
        Ok(_) => {
            tracing::info!("this login role may not scrub; run `lukasa scrub` as the owner");
            return;
        }
        Err(error) => {
            tracing::warn!(%error, "could not check the rights to scrub; the daily scrub is off");
            return;
        }
    }
    let mut done_on = None;
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let now = clock::now().to_zoned(TimeZone::UTC);
        if now.hour() != hour || done_on == Some(now.date()) {
            continue;
        }
        match scrub::scrub(&connect, now.timestamp(), false, |_| {}).await {
            Ok(done) => {
                done_on = Some(now.date());
                tracing::info!(erasures = done.erasures, tables = done.tables, "scrubbed");
            }
            Err(error) => tracing::warn!(%error, "scrub failed; retrying in a minute"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrub_search_finds_words_in_nested_files() {
        let folder = std::env::temp_dir().join(format!("lukasa-look-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("base/1")).unwrap();
        std::fs::write(folder.join("base/1/2"), b"\0\xffcanary\0canary").unwrap();
        std::fs::write(folder.join("other"), b"canar").unwrap();
        let found = search_files(&folder, &["canary".to_owned()]).unwrap();
        assert_eq!(found.into_values().collect::<Vec<_>>(), [2]);
        assert!(search_files(&folder, &["parrot".to_owned()]).unwrap().is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
