//! Fills users with facts and turns inside PostgreSQL, with all indexes in place: the same rows as
//! saves and appended turns leave, except that the ids and times are PostgreSQL's.
//!
//! The users of a cohort are filled together, one row of each after the other, so that the rows of
//! a user are spread over a table as in real use.

use std::ops::Range;

use anyhow::{Context, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lukasa_core::Timestamp;
use lukasa_text::terms::ANALYZER;
use tokio_postgres::Client;
use uuid::Uuid;

use super::plan::{FACTS_PER_USER, TURNS_PER_USER};
use super::texts::{FACT_TEXTS, ROUND_TEXTS, session_name};
use crate::load::fill::users;
use crate::load::life::{FillUser, tenant, user_name};
use crate::load::rows::VERSIONS;
use crate::long_history::TURNS_PER_SESSION;
use crate::processes::connect;

/// Users that are filled together.
pub const COHORT: u32 = 500;
/// Facts of each user in one transaction.
const FACTS_AT_ONCE: u32 = 40;

/// A fault planted in the fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// Facts have no passages, so that no search finds them.
    SkipPassages,
}

/// Fills the users of one database.
pub struct Filler {
    pub url: String,
    /// The embedding model in use.
    pub model: Option<String>,
    pub fault: Option<Fault>,
    /// Number of connections.
    pub jobs: usize,
}

/// The sessions of each user, and the rounds of each.
pub fn sessions() -> u32 {
    TURNS_PER_USER / (2 * rounds())
}

fn rounds() -> u32 {
    u32::try_from(TURNS_PER_SESSION / 2).unwrap_or(u32::MAX)
}

/// The transaction that inserts some facts of a cohort.
fn facts_sql(filler: &Filler, users: &Range<u32>, indexes: &Range<u32>) -> String {
    let tenant = tenant().uuid();
    let columns = VERSIONS.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let columns = columns.map_or("", |(columns, _)| columns);
    let values: Vec<String> = columns.split(',').map(|column| value_of(column.trim())).collect();
    let mut sql = format!(
        "begin;
        create temp table part on commit drop as
          select p.user_id as filled_user, n.index, a.at,
                 uuidv7(a.at - clock_timestamp()) as new_operation,
                 uuidv7(a.at - clock_timestamp()) as new_fact,
                 uuidv7(a.at - clock_timestamp()) as new_version, t.*
            from generate_series({from}, {last}) as n (index)
            cross join growth.person p
            join growth.fact_text t on t.text = (p.number::bigint * 7919 + n.index) % {FACT_TEXTS}
            cross join lateral (select timestamptz '2025-01-01' + n.index * interval '15 hours'
              + p.number * interval '1 millisecond' as at) a
           where p.number >= {first} and p.number < {end}
           order by n.index, p.number;
        insert into operation (user_id, tenant_id, operation_id, recorded_at, verb, caller,
            credential, origin, extracted, facts)
          select filled_user, '{tenant}', new_operation, at, 'save', 'human', 'local', 'user_said',
                 false, array[new_fact] from part;
        insert into fact (user_id, tenant_id, fact_id)
          select filled_user, '{tenant}', new_fact from part;
        insert into fact_version ({columns}) select {values} from part;",
        from = indexes.start,
        last = indexes.end - 1,
        first = users.start,
        end = users.end,
        values = values.join(", "),
    );
    if filler.fault != Some(Fault::SkipPassages) {
        sql.push_str(&format!(
            "insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision,
                analyzer, language, words, terms, content_hash)
              select filled_user, '{tenant}', new_version, 0, new_fact, 'fact', 2 * index + 1,
                     {ANALYZER}, language, words, terms, content_hash from part;"
        ));
        if let Some(model) = &filler.model {
            sql.push_str(&format!(
                "insert into embedding (user_id, tenant_id, model, source_id, part, revision,
                    dimension, content_hash, vector)
                  select filled_user, '{tenant}', '{model}', new_version, 0, 2 * index + 2,
                         vector_dims(vector), content_hash, vector from part
                   where vector is not null;"
            ));
        }
    }
    sql.push_str("commit;");
    sql
}

