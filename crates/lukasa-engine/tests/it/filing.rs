//! Filing: memories move to domains in one operation, and nothing else about them changes.

use lukasa_core::import::{Format, ImportItem, MemoryItem};
use lukasa_core::{Edit, FactId, Version};
use lukasa_engine::archive::ImportSource;
use lukasa_engine::facts::{NewMemory, Target, Update};
use lukasa_engine::{IdempotencyKey, Outcome, Request, Result};

use crate::story::Story;

async fn file(story: &Story, request: &Request, moves: &[(FactId, &str)]) -> Result<Outcome> {
    let domain = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let filed = moves.iter().map(|(fact, name)| (*fact, domain(name))).collect();
    story.engine.facts.file(request, &filed).await
}

/// The version without what every new version has.
fn lasting(version: Version, before: &Version) -> Version {
    let Version { id, number, known, opened_by, .. } = before.clone();
    Version { id, number, known, opened_by, ..version }
}

/// An imported memory that no prompt has yet, and a learned one that is likely.
async fn imported_and_learned(story: &Story) -> [Version; 2] {
    let item =
        MemoryItem { source: "a".into(), content: "Owns a boat".into(), ..MemoryItem::default() };
    let source = ImportSource { format: Format::Mem0, digest: "d".into(), name: "file".into() };
    let items = [ImportItem::Memory(item)];
    story.engine.archives.import_items(&story.request(), &source, &items, false).await.unwrap();
    story.pass(1);
    let learned = NewMemory { confidence: Some(0.9), ..NewMemory::saying("Sails on Sundays") };
    let request = story.by(story.extractor());
    let learned = story.engine.facts.save(&request, learned).await.unwrap();
    story.pass(1);
    let status = Some(lukasa_core::Status::Active);
    let filter = lukasa_store::list::ListFilter { status, ..Default::default() };
    let all = story.list(filter, lukasa_engine::Point::default()).await;
    let imported = all.iter().find(|m| m.version.fact != Story::fact(&learned)).unwrap();
    [imported.version.clone(), learned.memories[0].version.clone()]
}

#[tokio::test]
async fn filing_keeps_source_and_certainty_and_is_undone_as_one() {
    let story = Story::begin().await;
    let before = imported_and_learned(&story).await;
    let moves = before.each_ref().map(|version| (version.fact, "travel"));
    let filed = file(&story, &story.request(), &moves).await.unwrap();
    assert_eq!((filed.memories.len(), &filed.message[..]), (2, "Filed: 2"));
    story.pass(1);
    for old in &before {
        let mut new = story.get(old.fact).await.unwrap().version;
        assert_eq!((new.claim.domain.as_deref(), new.number), (Some("travel"), 2));
        new.claim.domain = None;
        assert_eq!(lasting(new, old), *old, "only the domain has changed");
    }
    story.engine.undo.undo(&story.request(), filed.operation.unwrap()).await.unwrap();
    story.pass(1);
    for old in &before {
        assert_eq!(story.get(old.fact).await.unwrap().version.claim.domain, None);
    }
}

#[tokio::test]
async fn correction_of_the_domain_alone_keeps_source_and_certainty() {
    let story = Story::begin().await;
    let [_, learned] = imported_and_learned(&story).await;
    let edit = Edit { domain: Some(Some("travel".into())), ..Edit::default() };
    let target = Target::Id(learned.fact);
    story.engine.facts.update(&story.request(), &target, Update::correct(edit)).await.unwrap();
    story.pass(1);
    let mut moved = story.get(learned.fact).await.unwrap().version;
    assert_eq!(moved.claim.domain.take().as_deref(), Some("travel"));
    assert_eq!(lasting(moved, &learned), learned);
    // With other words it is what the user says.
    let domain = Some(Some("food".into()));
    let edit = Edit { domain, ..Edit::content("Sails on Mondays") };
    story.engine.facts.update(&story.request(), &target, Update::correct(edit)).await.unwrap();
    assert_eq!(story.get(learned.fact).await.unwrap().version.confidence, None);
}

#[tokio::test]
async fn filing_leaves_out_removed_and_filed_memories_and_refuses_unknown_ones() {
    let story = Story::begin().await;
    let [kept, gone] = [story.save("Sings").await, story.save("Paints").await];
    story.pass(1);
    let [kept, gone] = [kept, gone].map(|saved| Story::fact(&saved));
    story.engine.removals.forget(&story.request(), &Target::Id(gone)).await.unwrap();
    story.pass(1);
    let key = IdempotencyKey { key: "k".into(), request_hash: vec![1] };
    let request = || Request { idempotency: Some(key.clone()), ..story.request() };
    let moves = [(kept, "personal"), (gone, "personal")];
    let first = file(&story, &request(), &moves).await.unwrap();
    assert_eq!((first.memories.len(), &first.message[..]), (1, "Filed: 1"));
    story.pass(1);
    let repeated = file(&story, &request(), &moves).await.unwrap();
    assert_eq!((repeated.operation, repeated.message), (first.operation, first.message));
    let again = file(&story, &story.request(), &moves).await.unwrap();
    assert_eq!((again.operation, &again.message[..]), (None, "Filed: 0"));
    let other = Story::begin().await;
    other.pass(1_000);
    let unknown = Story::fact(&other.save("Sings").await);
    let refused = file(&story, &story.request(), &[(kept, ""), (unknown, "")]).await;
    assert_eq!(refused.unwrap_err().code(), "memory_not_found");
    assert_eq!(story.get(kept).await.unwrap().version.claim.domain.as_deref(), Some("personal"));
    let refused = file(&story, &story.by(story.assistant()), &[(kept, "")]).await;
    assert_eq!(refused.unwrap_err().code(), "human_needed");
    let none = file(&story, &story.request(), &[]).await;
    assert_eq!(none.unwrap_err().code(), "invalid_request");
}
