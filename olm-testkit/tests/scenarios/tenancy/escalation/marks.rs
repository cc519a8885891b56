//! Labels, annotations and finalizers of objects that the tenant may write, all at once.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::Role;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_testkit::builders::csv;
use olm_testkit::wait;
use olm_types::annotations::{PROPERTIES, installed_alongside};
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan};
use olm_types::finalizers::CSV_CLEANUP;
use olm_types::labels::{CATALOG_SOURCE, CLUSTER_OPERATOR_NAME, DEPLOYMENT_SPEC_HASH};
use olm_types::labels::{MANAGED, PERMISSIONS_HASH};
use serde_json::{Value, json};

use super::super::review::Request;
use super::forgery::{CSV as HONEST, OperatorObjects};
use super::groups::nothing_is_gained;
use super::plans::crown;
use super::targets::{install, thief};
use super::tenant::Tenant;

/// Name of a catalog of another user.
const SHELF: &str = "shelf";

/// A time long ago, which makes pauses short and certificates old.
const LONG_AGO: &str = "2001-01-01T00:00:00Z";

/// Neither does any of them give the tenant anything, nor does it change the operator or the catalog of another
/// user, or keep the next version of that operator away; his own operator goes on.
pub async fn forged_marks(tenant: Tenant) -> Result<()> {
    out_of_reach(&tenant).await?;
    let before = OperatorObjects::install(&tenant).await?;
    let pod = foreign_catalog(&tenant).await?;
    tenant.own_group().await?;
    install(&tenant).await?;
    let name = thief(&tenant);
    tenant.ctx.succeeded(&name).await?;
    marks_of_a_csv(&tenant, &name).await?;
    marks_of_its_objects(&tenant).await?;
    marks_of_pods_and_catalogs(&tenant).await?;
    approval_by_hand(&tenant).await?;
    nothing_is_gained(&tenant).await?;
    tenant.ctx.succeeded(&name).await?;
    let left = serving(&tenant).await?;
    ensure!(left == [pod], "the catalog of another user has other Pods: {left:?}");
    remove(&tenant, &tenant.foreign, SHELF).await?;
    let after = OperatorObjects::look(&tenant).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    upgrade_of_another(&tenant).await
}

/// What decisions read as well, and rights in a namespace do not reach.
async fn out_of_reach(tenant: &Tenant) -> Result<()> {
    let writes = [("", "namespaces", "patch"), ("discovery.k8s.io", "endpointslices", "create")];
    for (group, resource, verb) in writes {
        let (user, namespace) = (tenant.user.as_str(), tenant.home());
        let write = Request { user, verb, resource: (group, resource), namespace };
        write.expect(&tenant.ctx.client, false).await?;
    }
    Ok(())
}

/// A definition says that the older version of another user's operator came with it, by its name in the tenant's
/// namespace: the newer version, which waits for one that came with the older one, does not wait for this.
async fn upgrade_of_another(tenant: &Tenant) -> Result<()> {
    let (client, once) = (&tenant.ctx.client, PostParams::default());
    let kind = tenant.ctx.kind("Honesty");
    let key = installed_alongside(tenant.home(), HONEST);
    let mut manifest = kind.manifest();
    manifest["metadata"]["annotations"] = json!({key: format!("{}/{HONEST}", tenant.home())});
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&once, &serde_json::from_value(manifest)?).await.context("no definition")?;
    let newer = csv("honest.v2.0.0", "2.0.0").owns(&kind).replaces(HONEST);
    let newer = newer.deployment("honest", "default").build();
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), &tenant.foreign);
    csvs.create(&once, &newer).await.context("no newer version")?;
    let succeeded = |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    };
    wait::until(&csvs, "honest.v2.0.0", "succeed", succeeded).await.map(drop)
}

/// Another user serves a catalog with a Pod, whose uid is given.
async fn foreign_catalog(tenant: &Tenant) -> Result<Option<String>> {
    let client = &tenant.ctx.client;
    let catalogs: Api<CatalogSource> = Api::namespaced(client.clone(), &tenant.foreign);
    let image = format!("shelf.example.com/{}:v1", tenant.foreign);
    let catalog: CatalogSource = serde_json::from_value(json!({
        "metadata": {"name": SHELF}, "spec": {"sourceType": "grpc", "image": image},
    }))?;
    catalogs.create(&PostParams::default(), &catalog).await.context("no catalog")?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), &tenant.foreign);
    let serves = |pod: &Pod| runs(pod, &image);
    Ok(wait::until_some(&pods, "", "serve the catalog", serves).await?.uid())
}

/// The Pods of the catalog of another user.
async fn serving(tenant: &Tenant) -> Result<Vec<Option<String>>> {
    let pods: Api<Pod> = Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let labelled = ListParams::default().labels(&format!("{CATALOG_SOURCE}={SHELF}"));
    Ok(pods.list(&labelled).await?.iter().map(ResourceExt::uid).collect())
}

