//! Removal of observations with the patterns that rest on them: deleted, erased, with their session,
//! and with the import they came with.

use lukasa_core::archive::Contents;
use lukasa_core::import::Format;
use lukasa_core::policy::ObservedPatterns;
use lukasa_core::{Caller, Edit, Ids, Observation, Origin, Status};
use lukasa_engine::Error;
use lukasa_engine::archive::{Archive, ImportOptions, ImportSource};
use lukasa_engine::context::{NewPrediction, PredictionResult};
use lukasa_engine::facts::{Target, Update};
use lukasa_engine::observations::NewObservation;
use lukasa_engine::removal::{FactSource, ObservationSelection};
use serde_json::json;

use crate::archive::exported;
use crate::learning::{user, work};
use crate::observations::{
    DAY, event, learn, order, orders, patterns, record, set_observed, stored,
};
use crate::story::Story;

/// How many rows of a table contain the word.
async fn rows_with(story: &Story, table: &str, word: &str) -> i64 {
    let admin = story.database.admin().await;
    let sql = format!("select count(*) from {table} t where t::text like '%' || $1 || '%'");
    admin.query_one(sql.as_str(), &[&word]).await.unwrap().get(0)
}

/// The tables, of all tables of the database, in which a row contains the word.
async fn tables_with(story: &Story, word: &str) -> Vec<String> {
    let admin = story.database.admin().await;
    let tables = "select tablename::text from pg_tables where schemaname = 'public' order by 1";
    let mut found = Vec::new();
    for row in admin.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        if rows_with(story, &table, word).await > 0 {
            found.push(table);
        }
    }
    found
}

async fn count(story: &Story, sql: &str) -> i64 {
    story.database.admin().await.query_one(sql, &[]).await.unwrap().get(0)
}

/// How many statements have recorded the erasures of observations.
const ERASURE_STATEMENTS: &str = "select count(distinct (xmin::text, cmin::text)) from erasure \
                                  where observation_id is not null";

#[tokio::test]
async fn observed_pattern_is_withdrawn_with_its_observations_and_undone_together() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    orders(&story, 6).await;
    learn(&story).await;
    let one = stored(&story).await[0].id;
    let remove =
        async |which| story.engine.removals.withdraw_observations(&story.request(), &which).await;
    let weakened = remove(ObservationSelection::One(one)).await.unwrap();
    assert_eq!(weakened.reached.unwrap().weakened, 1);
    let [left] = &patterns(&story, Status::Active).await[..] else { panic!("one memory") };
    assert_eq!((left.turns.len(), left.claim.evidence.len()), (5, 5));
    let again = remove(ObservationSelection::One(one)).await.unwrap();
    assert_eq!(again.operation, None, "already removed");

    let all = remove(ObservationSelection::Source("groceries".into())).await.unwrap();
    let reached = all.reached.unwrap();
    assert_eq!((reached.observations, reached.withdrawn), (5, 1));
    assert!(stored(&story).await.is_empty() && patterns(&story, Status::Active).await.is_empty());
    let undone = story.engine.undo.undo(&story.request(), all.operation.unwrap()).await.unwrap();
    assert_eq!((stored(&story).await.len(), patterns(&story, Status::Active).await.len()), (5, 1));
    // The undo can be undone too.
    story.engine.undo.undo(&story.request(), undone.operation.unwrap()).await.unwrap();
    assert!(stored(&story).await.is_empty() && patterns(&story, Status::Active).await.is_empty());
    let unknown = lukasa_core::ObservationId::from_uuid(uuid::Uuid::nil());
    let missing = remove(ObservationSelection::One(unknown)).await;
    assert!(matches!(missing, Err(Error::ObservationNotFound)), "{missing:?}");
}

