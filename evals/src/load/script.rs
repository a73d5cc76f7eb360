//! Makes pgbench scripts out of the recorded statements of the server.
//!
//! pgbench cannot send a prepared statement and `set local` with a value together: its prepared
//! mode takes one statement at a time, and `set` takes no parameters. So each connection prepares
//! the server's statements once with `prepare`, and executes them with `execute` in plain text,
//! joined with `\;` into the same round trips the server makes. Plans are cached just as the
//! server's are.
//!
//! pgbench cannot look up a random user without querying the database either. So the users and
//! facts are written into the scripts, and a random number selects one of them through nested
//! `\if`s.

use anyhow::{Context, Result, ensure};
use lukasa_core::UserId;

use super::operation::{Operation, Target};
use super::recorder::{Statement, Trace};

/// Maximum number of scripts of pgbench.
const SCRIPTS: usize = 128;
/// Targets per script.
const LEAVES: usize = 128;
/// Number of targets that fit into one run.
pub const TARGETS: usize = SCRIPTS * LEAVES;

/// Values needed besides the trace to identify parameters.
pub struct Recorded<'a> {
    pub operation: Operation,
    /// The target of the recorded request.
    pub target: &'a Target,
    pub tenant: &'a str,
    /// The first twelve hexadecimal digits of an id drawn now.
    pub millis: &'a str,
    /// A response to store under an idempotency key.
    pub outcome: &'a str,
    /// A new content.
    pub sentence: &'a str,
}

/// The statements to prepare, and the round trips that execute them.
pub struct Template {
    pub prepared: Vec<String>,
    /// Per round trip the statements, and whether their results are stored as variables.
    pub flights: Vec<(Vec<String>, bool)>,
}

/// The number of a user's lock.
fn lock_of(user: UserId) -> i64 {
    user.uuid().as_u64_pair().0.cast_signed()
}

/// Replaces the recorded ids by `{user}`, `{fact}` and `{lock}`, and the recorded parameters by
/// arguments.
pub fn template(trace: &Trace, recorded: &Recorded<'_>) -> Result<Template> {
    let user = recorded.target.user.uuid().to_string();
    let lock = format!("({})", lock_of(recorded.target.user));
    let mut template = Template { prepared: Vec::new(), flights: Vec::new() };
    let mut editions = 0;
    for flight in trace {
        let (mut statements, mut stores_results) = (Vec::new(), false);
        for statement in flight {
            match statement {
                Statement::Plain(text) => {
                    let text = text.replace(&user, "{user}").replace(&lock, "({lock})");
                    statements.extend(text.split("; ").map(str::to_owned));
                }
                Statement::Prepared(sql) => {
                    let known = template.prepared.iter().position(|known| known == sql);
                    let number = known.unwrap_or_else(|| {
                        template.prepared.push(sql.clone());
                        template.prepared.len() - 1
                    });
                    let Arguments { list, keep } = arguments(sql, recorded, &mut editions)
                        .with_context(|| format!("the server now sends: {sql}"))?;
                    let wanted = (1..).take_while(|n| sql.contains(&format!("${n}"))).count();
                    ensure!(
                        list.len() == wanted,
                        "{} arguments for {wanted} parameters of: {sql}",
                        list.len()
                    );
                    let given = if list.is_empty() {
                        String::new()
                    } else {
                        format!("({})", list.join(", "))
                    };
                    statements.push(format!("execute q{number}{given}"));
                    stores_results |= keep && recorded.operation.is_write();
                }
            }
        }
        template.flights.push((statements, stores_results));
    }
    Ok(template)
}

struct Arguments {
    list: Vec<String>,
    /// Whether later statements need the result of this one.
    keep: bool,
}

/// The time of the operation, by the engine's rule: now, but after the user's last one.
const AT: &str = "greatest(now(), ':recorded_at'::timestamptz + interval '1 microsecond')";
const KEY: &str = "'bare-:b-:c'";
/// A unique value, anywhere in the order of fingerprints.
const FINGERPRINT: &str = "':e-:f-8:b-8:b-:c'";