/// A CSV says that it is the package server, that it limits the version of the cluster, and how long ago it failed;
/// it has lost its finalizer, which comes back.
async fn marks_of_a_csv(tenant: &Tenant, name: &str) -> Result<()> {
    let properties = json!({"properties": [
        {"type": "olm.maxOpenShiftVersion", "value": "4.0"},
        {"type": "olm.package", "value": {"packageName": "honest", "version": "9.9.9"}},
    ]});
    let metadata = json!({
        "labels": {CLUSTER_OPERATOR_NAME: "operator-lifecycle-manager-packageserver"},
        "annotations": {
            PROPERTIES: properties.to_string(), "olm-rs.dev/attested-properties": "00".repeat(32),
        },
        "finalizers": null,
    });
    tenant.put::<ClusterServiceVersion>(name, json!({"metadata": metadata})).await?;
    let is_whole =
        |csv: &ClusterServiceVersion| csv.finalizers().iter().any(|it| it == CSV_CLEANUP);
    wait::until(&tenant.ctx.api(), name, "have its finalizer again", is_whole).await?;
    let failed = json!({
        "phase": "Failed", "reason": "InstallComponentFailed", "message": "forged",
        "lastTransitionTime": LONG_AGO, "lastUpdateTime": LONG_AGO,
    });
    let forged = json!({
        "conditions": vec![failed; 20], "lastTransitionTime": LONG_AGO, "lastUpdateTime": LONG_AGO,
    });
    tenant.put_status::<ClusterServiceVersion>(name, forged).await?;
    tenant.ctx.succeeded(name).await.map(drop)
}

/// What belongs to it has hashes that are made up, and an account that says OLM made it.
async fn marks_of_its_objects(tenant: &Tenant) -> Result<()> {
    let forged = json!({"metadata": {
        "labels": {DEPLOYMENT_SPEC_HASH: "forged"}, "annotations": {"olmcahash": "forged"},
    }});
    tenant.put::<Deployment>("thief", forged).await?;
    let forged = json!({"metadata": {"labels": {PERMISSIONS_HASH: "forged"}}});
    tenant.put::<Role>(&format!("{}-thief", tenant.home()), forged).await?;
    let forged = json!({"metadata": {"labels": {MANAGED: "true"}}});
    tenant.put::<ServiceAccount>("thief", forged).await
}

/// A Pod says that it serves the catalog of another user; a catalog asks for another image, for a high priority and
/// for whatever else annotations of a Pod may say. It gets one Pod in its namespace, and nothing elsewhere.
async fn marks_of_pods_and_catalogs(tenant: &Tenant) -> Result<()> {
    let image = format!("forged.example.com/{}:", tenant.home());
    let pod = json!({
        "metadata": {"name": "decoy", "labels": {CATALOG_SOURCE: SHELF, MANAGED: "true"}},
        "spec": {
            "serviceAccountName": "thief",
            "containers": [{"name": "decoy", "image": "decoy.example.com/decoy:v1"}],
        },
    });
    tenant.create::<Pod>(&serde_json::from_value(pod)?).await?;
    tenant.create::<CatalogSource>(&serde_json::from_value(marked(&image))?).await?;
    let forged = json!({"latestImageRegistryPoll": "2099-01-01T00:00:00Z"});
    tenant.put_status::<CatalogSource>("marked", forged).await?;
    let pods: Api<Pod> = tenant.ctx.api();
    let serves = |pod: &Pod| runs(pod, &image);
    wait::until_some(&pods, "", "serve the catalog", serves).await?;
    let all: Api<Pod> = Api::all(tenant.ctx.client.clone());
    let all = all.list(&ListParams::default()).await?.items;
    let elsewhere = all.iter().filter(|pod| pod.namespace().as_deref() != Some(tenant.home()));
    let elsewhere = elsewhere.filter(|pod| runs(pod, &image)).map(ResourceExt::name_any);
    let elsewhere: Vec<String> = elsewhere.collect();
    ensure!(elsewhere.is_empty(), "an image of the tenant's runs elsewhere: {elsewhere:?}");
    // Nothing listens there; what tries to connect to it never rests.
    remove(tenant, tenant.home(), "marked").await
}

fn marked(image: &str) -> Value {
    json!({
        "metadata": {
            "name": "marked",
            "labels": {"catalog-namespace": "default"},
            "annotations": {
                "olm.catalogImageTemplate": format!("{image}v{{kube_major_version}}"),
                "operatorframework.io/priorityclass": "system-cluster-critical",
                "olm-rs.dev/served-by": "process",
                "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            },
        },
        "spec": {
            "sourceType": "grpc", "image": format!("{image}v0"),
            "updateStrategy": {"registryPoll": {"interval": "10m"}},
        },
    })
}

/// A plan says that a Subscription approved it, which is not what approves one.
async fn approval_by_hand(tenant: &Tenant) -> Result<()> {
    let plan = json!({
        "metadata": {"name": "approved", "annotations": {"olm-rs.dev/approved-by": "{}"}},
        "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": ["any.v1"]},
    });
    tenant.create::<InstallPlan>(&serde_json::from_value(plan)?).await?;
    let forged =
        json!({"phase": "RequiresApproval", "catalogSources": [], "plan": [crown(tenant)]});
    tenant.put_status::<InstallPlan>("approved", forged).await?;
    tenant.ctx.until_idle().await?;
    tenant.theft(&tenant.user, "kube-system").expect(&tenant.ctx.client, false).await
}

/// Deletes a catalog as an administrator, and waits until it is gone.
async fn remove(tenant: &Tenant, namespace: &str, name: &str) -> Result<()> {
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), namespace);
    catalogs.delete(name, &DeleteParams::default()).await.context("cannot delete a catalog")?;
    wait::until_gone(&catalogs, name).await
}

/// Whether a Pod has a container of an image whose name begins so.
fn runs(pod: &Pod, image: &str) -> bool {
    let containers = pod
        .spec
        .iter()
        .flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
    let mut images = containers.filter_map(|one| one.image.as_deref());
    images.any(|found| found.starts_with(image))
}
