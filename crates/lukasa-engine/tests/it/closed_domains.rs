//! Memories of a domain that the user has closed: the user sees them, applications and assistants do not.

use std::time::Duration;

use lukasa_core::{Caller, Claim, FactId, ProjectScope};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{ListFilter, Listing, NewMemory, Target};
use lukasa_engine::{Error, Point};

use crate::story::Story;

async fn save_in(story: &Story, domain: &str, content: &str) -> FactId {
    let claim = Claim { domain: Some(domain.into()), ..Claim::saying(content) };
    let new = NewMemory { claim, ..NewMemory::saying("") };
    let saved = story.engine.facts.save(&story.request(), new).await.unwrap();
    story.pass(1);
    saved.memories[0].version.fact
}

async fn listed(story: &Story, caller: &Caller) -> Vec<String> {
    let point = Point::default();
    let listing = Listing { filter: ListFilter::default(), point, after: None, limit: 50 };
    let page = story.engine.facts.list(caller, &listing, story.now()).await.unwrap();
    page.memories.into_iter().map(|memory| memory.version.claim.content).collect()
}

#[tokio::test]
async fn memories_of_a_closed_domain_are_hidden_from_assistants_and_shown_to_the_user() {
    let story = Story::begin().await;
    let (alice, assistant) = (story.alice(), story.assistant());
    let opt_in = async |opt_in: OptIn| {
        story.pass(10);
        let directory = &story.engine.directory;
        directory.set_opt_in(&story.request(), "health", opt_in).await.unwrap();
        story.pass(10);
    };
    opt_in(OptIn::Open).await;
    let asthma = save_in(&story, "health", "Has asthma").await;
    let cycling = save_in(&story, "travel", "Cycles to work").await;
    let facts = &story.engine.facts;
    let (from, to) = (Target::Id(cycling), Target::Id(asthma));
    facts.link(&story.request(), &from, &to, "relates_to").await.unwrap();
    let within = Duration::from_secs(60);
    let ask = ContextRequest::about("What helps against my asthma?");
    let ask = ContextRequest { session: Some("chat".into()), within, ..ask };
    let retrieve = async || {
        story.pass(1);
        story.engine.context.retrieve(&alice, &ask, story.moment()).await.unwrap()
    };
    retrieve().await;
    // Saved after the baseline was rendered, so it is in the part for the message.
    save_in(&story, "health", "Uses an inhaler for asthma").await;
    let context = retrieve().await;
    assert!(context.dynamic.content.contains("inhaler"), "{}", context.dynamic.content);
    let retrieval = context.id;
    let seen = async |caller: &Caller| {
        let (now, all) = (story.now(), ProjectScope::All);
        let got = facts.get(caller, &to, Point::default(), now).await;
        let history = facts.history(caller, &to, (None, 9), now).await;
        let links = facts.links(caller, &from, &all, (None, 9), now).await.unwrap().links.len();
        let graph = facts.graph(caller, &from, 2, &all, now).await.unwrap().memories.len();
        let given = story.engine.context.retrieval(caller, retrieval, now).await.unwrap();
        let chat = story.engine.context.session_retrievals(caller, "chat", now).await.unwrap();
        let quoting = |text: &String| text.contains("inhaler");
        let quotes = quoting(&given.dynamic);
        assert_eq!(chat.retrievals.iter().any(|one| quoting(&one.dynamic)), quotes);
        for error in [got.as_ref().err(), history.as_ref().err()].into_iter().flatten() {
            assert!(matches!(error, Error::MemoryNotFound), "{error}");
        }
        (got.is_ok(), history.is_ok(), links, graph, quotes)
    };
    let all = ["Uses an inhaler for asthma", "Cycles to work", "Has asthma"];
    for caller in [&alice, &assistant] {
        assert_eq!(listed(&story, caller).await, all);
        assert_eq!(seen(caller).await, (true, true, 1, 2, true));
    }
    opt_in(OptIn::Close).await;
    assert_eq!(listed(&story, &alice).await, all);
    assert_eq!(seen(&alice).await, (true, true, 1, 2, true));
    assert_eq!(listed(&story, &assistant).await, ["Cycles to work"]);
    assert_eq!(seen(&assistant).await, (false, false, 0, 1, false));
    assert_eq!(listed(&story, &alice.through_a_model()).await, ["Cycles to work"]);
    opt_in(OptIn::Open).await;
    assert_eq!(seen(&assistant).await, (true, true, 1, 2, true));
}
