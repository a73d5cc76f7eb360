//! Imports: of sessions, which are learned from with the origin of an import, and of exports.

use lukasa_core::archive::Contents;
use lukasa_core::import::{ChatItem, ChatTurn, Format, ImportItem, LinkItem, MemoryItem};
use lukasa_core::{
    Caller, CallerKind, FactId, ImportId, NewTurn, Origin, Role, State, Status, VersionId,
};
use lukasa_engine::archive::{Archive, ImportOptions, ImportSource};
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::Target;
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::removal::FactSource;
use serde_json::json;

use crate::learning::{memories, story_where, work};
use crate::story::Story;

pub(crate) fn source(format: Format) -> ImportSource {
    ImportSource { format, digest: "d".into(), name: "file".into() }
}

fn chat(turns: &[&str]) -> ImportItem {
    let turn = |content: &&str| ChatTurn {
        role: Role::User,
        content: (*content).to_owned(),
        said_at: None,
    };
    let turns = turns.iter().map(turn).collect();
    let (source, title) = ("c1".into(), Some("Tea".into()));
    ImportItem::Chat(ChatItem { source, title, opened_at: None, before: 0, turns, last: true })
}

#[tokio::test]
async fn imported_session_yields_candidates_only() {
    let tea = json!({"op": "add", "content": "User drinks tea.", "kind": "habit", "importance": 9,
                     "confidence": 1.0, "evidence": [{"turn": 1, "quote": "I drink tea"}]});
    let (story, model) = story_where(vec![tea]).await;
    let items = [chat(&["I drink tea."])];
    let dry = story
        .engine
        .archives
        .import_items(&story.request(), &source(Format::Claude), &items, true)
        .await;
    assert_eq!((dry.unwrap().estimate.calls, model.asked()), (1, 0));
    let taken = story
        .engine
        .archives
        .import_items(&story.request(), &source(Format::Claude), &items, false)
        .await;
    assert_eq!(taken.unwrap().counts.turns, 1);
    work(&story).await;
    assert_eq!(model.asked(), 1);
    assert!(memories(&story, Status::Active).await.is_empty());
    let [guess] = &memories(&story, Status::Candidate).await[..] else { panic!("one guess") };
    assert_eq!((guess.origin, guess.state), (Origin::Import, State::Candidate));
    // A longer export of the same session adds only its new turns.
    let items = [chat(&["I drink tea.", "And cocoa."])];
    let more = story
        .engine
        .archives
        .import_items(&story.request(), &source(Format::Claude), &items, false)
        .await;
    assert_eq!(more.unwrap().counts.turns, 1);
}

#[tokio::test]
async fn undo_of_import_keeps_memories_the_user_changed() {
    let story = Story::begin().await;
    let memory = |name: &str, content: &str| {
        let (source, content) = (name.to_owned(), content.to_owned());
        ImportItem::Memory(MemoryItem { source, content, ..MemoryItem::default() })
    };
    let link = LinkItem { from: "a".into(), to: "b".into(), relation: "near".into() };
    let items = [memory("a", "Likes tea"), memory("b", "Likes cake"), ImportItem::Link(link)];
    let from = source(Format::Mcp);
    let taken =
        story.engine.archives.import_items(&story.request(), &from, &items, false).await.unwrap();
    assert_eq!((taken.counts.memories, taken.counts.links), (2, 1));
    let cake = Target::Substring("cake".into());
    let cake = story.engine.facts.get(&story.alice(), &cake, Default::default(), story.now()).await;
    story.change(cake.unwrap().version.fact, "Likes pie").await;
    let strict = story.engine.undo.undo(&story.request(), taken.operations[0]).await;
    assert_eq!(strict.unwrap_err().code(), "undo_blocked");
    let undone = story.engine.archives.undo_import(&story.request(), taken.import).await.unwrap();
    assert_eq!((undone.operations, undone.kept), (1, 1));
    assert_eq!(story.active().await, ["Likes pie"]);
    let again =
        story.engine.archives.import_items(&story.request(), &from, &items, false).await.unwrap();
    assert_eq!(
        (again.counts.memories, again.counts.known),
        (1, 1),
        "only the undone memory is imported again"
    );
}

