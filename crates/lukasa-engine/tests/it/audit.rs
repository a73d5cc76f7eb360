//! The audit log: what is recorded, that it can only be appended to, and that a planted fault is found.

use futures_util::future::join_all;
use lukasa_core::audit::{AuditRecord, ChainFault};
use lukasa_core::import::{Format, ImportItem, MemoryItem};
use lukasa_core::placement::MAIN_CELL;
use lukasa_core::policy::Patch;
use lukasa_core::{Origin, Permission, UserId};
use lukasa_engine::archive::ImportSource;
use lukasa_engine::audit::{AuditFilter, prune, verify_records};
use lukasa_engine::credentials::NewKey;
use lukasa_engine::facts::Target;

use crate::story::{Story, time};

fn key() -> NewKey {
    NewKey {
        name: "Alice's laptop".into(),
        user: None,
        permissions: vec![Permission::Read, Permission::Admin],
        origin: Origin::Assistant,
        expires_at: None,
    }
}

async fn records(story: &Story) -> Vec<AuditRecord> {
    story.engine.audit.page(story.tenant, MAIN_CELL, 0).await.unwrap()
}

async fn make_keys(story: &Story, seeds: std::ops::Range<u8>) {
    for seed in seeds {
        let credentials = &story.engine.credentials;
        credentials.create_key(story.tenant, key(), &[seed; 32], story.now()).await.unwrap();
    }
}

#[tokio::test]
async fn audit_records_access_and_whole_memories() {
    let story = Story::begin().await;
    let (engine, tenant) = (&story.engine, story.tenant);
    let made = engine.credentials.create_key(tenant, key(), &[1; 32], story.now()).await.unwrap();
    let by = engine.credentials.authenticate(&made.text, story.now()).await.unwrap();
    let may = [Permission::Read];
    let link = engine
        .credentials
        .make_link(tenant, Some(&by), "alice", &may, &[2; 32], story.now())
        .await
        .unwrap();
    let follow = |random| engine.credentials.follow_link(&link.text, random, story.now());
    let signed_in = follow(&[3; 32]).await.unwrap();
    assert!(follow(&[4; 32]).await.is_err());
    let human = engine.credentials.authenticate(&signed_in.text, story.now()).await.unwrap();
    engine.credentials.sign_out(&human, story.now()).await.unwrap();
    let patch = Patch { titles: Some(true), ..Patch::default() };
    engine.policies.set(&story.request(), patch.clone()).await.unwrap();
    engine.policies.set_for_tenant(&by, patch, story.moment()).await.unwrap();
    drop(engine.archives.export(&story.alice(), story.now()).await.unwrap());
    let item = serde_json::json!({ "source": "m1", "content": "Tea." });
    let item: MemoryItem = serde_json::from_value(item).unwrap();
    let source =
        ImportSource { format: Format::Mem0, digest: "d".into(), name: "alice.json".into() };
    let items = [ImportItem::Memory(item)];
    for _ in 0..2 {
        engine.archives.import_items(&story.request(), &source, &items, false).await.unwrap();
    }
    let saved = story.save("Alice lives in Lisbon").await;
    let target = Target::Id(Story::fact(&saved));
    engine.removals.erase(&story.request(), &target).await.unwrap();
    engine.credentials.revoke(&by, &made.record.key_id, story.now()).await.unwrap();
    engine.erasures.erase_user(tenant, "alice", story.moment()).await.unwrap();

    let log = records(&story).await;
    let told: Vec<_> =
        log.iter().map(|r| (r.event.as_str(), r.result.as_str(), r.actor_kind.as_str())).collect();
    assert_eq!(
        told,
        [
            ("key.create", "done", "operator"),
            ("link.create", "done", "key"),
            ("sign_in", "done", "link"),
            ("sign_in", "refused", "link"),
            ("sign_in.end", "done", "human"),
            ("policy.user", "done", "local"),
            ("policy.tenant", "done", "key"),
            ("export", "done", "local"),
            ("import", "done", "local"),
            ("erase", "done", "local"),
            ("key.revoke", "done", "key"),
            ("user.erase", "done", "operator"),
        ]
    );
    assert_eq!(
        (log[0].subject.as_str(), log[0].detail.as_str()),
        (&*made.record.key_id, "read,admin")
    );
    assert_eq!(
        (log[2].subject.as_str(), log[2].actor.as_str()),
        (&*human.key_id, &*link.record.key_id)
    );
    // The user is erased; the log names them by the id of the receipt, and holds no name or content.
    let alice = UserId::named(tenant, "alice");
    assert!(log[1..10].iter().all(|r| r.user_id == Some(alice) || r.event == "policy.tenant"));
    assert_eq!(log[11].user_id, Some(alice));
    let text = serde_json::to_string(&log).unwrap().to_lowercase();
    for word in ["alice", "laptop", "tea", "lisbon"] {
        assert!(!text.contains(word), "{word}");
    }
    let report = engine.audit.verify(tenant, MAIN_CELL).await.unwrap();
    assert_eq!((report.records, report.fault), (12, None));
    let filter = AuditFilter { event: Some("sign_in".into()), ..AuditFilter::default() };
    let (page, next) = engine.audit.list(tenant, MAIN_CELL, &filter, None, 1).await.unwrap();
    assert_eq!((page[0].number, next), (4, Some(4)));
    let (page, next) = engine.audit.list(tenant, MAIN_CELL, &filter, next, 1).await.unwrap();
    assert_eq!((page[0].number, next), (3, None));
}

