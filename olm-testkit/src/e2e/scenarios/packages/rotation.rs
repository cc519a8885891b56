//! A certificate of the packages API is exchanged while people ask all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, LogParams};
use olm_types::api::PackageManifest;
use tokio::time::{Instant, sleep};

use super::{catalog, seen};
use crate::e2e::TestContext;
use crate::operators::{OLM_NAMESPACE, Operator};
use crate::{packages as served, wait};

/// Where the operator keeps its certificate.
const SECRET: &str = "packageserver-service-cert";

/// What the operator says when it shows another one.
const SHOWN: &str = "the packages API shows a new certificate";

/// How many ask at the same time.
const PEOPLE: usize = 4;

/// Between two requests of one of them: whoever asks without a pause takes the processor from all other
/// scenarios.
const PAUSE: Duration = Duration::from_millis(20);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// No request fails.
pub(super) async fn no_request_fails(ctx: Arc<TestContext>) -> Result<()> {
    served::until_available(&ctx.client).await?;
    catalog(&ctx).await?;
    let packages: Api<PackageManifest> = ctx.api();
    seen(&packages, "lamp").await?;
    let namespace = ctx.facts().olm_namespace.clone().unwrap_or_else(|| OLM_NAMESPACE.to_owned());
    let secrets: Api<Secret> = Api::namespaced(ctx.client.clone(), &namespace);
    let before = secrets.get(SECRET).await.context("there is no certificate")?;

    let (over, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let asking = (0..PEOPLE).map(|_| {
        let asking = ask(packages.clone(), Arc::clone(&over), Arc::clone(&asked));
        async { tokio::spawn(asking).await.context("the asking ended")? }
    });
    let asking = tokio::spawn(try_join_all(asking));
    let begun = Instant::now();
    secrets.delete(SECRET, &DeleteParams::default()).await?;
    let renewed = wait::until(&secrets, SECRET, "hold another certificate", |secret: &Secret| {
        secret.data.is_some() && secret.metadata.uid != before.metadata.uid
    })
    .await?;
    until_shown(&ctx, newest(part(&renewed, "olmCAKey")), begun).await?;
    let so_far = asked.load(Ordering::Relaxed);
    while asked.load(Ordering::Relaxed) < so_far + PEOPLE * 2 && !asking.is_finished() {
        sleep(LOOK).await;
    }
    over.store(true, Ordering::Relaxed);
    asking.await.context("the asking ended")??;
    println!("{} requests during the rotation, none failed", asked.load(Ordering::Relaxed));
    Ok(())
}

async fn ask(
    packages: Api<PackageManifest>,
    over: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
) -> Result<()> {
    while !over.load(Ordering::Relaxed) {
        packages.get("lamp").await.context("a request failed during the rotation")?;
        asked.fetch_add(1, Ordering::Relaxed);
        sleep(PAUSE).await;
    }
    Ok(())
}

/// The first of several certificates.
fn newest(bundle: &str) -> &str {
    let end = "-----END CERTIFICATE-----\n";
    bundle.split_inclusive(end).next().unwrap_or_default()
}

/// Waits until a certificate of the authority is shown: the server is asked itself, or, where it
/// runs in a Pod and cannot be reached, its log since `begun`.
async fn until_shown(ctx: &TestContext, authority: &str, begun: Instant) -> Result<()> {
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        let is_shown = match &ctx.facts().olm_namespace {
            Some(namespace) => is_said(ctx, namespace, begun).await?,
            None => served::is_shown(served::address(&ctx.client).await?, authority).await?,
        };
        if is_shown {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the new certificate is never shown");
        sleep(LOOK).await;
    }
}

/// Whether the operator says that it shows another certificate.
async fn is_said(ctx: &TestContext, namespace: &str, begun: Instant) -> Result<bool> {
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), namespace);
    let labels = format!("app={}", Operator::Catalog.name());
    let seconds = i64::try_from(begun.elapsed().as_secs())?.saturating_add(1);
    let since = LogParams { since_seconds: Some(seconds), ..LogParams::default() };
    for pod in pods.list(&ListParams::default().labels(&labels)).await? {
        if pods.logs(&pod.name_any(), &since).await?.contains(SHOWN) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn part<'a>(secret: &'a Secret, key: &str) -> &'a str {
    let data = secret.data.as_ref().and_then(|data| data.get(key));
    data.and_then(|bytes| std::str::from_utf8(&bytes.0).ok()).unwrap_or_default()
}
