//! Every operation, as every principal that must not get through, with every id replaced by another
//! user's.

use std::collections::BTreeMap;

use lukasa_core::Permission;

use super::compare::{Pair, private_word, same};
use super::principals::{Denial, IsolationFixture, Principal};
use super::request::{RequestBuilder, Route, routes};
use super::table::{Field, Foreign, IN_SPACE, Place, Row, TABLE, Use};
use super::things::Thing;
use crate::app::{Answer, Client};

/// The response that an attempt must get.
#[derive(Debug)]
enum Expected {
    Codes(Vec<&'static str>),
    /// A 2xx response.
    Good,
    /// Either, as long as both responses are the same.
    Alike,
}

/// One request of the matrix: the fields that are replaced, and the expected response.
struct Attempt {
    what: String,
    fields: Vec<Field>,
    expected: Expected,
}

/// Every request about a user can name one.
const NAMED: Field = Field {
    place: Place::Header("X-Lukasa-User"),
    thing: Thing::User("erin"),
    foreign: Foreign::Own,
    used: Use::Tried,
};

/// The attempts of one principal on one operation.
fn attempts(row: &Row, principal: &Principal) -> Vec<Attempt> {
    let refused = refused_outright(row, principal);
    let outsider = matches!(principal.denial, Denial::OtherUser { tenant: "globex", .. });
    let mut attempts = Vec::new();
    let mut attempt = |what: String, fields: Vec<Field>, expected: Expected| {
        // A deleted user is a member of no space, which is found first.
        let in_space = fields.iter().any(is_in_space);
        let refused = refused.filter(|code| !(in_space && *code == "user_deleted"));
        let expected = refused.map_or(expected, |code| Expected::Codes(vec![code]));
        attempts.push(Attempt { what, fields, expected });
    };
    let is_tried = |field: &&Field| !matches!(field.used, Use::Replayed | Use::Fixed);
    for field in row.fields.iter().filter(is_tried) {
        // A colleague may know what belongs to the tenant; only a refusal is tried then.
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
    // A bound credential is checked against the named user before anything else.
    let naming = match principal.denial {
        Denial::OtherUser { bound: true, .. } => Some(Expected::Codes(vec!["wrong_user"])),
        Denial::OtherUser { tenant: "globex", .. } => Some(Expected::Alike),
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

/// Whether the field names a space to act in.
fn is_in_space(field: &Field) -> bool {
    field.place == IN_SPACE.place
}

/// The code that a principal gets for any request of this operation.
fn refused_outright(row: &Row, principal: &Principal) -> Option<&'static str> {
    let needs = row.needs?;
    let admin = needs == Permission::Admin;
    match principal.denial {
        Denial::InvalidCredential => Some("unauthenticated"),
        Denial::MissingPermission => Some("forbidden"),
        // A user may end their own sign-ins; those of others do not exist for them.
        _ if row.operation == "end_sign_in" && principal.human => Some("key_not_found"),
        Denial::WrongUser if admin => Some("forbidden"),
        Denial::WrongUser => Some("wrong_user"),
        Denial::OtherUser { bound: true, .. } if admin => Some("forbidden"),
        _ if is_for_humans(row) && !principal.human => Some("human_needed"),
        _ if is_local(row) => Some("model_service_fixed"),
        Denial::OtherUser { .. } => None,
        Denial::DeletedUser => Some("user_deleted"),
    }
}

/// Whether the operation refuses an assistant before anything else.
fn is_for_humans(row: &Row) -> bool {
    matches!(
        row.operation,
        "open_domain"
            | "give_consent"
            | "withdraw_consent"
            | "edit_episode"
            | "put_policy"
            | "accept_membership"
            | "leave_space"
    )
}

/// Whether only a server without authentication has the operation; the tests of the gateway cover
/// it.
fn is_local(row: &Row) -> bool {
    row.operation.ends_with("model_service")
}

/// Whether the principal may do the operation anyway: a tenant's key administers its tenant.
fn is_entitled(row: &Row, principal: &Principal) -> bool {
    let of_acme = match principal.denial {
        Denial::OtherUser { tenant, bound } => tenant == "acme" && !bound,
        Denial::DeletedUser => true,
        _ => false,
    };
    of_acme && row.needs == Some(Permission::Admin)
}

/// A run over some operations, and its findings.
pub struct Matrix<'c> {
    fixture: &'c IsolationFixture,
    routes: BTreeMap<String, Route>,
    /// The one response that every invalid credential gets.
    unauthenticated: Option<Answer>,
    pub attempts: usize,
    requests: usize,
    by_denial: BTreeMap<String, usize>,
    pub faults: Vec<String>,
}

impl<'c> Matrix<'c> {
    /// Tries the rows as every principal.
    pub async fn run(fixture: &'c IsolationFixture, rows: impl Iterator<Item = &Row>) -> Self {
        let document = serde_json::to_value(lukasa_server::http::document()).expect("JSON");
        let mut matrix = Self {
            fixture,
            routes: routes(&document),
            unauthenticated: None,
            attempts: 0,
            requests: 0,
            by_denial: BTreeMap::new(),
            faults: Vec::new(),
        };
        let mut before = fixture.state().await;
        for row in rows {
            for principal in fixture.principals.iter().filter(|who| !is_entitled(row, who)) {
                for attempt in attempts(row, principal) {
                    matrix.try_one(principal, row, &attempt).await;
                }
                let after = fixture.state().await;
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
        let own = if principal.own.has(thing) { &principal.own } else { &self.fixture.alice };
        own.get(thing).to_owned()
    }

    async fn ask(
        &mut self,
        principal: &Principal,
        row: &Row,
        attempt: &Attempt,
        value: impl Fn(&Field) -> String,
    ) -> Answer {
        let mut asking = RequestBuilder::of(row, |thing| self.own(principal, thing));
        for field in &attempt.fields {
            asking = asking.with(field.place, &value(field));
        }
        let client = match (principal.denial, row.needs) {
            (Denial::MissingPermission, Some(needs)) => self.fixture.lacking(needs),
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
        *self.by_denial.entry(format!("{:?}", principal.denial)).or_default() += 1;
        let alice = |field: &Field| self.fixture.alice.get(field.thing).to_owned();
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
        // The user that a key of another tenant names has been written about there by now.
        let made = row.writes || attempt.fields.iter().any(|field| field.place == NAMED.place);
        if let Some(difference) = pair.difference(made) {
            let at = format!("{} by {}, where {}", row.operation, principal.name, attempt.what);
            self.faults.push(format!("{at}: {difference}"));
        }
    }
}

#[tokio::test]
async fn foreign_ids_are_indistinguishable_from_unknown_ids() {
    let fixture = IsolationFixture::assemble(|router| router).await;
    let matrix = Matrix::run(&fixture, TABLE.iter()).await;
    println!(
        "isolation: {} operations, {} principals, {} attempts, {} requests, {} leaks; {:?}",
        TABLE.len(),
        fixture.principals.len(),
        matrix.attempts,
        matrix.requests,
        matrix.faults.len(),
        matrix.by_denial,
    );
    let faults = &matrix.faults;
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(matrix.attempts > 1_000, "the matrix has shrunk to {}", matrix.attempts);
    everything_was_there(&fixture, &matrix.routes).await;
}

/// The positive control: with her own credential Alice can do all of this with the same ids that
/// the others were refused.
async fn everything_was_there(fixture: &IsolationFixture, routes: &BTreeMap<String, Route>) {
    let hers = |thing: Thing| fixture.alice.get(thing).to_owned();
    let mut controls: Vec<(&Row, Vec<&Field>)> = Vec::new();
    for row in TABLE {
        // Fields that are only tried above are tried here too, where that changes nothing.
        let tried = row.fields.iter().filter(|field| field.used == Use::Tried && !row.writes);
        // Her own memories are not in the space. That she reads those that are is tested with spaces.
        let has_id = row.fields.iter().any(|field| field.used == Use::Given);
        let tried = tried.filter(|field| !(has_id && is_in_space(field)));
        controls.extend(tried.map(|field| (row, vec![field])));
        let again = row.fields.iter().filter(|field| field.used == Use::Replayed);
        controls.extend(again.filter(|_| row.operation == "save_memory").map(|f| (row, vec![f])));
    }
    // The operations themselves are last: some of them remove what the others need.
    let here = TABLE.iter().filter(|row| !is_local(row));
    controls.extend(here.map(|row| (row, Vec::new())));
    for (row, fields) in controls {
        let client: &Client = if row.human { &fixture.human } else { &fixture.key };
        let asking = RequestBuilder::of(row, hers);
        let asking = fields
            .iter()
            .fold(asking, |asking, field| asking.with(field.place, fixture.alice.get(field.thing)));
        let answer = asking.send(client, &routes[row.operation]).await;
        let (operation, text) = (row.operation, answer.text());
        assert!(answer.is_good(), "{operation} by its owner, {fields:?}: {} {text}", answer.status);
    }
}