#[tokio::test]
async fn undo_does_not_restore_a_pattern_without_its_observations() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    orders(&story, 5).await;
    learn(&story).await;
    let fact = patterns(&story, Status::Active).await[0].fact;
    let target = Target::Id(fact);
    let update = Update::correct(Edit::content("Shops at Kroger"));
    let corrected = story.engine.facts.update(&story.request(), &target, update).await.unwrap();
    let which = ObservationSelection::Source("groceries".into());
    let removed = story.engine.removals.withdraw_observations(&story.request(), &which).await;
    let removed = removed.unwrap().operation.unwrap();
    assert_eq!(story.active().await, ["Shops at Kroger"], "the user's own words stay");
    let correction = corrected.operation.unwrap();
    let undo = story.engine.undo.undo(&story.request(), correction).await;
    assert!(matches!(undo, Err(Error::UndoBlocked(by)) if by == removed), "{undo:?}");
    story.engine.undo.undo(&story.request(), removed).await.unwrap();
    story.engine.undo.undo(&story.request(), correction).await.unwrap();
    assert_eq!(patterns(&story, Status::Active).await.len(), 1);
}

#[tokio::test]
async fn deleted_observations_are_purged_after_thirty_days() {
    let story = Story::begin().await;
    orders(&story, 2).await;
    let which = ObservationSelection::Source("groceries".into());
    let removed = story.engine.removals.withdraw_observations(&story.request(), &which).await;
    let rows = async || {
        let admin = story.database.admin().await;
        let row = admin.query_one("select count(*) from observation", &[]).await.unwrap();
        row.get::<_, i64>(0)
    };
    assert_eq!(rows().await, 2, "they can be restored");
    story.pass(31 * DAY);
    work(&story).await;
    story.pass(2 * DAY);
    work(&story).await;
    assert_eq!(rows().await, 0);
    let undo = story.engine.undo.undo(&story.request(), removed.unwrap().operation.unwrap()).await;
    assert!(matches!(undo, Err(Error::NotUndoable)), "{undo:?}");
}

#[tokio::test]
async fn pattern_is_counted_again_from_the_observations_that_are_left() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    orders(&story, 6).await;
    learn(&story).await;
    orders(&story, 3).await;
    let oldest = || async { stored(&story).await.last().unwrap().id };
    for left in (5..9).rev() {
        let which = ObservationSelection::One(oldest().await);
        let removed = story.engine.removals.withdraw_observations(&story.request(), &which).await;
        assert_eq!(removed.unwrap().reached.unwrap().withdrawn, 0, "{left} are left");
        let [memory] = &patterns(&story, Status::Active).await[..] else { panic!("one memory") };
        assert_eq!(memory.turns.len(), left);
    }
    let which = ObservationSelection::One(oldest().await);
    let removed = story.engine.removals.withdraw_observations(&story.request(), &which).await;
    assert_eq!(removed.unwrap().reached.unwrap().withdrawn, 1, "four are not a pattern");
    assert!(patterns(&story, Status::Active).await.is_empty());
}

#[tokio::test]
async fn erased_observation_is_in_no_table_and_has_a_receipt() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    for _ in 0..5 {
        record(&story, order("quetzal")).await;
        story.pass(DAY);
    }
    learn(&story).await;
    let tables = tables_with(&story, "quetzal").await;
    for table in ["fact_version", "observation"] {
        assert!(tables.iter().any(|found| found == table), "{table}: {tables:?}");
    }
    let ids: Vec<_> = stored(&story).await.iter().map(|observed| observed.id).collect();
    let erase = async |id| story.engine.removals.erase_observation(&story.request(), id).await;
    let erased = erase(ids[0]).await.unwrap();
    assert_eq!((erased.reached.unwrap().withdrawn, erased.receipts.len()), (1, 1));
    assert_eq!(tables_with(&story, "quetzal").await, ["observation"], "the pattern is erased too");
    assert_eq!(rows_with(&story, "observation", "quetzal").await, 4);
    let receipts = story.engine.erasures.receipts(&story.alice(), story.now()).await.unwrap();
    let receipt = receipts.iter().find(|signed| signed.receipt.erased == "observation").unwrap();
    assert_eq!(receipt.receipt.observation_id, Some(ids[0]));
    assert_eq!(erase(ids[0]).await.unwrap().operation, None, "already erased");
    // One in the trash can be erased.
    let which = ObservationSelection::One(ids[1]);
    story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    assert!(erase(ids[1]).await.unwrap().operation.is_some());
    assert_eq!(rows_with(&story, "observation", "quetzal").await, 3);
    for id in &ids[2..] {
        erase(*id).await.unwrap();
    }
    assert!(tables_with(&story, "quetzal").await.is_empty());
    let unknown = lukasa_core::ObservationId::from_uuid(uuid::Uuid::nil());
    assert!(matches!(erase(unknown).await, Err(Error::ObservationNotFound)));
}

