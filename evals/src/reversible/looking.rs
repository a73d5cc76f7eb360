//! Looking everywhere: whether a word that nothing supports any more can still be met.

use anyhow::{Result, bail};
use lukasa_core::{Caller, State, Status, Version};
use lukasa_engine::context::Ask;
use lukasa_engine::facts::{Filter, Listing, Point};
use lukasa_engine::recall::Recall;
use lukasa_engine::sessions::Which;

use crate::learning::room::Room;

const STATUSES: [Status; 5] =
    [Status::Active, Status::Upcoming, Status::Proposed, Status::Candidate, Status::Expired];

/// What is said and stated at the moment, as text.
pub async fn support(room: &Room, caller: &Caller) -> Result<String> {
    let now = room.moment().now;
    let mut text = String::new();
    let (sessions, _) = room.engine.sessions(caller, Which::default(), None, 200, now).await?;
    for session in sessions {
        let (turns, _) = room.engine.turns(caller, &session.id, 0, 200, now).await?;
        for turn in turns {
            text.push_str(&turn.content);
            text.push('\n');
        }
    }
    for version in facts(room, caller).await?.iter().filter(|version| version.is_firm()) {
        text.push_str(&version.claim.content);
        text.push('\n');
    }
    Ok(text)
}

/// Every memory that is not forgotten or in the trash.
pub async fn facts(room: &Room, caller: &Caller) -> Result<Vec<Version>> {
    let mut all = Vec::new();
    for status in STATUSES {
        let filter = Filter { status: Some(status), ..Filter::default() };
        let listing = Listing { filter, point: Point::default(), after: None, limit: 200 };
        let page = room.engine.list(caller, &listing, room.moment().now).await?;
        all.extend(page.memories.into_iter().map(|memory| memory.version));
    }
    all.retain(|version| !matches!(version.state, State::Trashed | State::Forgotten));
    Ok(all)
}

/// Fails if one of these words can be met anywhere.
pub async fn nowhere(room: &Room, caller: &Caller, words: &[String]) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let now = room.moment().now;
    let mut met: Vec<(&str, String)> = Vec::new();
    for version in facts(room, caller).await? {
        let quotes = version.claim.evidence.iter().map(|item| item.description.as_str());
        met.push(("a memory", version.claim.content.clone()));
        met.push(("its evidence", quotes.collect::<Vec<_>>().join(" ")));
    }
    let (episodes, _) = room.engine.episodes(caller, None, None, 200, now).await?;
    met.extend(episodes.into_iter().map(|episode| ("an episode", episode.summary)));
    let (sessions, _) = room.engine.sessions(caller, Which::default(), None, 200, now).await?;
    met.extend(sessions.into_iter().filter_map(|s| Some(("a chat's summary", s.summary?))));
    let asked = format!("Where do I live, what do I keep, and tell me of {}?", words.join(" and "));
    let ask = Ask { session: Some("listening".into()), ..Ask::about(&asked) };
    let context = room.engine.retrieve(caller, &ask, room.moment()).await?;
    met.push(("the baseline", context.baseline.content.clone()));
    met.push(("the dynamic part", context.dynamic.content.clone()));
    let mut recall = Recall::about(&asked);
    (recall.memories, recall.turns) = (20, 20);
    let found = room.engine.recall(caller, &recall, room.moment().now).await?;
    met.extend(found.memories.iter().map(|f| ("recall", f.memory.version.claim.content.clone())));
    met.extend(found.turns.iter().map(|f| ("recall", f.turn.content.clone())));
    let portraits = room.engine.portraits(caller, room.moment().now).await?;
    met.extend(portraits.iter().map(|made| ("a portrait", made.portrait.markdown())));
    let files = room.engine.vault_export(caller, room.moment().now).await?;
    let pages = files.into_iter().filter(|file| !file.path.starts_with('.'));
    met.extend(pages.map(|file| ("the vault", file.content)));
    for word in words {
        if let Some((place, text)) = met.iter().find(|(_, text)| text.contains(word.as_str())) {
            bail!("{word:?} is supported by nothing and was met in {place}: {text}");
        }
    }
    // What recall and the embeddings are made from must not be left behind either.
    let sql = "select count(*) from passage p join turn t \
                 on t.user_id = p.user_id and t.turn_id = p.source_id \
               join session s on s.user_id = t.user_id and s.session_id = t.session_id \
                where p.user_id = $1 and (t.withdrawn_by is not null or s.trashed_at is not null)";
    let row = room.admin.query_one(sql, &[&caller.user.uuid()]).await?;
    let left: i64 = row.get(0);
    if left > 0 {
        bail!("{left} passages are left of turns that are gone");
    }
    Ok(())
}

/// Fails if one of these words is in any row about the user.
pub async fn in_no_row(room: &Room, caller: &Caller, words: &[String]) -> Result<()> {
    let tables = "select table_name::text from information_schema.columns \
                   where table_schema = 'public' and column_name = 'user_id' order by 1";
    for row in room.admin.query(tables, &[]).await? {
        let table: String = row.get(0);
        let sql = format!(
            "select t::text from {table} t where t.user_id = $1 and t::text like any($2) limit 1"
        );
        let like: Vec<String> = words.iter().map(|word| format!("%{word}%")).collect();
        if let Some(row) = room.admin.query_opt(&sql, &[&caller.user.uuid(), &like]).await? {
            bail!("erased, and still in {table}: {}", row.get::<_, String>(0));
        }
    }
    Ok(())
}

/// What memories of one standing say.
pub async fn with_status(room: &Room, caller: &Caller, status: Status) -> Result<String> {
    let filter = Filter { status: Some(status), ..Filter::default() };
    let listing = Listing { filter, point: Point::default(), after: None, limit: 200 };
    let page = room.engine.list(caller, &listing, room.moment().now).await?;
    Ok(page.memories.iter().map(|memory| memory.version.claim.content.as_str()).collect())
}

/// What every turn says that is kept at all, and what was ever stated.
pub async fn ever_said(room: &Room, caller: &Caller) -> Result<String> {
    let sql = "select content from turn where user_id = $1 union all \
               select content from fact_version where user_id = $1 and not extracted";
    let rows = room.admin.query(sql, &[&caller.user.uuid()]).await?;
    Ok(rows.iter().map(|row| row.get::<_, String>(0)).collect())
}
