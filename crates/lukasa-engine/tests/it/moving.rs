//! Imported sessions: learned from, with the origin of an import.

use lukasa_core::import::{ChatItem, ChatTurn, Format, ImportItem, LinkItem, MemoryItem};
use lukasa_core::{Origin, Role, State, Status};
use lukasa_engine::facts::Target;
use lukasa_engine::moving::ImportSource;
use serde_json::json;

use crate::learn::{memories, story_where, work};
use crate::story::Story;

fn source(format: Format) -> ImportSource {
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
    let dry =
        story.engine.import_items(&story.request(), &source(Format::Claude), &items, true).await;
    assert_eq!((dry.unwrap().estimate.calls, model.asked()), (1, 0));
    let taken =
        story.engine.import_items(&story.request(), &source(Format::Claude), &items, false).await;
    assert_eq!(taken.unwrap().counts.turns, 1);
    work(&story).await;
    assert_eq!(model.asked(), 1);
    assert!(memories(&story, Status::Active).await.is_empty());
    let [guess] = &memories(&story, Status::Candidate).await[..] else { panic!("one guess") };
    assert_eq!((guess.origin, guess.state), (Origin::Import, State::Candidate));
    // A longer export of the same session adds only its new turns.
    let items = [chat(&["I drink tea.", "And cocoa."])];
    let more =
        story.engine.import_items(&story.request(), &source(Format::Claude), &items, false).await;
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
    let taken = story.engine.import_items(&story.request(), &from, &items, false).await.unwrap();
    assert_eq!((taken.counts.memories, taken.counts.links), (2, 1));
    let cake = Target::Substring("cake".into());
    let cake = story.engine.get(&story.alice(), &cake, Default::default(), story.now()).await;
    story.change(cake.unwrap().version.fact, "Likes pie").await;
    let strict = story.engine.undo(&story.request(), taken.operations[0]).await;
    assert_eq!(strict.unwrap_err().code(), "undo_blocked");
    let undone = story.engine.undo_import(&story.request(), taken.import).await.unwrap();
    assert_eq!((undone.operations, undone.kept), (1, 1));
    assert_eq!(story.active().await, ["Likes pie"]);
    let again = story.engine.import_items(&story.request(), &from, &items, false).await.unwrap();
    assert_eq!(
        (again.counts.memories, again.counts.known),
        (1, 1),
        "only the undone memory is imported again"
    );
}
