//! A namespace with everything that a CSV needs to succeed.

use anyhow::{Context, Result};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use olm_testkit::builders::{self, Crd, csv};
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use crate::scale::namespaces::{LoadNamespace, Namespaces};

/// The CSV of every namespace.
pub(super) const CSV: &str = "worker.v1.0.0";

/// Its Deployment, and the ServiceAccount of that.
pub(super) const WORKER: &str = "worker";

/// Bytes of prose in each CSV; real ones have several thousand.
const PROSE: usize = 8 * 1024;

/// Creates everything.
pub(super) async fn load(namespaces: &Namespaces) -> Result<()> {
    create_kind(namespaces.client()).await?;
    namespaces.fill(fill).await
}

fn kind() -> Crd {
    Crd::new("scale.example.com", "v1", "Job")
}

async fn create_kind(client: Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client);
    let (crd, applied) = (kind().manifest(), PatchParams::apply("scale").force());
    let name = crd.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    crds.patch(name, &applied, &Patch::Apply(&crd)).await.context("cannot create the kind")?;
    Ok(())
}

async fn fill(home: LoadNamespace) -> Result<()> {
    let name = home.name.as_str();
    let group = builders::operator_group(name, "group", &[name]);
    home.create(&group).await?;
    home.create(&builders::service_account(name, WORKER)).await?;
    let (role, binding) = rights(name)?;
    home.create(&role).await?;
    home.create(&binding).await?;
    home.create(&worker()).await
}

fn worker() -> ClusterServiceVersion {
    csv(CSV, "1.0.0")
        .owns(&kind())
        .deployment(WORKER, WORKER)
        .permission(WORKER, json!([rule()]))
        .description("A worker works. ".repeat(PROSE / 16))
        .build()
}

fn rule() -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["configmaps".to_owned()]),
        verbs: vec!["get".to_owned(), "list".to_owned(), "watch".to_owned()],
        ..PolicyRule::default()
    }
}

fn rights(namespace: &str) -> Result<(Role, RoleBinding)> {
    let role = json!({"metadata": {"name": WORKER}, "rules": [rule()]});
    let binding = json!({
        "metadata": {"name": WORKER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": WORKER},
        "subjects": [{"kind": "ServiceAccount", "name": WORKER, "namespace": namespace}],
    });
    let malformed = "rights are malformed";
    let role = serde_json::from_value(role).context(malformed)?;
    Ok((role, serde_json::from_value(binding).context(malformed)?))
}