/// The value of a column of a version: of the text, or of the new row.
fn value_of(column: &str) -> String {
    match column {
        "user_id" => "filled_user".to_owned(),
        "fact_id" => "new_fact".to_owned(),
        "version_id" => "new_version".to_owned(),
        "opened_by" => "new_operation".to_owned(),
        "valid_from" | "known_from" => "at".to_owned(),
        other => other.to_owned(),
    }
}

/// What a user has beside the facts: the revision of the search index and the next upkeep.
fn after_facts_sql(users: &Range<u32>) -> String {
    let (tenant, revision) = (tenant().uuid(), 2 * FACTS_PER_USER);
    format!(
        "insert into recall_state (user_id, tenant_id, revision, facts, removed)
          select user_id, '{tenant}', {revision}, {revision} - 1, 0 from growth.person
           where number >= {first} and number < {end};
        insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at, head_at)
          select user_id, '{tenant}', uuidv7(), 'upkeep', '', now(), now() + interval '1 day',
                 now() + interval '1 day'
            from growth.person where number >= {first} and number < {end};",
        first = users.start,
        end = users.end,
    )
}

/// The transaction that inserts one session of each user of a cohort, closed and packed.
fn session_sql(filler: &Filler, users: &Range<u32>, session: u32) -> String {
    let (tenant, name, rounds) = (tenant().uuid(), session_name(session), rounds());
    // Each round is two revisions: the passages, and their embeddings.
    let revision = 2 * FACTS_PER_USER + 2 * rounds * session;
    format!(
        "begin;
        create temp table part on commit drop as
          select p.user_id, r.round, t.text, t.role, t.content, a.at,
                 2 * r.round + case t.role when 'user' then 1 else 2 end as number,
                 uuidv7(a.at - clock_timestamp()) as turn_id
            from generate_series(0, {rounds} - 1) as r (round)
            cross join growth.person p
            join growth.turn_text t on t.session = {session}
             and t.round = (p.number::bigint * 7919 + r.round) % {ROUND_TEXTS}
            cross join lateral (select t.said_at + r.round * interval '1 minute'
              + case t.role when 'user' then interval '0' else interval '10 seconds' end as at) a
           where p.number >= {first} and p.number < {end}
           order by r.round, p.number, t.text;
        insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, turns, state,
            closed_at, extracted_through)
          select user_id, '{tenant}', '{name}', min(at), max(at), count(*), 'idle',
                 max(at) + interval '10 minutes', count(*) from part group by user_id;
        insert into turn (user_id, tenant_id, turn_id, session_id, number, role, content, origin,
            said_at, recorded_at)
          select user_id, '{tenant}', turn_id, '{name}', number, role, content,
                 case role when 'user' then 'user_turn' else 'assistant' end, at, at from part;
        insert into packed_session (user_id, tenant_id, session_id, revision, analyzer, model,
            passages, source_ids, parts, languages, words, terms, content_hashes, numbers, roles,
            said_at, recorded_at, vectors)
          select user_id, '{tenant}', '{name}', {revision} + 2 * max(round) + 1, {ANALYZER}, {model},
                 count(*), array_agg(turn_id), array_agg(part), array_agg(language),
                 array_agg(words), array_agg(terms), array_agg(content_hash), array_agg(number),
                 array_agg(role), array_agg(at), array_agg(at), array_agg(vector)
            from (select t.user_id, t.round, t.turn_id, t.number, t.role, t.at, q.*
                    from part t join growth.turn_passage q on q.text = t.text
                   order by t.user_id, t.number, q.part) p
           group by user_id;
        commit;",
        model = filler.model.as_ref().map_or("null".to_owned(), |model| format!("'{model}'")),
        first = users.start,
        end = users.end,
    )
}

/// The revision of the search index after all turns.
fn after_turns_sql(users: &Range<u32>) -> String {
    format!(
        "update recall_state set revision = {} from growth.person p
          where p.user_id = recall_state.user_id and p.number >= {} and p.number < {}",
        2 * FACTS_PER_USER + TURNS_PER_USER,
        users.start,
        users.end,
    )
}

