//! Rules for migrations of a database that is in use: which statements hold no lock for long, and can be
//! served by the program of the release before; and that no migration is changed. CONTRIBUTING.md explains
//! them.

use sha2::{Digest as _, Sha256};

const FOLDER: &str = "crates/lukasa-store/migrations/";
/// The last migration of the first schema, which runs on an empty database.
const LAST_OF_FIRST_SCHEMA: u32 = 12;
/// The first 16 digits of the SHA-256 of each migration.
const DIGESTS: [(&str, &str); 15] = [
    ("V1__directory.sql", "d943dd691c9cb83e"),
    ("V2__record.sql", "c1978902df744bae"),
    ("V3__sessions.sql", "cadf355cbd6076ee"),
    ("V4__recall.sql", "039e4900e8d14a3b"),
    ("V5__jobs.sql", "834045d7e1bb2df6"),
    ("V6__learning.sql", "073da2b632e94aeb"),
    ("V7__imports_and_observations.sql", "266f2a0ecbd9fd43"),
    ("V8__webhooks.sql", "8846bb37fd86465f"),
    ("V9__erasure.sql", "562e1943e85e7012"),
    ("V10__spaces.sql", "2276a1459a60a83c"),
    ("V11__audit.sql", "5cd033d392719518"),
    ("V12__cells.sql", "07cc2311811705d0"),
    ("V13__replaced_models.sql", "afe3e2247021e78d"),
    ("V14__fewer_writes.sql", "0fde92e3d2ba5892"),
    ("V15__turns_outside_covering_indexes.sql", "a400804255fd4c9e"),
];
/// The first line of a migration that runs statement by statement, without a transaction.
const OUTSIDE_TRANSACTION: &str = "-- outside a transaction";
/// Allows one statement that the rules refuse, with the reason, on the line before it.
const ALLOWED: &str = "-- allowed: ";

/// Statements of a new migration that hold a lock for as long as a table is large, or that the program
/// of the release before cannot serve with.
pub(super) fn online_migrations(path: &str, text: &str) -> Vec<String> {
    let name = path.strip_prefix(FOLDER).and_then(|name| name.strip_prefix('V'));
    let number = name.and_then(|name| name.split_once("__")?.0.parse::<u32>().ok());
    if number.is_none_or(|number| number <= LAST_OF_FIRST_SCHEMA) {
        return Vec::new();
    }
    let is_outside = text.starts_with(OUTSIDE_TRANSACTION);
    let statements = statements(text);
    let mut created: Vec<String> = Vec::new();
    let mut not_validated: Vec<String> = Vec::new();
    let mut dropped: Vec<String> = Vec::new();
    let mut faults = Vec::new();
    for Statement { line, sql, is_allowed } in &statements {
        let mut faulty = |why: &str| {
            if !is_allowed {
                faults.push(format!("{path}:{line}: {why}"));
            }
        };
        if let Some(table) = after(sql, "create table ") {
            created.push(table);
        }
        let table = after(sql, "alter table ").or_else(|| after(sql, " on "));
        let is_new = table.is_some_and(|table| created.contains(&table));
        if sql.contains(" concurrently") != is_outside {
            faulty(match is_outside {
                true => "outside a transaction only indexes are made and dropped, concurrently",
                false => "`concurrently` needs a file that begins with `-- outside a transaction`",
            });
        }
        if let Some(index) = after(sql, "drop index concurrently if exists ") {
            dropped.push(index);
        }
        if sql.starts_with("create index ") || sql.starts_with("create unique index ") {
            let index = after(sql, "concurrently ");
            if is_outside && !index.is_some_and(|index| dropped.contains(&index)) {
                faulty(
                    "drop the index before, if it exists: a failed attempt leaves an invalid one",
                );
            }
            if !sql.contains(" concurrently") && !is_new {
                faulty("an index on an existing table is made `concurrently`");
            }
        }
        if let Some(constraint) = after(sql, " add constraint ").filter(|_| !is_new) {
            if sql.contains("not valid") {
                not_validated.push(constraint);
            } else if !sql.contains(" using index ") {
                faulty("a constraint is added `not valid`, or `using index`");
            }
        }
        if after(sql, " validate constraint ").is_some_and(|name| not_validated.contains(&name)) {
            faulty(
                "a constraint is validated in a later file: here the lock would be held meanwhile",
            );
        }
        if sql.starts_with("alter table ") && !is_new {
            if sql.contains(" set not null") {
                faulty("`set not null` reads the table: validate a check first, and say so");
            }
            if sql.contains(" alter column ") && sql.contains(" type ") {
                faulty("a change of a column's type rewrites the table: add a column");
            }
            if sql.contains(" rename ") {
                faulty(
                    "a rename breaks the servers of the release before: add, then drop in the next",
                );
            }
            let is_volatile = ["gen_random_uuid(", "random(", "clock_timestamp(", "nextval("];
            let rewrites = sql.contains(" stored") || is_volatile.iter().any(|f| sql.contains(f));
            if sql.contains(" add column ") && rewrites {
                faulty("a computed value of a new column rewrites the table: fill it in batches");
            }
        }
        let changes =
            |word: &str| sql.starts_with(word) || sql.starts_with("do ") && sql.contains(word);
        if changes("update ") || changes("delete from ") {
            faulty("rows are changed in batches by a job, not in a migration");
        }
        if ["truncate ", "lock ", "vacuum ", "cluster ", "reindex "]
            .iter()
            .any(|w| sql.starts_with(w))
        {
            faulty("this locks a whole table");
        }
    }
    faults
}