/// An export as an archive that was not signed.
pub(crate) async fn exported(story: &Story) -> Archive {
    let export = story.engine.archives.export(&story.alice(), story.now()).await.unwrap();
    let contents = Contents {
        operations: export.operations().await.unwrap().all().await.unwrap(),
        versions: export.memories(false).await.unwrap().all().await.unwrap(),
        sessions: export.sessions().await.unwrap().all().await.unwrap(),
        turns: export.turns().await.unwrap().all().await.unwrap(),
        episodes: export.episodes().await.unwrap().all().await.unwrap(),
        ..Contents::default()
    };
    Archive { contents, ..Archive::default() }
}

#[tokio::test]
async fn edited_export_with_ids_of_existing_versions_and_turns_is_imported_without_them() {
    let story = Story::begin().await;
    story.save("Likes tea").await;
    story.save("Likes cake").await;
    let turns = ["Hello", "I cycle"].map(|text| NewTurn::saying(Role::User, text)).to_vec();
    story.engine.sessions.append_turns(&story.request(), "first", turns).await.unwrap();
    story.pass(1);
    let unknown = |number: u8| FactId::from_uuid(uuid::Uuid::from_bytes([number; 16]));
    // Three edits: another memory with the id of an existing version, another memory with the id
    // of an existing turn, and another session with an existing turn.
    let mut edited = exported(&story).await;
    let contents = &mut edited.contents;
    contents.versions[0].fact = unknown(1);
    contents.versions[1].fact = unknown(2);
    contents.versions[1].id = VersionId::from_uuid(contents.turns[0].id.uuid());
    contents.sessions[0].id = "second".to_owned();
    contents.turns.iter_mut().for_each(|turn| turn.session = "second".to_owned());
    contents.turns.remove(0);
    let options = ImportOptions { dry_run: false, trust: true };
    let (request, from) = (story.request(), source(Format::Lukasa));
    let report = story.engine.archives.import_archive(&request, &from, edited, options).await;
    let counts = report.unwrap().counts;
    assert_eq!((counts.memories, counts.chats, counts.turns), (0, 1, 0));
    assert_eq!(story.active().await.len(), 2);
}

#[tokio::test]
async fn session_imported_from_the_trash_can_be_restored() {
    let story = Story::begin().await;
    let turns = vec![NewTurn::saying(Role::User, "I cycle to work")];
    story.engine.sessions.append_turns(&story.request(), "old", turns).await.unwrap();
    let session = FactSource::Session("old".into());
    story.engine.removals.withdraw(&story.request(), &session).await.unwrap();
    story.pass(60);
    let archive = exported(&story).await;
    let bob = Caller::human(story.tenant, "bob", "local");
    let (request, from) = (story.by(bob.clone()), source(Format::Lukasa));
    let options = ImportOptions { dry_run: false, trust: false };
    story.engine.archives.import_archive(&request, &from, archive, options).await.unwrap();
    story.pass(60);
    let request = story.by(bob.clone());
    let restored = story.engine.undo.restore_session(&request, "old").await.unwrap();
    assert_eq!(restored.trashed_at, None);
    let ask = RecallQuery { turns: 5, ..RecallQuery::about("How do I get to work? I cycle") };
    let found = story.engine.recall.search(&bob, &ask, story.now()).await.unwrap();
    assert_eq!(found.turns.len(), 1);
}

