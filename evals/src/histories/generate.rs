//! The generator: draws the next step of a history from the state of the model.
//!
//! Most steps are about something that exists and could succeed, because a history of refusals
//! proves little. Some are wrong on purpose, often enough that every refusal occurs: foreign and
//! erased memories, stale versions, dates out of range, keys used twice, a clock that stops or runs
//! backwards.

use lukasa_core::{Claim, Edit, Force, Origin, State, Status, Tier};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::json;

use super::fixture::{USERS, canary};
use super::model::{Row, UserModel};
use super::perform::EVERYTHING;
use super::step::{
    Action, Answer, DAY, Key, Matching, New, No, Point, SECOND, START, Shown, Speaker, Step,
    Target, UNKNOWN,
};

const VERBS: [&str; 3] = ["likes", "drinks", "avoids"];
const THINGS: [&str; 5] = ["tea", "coffee", "maté", "cocoa", "Tea with milk"];
const PLACES: [(&str, &str); 3] = [("food", "diet"), ("food", "drink"), ("schedule", "earliest")];
const RELATIONS: [&str; 3] = ["goes_with", "contradicts", "relates_to"];

/// Base weights of the verbs; each history changes some of them.
const WEIGHTS: [(&str, u32); 17] = [
    ("save", 16),
    ("change", 12),
    ("correct", 8),
    ("forget", 7),
    ("delete", 6),
    ("restore", 7),
    ("confirm", 8),
    ("link", 7),
    ("unlink", 4),
    ("undo", 13),
    ("purge", 3),
    ("erase", 2),
    ("opt-in", 1),
    ("list", 9),
    ("get", 4),
    ("look", 4),
    ("retry", 6),
];

pub struct Author {
    rng: StdRng,
    seed: u64,
    now: i64,
    /// Weights of the users: one of them leads, so that some memory gets a long history.
    shares: [u32; USERS],
    /// Weights of the verbs: every history favours a few, so that they occur often.
    weights: Vec<(&'static str, u32)>,
    /// Percentage of steps by a human. With a high one, few steps are refused.
    humans: u32,
}

/// Required state of the current row of a target.
#[derive(Clone, Copy, PartialEq)]
enum Wish {
    Active,
    Holding(i64),
    Waiting,
    Gone,
    Anything,
}

impl Author {
    pub fn new(mut rng: StdRng, seed: u64) -> Self {
        let mut shares = [1; USERS];
        shares[rng.random_range(0..USERS)] = 17;
        let mut liked = |(verb, weight): (&'static str, u32)| {
            (verb, weight * [1, 1, 2, 5][rng.random_range(0..4)])
        };
        let weights = WEIGHTS.into_iter().map(&mut liked).collect();
        let humans = [30, 60, 95][rng.random_range(0..3)];
        Self { rng, seed, now: START, shares, weights, humans }
    }

    pub fn length(&mut self, steps: Option<usize>) -> usize {
        let drawn = self.rng.random_range(20..=40);
        steps.unwrap_or(drawn)
    }

    pub fn next(&mut self, models: &[UserModel], script: &[Step]) -> Step {
        let users: Vec<usize> = (0..USERS).collect();
        let shares = self.shares;
        let user = users.choose_weighted(&mut self.rng, |i| shares[*i]).copied().unwrap_or(0);
        self.pass();
        let no = script.last().map_or(0, |step| step.no + 1);
        let verb = self.weights.choose_weighted(&mut self.rng, |(_, weight)| *weight);
        let verb = verb.map_or("save", |(verb, _)| *verb);
        if let Some(first) = self.earlier_request(user, script).filter(|_| verb == "retry") {
            return Step { no, now: self.now, ..first.clone() };
        }
        if verb == "purge" && self.one_in(2) {
            self.now += 31 * DAY;
        }
        let verb = self.sensible(verb, &models[user]);
        let speaker = self.speaker();
        let action = self.action(verb, user, models);
        let key = (!action.reads() && self.one_in(4)).then(|| {
            // A key that is used for two different requests must be refused.
            let name = if self.one_in(6) { self.rng.random_range(0..8) } else { no };
            Key { name: u8::try_from(name).unwrap_or(u8::MAX), request: no }
        });
        let matching = match self.rng.random_range(0..20) {
            0 if action.target().is_some() => Matching::Stale,
            1 if action.target().is_some() => Matching::Fresh,
            _ => Matching::Absent,
        };
        let speaker = if is_rule(&action) { Speaker::Human } else { speaker };
        Step { no, user, speaker, now: self.now, key, matching, action }
    }

