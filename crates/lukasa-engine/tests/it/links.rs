//! Links follow a memory through its changes and are hidden when one end is removed.

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
        let links = engine.facts.links(&story.alice(), of, story.now()).await.unwrap();
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
    let link =
        engine.facts.links(&story.alice(), &tea, story.now()).await.unwrap().remove(0).link.id;
    story.pass(1);
    let unlinked = engine.facts.unlink(&story.request(), &cake, link).await.unwrap();
    assert!(others(&tea).await.is_empty());
    story.pass(1);
    engine.undo.undo(&story.request(), unlinked.operation.unwrap()).await.unwrap();
    assert_eq!(others(&tea).await, ["carrot cake"]);
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