#[tokio::test]
async fn agent_undoes_only_the_import_that_its_own_credential_made() {
    let story = Story::begin().await;
    let archives = &story.engine.archives;
    let other = Caller::key(story.tenant, "alice", "k2", Origin::Assistant);
    let import = async |caller: Caller, digest: &str, turns: &[&str]| {
        story.pass(1);
        let from = ImportSource { digest: digest.into(), ..source(Format::Claude) };
        let items = [ImportItem::Chat(ChatItem {
            source: digest.into(),
            title: None,
            opened_at: None,
            before: 0,
            turns: turns
                .iter()
                .map(|text| ChatTurn { role: Role::User, content: (*text).into(), said_at: None })
                .collect(),
            last: true,
        })];
        archives.import_items(&story.by(caller), &from, &items, false).await.unwrap().import
    };
    let undo = async |caller: &Caller, id: ImportId| {
        story.pass(1);
        archives.undo_import(&story.by(caller.clone()), id).await.map(|undone| undone.chats)
    };
    let (alice, assistant) = (story.alice(), story.assistant());
    let refused = async |id: ImportId| {
        for caller in [&assistant, &other] {
            assert_eq!(undo(caller, id).await.unwrap_err().code(), "human_needed");
        }
    };
    let users = import(alice.clone(), "users", &["I drink tea."]).await;
    refused(users).await;
    assert_eq!(undo(&alice, users).await.unwrap(), 1);
    let own = import(assistant.clone(), "own", &["I drink cocoa."]).await;
    assert_eq!(undo(&other, own).await.unwrap_err().code(), "human_needed");
    assert_eq!(undo(&assistant, own).await.unwrap(), 1);
    // It is the user's when they import the source again, and no one's alone when both have.
    import(alice.clone(), "own", &["I drink cocoa."]).await;
    refused(own).await;
    let joint = import(assistant.clone(), "joint", &["I drink mate."]).await;
    import(alice.clone(), "joint", &["I drink mate.", "I drink coffee."]).await;
    refused(joint).await;
    // From before the importer was recorded.
    let old = import(assistant.clone(), "old", &["I drink water."]).await;
    let forget = "update import set caller = null, credential = null";
    story.database.admin().await.batch_execute(forget).await.unwrap();
    refused(old).await;
    assert_eq!(undo(&alice, old).await.unwrap(), 1);
}

#[tokio::test]
async fn consents_of_a_trusted_export_are_an_operation_of_the_import() {
    let story = Story::begin().await;
    let (request, open) = (story.request(), OptIn::Open);
    story.engine.directory.set_opt_in(&request, "health", open).await.unwrap();
    story.engine.consents.give(&story.request(), "finance").await.unwrap();
    let since = story.now();
    story.pass(60);
    let mut archive = exported(&story).await;
    let export = story.engine.archives.export(&story.alice(), story.now()).await.unwrap();
    archive.domains = export.domains().await.unwrap();
    drop(export);
    let bob = Caller::human(story.tenant, "bob", "local");
    let domains = async || {
        let all = story.engine.directory.domains(&bob, story.now()).await.unwrap();
        let of = |name: &str| {
            let found = all.iter().find(|one| one.domain.name == name).unwrap();
            (found.opted_in_at, found.admits_inferred)
        };
        [of("finance"), of("health")]
    };
    let (by, from) = (|| story.by(bob.clone()), source(Format::Lukasa));
    let entries = async || {
        let sql = "select detail from audit where event = 'domain.consent' and user_id = $1 \
                    order by number";
        let admin = story.database.admin().await;
        let rows = admin.query(sql, &[&bob.user.uuid()]).await.unwrap();
        rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>()
    };
    assert_eq!(domains().await, [(None, false), (None, false)]);
    let options = ImportOptions { dry_run: false, trust: true };
    let archives = &story.engine.archives;
    let taken = archives.import_archive(&by(), &from, archive, options).await.unwrap();
    assert_eq!(domains().await, [(Some(since), true), (Some(since), false)]);
    assert_eq!(entries().await, ["domain=finance,given=true"]);
    assert_eq!(taken.operations.len(), 1);
    story.pass(60);
    let undone = archives.undo_import(&by(), taken.import).await.unwrap();
    assert_eq!(undone.operations, 1);
    let [finance, _] = domains().await;
    assert_eq!(finance, (None, false));
    assert_eq!(entries().await, ["domain=finance,given=true", "domain=finance,given=false"]);
}

