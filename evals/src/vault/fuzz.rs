//! Fuzzes vaults: real files are mutated and read. Nothing may fail, and what was read and written
//! once must be stable.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use lukasa_core::Timestamp;
use lukasa_core::vault::{
    BASE, Base, File, MissingContent, ParsedVault, PreservedParts, SyncPlan, VaultContents,
    as_bullets, decode, encode, plan, read, render,
};
use lukasa_core::vault::{Command, Home};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::generate;
use crate::mutation::{Watchdog, mutate_lines};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the stored lines wrongly, which must be found.
    #[arg(long)]
    pub plant: bool,
}

const NOW: i64 = 1_800_000_000;

pub fn run(args: &Args) -> Result<()> {
    let started = Instant::now();
    let (mut rounds, mut bytes, mut problems, mut conflicts, mut steps) = (0_u64, 0, 0, 0, 0);
    let watchdog = Watchdog::start(Duration::from_secs(10), args.seed);
    while started.elapsed() < Duration::from_secs(args.seconds) {
        watchdog.round(rounds);
        let mut rng = StdRng::seed_from_u64(args.seed.wrapping_mul(1_000_003) ^ rounds);
        let now = Timestamp::from_second(NOW)?;
        let held = generate::held(&mut rng, now);
        let files = render(&held, now, &PreservedParts::default());
        unchanged(&held, &files, now, rounds)?;
        let other = render(&generate::held(&mut rng, now), now, &PreservedParts::default());
        for _ in 0..8 {
            let mutated = if rng.random_bool(0.5) {
                mutate_base(&files, &mut rng)
            } else {
                mutate(&files, &other, &mut rng)
            };
            in_range(&read(&mutated).base, rounds)?;
            bytes += mutated.iter().map(|file| file.content.len()).sum::<usize>();
            let ours = if rng.random_bool(0.3) { VaultContents::default() } else { held.clone() };
            let plan = stable(&mutated, &ours, now, rounds, &mut rng, args.plant)?;
            problems += plan.problems.len();
            conflicts += plan.conflicts.len();
            steps += plan.steps.len();
            commands(&mutated, &mut rng);
            rounds += 1;
        }
        let text = noise(&mut rng, 60);
        if !text.contains('\0') {
            ensure!(decode(&encode(&text)) == text, "round {rounds}: {text:?} does not come back");
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{rounds} mutated vaults in {seconds:.0} s ({:.0} a second), {:.1} MB, seed {}; {steps} \
         steps, {conflicts} conflicts, {problems} problems, no panic",
        rounds as f64 / seconds,
        bytes as f64 / 1e6,
        args.seed
    );
    ensure!(!args.plant, "the planted fault was not found");
    Ok(())
}

/// A rendered vault is read unchanged, and plans no changes.
fn unchanged(held: &VaultContents, files: &[File], now: Timestamp, round: u64) -> Result<()> {
    let read = read(files);
    ensure!(read.base == Base::of(held, now), "round {round}: the base is another");
    ensure!(read.notes.is_empty(), "round {round}: an unexpected note: {:?}", read.notes);
    let plan = plan(&read, held, &MissingContent::default(), now);
    let quiet = plan.conflicts.is_empty() && plan.problems.is_empty();
    ensure!(plan.is_empty() && quiet, "round {round}: an unchanged vault plans {plan:?}");
    Ok(())
}

/// Turn ranges that were read from a base must be possible for a session. Readers iterate over them
/// turn by turn.
fn in_range(base: &Base, round: u64) -> Result<()> {
    const MAX_TURNS: i32 = 1_000_000;
    for episode in &base.episodes {
        let (first, last) = (episode.first_turn, episode.last_turn);
        ensure!(
            (1..=MAX_TURNS).contains(&first) && (first..=MAX_TURNS).contains(&last),
            "round {round}: an episode of the turns {first} to {last} was read"
        );
    }
    Ok(())
}

/// Changes values inside the lines of the base: numbers, dates, lists, strings.
fn mutate_base(files: &[File], rng: &mut StdRng) -> Vec<File> {
    let mut files = files.to_vec();
    for file in files.iter_mut().filter(|file| file.path == BASE) {
        file.content = mutate_lines(&file.content, rng);
    }
    files
}

/// Reading and writing again gives the same result the next time.
fn stable(
    files: &[File],
    held: &VaultContents,
    now: Timestamp,
    round: u64,
    rng: &mut StdRng,
    plant: bool,
) -> Result<SyncPlan> {
    let once = read(files);
    let known: BTreeSet<_> = held.versions.iter().map(|version| version.fact).collect();
    let based = once.base.memories.iter().map(|b| b.memory.fact);
    let missing = MissingContent {
        facts: based.filter(|fact| !known.contains(fact) && rng.random_bool(0.5)).collect(),
        everything: held.versions.is_empty(),
    };
    let first = plan(&once, held, &missing, now);
    let mut settled = settle(&once, &first, held, now);
    let twice = read(&settled);
    let second = plan(&twice, held, &missing, now);
    if plant && let Some(file) = settled.first_mut() {
        file.content.push('x');
    }
    let again = settle(&twice, &second, held, now);
    ensure!(
        again == settled,
        "round {round}: written twice, and not the same: {}",
        differ(&settled, &again)
    );
    Ok(first)
}

fn differ(one: &[File], two: &[File]) -> String {
    let find = |path: &str| two.iter().find(|file| file.path == path).map(|f| f.content.as_str());
    let other = one.iter().find(|file| find(&file.path) != Some(&file.content));
    other.map_or_else(
        || "a file more".to_owned(),
        |file| format!("{}\n{:?}\n{:?}", file.path, file.content, find(&file.path)),
    )
}

/// The files if nothing is applied: every planned change stays as it is in the files.
fn settle(read: &ParsedVault, plan: &SyncPlan, held: &VaultContents, now: Timestamp) -> Vec<File> {
    let mut facts = plan.held.clone();
    let mut kept = plan.kept.clone();
    for step in &plan.steps {
        facts.extend(step.fact);
        kept.extend(step.entry);
    }
    for version in &plan.restores {
        facts.insert(version.fact);
        kept.extend(plan.lines.get(&version.fact).into_iter().flatten());
    }
    let entries = read.entries.iter().enumerate().filter(|(index, _)| kept.contains(index));
    let waits = |link: &&lukasa_core::Link| facts.contains(&link.from) || facts.contains(&link.to);
    let kept = PreservedParts {
        base: Some(&read.base),
        entries: entries.map(|(_, entry)| entry).collect(),
        notes: &read.notes,
        fronts: read.fronts.clone(),
        links: read.base.links.iter().filter(waits).cloned().collect(),
        facts,
    };
    render(held, now, &kept)
}

/// Random text.
fn noise(rng: &mut StdRng, most: usize) -> String {
    let count = rng.random_range(0..most);
    (0..count)
        .map(|_| match rng.random_range(0..4) {
            0 => rng.random_range(' '..='~'),
            1 => ['#', '^', '*', '(', ')', '&', ';', '<', '>', '-', ' ', '\n']
                [rng.random_range(0..12)],
            2 => rng.random::<char>(),
            _ => char::from(rng.random_range(0..32_u8)),
        })
        .collect()
}

fn mutate(files: &[File], other: &[File], rng: &mut StdRng) -> Vec<File> {
    let mut files = files.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let Some(index) = (!files.is_empty()).then(|| rng.random_range(0..files.len())) else {
            break;
        };
        let mut bytes = std::mem::take(&mut files[index].content).into_bytes();
        let place = |rng: &mut StdRng, bytes: &[u8]| rng.random_range(0..=bytes.len());
        match rng.random_range(0..14) {
            0 => {
                for _ in 0..rng.random_range(1..9) {
                    let at = place(rng, &bytes);
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << rng.random_range(0..8);
                    }
                }
            }
            1 => bytes.truncate(place(rng, &bytes)),
            2 => {
                let (from, to) = (place(rng, &bytes), place(rng, &bytes));
                bytes.drain(from.min(to)..from.max(to));
            }
            3 => {
                let text = noise(rng, 40);
                let at = place(rng, &bytes);
                bytes.splice(at..at, text.into_bytes());
            }
            4 => {
                let from =
                    other.choose(rng).map(|file| file.content.as_bytes()).unwrap_or_default();
                let (one, two) = (place(rng, from), place(rng, from));
                let at = place(rng, &bytes);
                bytes.splice(at..at, from[one.min(two)..one.max(two)].iter().copied());
            }
            5 => {
                let at = place(rng, &bytes);
                let huge = rng.random_range(1..20_000);
                let letter = *[b'x', b'#', b' ', b'-', b'&', b'\n'].choose(rng).unwrap_or(&b'x');
                bytes.splice(at..at, std::iter::repeat_n(letter, huge));
            }
            6 => bytes = String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes(),
            7 | 8 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut lines: Vec<&str> = text.lines().collect();
                if lines.len() > 1 {
                    let (one, two) =
                        (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
                    match rng.random_range(0..3) {
                        0 => lines.swap(one, two),
                        1 => lines.insert(one, lines[two]),
                        _ => drop(lines.remove(one)),
                    }
                }
                bytes = lines.join("\n").into_bytes();
            }
            9 => {
                let name = match rng.random_range(0..3) {
                    0 => noise(rng, 12),
                    1 => "domains/work.md".to_owned(),
                    _ => "profile.md".to_owned(),
                };
                files[index].path = name;
            }
            10 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let cut = text.replacen(
                    " ^mem-",
                    [" ^mem", " ^mem-0", "\n ^mem-", ""][rng.random_range(0..4)],
                    1,
                );
                bytes = cut.into_bytes();
            }
            11 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                bytes = format!("---\nx: {}\n---\n{text}", noise(rng, 9)).into_bytes();
            }
            12 => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let extra =
                    ["\n  more words", "\n\nA note.\n\n## Mine\n- new", "\n1. one\n2. two\n\ttab"];
                bytes = (text + extra[rng.random_range(0..3)]).into_bytes();
            }
            _ => {
                files.remove(index);
                continue;
            }
        }
        files[index].content = String::from_utf8_lossy(&bytes).into_owned();
    }
    files
}

/// The commands of the memory tool, on the same files; they only must not fail.
fn commands(files: &[File], rng: &mut StdRng) {
    let mut files = files.to_vec();
    let path = |rng: &mut StdRng| match rng.random_range(0..3) {
        0 => format!("/memories/{}", noise(rng, 10)),
        1 => "/memories".to_owned(),
        _ => "/memories/profile.md".to_owned(),
    };
    let command = match rng.random_range(0..6) {
        0 => Command::View { path: path(rng), range: Some((rng.random(), rng.random())) },
        1 => Command::Create { path: path(rng), text: noise(rng, 50) },
        2 => Command::Replace { path: path(rng), old: noise(rng, 3), new: noise(rng, 9) },
        3 => Command::Insert {
            path: path(rng),
            line: rng.random_range(-2..30),
            text: noise(rng, 30),
        },
        4 => Command::Delete { path: path(rng) },
        _ => Command::Rename { from: path(rng), to: path(rng) },
    };
    let _ = command.run(&mut files);
    let _ = as_bullets(&noise(rng, 50), &Home::Profile);
}
