//! The key under which a session's baseline is stored.

use lukasa_core::Project;
use serde::Serialize;

use super::retrieve::ContextRequest;
use crate::error::{Error, Result};
use crate::recall::{FilterKey, PointKey, json_digest};

/// The options a baseline depends on besides the memories. Different options have different
/// baselines.
#[derive(Debug, Serialize)]
struct BaselineKey<'k> {
    domains: Option<&'k [String]>,
    tokens: usize,
    window: Option<usize>,
    point: PointKey,
    filter: FilterKey<'k>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'k Project>,
}

impl ContextRequest {
    /// The key of its baseline among those of its session.
    pub(super) fn baseline_key(&self) -> Result<String> {
        let ContextRequest {
            message: _,
            domains,
            session: _,
            freeze: _,
            tokens,
            window,
            memories: _,
            turns: _,
            episodes: _,
            filter,
            precise: _,
            point,
            zone: _,
            within: _,
            project,
            preview: _,
        } = self;
        let key = BaselineKey {
            domains: domains.as_deref(),
            tokens: *tokens,
            window: *window,
            point: (*point).into(),
            filter: filter.into(),
            project: project.as_ref(),
        };
        let digest = json_digest(&key).map_err(|error| {
            let what = format!("key: {error}");
            Error::Internal(lukasa_store::Error::Corrupt { table: "baseline", what })
        })?;
        Ok(hex::encode(&digest[..8]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use jiff::tz::{Offset, TimeZone};
    use lukasa_core::{Category, Force, Kind, MemoryType, Role, Tier, Timestamp};

    use super::*;
    use crate::memory::Point;
    use crate::recall::Filter;

    fn request() -> ContextRequest {
        ContextRequest::about("Where is the tea?")
    }

    fn key(request: &ContextRequest) -> String {
        request.baseline_key().expect("a key")
    }

    #[test]
    fn baseline_key_is_stable() {
        let mut full = request();
        full.domains = Some(vec!["travel".into()]);
        full.window = Some(8_000);
        full.point = Point { as_of: Some(Timestamp::UNIX_EPOCH), known_at: None };
        full.filter.kind = Some(Kind::Preference);
        full.filter.min_confidence = Some(0.5);
        full.filter.roles = Some(vec![Role::User, Role::Assistant]);
        assert_eq!([key(&request()), key(&full)], ["0af865099523ec98", "52663a8da6119e46"]);
    }

    #[test]
    fn baseline_key_depends_on_every_option_of_the_baseline() {
        let at = Some(Timestamp::UNIX_EPOCH);
        let filtered = |filter: Filter| ContextRequest { filter, ..request() };
        let any = Filter::default;
        let requests = [
            request(),
            ContextRequest { domains: Some(vec![]), ..request() },
            ContextRequest { domains: Some(vec!["a".into(), "b".into()]), ..request() },
            ContextRequest { domains: Some(vec!["a, b".into()]), ..request() },
            ContextRequest { tokens: 1, ..request() },
            ContextRequest { window: Some(1), ..request() },
            ContextRequest { point: Point { as_of: at, known_at: None }, ..request() },
            ContextRequest { point: Point { as_of: None, known_at: at }, ..request() },
            filtered(Filter { domains: Some(vec![]), ..any() }),
            filtered(Filter { memory_type: Some(MemoryType::Profile), ..any() }),
            filtered(Filter { kind: Some(Kind::Fact), ..any() }),
            filtered(Filter { category: Some(Category::Fact), ..any() }),
            filtered(Filter { force: Some(Force::Hard), ..any() }),
            filtered(Filter { tier: Some(Tier::Strong), ..any() }),
            filtered(Filter { min_confidence: Some(0.5), ..any() }),
            filtered(Filter { session: Some("chat".into()), ..any() }),
            filtered(Filter { roles: Some(vec![Role::User]), ..any() }),
            ContextRequest { project: Project::parse("a"), ..request() },
            ContextRequest { project: Project::parse("b"), ..request() },
        ];
        let keys: BTreeSet<String> = requests.iter().map(key).collect();
        assert_eq!(keys.len(), requests.len());
    }

    #[test]
    fn baseline_key_is_the_same_for_every_message_of_a_session() {
        let later = ContextRequest {
            message: "And the milk?".into(),
            session: Some("chat".into()),
            freeze: false,
            memories: Some(3),
            turns: Some(3),
            episodes: Some(3),
            precise: true,
            zone: Some(TimeZone::fixed(Offset::constant(1))),
            within: Duration::from_secs(9),
            ..request()
        };
        assert_eq!(key(&later), key(&request()));
    }
}