/// The arguments of a statement. Selects name their user by value; writes use the selected values.
fn arguments(sql: &str, recorded: &Recorded<'_>, editions: &mut usize) -> Result<Arguments> {
    let id = |draw: usize| {
        let (high, low) = recorded.millis.split_at(8);
        format!("'{high}-{low}-700{draw}-8:b-:c'")
    };
    let strings = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let of = |list: &[&str], keep| Arguments { list: strings(list), keep };
    let (user, fact) = ("'{user}'", "'{fact}'");
    if sql.contains("insert into recall_state ") {
        let tenant = format!("'{}'", recorded.tenant);
        return Ok(of(&["':user_id'", &tenant, "1", "0"], false));
    }
    if sql.starts_with("insert into passage ") {
        return Ok(Arguments { list: passages(recorded, &id), keep: false });
    }
    if let Some(rest) = sql.strip_prefix("insert into ") {
        let (table, rest) = rest.split_once(" (").context("no column list")?;
        let columns = rest.split_once(')').context("no end of columns")?.0.split(", ");
        *editions += usize::from(table == "fact_version");
        let insert = Insert { recorded, table, edition: *editions, id: &id };
        let list: Result<_> = columns.map(|column| insert.value(column.trim())).collect();
        return Ok(Arguments { list: list?, keep: false });
    }
    let has = |part: &str| sql.contains(part);
    Ok(match () {
        () if has("update fact_version set known_until = $4, closed_by = $5") => Arguments {
            list: vec![
                "':user_id'".into(),
                "':fact_id'".into(),
                "':version_id'".into(),
                AT.into(),
                id(0),
            ],
            keep: false,
        },
        () if has("delete from portrait where user_id = $1 and facts && $2") => {
            of(&["':user_id'", "array[':fact_id']::uuid[]"], false)
        }
        () if has("select recorded_at from operation where user_id = $1") => of(&[user], true),
        () if has("from users where user_id = $1") => of(&[user], true),
        () if has("select max(version) from tenant_policy") => {
            of(&[user, &format!("'{}'", recorded.tenant)], false)
        }
        () if has("from tenant_policy where tenant_id = $1") => {
            of(&[&format!("'{}'", recorded.tenant)], false)
        }
        () if has("from user_policy where user_id = $1") => of(&[user], false),
        () if has("from idempotency where user_id = $1 and key = $2") => of(&[user, KEY], false),
        () if has("select coalesce(max(number), 0) + 1") => of(&[user, fact], false),
        () if has("fingerprint = $2") => of(&[user, FINGERPRINT, "now()"], false),
        () if has("fact_id = $2 and known_until is null") => of(&[user, fact], true),
        // The ratings of the memories on a page; one of them is looked up here.
        () if has("from usage where user_id = $1 and fact_id = any($2)") => {
            of(&[user, "array['{fact}']::uuid[]"], false)
        }
        () if has("from embedding_model") => of(&[], false),
        () if has("valid_from <= $2") && has("limit $3") => of(&[user, "now()", "51"], false),
        () => {
            anyhow::bail!("unknown statement: add it to evals/src/load/script.rs")
        }
    })
}

/// One passage for each opened version: one for a save, two for a change.
fn passages(recorded: &Recorded<'_>, id: &dyn Fn(usize) -> String) -> Vec<String> {
    let save = recorded.operation != Operation::Supersede;
    let fact = if save { id(1) } else { "':fact_id'".to_owned() };
    let count = if save { 1 } else { 2 };
    let each = |value: &dyn Fn(usize) -> String, kind: &str| {
        let values: Vec<String> = (0..count).map(value).collect();
        format!("array[{}]::{kind}[]", values.join(", "))
    };
    let same = |value: &str, kind: &str| each(&|_| value.to_owned(), kind);
    // A dozen words with their pairs, at five bytes each.
    let terms = format!("'\\x{}'", "5a".repeat(115));
    let hash = format!("'\\x{}'", "5a".repeat(16));
    vec![
        "':user_id'".into(),
        format!("'{}'", recorded.tenant),
        "1".into(),
        each(&|n| id(2 + n), "uuid"),
        same("0", "smallint"),
        same(&fact, "uuid"),
        same("'fact'", "text"),
        same("'en'", "text"),
        same("12", "int"),
        same(&terms, "bytea"),
        same(&hash, "bytea"),
        same("null", "text"),
        same("null", "int"),
        same("null", "text"),
        same("null", "timestamptz"),
        same("null", "timestamptz"),
    ]
}