/// A session with a turn, an observation and a prediction with its outcome.
async fn session_with_evidence(story: &Story) {
    let turns = vec![user("Where is it?")];
    story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    let payload = json!({ "value": "canary" });
    let new = NewObservation { session: Some("chat".into()), ..event("seen", payload) };
    record(story, new).await;
    record(story, order("Kroger")).await;
    let fact = Story::fact(&story.save("Keeps birds").await);
    let expects = "Will ask for the canary".to_owned();
    let session = Some("chat".to_owned());
    let new = NewPrediction { fact, expects, session, retrieval: None, turn: None };
    let made = story.engine.context.predict(&story.request(), new).await.unwrap();
    let (id, wrong, note) = (made.stated.id, PredictionResult::Wrong, Some("no canary".to_owned()));
    story.engine.context.report_outcome(&story.request(), id, wrong, note).await.unwrap();
}

#[tokio::test]
async fn erased_session_takes_its_observations_and_predictions_with_it() {
    let story = Story::begin().await;
    session_with_evidence(&story).await;
    assert_eq!(rows_with(&story, "usage", "canary").await, 2);
    let source = FactSource::Session("chat".into());
    let erased = story.engine.removals.erase_source(&story.request(), &source).await.unwrap();
    assert_eq!(erased.reached.unwrap().observations, 1);
    for table in ["observation", "usage", "turn", "idempotency"] {
        assert_eq!(rows_with(&story, table, "canary").await, 0, "{table}");
    }
    assert_eq!(stored(&story).await.len(), 1, "those of no session stay");
}

#[tokio::test]
async fn deleted_session_takes_its_observations_and_undo_restores_them() {
    let story = Story::begin().await;
    session_with_evidence(&story).await;
    let hash =
        async || story.engine.insights.summary(&story.alice(), story.now()).await.unwrap().hash;
    let before = hash().await;
    let source = FactSource::Session("chat".into());
    let deleted = story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    assert_eq!(stored(&story).await.len(), 1);
    assert_ne!(hash().await.observations, before.observations);
    story.engine.undo.undo(&story.request(), deleted.operation.unwrap()).await.unwrap();
    assert_eq!((stored(&story).await.len(), hash().await), (2, before));
    story.pass(60);
    story.engine.removals.withdraw(&story.request(), &source).await.unwrap();
    story.pass(31 * DAY);
    work(&story).await;
    story.pass(2 * DAY);
    work(&story).await;
    for table in ["observation", "usage", "turn"] {
        assert_eq!(rows_with(&story, table, "canary").await, 0, "{table}");
    }
}

/// An export of another installation with these events, one a day.
fn archive(story: &Story, payloads: &[serde_json::Value]) -> Archive {
    let mut ids = Ids::new(story.now(), [77; 16]);
    let observed = |(day, payload): (i64, &serde_json::Value)| {
        let at = story.now() - jiff::SignedDuration::from_hours(24 * (day + 1));
        Observation {
            id: ids.observation(),
            source: "groceries".into(),
            kind: "order".into(),
            at,
            recorded_at: at,
            payload: payload.clone(),
            session: None,
            project: None,
            origin: Origin::UserSaid,
        }
    };
    let observations = (0..).zip(payloads).map(observed).collect();
    Archive { contents: Contents { observations, ..Contents::default() }, ..Archive::default() }
}

