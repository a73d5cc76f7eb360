//! Searches everywhere for words that nothing supports any more.

use anyhow::{Result, bail};
use lukasa_core::{Caller, State, Status, Version};
use lukasa_engine::Point;
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{ListFilter, Listing};
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::sessions::SessionFilter;

use crate::learning::fixture::LearningFixture;

const STATUSES: [Status; 5] =
    [Status::Active, Status::Upcoming, Status::Proposed, Status::Candidate, Status::Expired];

/// The current turns and stated facts, as text.
pub async fn support(fixture: &LearningFixture, caller: &Caller) -> Result<String> {
    let now = fixture.moment().now;
    let mut text = String::new();
    let (sessions, _) =
        fixture.engine.sessions.list(caller, SessionFilter::default(), None, 200, now).await?;
    for session in sessions {
        let (turns, _) = fixture.engine.sessions.turns(caller, &session.id, 0, 200, now).await?;
        for turn in turns {
            text.push_str(&turn.content);
            text.push('\n');
        }
    }
    for version in facts(fixture, caller).await?.iter().filter(|version| version.is_firm()) {
        text.push_str(&version.claim.content);
        text.push('\n');
    }
    Ok(text)
}

/// Every memory that is not forgotten or in the trash.
pub async fn facts(fixture: &LearningFixture, caller: &Caller) -> Result<Vec<Version>> {
    let mut all = Vec::new();
    for status in STATUSES {
        let filter = ListFilter { status: Some(status), ..ListFilter::default() };
        let listing = Listing { filter, point: Point::default(), after: None, limit: 200 };
        let page = fixture.engine.facts.list(caller, &listing, fixture.moment().now).await?;
        all.extend(page.memories.into_iter().map(|memory| memory.version));
    }
    all.retain(|version| !matches!(version.state, State::Trashed | State::Forgotten));
    Ok(all)
}

/// Fails if one of these words is found anywhere.
pub async fn assert_nowhere(
    fixture: &LearningFixture,
    caller: &Caller,
    words: &[String],
) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let now = fixture.moment().now;
    let mut met: Vec<(&str, String)> = Vec::new();
    for version in facts(fixture, caller).await? {
        let quotes = version.claim.evidence.iter().map(|item| item.description.as_str());
        met.push(("a memory", version.claim.content.clone()));
        met.push(("its evidence", quotes.collect::<Vec<_>>().join(" ")));
    }
    let (episodes, _) = fixture.engine.learning.episodes(caller, None, None, 200, now).await?;
    met.extend(episodes.into_iter().map(|episode| ("an episode", episode.summary)));
    let (sessions, _) =
        fixture.engine.sessions.list(caller, SessionFilter::default(), None, 200, now).await?;
    met.extend(sessions.into_iter().filter_map(|s| Some(("a chat's summary", s.summary?))));
    let asked = format!("Where do I live, what do I keep, and tell me of {}?", words.join(" and "));
    let ask = ContextRequest { session: Some("listening".into()), ..ContextRequest::about(&asked) };
    let context = fixture.engine.context.retrieve(caller, &ask, fixture.moment()).await?;
    met.push(("the baseline", context.baseline.content.clone()));
    met.push(("the dynamic part", context.dynamic.content.clone()));
    let mut recall = RecallQuery::about(&asked);
    (recall.memories, recall.turns) = (20, 20);
    let found = fixture.engine.recall.search(caller, &recall, fixture.moment().now).await?;
    met.extend(found.memories.iter().map(|f| ("recall", f.memory.version.claim.content.clone())));
    met.extend(found.turns.iter().map(|f| ("recall", f.turn.content.clone())));
    let portraits = fixture.engine.portraits.list(caller, fixture.moment().now).await?;
    met.extend(portraits.iter().map(|made| ("a portrait", made.portrait.markdown())));
    let files =
        fixture.engine.vault.export(caller, Vec::new(), fixture.moment().now, Vec::new()).await?;
    let pages = files.into_iter().filter(|file| !file.path.starts_with('.'));
    met.extend(pages.map(|file| ("the vault", file.content)));
    for word in words {
        if let Some((place, text)) = met.iter().find(|(_, text)| text.contains(word.as_str())) {
            bail!("{word:?} has no support and was found in {place}: {text}");
        }
    }
    // The passages and embeddings must be deleted, too.
    let sql = "select count(*) from (select user_id, source_id from passage union all \
                   select user_id, unnest(source_ids) from packed_session) p \
               join turn t on t.user_id = p.user_id and t.turn_id = p.source_id \
               join session s on s.user_id = t.user_id and s.session_id = t.session_id \
                where p.user_id = $1 and (t.withdrawn_by is not null or s.trashed_at is not null)";
    let row = fixture.admin.query_one(sql, &[&caller.user.uuid()]).await?;
    let left: i64 = row.get(0);
    if left > 0 {
        bail!("{left} passages are left of turns that are gone");
    }
    Ok(())
}

/// Fails if one of these words is in any row about the user.
pub async fn assert_in_no_row(
    fixture: &LearningFixture,
    caller: &Caller,
    words: &[String],
) -> Result<()> {
    let tables = "select table_name::text from information_schema.columns \
                   where table_schema = 'public' and column_name = 'user_id' order by 1";
    for row in fixture.admin.query(tables, &[]).await? {
        let table: String = row.get(0);
        let sql = format!(
            "select t::text from {table} t where t.user_id = $1 and t::text like any($2) limit 1"
        );
        let like: Vec<String> = words.iter().map(|word| format!("%{word}%")).collect();
        if let Some(row) = fixture.admin.query_opt(&sql, &[&caller.user.uuid(), &like]).await? {
            bail!("erased, and still in {table}: {}", row.get::<_, String>(0));
        }
    }
    Ok(())
}

/// The contents of the memories of one status.
pub async fn with_status(
    fixture: &LearningFixture,
    caller: &Caller,
    status: Status,
) -> Result<String> {
    let filter = ListFilter { status: Some(status), ..ListFilter::default() };
    let listing = Listing { filter, point: Point::default(), after: None, limit: 200 };
    let page = fixture.engine.facts.list(caller, &listing, fixture.moment().now).await?;
    Ok(page.memories.iter().map(|memory| memory.version.claim.content.as_str()).collect())
}

/// The contents of every stored turn, and of everything ever stated.
pub async fn all_contents(fixture: &LearningFixture, caller: &Caller) -> Result<String> {
    let sql = "select content from turn where user_id = $1 union all \
               select content from fact_version where user_id = $1 and not extracted";
    let rows = fixture.admin.query(sql, &[&caller.user.uuid()]).await?;
    Ok(rows.iter().map(|row| row.get::<_, String>(0)).collect())
}
