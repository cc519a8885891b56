//! What all namespaces have in common: bundles of global catalogs, and bindings with names of the cluster.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, RoleBinding, Subject};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::annotations::{EXCLUDE_GLOBAL_NAMESPACE, SOURCE_IMAGE};
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription};
use olm_types::hash::unpack_name;
use olm_types::labels::{BUNDLE_UNPACK_REF, MANAGED};
use serde_json::json;

use super::hooks::{guard, publish};
use super::tenant::Tenant;

/// Seconds that a Job has by `--bundle-unpack-timeout`.
const BY_FLAG: i64 = 600;

/// The tenant's group gives bundles a second, also those that others wait for; what he asks for leaves them the
/// time that they have, and their Job. A Job and a ConfigMap of his stand for none of theirs.
pub async fn shared_bundle(tenant: Tenant) -> Result<()> {
    let image = format!("bundles.example.com/{}:v1", tenant.home());
    let package = format!("{}-kettle", tenant.home());
    let operator = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default");
    let bundle = Bundle::new("1.0.0", &operator).in_image(&image);
    let content = tenant.ctx.content(&[Package::single(&package, bundle)])?;
    let address = tenant.ctx.registry("kettles", content).await?;
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    let source = builders::catalog_source(OLM_NAMESPACE, tenant.home(), &address);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, tenant.home()).await?;
    let mut group = builders::operator_group(tenant.home(), "group", &[tenant.home()]);
    let annotations = group.annotations_mut();
    for (key, value) in [("timeout", "1s"), ("min-retry-interval", "1ns")] {
        annotations.insert(format!("operatorframework.io/bundle-unpack-{key}"), value.to_owned());
    }
    tenant.create(&group).await?;
    decoys(&tenant, &image).await?;
    tenant.create(&subscription(&tenant, tenant.home(), &package)).await?;
    let jobs: Api<Job> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    let made = wait::until(&jobs, &unpack_name(&image), "be made", |_: &Job| true).await?;
    let seconds = made.spec.as_ref().and_then(|spec| spec.active_deadline_seconds);
    ensure!(seconds == Some(BY_FLAG), "the tenant gives all namespaces {seconds:?} seconds");
    subscribe_elsewhere(&tenant, &package).await?;
    tenant.ctx.until_idle().await?;
    let now = jobs.get(&made.name_any()).await?;
    ensure!(now.uid() == made.uid(), "the Job was deleted and made anew");
    Ok(())
}

/// A Job and a ConfigMap in the tenant's namespace have name, label and annotation of those that OLM makes for the
/// image in its own.
async fn decoys(tenant: &Tenant, image: &str) -> Result<()> {
    let name = unpack_name(image);
    let metadata = json!({
        "name": name, "labels": {BUNDLE_UNPACK_REF: name, MANAGED: "true"},
        "annotations": {SOURCE_IMAGE: image},
    });
    let config_map = json!({"metadata": metadata, "data": {"csv": "{}"}});
    tenant.create::<ConfigMap>(&serde_json::from_value(config_map)?).await?;
    let container = json!({"name": "decoy", "image": "decoy.example.com/decoy:v1"});
    let pod = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    let job = json!({"metadata": metadata, "spec": {"suspend": true, "template": pod}});
    tenant.create::<Job>(&serde_json::from_value(job)?).await.map(drop)
}

fn subscription(tenant: &Tenant, namespace: &str, package: &str) -> Subscription {
    let mut subscription = builders::subscription(namespace, package, "stable", tenant.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    subscription
}

/// Another user waits for the same bundle.
async fn subscribe_elsewhere(tenant: &Tenant, package: &str) -> Result<()> {
    let (client, once) = (&tenant.ctx.client, PostParams::default());
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), &tenant.foreign);
    let group = builders::operator_group(&tenant.foreign, "group", &[&tenant.foreign]);
    groups.create(&once, &group).await.context("cannot create the group")?;
    let all: Api<Subscription> = Api::namespaced(client.clone(), &tenant.foreign);
    all.create(&once, &subscription(tenant, &tenant.foreign, package)).await?;
    let waits = |subscription: &Subscription| {
        let mut conditions = subscription.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|condition| condition.type_ == "BundleUnpacking")
    };
    wait::until(&all, package, "wait for its bundle", waits).await.map(drop)
}

