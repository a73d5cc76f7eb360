//! Mutations of JSON values for the fuzz targets: numbers and dates at the ends of their ranges,
//! empty or long lists, other types, missing fields; and a watchdog for rounds that do not end.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

/// Changes up to three places of a JSON value.
pub fn mutate(value: &mut Value, rng: &mut StdRng) {
    for _ in 0..rng.random_range(1..=3) {
        let places = count(value);
        let mut place = rng.random_range(0..places.max(1));
        change(value, &mut place, rng);
    }
}

/// Mutates one line of a text of JSON lines, chosen at random; sometimes cuts the text in a line.
pub fn mutate_lines(text: &str, rng: &mut StdRng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..rng.random_range(1..=2) {
        if lines.is_empty() {
            break;
        }
        let at = rng.random_range(0..lines.len());
        match (rng.random_range(0..12), serde_json::from_str::<Value>(&lines[at])) {
            (0, _) => {
                let cut = rng.random_range(0..=lines[at].len());
                let cut = (0..=cut).rev().find(|end| lines[at].is_char_boundary(*end));
                lines[at].truncate(cut.unwrap_or(0));
            }
            (1, _) => drop(lines.remove(at)),
            (2, _) => lines.insert(at, lines[at].clone()),
            (_, Ok(mut value)) => {
                mutate(&mut value, rng);
                lines[at] = value.to_string();
            }
            (_, Err(_)) => {}
        }
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Changes the value at a place, counted depth first; returns whether it was found.
fn change(value: &mut Value, place: &mut usize, rng: &mut StdRng) -> bool {
    if *place == 0 {
        *value = other(value, rng);
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, place, rng)),
        Value::Object(fields) => fields.values_mut().any(|field| change(field, place, rng)),
        _ => false,
    }
}

fn number(rng: &mut StdRng) -> Value {
    match rng.random_range(0..16) {
        0 => json!(-1),
        1 => json!(0),
        2 => json!(i32::MAX),
        3 => json!(i32::MIN),
        4 => json!(i64::from(i32::MAX) + 1),
        5 => json!(i64::MAX),
        6 => json!(i64::MIN),
        7 => json!(u64::MAX),
        8 => json!(1e308),
        9 => json!(-0.0),
        10 => json!(0.999_999_999),
        11 => json!(3_000_000),
        12 => json!(300_000),
        _ => json!(rng.random_range(-3..20)),
    }
}

fn text(old: &str, rng: &mut StdRng) -> Value {
    const DATES: [&str; 8] = [
        "-009999-01-02T01:59:59Z",
        "9999-12-30T22:00:00.999999999Z",
        "0001-01-01T00:00:00Z",
        "0000-12-31T23:59:59Z",
        "1970-01-01T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.000000001Z",
    ];
    let is_date = old.len() > 10 && old.as_bytes().get(4) == Some(&b'-') && old.ends_with('Z');
    match rng.random_range(0..7) {
        _ if is_date && rng.random_bool(0.8) => json!(DATES.choose(rng).unwrap_or(&"")),
        0 => json!(""),
        1 => json!("\0"),
        2 => json!(old.repeat(rng.random_range(2..200))),
        3 => json!(format!("{old}\u{202e}\n")),
        4 => {
            // Changing one character of an id makes another id.
            let at = rng.random_range(0..old.len().max(1));
            json!(
                old.char_indices().map(|(i, c)| if i == at { '7' } else { c }).collect::<String>()
            )
        }
        5 => json!("1½2½3½".repeat(rng.random_range(1..50))),
        _ => json!("x".repeat(rng.random_range(1..200_000))),
    }
}

fn other(old: &Value, rng: &mut StdRng) -> Value {
    if rng.random_bool(0.1) {
        return [Value::Null, json!(true), json!([]), json!({}), json!("x"), number(rng)]
            [rng.random_range(0..6)]
        .clone();
    }
    match old {
        Value::Number(_) => number(rng),
        Value::String(old) => text(old, rng),
        Value::Bool(old) => json!(!old),
        Value::Array(items) => match (rng.random_range(0..3), items.choose(rng)) {
            (0, _) | (_, None) => json!([]),
            (1, Some(item)) => json!(vec![item; rng.random_range(2..2_000)]),
            (_, Some(item)) => {
                let mut more = items.clone();
                more.push(item.clone());
                Value::Array(more)
            }
        },
        Value::Object(fields) => {
            let mut fields = fields.clone();
            let names: Vec<String> = fields.keys().cloned().collect();
            if let Some(name) = names.choose(rng) {
                fields.remove(name);
            }
            Value::Object(fields)
        }
        Value::Null => number(rng),
    }
}

/// Exits the process with an error if one round takes longer than a limit. A round that loops or
/// allocates without end cannot be stopped in any other way.
#[derive(Clone)]
pub struct Watchdog {
    round: Arc<AtomicU64>,
    began: Arc<Mutex<Instant>>,
}

impl Watchdog {
    pub fn start(limit: Duration, seed: u64) -> Self {
        let dog = Self { round: Arc::default(), began: Arc::new(Mutex::new(Instant::now())) };
        let watched = dog.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let began = *watched.began.lock().unwrap_or_else(PoisonError::into_inner);
                if began.elapsed() > limit {
                    let round = watched.round.load(Ordering::Relaxed);
                    eprintln!("FOUND: round {round} with seed {seed} takes longer than {limit:?}");
                    std::process::exit(1);
                }
            }
        });
        dog
    }

    /// Waits with the time of the next round until it begins, at most ten minutes.
    pub fn pause(&self) {
        let later = Instant::now() + Duration::from_secs(600);
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = later;
    }

    pub fn round(&self, round: u64) {
        self.round.store(round, Ordering::Relaxed);
        *self.began.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}
