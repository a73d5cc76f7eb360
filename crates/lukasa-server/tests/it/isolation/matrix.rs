//! Every operation, as everybody who should not get through, with every id replaced by somebody
//! else's.

use std::collections::BTreeMap;

use lukasa_core::Permission;

use super::cast::{Cast, Principal, Standing};
use super::compare::{Pair, private_word, same};
use super::request::{Asking, Route, routes};
use super::table::{Field, Foreign, Place, Row, TABLE, Use};
use super::things::Thing;
use crate::app::{Answer, Client};

/// What an attempt must be answered with.
#[derive(Debug)]
enum Expected {
    Codes(Vec<&'static str>),
    /// A good answer.
    Good,
    /// Either, as long as both answers are the same.
    Alike,
}

/// One request of the matrix: what is replaced in it, and what it must be answered with.
struct Attempt {
    what: String,
    fields: Vec<Field>,
    expected: Expected,
}

/// Naming a user is open to every request about a person.
const NAMED: Field = Field {
    place: Place::Header("X-Lukasa-User"),
    thing: Thing::User("erin"),
    foreign: Foreign::Own,
    used: Use::Tried,
};

/// The attempts of one principal on one operation.
fn attempts(row: &Row, principal: &Principal) -> Vec<Attempt> {
    let refused = refused_outright(row, principal);
    let outsider = matches!(principal.standing, Standing::Else { tenant: "globex", .. });
    let mut attempts = Vec::new();
    let mut attempt = |what: String, fields: Vec<Field>, expected: Expected| {
        let expected = refused.map_or(expected, |code| Expected::Codes(vec![code]));
        attempts.push(Attempt { what, fields, expected });
    };
    for field in row.fields.iter().filter(|field| field.used != Use::Replayed) {
        // A colleague may know what is their tenant's; only a refusal is tried then.
        if refused.is_none() && field.thing.is_of_tenant() && !outsider {
            continue;
        }
        let expected = match field.foreign {
            Foreign::Refused(codes) => Expected::Codes(codes.to_vec()),
            Foreign::Own => Expected::Good,
        };
        attempt(format!("{:?} is {:?}", field.place, field.thing), vec![*field], expected);
    }
    let whole: Vec<Field> =
        row.fields.iter().filter(|field| field.used != Use::Tried).copied().collect();
    if whole.len() > 1 || whole.iter().any(|field| field.used == Use::Replayed) {
        let foreign = |field: &Field| refused.is_some() || !field.thing.is_of_tenant() || outsider;
        let fields = whole.into_iter().filter(foreign).collect();
        attempt("the whole request is hers".into(), fields, Expected::Alike);
    }
    // Whoever is bound is held to their own name before anything else is looked at.
    let naming = match principal.standing {
        Standing::Else { bound: true, .. } => Some(Expected::Codes(vec!["wrong_user"])),
        Standing::Else { tenant: "globex", .. } => Some(Expected::Alike),
        _ => None,
    };
    if let Some(expected) = naming.filter(|_| row.is_personal()) {
        let what = "it names a user".into();
        attempts.push(Attempt { what, fields: vec![NAMED], expected });
    }
    if attempts.is_empty() {
        let expected = refused.map_or(Expected::Good, |code| Expected::Codes(vec![code]));
        let (what, fields) = ("nothing is replaced".into(), Vec::new());
        attempts.push(Attempt { what, fields, expected });
    }
    attempts
}

/// The code that a principal gets whatever they ask of this operation.
fn refused_outright(row: &Row, principal: &Principal) -> Option<&'static str> {
    let needs = row.needs?;
    let admin = needs == Permission::Admin;
    match principal.standing {
        Standing::Unknown => Some("unauthenticated"),
        Standing::Lacking => Some("forbidden"),
        // A user may end their own sign-ins; those of others do not exist for them.
        _ if row.operation == "end_sign_in" && principal.human => Some("key_not_found"),
        Standing::WrongName if admin => Some("forbidden"),
        Standing::WrongName => Some("wrong_user"),
        Standing::Else { bound: true, .. } if admin => Some("forbidden"),
        _ if is_for_humans(row) && !principal.human => Some("human_needed"),
        Standing::Else { .. } => None,
        Standing::OfTheDeleted => Some("user_deleted"),
    }
}

/// Whether the operation refuses an assistant before it looks at anything.
fn is_for_humans(row: &Row) -> bool {
    matches!(row.operation, "open_domain" | "put_policy")
}

/// Whether the operation is simply the principal's to do: a tenant's key looks after its tenant.
fn is_entitled(row: &Row, principal: &Principal) -> bool {
    let of_acme = match principal.standing {
        Standing::Else { tenant, bound } => tenant == "acme" && !bound,
        Standing::OfTheDeleted => true,
        _ => false,
    };
    of_acme && row.needs == Some(Permission::Admin)
}

/// A run over some operations, and what it found.
pub struct Matrix<'c> {
    cast: &'c Cast,
    routes: BTreeMap<String, Route>,
    /// The one answer for everybody who is not let in.
    unauthenticated: Option<Answer>,
    pub attempts: usize,
    requests: usize,
    by_standing: BTreeMap<String, usize>,
    pub faults: Vec<String>,
}

