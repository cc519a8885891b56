//! A replica of catalog-operator that serves catalogs, and the Pod that a node would report of it.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::{Admin, OLM_NAMESPACE, Operator, StartOptions};
use olm_testkit::process::Running;
use olm_testkit::wait;
use serde_json::{Value, json};

use crate::flags::hosted::bundles_at;

/// Name of the Secret that an administrator gives for global catalogs.
pub(super) const PULL_SECRET: &str = "registries";

/// A catalog-operator with an address and a folder of its own.
pub(super) struct Replica {
    pub(super) running: Running,
    admin: Admin,
    address: IpAddr,
    folder: PathBuf,
}

impl Replica {
    pub(super) async fn start(fixture: &Fixture, folder: &Path, number: u8) -> Result<Self> {
        let address = address(number);
        let reached =
            [1, 2].map(|number| format!("{}={}", pod_address(number), self::address(number)));
        let folder = folder.join(format!("catalogs-{number}"));
        let args = vec![
            LEADER_ELECT.to_owned(),
            "--catalogs=process".to_owned(),
            format!("--catalogs-address={address}"),
            format!("--catalogs-dir={}", folder.display()),
            format!("--catalogs-replica-addresses={}", reached.join(",")),
            format!("--global-pull-secret={OLM_NAMESPACE}/{PULL_SECRET}"),
        ];
        let log = format!("catalog-operator-{number}");
        let special = StartOptions { log, args, ..StartOptions::default() };
        let started = fixture.binaries.operator(Operator::Catalog, &fixture.kubeconfig, special);
        let (running, admin) = started.await?;
        admin.until_ready().await?;
        Ok(Self { running, admin, address, folder })
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    pub(super) fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address, port)
    }

    /// Waits until it serves so many bundles.
    pub(super) async fn serves(&self, port: u16, bundles: usize) -> Result<()> {
        wait::until_ok("have the content of the catalog", || async {
            let found = bundles_at(self.at(port)).await?;
            ensure!(found.len() == bundles, "it serves {found:?}");
            anyhow::Ok(())
        })
        .await
        .with_context(|| format!("replica at {} of {}", self.address, self.admin.address()))
    }

    /// Waits until this replica, which leads, has asked another one for the catalog, and got an answer that begins so.
    pub(super) async fn heard(&self, number: u8, answer: &str) -> Result<()> {
        let address = pod_address(number);
        wait::until_ok("has asked the other replica", || async {
            let state: Value = serde_json::from_str(&self.admin.state().await?)?;
            let asked = state.pointer("/hosting/replicas").and_then(Value::as_object);
            let mut heard = asked.into_iter().flatten().filter_map(|(_, of)| of[&address].as_str());
            ensure!(heard.any(|heard| heard.starts_with(answer)), "it heard {asked:?}");
            anyhow::Ok(())
        })
        .await
    }

    /// How many seconds it took to serve the catalog from the disk, as the log says.
    pub(super) async fn seconds_from_the_disk(&self) -> Result<f64> {
        wait::until_ok("is served from the disk", || async {
            let log = std::fs::read_to_string(self.running.log())?;
            let mut lines = log.lines().filter(|line| line.contains("served from the disk"));
            let line = lines.next_back().context("the log does not say so")?;
            let (_, seconds) = line.split_once("seconds=").context("it does not say how long")?;
            let seconds = seconds.split_whitespace().next().unwrap_or_default();
            seconds.parse::<f64>().with_context(|| format!("it took {seconds:?}"))
        })
        .await
    }

    pub(super) fn kill(mut self) {
        self.running.kill();
    }

    pub(super) fn stop(self) {
        self.running.stop();
    }
}

/// The Pod of a replica: what a node would say of it. No node runs it.
pub(super) async fn report_pod(fixture: &Fixture, number: u8) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(fixture.client.clone(), OLM_NAMESPACE);
    let security = json!({
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let pod = json!({
        "metadata": {"name": pod_name(number), "labels": {"app": "catalog-operator"}},
        "spec": {
            "schedulingGates": [{"name": "example.com/held-back"}],
            "containers": [{"name": "operator", "image": "nothing", "securityContext": security}],
        },
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
    let address = pod_address(number);
    let status = json!({"status": {
        "phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }});
    let once = PatchParams::default();
    pods.patch_status(&pod_name(number), &once, &Patch::Merge(status)).await?;
    Ok(())
}

pub(super) fn pod_name(number: u8) -> String {
    format!("catalog-operator-{number}")
}

/// No endpoint may have an address of the machine alone, at which replicas of this scenario serve.
pub(super) fn pod_address(number: u8) -> String {
    format!("10.213.0.{number}")
}

/// Where it is reached in place of that.
fn address(number: u8) -> IpAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    IpAddr::from([127, 213 + number, high, low.clamp(1, 254)])
}
