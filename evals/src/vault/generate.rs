//! Generated memories of every kind for a vault, with contents as odd as possible.

use lukasa_core::admission::Screening;
use lukasa_core::learning::summary::safe_summary;
use lukasa_core::vault::VaultContents;
use lukasa_core::{
    Category, Claim, ClaimEvidence, Episode, FactId, Force, Ids, Kind, Link, MemoryType, Origin,
    Period, State, Tier, Timestamp, Version,
};
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::{Value, json};

/// The domains without opt-in.
pub const DOMAINS: [&str; 7] =
    ["communication", "food", "personal", "schedule", "shopping", "travel", "work"];

/// Pieces that a careless markdown parser trips over, among ordinary words.
const PIECES: [&str; 48] = [
    "tea",
    "window",
    "seats",
    "Lisbon",
    "short",
    "sentences",
    "Sundays",
    "plums",
    "never",
    "always",
    "the",
    "and",
    "likes",
    "works",
    "#tag",
    "#1",
    "^mem-x",
    "^abc",
    "*(inferred, 80 % sure)*",
    "*(rule x)*",
    "**bold**",
    "_x_",
    "`code`",
    "<br>",
    "<b>",
    "&#35;",
    "&amp;",
    "&",
    "[[link]]",
    "- dash",
    "> quote",
    "## title",
    "→ arrow",
    "C:\\new",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "  ",
    "\u{2028}",
    "\u{a0}",
    "\u{202e}",
    "🫖",
    "e\u{301}",
    "日本語",
    "שלום",
    "ok;",
    "---",
];

/// A possible content of a memory.
pub fn words(rng: &mut StdRng) -> String {
    loop {
        let count = rng.random_range(1..12);
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(PIECES.choose(rng).copied().unwrap_or("tea"));
            if rng.random_bool(0.85) {
                text.push(' ');
            }
        }
        if rng.random_bool(0.5) {
            text = text.trim().to_owned();
        }
        // A number makes contents distinct.
        let numbered = format!("{text}{}", rng.random_range(0..1_000_000_000_u64));
        if !text.trim().is_empty() && is_stored(&Claim::saying(&numbered)) {
            return numbered;
        }
    }
}

fn value(rng: &mut StdRng) -> Value {
    match rng.random_range(0..4) {
        0 => json!(words(rng)),
        1 => json!(rng.random_range(-1e9..1e9_f64)),
        2 => json!({"b": rng.random_range(0..99), "a": [true, null, words(rng)]}),
        _ => json!(rng.random_range(0..i64::MAX)),
    }
}

/// A claim with every field. `number` makes the keys of hard ones distinct.
pub fn claim(rng: &mut StdRng, number: usize) -> Claim {
    loop {
        let claim = any_claim(rng, number);
        if is_stored(&claim) {
            return claim;
        }
    }
}

/// Whether the server stores it without asking: a number can look like a secret.
fn is_stored(claim: &Claim) -> bool {
    let screening = Screening::of(claim);
    screening.secret.is_none() && screening.sensitive.is_none()
}

fn any_claim(rng: &mut StdRng, number: usize) -> Claim {
    let pick = |rng: &mut StdRng, chance: f64| rng.random_bool(chance);
    let mut claim = Claim::saying(&words(rng));
    claim.category = Category::ALL.choose(rng).copied().unwrap_or(claim.category);
    claim.memory_type = MemoryType::ALL.choose(rng).copied().unwrap_or(claim.memory_type);
    claim.kind = Kind::ALL.choose(rng).copied().unwrap_or(claim.kind);
    claim.summary = pick(rng, 0.2).then(|| words(rng));
    claim.detail = pick(rng, 0.1).then(|| words(rng).repeat(5));
    claim.reasoning = pick(rng, 0.2).then(|| words(rng));
    claim.domain =
        pick(rng, 0.5).then(|| DOMAINS.choose(rng).copied().unwrap_or("food").to_owned());
    claim.importance = rng.random_range(0.0..=1.0);
    for _ in 0..rng.random_range(0..4) {
        let odd = ["two words", "日本", "a;b", "x/y", "#x", "2024", "c&d"];
        let odd = odd.choose(rng).copied().unwrap_or("x");
        let tag =
            if pick(rng, 0.7) { format!("tag{}", rng.random_range(0..50)) } else { odd.into() };
        if !claim.tags.contains(&tag) {
            claim.tags.push(tag);
        }
    }
    for _ in 0..rng.random_range(0..3) {
        let turn = pick(rng, 0.3).then(|| format!("t{}", rng.random_range(0..9)));
        claim.evidence.push(ClaimEvidence { turn, ..ClaimEvidence::of("quote", &words(rng)) });
    }
    if pick(rng, 0.15) {
        claim.force = Force::Hard;
        claim.domain = Some("travel".to_owned());
        claim.key = Some(format!("key-{number}"));
        claim.value = Some(value(rng));
    }
    claim
}

