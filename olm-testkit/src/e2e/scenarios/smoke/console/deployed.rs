//! `deploy/console` in OLM's namespace, applied with kubectl, and the Pod that comes of it.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::ResourceExt;
use kube::api::ListParams;
use tempfile::TempDir;
use tokio_rustls::TlsConnector;

use super::documented::{self, HOST};
use crate::deploy::is_available;
use crate::e2e::scenarios::kubectl_olm::console_login::{
    ConsoleEndpoint, LoginConsole, certificate,
};
use crate::e2e::{TestContext, evidence};
use crate::kubectl::Kubectl;
use crate::wait;

/// The name of the Deployment, and of all that belongs to it.
pub(super) const NAME: &str = "olm-console";

/// The Secret with its certificate.
const SECRET: &str = "olm-console-tls";

/// Where its container listens.
const PORT: u16 = 8443;

/// What it logs first.
const LISTENS: &str = "Listening at ";

/// A console that is available.
pub(super) struct Deployed {
    kubectl: Kubectl,
    connector: TlsConnector,
    /// The overlay that was applied.
    overlay: String,
    _folder: TempDir,
}

impl Deployed {
    /// Makes the Secret, applies the overlay of the page, and waits until the Deployment is available.
    pub(super) async fn apply(ctx: &TestContext) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let connector = certificate(folder.path(), HOST)?;
        let kubectl = Kubectl::of(&ctx.kubeconfig().await?)?;
        let (key, value) = ctx.made_for();
        let file = |name: &str| folder.path().join(name).display().to_string();
        let (certificate, secret_key) = (file("tls.crt"), file("tls.key"));
        let files = ["--cert", &certificate, "--key", &secret_key];
        let secret = ["-n", ctx.olm_namespace()?, "create", "secret", "tls", SECRET];
        kubectl.run(&[&secret[..], &files].concat())?;
        let mark = format!("{key}={value}");
        kubectl.run(&["-n", ctx.olm_namespace()?, "label", "secret", SECRET, &mark])?;
        let overlay = documented::write(folder.path(), ctx)?.display().to_string();
        kubectl.run(&["apply", "--warnings-as-errors", "-k", &overlay])?;
        wait::until(&ctx.olm_api::<Deployment>()?, NAME, "be available", is_available).await?;
        Ok(Self { kubectl, connector, overlay, _folder: folder })
    }

    /// The console as a browser reaches it that knows its name, and trusts its certificate.
    pub(super) async fn console(&self, ctx: &TestContext) -> Result<LoginConsole> {
        let (pods, name) = (ctx.olm_api()?, pod(ctx).await?.name_any());
        let place = ConsoleEndpoint::Pod { pods, name, port: PORT };
        Ok(LoginConsole { host: HOST, place, connector: self.connector.clone() })
    }

    /// Fails when its container was started again: it has to do with the memory that it has.
    pub(super) async fn has_not_ended(&self, ctx: &TestContext) -> Result<()> {
        let status = pod(ctx).await?.status.unwrap_or_default();
        let containers = status.container_statuses.unwrap_or_default();
        ensure!(containers.len() == 1, "there are other containers: {containers:?}");
        let ended = containers.iter().find(|container| container.restart_count > 0);
        ensure!(ended.is_none(), "it has ended: {ended:?}");
        Ok(())
    }

    /// Fails when one of these stands in its log.
    pub(super) async fn has_not_logged(&self, ctx: &TestContext, secrets: &[&str]) -> Result<()> {
        let labels = format!("app={NAME}");
        let logs = evidence::pod_logs(&ctx.client, ctx.olm_namespace()?, &labels).await?;
        let log: String = logs.into_iter().map(|(_, log)| log).collect();
        ensure!(log.contains(LISTENS), "this is no log of the console: {log}");
        let is_said = secrets.iter().any(|secret| log.contains(secret));
        ensure!(!is_said, "what is secret stands in the log of the console");
        Ok(())
    }

    /// Removes what was applied, and the Secret.
    pub(super) async fn remove(self, ctx: &TestContext) -> Result<()> {
        let name = pod(ctx).await?.name_any();
        self.kubectl.run(&["delete", "-k", &self.overlay])?;
        self.kubectl.run(&["-n", ctx.olm_namespace()?, "delete", "secret", SECRET])?;
        wait::until_gone(&ctx.olm_api::<Pod>()?, &name).await
    }
}

/// The Pod that the Service leads to; there is one.
async fn pod(ctx: &TestContext) -> Result<Pod> {
    let service = ctx.olm_api::<Service>()?.get(NAME).await.context("there is no Service")?;
    let selector = service.spec.and_then(|spec| spec.selector).unwrap_or_default();
    let labels: Vec<String> =
        selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    ensure!(!labels.is_empty(), "the Service selects nothing");
    let ours = ListParams::default().labels(&labels.join(","));
    let mut pods = ctx.olm_api::<Pod>()?.list(&ours).await.context("cannot list Pods")?.items;
    ensure!(pods.len() == 1, "the Service has {} Pods", pods.len());
    pods.pop().context("the Service has no Pod")
}
