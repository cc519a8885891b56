//! `--catalogs=process`: where the operator pulls catalog images from. Registries that want credentials, mirrors
//! of registries that are away, and a disk that takes no more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Secret, ServiceAccount};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::{ImageRegistry, PASSWORD, USER};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::{CONTENT_CURRENT, SERVED_IN_PROCESS};
use serde_json::{Value, json};

use super::hosted::{NAME, condition, message, no_condition, no_pods, recorded};
use super::hosted_steps::{catalog, push, says_no_more};
use crate::catalog_servers::steps::{create, pod, ready};
use crate::openshift;

/// A registry that cannot be reached.
const AWAY: &str = "127.0.0.1:1";
/// Another one.
const AWAY_TOO: &str = "127.0.0.1:2";
/// OpenShift's kind with mirrors of images that have a tag.
const MIRROR_SET: &str = "ImageTagMirrorSet";

/// Another catalog of the same image.
const COPY: &str = "copy";

/// As long as the operator has no right at the registry, a Pod serves the catalog, for which the node may have one;
/// with the pull secret of the CatalogSource the operator does. What it has on its disk then is not for a
/// catalog that may not pull it, until the ServiceAccount of that catalog has the pull secret.
pub async fn secrets(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let open = ImageRegistry::start(folder.path(), false).await?;
    let guarded = ImageRegistry::start(folder.path(), true).await?;
    let digest = publish(&ctx, &open, 0).await?;
    create(&ctx, NAME, polled(guarded.address())).await?;
    condition(&ctx, SERVED_IN_PROCESS, "ImageUnauthorized").await?;
    pod(&ctx, olm_types::labels::CATALOG_SOURCE, NAME, |_| true).await?;

    give_secret(&ctx, &guarded, "wrong").await?;
    let catalogs: Api<CatalogSource> = ctx.api();
    let named = Patch::Merge(json!({"spec": {"secrets": ["pull"]}}));
    catalogs.patch(NAME, &PatchParams::default(), &named).await?;
    condition(&ctx, SERVED_IN_PROCESS, "ImageUnauthorized").await?;
    let said = message(&catalogs.get(NAME).await?, SERVED_IN_PROCESS).unwrap_or_default();
    ensure!(!said.contains("wrong") && !said.contains(USER), "the status says {said:?}");

    give_secret(&ctx, &guarded, PASSWORD).await?;
    recorded(&ctx, &digest).await?;
    no_condition(&ctx, SERVED_IN_PROCESS).await?;
    wait::until_ok("has no Pods", || no_pods(&ctx)).await?;

    let image = format!("{}/a/shelf@{digest}", guarded.address());
    create(&ctx, COPY, json!({"sourceType": "grpc", "image": image})).await?;
    let refused = |catalog: &CatalogSource| {
        let conditions = catalog.status.iter().flat_map(|status| &status.conditions);
        let mut conditions = conditions.filter(|found| found.type_ == SERVED_IN_PROCESS);
        conditions.any(|found| found.reason == "ImageUnauthorized")
    };
    wait::until(&catalogs, COPY, "be refused without a pull secret", refused).await?;
    // The ServiceAccount of its Pods may, too.
    let pulls = Patch::Merge(json!({"imagePullSecrets": [{"name": "pull"}]}));
    let accounts: Api<ServiceAccount> = ctx.api();
    accounts.patch(COPY, &PatchParams::default(), &pulls).await.context("no account")?;
    says_no_more(&ctx, COPY, SERVED_IN_PROCESS).await?;
    wait::until_ok("has no Pods", || no_pods(&ctx)).await?;
    ctx.keep((open, guarded, folder)).await;
    Ok(())
}

