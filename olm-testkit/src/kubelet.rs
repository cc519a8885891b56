//! The kubelet of unpack Pods, played by the test.
//!
//! A quota keeps the Job controller from making Pods that the simulated node would run at once. The
//! test's own Pods ask for nothing, and are held back from the scheduler.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, ResourceQuota, ServiceAccount};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use olm_types::hash::unpack_name;
use olm_types::labels::{BUNDLE_UNPACK_REF, JOB_NAME};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::builders::Bundle;
use crate::wait;

const QUOTA: &str = "no-pods";

/// Between two looks whether the quota is enforced.
const LOOK: Duration = Duration::from_millis(50);

/// Plays the kubelet in one namespace.
pub struct Kubelet {
    client: Client,
    namespace: String,
    kubeconfig: PathBuf,
    program: PathBuf,
    dir: TempDir,
}

impl Kubelet {
    /// From now on no Pod that asks for anything is made in the namespace. The kubeconfig is that of
    /// an administrator, and `program` is `olm-registry`, which Jobs run.
    pub async fn begin(
        client: &Client,
        namespace: &str,
        kubeconfig: PathBuf,
        program: PathBuf,
    ) -> Result<Self> {
        let dir = tempfile::tempdir().context("cannot create a folder")?;
        let (client, namespace) = (client.clone(), namespace.to_owned());
        let kubelet = Self { client, namespace, kubeconfig, program, dir };
        let quota = json!({"metadata": {"name": QUOTA}, "spec": {"hard": {"requests.cpu": "0"}}});
        let quota: ResourceQuota = serde_json::from_value(quota)?;
        let made = kubelet.api().create(&PostParams::default(), &quota).await;
        made.context("cannot keep Pods from being made")?;
        kubelet.until_enforced().await?;
        Ok(kubelet)
    }

    /// The API server hears of a quota a moment after it was made, and lets Pods through until then.
    async fn until_enforced(&self) -> Result<()> {
        let pod = json!({"metadata": {"name": QUOTA}, "spec": {"containers": [{
            "name": "probe", "image": "nothing", "resources": {"requests": {"cpu": "1"}},
        }]}});
        let pod: Pod = serde_json::from_value(pod)?;
        let try_only = PostParams { dry_run: true, ..PostParams::default() };
        let deadline = Instant::now() + wait::TIMEOUT;
        let exceeded = format!("exceeded quota: {QUOTA}");
        loop {
            let tried = self.api().create(&try_only, &pod).await;
            if tried.as_ref().is_err_and(|error| error.to_string().contains(&exceeded)) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "the quota for Pods is not enforced: {tried:?}");
            sleep(LOOK).await;
        }
    }

    /// Pods are made and run again. Whoever was refused one waits longer each time, so this comes
    /// before what makes others ask for Pods.
    pub async fn end(&self) -> Result<()> {
        let quotas: Api<ResourceQuota> = self.api();
        quotas.delete(QUOTA, &DeleteParams::default()).await.map(drop).context("no quota")
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Does what the last container of the Pod does, as its account.
    pub async fn extract(&self, bundle: &Bundle, package: &str, image: &str) -> Result<()> {
        for (path, text) in bundle.files(package) {
            let path = self.dir.path().join("bundle").join(path);
            std::fs::create_dir_all(path.parent().context("a file without a folder")?)?;
            std::fs::write(path, text)?;
        }
        let name = unpack_name(image);
        let kubeconfig = self.kubeconfig(&name).await?;
        let mut command = Command::new(&self.program);
        command.args(["alpha", "bundle", "extract", "-z", "-c", &name]);
        command.args(["-n", &self.namespace, "-m"]).arg(self.dir.path().join("bundle"));
        command.arg("-k").arg(kubeconfig).env("CONTAINER_IMAGE", image).kill_on_drop(true);
        let output = command.output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// The Job's Pod waits for an image, and says why.
    pub async fn cannot_pull(&self, job: &Job, message: &str) -> Result<()> {
        let pod = json!({
            "metadata": {
                "name": format!("{}-pod", job.name_any()),
                "labels": {JOB_NAME: job.name_any(), BUNDLE_UNPACK_REF: job.name_any()},
            },
            "spec": {
                "schedulingGates": [{"name": "example.com/held-back"}],
                "containers": [{
                    "name": "extract", "image": "nothing",
                    "resources": {"requests": {"cpu": "0"}},
                }],
            },
        });
        let pod: Pod =
            self.api().create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        let waiting = json!({"reason": "ErrImagePull", "message": message});
        let container = json!({
            "name": "pull", "ready": false, "image": "kettle:v1", "imageID": "", "restartCount": 0,
            "state": {"waiting": waiting},
        });
        let status = json!({"status": {"initContainerStatuses": [container]}});
        self.report::<Pod>(&pod.name_any(), status).await
    }

    /// The Job is done.
    pub async fn complete(&self, job: &Job) -> Result<()> {
        let done = json!({"completionTime": now(), "succeeded": 1});
        self.finish(job, done, &["SuccessCriteriaMet", "Complete"], "CompletionsReached", "").await
    }

    /// The Job failed.
    pub async fn fail(&self, job: &Job, reason: &str, message: &str) -> Result<()> {
        self.finish(job, json!({}), &["FailureTarget", "Failed"], reason, message).await
    }

    async fn finish(
        &self,
        job: &Job,
        mut status: Value,
        conditions: &[&str],
        reason: &str,
        message: &str,
    ) -> Result<()> {
        // The Job controller says when it began, and no other client may change that.
        wait::until(&self.api(), &job.name_any(), "have begun", |job: &Job| {
            job.status.as_ref().is_some_and(|status| status.start_time.is_some())
        })
        .await?;
        let condition = |kind: &&str| {
            json!({
                "type": kind, "status": "True", "reason": reason, "message": message,
                "lastTransitionTime": now(), "lastProbeTime": now(),
            })
        };
        status["conditions"] = conditions.iter().map(condition).collect();
        status["active"] = json!(0);
        self.report::<Job>(&job.name_any(), json!({ "status": status })).await
    }

    async fn report<K>(&self, name: &str, status: Value) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
    {
        let objects: Api<K> = self.api();
        let patched =
            objects.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await;
        patched.map(drop).with_context(|| format!("cannot report on {name}"))
    }

    /// The cluster's kubeconfig with the credentials of an account.
    async fn kubeconfig(&self, account: &str) -> Result<PathBuf> {
        let accounts: Api<ServiceAccount> = self.api();
        let request =
            TokenRequest { spec: Some(TokenRequestSpec::default()), ..TokenRequest::default() };
        let token =
            accounts.create_token_request(account, &PostParams::default(), &request).await?;
        let token = token.status.and_then(|status| status.token).context("no token")?;
        let text = std::fs::read_to_string(&self.kubeconfig)?;
        let mut config: Value = yaml_serde::from_str(&text)?;
        let users = config["users"].as_array_mut().context("a kubeconfig without users")?;
        users.iter_mut().for_each(|user| user["user"] = json!({"token": token}));
        let path = self.dir.path().join("kubeconfig");
        std::fs::write(&path, config.to_string())?;
        Ok(path)
    }
}

fn now() -> String {
    Timestamp::now().to_string()
}
