//! The verdicts of the judge on one proposal about one turn, without a database: facts that users
//! state, harmless texts that look like an attack, and attacks typed as if they were meant.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use lukasa_core::learning::answer::{ExtractionOp, ProposedMemory, Quote};
use lukasa_core::learning::judge::{self, ExtractionVerdict, JudgeContext, Reason};
use lukasa_core::learning::transcript::Transcript;
use lukasa_core::{
    Domain, Ids, Kind, Policy, Role, State, Timestamp, Turn, builtin_domains, limits,
};
use lukasa_text::screen::{directive, ground, sensitive};

use super::attack::claims;
use super::data::{self, Attack};
use super::tally::{Halves, Show, is_tuned_on};

/// A new user with one turn.
struct JudgedTurn {
    transcript: Transcript,
    domains: Vec<(Domain, bool)>,
    policy: Policy,
}

impl JudgedTurn {
    fn with_turn(content: &str, marked: bool) -> Self {
        let now = Timestamp::UNIX_EPOCH;
        let turn = Turn {
            id: Ids::new(now, [1; 16]).turn(),
            session: "chat".into(),
            number: 1,
            role: Role::User,
            speaker: None,
            content: content.into(),
            origin: Role::User.origin(lukasa_core::Origin::Assistant),
            said_at: now,
            recorded_at: now,
            spans: Vec::new(),
            marked,
        };
        Self {
            transcript: Transcript::of(&[turn], &[]),
            domains: builtin_domains().into_iter().map(|domain| (domain, false)).collect(),
            policy: Policy::default(),
        }
    }

    fn judge(&self, items: &[ProposedMemory]) -> Vec<ExtractionVerdict> {
        let standing = BTreeMap::new();
        let scene = JudgeContext {
            transcript: &self.transcript,
            offered: &[],
            standing: &standing,
            domains: &self.domains,
            policy: &self.policy,
            project: None,
        };
        judge::judge_all(items, &[], &scene)
    }
}

fn proposal(content: &str, quote: &str, kind: Kind) -> ProposedMemory {
    ProposedMemory {
        op: ExtractionOp::Add,
        target: None,
        content: content.into(),
        memory_type: None,
        kind,
        domain: None,
        importance: 0.8,
        confidence: 0.9,
        until: None,
        reasoning: None,
        evidence: vec![Quote { turn: Some(1), text: quote.into() }],
    }
}

/// The outcome in one word.
fn fate(verdict: &ExtractionVerdict) -> &'static str {
    match verdict {
        ExtractionVerdict::Keep(kept)
        | ExtractionVerdict::Change { kept, .. }
        | ExtractionVerdict::Restate { kept, .. }
        | ExtractionVerdict::Contest { kept, .. }
        | ExtractionVerdict::Reinforce { kept, .. } => kept.state.as_str(),
        ExtractionVerdict::Leave(left) => left.reason.as_str(),
    }
}

fn is_active(verdict: &ExtractionVerdict) -> bool {
    matches!(verdict, ExtractionVerdict::Keep(kept) if kept.state == State::Active)
}

/// Why a proposal about these words is not simply accepted.
fn why(claim: &str, turn: &str) -> String {
    let found = |name: &str, is: bool| if is { format!(" {name}") } else { String::new() };
    [
        found("order-in-claim", directive::is_directive(claim)),
        found("leave-in-claim", directive::authorises(claim)),
        found("commands", directive::commands(turn)),
        found("leave-in-turn", directive::authorises(turn)),
        found("of-a-user", directive::speaks_of_a_user(turn)),
        found("not-grounded", !ground::grounded(claim, &[turn])),
        sensitive::category(claim).map(|kind| format!(" {kind:?}")).unwrap_or_default(),
        sensitive::category(turn).map(|kind| format!(" turn-{kind:?}")).unwrap_or_default(),
    ]
    .concat()
}

/// Outcomes of held-out misses, without their content.
#[derive(Default)]
struct Fates(BTreeMap<String, usize>);

impl Fates {
    fn count(&mut self, id: &str, right: bool, fate: &str) {
        if !right && !is_tuned_on(id) {
            *self.0.entry(fate.to_owned()).or_default() += 1;
        }
    }
}

/// A user's own facts, in turns as users write them.
pub fn clean() -> Result<Halves> {
    let mut halves = Halves::default();
    let mut fates = Fates::default();
    for fact in data::clean()? {
        let kind = Kind::parse(&fact.kind).unwrap_or(Kind::Fact);
        let verdicts = JudgedTurn::with_turn(&fact.turn, true).judge(&[proposal(
            &fact.claim,
            &fact.quote,
            kind,
        )]);
        let became = verdicts.first().map_or("nothing", fate);
        let right = verdicts.iter().all(is_active);
        fates.count(&fact.id, right, &format!("{became}{}", why(&fact.claim, &fact.turn)));
        halves.count(&fact.id, right, || {
            let why = why(&fact.claim, &fact.turn);
            format!("{}: {became}{why} | {} | {}", fact.id, fact.claim, fact.turn)
        });
    }
    println!("clean facts of the held out half became: {:?}", fates.0);
    Ok(halves)
}

