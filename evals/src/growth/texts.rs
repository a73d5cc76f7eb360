//! The texts of the fill: facts, messages and answers with their passages and embeddings. They are
//! made once, and copied into tables from which PostgreSQL fills all users.

use anyhow::{Context, Result};
use lukasa_core::model::Embedder;
use lukasa_core::recall::passage::{Passage, of_turn, of_version};
use lukasa_core::{Ids, Origin, Role, Timestamp, Turn};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio_postgres::Client;

use crate::load::fill::copy_rows;
use crate::load::life::{FillUser, Life};
use crate::load::rows::{Rows, VERSIONS};
use crate::load::words::Vocabulary;
use crate::long_history::{ANSWER_WORDS, MESSAGE_WORDS, text};
use crate::recall::fill::{embed, printed};

/// Number of different facts, and of different rounds of each session. No user has more.
pub const FACT_TEXTS: u32 = 4_000;
pub const ROUND_TEXTS: u32 = 400;
/// The time of the first session: 2025-06-01. The others follow a week apart, after all facts.
const FIRST_SESSION: i64 = 1_748_736_000;
const WEEK: i64 = 7 * 86_400;

const TABLES: &str = "
create schema growth;
create unlogged table growth.person (number int primary key, user_id uuid not null);
create unlogged table growth.version (like fact_version including generated);
create unlogged table growth.fact_passage (text int primary key, source_id uuid not null,
    language text not null, words int not null, terms bytea not null,
    content_hash bytea not null, vector halfvec);
create unlogged table growth.turn_text (text int primary key, session int not null,
    round int not null, role text not null, content text not null, said_at timestamptz not null);
create unlogged table growth.turn_passage (text int not null, part smallint not null,
    language text not null, words int not null, terms bytea not null,
    content_hash bytea not null, vector halfvec);";

/// The facts with everything but their user, ids and times.
const JOIN: &str = "
create unlogged table growth.fact_text as
  select p.text, p.language, p.words, p.terms, p.content_hash, p.vector, v.*
    from growth.fact_passage p join growth.version v on v.version_id = p.source_id;
alter table growth.fact_text add primary key (text);
create index on growth.turn_text (session, round);
analyze growth.fact_text; analyze growth.turn_text; analyze growth.turn_passage;";

/// Makes the texts for this many sessions of each user.
pub async fn make(
    url: &str,
    admin: &Client,
    sessions: u32,
    seed: u64,
    embedder: Option<&dyn Embedder>,
) -> Result<()> {
    admin.batch_execute(TABLES).await.context("the tables of texts")?;
    facts(url, admin, seed, embedder).await.context("the texts of facts")?;
    turns(admin, sessions, seed, embedder).await.context("the texts of turns")?;
    admin.batch_execute(JOIN).await.context("the texts of facts with their passages")?;
    Ok(())
}

async fn facts(
    url: &str,
    admin: &Client,
    seed: u64,
    embedder: Option<&dyn Embedder>,
) -> Result<()> {
    let (life, person) = (Life::new(seed), FillUser::new("texts", u64::MAX, "local"));
    let (mut rows, mut passages) = (Rows::default(), Vec::new());
    for index in 0..FACT_TEXTS {
        let (written, _) = life.save(&person, index, Timestamp::UNIX_EPOCH);
        for version in &written.versions {
            rows.version(&person, version)?;
            let made = of_version(version).into_iter();
            passages.extend(made.map(|passage| (index.cast_signed(), passage)));
        }
    }
    let sql = VERSIONS.replacen("fact_version", "growth.version", 1);
    copy_rows(url, &sql, rows).await?;
    let vectors = vectors(&passages, embedder).await?;
    let sql = "insert into growth.fact_passage select text, source_id, language, words, terms, \
                      content_hash, vector::halfvec \
                 from unnest($1::int[], $2::uuid[], $3::text[], $4::int[], $5::bytea[], \
                             $6::bytea[], $7::text[]) \
                   as p (text, source_id, language, words, terms, content_hash, vector)";
    let sources: Vec<_> = passages.iter().map(|(_, passage)| passage.source).collect();
    let columns = Columns::of(&passages);
    admin
        .execute(
            sql,
            &[
                &columns.texts,
                &sources,
                &columns.languages,
                &columns.words,
                &columns.terms,
                &columns.hashes,
                &vectors,
            ],
        )
        .await?;
    Ok(())
}