#[tokio::test]
async fn undo_of_an_import_leaves_a_consent_that_was_given_again_since() {
    let story = Story::begin().await;
    story.engine.consents.give(&story.request(), "finance").await.unwrap();
    story.pass(60);
    let mut archive = exported(&story).await;
    let export = story.engine.archives.export(&story.alice(), story.now()).await.unwrap();
    archive.domains = export.domains().await.unwrap();
    drop(export);
    let bob = Caller::human(story.tenant, "bob", "local");
    let by = || {
        story.pass(1);
        story.by(bob.clone())
    };
    let options = ImportOptions { dry_run: false, trust: true };
    let (archives, consents) = (&story.engine.archives, &story.engine.consents);
    let from = source(Format::Lukasa);
    let taken = archives.import_archive(&by(), &from, archive, options).await.unwrap();
    consents.withdraw(&by(), "finance").await.unwrap();
    consents.give(&by(), "finance").await.unwrap();
    archives.undo_import(&by(), taken.import).await.unwrap();
    let all = story.engine.directory.domains(&bob, story.now()).await.unwrap();
    let finance = all.iter().find(|one| one.domain.name == "finance").unwrap();
    assert!(finance.opted_in_at.is_some() && finance.admits_inferred);
}

#[tokio::test]
async fn agent_reverses_no_operation_that_an_untrusted_import_of_the_user_brought() {
    let (story, other) = (Story::begin().await, Story::begin().await);
    let saved = Story::fact(&other.save("Drinks tea").await);
    other.pass(1);
    other.engine.removals.forget(&other.request(), &Target::Id(saved)).await.unwrap();
    let archive = exported(&other).await;
    let options = ImportOptions { dry_run: false, trust: false };
    story.pass(60);
    let (request, from) = (story.request(), source(Format::Lukasa));
    story.engine.archives.import_archive(&request, &from, archive, options).await.unwrap();
    let log = exported(&story).await.contents.operations;
    let brought: Vec<_> = log.iter().filter(|o| o.caller == CallerKind::Job).collect();
    assert_eq!(brought.len(), 2, "{log:#?}");
    let by_assistant = || story.by(story.assistant());
    for operation in brought {
        story.pass(1);
        let refused = story.engine.undo.undo(&by_assistant(), operation.id).await.unwrap_err();
        assert_eq!(refused.code(), "human_needed", "{operation:?}");
    }
    let refused = story.engine.undo.undo_last(&by_assistant()).await.unwrap_err();
    assert_eq!(refused.code(), "human_needed");
}

#[tokio::test]
async fn interrupted_import_of_a_trusted_export_gives_its_consents_when_it_is_repeated() {
    let story = Story::begin().await;
    story.engine.consents.give(&story.request(), "finance").await.unwrap();
    story.save("Drinks tea").await;
    story.pass(60);
    let domains = async || {
        let export = story.engine.archives.export(&story.alice(), story.now()).await.unwrap();
        export.domains().await.unwrap()
    };
    let archive = async || Archive { domains: domains().await, ..exported(&story).await };
    let bob = Caller::human(story.tenant, "bob", "local");
    let import = async |archive: Archive| {
        story.pass(1);
        let (request, from) = (story.by(bob.clone()), source(Format::Lukasa));
        let options = ImportOptions { dry_run: false, trust: true };
        story.engine.archives.import_archive(&request, &from, archive, options).await
    };
    let admin = story.database.admin().await;
    let fail = "create function fail() returns trigger language plpgsql as \
                $$ begin raise exception 'stopped'; end $$; \
                create trigger fail before insert on user_domain for each row \
                when (new.admits_inferred) execute function fail()";
    admin.batch_execute(fail).await.unwrap();
    import(archive().await).await.unwrap_err();
    admin.batch_execute("drop trigger fail on user_domain").await.unwrap();
    let taken = import(archive().await).await.unwrap();
    assert_eq!(taken.operations.len(), 2, "the consents, and the memories");
    let all = story.engine.directory.domains(&bob, story.now()).await.unwrap();
    let finance = all.iter().find(|one| one.domain.name == "finance").unwrap();
    assert!(finance.opted_in_at.is_some() && finance.admits_inferred);
    // Once it is there, what the user has changed since is left alone.
    story.pass(1);
    story.engine.consents.withdraw(&story.by(bob.clone()), "finance").await.unwrap();
    import(archive().await).await.unwrap();
    let all = story.engine.directory.domains(&bob, story.now()).await.unwrap();
    assert!(!all.iter().find(|one| one.domain.name == "finance").unwrap().admits_inferred);
}
