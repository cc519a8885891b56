//! `operator-sdk run bundle`, `run bundle-upgrade` and `cleanup` (operator-framework/operator-sdk): what
//! each writes and awaits, in its order.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use kube::api::DynamicObject;
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, Subscription};
use serde_json::{Value, json};

use super::client::{Tool, items, text, until};
use super::kubectl_operator::{approve, plan_of, subscription_for};

const INDEX_IMAGE: &str = "operators.operatorframework.io/index-image";
const INJECTED_BUNDLES: &str = "operators.operatorframework.io/injected-bundles";
const REGISTRY_POD: &str = "operators.operatorframework.io/registry-pod-name";

/// The port of the registries.
const PORT: u16 = 50051;

/// A bundle image, and what the tool reads in it.
#[derive(Clone, Debug)]
pub(super) struct BundleImage {
    pub(super) image: String,
    pub(super) package: String,
    pub(super) channel: String,
    pub(super) csv: String,
    /// Whether it supports the install mode AllNamespaces; else OwnNamespace.
    pub(super) everywhere: bool,
}

/// What the Pod of the tool serves, and how.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    /// `--index-image`.
    pub(super) image: String,
    /// What its container runs; the tool asks a shell to run `opm`.
    pub(super) command: Value,
    /// The catalog of the bundle and those before it, as YAML.
    pub(super) content: String,
    /// Where this is served, when not by the Pod.
    pub(super) address: Option<String>,
}

/// `run bundle IMAGE`: gives the CSV.
pub(super) async fn run_bundle(
    tool: &Tool<'_>,
    bundle: &BundleImage,
    registry: &Registry,
) -> Result<DynamicObject> {
    let catalog = format!("{}-catalog", bundle.package);
    // The type comes with the address, and the name of the pull secret is empty.
    let spec = json!({
        "sourceType": "", "secrets": [""], "displayName": bundle.package,
        "publisher": "operator-sdk", "grpcPodConfig": {"securityContextConfig": "legacy"},
        "icon": {"base64data": "", "mediatype": ""},
    });
    let source = tool.object::<CatalogSource>(&catalog, json!({"spec": spec, "status": {}}));
    let source = tool.create::<CatalogSource>(&source).await?;
    serve(tool, &source, std::slice::from_ref(&bundle.image), registry).await?;
    ensure_operator_group(tool, bundle).await?;
    let name = format!("{}-sub", dns_label(&bundle.csv));
    let spec = json!({
        "name": bundle.package, "channel": bundle.channel, "startingCSV": bundle.csv,
        "source": catalog, "sourceNamespace": tool.namespace(), "installPlanApproval": "Manual",
    });
    let content = json!({"spec": spec, "status": {"lastUpdated": null}});
    let subscription = tool.object::<Subscription>(&name, content);
    let subscription = tool.create::<Subscription>(&subscription).await?;
    install(tool, &subscription, &bundle.csv).await
}

/// `run bundle-upgrade IMAGE`: gives the CSV.
pub(super) async fn upgrade_bundle(
    tool: &Tool<'_>,
    bundle: &BundleImage,
    registry: &Registry,
) -> Result<DynamicObject> {
    let subscription = subscription_for(tool, &bundle.package).await?;
    let source = tool.api::<CatalogSource>().get(text(&subscription, "/spec/source")).await?;
    let annotation = |key: &str| source.annotations().get(key).cloned().unwrap_or_default();
    let injected: Vec<Value> = serde_json::from_str(&annotation(INJECTED_BUNDLES))?;
    let known = injected.iter().filter_map(|one| one["imageTag"].as_str()).map(str::to_owned);
    let images: Vec<String> = known.chain([bundle.image.clone()]).collect();
    serve(tool, &source, &images, registry).await?;
    let (pods, old) = (tool.api::<Pod>(), annotation(REGISTRY_POD));
    pods.get(&old).await.context("the registry of the older version is gone")?;
    tool.delete_and_wait(&pods, &old).await?;
    install(tool, &subscription, &bundle.csv).await
}