async fn turns(
    admin: &Client,
    sessions: u32,
    seed: u64,
    embedder: Option<&dyn Embedder>,
) -> Result<()> {
    let (vocabulary, mut rng) = (Vocabulary::new(seed), StdRng::seed_from_u64(seed));
    let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [9; 16]);
    for session in 0..sessions {
        let said_at = Timestamp::from_second(FIRST_SESSION + WEEK * i64::from(session))?;
        let (mut turns, mut rounds, mut passages) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUND_TEXTS {
            for (role, origin, words) in [
                (Role::User, Origin::UserTurn, MESSAGE_WORDS),
                (Role::Assistant, Origin::Assistant, ANSWER_WORDS),
            ] {
                let turn = Turn {
                    id: ids.turn(),
                    session: session_name(session),
                    number: 1,
                    role,
                    speaker: None,
                    content: text(&vocabulary, &mut rng, words),
                    origin,
                    said_at,
                    recorded_at: said_at,
                    spans: Vec::new(),
                    marked: false,
                };
                let number = session * 2 * ROUND_TEXTS + u32::try_from(turns.len())?;
                let made = of_turn(&turn).into_iter();
                passages.extend(made.map(|passage| (number.cast_signed(), passage)));
                rounds.push(round.cast_signed());
                turns.push(turn);
            }
        }
        write_turns(admin, session, &turns, &rounds).await?;
        write_passages(admin, &passages, embedder).await?;
    }
    Ok(())
}

/// The name of a user's session.
pub fn session_name(session: u32) -> String {
    format!("chat-{session}")
}

async fn write_turns(admin: &Client, session: u32, turns: &[Turn], rounds: &[i32]) -> Result<()> {
    let sql = "insert into growth.turn_text \
               select $1::int + n::int - 1, $2::int, round, role, content, $3::timestamptz \
                 from unnest($4::int[], $5::text[], $6::text[]) \
                   with ordinality as t (round, role, content, n)";
    let first = (session * 2 * ROUND_TEXTS).cast_signed();
    let said_at = turns.first().map_or(Timestamp::UNIX_EPOCH, |turn| turn.said_at);
    let roles: Vec<&str> = turns.iter().map(|turn| turn.role.as_str()).collect();
    let contents: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
    let session = session.cast_signed();
    let rounds = rounds.to_vec();
    admin.execute(sql, &[&first, &session, &said_at, &rounds, &roles, &contents]).await?;
    Ok(())
}

async fn write_passages(
    admin: &Client,
    passages: &[(i32, Passage)],
    embedder: Option<&dyn Embedder>,
) -> Result<()> {
    let sql = "insert into growth.turn_passage \
               select text, part, language, words, terms, content_hash, vector::halfvec \
                 from unnest($1::int[], $2::smallint[], $3::text[], $4::int[], $5::bytea[], \
                             $6::bytea[], $7::text[]) \
                   as p (text, part, language, words, terms, content_hash, vector)";
    let vectors = vectors(passages, embedder).await?;
    let parts: Vec<i16> = passages.iter().map(|(_, passage)| passage.part).collect();
    let columns = Columns::of(passages);
    admin
        .execute(
            sql,
            &[
                &columns.texts,
                &parts,
                &columns.languages,
                &columns.words,
                &columns.terms,
                &columns.hashes,
                &vectors,
            ],
        )
        .await?;
    Ok(())
}

/// The columns that passages of facts and of turns have in common.
struct Columns {
    texts: Vec<i32>,
    languages: Vec<&'static str>,
    words: Vec<i32>,
    terms: Vec<Vec<u8>>,
    hashes: Vec<Vec<u8>>,
}

impl Columns {
    fn of(passages: &[(i32, Passage)]) -> Self {
        let all = || passages.iter().map(|(_, passage)| passage);
        Self {
            texts: passages.iter().map(|(text, _)| *text).collect(),
            languages: all().map(|passage| passage.language.code()).collect(),
            words: all()
                .map(|passage| i32::try_from(passage.terms.words).unwrap_or(i32::MAX))
                .collect(),
            terms: all().map(|passage| passage.terms.to_bytes()).collect(),
            hashes: all().map(Passage::hash).collect(),
        }
    }
}

/// The embeddings of passages that have a text, in PostgreSQL's syntax.
async fn vectors(
    passages: &[(i32, Passage)],
    embedder: Option<&dyn Embedder>,
) -> Result<Vec<Option<String>>> {
    let mut all = vec![None; passages.len()];
    let Some(embedder) = embedder else { return Ok(all) };
    let embedded: Vec<(usize, String)> = passages
        .iter()
        .enumerate()
        .filter_map(|(at, (_, passage))| Some((at, passage.text.clone()?)))
        .collect();
    for chunk in embedded.chunks(500) {
        let texts: Vec<String> = chunk.iter().map(|(_, text)| text.clone()).collect();
        for ((at, _), vector) in chunk.iter().zip(embed(embedder, &texts).await?) {
            all[*at] = Some(printed(&vector));
        }
    }
    Ok(all)
}