    /// Most of the time, replaces a verb that has nothing to work on.
    fn sensible(&mut self, verb: &'static str, model: &UserModel) -> &'static str {
        if self.one_in(10) {
            return verb;
        }
        let tied = model.ties.iter().any(|tie| tie.closed_by.is_none());
        let gone = !current_rows(model, Wish::Gone).is_empty();
        let lively = current_rows(model, Wish::Holding(self.now)).len();
        match if verb == "unlink" && !tied { "link" } else { verb } {
            _ if model.facts.is_empty() => "save",
            "link" if lively < 2 => "save",
            "change" | "correct" | "forget" if lively == 0 && gone => "restore",
            "change" | "correct" | "forget" if lively == 0 => "save",
            "restore" if !gone => self.pick(&["forget", "delete"]),
            "save" if model.facts.len() > 3 => self.pick(&["change", "delete", "undo"]),
            verb => verb,
        }
    }

    fn action(&mut self, verb: &str, user: usize, models: &[UserModel]) -> Action {
        let model = &models[user];
        match verb {
            "change" => {
                let target = self.target(user, models, Wish::Active);
                let edit = self.edit(user, model, &target);
                let effective = (!self.one_in(2)).then(|| self.date(model, &target));
                Action::Change { target, edit, effective, confidence: self.confidence() }
            }
            "correct" => {
                let target = self.target(user, models, Wish::Active);
                let edit =
                    if self.one_in(3) { Edit::default() } else { self.edit(user, model, &target) };
                let dated = edit.is_empty() || self.one_in(4);
                let from = (dated && !self.one_in(3)).then(|| self.date(model, &target));
                let until = (dated && !self.one_in(3))
                    .then(|| (!self.one_in(4)).then(|| self.date(model, &target)));
                Action::Correct { target, edit, from, until }
            }
            "forget" => Action::Forget(self.target(user, models, Wish::Active)),
            "delete" => Action::Delete(self.target(user, models, Wish::Anything)),
            "restore" => Action::Restore(self.target(user, models, Wish::Gone)),
            "erase" => Action::Erase(self.target(user, models, Wish::Anything)),
            "confirm" => self.confirmation(user, models),
            "link" => {
                let from = self.target(user, models, Wish::Holding(self.now));
                let mut to = self.target(user, models, Wish::Holding(self.now));
                let others = current_rows(model, Wish::Holding(self.now));
                let other = others.iter().find(|row| !is_named(&from, row.fact));
                if let (true, Some(other)) = (!self.one_in(6), other) {
                    to = Target::Fact(other.fact);
                }
                let relation = if self.one_in(25) { "Goes With" } else { self.pick(&RELATIONS) };
                Action::Link { from, to, relation: relation.to_owned() }
            }
            "unlink" => self.parting(user, models),
            "undo" if self.one_in(6) => Action::UndoLast,
            "undo" => Action::Undo(self.operation(user, models)),
            "purge" => Action::Purge,
            "opt-in" => {
                let domain = self.pick(&["health", "finance", "astrology"]).to_owned();
                Action::OptIn { domain, open: !self.one_in(3) }
            }
            "list" => {
                let status = Status::ALL.choose(&mut self.rng).copied();
                let status = status.filter(|_| !self.one_in(2));
                let page = if self.one_in(3) { self.rng.random_range(1..4) } else { EVERYTHING };
                Action::List { status, point: self.point(model, None), page }
            }
            "get" => {
                let target = self.target(user, models, Wish::Anything);
                let point = self.point(model, Some(&target));
                Action::Get { target, point }
            }
            "look" => match self.rng.random_range(0..3) {
                0 => Action::Versions(self.target(user, models, Wish::Anything)),
                1 => Action::Links(self.target(user, models, Wish::Active)),
                _ => Action::Log,
            },
            _ => self.saving(user, model),
        }
    }

    // ------------------------------------------------------------ verbs with more parameters

    fn saving(&mut self, user: usize, model: &UserModel) -> Action {
        let proposal = self.one_in(5);
        let mut claim = match current_rows(model, Wish::Active).choose(&mut self.rng) {
            // The same content again, in another case.
            Some(row) if self.one_in(5) => {
                let content = match self.rng.random_range(0..3) {
                    0 => row.claim.content.to_uppercase(),
                    1 => format!("  {} \n", row.claim.content),
                    _ => row.claim.content.clone(),
                };
                Claim { content, summary: None, ..row.claim.clone() }
            }
            _ => {
                let content = self.words(user);
                self.claim(&content)
            }
        };
        if self.one_in(40) {
            claim.content = "   ".into();
        } else if self.one_in(40) {
            claim.domain = Some(self.pick(&["astrology", "health"]).to_owned());
        }
        let far = |author: &mut Self| author.now + author.offset();
        let from = self.one_in(4).then(|| far(self));
        let until = match self.rng.random_range(0..12) {
            0 => Some(self.now + self.rng.random_range(1..120) * SECOND),
            1 => Some(far(self)),
            _ => None,
        };
        let tier = if self.one_in(4) { Tier::Tentative } else { Tier::Strong };
        let session = self.one_in(3).then(|| "session-1".to_owned());
        let confidence = self.confidence();
        Action::Save(Box::new(New { claim, from, until, confidence, tier, session, proposal }))
    }

    fn claim(&mut self, content: &str) -> Claim {
        let mut claim = Claim::saying(content);
        claim.importance = self.pick(&[0.5, 0.25, 0.9]);
        if self.one_in(5) {
            claim.summary = Some("in short".into());
        }
        if self.one_in(6) {
            let kind = "said".to_owned();
            let description = format!("so they said: {content}");
            claim.evidence = vec![lukasa_core::ClaimEvidence::of(&kind, &description)];
        }
        if self.one_in(3) {
            let (domain, key) = self.pick(&PLACES);
            claim.force = Force::Hard;
            claim.domain = Some(domain.to_owned());
            claim.key = Some(key.to_owned());
            claim.value = Some(self.value());
        } else if self.one_in(4) {
            claim.domain = Some("food".into());
        }
        claim
    }

    /// Objects have their keys in an order that PostgreSQL would not keep.
    fn value(&mut self) -> serde_json::Value {
        match self.rng.random_range(0..4) {
            0 => json!("vegan"),
            1 => json!(["vegan", 9]),
            2 => json!({ "longer": 1, "b": [true, null], "a": { "zz": 1, "y": 2.5 } }),
            _ => json!(self.rng.random_range(0..3)),
        }
    }

    fn edit(&mut self, user: usize, model: &UserModel, target: &Target) -> Edit {
        let content = self.words(user);
        match self.rng.random_range(0..24) {
            // The content that is there already.
            0..3 => {
                let row = model.find(target, self.now).ok();
                let row = row.and_then(|fact| model.current(fact, self.now));
                let content = row.map_or(content, |row| row.claim.content.clone());
                Edit { content: Some(content), ..Edit::default() }
            }
            3..5 => Edit { importance: Some(self.pick(&[0.1, 0.7])), ..Edit::default() },
            5 => Edit { summary: Some(Some("shorter".into())), ..Edit::content(&content) },
            6..9 => {
                let (domain, key) = self.pick(&PLACES);
                Edit {
                    force: Some(Force::Hard),
                    domain: Some(Some(domain.to_owned())),
                    key: Some(Some(key.to_owned())),
                    value: Some(Some(self.value())),
                    ..Edit::content(&content)
                }
            }
            9 => Edit { value: Some(Some(self.value())), ..Edit::default() },
            10 => Edit {
                force: Some(Force::Soft),
                domain: Some(None),
                key: Some(None),
                value: Some(None),
                ..Edit::default()
            },
            11 if self.one_in(2) => {
                let domain = self.pick(&["astrology", "health"]);
                Edit { domain: Some(Some(domain.to_owned())), ..Edit::content(&content) }
            }
            _ => Edit::content(&content),
        }
    }

    fn confirmation(&mut self, user: usize, models: &[UserModel]) -> Action {
        let wish = if self.one_in(2) { Wish::Waiting } else { Wish::Active };
        let target = self.target(user, models, wish);
        if self.one_in(6) {
            return Action::Confirm { target, answer: Answer::No };
        }
        let shown = match self.rng.random_range(0..8) {
            0 => Shown::Nothing,
            1 => Shown::OtherWords,
            _ => Shown::TheWords,
        };
        let edit = match wish == Wish::Waiting && self.one_in(3) || self.one_in(15) {
            true => self.edit(user, &models[user], &target),
            false => Edit::default(),
        };
        let edit = Box::new(edit);
        Action::Confirm { target, answer: Answer::Yes { shown, edit } }
    }

    fn parting(&mut self, user: usize, models: &[UserModel]) -> Action {
        let anywhere = if self.one_in(8) { self.rng.random_range(0..USERS) } else { user };
        let ties = &models[anywhere].ties;
        let open: Vec<_> = ties.iter().filter(|tie| tie.closed_by.is_none()).collect();
        let Some(tie) = open.choose(&mut self.rng).copied().or(ties.last()) else {
            let of = self.target(user, models, Wish::Anything);
            return Action::Unlink { of, link: UNKNOWN };
        };
        let of = match self.rng.random_range(0..10) {
            0 => self.target(user, models, Wish::Anything),
            1..5 => Target::Fact(tie.from),
            _ => Target::Fact(tie.to),
        };
        Action::Unlink { of, link: tie.no }
    }

    /// An operation to undo: the last one, an undo, any of them, another user's, or none.
    fn operation(&mut self, user: usize, models: &[UserModel]) -> No {
        let ops = &models[user].ops;
        let last = ops.last().map_or(UNKNOWN, |op| op.no);
        match self.rng.random_range(0..20) {
            0 => UNKNOWN,
            1 => {
                let others = models.iter().enumerate().filter(|(other, _)| *other != user);
                let theirs: Vec<No> =
                    others.flat_map(|(_, other)| other.ops.iter().map(|op| op.no)).collect();
                theirs.choose(&mut self.rng).copied().unwrap_or(UNKNOWN)
            }
            2..7 => {
                let undos: Vec<No> =
                    ops.iter().filter(|op| op.undoes.is_some()).map(|op| op.no).collect();
                undos.choose(&mut self.rng).copied().unwrap_or(last)
            }
            7..11 => ops.choose(&mut self.rng).map_or(UNKNOWN, |op| op.no),
            _ => last,
        }
    }

    fn earlier_request<'s>(&mut self, user: usize, script: &'s [Step]) -> Option<&'s Step> {
        let keyed: Vec<&Step> =
            script.iter().filter(|step| step.user == user && step.key.is_some()).collect();
        keyed.choose(&mut self.rng).copied()
    }

