//! Links follow a memory through its changes and are hidden when one end is removed.

use lukasa_core::{LinkId, Project, ProjectScope};
use lukasa_engine::facts::{LinkPage, NewMemory, Target};

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
        let links = story.links(of, None, 50).await.links;
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
    let link = story.links(&tea, None, 50).await.links.remove(0).link.id;
    story.pass(1);
    let unlinked = engine.facts.unlink(&story.request(), &cake, link).await.unwrap();
    assert!(others(&tea).await.is_empty());
    story.pass(1);
    engine.undo.undo(&story.request(), unlinked.operation.unwrap()).await.unwrap();
    assert_eq!(others(&tea).await, ["carrot cake"]);
}

impl Story {
    async fn links(&self, of: &Target, after: Option<LinkId>, limit: usize) -> LinkPage {
        let (facts, all) = (&self.engine.facts, ProjectScope::All);
        facts.links(&self.alice(), of, &all, (after, limit), self.now()).await.unwrap()
    }
}

#[tokio::test]
async fn link_pages_have_every_link_of_the_projects_once_and_in_order() {
    let story = Story::begin().await;
    let tea = Target::Id(Story::fact(&story.save("tea").await));
    let mut made = Vec::new();
    for number in 0..7 {
        story.pass(1);
        let project = (number % 2 == 1).then(|| Project::parse("Atlas").unwrap());
        let mut memory = NewMemory::saying(&format!("cake {number}"));
        memory.claim.project = project;
        let cake = story.engine.facts.save(&story.request(), memory).await.unwrap();
        let cake = Target::Id(Story::fact(&cake));
        // From both ends.
        let ends = if number < 4 { (&tea, &cake) } else { (&cake, &tea) };
        let linked = story.engine.facts.link(&story.request(), ends.0, ends.1, "goes_with").await;
        made.push(linked.unwrap().link.unwrap().id);
    }
    let mut found = Vec::new();
    let mut after = None;
    for expected in [3, 3, 1] {
        let page = story.links(&tea, after, 3).await;
        assert_eq!(page.links.len(), expected);
        found.extend(page.links.iter().map(|linked| linked.link.id));
        after = page.next;
    }
    assert_eq!((found, after), (made.clone(), None));
    // Pages are full although links to other projects are left out.
    let (facts, none) = (&story.engine.facts, ProjectScope::NoProject);
    let page = facts.links(&story.alice(), &tea, &none, (None, 3), story.now()).await.unwrap();
    let ids: Vec<LinkId> = page.links.iter().map(|linked| linked.link.id).collect();
    assert_eq!((ids, page.next), (vec![made[0], made[2], made[4]], Some(made[4])));
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
