//! Searches for the canaries of erased users, in tables and byte by byte in files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use tokio_postgres::Client;

use super::users::{GONE, TestUser};

/// Tables that keep rows with the id of an erased user: the empty row that refuses to serve the user,
/// the receipts, and the audit log, which contains ids and no content.
const KEPT_TABLES: [&str; 3] = ["audit", "erasure", "users"];

/// Number of occurrences by place.
pub type Occurrences = BTreeMap<String, usize>;

pub fn total(found: &Occurrences) -> usize {
    found.values().sum()
}

/// Counts the rows of each table that contain a canary of an erased user as text, also in the
/// planner's samples; and the rows that belong to an erased user at all.
pub async fn in_tables(database: &Client, users: &[TestUser]) -> Result<Occurrences> {
    const TABLES: &str = "select c.relname::text, exists (select 1 from pg_attribute a \
            where a.attrelid = c.oid and a.attname = 'user_id') from pg_class c \
        join pg_namespace n on n.oid = c.relnamespace \
        where c.relkind = 'r' and n.nspname = 'public' order by 1";
    let mut found = Occurrences::new();
    let gone: Vec<uuid::Uuid> =
        users.iter().filter(|user| user.erased).map(TestUser::user_id).collect();
    for row in database.query(TABLES, &[]).await? {
        let (table, of_users): (String, bool) = (row.try_get(0)?, row.try_get(1)?);
        let sql = format!("select count(*) from {table} t where t::text like '%{GONE}%'");
        add(&mut found, &table, database.query_one(&sql, &[]).await?.try_get(0)?);
        if of_users && !KEPT_TABLES.contains(&table.as_str()) {
            let sql = format!("select count(*) from {table} where user_id = any($1)");
            let rows = database.query_one(&sql, &[&gone]).await?.try_get(0)?;
            add(&mut found, &format!("{table} (rows)"), rows);
        }
    }
    let samples = format!("select count(*) from pg_stats s where s::text like '%{GONE}%'");
    add(&mut found, "pg_stats", database.query_one(&samples, &[]).await?.try_get(0)?);
    Ok(found)
}

fn add(found: &mut Occurrences, place: &str, count: i64) {
    if count > 0 {
        found.insert(place.to_owned(), usize::try_from(count).unwrap_or(usize::MAX));
    }
}

/// Counts the canaries in the files below a folder, by the first part of their path.
pub fn in_files(folder: &Path) -> Result<Occurrences> {
    let mut found = Occurrences::new();
    walk(folder, None, &mut found)?;
    Ok(found)
}

fn walk(folder: &Path, place: Option<&str>, found: &mut Occurrences) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = place.unwrap_or(&name);
        if path.is_dir() {
            walk(&path, Some(place), found)?;
        } else if path.is_file() {
            // The database removes files while it runs.
            let bytes = std::fs::read(&path).unwrap_or_default();
            let count = count(&bytes, GONE.as_bytes());
            if count > 0 {
                *found.entry(place.to_owned()).or_default() += count;
            }
        }
    }
    Ok(())
}

fn count(bytes: &[u8], word: &[u8]) -> usize {
    let first = word[0];
    let (mut count, mut at) = (0, 0);
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == first) {
        at += next;
        count += usize::from(bytes[at..].starts_with(word));
        at += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_counts() {
        let word = GONE.as_bytes();
        let text = [b"\0q".as_slice(), word, b"qq", word, b"qzgone"].concat();
        assert_eq!(count(&text, word), 2);
        assert_eq!(count(b"", word), 0);
    }
}
