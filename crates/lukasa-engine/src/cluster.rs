//! Clusters: groups of related memories, computed on every request.

use futures_util::try_join;
use lukasa_core::cluster::{Cluster, clusters};
use lukasa_core::{Caller, Timestamp, Version};
use lukasa_store::{domain, portrait, recallable};

use crate::Engine;
use crate::error::Result;

/// Maximum number of memories that are clustered, the most important first.
const MAX_MEMORIES: i64 = 2_000;

impl Engine {
    /// The clusters of a user's memories, the largest first, with the memories they are made of.
    pub async fn clusters(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<(Vec<Cluster>, Vec<Version>)> {
        let scope = self.reading(caller, now).await?;
        let (mut versions, shut, links) = try_join!(
            portrait::material(&scope, now, MAX_MEMORIES),
            domain::closed_domains(&scope),
            recallable::links(&scope, None),
        )?;
        versions.retain(|v| v.claim.domain.as_ref().is_none_or(|name| !shut.contains(name)));
        Ok((clusters(&versions, &links), versions))
    }
}