impl<'c> Matrix<'c> {
    /// Tries the rows as everybody.
    pub async fn run(cast: &'c Cast, rows: impl Iterator<Item = &Row>) -> Self {
        let document = serde_json::to_value(lukasa_server::http::document()).expect("JSON");
        let mut matrix = Self {
            cast,
            routes: routes(&document),
            unauthenticated: None,
            attempts: 0,
            requests: 0,
            by_standing: BTreeMap::new(),
            faults: Vec::new(),
        };
        let mut before = cast.state().await;
        for row in rows {
            for principal in cast.principals.iter().filter(|who| !is_entitled(row, who)) {
                for attempt in attempts(row, principal) {
                    matrix.try_one(principal, row, &attempt).await;
                }
                let after = cast.state().await;
                if after != before {
                    let changed: Vec<_> =
                        after.iter().filter(|table| !before.contains(table)).collect();
                    let (name, what) = (principal.name, row.operation);
                    matrix.faults.push(format!("{what} by {name} changed {changed:?}"));
                    before = after;
                }
            }
        }
        matrix
    }

    fn own(&self, principal: &Principal, thing: Thing) -> String {
        let own = if principal.own.has(thing) { &principal.own } else { &self.cast.alice };
        own.get(thing).to_owned()
    }

    async fn ask(
        &mut self,
        principal: &Principal,
        row: &Row,
        attempt: &Attempt,
        value: impl Fn(&Field) -> String,
    ) -> Answer {
        let mut asking = Asking::of(row, |thing| self.own(principal, thing));
        for field in &attempt.fields {
            asking = asking.with(field.place, &value(field));
        }
        let client = match (principal.standing, row.needs) {
            (Standing::Lacking, Some(needs)) => self.cast.lacking(needs),
            _ => &principal.client,
        };
        self.requests += 1;
        let answer = asking.send(client, &self.routes[row.operation]).await;
        let at = format!("{} by {}, where {}", row.operation, principal.name, attempt.what);
        if let Some(word) = private_word(&answer, &principal.foreign) {
            self.faults.push(format!("{at}: the answer holds {word}: {}", answer.text()));
        }
        let unmet = match &attempt.expected {
            Expected::Good => !answer.is_good(),
            Expected::Codes(codes) => !codes.contains(&answer.code().as_str()),
            Expected::Alike => false,
        };
        if unmet || answer.status >= 500 {
            let expected = &attempt.expected;
            let found = answer.text();
            self.faults.push(format!("{at}: {expected:?} expected, {} {found}", answer.status));
        }
        if answer.status == 401 {
            let first = self.unauthenticated.get_or_insert_with(|| answer.clone());
            if !same(first, &answer) {
                self.faults.push(format!("{at}: another 401: {answer:?}, first {first:?}"));
            }
        }
        answer
    }

    async fn try_one(&mut self, principal: &Principal, row: &Row, attempt: &Attempt) {
        self.attempts += 1;
        *self.by_standing.entry(format!("{:?}", principal.standing)).or_default() += 1;
        let alice = |field: &Field| self.cast.alice.get(field.thing).to_owned();
        let sent: Vec<(String, String)> = attempt
            .fields
            .iter()
            .map(|field| (alice(field), field.thing.twin(&alice(field))))
            .collect();
        let find = |place: Place, real: bool| {
            let at = attempt.fields.iter().position(|field| field.place == place).unwrap_or(0);
            if real { sent[at].0.clone() } else { sent[at].1.clone() }
        };
        let real = self.ask(principal, row, attempt, |field| find(field.place, true)).await;
        if attempt.fields.is_empty() {
            return;
        }
        let absent = self.ask(principal, row, attempt, |field| find(field.place, false)).await;
        let pair = Pair { real, absent, sent };
        // Whom a key of another tenant names has by now been written about there.
        let made = row.writes || attempt.fields.iter().any(|field| field.place == NAMED.place);
        if let Some(difference) = pair.difference(made) {
            let at = format!("{} by {}, where {}", row.operation, principal.name, attempt.what);
            self.faults.push(format!("{at}: {difference}"));
        }
    }
}

#[tokio::test]
async fn nobody_can_tell_what_is_somebody_elses_from_what_never_was() {
    let cast = Cast::assemble(|router| router).await;
    let matrix = Matrix::run(&cast, TABLE.iter()).await;
    println!(
        "isolation: {} operations, {} principals, {} attempts, {} requests, {} leaks; {:?}",
        TABLE.len(),
        cast.principals.len(),
        matrix.attempts,
        matrix.requests,
        matrix.faults.len(),
        matrix.by_standing,
    );
    let faults = &matrix.faults;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(matrix.attempts > 1_000, "the matrix has shrunk to {}", matrix.attempts);
    everything_was_there(&cast, &matrix.routes).await;
}

/// The other half of the proof: with her own credential Alice can do every one of these things to
/// the very ids that the others were refused.
async fn everything_was_there(cast: &Cast, routes: &BTreeMap<String, Route>) {
    let hers = |thing: Thing| cast.alice.get(thing).to_owned();
    let mut controls: Vec<(&Row, Vec<&Field>)> = Vec::new();
    for row in TABLE {
        // What is only tried above is tried here too, where that changes nothing.
        let tried = row.fields.iter().filter(|field| field.used == Use::Tried && !row.writes);
        controls.extend(tried.map(|field| (row, vec![field])));
        let again = row.fields.iter().filter(|field| field.used == Use::Replayed);
        controls.extend(again.filter(|_| row.operation == "save_memory").map(|f| (row, vec![f])));
    }
    // The operations themselves come last: some of them end what the others ask for.
    controls.extend(TABLE.iter().map(|row| (row, Vec::new())));
    for (row, fields) in controls {
        let client: &Client = if row.human { &cast.human } else { &cast.key };
        let asking = Asking::of(row, hers);
        let asking = fields
            .iter()
            .fold(asking, |asking, field| asking.with(field.place, cast.alice.get(field.thing)));
        let answer = asking.send(client, &routes[row.operation]).await;
        let (operation, text) = (row.operation, answer.text());
        assert!(answer.is_good(), "{operation} by its owner, {fields:?}: {} {text}", answer.status);
    }
}
