//! A catalog in a ConfigMap that a user made.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt;
use kube::api::{Api, ObjectMeta, Patch, PatchParams};
use olm_testkit::builders::csv;
use olm_testkit::built_programs;
use olm_testkit::e2e::TestContext;
use olm_testkit::process::{Launch, Lifetime};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, CONFIG_MAP_RESOURCE_VERSION, MANAGED};
use serde_json::json;

use super::steps::{address, create, pod, ready};

const NAME: &str = "lists";

/// The ConfigMap comes after the CatalogSource, is served, and then changes.
pub async fn config_map(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    create(&ctx, NAME, json!({"sourceType": "configmap", "configMap": NAME})).await?;
    let missing =
        format!("failed to get catalog config map {NAME}: configmaps \"{NAME}\" not found");
    wait::until(&ctx.api(), NAME, "miss its ConfigMap", |catalog: &CatalogSource| {
        catalog.status.as_ref().and_then(|status| status.message.as_ref()) == Some(&missing)
    })
    .await?;
    ctx.create(&lists()).await?;
    let directory = tempfile::tempdir()?;
    let program = directory.path().join("configmap-server");
    symlink(built_programs()?.join("olm-registry"), &program)?;
    let (address, kubeconfig) = (address(&ctx, NAME).await?, ctx.kubeconfig().await?);
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let kubeconfig = kubeconfig.to_string_lossy();
    let flags = [
        ("-c", NAME),
        ("-n", &ctx.namespace),
        ("-p", &*port),
        ("-k", &*kubeconfig),
        ("--address", &*ip),
    ];
    let launch = Launch {
        name: "configmap-server".to_owned(),
        program,
        args: flags.iter().flat_map(|(flag, value)| [*flag, *value].map(str::to_owned)).collect(),
        env: Vec::new(),
        log: directory.path().join("configmap-server.log"),
        lifetime: Lifetime::Command,
    };
    let _server = launch.start()?;
    ready(&ctx, NAME).await?;
    ctx.subscribe("kettle", NAME).await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    check_rights(&ctx).await?;
    changes(&ctx).await
}

/// The account of the server may read this ConfigMap and nothing else.
async fn check_rights(ctx: &TestContext) -> Result<()> {
    let role = ctx.api::<Role>().get(&format!("{NAME}-configmap-reader")).await?;
    let rules = json!(role.rules);
    let expected = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [NAME], "verbs": ["get"]}]);
    ensure!(rules == expected, "the server may {rules}");
    let binding = format!("{NAME}-server-configmap-reader");
    let binding = ctx.api::<RoleBinding>().get(&binding).await?;
    ensure!(binding.role_ref.name == role.name_any(), "{:?}", binding.role_ref);
    let map = ctx.api::<ConfigMap>().get(NAME).await?;
    ensure!(map.labels().get(MANAGED).is_some_and(|value| value == "false"), "not labelled");
    ensure!(map.owner_references().iter().any(|owner| owner.name == NAME), "not owned");
    Ok(())
}

/// Another version of the ConfigMap gets another Pod, and the status names it.
async fn changes(ctx: &TestContext) -> Result<()> {
    let maps: Api<ConfigMap> = ctx.api();
    let more = Patch::Merge(json!({"data": {"note": "changed"}}));
    let map = maps.patch(NAME, &PatchParams::default(), &more).await?;
    let version = map.resource_version();
    let of_version = version.clone();
    pod(ctx, CATALOG_SOURCE, NAME, move |pod| {
        pod.labels().get(CONFIG_MAP_RESOURCE_VERSION) == of_version.as_ref()
    })
    .await?;
    wait::until(&ctx.api(), NAME, "name the new version", |catalog: &CatalogSource| {
        let status = catalog.status.as_ref();
        let reference = status.and_then(|status| status.config_map_reference.as_ref());
        reference.is_some_and(|reference| reference.resource_version == version)
    })
    .await
    .map(drop)
}

fn lists() -> ConfigMap {
    let kettle = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default").manifest();
    let channel = json!([{"name": "stable", "currentCSV": "kettle.v1.0.0"}]);
    let packages = json!([{"packageName": "kettle", "channels": channel}]);
    let data = BTreeMap::from([
        ("customResourceDefinitions".to_owned(), "[]".to_owned()),
        ("clusterServiceVersions".to_owned(), json!([kettle]).to_string()),
        ("packages".to_owned(), packages.to_string()),
    ]);
    let metadata = ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some(data), ..ConfigMap::default() }
}
