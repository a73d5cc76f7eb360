//! Quality figures: shares and means that are counted from stored rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lukasa_core::model::Price;
use lukasa_core::quality::{Figure, Quality};
use lukasa_core::{Edit, FactId, NewTurn, RetrievalId, Role, Status};
use lukasa_engine::context::{Context, ContextRequest, RetrievalRecord};
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};
use lukasa_engine::recall::{CacheUse, RecallQuery};
use lukasa_models::scripted::ScriptedChat;
use lukasa_text::tokens;

use crate::learning::{answer, chain, chat_about, memories, memory, story_saying, user, work};
use crate::story::Story;

const DAY: i64 = 86_400;

async fn quality(story: &Story) -> Quality {
    story.engine.insights.report(&story.alice(), 30, story.now()).await.unwrap().quality
}

fn value(figure: Option<Figure>) -> (f64, i64) {
    let figure = figure.expect("enough samples");
    (figure.value, figure.count)
}

async fn recorded(story: &Story, id: RetrievalId) -> RetrievalRecord {
    story.engine.context.retrieval(&story.alice(), id, story.now()).await.unwrap()
}

/// Retrieves a context and waits until it is recorded.
async fn retrieve(story: &Story, session: &str, message: &str) -> Context {
    let mut ask = ContextRequest::about(message);
    ask.session = Some(session.into());
    ask.within = Duration::from_secs(60);
    story.pass(1);
    let context =
        story.engine.context.retrieve(&story.alice(), &ask, story.moment()).await.unwrap();
    recorded(story, context.id).await;
    context
}

async fn answered(story: &Story, session: &str, used: &[FactId], retrieval: Option<RetrievalId>) {
    let turn = NewTurn {
        used: used.to_vec(),
        retrieval,
        ..NewTurn::saying(Role::Assistant, "You drink oolong.")
    };
    story.pass(1);
    story.engine.sessions.append_turns(&story.request(), session, vec![turn]).await.unwrap();
}

#[tokio::test]
async fn citation_rate_counts_answers_that_cite_a_supplied_memory() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Drinks oolong tea").await);
    // Said before any retrieval: not an answer to one.
    answered(&story, "chat0", &[tea], None).await;
    for number in 0..9 {
        let session = format!("chat{number}");
        let given = retrieve(&story, &session, "What do I drink?").await;
        // By the id of the retrieval, and by the turn alone.
        let by = Some(given.id).filter(|_| number % 2 == 0);
        let used: &[FactId] = if number < 6 { &[tea] } else { &[] };
        answered(&story, &session, used, by).await;
        // A second message of the same answer is not another answer.
        answered(&story, &session, &[], None).await;
    }
    assert_eq!(quality(&story).await.citation_rate, None, "nine samples are too few");
    let other = Story::fact(&story.save("Sails on Sundays").await);
    let given = retrieve(&story, "chat0", "What do I drink?").await;
    assert!(given.baseline.items.iter().any(|item| item.facts().any(|fact| fact == tea)));
    // It cites a memory that it was not given: the baseline is older than that memory.
    let unknown = Story::fact(&story.save("Keeps bees").await);
    answered(&story, "chat0", &[unknown], Some(given.id)).await;
    retrieve(&story, "chat1", "A message without an answer.").await;
    assert_eq!(value(quality(&story).await.citation_rate), (0.6, 10));
    // The figures are of one user and of one period.
    let bob = lukasa_core::Caller::human(story.tenant, "bob", "local");
    let theirs = story.engine.insights.report(&bob, 30, story.now()).await.unwrap().quality;
    assert_eq!((theirs.citation_rate, theirs.recall_ms), (None, None));
    story.engine.removals.forget(&story.request(), &Target::Id(other)).await.unwrap();
    story.pass(31 * DAY);
    assert_eq!(quality(&story).await.citation_rate, None, "all of it was a month ago");
}

