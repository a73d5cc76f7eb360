//! Clusters: which memories belong together, worked out whenever it is asked.

use futures_util::try_join;
use lukasa_core::cluster::{Cluster, clusters};
use lukasa_core::{Caller, Timestamp, Version};
use lukasa_store::{domain, portrait, recallable};

use crate::Engine;
use crate::error::Result;

/// How many memories are looked at, the most important first.
const MATERIAL: i64 = 2_000;

impl Engine {
    /// The clusters of a user's memories, the largest first, with the memories they are made of.
    pub async fn clusters(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<(Vec<Cluster>, Vec<Version>)> {
        let scope = self.reading(caller, now).await?;
        let (mut versions, shut, links) = try_join!(
            portrait::material(&scope, now, MATERIAL),
            domain::shut_ones(&scope),
            recallable::links(&scope, None),
        )?;
        versions.retain(|v| v.claim.domain.as_ref().is_none_or(|name| !shut.contains(name)));
        Ok((clusters(&versions, &links), versions))
    }
}
