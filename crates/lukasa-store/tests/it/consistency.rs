//! The check of every test database at its end: each of its rules detects a row that breaks it.

use lukasa_store::testing::TestDatabase;

/// A row or two that break the rule whose name begins with these words. `$U` is a user of the tenant
/// `$T`, `$X` any other id.
const PLANTED: [(&str, &str); 15] = [
    (
        "a passage belongs to",
        "insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language, \
           words, terms, content_hash) values ($U, $T, $X, 0, $X, 'fact', 1, 1, 'en', 1, '', '')",
    ),
    (
        "a passage belongs to",
        "insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, turns) \
           values ($U, $T, 's', now(), now(), 1); \
         insert into episode (user_id, tenant_id, episode_id, session_id, first_turn, last_turn, summary, origin, \
           started_at, ended_at, pass_id, prompt, recorded_at, withdrawn_by) \
           values ($U, $T, $X, 's', 1, 1, 'words', 'user_turn', now(), now(), $X, 'p', now(), $X); \
         insert into recall_state values ($U, $T, 1, 1, 0); \
         insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language, \
           words, terms, content_hash) values ($U, $T, $X, 0, $X, 'episode', 1, 1, 'en', 1, '', '')",
    ),
    (
        "a packed passage belongs to",
        "insert into recall_state values ($U, $T, 1, 1, 0); \
         insert into packed_session values ($U, $T, 's', 1, 1, null, 1, array[$X], '{0}', '{en}', '{1}', '{\\x00}', \
           '{\\x00}', '{1}', '{user}', array[now()], array[now()], array[null::halfvec])",
    ),
    (
        "an embedding says",
        "$VERSION; insert into recall_state values ($U, $T, 1, 1, 0); \
         insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer, language, \
           words, terms, content_hash) values ($U, $T, $X, 0, $X, 'fact', 1, 1, 'en', 1, '', ''); \
         insert into embedding values ($U, $T, 'm', $X, 0, 1, 1, '', '[1]', true)",
    ),
    ("an active memory can be found", "$VERSION"),
    ("no revision is newer", "insert into recall_state values ($U, $T, 1, 1, 2)"),
    ("a fact has a version", "insert into fact values ($U, $T, $X)"),
    ("a version is known from", "$OPERATION; $VERSION"),
    (
        "a version is known until",
        "$VERSION; update fact_version set known_until = known_from + interval '1 day', closed_by = $X",
    ),
    (
        "an open link connects",
        "insert into link (user_id, tenant_id, link_id, from_fact, to_fact, relation, known_from, opened_by) \
           values ($U, $T, $X, $X, $U, 'about', now(), $X)",
    ),
    (
        "the turns of a session",
        "insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, turns) \
           values ($U, $T, 's', now(), now(), 1); \
         insert into turn (user_id, tenant_id, turn_id, session_id, number, role, content, origin, said_at, \
           recorded_at) values ($U, $T, $X, 's', 2, 'user', 'hello', 'user_turn', now(), now())",
    ),
    (
        "what was erased",
        "insert into tombstone (user_id, tenant_id, fact_id, operation_id, erased_at, verb, versions, links, \
           evidence) values ($U, $T, $X, $X, now(), 'erase', 1, 0, 0); \
         insert into usage (user_id, tenant_id, usage_id, fact_id, type, at) \
           values ($U, $T, $X, $X, 'cited', now())",
    ),
    (
        "each lane of a user",
        "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
           values ($U, $T, $X, 'title', 's', now(), now()); update job set head_at = null",
    ),
    ("a deleted user", "insert into fact values ($U, $T, $X); update users set deleted_at = now()"),
    ("a row has the tenant", "insert into recall_state values ($U, $X, 1, 1, 0)"),
];

const OPERATION: &str = "insert into operation values ($U, $T, $X, now() - interval '1 day', 'save', 'key', 'k', \
    'assistant', false, '{}', null)";
const VERSION: &str = "insert into fact_version (user_id, tenant_id, fact_id, version_id, number, content, category, \
    type, kind, force, tags, importance, evidence, state, tier, origin, extracted, turns, valid_from, known_from, \
    opened_by, fingerprint) values ($U, $T, $X, $X, 1, 'words', 'fact', 'profile', 'fact', 'soft', '{}', 0.5, '[]', \
    'active', 'strong', 'assistant', false, '{}', now(), now(), $X, $X)";

#[tokio::test]
async fn consistency_check_detects_a_planted_row_for_every_rule() {
    for (rule, sql) in PLANTED {
        let database = TestDatabase::fresh().await;
        assert_eq!(database.inconsistencies().await, [""; 0]);
        database.leave_unchecked();
        let admin = database.admin().await;
        let tenant = "insert into tenant values ($T, 'acme', now()); \
                      insert into users (user_id, tenant_id, name, created_at) values ($U, $T, 'ada', now())";
        // Without the checks of foreign keys.
        let plain = "set session_replication_role = replica";
        let planted = sql.replace("$OPERATION", OPERATION).replace("$VERSION", VERSION);
        let planted = format!("{plain}; {tenant}; {planted}")
            .replace("$T", "md5('acme')::uuid")
            .replace("$U", "md5('ada')::uuid")
            .replace("$X", "md5('other')::uuid");
        admin.batch_execute(&planted).await.unwrap_or_else(|e| panic!("{rule}: {e:?}"));
        let found = database.inconsistencies().await;
        assert!(found.iter().any(|line| line.starts_with(rule)), "{rule}: {found:?}");
    }
}

#[tokio::test]
#[should_panic(expected = "inconsistent rows at the end of the test")]
async fn test_database_with_inconsistent_rows_fails_its_test() {
    let database = TestDatabase::fresh().await;
    let planted = "set session_replication_role = replica; \
                   insert into fact values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid())";
    database.admin().await.batch_execute(planted).await.unwrap();
}

#[tokio::test]
async fn consistency_check_detects_failed_and_running_jobs_unless_they_are_left() {
    for (state, leased) in [("dead", "null"), ("running", "now()")] {
        let database = TestDatabase::fresh().await;
        let planted = format!(
            "set session_replication_role = replica; \
             insert into job (user_id, tenant_id, job_id, kind, key, state, queued_at, run_at, leased_until) \
               values (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'title', 's', '{state}', now(), \
                 now(), {leased})"
        );
        database.admin().await.batch_execute(&planted).await.unwrap();
        assert_eq!(database.inconsistencies().await, [""; 0]);
        database.check_jobs();
        let found = database.inconsistencies().await;
        assert!(found[0].starts_with("no job has failed") && found[0].contains(state), "{found:?}");
        database.leave_jobs("they are what is tested");
        assert_eq!(database.inconsistencies().await, [""; 0]);
    }
}