/// A row to insert.
struct Insert<'a> {
    recorded: &'a Recorded<'a>,
    table: &'a str,
    /// The number of the version within the operation.
    edition: usize,
    id: &'a dyn Fn(usize) -> String,
}

impl Insert<'_> {
    fn value(&self, column: &str) -> Result<String> {
        let save = self.recorded.operation != Operation::Supersede;
        let fact = if save { (self.id)(1) } else { "':fact_id'".to_owned() };
        let fixed = |text: &str| Ok(text.to_owned());
        match (self.table, column) {
            (_, "user_id") => return fixed("':user_id'"),
            (_, "tenant_id") => return Ok(format!("'{}'", self.recorded.tenant)),
            (_, "fact_id") => return Ok(fact),
            (_, "facts") => return Ok(format!("array[{fact}]::uuid[]")),
            ("operation", "operation_id") | (_, "opened_by") => return Ok((self.id)(0)),
            (_, "recorded_at" | "known_from") => return fixed(AT),
            ("operation", "verb") => return fixed(if save { "'save'" } else { "'change'" }),
            ("operation", "caller") => return fixed("'key'"),
            ("operation", "credential") => return fixed("'bare'"),
            (_, "origin") => return fixed("'assistant'"),
            (_, "extracted") => return fixed("false"),
            (
                _,
                "undoes" | "policy" | "sources" | "member_id" | "known_until" | "closed_by"
                | "reopens",
            ) => {
                return fixed("null");
            }
            ("idempotency", "key") => return fixed(KEY),
            ("idempotency", "request_hash") => return Ok(format!("'\\x{}'", "5a".repeat(32))),
            ("idempotency", "outcome") => return Ok(format!("'{}'", self.recorded.outcome)),
            ("idempotency", "created_at") => return fixed("now()"),
            (_, "fingerprint") => return fixed(FINGERPRINT),
            (_, "version_id") => return Ok((self.id)(1 + self.edition)),
            _ => ensure!(self.table == "fact_version", "the column {column} is new"),
        }
        // A change first writes the old edition again, with its end, and then the new one.
        match (save, self.edition) {
            (true, _) => self.saved(column),
            (false, 1) => copied(column, None),
            (false, _) => copied(column, Some(self.recorded.sentence)),
        }
    }

    fn saved(&self, column: &str) -> Result<String> {
        let value = match column {
            "number" => "1".to_owned(),
            "content" => format!("'{} :c'", self.recorded.sentence),
            "category" | "kind" => "'fact'".to_owned(),
            "type" => "'profile'".to_owned(),
            "force" => "'soft'".to_owned(),
            "state" => "'active'".to_owned(),
            "tier" => "'strong'".to_owned(),
            "importance" => "'0.5'".to_owned(),
            "tags" | "turns" => "'{}'".to_owned(),
            "evidence" => "'[]'".to_owned(),
            "unmentioned" => "false".to_owned(),
            "valid_from" => "now()".to_owned(),
            "summary" | "detail" | "domain" | "key" | "value" | "reasoning" | "project"
            | "confidence" | "session" | "confirmed_at" | "last_confirmed_at" | "consented_at"
            | "valid_until" => "null".to_owned(),
            _ => anyhow::bail!("the column {column} is new"),
        };
        Ok(value)
    }
}