/// `cleanup PACKAGE`: with the definitions that the CSV requires or owns, and the groups.
pub(super) async fn clean_up(tool: &Tool<'_>, package: &str) -> Result<()> {
    let subscription = subscription_for(tool, package).await?;
    let name = match text(&subscription, "/status/installedCSV") {
        "" => text(&subscription, "/status/currentCSV"),
        installed => installed,
    };
    let csvs = tool.api::<ClusterServiceVersion>();
    let csv = csvs.get(name).await.context("cannot read the CSV")?;
    tool.delete(&tool.api::<Subscription>(), &subscription.name_any()).await?;
    let definitions = tool.cluster_api::<CustomResourceDefinition>();
    for one in items(&csv.data, "/status/requirementStatus") {
        if one["kind"] == "CustomResourceDefinition" {
            let served = [&one["group"], &one["version"]] == ["apiextensions.k8s.io", "v1"];
            ensure!(served, "the tool asks for a kind of another group: {one}");
            let name = one["name"].as_str().unwrap_or_default();
            tool.delete_and_wait(&definitions, name).await?;
        }
    }
    tool.delete_and_wait(&csvs, &csv.name_any()).await?;
    let catalogs = tool.api::<CatalogSource>();
    tool.delete_and_wait(&catalogs, text(&subscription, "/spec/source")).await?;
    ensure!(tool.list::<Subscription>().await?.is_empty(), "the Subscription is not gone");
    for group in tool.list::<OperatorGroup>().await? {
        tool.delete(&tool.api::<OperatorGroup>(), &group.name_any()).await?;
    }
    Ok(())
}

/// A ConfigMap and a Pod that belong to the CatalogSource; when the Pod runs, the CatalogSource learns
/// its address.
async fn serve(
    tool: &Tool<'_>,
    source: &DynamicObject,
    images: &[String],
    registry: &Registry,
) -> Result<()> {
    let map = format!("{}-configmap-partition-1", source.name_any());
    store(tool, source, &map, &registry.content).await?;
    let name = dns_label(images.last().context("no bundle")?);
    let owned = |mut object: DynamicObject| {
        object.metadata.owner_references = Some(vec![owner(source)]);
        object
    };
    let spec = tool.ctx.dressed(pod(source, &map, registry));
    let pod = tool.object::<Pod>(&name, json!({ "spec": spec }));
    tool.create::<Pod>(&owned(pod)).await?;
    let runs = |found: Option<&DynamicObject>| {
        found.is_some_and(|pod| text(pod, "/status/phase") == "Running")
    };
    let pod = until(&tool.api::<Pod>(), &name, "be Running", runs).await?;
    let ip = pod.map(|pod| text(&pod, "/status/podIP").to_owned()).unwrap_or_default();
    let address = registry.address.clone().unwrap_or_else(|| format!("{ip}:{PORT}"));
    let injected: Vec<Value> =
        images.iter().map(|image| json!({"imageTag": image, "mode": "replaces"})).collect();
    let annotations = [
        (INDEX_IMAGE, registry.image.clone()),
        (INJECTED_BUNDLES, Value::from(injected).to_string()),
        (REGISTRY_POD, name),
    ];
    tool.update::<CatalogSource>(&source.name_any(), |source| {
        source.data["spec"]["address"] = json!(address);
        source.data["spec"]["sourceType"] = json!("grpc");
        let annotations = annotations.clone().map(|(key, value)| (key.to_owned(), value));
        source.annotations_mut().extend(annotations);
    })
    .await
    .map(drop)
}

