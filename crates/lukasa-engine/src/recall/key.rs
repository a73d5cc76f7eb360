//! Keys of stored and cached answers: digests of the options they depend on, as JSON.
//!
//! A key is made of its own struct, so that renaming a field elsewhere does not change it. Options
//! are destructured without `..`: a new field must be added to a key or excluded by name.

use jiff::fmt::serde::tz;
use jiff::tz::TimeZone;
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::rank::Tuning;
use lukasa_core::{Category, Force, Kind, MemoryType, ProjectScope, Role, Tier, Timestamp, UserId};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::search::{Filter, RecallQuery};
use super::{RecallContext, RecallKey};
use crate::memory::Point;

/// SHA-256 of a key as JSON, whose fields are in the order of their declaration.
pub(crate) fn json_digest(key: &impl Serialize) -> serde_json::Result<[u8; 32]> {
    Ok(Sha256::digest(serde_json::to_vec(key)?).into())
}

/// A [`Filter`] as part of a key.
#[derive(Debug, Serialize)]
pub(crate) struct FilterKey<'k> {
    domains: Option<&'k [String]>,
    memory_type: Option<MemoryType>,
    kind: Option<Kind>,
    category: Option<Category>,
    force: Option<Force>,
    tier: Option<Tier>,
    /// The bits of the number: in JSON, infinity would equal an absent value.
    min_confidence: Option<u32>,
    session: Option<&'k str>,
    roles: Option<&'k [Role]>,
}

impl<'k> From<&'k Filter> for FilterKey<'k> {
    fn from(filter: &'k Filter) -> Self {
        let Filter {
            domains,
            memory_type,
            kind,
            category,
            force,
            tier,
            min_confidence,
            session,
            roles,
        } = filter;
        Self {
            domains: domains.as_deref(),
            memory_type: *memory_type,
            kind: *kind,
            category: *category,
            force: *force,
            tier: *tier,
            min_confidence: min_confidence.map(f32::to_bits),
            session: session.as_deref(),
            roles: roles.as_deref(),
        }
    }
}

/// A [`Point`] as part of a key.
#[derive(Debug, Serialize)]
pub(crate) struct PointKey {
    as_of: Option<Timestamp>,
    known_at: Option<Timestamp>,
}

impl From<Point> for PointKey {
    fn from(point: Point) -> Self {
        let Point { as_of, known_at } = point;
        Self { as_of, known_at }
    }
}

/// An [`EmbeddingModel`] as part of a key.
#[derive(Debug, Serialize)]
struct ModelKey<'k> {
    name: &'k str,
    dimension: usize,
}

impl<'k> From<&'k EmbeddingModel> for ModelKey<'k> {
    fn from(model: &'k EmbeddingModel) -> Self {
        let EmbeddingModel { name, dimension } = model;
        Self { name, dimension: *dimension }
    }
}

/// Everything a recall result depends on besides the memories.
#[derive(Debug, Serialize)]
struct QuestionKey<'k> {
    text: &'k str,
    filter: FilterKey<'k>,
    point: PointKey,
    #[serde(serialize_with = "tz::required::serialize")]
    zone: &'k TimeZone,
    memories: usize,
    turns: usize,
    sessions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    episodes: Option<usize>,
    tuning: &'k Tuning,
    rerank: bool,
    precise: bool,
    session: &'k str,
    model: Option<ModelKey<'k>>,
    closed_domains: &'k [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    projects: Option<&'k ProjectScope>,
}