/// Migrations that were changed, removed or added without their digest. A database that has a migration
/// refuses a program whose text of it is another.
pub(super) fn changed_migrations(files: &[(String, String)]) -> Vec<String> {
    changed_from(files, &DIGESTS)
}

fn changed_from(files: &[(String, String)], digests: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in files {
        let Some(name) = path.strip_prefix(FOLDER) else { continue };
        let digest = hex::encode(&Sha256::digest(text)[..8]);
        match digests.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known == digest => {}
            Some(_) => faults.push(format!("{path}: a migration is not changed; add another")),
            None => {
                faults.push(format!("{path}: add (\"{name}\", \"{digest}\") to the digests"));
            }
        }
    }
    let is_gone =
        |name: &str| !files.iter().any(|(path, _)| path.strip_prefix(FOLDER) == Some(name));
    let gone = digests.iter().filter(|(name, _)| is_gone(name));
    faults.extend(gone.map(|(name, _)| format!("{FOLDER}{name}: a migration is not removed")));
    faults
}

#[test]
fn changed_migration_is_detected() {
    let file = |name: &str, text: &str| (format!("{FOLDER}{name}"), text.to_owned());
    let digest = hex::encode(&Sha256::digest("create table a ();\n")[..8]);
    let digests = [("V1__a.sql", digest.as_str())];
    let faults = |files: &[(String, String)]| changed_from(files, &digests);
    let unchanged = file("V1__a.sql", "create table a ();\n");
    assert_eq!(faults(&[unchanged.clone(), ("README.md".into(), String::new())]), [""; 0]);
    let found = faults(&[file("V1__a.sql", "create table a (); -- b\n")]);
    assert!(found.len() == 1 && found[0].contains("not changed"), "{found:?}");
    let found = faults(&[unchanged, file("V2__b.sql", "create table b ();\n")]);
    assert!(found.len() == 1 && found[0].contains("add (\"V2__b.sql\", "), "{found:?}");
    let found = faults(&[file("V1__c.sql", "create table a ();\n")]);
    assert_eq!(found.len(), 2, "{found:?}");
}

struct Statement {
    line: usize,
    /// In small letters, with single spaces, without comments.
    sql: String,
    is_allowed: bool,
}

/// The statements of a file. The body of a function or of `do` is part of its statement.
fn statements(text: &str) -> Vec<Statement> {
    let (mut found, mut sql, mut first, mut is_allowed) = (Vec::new(), String::new(), 0, false);
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split("--").next().unwrap_or_default();
        if code.trim().is_empty() {
            is_allowed |=
                line.trim_start().strip_prefix(ALLOWED).is_some_and(|why| !why.is_empty());
            continue;
        }
        if sql.is_empty() {
            first = number;
        }
        sql.push_str(code);
        sql.push(' ');
        let is_inside_body = sql.matches("$$").count() % 2 == 1;
        if code.trim_end().ends_with(';') && !is_inside_body {
            let words: Vec<String> = sql.split_whitespace().map(str::to_ascii_lowercase).collect();
            found.push(Statement { line: first, sql: words.join(" "), is_allowed });
            sql.clear();
            is_allowed = false;
        }
    }
    found
}

/// The name that follows some words.
fn after(sql: &str, words: &str) -> Option<String> {
    let rest = sql.split_once(words)?.1;
    let rest = ["if not exists ", "only "]
        .iter()
        .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[test]
fn migration_that_locks_a_table_is_detected() {
    let faults = |number: u32, text: &str| {
        online_migrations(&format!("crates/lukasa-store/migrations/V{number}__x.sql"), text).len()
    };
    let refused = [
        "create index a on users (name);",
        "create unique index concurrently a on users (name);",
        "-- outside a transaction\ncreate index concurrently a on users (name);",
        "-- outside a transaction\nalter table users add column a int;",
        "alter table users add constraint a check (name <> '');",
        "alter table users add constraint a unique (name);",
        "alter table users add constraint a check (name <> '') not valid;\n\
         alter table users validate constraint a;",
        "alter table users\n  alter column name set not null;",
        "alter table users alter column name type varchar;",
        "alter table users rename column name to title;",
        "alter table users add column a uuid not null default gen_random_uuid();",
        "alter table users add column a text generated always as (name || '!') stored;",
        "update users set name = 'x';",
        "delete from users;",
        "do $$ begin\n  update users set name = 'x';\nend $$;",
        "lock table users;",
        "-- allowed: \nlock table users;",
    ];
    for text in refused {
        assert_eq!(faults(LAST_OF_FIRST_SCHEMA + 1, text), 1, "{text}");
        assert_eq!(faults(LAST_OF_FIRST_SCHEMA, text), 0, "{text}");
    }
    let accepted = [
        "create table a (id int);\ncreate index b on a (id);\nalter table a alter column id set not null;",
        "-- outside a transaction\ndrop index concurrently if exists a;\n\
         create index concurrently a on users (name);",
        "alter table users add constraint a check (name <> '') not valid;",
        "alter table users validate constraint a;",
        "alter table users add constraint a unique using index b;",
        "alter table users add column a boolean not null default false;",
        "alter table users add column a timestamptz not null default now();",
        "create function a() returns trigger language plpgsql as $$\nbegin\n  update users set name = '';\n\
         end $$;",
        "grant update (name) on users to lukasa_serve; -- update users",
        "-- allowed: the table has one row\nupdate signing_key set seed = '';",
    ];
    for text in accepted {
        assert_eq!(faults(LAST_OF_FIRST_SCHEMA + 1, text), 0, "{text}");
    }
    assert_eq!(
        online_migrations("crates/lukasa-store/src/V99__x.sql", "delete from users;").len(),
        0
    );
}
