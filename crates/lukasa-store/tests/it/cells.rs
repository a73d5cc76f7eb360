//! Cells: users are found in the cell that holds them, by servers with an old map too; work over all
//! users asks every cell; a cell that is away concerns its own users only; users are moved whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::try_join;
use lukasa_core::job::Task;
use lukasa_core::placement::{MAIN_CELL, PlacedRange, Placement, UserRange};
use lukasa_core::{Ids, TenantId, Timestamp, UserId};
use lukasa_store::cell_admin::{self, CellAddress};
use lukasa_store::mover::{self, MoveFault, MoveOptions};
use lukasa_store::testing::TestDatabase;
use lukasa_store::{Batch, ConnectOptions, Error, Store, directory, domain, job, operation};

mod faults;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

pub(crate) fn acme() -> TenantId {
    TenantId::named("acme")
}

fn globex() -> TenantId {
    TenantId::named("globex")
}

/// A directory, which is the main cell, and one more cell.
pub(crate) struct Deployment {
    pub(crate) main: TestDatabase,
    pub(crate) east: TestDatabase,
}

impl Deployment {
    pub(crate) async fn new() -> Self {
        let (main, east) = (TestDatabase::fresh().await, TestDatabase::fresh().await);
        for database in [&main, &east] {
            for name in ["acme", "globex"] {
                let list = database.store().directory(TenantId::named(name)).await.unwrap();
                directory::ensure_tenant(&list, name, NOW).await.unwrap();
                list.commit().await.unwrap();
            }
        }
        cell_admin::apply(&east.connect(), &[]).await.unwrap();
        let deployment = Self { main, east };
        deployment.list_cell(&deployment.east.url()).await;
        deployment
    }

    pub(crate) async fn list_cell(&self, url: &str) {
        let admin = self.main.admin().await;
        let sql = "insert into cell (name, url, added_at) values ('east', $1, now()) \
                   on conflict (name) do update set url = $1";
        admin.execute(sql, &[&url]).await.unwrap();
    }

    fn cells(&self) -> Vec<CellAddress> {
        let of = |name: &str, database: &TestDatabase| CellAddress {
            name: name.to_owned(),
            connect: database.connect(),
            moved_from_at: None,
        };
        vec![of(MAIN_CELL, &self.main), of("east", &self.east)]
    }

    /// Sets the map without moving users.
    async fn place(&self, placement: &Placement) {
        let mut directory = cell_admin::lock(&self.main.connect()).await.unwrap();
        directory.set_placement(placement).await.unwrap();
        for cell in self.cells() {
            cell_admin::apply(&cell.connect, &placement.holdings(&cell.name)).await.unwrap();
        }
    }

    /// The upper half of the users in the second cell.
    pub(crate) async fn place_halves(&self) {
        self.place(&moved(&upper_moving())).await;
    }

    /// The number of users in each cell.
    async fn counts(&self) -> (i64, i64) {
        (count(&self.main, "users").await, count(&self.east, "users").await)
    }

    async fn move_users(
        &self,
        tenant: Option<TenantId>,
        range: UserRange,
        to: &str,
        fault: MoveFault,
    ) -> Result<usize, Error> {
        let options = MoveOptions { fault, ..MoveOptions::default() };
        self.move_with(&self.cells(), tenant, range, to, options).await
    }

    async fn move_with(
        &self,
        cells: &[CellAddress],
        tenant: Option<TenantId>,
        range: UserRange,
        to: &str,
        options: MoveOptions,
    ) -> Result<usize, Error> {
        let mut directory = cell_admin::lock(&self.main.connect()).await?;
        let before = directory.placement().await?;
        let planned = before.begin_move(tenant, range, None, to).unwrap();
        mover::begin(&mut directory, cells, &before, &planned, NOW).await?;
        let mut count = 0;
        for moving in planned.ranges().iter().filter(|r| r.moving_to.is_some()) {
            count += mover::finish(&mut directory, cells, moving, options, |_| {}).await?.moved;
        }
        Ok(count)
    }
}