#[tokio::test]
async fn audit_verify_names_the_first_planted_fault() {
    let story = Story::begin().await;
    make_keys(&story, 1..7).await;
    let admin = story.database.admin().await;
    let verify = async || story.engine.audit.verify(story.tenant, MAIN_CELL).await.unwrap().fault;
    let plant = async |sql: &str| {
        let all = format!(
            "begin; alter table audit disable trigger user; \
             create temp table saved as select * from audit; {sql}; commit"
        );
        admin.batch_execute(&all).await.unwrap();
        let fault = verify().await;
        admin
            .batch_execute(
                "delete from audit; insert into audit select * from saved; drop table saved; \
                 alter table audit enable trigger user",
            )
            .await
            .unwrap();
        assert_eq!(verify().await, None);
        fault
    };
    assert_eq!(verify().await, None);
    let changed = plant("update audit set actor = 'mallory' where number = 3").await;
    assert_eq!(changed, Some(ChainFault::Changed(3)));
    let later = plant("update audit set at = at + interval '1 second' where number = 2").await;
    assert_eq!(later, Some(ChainFault::Changed(2)));
    let removed = plant("delete from audit where number = 4").await;
    assert_eq!(removed, Some(ChainFault::Order { number: 5, expected: 4 }));
    let first = plant("delete from audit where number = 1").await;
    assert_eq!(first, Some(ChainFault::Order { number: 2, expected: 1 }));
    let last = plant("delete from audit where number = 6").await;
    assert_eq!(last, Some(ChainFault::MissingEnd { last: 5, expected: 6 }));
    let swapped = "update audit set number = case number when 2 then -3 else -2 end \
                    where number in (2, 3); update audit set number = -number where number < 0";
    assert_eq!(plant(swapped).await, Some(ChainFault::Changed(2)));
    let all = plant("delete from audit").await;
    assert_eq!(all, Some(ChainFault::MissingEnd { last: 0, expected: 6 }));
    // An exported file is verified in the same way.
    let mut file = records(&story).await;
    let check = |file: &[AuditRecord]| verify_records::<()>(file.iter().cloned().map(Ok)).unwrap();
    assert_eq!((check(&file).0, check(&file).1), (6, None));
    file[2].detail = "read".into();
    assert_eq!(check(&file).1, Some(ChainFault::Changed(3)));
}