/// Makes the ConfigMap, or writes other content into it.
async fn store(tool: &Tool<'_>, source: &DynamicObject, name: &str, content: &str) -> Result<()> {
    let data = json!({"extraFBC": content});
    if tool.api::<ConfigMap>().get_opt(name).await?.is_some() {
        let written = tool.update::<ConfigMap>(name, |map| map.data["data"] = data.clone());
        return written.await.map(drop);
    }
    let mut map = tool.object::<ConfigMap>(name, json!({"data": data}));
    map.metadata.owner_references = Some(vec![owner(source)]);
    tool.create::<ConfigMap>(&map).await.map(drop)
}

fn pod(source: &DynamicObject, map: &str, registry: &Registry) -> Value {
    let (root, volume) = (content_dir(&source.name_any()), format!("{map}-volume"));
    let place = format!("{map}/extraFBC.yaml");
    json!({
        "volumes": [{"name": volume, "configMap": {
            "name": map, "items": [{"key": "extraFBC", "path": place}],
        }}],
        "containers": [{
            "name": "registry-grpc",
            "image": registry.image,
            "command": registry.command,
            "ports": [{"name": "grpc", "containerPort": PORT}],
            "volumeMounts": [{
                "name": volume, "mountPath": format!("{root}/{map}"), "subPath": map,
            }],
        }],
    })
}

/// Where the Pod has the content of a catalog.
pub(super) fn content_dir(catalog: &str) -> String {
    format!("/{catalog}-configs")
}

async fn ensure_operator_group(tool: &Tool<'_>, bundle: &BundleImage) -> Result<()> {
    let groups = tool.list::<OperatorGroup>().await?;
    ensure!(groups.len() < 2, "more than one operator group in namespace {}", tool.namespace());
    if !groups.is_empty() {
        return Ok(());
    }
    let spec = match bundle.everywhere {
        true => json!({}),
        false => json!({"targetNamespaces": [tool.namespace()]}),
    };
    let content = json!({"spec": spec, "status": {"lastUpdated": null}});
    let group = tool.object::<OperatorGroup>("operator-sdk-og", content);
    tool.create::<OperatorGroup>(&group).await.map(drop)
}

/// Waits until the Subscription names another plan than before, approves it, and waits until the CSV
/// has succeeded.
async fn install(
    tool: &Tool<'_>,
    subscription: &DynamicObject,
    csv: &str,
) -> Result<DynamicObject> {
    let before = plan_of(subscription);
    let has_other = |found: Option<&DynamicObject>| {
        found.is_some_and(|one| !plan_of(one).is_empty() && plan_of(one) != before)
    };
    let subscriptions = tool.api::<Subscription>();
    let subscription =
        until(&subscriptions, &subscription.name_any(), "name another InstallPlan", has_other)
            .await?;
    approve(tool, plan_of(&subscription.context("the Subscription is gone")?)).await?;
    let succeeded = |found: Option<&DynamicObject>| {
        found.is_some_and(|one| text(one, "/status/phase") == "Succeeded")
    };
    let csv = until(&tool.api::<ClusterServiceVersion>(), csv, "succeed", succeeded).await?;
    csv.context("the CSV is gone")
}

/// As controller-runtime's `SetOwnerReference` makes it: no controller.
fn owner(source: &DynamicObject) -> OwnerReference {
    OwnerReference {
        api_version: "operators.coreos.com/v1alpha1".to_owned(),
        kind: "CatalogSource".to_owned(),
        name: source.name_any(),
        uid: source.uid().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

/// What the tool makes of a text that is no DNS label: runs of other characters become a hyphen, and
/// at most 63 characters stay.
fn dns_label(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let label = words.collect::<Vec<_>>().join("-");
    label.chars().take(63).collect::<String>().trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_as_by_the_tool() {
        assert_eq!(dns_label("kettle.v1.0.0"), "kettle-v1-0-0");
        assert_eq!(dns_label("localhost:5000/a/b@sha256:0"), "localhost-5000-a-b-sha256-0");
        assert_eq!(dns_label(&"a.".repeat(60)).len(), 63);
    }
}
