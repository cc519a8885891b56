//! A cluster with everything that runs need, used for one run after the other.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_testkit::audit::{AuditLog, Write};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::operators::Operator;
use olm_testkit::progress::Progress;
use olm_testkit::{builders, wait};

use super::baseline::Baseline;
use super::context::NAMESPACE;
use super::operators::Starter;

/// What operators may go on writing before something must be wrong.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A cluster that is the same at the beginning of each run.
pub(super) struct Setup {
    pub client: Client,
    pub starter: Starter,
    pub baseline: Baseline,
    fixture: Fixture,
    audit: AuditLog,
}

/// Starts clusters side by side.
pub(super) async fn start(count: usize, binaries: &Path, logs: &Path) -> Result<Vec<Setup>> {
    let stages = (1..=count).map(|number| async move {
        let logs = logs.join(format!("cluster-{number}"));
        Setup::set(number, &FixturePaths::of(binaries, Some(&logs))).await
    });
    try_join_all(stages).await
}

/// Ends clusters.
pub(super) async fn stop(stages: Vec<Setup>) -> Result<()> {
    for setup in stages {
        setup.fixture.end().await?;
    }
    Ok(())
}

impl Setup {
    async fn set(number: usize, places: &FixturePaths) -> Result<Self> {
        let purpose = format!("crash-{number}");
        let fixture = Fixture::start(&purpose, places, Progress::to_stderr()).await?;
        let client = fixture.client.clone();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let namespace = builders::namespace(NAMESPACE);
        namespaces
            .create(&PostParams::default(), &namespace)
            .await
            .context("cannot create the namespace")?;
        until_garbage_is_collected(&client).await?;
        let binaries = fixture.binaries.clone();
        let starter = Starter { binaries, kubeconfig: fixture.kubeconfig.clone() };
        let mut audit = fixture.audit();
        // What operators write once in an empty cluster belongs to no scenario.
        let pair = starter.start(None).await?;
        audit.until_idle(&Operator::NAMES, Duration::from_secs(3), TIMEOUT).await?;
        pair.stop();
        let baseline = Baseline::record(&client).await?;
        Ok(Self { client, starter, baseline, fixture, audit })
    }

    /// Writes so far do not count.
    pub(super) fn skip_writes(&mut self) -> Result<()> {
        self.audit.skip()
    }

    /// The operators' writes since the last look, once there were none for `quiet`.
    pub(super) async fn writes_until_idle(&mut self, quiet: Duration) -> Result<Vec<Write>> {
        self.audit.until_idle(&Operator::NAMES, quiet, TIMEOUT).await
    }
}

/// The garbage collector of Kubernetes looks for new kinds every 30 seconds. Before it knows ours,
/// what they own stays.
async fn until_garbage_is_collected(client: &Client) -> Result<()> {
    let owner = OwnerReference {
        api_version: "operators.coreos.com/v1alpha1".to_owned(),
        kind: "ClusterServiceVersion".to_owned(),
        name: "gone".to_owned(),
        uid: "00000000-0000-4000-8000-000000000000".to_owned(),
        ..OwnerReference::default()
    };
    let metadata = ObjectMeta {
        name: Some("garbage".to_owned()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let garbage = ConfigMap { metadata, ..ConfigMap::default() };
    maps.create(&PostParams::default(), &garbage).await.context("cannot create garbage")?;
    wait::until_gone(&maps, "garbage").await
}