/// The tenant's group excludes global catalogs: his namespace sees none any more, and that of another user does.
pub async fn excluded_catalogs(tenant: Tenant) -> Result<()> {
    let package = format!("{}-guard", tenant.home());
    let name = format!("{package}.v1.0.0");
    publish(&tenant, &name, "guard").await?;
    let mut group = builders::operator_group(tenant.home(), "group", &[tenant.home()]);
    group.annotations_mut().insert(EXCLUDE_GLOBAL_NAMESPACE.to_owned(), "true".to_owned());
    tenant.create(&group).await?;
    tenant.create(&subscription(&tenant, tenant.home(), &package)).await?;
    let (client, once) = (&tenant.ctx.client, PostParams::default());
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), &tenant.foreign);
    let group = builders::operator_group(&tenant.foreign, "group", &[&tenant.foreign]);
    groups.create(&once, &group).await.context("cannot create the group")?;
    let all: Api<Subscription> = Api::namespaced(client.clone(), &tenant.foreign);
    all.create(&once, &subscription(&tenant, &tenant.foreign, &package)).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), &tenant.foreign);
    wait::until(&csvs, &name, "succeed", succeeded).await?;
    let here = tenant.ctx.api::<ClusterServiceVersion>().get_opt(&name).await?;
    ensure!(here.is_none(), "the annotation does not count where it is");
    Ok(())
}

fn succeeded(csv: &ClusterServiceVersion) -> bool {
    csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
}

/// The tenant installs an operator whose Deployment has the name of another user's server. Both ask who their
/// callers are by bindings of one name; it stays with the other one, also when the tenant's goes.
pub async fn shared_names(tenant: Tenant) -> Result<()> {
    let deployment = format!("{}-guard", tenant.home());
    let name = format!("{deployment}.v1.0.0");
    tenant.allow_targets(&tenant.foreign, "*").await?;
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let groups: Api<OperatorGroup> = Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let group = builders::operator_group(&tenant.foreign, "group", &[&tenant.foreign]);
    groups.create(&PostParams::default(), &group).await.context("cannot create the group")?;
    let honest = guard(&tenant, "honest.v1.0.0", &deployment)?.build();
    csvs.create(&PostParams::default(), &honest).await.context("cannot create the CSV")?;
    wait::until(&csvs, "honest.v1.0.0", "succeed", succeeded).await?;
    ensure!(homes(&tenant, &deployment).await? == [tenant.foreign.as_str()], "not bound at all");
    publish(&tenant, &name, &deployment).await?;
    tenant.own_group().await?;
    tenant.create(&subscription(&tenant, tenant.home(), &deployment)).await?;
    tenant.ctx.succeeded(&name).await?;
    let both = homes(&tenant, &deployment).await?;
    ensure!(both == [tenant.foreign.as_str(), tenant.home()], "bound in {both:?}");
    let own: Api<ClusterServiceVersion> = Api::namespaced(tenant.client.clone(), tenant.home());
    own.delete(&name, &DeleteParams::default()).await.context("the tenant may not delete")?;
    wait::until_gone(&tenant.ctx.api::<ClusterServiceVersion>(), &name).await?;
    let left = homes(&tenant, &deployment).await?;
    ensure!(left == [tenant.foreign.as_str()], "bound in {left:?} afterwards");
    Ok(())
}

/// The namespaces whose servers may ask who their callers are, by both bindings of the name.
async fn homes(tenant: &Tenant, deployment: &str) -> Result<Vec<String>> {
    let client = &tenant.ctx.client;
    let delegators: Api<ClusterRoleBinding> = Api::all(client.clone());
    let readers: Api<RoleBinding> = Api::namespaced(client.clone(), "kube-system");
    let homes = |subjects: Option<Vec<Subject>>| {
        let subjects = subjects.into_iter().flatten();
        subjects.filter_map(|subject| subject.namespace).collect::<Vec<_>>()
    };
    let delegator = format!("{deployment}-service-system:auth-delegator");
    let delegator = homes(delegators.get(&delegator).await?.subjects);
    let reader = homes(readers.get(&format!("{deployment}-service-auth-reader")).await?.subjects);
    ensure!(delegator == reader, "{delegator:?} may ask, {reader:?} may learn how");
    Ok(delegator)
}