async fn count(database: &TestDatabase, table: &str) -> i64 {
    let sql = format!("select count(*) from {table}");
    database.admin().await.query_one(&sql, &[]).await.unwrap().get(0)
}

fn upper() -> UserRange {
    UserRange::parse("80-ff").unwrap()
}

fn upper_moving() -> Placement {
    Placement::single().begin_move(None, upper(), None, "east").unwrap()
}

fn moved(placement: &Placement) -> Placement {
    let moving: Vec<PlacedRange> =
        placement.ranges().iter().filter(|r| r.moving_to.is_some()).cloned().collect();
    moving.iter().fold(placement.clone(), |map, range| map.finish_move(range))
}

/// Names of users, some of each half.
pub(crate) fn names() -> Vec<String> {
    (0..24).map(|number| format!("user{number:02}")).collect()
}

fn named(name: &str) -> UserId {
    UserId::named(acme(), name)
}

pub(crate) fn is_upper(name: &str) -> bool {
    upper().contains(named(name))
}

/// Creates the user, and writes one row about them.
pub(crate) async fn write(
    store: &Store,
    tenant: TenantId,
    name: &str,
    row: &str,
) -> Result<(), Error> {
    let scope = store.write(tenant, UserId::named(tenant, name)).await?;
    // As the engine begins a write: several statements are sent before the first is answered.
    let (user, _) = try_join!(directory::me(&scope), operation::last_at(&scope))?;
    if user.is_none() {
        directory::ensure_me(&scope, name, NOW).await?;
    }
    domain::open(&scope, row, NOW).await?;
    scope.commit().await
}

pub(crate) async fn read(
    store: &Store,
    tenant: TenantId,
    name: &str,
) -> Result<Vec<String>, Error> {
    let scope = store.read(tenant, UserId::named(tenant, name)).await?;
    let (user, opened) = try_join!(directory::me(&scope), domain::opened(&scope))?;
    assert!(user.is_some() || opened.is_empty());
    Ok(opened.into_iter().map(|(name, _)| name).collect())
}

#[tokio::test]
async fn cells_hold_the_users_of_their_range() {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
        assert_eq!(read(&store, acme(), &name).await.unwrap(), ["travel"]);
    }
    let uppers = names().iter().filter(|name| is_upper(name)).count() as i64;
    assert!(uppers > 4 && uppers < 20);
    assert_eq!(deployment.counts().await, (24 - uppers, uppers));
}

#[tokio::test]
async fn server_with_an_old_map_finds_the_user_in_the_right_cell() {
    let deployment = Deployment::new().await;
    let old = deployment.main.store();
    let lower = names().into_iter().find(|name| !is_upper(name)).unwrap();
    write(&old, acme(), &lower, "travel").await.unwrap();
    deployment.place_halves().await;
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    write(&old, acme(), &name, "travel").await.unwrap();
    assert_eq!(deployment.counts().await, (1, 1));
    // A read first, a settled read, and a lossy write, each by a server that has read no map.
    assert_eq!(read(&deployment.main.store(), acme(), &name).await.unwrap(), ["travel"]);
    let scope = deployment.main.store().read_settled(acme(), named(&name)).await.unwrap();
    assert!(directory::me(&scope).await.unwrap().is_some());
    drop(scope);
    let scope = deployment.main.store().write_lossy(acme(), named(&name)).await.unwrap();
    assert!(directory::me(&scope).await.unwrap().is_some());
    scope.commit().await.unwrap();
    // Without the check such a server would write into the wrong cell.
    let admin = deployment.main.admin().await;
    let planted = "create or replace function check_placement(tenant uuid, person uuid, via bigint) \
                   returns void language plpgsql as 'begin end'";
    admin.batch_execute(planted).await.unwrap();
    write(&deployment.main.store(), acme(), &name, "travel").await.unwrap();
    assert_eq!(deployment.counts().await, (2, 1));
}