/// A column of the selected version: with its end, or with new content.
fn copied(column: &str, words: Option<&str>) -> Result<String> {
    let value = match (column, words) {
        ("number", Some(_)) => ":number + 1".to_owned(),
        ("content", Some(words)) => format!("'{words} :c'"),
        ("valid_from", Some(_)) | ("valid_until", None) => AT.to_owned(),
        ("valid_until", Some(_)) => "nullif(':valid_until', '')::timestamptz".to_owned(),
        ("value", _) => "nullif(':value', '')::jsonb".to_owned(),
        ("confidence", _) => "nullif(':confidence', '')::real".to_owned(),
        ("confirmed_at" | "last_confirmed_at" | "consented_at", _) => {
            format!("nullif(':{column}', '')::timestamptz")
        }
        ("summary" | "detail" | "domain" | "key" | "reasoning" | "project" | "session", _) => {
            format!("nullif(':{column}', '')")
        }
        (
            "number" | "content" | "category" | "type" | "kind" | "force" | "state" | "tier"
            | "importance" | "tags" | "turns" | "evidence" | "unmentioned" | "valid_from",
            _,
        ) => format!("':{column}'"),
        _ => anyhow::bail!("the column {column} is new"),
    };
    Ok(value)
}

impl Template {
    /// The number of round trips that name their target and so have to be written out for each.
    fn named(&self) -> usize {
        let names = |(flight, _): &(Vec<String>, bool)| {
            flight
                .iter()
                .any(|text| ["{user}", "{fact}", "{lock}"].iter().any(|n| text.contains(n)))
        };
        self.flights.iter().rposition(names).map_or(0, |last| last + 1)
    }

    /// The scripts, each with its number of targets.
    pub fn scripts(&self, operation: Operation, targets: &[Target]) -> Vec<(String, usize)> {
        let mut head = String::from("\\if :ready = 0\n");
        for (number, sql) in self.prepared.iter().enumerate() {
            head.push_str(&format!("prepare q{number} as {sql};\n"));
        }
        head.push_str("\\set ready 1\n\\endif\n");
        if operation.is_write() {
            head.push_str("\\set b random(100, 999)\n");
            head.push_str("\\set c random(100000000000, 999999999999)\n");
            head.push_str("\\set e random(10000000, 99999999)\n");
            head.push_str("\\set f random(1000, 9999)\n");
        }
        let named = self.named();
        let rest: String = self.flights[named..].iter().map(flight).collect();
        let script = |targets: &[Target]| {
            let leaves: Vec<String> =
                targets.iter().map(|target| self.leaf(named, target)).collect();
            let mut text = format!("{head}\\set i random(0, {})\n", leaves.len() - 1);
            tree(&mut text, &leaves, 0);
            text.push_str(&rest);
            (padded(&text), leaves.len())
        };
        let size = targets.len().div_ceil(SCRIPTS).max(LEAVES.min(targets.len()));
        targets.chunks(size).map(script).collect()
    }

    fn leaf(&self, named: usize, target: &Target) -> String {
        let text: String = self.flights[..named].iter().map(flight).collect();
        self.about(&text, target)
    }

    /// A text of the template, about this target.
    pub fn about(&self, text: &str, target: &Target) -> String {
        text.replace("{user}", &target.user.uuid().to_string())
            .replace("{fact}", &target.fact.uuid().to_string())
            .replace("{lock}", &lock_of(target.user).to_string())
    }
}

/// The same script with the commands that store their results moved off the places where pgbench's
/// list of commands is full: it does not check for space after one of them (seen in 18.6), and two
/// in a row there corrupt its heap. Each line is one command.
fn padded(script: &str) -> String {
    const LIST: usize = 128;
    let (mut text, mut count) = (String::with_capacity(script.len()), 0);
    for line in script.lines() {
        if line.ends_with("\\aset") && (count + 1) % LIST == 0 {
            text.push_str("\\set pad 0\n");
            count += 1;
        }
        text.push_str(line);
        text.push('\n');
        count += 1;
    }
    text
}

/// One round trip.
fn flight((statements, stores_results): &(Vec<String>, bool)) -> String {
    let end = if *stores_results { " \\aset\n" } else { ";\n" };
    statements.join(" \\; ") + end
}

/// Nested choices between the leaves from number `first` on.
fn tree(text: &mut String, leaves: &[String], first: usize) {
    if leaves.len() < 2 {
        text.extend(leaves.iter().map(String::as_str));
        return;
    }
    let (low, high) = leaves.split_at(leaves.len() / 2);
    let middle = first + low.len();
    text.push_str(&format!("\\if :i < {middle}\n"));
    tree(text, low, first);
    text.push_str("\\else\n");
    tree(text, high, middle);
    text.push_str("\\endif\n");
}
