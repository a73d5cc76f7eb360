//! Clusters of related memories.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::FactId;
use lukasa_core::cluster::Cluster;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::Reader;
use crate::api::error::Problem;

/// A memory in a cluster.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterMember {
    memory_id: String,
    content: String,
}

/// Related memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterView {
    /// Its most frequent words.
    #[schema(example = "tomatoes, balcony")]
    name: String,
    memories: Vec<ClusterMember>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ClustersView {
    data: Vec<ClusterView>,
}

/// List clusters of related memories.
///
/// Memories are grouped by their links and by the rare words they share, the largest group first.
/// An unrelated memory is in no group. Computed on each request.
#[utoipa::path(get, path = "/api/clusters", tag = "portraits", responses(
    (status = 200, body = ClustersView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_clusters(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ClustersView>, Problem> {
    let (clusters, versions) = app.engine().insights.clusters(&caller, app.now()).await?;
    let words: HashMap<FactId, &str> =
        versions.iter().map(|v| (v.fact, v.claim.content.as_str())).collect();
    let member = |fact: &FactId| ClusterMember {
        memory_id: fact.to_string(),
        content: words.get(fact).copied().unwrap_or_default().to_owned(),
    };
    let view = |cluster: Cluster| ClusterView {
        memories: cluster.facts.iter().map(member).collect(),
        name: cluster.name,
    };
    Ok(Json(ClustersView { data: clusters.into_iter().map(view).collect() }))
}