#[tokio::test]
async fn moving_range_is_served_by_the_cell_that_has_the_user() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let uppers: Vec<String> = names().into_iter().filter(|name| is_upper(name)).collect();
    write(&store, acme(), &uppers[0], "travel").await.unwrap();
    deployment.place(&upper_moving()).await;
    for store in [store, deployment.main.store()] {
        write(&store, acme(), &uppers[0], "work").await.unwrap();
        assert_eq!(read(&store, acme(), &uppers[0]).await.unwrap().len(), 2);
    }
    assert_eq!(deployment.counts().await, (1, 0));
    // A new user begins in the target.
    write(&deployment.main.store(), acme(), &uppers[1], "travel").await.unwrap();
    assert_eq!(deployment.counts().await, (1, 1));
    // The target of another move does not accept the user.
    let admin = deployment.east.admin().await;
    admin.batch_execute("update holding set epoch = epoch + 7").await.unwrap();
    let refused = read(&deployment.main.store(), acme(), &uppers[1]).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn lists_and_claims_are_over_all_cells() {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
        let scope = store.write(acme(), named(&name)).await.unwrap();
        directory::me(&scope).await.unwrap();
        let mut batch = Batch::default();
        let id = Ids::new(NOW, *named(&name).uuid().as_bytes()).job();
        job::queue(&mut batch, &scope, id, &Task::Upkeep, NOW, NOW);
        scope.run(&batch).await.unwrap();
        scope.commit().await.unwrap();
    }
    let (mut listed, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.users(acme(), after.as_deref(), 5).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.name.clone());
        listed.extend(page.into_iter().map(|user| user.name));
    }
    assert_eq!(listed, names());
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_user_ids(after, 5).await.unwrap();
        let Some((_, last)) = page.last() else { break };
        after = Some(*last);
        ids.extend(page.into_iter().map(|(_, user)| user));
    }
    let mut expected: Vec<UserId> = names().iter().map(|name| named(name)).collect();
    expected.sort();
    assert_eq!(ids, expected);
    assert_eq!(store.backlog(Timestamp::from_second(1).unwrap()).await.unwrap().due, 24);
    assert_eq!(store.next_job_at().await.unwrap(), Some(NOW));
    let mut claimed = Vec::new();
    while let Some(job) =
        store.claim_job("worker", Timestamp::from_second(1).unwrap()).await.unwrap()
    {
        let scope = store.write(job.tenant, job.user).await.unwrap();
        assert!(job::is_held(&scope, &job).await.unwrap());
        claimed.push(job.user);
    }
    claimed.sort();
    assert_eq!(claimed, expected);
}

#[tokio::test]
async fn unavailable_cell_affects_only_its_users() {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    deployment.list_cell("postgres://lukasa@127.0.0.1:9/none").await;
    let store = deployment.main.store();
    let lower = names().into_iter().find(|name| !is_upper(name)).unwrap();
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    for _ in 0..3 {
        let started = Instant::now();
        let refused = read(&store, acme(), &name).await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        assert!(started.elapsed() < Duration::from_millis(500));
        write(&store, acme(), &lower, "travel").await.unwrap();
    }
    assert!(store.is_ready().await.unwrap());
    assert_eq!(store.claim_job("worker", NOW).await.unwrap(), None);
    assert_eq!(store.cells_up(), [("east".to_owned(), false)]);
    // A list without some of the users would be wrong.
    assert!(matches!(store.users(acme(), None, 10).await, Err(Error::Unavailable(_))));
    deployment.list_cell(&deployment.east.url()).await;
    write(&deployment.main.store(), acme(), &name, "travel").await.unwrap();
}

#[tokio::test]
async fn cell_without_all_migrations_is_not_used() {
    let deployment = Deployment::new().await;
    deployment.place_halves().await;
    let admin = deployment.east.admin().await;
    let delete = "delete from refinery_schema_history where version = \
                    (select max(version) from refinery_schema_history)";
    admin.batch_execute(delete).await.unwrap();
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    let refused = write(&deployment.main.store(), acme(), &name, "travel").await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
}

