//! The one ConfigMap that a program reads or writes.
//!
//! What may pass (a conflict, an API server that restarts) is tried again for a few seconds; after
//! that the Job or the kubelet starts the program anew.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use tokio::time::sleep;

/// How often a call is made at most.
const ATTEMPTS: u32 = 6;
/// Pause after the first attempt; each one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait for an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A ConfigMap in a cluster.
pub(super) struct ClusterConfigMap {
    api: Api<ConfigMap>,
    namespace: String,
    name: String,
}

impl ClusterConfigMap {
    /// A ConfigMap in the cluster of the kubeconfig; without one, of `KUBECONFIG`, of
    /// `~/.kube/config`, or around the process.
    pub(super) async fn open(
        kubeconfig: Option<&Path>,
        namespace: &str,
        name: &str,
    ) -> Result<Self> {
        let client =
            Client::try_from(config(kubeconfig).await?).context("cluster config failed")?;
        let api = Api::namespaced(client, namespace);
        Ok(Self { api, namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Reads it.
    pub(super) async fn read(&self) -> Result<ConfigMap> {
        let got = persist(|| self.api.get(&self.name)).await;
        got.map_err(|error| self.failed("read", &error))
    }

    /// Reads it, changes it and writes it; all of that again when another client wrote meanwhile.
    pub(super) async fn change(&self, change: impl Fn(&mut ConfigMap) -> Result<()>) -> Result<()> {
        for attempt in 1.. {
            let mut config_map = self.read().await?;
            change(&mut config_map)?;
            let parameters = PostParams::default();
            let write = || self.api.replace(&self.name, &parameters, &config_map);
            match persist(write).await {
                Err(error) if is_code(&error, 409) && attempt < ATTEMPTS => {}
                written => return written.map(drop).map_err(|error| self.failed("write", &error)),
            }
        }
        Ok(())
    }

    fn failed(&self, what: &str, error: &kube::Error) -> anyhow::Error {
        let hint = match error {
            kube::Error::Api(status) if status.code == 403 => {
                ": a Role must let this ServiceAccount get and update it"
            }
            kube::Error::Api(status) if status.code == 404 => ": it must be there before",
            _ => "",
        };
        let reason = match error {
            kube::Error::Api(status) => status.message.clone(),
            other => other.to_string(),
        };
        anyhow!("cannot {what} the ConfigMap {}/{}: {reason}{hint}", self.namespace, self.name)
    }
}

async fn config(kubeconfig: Option<&Path>) -> Result<Config> {
    let mut config = match kubeconfig.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => {
            let file = Kubeconfig::read_from(path).context("cluster config failed")?;
            let options = KubeConfigOptions::default();
            Config::from_custom_kubeconfig(file, &options).await.context("cluster config failed")?
        }
        None => Config::infer().await.context(
            "cluster config failed: give a --kubeconfig, or run in a Pod with a ServiceAccount",
        )?,
    };
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(READ_TIMEOUT);
    Ok(config)
}

/// Makes a call until its outcome is one that does not pass by itself.
async fn persist<F, T>(call: impl Fn() -> F) -> Result<T, kube::Error>
where
    F: Future<Output = Result<T, kube::Error>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match call().await {
            Err(error) if may_pass(&error) => {
                tracing::info!(%error, "trying again");
                sleep(pause).await;
                pause = pause.saturating_mul(2);
            }
            outcome => return outcome,
        }
    }
    call().await
}

fn may_pass(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

fn is_code(error: &kube::Error, code: u16) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use kube::core::Status;

    use super::*;

    fn answer(code: u16) -> kube::Error {
        kube::Error::Api(Status::failure("no", "Reason").with_code(code).boxed())
    }

    async fn attempts(code: u16) -> u32 {
        let calls = Cell::new(0);
        let call = || async {
            calls.set(calls.get() + 1);
            Err::<(), _>(answer(code))
        };
        assert!(persist(call).await.is_err());
        calls.get()
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_may_pass_is_tried_again() {
        assert_eq!(attempts(503).await, ATTEMPTS);
        assert_eq!(attempts(429).await, ATTEMPTS);
        assert_eq!(attempts(404).await, 1);
        assert_eq!(attempts(409).await, 1);
    }
}
