//! What `deploy/` puts into a cluster: applied, waited for and removed again.
//!
//! [`apply`] does what `kubectl apply --server-side` does with the files, in the order of need.
//! Clusters whose operators run as processes beside them take everything but the two Deployments.

mod delete;
mod manifests;
mod options;
mod ready;
mod server_side;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, ResourceExt};

use crate::wait;

pub use delete::{delete, delete_deployments};
pub use manifests::{console, definitions, folder, kind, objects, render};
pub use options::{DEFAULT_IMAGE, LEADER_ELECT, Options};
pub use ready::{is_available, wait_ready};
pub(crate) use server_side::api_of;
pub use server_side::apply_object;

/// Kind of what has the API server pass requests on.
const API_SERVICE: &str = "APIService";

/// How much of `deploy/` is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// Everything but the Deployments and the APIService: definitions, namespaces, rights,
    /// OperatorGroups. The operators run outside the cluster.
    Definitions,
    /// The Deployments of both operators, too.
    Deployments,
}

/// Applies `deploy/crds`, waits until every kind is served, and applies `deploy/base`.
///
/// # Errors
///
/// When a file of `deploy/` is bad, the API server refuses an object, or a kind is not served in
/// time; the message names it.
pub async fn apply(client: &Client, options: &Options, with: With) -> Result<()> {
    apply_definitions(client).await?;
    let running = ["Deployment", API_SERVICE];
    let wanted = |object: &&_| with == With::Deployments || !running.contains(&kind(object));
    for object in objects(options)?.iter().filter(wanted) {
        apply_object(client, object).await?;
    }
    Ok(())
}

/// Applies the APIService of the packages API. It must not be applied while no process serves it:
/// an API that does not answer keeps every namespace from being deleted.
///
/// # Errors
///
/// When a file of `deploy/` is bad, or the API server refuses.
pub async fn apply_api_service(client: &Client) -> Result<()> {
    let all = objects(&Options::default())?;
    for object in all.iter().filter(|object| kind(object) == API_SERVICE) {
        apply_object(client, object).await?;
    }
    Ok(())
}

async fn apply_definitions(client: &Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definitions = definitions()?;
    for definition in &definitions {
        apply_object(client, definition).await?;
    }
    for definition in &definitions {
        let name = definition.name_any();
        let waited = wait::until(&crds, &name, "be established", is_established).await;
        waited.context("a kind of OLM is not served")?;
    }
    Ok(())
}

fn is_established(crd: &CustomResourceDefinition) -> bool {
    let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|c| c.type_ == "Established" && c.status == "True")
}