#[tokio::test]
async fn journal_is_read_from_the_oldest_checkpoint_of_a_cell() {
    use lukasa_store::erasure::Checkpoint;
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let at = |bytes: i64| Checkpoint { bytes, line: bytes.to_string(), checked_until: NOW };
    assert_eq!(store.journal_checkpoint("j").await.unwrap(), None);
    store.set_journal_checkpoint("j", &at(10)).await.unwrap();
    assert_eq!(store.journal_checkpoint("j").await.unwrap(), Some(at(10)));
    // As a restored backup has it.
    let admin = deployment.east.admin().await;
    admin.batch_execute("update journal_checkpoint set bytes = 3, line = '3'").await.unwrap();
    assert_eq!(store.journal_checkpoint("j").await.unwrap(), Some(at(3)));
    admin.batch_execute("delete from journal_checkpoint").await.unwrap();
    assert_eq!(store.journal_checkpoint("j").await.unwrap(), None);
}

#[tokio::test]
async fn one_cell_has_an_empty_map() {
    let database = TestDatabase::fresh().await;
    assert_eq!(count(&database, "cell").await + count(&database, "placement").await, 0);
    assert_eq!(cell_admin::placement(&database.connect()).await.unwrap(), Placement::single());
    let cells = cell_admin::list(&database.connect()).await.unwrap();
    assert_eq!(cells.len(), 1);
    let store = database.store();
    assert_eq!(store.claim_job("worker", NOW).await.unwrap(), None);
    assert_eq!(store.cells_up(), []);
    assert!(store.pool_usage().iter().all(|pool| pool.cell.is_none()));
}

