//! Users of several sizes, written directly into the tables: the record, the search index, and the
//! table of the bare statement, all with the same contents and the same embeddings.

use std::fmt::Write as _;
use std::path::Path;
use std::pin::pin;

use anyhow::{Context, Result};
use bytes::Bytes;
use futures_util::SinkExt as _;
use lukasa_core::model::Embedder;
use lukasa_core::{Ids, TenantId, Timestamp};
use lukasa_text::terms::{ANALYZER, Language, Terms, words};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng};

use super::bare::{INDEXES, TABLE, user_id};
use crate::load::words::Vocabulary;
use crate::processes::connect;

/// The tenant of a server without authentication.
pub const TENANT: &str = "local";

/// A query, prepared for both sides.
pub struct Query {
    pub text: String,
    /// The vector in PostgreSQL's syntax.
    pub vector: String,
    /// The words as a tsquery that matches any of them.
    pub tsquery: String,
}

/// Users with the same number of memories.
pub struct Size {
    pub label: String,
    pub users: Vec<String>,
}

pub struct Plan {
    pub users: u32,
    pub quick: bool,
    seed: u64,
    /// Number of further users of each size.
    others: Vec<(u32, u32)>,
}

const USUAL: u32 = 50;

impl Plan {
    pub fn new(users: Option<u32>, quick: bool, seed: u64) -> Self {
        let others = match quick {
            true => vec![(20, 200), (2, 2_000)],
            false => vec![(200, 200), (20, 2_000), (4, 20_000), (1, 100_000)],
        };
        Self { users: users.unwrap_or(if quick { 200 } else { 20_000 }), quick, seed, others }
    }

    fn name(size: u32, number: u32) -> String {
        format!("u{size}-{number}")
    }

    /// What is measured: the first thousand users alone, then all of them, then the larger ones.
    pub fn sizes(&self) -> Vec<Size> {
        let first = self.users.div_ceil(20);
        let mut sizes = vec![
            Size {
                label: format!("{USUAL}, of {first} users"),
                users: (0..first).map(|n| Self::name(USUAL, n)).collect(),
            },
            Size {
                label: format!("{USUAL}, of {} users", self.users),
                users: (0..self.users).map(|n| Self::name(USUAL, n)).collect(),
            },
        ];
        for (count, size) in self.others.iter().filter(|(count, _)| *count > 1) {
            let users = (0..*count).map(|n| Self::name(*size, n)).collect();
            sizes.push(Size { label: size.to_string(), users });
        }
        sizes
    }

    /// The user with the most memories.
    pub fn largest(&self) -> String {
        self.others.last().map_or_else(|| Self::name(USUAL, 0), |(_, size)| Self::name(*size, 0))
    }

    /// Every memory's owner, in order of time: all users mixed, as in real use.
    fn owners(&self, rng: &mut StdRng) -> Vec<(u32, u32)> {
        use rand::seq::SliceRandom as _;
        let mut owners = Vec::new();
        for (count, size) in [(self.users, USUAL)].iter().chain(&self.others) {
            for number in 0..*count {
                owners.extend(std::iter::repeat_n((*size, number), *size as usize));
            }
        }
        owners.shuffle(rng);
        owners
    }
}

const STAGE: &str = "create unlogged table stage (at timestamptz, user_id uuid, fact_id uuid, \
    version_id uuid, operation_id uuid, content text, words int, terms bytea, vector halfvec(256))";

/// Copies from the staging table into the tables, in order of time.
const SPREAD: &str = "
set session_replication_role = replica;
insert into operation (user_id, tenant_id, operation_id, recorded_at, verb, caller, credential,
                       origin, extracted, facts)
  select user_id, '{tenant}', operation_id, at, 'save', 'human', 'fill', 'user_said', false,
         array[fact_id] from stage order by at;
insert into fact select user_id, '{tenant}', fact_id from stage order by at;
insert into fact_version (user_id, tenant_id, fingerprint, fact_id, version_id, number, content,
    category, type, kind, force, tags, importance, evidence, state, tier, origin, extracted, turns,
    valid_from, known_from, opened_by)
  select user_id, '{tenant}', version_id, fact_id, version_id, 1, content, 'fact', 'profile', 'fact',
         'soft', '{}', 0.5, '[]', 'active', 'strong', 'user_said', false, '{}', at, at, operation_id
    from stage order by at;
insert into passage (user_id, tenant_id, source_id, part, subject_id, kind, revision, analyzer,
    language, words, terms, content_hash)
  select user_id, '{tenant}', version_id, 0, fact_id, 'fact', 1, {analyzer}, 'en', words, terms, ''
    from stage order by at;
insert into embedding (user_id, tenant_id, model, source_id, part, revision, dimension,
    content_hash, vector)
  select user_id, '{tenant}', 'potion-base-8M', version_id, 0, 1, 256, '', vector
    from stage order by at;