#[tokio::test]
async fn audit_log_is_append_only_for_the_serving_role_and_the_owner() {
    let story = Story::begin().await;
    make_keys(&story, 1..3).await;
    let admin = story.database.admin().await;
    let (tenant, other) = (story.tenant.uuid(), uuid::Uuid::nil());
    let settings = format!(
        "set local app.tenant = '{tenant}'; set local app.directory = 'on'; \
         set local app.audit_retention = 'on'"
    );
    let values = "'2026-01-01', 'export', 'done', 'key', 'k', '', ''";
    let insert = |columns: &str, of: &str| {
        format!(
            "insert into audit (tenant_id, at, event, result, actor_kind, actor, subject, detail{columns}) \
                 values ('{of}', {values}"
        )
    };
    let own = tenant.to_string();
    for statement in [
        "update audit set detail = 'x'".to_owned(),
        "update audit set number = number".to_owned(),
        "delete from audit".to_owned(),
        "truncate audit".to_owned(),
        "update audit_head set number = number - 1".to_owned(),
        "update audit_head set number = number + 1".to_owned(),
        "insert into audit_head (tenant_id) values (gen_random_uuid())".to_owned(),
        "update audit_head set pruned_number = 1".to_owned(),
        "delete from audit_head".to_owned(),
        insert(", number, hash, previous", &own) + ", 1, '', '')",
        insert("", &other.to_string()) + ")",
        insert("", &own).replace("'k'", "'Alice Example'") + ")",
    ] {
        let all = format!("begin; set local role lukasa_serve; {settings}; {statement}; commit");
        assert!(admin.batch_execute(&all).await.is_err(), "{statement}");
        admin.batch_execute("rollback").await.unwrap();
    }
    // The owner cannot change rows by mistake either.
    for statement in ["update audit set detail = 'x'", "delete from audit", "truncate audit"] {
        assert!(admin.batch_execute(statement).await.is_err(), "{statement}");
    }
    // A user's request appends, and cannot read.
    let append = insert("", &own) + ")";
    let as_user = format!(
        "begin; set local role lukasa_serve; set local app.tenant = '{tenant}'; {append}; commit"
    );
    admin.batch_execute(&as_user).await.unwrap();
    let read = "set role lukasa_serve; select set_config('app.tenant', '', false)";
    admin.batch_execute(read).await.unwrap();
    assert!(admin.query("select 1 from audit", &[]).await.unwrap().is_empty());
    assert_eq!(story.engine.audit.verify(story.tenant, MAIN_CELL).await.unwrap().records, 3);
}

#[tokio::test]
async fn audit_appends_of_concurrent_writes_form_one_chain() {
    let story = Story::begin().await;
    let other = story.engine.credentials.ensure_tenant("globex", story.now()).await.unwrap();
    let make = |seed: u8| {
        let tenant = if seed.is_multiple_of(2) { story.tenant } else { other };
        let engine = story.engine.clone();
        async move { engine.credentials.create_key(tenant, key(), &[seed; 32], time(0)).await }
    };
    for made in join_all((1..=40).map(make)).await {
        made.unwrap();
    }
    for tenant in [story.tenant, other] {
        let report = story.engine.audit.verify(tenant, MAIN_CELL).await.unwrap();
        assert_eq!((report.records, report.fault), (20, None));
    }
    // A write that fails leaves no record: the secret of this key exists already.
    let again = story.engine.credentials.create_key(story.tenant, key(), &[2; 32], time(1)).await;
    assert!(again.is_err());
    assert_eq!(records(&story).await.len(), 20);
}

#[tokio::test]
async fn audit_prune_removes_the_oldest_records_and_the_chain_stays_verifiable() {
    let story = Story::begin().await;
    make_keys(&story, 1..4).await;
    story.pass(100);
    make_keys(&story, 4..6).await;
    let connect = story.database.connect();
    let removed = prune(&connect, story.tenant, time(50), time(200)).await.unwrap();
    assert_eq!(removed, 3);
    let log = records(&story).await;
    let told: Vec<_> = log.iter().map(|r| (r.number, r.event.as_str())).collect();
    assert_eq!(told, [(4, "key.create"), (5, "key.create"), (6, "audit.prune")]);
    assert_eq!((log[2].subject.as_str(), log[2].detail.as_str()), ("3", "removed=3"));
    let report = story.engine.audit.verify(story.tenant, MAIN_CELL).await.unwrap();
    assert_eq!((report.records, report.fault), (3, None));
    assert_eq!(prune(&connect, story.tenant, time(50), time(201)).await.unwrap(), 0);
    // What is removed otherwise is noticed.
    let admin = story.database.admin().await;
    let planted = "begin; set local app.audit_retention = 'on'; \
                   delete from audit where number = 4; commit";
    admin.batch_execute(planted).await.unwrap();
    let fault = story.engine.audit.verify(story.tenant, MAIN_CELL).await.unwrap().fault;
    assert_eq!(fault, Some(ChainFault::Order { number: 5, expected: 4 }));
}
