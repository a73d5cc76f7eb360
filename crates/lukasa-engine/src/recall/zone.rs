//! The remembered time zone of a question that names none.

use jiff::tz::TimeZone;
use lukasa_core::recall::Facets;
use lukasa_core::recall::index::Index;
use lukasa_core::{FactId, Force, Timestamp, VersionId};
use lukasa_text::when;

use super::{OpenedIndex, Recall, RecallQuery};
use crate::error::Result;
use crate::zone::{ZONE_DOMAIN, ZONE_KEY, remembered_zone, zone_of};

impl Recall {
    /// The time zone of a question: the one it names, or else the remembered one. It is looked up
    /// only for a question that mentions a time.
    pub(super) async fn zone_of_question(
        &self,
        opened: &OpenedIndex,
        ask: &RecallQuery,
        now: Timestamp,
    ) -> Result<Option<TimeZone>> {
        if ask.zone.is_some() || when::mentions(&ask.text, now, &TimeZone::UTC).is_empty() {
            return Ok(ask.zone.clone());
        }
        match ask.point.is_now() {
            true => self.zone_in_index(opened, now).await,
            false => remembered_zone(&opened.scope, now).await,
        }
    }

    /// The user's time zone, if one is remembered. It is looked up in the index of the request, because a
    /// statement would have to read all active memories of the user.
    pub(crate) async fn zone_in_index(
        &self,
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
            let found = index.current_facts();
            let found = found.filter(|unit| unit.facets.as_deref().is_some_and(is_zone));
            let ids = found.map(|unit| (unit.subject, unit.source));
            ids.map(|(fact, version)| (FactId::from_uuid(fact), VersionId::from_uuid(version)))
                .collect::<Vec<_>>()
        };
        let ids = opened.user_index.with(&self.parts.cpu, find).await?;
        let versions = self.versions(opened, &ids).await?;
        let zone = versions.iter().find(|version| version.claim.key.as_deref() == Some(ZONE_KEY));
        Ok(zone.and_then(zone_of))
    }
}
