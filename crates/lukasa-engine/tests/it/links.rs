//! Links follow a memory through its changes and are hidden when one end is removed.

use lukasa_core::ProjectScope;
use lukasa_engine::facts::Target;

use crate::story::Story;

#[tokio::test]
async fn link_follows_its_memory_through_changes() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("tea").await);
    let cake = Story::fact(&story.save("cake").await);
    let (tea, cake) = (Target::Id(tea), Target::Id(cake));
    let engine = &story.engine;
    story.pass(1);
    engine.facts.link(&story.request(), &tea, &cake, "goes_with").await.unwrap();
    let linked = engine.facts.link(&story.request(), &tea, &cake, "goes_with").await.unwrap();
    assert_eq!(linked.operation, None, "the link exists once");
    let others = async |of: &Target| {
        let links =
            engine.facts.links(&story.alice(), of, &ProjectScope::All, story.now()).await.unwrap();
        links.into_iter().map(|l| l.other.version.claim.content).collect::<Vec<_>>()
    };
    assert_eq!(others(&tea).await, ["cake"]);
    assert_eq!(others(&cake).await, ["tea"], "links are read from both ends");
    story.pass(1);
    let Target::Id(cake_id) = cake else { unreachable!() };
    story.change(cake_id, "carrot cake").await;
    assert_eq!(others(&tea).await, ["carrot cake"]);
    story.pass(1);
    engine.removals.forget(&story.request(), &cake).await.unwrap();
    assert!(others(&tea).await.is_empty(), "a link to a forgotten memory is hidden");
    story.pass(1);
    engine.removals.restore(&story.request(), &cake).await.unwrap();
    assert_eq!(others(&tea).await, ["carrot cake"]);
    let link = engine
        .facts
        .links(&story.alice(), &tea, &ProjectScope::All, story.now())
        .await
        .unwrap()
        .remove(0)
        .link
        .id;
    story.pass(1);
    let unlinked = engine.facts.unlink(&story.request(), &cake, link).await.unwrap();
    assert!(others(&tea).await.is_empty());
    story.pass(1);
    engine.undo.undo(&story.request(), unlinked.operation.unwrap()).await.unwrap();
    assert_eq!(others(&tea).await, ["carrot cake"]);
}

#[tokio::test]
async fn memory_graph_follows_links_over_people_and_projects() {
    let story = Story::begin().await;
    let mut facts = Vec::new();
    for content in ["Ana is a colleague", "Ana leads Atlas", "Atlas uses Rust", "Rust has crates"] {
        facts.push(Story::fact(&story.save(content).await));
        story.pass(1);
    }
    let engine = &story.engine;
    for (from, to, relation) in [(0, 1, "leads"), (2, 1, "part_of"), (2, 3, "uses")] {
        let (from, to) = (Target::Id(facts[from]), Target::Id(facts[to]));
        engine.facts.link(&story.request(), &from, &to, relation).await.unwrap();
        story.pass(1);
    }
    let graph = async |depth: usize| {
        engine
            .facts
            .graph(&story.alice(), &Target::Id(facts[0]), depth, &ProjectScope::All, story.now())
            .await
    };
    let reached = async |depth: usize| {
        let graph = graph(depth).await.unwrap();
        let of = |(memory, distance): &(lukasa_engine::Memory, usize)| {
            (memory.version.claim.content.clone(), *distance)
        };
        (graph.memories.iter().map(of).collect::<Vec<_>>(), graph.links.len(), graph.is_cut)
    };
    let at = |content: &str, distance: usize| (content.to_owned(), distance);
    let (ana, atlas) = (at("Ana is a colleague", 0), at("Ana leads Atlas", 1));
    assert_eq!(reached(1).await, (vec![ana.clone(), atlas.clone()], 1, false));
    let all = vec![ana.clone(), atlas.clone(), at("Atlas uses Rust", 2), at("Rust has crates", 3)];
    assert_eq!(reached(3).await, (all, 3, false));
    assert_eq!(graph(4).await.unwrap_err().code(), "invalid_request");
    // A forgotten memory is no longer on the way to others.
    engine.removals.forget(&story.request(), &Target::Id(facts[2])).await.unwrap();
    assert_eq!(reached(3).await, (vec![ana, atlas], 1, false));
    let bob = lukasa_core::Caller::human(story.tenant, "bob", "local");
    let theirs =
        engine.facts.graph(&bob, &Target::Id(facts[0]), 1, &ProjectScope::All, story.now()).await;
    assert_eq!(theirs.unwrap_err().code(), "memory_not_found");
}

#[tokio::test]
async fn link_needs_two_active_memories_and_a_valid_relation() {
    let story = Story::begin().await;
    let tea = Target::Id(Story::fact(&story.save("tea").await));
    let cake = Target::Id(Story::fact(&story.save("cake").await));
    let engine = &story.engine;
    let itself = engine.facts.link(&story.request(), &tea, &tea, "is").await.unwrap_err();
    assert_eq!(itself.code(), "invalid_request");
    let word = engine.facts.link(&story.request(), &tea, &cake, "Goes With").await.unwrap_err();
    assert_eq!(word.code(), "invalid_request");
    story.pass(1);
    engine.removals.forget(&story.request(), &cake).await.unwrap();
    let gone = engine.facts.link(&story.request(), &tea, &cake, "goes_with").await.unwrap_err();
    assert_eq!(gone.code(), "not_active");
}