insert into recall_state
  select distinct user_id, '{tenant}'::uuid, 1, 1, 0 from stage;
insert into bare.memory (user_id, id, content, embedding)
  select user_id, fact_id, content, vector from stage order by at;
drop table stage;";

pub async fn fill(url: &str, plan: &Plan, models: &Path) -> Result<Vec<Query>> {
    let admin = connect(url).await?;
    admin.batch_execute(TABLE).await?;
    admin.batch_execute(STAGE).await?;
    let embedder = lukasa_models::local::open(&models.join("potion"))?;
    let mut rng = StdRng::seed_from_u64(plan.seed);
    let vocabulary = Vocabulary::new(plan.seed);
    let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [7; 16]);
    let owners = plan.owners(&mut rng);
    let mut sink = pin!(admin.copy_in::<_, Bytes>("copy stage from stdin").await?);
    let mut rows = String::new();
    for (at, chunk) in owners.chunks(1_000).enumerate() {
        let texts: Vec<String> = chunk.iter().map(|_| vocabulary.sentence(&mut rng)).collect();
        let vectors = embed(embedder.as_ref(), &texts).await?;
        for (n, (((size, number), text), vector)) in
            chunk.iter().zip(&texts).zip(&vectors).enumerate()
        {
            let user = user_id(&Plan::name(*size, *number));
            let terms = Terms::of(&words(text, Language::ENGLISH), []);
            let second = 1_735_689_600 + at as i64 * 1_000 + n as i64;
            let saved_at = Timestamp::from_second(second)?;
            let hex: String = terms.to_bytes().iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            let (fact, version, operation) = (ids.draw(), ids.draw(), ids.draw());
            let _ = writeln!(
                rows,
                "{saved_at}\t{user}\t{fact}\t{version}\t{operation}\t{text}\t{}\t\\\\x{hex}\t{}",
                terms.words,
                printed(vector)
            );
            if ids_are_low(&fact) {
                ids = Ids::new(saved_at, rng.random());
            }
        }
        sink.send(Bytes::from(std::mem::take(&mut rows))).await?;
        if at % 100 == 0 {
            eprintln!("fill: {} of {}", at * 1_000, owners.len());
        }
    }
    sink.finish().await?;
    eprintln!("fill: spreading");
    let users = plan_users(plan);
    let tenant = TenantId::named(TENANT).uuid().to_string();
    let spread = SPREAD.replace("{tenant}", &tenant).replace("{analyzer}", &ANALYZER.to_string());
    admin.batch_execute(&spread).await.context("spreading")?;
    admin
        .execute(
            "insert into users (user_id, tenant_id, name, created_at) \
             select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[])",
            &[
                &users.iter().map(|name| user_id(name)).collect::<Vec<_>>(),
                &vec![TenantId::named(TENANT).uuid(); users.len()],
                &users,
                &vec![Timestamp::UNIX_EPOCH; users.len()],
            ],
        )
        .await?;
    admin.batch_execute(INDEXES).await?;
    admin.batch_execute("vacuum analyze").await?;
    queries(&vocabulary, embedder.as_ref(), &mut rng).await
}

/// The counter inside an id overflows after four thousand draws; a new seed continues from there.
fn ids_are_low(id: &uuid::Uuid) -> bool {
    u16::from_be_bytes([id.as_bytes()[6] & 0x0f, id.as_bytes()[7]]) > 4_000
}

fn plan_users(plan: &Plan) -> Vec<String> {
    let usual = (0..plan.users).map(|n| Plan::name(USUAL, n));
    let others =
        plan.others.iter().flat_map(|(count, size)| (0..*count).map(|n| Plan::name(*size, n)));
    usual.chain(others).collect()
}

pub(crate) async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Ok(embedder.embed(&texts).await?)
}

/// A vector in PostgreSQL's syntax.
pub(crate) fn printed(vector: &[f32]) -> String {
    let mut text = String::with_capacity(vector.len() * 8);
    text.push('[');
    for (at, value) in vector.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{value:.4}");
    }
    text.push(']');
    text
}

async fn queries(
    vocabulary: &Vocabulary,
    embedder: &dyn Embedder,
    rng: &mut StdRng,
) -> Result<Vec<Query>> {
    let mut made = Vec::new();
    for _ in 0..200 {
        let sentence = vocabulary.sentence(rng);
        let three: Vec<&str> = sentence.split(' ').filter(|w| w.len() > 3).take(3).collect();
        let text = three.join(" ");
        let vector = embed(embedder, std::slice::from_ref(&text)).await?.pop().unwrap_or_default();
        let word = |w: &&str| w.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let tsquery = three.iter().map(word).collect::<Vec<_>>().join(" | ");
        made.push(Query { text, vector: printed(&vector), tsquery });
    }
    Ok(made)
}