#[tokio::test]
async fn untrusted_import_of_observations_leaves_out_closed_domains_and_its_undo_takes_patterns() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    story.pass(60 * DAY);
    let mut payloads = vec![json!({ "value": "Kroger" }); 5];
    payloads.push(json!({ "text": "User has depression." }));
    let source = ImportSource { format: Format::Lukasa, digest: "d".into(), name: "f".into() };
    let import = async |how: ImportOptions| {
        let archive = archive(&story, &payloads);
        story.engine.archives.import_archive(&story.request(), &source, archive, how).await.unwrap()
    };
    let dry = import(ImportOptions { dry_run: true, ..ImportOptions::default() }).await.counts;
    assert_eq!((dry.observations, dry.left_out), (5, 1));
    let taken = import(ImportOptions::default()).await;
    assert_eq!((taken.counts.observations, taken.counts.left_out), (5, 1));
    assert!(stored(&story).await.iter().all(|observed| observed.origin == Origin::Import));
    learn(&story).await;
    assert_eq!(patterns(&story, Status::Proposed).await.len(), 1);
    story.engine.archives.undo_import(&story.request(), taken.import).await.unwrap();
    assert!(stored(&story).await.is_empty());
    assert!(patterns(&story, Status::Proposed).await.is_empty(), "it rested on them alone");
    assert_eq!(rows_with(&story, "observation", "Kroger").await, 5, "they are in the trash");
    assert_eq!(import(ImportOptions::default()).await.counts.observations, 5, "it can be repeated");
    assert_eq!(stored(&story).await.len(), 5);
    assert_eq!(rows_with(&story, "observation", "Kroger").await, 5);
    // What the user deleted, other than by the undo, is not restored by an import.
    let which = ObservationSelection::One(stored(&story).await[0].id);
    story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    assert_eq!(import(ImportOptions::default()).await.counts.observations, 0);
    assert_eq!(stored(&story).await.len(), 4);
}

#[tokio::test]
async fn import_after_an_undo_restores_only_what_the_undo_withdrew() {
    let story = Story::begin().await;
    let source = ImportSource { format: Format::Lukasa, digest: "d".into(), name: "f".into() };
    let payloads = vec![json!({ "value": "Kroger" }); 5];
    let exported = archive(&story, &payloads);
    let import = async || {
        let (archive, how) = (exported.clone(), ImportOptions::default());
        story.engine.archives.import_archive(&story.request(), &source, archive, how).await.unwrap()
    };
    let withdraw_one = async || {
        let which = ObservationSelection::One(stored(&story).await[0].id);
        story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    };
    let undo = async |id| {
        story.engine.archives.undo_import(&story.request(), id).await.unwrap();
        assert!(stored(&story).await.is_empty());
    };
    let first = import().await;
    assert_eq!(first.counts.observations, 5);
    // What the user deleted before the undo stays deleted.
    withdraw_one().await;
    undo(first.import).await;
    let second = import().await;
    assert_eq!((second.counts.observations, stored(&story).await.len()), (4, 4));
    // An undo of the undo makes them observations like others, of which the user deletes one.
    undo(second.import).await;
    story.engine.undo.undo_last(&story.request()).await.unwrap();
    assert_eq!(stored(&story).await.len(), 4);
    withdraw_one().await;
    assert_eq!((import().await.counts.observations, stored(&story).await.len()), (0, 3));
}

#[tokio::test]
async fn undone_import_keeps_its_observations_in_the_trash_until_they_are_purged() {
    let story = Story::begin().await;
    story.pass(60 * DAY);
    let payloads = vec![json!({ "value": "Kroger" }); 5];
    let source = ImportSource { format: Format::Lukasa, digest: "d".into(), name: "f".into() };
    let exported = archive(&story, &payloads);
    let import = async || {
        let (archive, how) = (exported.clone(), ImportOptions::default());
        story.engine.archives.import_archive(&story.request(), &source, archive, how).await.unwrap()
    };
    let taken = import().await;
    learn(&story).await;
    let found =
        async || (stored(&story).await.len(), patterns(&story, Status::Proposed).await.len());
    assert_eq!(found().await, (5, 1));
    let undo_import = async || {
        story.engine.archives.undo_import(&story.request(), taken.import).await.unwrap();
    };
    undo_import().await;
    assert_eq!(found().await, (0, 0));
    story.engine.undo.undo_last(&story.request()).await.unwrap();
    assert_eq!(found().await, (5, 1), "it can be undone");
    undo_import().await;
    assert_eq!(found().await, (0, 0));
    for days in [31, 2] {
        story.pass(days * DAY);
        work(&story).await;
    }
    assert!(tables_with(&story, "Kroger").await.is_empty(), "purged with what quotes them");
    let again = import().await.counts;
    assert_eq!((again.observations, again.known), (0, 5));
}