    // ------------------------------------------------------------ building blocks

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_ratio(1, n)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())]
    }

    fn confidence(&mut self) -> Option<f32> {
        (!self.one_in(4)).then(|| self.pick(&[0.4, 0.8, 1.0]))
    }

    fn words(&mut self, user: usize) -> String {
        format!("{} {} {}", self.pick(&VERBS), self.pick(&THINGS), canary(self.seed, user))
    }

    fn speaker(&mut self) -> Speaker {
        if self.rng.random_range(0..100) < self.humans {
            return Speaker::Human;
        }
        match self.rng.random_range(0..50) {
            // What assistants, tools and imports may write is decided by admission, not by the
            // record.
            0..30 => Speaker::Key(Origin::UserTurn),
            30..45 => Speaker::Extractor(Origin::UserTurn),
            _ => Speaker::Extractor(Origin::Document),
        }
    }

    /// Advances the clock; now and then it stops or is set back.
    fn pass(&mut self) {
        self.now += match self.rng.random_range(0..40) {
            0..4 => 0,
            4..6 => 1,
            6 => -self.rng.random_range(1..50),
            7 => -self.rng.random_range(1..10 * SECOND),
            8 => -self.rng.random_range(1..2 * DAY),
            9..30 => self.rng.random_range(1..60 * SECOND),
            30..36 => self.rng.random_range(1..DAY / 4),
            36..39 => self.rng.random_range(1..10 * DAY),
            _ => 31 * DAY,
        };
    }

    fn offset(&mut self) -> i64 {
        let scale = self.pick(&[50, 10 * SECOND, 3_600 * SECOND, DAY, 40 * DAY]);
        self.rng.random_range(-scale..scale)
    }

    /// A date near an event of the target, or near now.
    fn date(&mut self, model: &UserModel, target: &Target) -> i64 {
        let fact = model.find(target, self.now).ok();
        let rows: Vec<&Row> = model.rows.iter().filter(|row| Some(row.fact) == fact).collect();
        let edge = match (rows.choose(&mut self.rng), self.rng.random_range(0..6)) {
            (Some(row), 0) => row.valid.from,
            (Some(row), 1) if row.valid.until < self.now + 1_000 * DAY => row.valid.until,
            (Some(row), 2) => row.valid.from + (self.now - row.valid.from) / 2,
            (Some(row), 3) => row.known.from,
            _ => return self.now + self.offset(),
        };
        edge + self.pick(&[0, 0, 1, -1])
    }

    fn point(&mut self, model: &UserModel, target: Option<&Target>) -> Point {
        let fact = model.rows.choose(&mut self.rng).map_or(UNKNOWN, |row| row.fact);
        let near = target.cloned().unwrap_or(Target::Fact(fact));
        let known = model.ops.choose(&mut self.rng).map(|op| op.at);
        let known = known.map(|at| at + self.pick(&[0, 0, -1, 1, SECOND]));
        let valid = Some(self.date(model, &near));
        match self.rng.random_range(0..10) {
            0 => Point::default(),
            1 => Point { valid, known: None },
            2 => Point { valid: None, known },
            _ => Point { valid, known },
        }
    }

    fn target(&mut self, user: usize, models: &[UserModel], wish: Wish) -> Target {
        let model = &models[user];
        match self.rng.random_range(0..50) {
            0 => return Target::Fact(UNKNOWN),
            1 => {
                let erased: Vec<No> = model.erased.iter().copied().collect();
                return Target::Fact(erased.choose(&mut self.rng).copied().unwrap_or(UNKNOWN));
            }
            2 | 3 => {
                let others = models.iter().enumerate().filter(|(other, _)| *other != user);
                let theirs: Vec<No> = others.flat_map(|(_, other)| other.facts.clone()).collect();
                return Target::Fact(theirs.choose(&mut self.rng).copied().unwrap_or(UNKNOWN));
            }
            4..10 => return Target::Words(self.name(model)),
            10..14 => {
                let all: Vec<No> = model.facts.iter().copied().collect();
                return Target::Fact(all.choose(&mut self.rng).copied().unwrap_or(UNKNOWN));
            }
            _ => {}
        }
        let fitting = current_rows(model, wish);
        // Often the one touched last, so that steps build upon each other.
        let last = fitting.iter().max_by_key(|row| row.known.from).copied();
        let row = match self.one_in(2) {
            true => last.or(model.rows.last()),
            false => fitting.choose(&mut self.rng).copied().or(model.rows.last()),
        };
        Target::Fact(row.map_or(UNKNOWN, |row| row.fact))
    }

    /// Words that may occur in one memory, in several or in none.
    fn name(&mut self, model: &UserModel) -> String {
        let row = current_rows(model, Wish::Active).choose(&mut self.rng).copied();
        let text = match (row, self.rng.random_range(0..10)) {
            (Some(row), 0..5) => row.claim.content.clone(),
            (_, 0..6) => self.pick(&THINGS).to_owned(),
            (_, 6) => self.pick(&VERBS).to_owned(),
            // The prefix of every canary, so it occurs in all of the user's memories.
            (_, 7) => "loui".to_owned(),
            (_, 8) => "zebra".to_owned(),
            _ => " ".to_owned(),
        };
        if self.one_in(2) { text.to_uppercase() } else { text }
    }
}

fn is_named(target: &Target, fact: No) -> bool {
    matches!(target, Target::Fact(no) if *no == fact)
}

/// The open rows in the required state.
fn current_rows(model: &UserModel, wish: Wish) -> Vec<&Row> {
    let fits = |row: &&Row| {
        row.open()
            && match wish {
                Wish::Active => row.state == State::Active,
                Wish::Holding(at) => row.state == State::Active && row.valid.holds(at),
                Wish::Waiting => row.waits(),
                Wish::Gone => row.gone(),
                Wish::Anything => true,
            }
    };
    model.rows.iter().filter(fits).collect()
}

/// Whether an action makes a rule, which an extraction can only propose.
fn is_rule(action: &Action) -> bool {
    match action {
        Action::Save(new) => new.claim.force == Force::Hard,
        Action::Change { edit, .. } | Action::Correct { edit, .. } => {
            edit.force == Some(Force::Hard)
        }
        _ => false,
    }
}
