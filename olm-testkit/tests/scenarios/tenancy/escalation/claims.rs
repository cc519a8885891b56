//! An OperatorGroup of the tenant that claims the APIs of another user's operator.

use anyhow::{Context, Result};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};

use super::tenant::Tenant;

const CSV: &str = "public.v1.0.0";

/// A static claim stands before the operator of an administrator that also looks after the
/// tenant's namespace.
pub async fn claimed_apis(tenant: Tenant) -> Result<()> {
    let kind = tenant.ctx.kind("Service");
    let crds: Api<CustomResourceDefinition> = Api::all(tenant.ctx.client.clone());
    crds.create(&PostParams::default(), &serde_json::from_value(kind.manifest())?).await?;
    let mut claim = builders::operator_group(tenant.home(), "group", &[tenant.home()]);
    claim.spec.static_provided_apis = Some(true);
    let apis = kind.gvk();
    let text = |key: &str| apis[key].as_str().unwrap_or_default();
    let listed = format!("{}.{}.{}", text("kind"), text("version"), text("group"));
    claim.metadata.annotations = Some([("olm.providedAPIs".to_owned(), listed)].into());
    tenant.create(&claim).await?;
    let listed = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| !status.namespaces.is_empty())
    };
    wait::until(&tenant.ctx.api(), "group", "list its targets", listed).await?;
    tenant.allow_targets(&tenant.foreign, "*").await?;
    install(&tenant).await?;
    let operator = csv(CSV, "1.0.0").owns(&kind).deployment("public", "default").build();
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    csvs.create(&PostParams::default(), &operator).await.context("cannot create the CSV")?;
    let expected = match tenant.is_strict() {
        true => "InstallSucceeded",
        false => "InterOperatorGroupOwnerConflict",
    };
    let ends = |csv: &ClusterServiceVersion| {
        let status = csv.status.as_ref();
        status.is_some_and(|status| {
            status.reason.as_deref() == Some(expected)
                && matches!(status.phase.to_string().as_str(), "Succeeded" | "Failed")
        })
    };
    wait::until(&csvs, CSV, &format!("end with {expected}"), ends).await.map(drop)
}

/// The administrator's group looks after both namespaces.
async fn install(tenant: &Tenant) -> Result<()> {
    let targets = [tenant.home(), tenant.foreign.as_str()];
    let group = builders::operator_group(&tenant.foreign, "public", &targets);
    let groups: Api<OperatorGroup> = Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    groups.create(&PostParams::default(), &group).await.context("cannot create the group")?;
    let listed = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| status.namespaces.len() == 2)
    };
    wait::until(&groups, "public", "list both", listed).await.map(drop)
}