impl RecallQuery {
    /// The cache key of its result. `None` outside of a session, where results are not cached, and
    /// for a time zone that has no name.
    pub(super) fn cache_key(&self, user: UserId, ctx: &RecallContext) -> Option<RecallKey> {
        let RecallQuery {
            text,
            filter,
            point,
            zone,
            memories,
            turns,
            sessions,
            episodes,
            tuning,
            rerank,
            precise,
            session,
            // The scope in the context is derived from it.
            projects: _,
        } = self;
        // The state is compared when a result is reused: it is not part of the key.
        // So are the other fields, which change with it.
        let RecallContext {
            state: _,
            model,
            closed_domains,
            projects,
            has_sessions: _,
            portraits: _,
        } = ctx;
        let (session, utc) = (session.as_deref()?, TimeZone::UTC);
        let key = QuestionKey {
            text,
            filter: filter.into(),
            point: (*point).into(),
            zone: zone.as_ref().unwrap_or(&utc),
            memories: *memories,
            turns: *turns,
            sessions: *sessions,
            episodes: Some(*episodes).filter(|count| *count > 0),
            tuning,
            rerank: *rerank,
            precise: *precise,
            session,
            model: model.as_ref().map(ModelKey::from),
            closed_domains,
            projects: Some(projects).filter(|projects| **projects != ProjectScope::NoProject),
        };
        let question = json_digest(&key).ok()?;
        Some(RecallKey { user, session: session.to_owned(), question })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::tz::Offset;
    use lukasa_core::Project;
    use lukasa_core::recall::rank::{Arm, Fusion};
    use lukasa_store::passage::RecallState;

    use super::*;

    fn query() -> RecallQuery {
        RecallQuery { session: Some("chat".into()), ..RecallQuery::about("tea?") }
    }

    fn context() -> RecallContext {
        RecallContext {
            state: RecallState::default(),
            model: None,
            closed_domains: Vec::new(),
            projects: ProjectScope::default(),
            has_sessions: false,
            portraits: None,
        }
    }

    fn digest(query: &RecallQuery, ctx: &RecallContext) -> String {
        let user = UserId::from_uuid(uuid::Uuid::nil());
        let key = query.cache_key(user, ctx).expect("a key");
        hex::encode(key.question)
    }

    #[test]
    fn recall_key_is_stable() {
        let golden = "067d53e683ae83458ee26e2630a64e084c8f3beb24cbf08e6c0b37311f29bc93";
        assert_eq!(digest(&query(), &context()), golden);
    }

    #[test]
    fn recall_key_depends_on_every_option() {
        let at = Some(Timestamp::UNIX_EPOCH);
        let tuned = |change: &dyn Fn(&mut Tuning)| {
            let mut query = query();
            change(&mut query.tuning);
            query
        };
        let filtered = |filter: Filter| RecallQuery { filter, ..query() };
        let any = Filter::default;
        let queries = [
            query(),
            RecallQuery { text: "coffee?".into(), ..query() },
            RecallQuery { point: Point { as_of: at, known_at: None }, ..query() },
            RecallQuery { point: Point { as_of: None, known_at: at }, ..query() },
            RecallQuery { zone: Some(TimeZone::fixed(Offset::constant(1))), ..query() },
            RecallQuery { memories: 11, ..query() },
            RecallQuery { turns: 1, ..query() },
            RecallQuery { sessions: 1, ..query() },
            RecallQuery { episodes: 1, ..query() },
            RecallQuery { rerank: false, ..query() },
            RecallQuery { precise: true, ..query() },
            RecallQuery { session: Some("other".into()), ..query() },
            tuned(&|tuning| tuning.fusion = Fusion::Ranks),
            tuned(&|tuning| tuning.facts = tuning.facts.with(Arm::Link, 9.0)),
            tuned(&|tuning| tuning.turns = tuning.turns.with(Arm::Link, 9.0)),
            tuned(&|tuning| tuning.centre += 0.5),
            tuned(&|tuning| tuning.feedback = !tuning.feedback),
            tuned(&|tuning| tuning.smoothing += 0.5),
            filtered(Filter { domains: Some(vec![]), ..any() }),
            filtered(Filter { domains: Some(vec!["a".into(), "b".into()]), ..any() }),
            filtered(Filter { domains: Some(vec!["a, b".into()]), ..any() }),
            filtered(Filter { memory_type: Some(MemoryType::Profile), ..any() }),
            filtered(Filter { kind: Some(Kind::Fact), ..any() }),
            filtered(Filter { category: Some(Category::Fact), ..any() }),
            filtered(Filter { force: Some(Force::Hard), ..any() }),
            filtered(Filter { tier: Some(Tier::Strong), ..any() }),
            filtered(Filter { min_confidence: Some(0.5), ..any() }),
            filtered(Filter { min_confidence: Some(f32::INFINITY), ..any() }),
            filtered(Filter { session: Some("chat".into()), ..any() }),
            filtered(Filter { roles: Some(vec![Role::User]), ..any() }),
        ];
        let model = |name: &str, dimension| EmbeddingModel { name: name.into(), dimension };
        let contexts = [
            RecallContext { model: Some(model("small", 64)), ..context() },
            RecallContext { model: Some(model("large", 64)), ..context() },
            RecallContext { model: Some(model("small", 65)), ..context() },
            RecallContext { closed_domains: vec!["health".into()], ..context() },
            RecallContext { projects: ProjectScope::All, ..context() },
            RecallContext { projects: ProjectScope::of(Project::parse("a").as_ref()), ..context() },
            RecallContext { projects: ProjectScope::of(Project::parse("b").as_ref()), ..context() },
        ];
        let keys: BTreeSet<String> = queries
            .iter()
            .map(|query| digest(query, &context()))
            .chain(contexts.iter().map(|ctx| digest(&query(), ctx)))
            .collect();
        assert_eq!(keys.len(), queries.len() + contexts.len());
    }

    #[test]
    fn recall_key_is_per_user_and_only_in_a_session() {
        let [a, b] = [1, 2].map(|n| UserId::from_uuid(uuid::Uuid::from_u128(n)));
        assert_ne!(query().cache_key(a, &context()), query().cache_key(b, &context()));
        assert_eq!(RecallQuery::about("tea?").cache_key(a, &context()), None);
    }
}