/// Harmless texts of the public corpus. They are blocked if they are classified as an order or left
/// out; that a private matter waits for its domain is another rule.
pub fn harmless(data: &Path) -> Result<Halves> {
    let mut halves = Halves::default();
    let mut fates = Fates::default();
    for item in data::corpus(data)?.iter().filter(|item| item.kind == "benign") {
        let quote: String = item.payload.trim().chars().take(limits::EVIDENCE_CHARS).collect();
        let content: String = quote.chars().take(limits::CONTENT_CHARS).collect();
        let judged_turn = JudgedTurn::with_turn(&item.payload, true);
        let verdicts = judged_turn.judge(&[proposal(&content, &quote, Kind::Context)]);
        let blocked = verdicts.iter().any(|verdict| match verdict {
            ExtractionVerdict::Keep(kept) => kept.state == State::Proposed,
            ExtractionVerdict::Leave(left) => left.reason != Reason::ClosedDomain,
            _ => false,
        });
        let became = verdicts.first().map_or("nothing", fate);
        fates.count(&item.id, !blocked, &format!("{became}{}", why(&content, &item.payload)));
        halves.count(&item.id, !blocked, || {
            let why = why(&content, &item.payload);
            format!("{}: {became}{why} {:.300?}", item.id, item.payload)
        });
    }
    println!("harmless texts of the held out half became: {:?}", fates.0);
    Ok(halves)
}

/// Our attacks, typed as if the user meant them. First: the memory that the attacker wants, with
/// the words he would cite, is not accepted without asking. Second: no wording of it is.
pub fn attacks(show: Show) -> Result<(Halves, Halves)> {
    let (mut wanted, mut any) = (Halves::default(), Halves::default());
    for attack in data::attacks()? {
        let judged_turn = JudgedTurn::with_turn(&attack.payload, false);
        let believed =
            |claim: &str| judged_turn.judge(&proposals(&attack, &[claim])).iter().any(is_active);
        let claim = attack.claim.clone().unwrap_or_else(|| attack.payload.clone());
        let line = || format!("{}: {claim} | {:.300}", attack.id, attack.payload);
        wanted.count(&attack.id, !believed(&claim), line);
        any.count(&attack.id, !claims(&attack).iter().any(|claim| believed(claim)), line);
    }
    wanted.print("typed attacks whose claim is not believed unasked", show);
    any.print("typed attacks of which no wording is", show);
    Ok((wanted, any))
}

fn proposals(attack: &Attack, claims: &[&str]) -> Vec<ProposedMemory> {
    let quote = attack.quote.clone().unwrap_or_else(|| attack.payload.trim().to_owned());
    let quote: String = quote.chars().take(limits::EVIDENCE_CHARS).collect();
    claims.iter().map(|claim| proposal(claim, &quote, Kind::Preference)).collect()
}

/// Measures the judging of an answer with 36 proposals about a long text.
pub fn speed() -> Result<()> {
    const TIMES: u32 = 10;
    let facts = data::clean()?;
    let text: Vec<&str> = facts.iter().take(60).map(|fact| fact.turn.as_str()).collect();
    let text = text.join("\n");
    let items: Vec<ProposedMemory> =
        facts.iter().take(36).map(|fact| proposal(&fact.claim, &fact.quote, Kind::Fact)).collect();
    let one = |text: &str| {
        let judged_turn = JudgedTurn::with_turn(text, true);
        judged_turn.judge(&items).len()
    };
    let attacks = data::attacks()?;
    let longest = attacks.iter().max_by_key(|attack| attack.payload.len());
    let mut hostile = Vec::new();
    if let Some(attack) = longest {
        let all = claims(attack);
        let all: Vec<&str> = all.iter().map(String::as_str).cycle().take(36).collect();
        hostile = proposals(attack, &all);
    }
    one(&text);
    let begun = Instant::now();
    (0..TIMES).for_each(|_| {
        one(&text);
    });
    let honest = begun.elapsed() / TIMES;
    let begun = Instant::now();
    (0..TIMES).for_each(|_| {
        if let Some(attack) = longest {
            JudgedTurn::with_turn(&attack.payload, false).judge(&hostile);
        }
    });
    println!("36 proposals judged over {} characters: {honest:.1?}", text.chars().count());
    println!("36 proposals judged about one attack: {:.1?}", begun.elapsed() / TIMES);
    Ok(())
}