/// Writes rows of all users, one by one, until `stop` is set; returns what was acknowledged.
async fn write_all(store: Store, stop: Arc<AtomicBool>) -> (usize, Vec<String>) {
    let (mut written, mut faults) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        for name in names() {
            if let Err(error) = write(&store, acme(), &name, &format!("row{written}")).await {
                faults.push(format!("write of {name}: {error}"));
            }
            match read(&store, acme(), &name).await {
                Ok(rows) if rows.contains(&format!("row{written}")) => {}
                other => faults.push(format!("read of {name}: {other:?}")),
            }
        }
        written += 1;
    }
    (written, faults)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_moved_under_writes_without_a_refusal_or_a_loss() {
    let deployment = Deployment::new().await;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(write_all(deployment.main.store(), stop.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    for _ in 0..3 {
        deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        deployment.move_users(None, UserRange::ALL, MAIN_CELL, MoveFault::None).await.unwrap();
    }
    let half = UserRange::parse("40-bf").unwrap();
    deployment.move_users(None, half, "east", MoveFault::None).await.unwrap();
    stop.store(true, Ordering::Relaxed);
    let (written, faults) = writer.await.unwrap();
    assert_eq!(faults, Vec::<String>::new());
    assert!(written > 2);
    let inside = names().iter().filter(|name| half.contains(named(name))).count() as i64;
    assert_eq!(deployment.counts().await, (24 - inside, inside));
    let rows = count(&deployment.main, "user_domain").await;
    let moved = count(&deployment.east, "user_domain").await;
    assert_eq!(moved, inside * written as i64);
    assert_eq!(rows + moved, 24 * written as i64);
}

#[tokio::test]
async fn pinned_tenant_has_no_row_in_another_cell() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
        write(&store, globex(), &name, "travel").await.unwrap();
    }
    let moved = deployment.move_users(Some(globex()), UserRange::ALL, "east", MoveFault::None);
    assert_eq!(moved.await.unwrap(), 24);
    write(&store, globex(), "later", "travel").await.unwrap();
    assert_eq!(deployment.counts().await, (24, 25));
    // Moving the common range leaves the tenant where it is, and an old map does not find it there.
    deployment.move_users(None, UserRange::ALL, "east", MoveFault::None).await.unwrap();
    deployment.move_users(None, UserRange::ALL, MAIN_CELL, MoveFault::None).await.unwrap();
    write(&deployment.main.store(), globex(), "last", "travel").await.unwrap();
    assert_eq!(deployment.counts().await, (24, 26));
    let admin = deployment.main.admin().await;
    let sql = "select count(*) from users where tenant_id = $1";
    assert_eq!(admin.query_one(sql, &[&globex().uuid()]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn interrupted_move_is_continued_or_reversed() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    for name in names() {
        write(&store, acme(), &name, "travel").await.unwrap();
    }
    // The command ends after it has begun, with a copy in the target that was committed alone.
    let uppers: Vec<String> = names().into_iter().filter(|name| is_upper(name)).collect();
    deployment.place(&upper_moving()).await;
    let admin = deployment.east.admin().await;
    let sql = "insert into users (user_id, tenant_id, name, created_at) values ($1, $2, $3, now())";
    admin.execute(sql, &[&named(&uppers[0]).uuid(), &acme().uuid(), &uppers[0]]).await.unwrap();
    assert_eq!(read(&store, acme(), &uppers[0]).await.unwrap(), ["travel"]);
    let count = uppers.len() as i64;
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    assert_eq!(deployment.counts().await, (24 - count, count));
    assert_eq!(read(&store, acme(), &uppers[0]).await.unwrap(), ["travel"]);
    // A second one is reversed half-way.
    let back = cell_admin::placement(&deployment.main.connect()).await.unwrap();
    let half_way = back.begin_move(None, upper(), Some("east"), MAIN_CELL).unwrap();
    deployment.place(&half_way).await;
    write(&deployment.main.store(), acme(), &uppers[1], "work").await.unwrap();
    deployment.move_users(None, upper(), "east", MoveFault::None).await.unwrap();
    assert_eq!(deployment.counts().await, (24 - count, count));
    let done = cell_admin::placement(&deployment.main.connect()).await.unwrap();
    assert!(!done.is_moving());
    for name in names() {
        assert!(!read(&store, acme(), &name).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn move_that_skips_a_table_is_not_finished() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    write(&store, acme(), &name, "travel").await.unwrap();
    let skipped = MoveFault::SkippedTable("user_domain");
    let refused = deployment.move_users(None, upper(), "east", skipped).await;
    assert!(matches!(refused, Err(Error::Configuration(_))), "{refused:?}");
    for database in [&deployment.main, &deployment.east] {
        database.leave_unchecked();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn move_waits_for_a_write_that_began_before() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    // A first write of a user that began before the move and is not committed yet.
    let scope = store.write(acme(), named(&name)).await.unwrap();
    directory::ensure_me(&scope, &name, NOW).await.unwrap();
    let moving = deployment.move_users(None, upper(), "east", MoveFault::None);
    let commit = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        scope.commit().await
    };
    let (moved, committed) = tokio::join!(moving, commit);
    committed.unwrap();
    assert_eq!(moved.unwrap(), 1);
    assert_eq!(deployment.counts().await, (0, 1));
}

#[tokio::test]
async fn planted_move_without_waiting_loses_a_write() {
    let deployment = Deployment::new().await;
    let store = deployment.main.store();
    let name = names().into_iter().find(|name| is_upper(name)).unwrap();
    let scope = store.write(acme(), named(&name)).await.unwrap();
    directory::ensure_me(&scope, &name, NOW).await.unwrap();
    let moved = deployment.move_users(None, upper(), "east", MoveFault::NoWait).await;
    assert_eq!(moved.unwrap(), 0);
    domain::open(&scope, "travel", NOW).await.unwrap();
    scope.commit().await.unwrap();
    assert_eq!(deployment.counts().await, (1, 0));
    assert!(read(&store, acme(), &name).await.unwrap().is_empty());
}

#[tokio::test]
async fn main_cell_that_is_away_is_always_asked() {
    let connect = ConnectOptions {
        url: "postgres://lukasa@127.0.0.1:9/none".into(),
        pool_size: 1,
        ca_file: None,
    };
    let store = Store::connect(&connect).unwrap();
    for _ in 0..2 {
        let refused = read(&store, acme(), "alice").await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    }
}