/// A possible title or summary: one that learning would have stored.
fn summary(rng: &mut StdRng) -> String {
    loop {
        let text = words(rng);
        if safe_summary(&text, &[]).is_some_and(|safe| safe == text.trim()) {
            return text;
        }
    }
}

pub fn episode(rng: &mut StdRng, ids: &mut Ids, at: Timestamp) -> Episode {
    let started_at = at + jiff::SignedDuration::from_hours(rng.random_range(0..2_000));
    Episode {
        id: ids.episode(),
        session: format!("s{}", rng.random_range(0..9)),
        first_turn: 1,
        last_turn: rng.random_range(1..9),
        title: rng.random_bool(0.7).then(|| summary(rng)),
        summary: summary(rng),
        origin: Origin::UserTurn,
        started_at,
        ended_at: started_at,
        pass: ids.pass(),
        prompt: "extract/1".to_owned(),
        recorded_at: started_at,
        searchable: true,
    }
}

/// A whole memory, made without a database, for a vault.
pub fn held(rng: &mut StdRng, now: Timestamp) -> VaultContents {
    let mut ids = Ids::new(now, rng.random());
    let operation = ids.operation();
    let mut held = VaultContents::default();
    let hour = |hours: i64| jiff::SignedDuration::from_hours(hours);
    for number in 0..rng.random_range(1..14) {
        let fact = ids.fact();
        let state = State::ALL.choose(rng).copied().unwrap_or(State::Active);
        let from = now - hour(rng.random_range(1..5_000));
        let until = rng.random_bool(0.2).then(|| now + hour(rng.random_range(-500..500)));
        let extracted = rng.random_bool(0.4);
        let version = Version {
            fact,
            id: ids.version(),
            number: rng.random_range(1..5),
            claim: claim(rng, number),
            state,
            tier: Tier::ALL.choose(rng).copied().unwrap_or(Tier::Strong),
            origin: Origin::ALL.choose(rng).copied().unwrap_or(Origin::Tool),
            extracted,
            confidence: extracted.then(|| rng.random_range(0.0..=1.0)),
            session: rng.random_bool(0.3).then(|| "s1".to_owned()),
            turns: (0..rng.random_range(0..3)).map(|n| format!("t{n}")).collect(),
            confirmed_at: None,
            last_confirmed_at: None,
            consented_at: rng.random_bool(0.1).then_some(now),
            valid: Period::new(from, until).unwrap_or(Period::since(from)),
            known: Period::since(now),
            opened_by: operation,
            closed_by: None,
            reopens: None,
        };
        held.versions.push(version);
    }
    let facts: Vec<FactId> = held.versions.iter().map(|version| version.fact).collect();
    for pair in facts.windows(2).filter(|_| rng.random_bool(0.3)) {
        held.links.push(Link {
            id: ids.link(),
            from: pair[0],
            to: pair[1],
            relation: "relates_to".to_owned(),
            known: Period::since(now),
            opened_by: operation,
            closed_by: None,
            reopens: None,
        });
    }
    for _ in 0..rng.random_range(0..3) {
        held.episodes.push(episode(rng, &mut ids, now));
    }
    held
}
