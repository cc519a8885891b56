//! Why an operator is there, and why there is no newer one.

use std::fmt;

use anyhow::{Context, Result, bail};
use olm_plan::settings::Settings;
use olm_plan::why::{Why, WhyInputs, why};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription};

use crate::catalogs::{Access, Catalogs, Folders, Visible};
use crate::cluster::Cluster;
use crate::listing::visible_offline;
use crate::notices::Notices;
use crate::reading::Sources;

/// An answer, and what it is without.
#[derive(Clone, Debug)]
pub struct Reasons {
    /// The answer.
    pub why: Why,
    /// What was not read, and why.
    pub unread: Vec<String>,
}

/// What is read of the namespace.
struct Read {
    subscriptions: Vec<Subscription>,
    csvs: Vec<ClusterServiceVersion>,
    groups: Vec<OperatorGroup>,
}

/// The answer for an operator of a cluster, named by its Subscription or package.
///
/// # Errors
/// There is no such operator, what is in its namespace cannot be read, or time runs out.
pub async fn in_cluster(
    cluster: &Cluster,
    home: &str,
    operator: &str,
    sources: &Sources,
) -> Result<Reasons> {
    let settings = cluster.settings(sources.olm_namespace.as_deref()).await?;
    let (visible, unread) = Visible::read(cluster, home, &settings).await?;
    let read = Read {
        subscriptions: listed(cluster, home).await.context("cannot read Subscriptions")?,
        csvs: cluster
            .csv_outlines(Some(home))
            .await
            .context("cannot read ClusterServiceVersions")?,
        groups: listed(cluster, home).await.unwrap_or_default(),
    };
    let flags = &sources.catalog;
    let mut catalogs = Catalogs::of_cluster(Access::of(cluster), &visible, flags).await?;
    catalogs.unread.extend(unread);
    answer(operator, home, &settings, &read, catalogs)
}

/// The answer by files alone.
///
/// # Errors
/// No file says what is in the namespace, or there is no such operator.
pub async fn offline(
    namespace: Option<&str>,
    operator: &str,
    sources: &Sources,
    notices: &Notices,
) -> Result<Reasons> {
    if sources.state.is_empty() {
        bail!("--offline needs --state: a file with what is in the namespace");
    }
    let home = namespace.unwrap_or("default");
    let (visible, known) = visible_offline(namespace, sources)?;
    let (flags, folders) = (&sources.catalog, Folders::default());
    let catalogs = Catalogs::of_flags(&visible, flags, &folders, notices).await?;
    let is_own = |home_: Option<&String>| home_.is_some_and(|found| found == home);
    let mut read = Read {
        subscriptions: known.typed(Subscription::KIND),
        csvs: known.typed(ClusterServiceVersion::KIND),
        groups: known.typed(OperatorGroup::KIND),
    };
    read.subscriptions.retain(|one| is_own(one.metadata.namespace.as_ref()));
    read.csvs.retain(|one| is_own(one.metadata.namespace.as_ref()));
    read.groups.retain(|one| is_own(one.metadata.namespace.as_ref()));
    answer(operator, home, &sources.settings(&known), &read, catalogs)
}

async fn listed<K>(cluster: &Cluster, home: &str) -> Result<Vec<K>>
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + serde::de::DeserializeOwned
        + fmt::Debug,
{
    cluster.list(&cluster.api(Some(home))).await
}

fn answer(
    operator: &str,
    home: &str,
    settings: &Settings,
    read: &Read,
    catalogs: Catalogs,
) -> Result<Reasons> {
    let found = why(&WhyInputs {
        namespace: home,
        operator,
        subscriptions: &read.subscriptions,
        csvs: &read.csvs,
        groups: &read.groups,
        universe: &catalogs.set,
        settings,
    })?;
    Ok(Reasons { why: found, unread: catalogs.unread })
}