#[tokio::test]
async fn why_share_counts_answers_that_were_explained() {
    let story = Story::begin().await;
    let tea = Story::fact(&story.save("Drinks oolong tea").await);
    let mut last = None;
    for number in 0..10 {
        let session = format!("chat{number}");
        let given = retrieve(&story, &session, "What do I drink?").await;
        answered(&story, &session, &[tea], Some(given.id)).await;
        last = Some((session, given.id));
    }
    assert_eq!(value(quality(&story).await.why_share), (0.0, 10));
    let (session, retrieval) = last.unwrap();
    for _ in 0..2 {
        let why = story.engine.context.why(&story.alice(), &session, 1, story.now()).await.unwrap();
        assert_eq!(why.retrieval.unwrap().id, retrieval);
    }
    for _ in 0..500 {
        // It is recorded after the response.
        if recorded(&story, retrieval).await.trace["explained"] == true {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(value(quality(&story).await.why_share), (0.1, 10), "asked twice about one answer");
}

#[tokio::test]
async fn proposal_figures_count_only_the_users_decisions_on_proposals() {
    let story = Story::begin().await;
    let propose = async |content: &str| {
        story.pass(1);
        let request = story.by(story.assistant());
        let new = NewMemory::saying(content);
        let proposed = story.engine.facts.propose(&request, new).await.unwrap();
        let digest = proposed.memories[0].version.claim.consent_digest();
        story.pass(1);
        (Target::Id(Story::fact(&proposed)), digest)
    };
    let decide = async |target: &Target, decision: ProposalDecision| {
        story.engine.facts.confirm(&story.request(), target, decision).await.unwrap()
    };
    let yes = |digest: &str, edit: Edit| ProposalDecision::Yes {
        digest: Some(digest.to_owned()),
        edit: Box::new(edit),
    };
    for number in 0..12 {
        let (target, digest) = propose(&format!("Owns {number} chairs")).await;
        let edit = match number {
            0..2 => Edit::content(&format!("Owns {number} red chairs")),
            _ => Edit::default(),
        };
        let decision = if number < 10 { yes(&digest, edit) } else { ProposalDecision::No };
        decide(&target, decision).await;
    }
    // Not decided; withdrawn by the assistant; decided, but undone; and no proposal at all.
    propose("Likes rain").await;
    let (target, _) = propose("Likes snow").await;
    let request = story.by(story.assistant());
    story.engine.facts.confirm(&request, &target, ProposalDecision::No).await.unwrap();
    let (target, _) = propose("Likes fog").await;
    let rejected = decide(&target, ProposalDecision::No).await;
    story.pass(1);
    story.engine.undo.undo(&story.request(), rejected.operation.unwrap()).await.unwrap();
    story.pass(1);
    let saved = Target::Id(Story::fact(&story.save("Lives in Porto").await));
    story.pass(1);
    decide(&saved, ProposalDecision::Yes { digest: None, edit: Box::default() }).await;
    let quality = quality(&story).await;
    assert_eq!(value(quality.proposal_acceptance), (10.0 / 12.0, 12));
    assert_eq!(value(quality.edits_on_confirm), (0.2, 10));
    assert_eq!(value(quality.gated_share), (15.0 / 16.0, 16), "fifteen of sixteen were proposals");
    assert_eq!(value(quality.active_memories), (11.0, 1));
}

/// What the user says, and what is learned from it.
const LEARNED: [(&str, &str); 10] = [
    ("I keep bees", "User keeps bees."),
    ("I play chess", "User plays chess."),
    ("I speak Danish", "User speaks Danish."),
    ("I bake bread", "User bakes bread."),
    ("I ride horses", "User rides horses."),
    ("I grow tomatoes", "User grows tomatoes."),
    ("I collect stamps", "User collects stamps."),
    ("I teach physics", "User teaches physics."),
    ("I build kayaks", "User builds kayaks."),
    ("I paint landscapes", "User paints landscapes."),
];

#[tokio::test]
async fn learning_figures_are_the_mean_confidence_and_the_tokens_per_conversation() {
    let asked = AtomicUsize::new(0);
    let (story, _) = story_saying(move |_| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let (said, content) = LEARNED[number % LEARNED.len()];
        let mut found = memory(content, said);
        found["confidence"] = if number.is_multiple_of(2) { 0.9.into() } else { 0.8.into() };
        answer(&[found])
    })
    .await;
    let filler = "The weather was mild and nothing happened at all. ".repeat(110);
    let (mut read, mut learned) = (0, 0);
    for (number, (said, content)) in LEARNED.into_iter().enumerate() {
        let said = format!("{said}.");
        let turns = vec![user(&said), NewTurn::saying(Role::Assistant, &filler)];
        chat_about(&story, &format!("chat{number}"), turns).await;
        work(&story).await;
        read += tokens::count(&said) + tokens::count(&filler);
        learned += tokens::count(content);
        story.pass(1);
    }
    assert!(read >= 10_000, "{read}");
    let quality = quality(&story).await;
    let known = memories(&story, Status::Active).await;
    assert_eq!(known.len(), 10, "{known:?}");
    let (confidence, extracted) = value(quality.extraction_confidence);
    assert!((confidence - 0.85).abs() < 1e-3, "{confidence}");
    assert_eq!(extracted, 10);
    let expected = 10_000.0 * learned as f64 / read as f64;
    let (per_conversation, conversations) = value(quality.learned_tokens);
    assert!((per_conversation - expected).abs() < 1e-6, "{per_conversation} {expected}");
    assert_eq!(conversations, 10);
    assert_eq!(value(quality.gated_share), (0.0, 10));
    let (overall, users) =
        story.engine.insights.quality_of_users(30, 100, story.now()).await.unwrap();
    assert_eq!((overall.extraction_confidence, users), (quality.extraction_confidence, 1));
}

/// Searches in a conversation, and returns how the cache was used.
async fn search(story: &Story, session: &str, text: &str) -> CacheUse {
    let ask =
        RecallQuery { session: Some(session.into()), memories: 20, ..RecallQuery::about(text) };
    story.engine.recall.search(&story.alice(), &ask, story.now()).await.unwrap().cache
}

#[tokio::test]
async fn next_message_of_a_conversation_takes_its_memories_from_the_cache() {
    let story = Story::begin().await;
    let mut boats = Vec::new();
    for boat in ["sloop", "ketch", "yawl"] {
        boats.push(Story::fact(&story.save(&format!("Owns a boat, a {boat}")).await));
        story.pass(1);
    }
    let (hit, miss) = (CacheUse { hits: 3, misses: 0 }, CacheUse { hits: 0, misses: 3 });
    assert_eq!(search(&story, "c", "Which boat?").await, miss);
    assert_eq!(search(&story, "c", "Is a boat mine?").await, hit, "another message");
    assert_eq!(search(&story, "other", "Which boat?").await, miss, "another conversation");
    answered(&story, "c", &[], None).await;
    assert_eq!(search(&story, "c", "Any boat at all?").await, hit, "a turn changes no memory");
    story.save("Plays the cello").await;
    assert_eq!(search(&story, "c", "Is a boat mine?").await, miss, "a memory was added");
    story.pass(299);
    assert_eq!(search(&story, "c", "Any boat at all?").await, hit);
    story.pass(300);
    assert_eq!(search(&story, "c", "Is a boat mine?").await, miss, "five minutes later");
    // What was removed is not served from it.
    let target = Target::Id(boats[0]);
    story.engine.removals.forget(&story.request(), &target).await.unwrap();
    let two = CacheUse { hits: 0, misses: 2 };
    assert_eq!(search(&story, "c", "Which boat?").await, two);
}

#[tokio::test]
async fn conversation_cache_holds_fifty_memories_and_drops_the_least_recently_used() {
    let story = Story::begin().await;
    for word in ["alpha", "beta", "gamma"] {
        for number in 0..20 {
            story.save(&format!("{word} {number}")).await;
            story.pass(1);
        }
    }
    let (hit, miss) = (CacheUse { hits: 20, misses: 0 }, CacheUse { hits: 0, misses: 20 });
    for word in ["alpha", "beta"] {
        assert_eq!(search(&story, "c", word).await, miss, "{word}");
    }
    // Forty memories fit. Alpha is used again, so beta goes when gamma comes.
    assert_eq!(search(&story, "c", "alpha?!").await, hit);
    assert_eq!(search(&story, "c", "gamma").await, miss);
    assert_eq!(search(&story, "c", "so, alpha").await, hit);
    assert_eq!(search(&story, "c", "beta?!").await, miss, "sixty do not fit");
}

#[tokio::test]
async fn cache_hits_are_counted_over_the_retrievals_of_conversations() {
    let story = Story::begin().await;
    for number in 0..4 {
        story.save(&format!("Owns boat {number}")).await;
        story.pass(1);
    }
    for number in 0..4 {
        let given = retrieve(&story, "c", &format!("Boat {number}, which boat is mine?")).await;
        let expected = if number == 0 { (0, 4) } else { (4, 0) };
        assert_eq!((given.cache.hits, given.cache.misses), expected, "message {number}");
    }
    let counted = quality(&story).await;
    assert_eq!(value(counted.cache_hit_rate), (0.75, 16));
    assert!(counted.alerts().is_empty(), "{:?}", counted.alerts());
    // Conversations of one message each.
    for number in 0..8 {
        retrieve(&story, &format!("single{number}"), "Which boat is mine?").await;
    }
    let counted = quality(&story).await;
    assert_eq!(value(counted.cache_hit_rate), (0.25, 48));
    let codes: Vec<_> = counted.alerts().iter().map(|alert| alert.code.as_str()).collect();
    assert_eq!(codes, ["cache_hits"]);
    let (count, budget) = (value(counted.budget_use).1, value(counted.budget_use).0);
    assert!(count == 12 && budget > 0.0 && budget < 1.0, "{budget}");
}

#[tokio::test]
async fn message_cost_is_the_price_of_its_memory_and_of_learning() {
    let mut story = Story::begin().await;
    story.save("Drinks oolong tea").await;
    let free = retrieve(&story, "free", "What do I drink?").await;
    assert_eq!(free.spent.cost_micros, None, "no price is known");
    let price = Price { input: 2_000_000, output: 8_000_000 };
    let said = memory("User owns a boat.", "I own a boat");
    let chat = ScriptedChat::saying(move |_| answer(std::slice::from_ref(&said))).priced(price);
    story.engine = story.engine.clone().with_models(chain(vec![Arc::new(chat)]));
    story.engine.embeddings.settle_model(story.now()).await.unwrap().unwrap();
    let mut sum = 0;
    for number in 0..10 {
        let given = retrieve(&story, &format!("chat{number}"), "What do I drink?").await;
        let tokens = given.spent.baseline + given.spent.dynamic;
        assert_eq!(given.spent.cost_micros, Some(2 * tokens as u64), "two for a token");
        sum += 2 * tokens as i64;
    }
    assert_eq!(value(quality(&story).await.message_cost_micros), (sum as f64 / 11.0, 11));
    chat_about(&story, "learn", vec![user("I own a boat.")]).await;
    work(&story).await;
    let (calls, _) = story.engine.chat.model_calls(&story.alice(), 10, story.now()).await.unwrap();
    let learning: i64 = calls.iter().map(|call| call.cost_micros).sum();
    assert!(learning > 0, "{calls:?}");
    let both = (sum + learning) as f64 / 11.0;
    assert_eq!(value(quality(&story).await.message_cost_micros), (both, 11));
}

#[tokio::test]
async fn saved_searches_counts_messages_that_need_none_and_repeated_ones() {
    let story = Story::begin().await;
    story.save("Drinks oolong tea").await;
    for number in 0..5 {
        let thanks = retrieve(&story, "c", "thanks!").await;
        assert!(!thanks.searched, "{number}");
        let asked = retrieve(&story, &format!("c{number}"), "What do I drink?").await;
        assert!(asked.searched && !asked.cached, "{number}");
    }
    assert_eq!(value(quality(&story).await.saved_searches), (0.5, 10));
    let again = retrieve(&story, "c4", "What do I drink?").await;
    assert!(again.cached && !again.searched, "answered from the cache of the conversation");
    assert_eq!(value(quality(&story).await.saved_searches), (6.0 / 11.0, 11));
}