/// A session with a turn and this many observations.
async fn session_with_observations(story: &Story, observations: i32) {
    let turns = vec![user("Where is it?")];
    story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    record(story, NewObservation { session: Some("chat".into()), ..order("Kroger") }).await;
    let fill = "insert into observation (user_id, tenant_id, observation_id, source, kind, at, \
                  recorded_at, payload, session_id, origin) \
                select user_id, tenant_id, gen_random_uuid(), source, kind, at, recorded_at, payload, \
                       session_id, origin from observation, generate_series(2, $1::int)";
    story.database.admin().await.execute(fill, &[&observations]).await.unwrap();
}

#[tokio::test]
async fn session_with_many_observations_is_purged_in_parts() {
    let story = Story::begin().await;
    session_with_observations(&story, 2_500).await;
    story.engine.sessions.trash(&story.request(), "chat").await.unwrap();
    assert!(stored(&story).await.is_empty());
    let recorded = "select max(length(sources::text))::bigint from operation";
    assert!(count(&story, recorded).await < 1_000, "the operation does not list them");
    story.pass(31 * DAY);
    work(&story).await;
    assert_eq!(count(&story, "select count(*) from observation").await, 0);
    assert_eq!(count(&story, "select count(*) from session").await, 0);
    assert_eq!(count(&story, "select count(*) from operation where verb = 'purge'").await, 3);
    let erased = "select count(*) from erasure where observation_id is not null";
    assert_eq!(count(&story, erased).await, 2_500);
    assert_eq!(count(&story, ERASURE_STATEMENTS).await, 3, "one for each part");
    let tombstones = "select count(*) from tombstone where kind = 'observation'";
    assert_eq!(count(&story, tombstones).await, 2_500);
}

#[tokio::test]
async fn session_with_many_observations_is_erased_in_parts() {
    let story = Story::begin().await;
    session_with_observations(&story, 2_500).await;
    let source = FactSource::Session("chat".into());
    let erased = story.engine.removals.erase_source(&story.request(), &source).await.unwrap();
    let reached = erased.reached.unwrap();
    assert_eq!((reached.observations, reached.turns), (2_500, 1));
    assert!(erased.message.contains("2500 observations"), "{}", erased.message);
    assert_eq!(count(&story, "select count(*) from observation").await, 0);
    assert_eq!(count(&story, "select count(*) from operation where verb = 'erase'").await, 3);
    assert_eq!(count(&story, ERASURE_STATEMENTS).await, 3, "one for each part");
    let again = story.engine.removals.erase_source(&story.request(), &source).await;
    assert!(matches!(again, Err(Error::SessionNotFound)), "{again:?}");
}

#[tokio::test]
async fn upkeep_goes_on_when_sources_cannot_be_purged() {
    let story = Story::begin().await;
    orders(&story, 6).await;
    let which = ObservationSelection::One(stored(&story).await[0].id);
    story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    let admin = story.database.admin().await;
    let refuse = "create function refuse() returns trigger language plpgsql as \
                    $$ begin raise exception 'refused'; end $$; \
                  create trigger refuse before delete on observation \
                    for each row execute function refuse()";
    admin.batch_execute(refuse).await.unwrap();
    story.pass(31 * DAY);
    work(&story).await;
    assert_eq!(count(&story, "select count(*) from observation").await, 6, "it was refused");
    assert_eq!(patterns(&story, Status::Proposed).await.len(), 1, "the next steps were done");
    assert_eq!(count(&story, "select count(*) from job where attempts > 0").await, 0);
    admin.batch_execute("drop trigger refuse on observation").await.unwrap();
    story.pass(2 * DAY);
    work(&story).await;
    assert_eq!(count(&story, "select count(*) from observation").await, 5, "the next run did it");
}