impl Filler {
    /// Creates these users.
    pub async fn users(&self, numbers: &Range<u32>) -> Result<()> {
        let people: Vec<FillUser> = numbers
            .clone()
            .map(|number| FillUser::new(&user_name(number), u64::from(number), "local"))
            .collect();
        users(&self.url, &people, Timestamp::from_second(1_735_689_600)?).await?;
        let ids: Vec<Uuid> = people.iter().map(|person| person.user().uuid()).collect();
        let numbers: Vec<i32> = numbers.clone().map(u32::cast_signed).collect();
        let sql = "insert into growth.person select * from unnest($1::int[], $2::uuid[])";
        connect(&self.url).await?.execute(sql, &[&numbers, &ids]).await?;
        Ok(())
    }

    /// Inserts all facts of these users, a cohort on each connection.
    pub async fn facts(&self, numbers: &Range<u32>) -> Result<()> {
        let cohorts = stream::iter(cohorts(numbers, self.jobs)).map(|cohort| async move {
            let client = self.client().await?;
            for from in (0..FACTS_PER_USER).step_by(FACTS_AT_ONCE as usize) {
                let until = (from + FACTS_AT_ONCE).min(FACTS_PER_USER);
                client.batch_execute(&facts_sql(self, &cohort, &(from..until))).await?;
            }
            client.batch_execute(&after_facts_sql(&cohort)).await?;
            anyhow::Ok(())
        });
        cohorts.buffer_unordered(self.jobs).try_collect::<Vec<()>>().await.context("facts")?;
        Ok(())
    }

    /// Inserts all sessions of these users.
    pub async fn turns(&self, numbers: &Range<u32>) -> Result<()> {
        let cohorts = stream::iter(cohorts(numbers, self.jobs)).map(|cohort| async move {
            let client = self.client().await?;
            for session in 0..sessions() {
                client.batch_execute(&session_sql(self, &cohort, session)).await?;
            }
            client.batch_execute(&after_turns_sql(&cohort)).await?;
            anyhow::Ok(())
        });
        cohorts.buffer_unordered(self.jobs).try_collect::<Vec<()>>().await.context("turns")?;
        Ok(())
    }

    /// A connection for rows that are right by construction.
    async fn client(&self) -> Result<Client> {
        let client = connect(&self.url).await?;
        let settings = "set session_replication_role = replica; set synchronous_commit = off; \
                        set temp_buffers = '256MB'; set work_mem = '64MB'";
        client.batch_execute(settings).await?;
        Ok(client)
    }
}

/// The users in cohorts, one for each connection or more.
fn cohorts(numbers: &Range<u32>, jobs: usize) -> Vec<Range<u32>> {
    let each = numbers.len().div_ceil(jobs.max(1)).clamp(1, COHORT as usize);
    let size = u32::try_from(each).unwrap_or(COHORT);
    let starts = numbers.clone().step_by(each);
    starts.map(|start| start..(start + size).min(numbers.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_fill_writes_versions_with_embeddings_and_leaves_out_planted_passages() {
        let filler =
            Filler { url: String::new(), model: Some("m".to_owned()), fault: None, jobs: 1 };
        let sql = facts_sql(&filler, &(0..10), &(0..20));
        for part in ["insert into fact_version (user_id,", "opened_by, closed_by", "embedding"] {
            assert!(sql.contains(part), "{part}");
        }
        let faulty = Filler { fault: Some(Fault::SkipPassages), ..filler };
        let sql = facts_sql(&faulty, &(0..10), &(0..20));
        assert!(!sql.contains("insert into passage"));
        assert_eq!(cohorts(&(0..1_200), 2), [0..500, 500..1_000, 1_000..1_200]);
        assert_eq!(cohorts(&(10..25), 2), [10..18, 18..25]);
        assert_eq!(sessions() * 2 * rounds(), TURNS_PER_USER);
    }
}