/// The registry that an image names is away; a mirror in registries.conf, which is read again when it changes, has
/// the image.
pub async fn mirror(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let digest = publish(&ctx, &registry, 0).await?;
    create(&ctx, NAME, polled(AWAY)).await?;
    condition(&ctx, SERVED_IN_PROCESS, "RegistryUnavailable").await?;
    let first = pod(&ctx, olm_types::labels::CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    let rules = format!(
        "[[registry]]\nprefix = {AWAY:?}\nlocation = {AWAY:?}\n\
         [[registry.mirror]]\nlocation = {:?}\ninsecure = true\n",
        registry.address()
    );
    write_rules(&ctx, &rules)?;
    recorded(&ctx, &digest).await?;
    wait::until_gone(&ctx.api::<Pod>(), &first).await?;
    no_condition(&ctx, SERVED_IN_PROCESS).await?;
    ctx.keep((registry, folder)).await;
    Ok(())
}

/// The same with OpenShift's ImageTagMirrorSet, a kind that the cluster did not have when the operator started.
pub async fn mirror_set(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let digest = publish(&ctx, &registry, 0).await?;
    create(&ctx, NAME, polled(AWAY_TOO)).await?;
    condition(&ctx, SERVED_IN_PROCESS, "RegistryUnavailable").await?;
    let first = pod(&ctx, olm_types::labels::CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    openshift::define(&ctx, &openshift::kind(MIRROR_SET)).await?;
    let mirrors = json!([{"source": AWAY_TOO, "mirrors": [registry.address()]}]);
    let set = openshift::object(MIRROR_SET, json!({"imageTagMirrors": mirrors}))?;
    openshift::objects(&ctx, MIRROR_SET).create(&PostParams::default(), &set).await?;
    recorded(&ctx, &digest).await?;
    wait::until_gone(&ctx.api::<Pod>(), &first).await?;
    no_condition(&ctx, SERVED_IN_PROCESS).await?;
    ctx.keep((registry, folder)).await;
    Ok(())
}

/// The disk does not take the newer content: what there is stays, and the status says what helps.
pub async fn full_disk(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let digest = publish(&ctx, &registry, 0).await?;
    create(&ctx, NAME, polled(registry.address())).await?;
    recorded(&ctx, &digest).await?;
    publish(&ctx, &registry, super::DISK).await?;
    condition(&ctx, CONTENT_CURRENT, "StorageFailed").await?;
    let said = message(&ready(&ctx, NAME).await?, CONTENT_CURRENT).unwrap_or_default();
    ensure!(said.contains("enlarge the volume and --catalogs-dir-size"), "it says {said:?}");
    recorded(&ctx, &digest).await?;
    no_pods(&ctx).await?;
    let digest = publish(&ctx, &registry, 0).await?;
    recorded(&ctx, &digest).await?;
    no_condition(&ctx, CONTENT_CURRENT).await?;
    ctx.keep((registry, folder)).await;
    Ok(())
}

/// The image at a registry, asked for every second.
fn polled(registry: &str) -> Value {
    json!({
        "sourceType": "grpc", "image": format!("{registry}/a/shelf:v1"),
        "updateStrategy": {"registryPoll": {"interval": "1s"}},
    })
}

/// Pushes the catalog, with so many bytes beside its files that cannot be compressed; says its digest.
async fn publish(ctx: &TestContext, registry: &ImageRegistry, bytes: u64) -> Result<String> {
    let image = catalog(ctx, &["1.0.0"])?.layer().file("/noise", noise(bytes)?, 0o644);
    push(image, registry.address(), "a/shelf").await
}

/// Bytes without a pattern: those of an xorshift generator.
pub(super) fn noise(bytes: u64) -> Result<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    Ok((0..usize::try_from(bytes)?.div_ceil(8)).flat_map(next).collect())
}

async fn give_secret(ctx: &TestContext, registry: &ImageRegistry, password: &str) -> Result<()> {
    let auths = json!({"auths": {registry.address(): {"username": USER, "password": password}}});
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "pull"}, "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": auths.to_string()},
    });
    let secrets: Api<Secret> = ctx.api();
    let params = PatchParams::apply("e2e").force();
    secrets.patch("pull", &params, &Patch::Apply(secret)).await.map(drop).context("no secret")
}

/// Puts a file in the place of the one that `--registries-config` names.
fn write_rules(ctx: &TestContext, rules: &str) -> Result<()> {
    let file = super::registries();
    let next = PathBuf::from(format!("{}.{}", file.display(), ctx.namespace));
    fs::write(&next, rules).context("cannot write the rules about registries")?;
    fs::rename(&next, Path::new(file)).context("cannot put the rules in place")
}
