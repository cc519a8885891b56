//! `--catalog-polling=digest`: the registry is asked what a name means now, and a Pod looks only when
//! that is another image than the one that serves.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::history::{Change, History};
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::oci::{self, Image};
use olm_testkit::wait;
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, CATALOG_SOURCE_UPDATE};
use serde_json::{Value, json};

use crate::catalog_servers::steps::{create, pod, report};

const NAME: &str = "shelf";

/// The node says which image runs; here the test does.
pub async fn spares_pods(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    let first = oci::push(&image("one")?, registry.address(), "a/shelf", "v1").await?;
    create(&ctx, NAME, json!({"sourceType": "grpc", "image": first.reference})).await?;
    let serving = pod(&ctx, CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    report(&ctx, &serving, runs(&first.pinned())).await?;

    let pods: History<Pod> = History::of(ctx.api()).await?;
    poll(&ctx).await?;
    let once = looked(&ctx, String::new()).await?;
    looked(&ctx, once).await?;
    let names = pods.so_far().iter().map(Change::name).collect::<Vec<_>>();
    ensure!(names.iter().all(|name| *name == serving), "Pods for the same digest: {names:?}");

    let second = oci::push(&image("two")?, registry.address(), "a/shelf", "v1").await?;
    let looks = pod(&ctx, CATALOG_SOURCE_UPDATE, NAME, |_| true).await?.name_any();
    report(&ctx, &looks, runs(&second.pinned())).await?;
    let takes_over = |pod: &Pod| pod.labels().get(CATALOG_SOURCE).is_some_and(|name| name == NAME);
    wait::until(&ctx.api::<Pod>(), &looks, "serve", takes_over).await?;
    wait::until_gone(&ctx.api::<Pod>(), &serving).await?;

    // A registry that cannot be asked is no reason to miss an image.
    drop(registry);
    let looks = pod(&ctx, CATALOG_SOURCE_UPDATE, NAME, |_| true).await?.name_any();
    ctx.api::<CatalogSource>().delete(NAME, &DeleteParams::background()).await?;
    wait::until_gone(&ctx.api::<Pod>(), &looks).await
}

/// Polling begins when the Pod has said which image it runs.
async fn poll(ctx: &TestContext) -> Result<()> {
    let catalogs: Api<CatalogSource> = ctx.api();
    let strategy = json!({"updateStrategy": {"registryPoll": {"interval": "1s"}}});
    let patch = Patch::Merge(json!({ "spec": strategy }));
    let patched = catalogs.patch(NAME, &PatchParams::default(), &patch).await;
    patched.map(drop).context("cannot have the catalog polled")
}

/// Waits until the image was looked at again, and says when.
async fn looked(ctx: &TestContext, before: String) -> Result<String> {
    let at = |catalog: &CatalogSource| {
        let status = catalog.status.as_ref();
        let time = status.and_then(|status| status.latest_image_registry_poll.as_ref());
        time.map(|time| time.0.to_string()).unwrap_or_default()
    };
    let catalogs = ctx.api();
    let found = wait::until(&catalogs, NAME, "be looked at", |catalog| at(catalog) != before);
    found.await.map(|catalog| at(&catalog))
}

fn image(content: &str) -> Result<Image> {
    Image::builder().file("/configs/content", content.to_owned(), 0o644).build()
}

fn runs(image_id: &str) -> Value {
    json!({"containerStatuses": [{
        "name": "registry-server", "image": "shelf", "imageID": image_id,
        "ready": true, "restartCount": 0, "state": {"running": {}},
    }]})
}