#[tokio::test]
async fn session_restored_alone_keeps_its_observations() {
    let story = Story::begin().await;
    set_observed(&story, ObservedPatterns::On).await;
    let turns = vec![user("Where is it?")];
    story.engine.sessions.append_turns(&story.request(), "chat", turns).await.unwrap();
    for _ in 0..5 {
        record(&story, NewObservation { session: Some("chat".into()), ..order("Kroger") }).await;
        story.pass(DAY);
    }
    learn(&story).await;
    let fact = patterns(&story, Status::Active).await[0].fact;
    story.engine.sessions.trash(&story.request(), "chat").await.unwrap();
    assert!(stored(&story).await.is_empty());
    // The memory that was removed with the session is erased, so the whole cannot be undone.
    story.engine.removals.erase(&story.request(), &Target::Id(fact)).await.unwrap();
    let restored = story.engine.undo.restore_session(&story.request(), "chat").await.unwrap();
    assert_eq!((restored.trashed_at, stored(&story).await.len()), (None, 5));
    // The restoring can be undone, and that too.
    let again = story.engine.undo.undo_last(&story.request()).await.unwrap().operation;
    assert!(stored(&story).await.is_empty());
    story.engine.undo.undo(&story.request(), again.unwrap()).await.unwrap();
    assert_eq!(stored(&story).await.len(), 5);
    for days in [31, 2] {
        story.pass(days * DAY);
        work(&story).await;
    }
    assert_eq!(stored(&story).await.len(), 5, "they are not purged");
}

#[tokio::test]
async fn undo_leaves_observations_in_the_trash_that_another_operation_removed() {
    let story = Story::begin().await;
    session_with_observations(&story, 2).await;
    story.engine.sessions.trash(&story.request(), "chat").await.unwrap();
    story.engine.undo.undo_last(&story.request()).await.unwrap();
    let which = ObservationSelection::One(stored(&story).await[0].id);
    let one = story.engine.removals.withdraw_observations(&story.request(), &which).await.unwrap();
    story.engine.sessions.trash(&story.request(), "chat").await.unwrap();
    story.engine.undo.restore_session(&story.request(), "chat").await.unwrap();
    assert_eq!(stored(&story).await.len(), 1, "the other one was deleted by itself");
    story.engine.undo.undo(&story.request(), one.operation.unwrap()).await.unwrap();
    assert_eq!(stored(&story).await.len(), 2);
}

#[tokio::test]
async fn refused_undo_of_an_import_marks_none_of_its_observations() {
    let story = Story::begin().await;
    story.save("Drinks oolong").await;
    let mut exported = exported(&story).await;
    story.pass(60);
    let payloads = vec![json!({ "value": "Kroger" }); 3];
    exported.contents.observations = archive(&story, &payloads).contents.observations;
    let bob = Caller::human(story.tenant, "bob", "local");
    let source = ImportSource { format: Format::Lukasa, digest: "d".into(), name: "f".into() };
    let options = ImportOptions { dry_run: false, trust: true };
    let (archives, by) = (&story.engine.archives, || story.by(bob.clone()));
    let taken = archives.import_archive(&by(), &source, exported, options).await.unwrap();
    assert_eq!((taken.counts.memories, taken.counts.observations), (1, 3));
    story.pass(60);
    let marked = "select count(*) from observation where import_undone";
    let assistant = Caller::key(story.tenant, "bob", "k1", Origin::Assistant);
    let refused = archives.undo_import(&story.by(assistant), taken.import).await;
    assert_eq!(refused.unwrap_err().code(), "human_needed");
    assert_eq!(count(&story, marked).await, 0);
    archives.undo_import(&by(), taken.import).await.unwrap();
    assert_eq!(count(&story, marked).await, 3);
}
