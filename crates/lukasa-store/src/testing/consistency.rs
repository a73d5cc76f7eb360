//! Rules that hold between the rows of every database after every test, whichever operations it
//! ran. Keys, constraints and foreign keys cover the rest.

use tokio_postgres::Client;

use crate::tables::USER_TABLES;

/// A rule and a query for the rows that break it, each as one line of text.
const RULES: [(&str, &str); 14] = [
    (
        "a passage belongs to a version, a turn or an episode in use",
        "select kind || ' ' || source_id from passage p where not exists ( \
           select 1 from fact_version v where v.user_id = p.user_id and v.fact_id = p.subject_id \
              and v.version_id = p.source_id and p.kind = 'fact') \
         and not exists (select 1 from turn t join session s using (user_id, session_id) \
              where t.user_id = p.user_id and t.turn_id = p.source_id and p.kind = 'turn' \
                and t.withdrawn_by is null and s.trashed_at is null) \
         and not exists (select 1 from episode e join session s using (user_id, session_id) \
              where e.user_id = p.user_id and e.episode_id = p.source_id and p.kind = 'episode' \
                and e.withdrawn_by is null and s.trashed_at is null)",
    ),
    (
        "an active memory can be found by recall",
        "select version_id::text from fact_version v where known_until is null and state = 'active' \
           and not exists (select 1 from passage p where p.user_id = v.user_id \
                              and p.source_id = v.version_id)",
    ),
    (
        "a packed passage belongs to a turn in use and has no row of its own",
        "select k.session_id || ' ' || source from packed_session k, unnest(k.source_ids) source \
          where not exists (select 1 from turn t where t.user_id = k.user_id and t.turn_id = source \
                  and t.session_id = k.session_id and t.withdrawn_by is null) \
             or exists (select 1 from passage p where p.user_id = k.user_id and p.source_id = source)",
    ),
    (
        "an embedding says whether it is of a turn",
        "select e.source_id::text from embedding e join passage p using (user_id, source_id, part) \
          where e.of_turn <> (p.kind = 'turn')",
    ),
    (
        "no revision is newer than the user's",
        "select p.source_id || ' ' || p.revision from passage p left join recall_state r using (user_id) \
          where r.revision is null or p.revision > r.revision \
         union all select k.session_id from packed_session k left join recall_state r using (user_id) \
          where r.revision is null or k.revision > r.revision \
         union all select user_id::text from recall_state where removed > revision or facts > revision",
    ),
    (
        "a fact has a version",
        "select fact_id::text from fact f where not exists ( \
           select 1 from fact_version v where v.user_id = f.user_id and v.fact_id = f.fact_id)",
    ),
    (
        "a version is known from the operation that opened it",
        "select v.version_id::text from fact_version v join operation o \
             on o.user_id = v.user_id and o.operation_id = v.opened_by \
          where v.known_from <> o.recorded_at",
    ),
    (
        "a version is known until the operation that closed it",
        "select v.version_id::text from fact_version v left join operation o \
             on o.user_id = v.user_id and o.operation_id = v.closed_by \
          where v.closed_by is not null and v.known_until is distinct from o.recorded_at",
    ),
    (
        "an open link connects memories that exist",
        "select l.link_id::text from link l where known_until is null and not exists ( \
           select 1 from fact_version v where v.user_id = l.user_id and v.fact_id = l.from_fact)",
    ),
    (
        "the turns of a session have numbers up to its count",
        "select s.session_id from session s where s.turns < ( \
           select coalesce(max(number), 0) from turn t \
            where t.user_id = s.user_id and t.session_id = s.session_id)",
    ),
    (
        "what was erased is not used",
        "select t.fact_id::text from tombstone t where t.fact_id is not null and ( \
           exists (select 1 from fact f where f.user_id = t.user_id and f.fact_id = t.fact_id) \
           or exists (select 1 from observation o where o.user_id = t.user_id \
                         and o.observation_id = t.fact_id) \
           or exists (select 1 from usage u where u.user_id = t.user_id and u.fact_id = t.fact_id) \
           or exists (select 1 from given_baseline g where g.user_id = t.user_id \
                         and t.fact_id = any(g.facts)))",
    ),
    (
        "the grant of a space is found from the list of its member",
        "select g.user_id || ' ' || g.member_id from space_grant g where not exists ( \
           select 1 from membership m where m.user_id = g.member_id and m.space_id = g.user_id)",
    ),
    (
        "each lane of a user has one head among its waiting jobs",
        "select user_id || ' ' || lane from job where state = 'waiting' group by user_id, lane \
         having count(head_at) <> 1",
    ),
    (
        "a deleted user whose erasure is finished has no rows",
        "select t.what || ' ' || u.name from users u join ( \
           select user_id, 'fact' as what from fact union all select user_id, 'turn' from turn) t \
             using (user_id) \
          where u.deleted_at is not null and not exists ( \
            select 1 from erasure e where e.user_id = u.user_id and e.finished_at is null)",
    ),
];

/// A rule for tests that wait for the workers they start. Jobs that wait may be left.
const JOBS: (&str, &str) = (
    "no job has failed for good or is running",
    "select kind || ' of ' || user_id || ' is ' || state || ': ' || coalesce(last_error, 'no error') \
       from job where state in ('dead', 'running')",
);

/// The rows that break a rule, with the rule.
pub(super) async fn violations(client: &Client, are_jobs_checked: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut collect = async |rule: &str, sql: &str| match client.query(sql, &[]).await {
        Ok(rows) => {
            let first: Vec<String> = rows.iter().take(3).map(|row| row.get(0)).collect();
            if !first.is_empty() {
                found.push(format!("{rule}: {} rows, {}", rows.len(), first.join(", ")));
            }
        }
        Err(e) => found.push(format!("{rule}: {e}")),
    };
    for (rule, sql) in RULES.into_iter().chain(are_jobs_checked.then_some(JOBS)) {
        collect(rule, sql).await;
    }
    let tenants = USER_TABLES.iter().map(|table| {
        format!(
            "select '{table} ' || t.user_id from {table} t join users u using (user_id) \
              where t.tenant_id <> u.tenant_id"
        )
    });
    let tenants = tenants.collect::<Vec<_>>().join(" union all ");
    collect("a row has the tenant of its user", &tenants).await;
    found
}
