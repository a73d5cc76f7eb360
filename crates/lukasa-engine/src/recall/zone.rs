//! The user's remembered time zone.

use jiff::tz::TimeZone;
use lukasa_core::recall::Facets;
use lukasa_core::recall::index::Index;
use lukasa_core::{FactId, Force, Timestamp, VersionId};

use crate::error::Result;
use crate::facts::{ZONE_DOMAIN, ZONE_KEY, zone_of};
use crate::parts::Parts;
use crate::recall::{OpenedIndex, Recall};

/// The user's time zone, if one is remembered. It is looked up in the index of the request, because a
/// statement would have to read all active memories of the user.
pub(super) async fn zone_in_index(
    parts: &Parts,
    recall: &Recall,
    opened: &OpenedIndex,
    now: Timestamp,
) -> Result<Option<TimeZone>> {
    let find = move |index: &Index| {
        let is_zone = |facets: &Facets| {
            facets.force == Force::Hard
                && facets.domain.as_deref() == Some(ZONE_DOMAIN)
                && facets.project.is_none()
                // The key is the first name, or a tag is if there is no key.
                && facets.names.first().is_some_and(|name| name == ZONE_KEY)
                && facets.valid_from <= now
                && facets.valid_until.is_none_or(|until| until > now)
        };
        let units = (0..index.len()).map(|at| index.unit(at));
        let found = units.filter(|unit| unit.facets.as_deref().is_some_and(is_zone));
        let ids = found.map(|unit| (unit.subject, unit.source));
        ids.map(|(fact, version)| (FactId::from_uuid(fact), VersionId::from_uuid(version)))
            .collect::<Vec<_>>()
    };
    let ids = opened.user_index.with(&parts.cpu, find).await?;
    let versions = recall.versions(opened, &ids).await?;
    let zone = versions.iter().find(|version| version.claim.key.as_deref() == Some(ZONE_KEY));
    Ok(zone.and_then(zone_of))
}
