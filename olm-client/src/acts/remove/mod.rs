//! The removal of an operator: custom resources where that is asked for, then the Subscription and its CSV.

mod report;

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams};
use olm_effect::Resource;
use olm_plan::preview::{Action, Preview};
use olm_types::api::{ClusterServiceVersion, Subscription};
use tokio::time::{Instant, sleep};

use super::{LOOK, NotInTime, Writing};
use crate::cluster::{Cluster, is_not_found};

pub use report::report;

/// What becomes of custom resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Operands {
    /// They stay
    Keep,
    /// Nothing is removed when there are any
    Abort,
    /// They are deleted first, in all namespaces, while the operator still runs
    Delete,
}

/// How an operator is removed.
#[derive(Clone, Copy, Debug)]
pub struct Removal<'a> {
    /// What becomes of custom resources.
    pub operands: Operands,
    /// Who writes, and whether.
    pub how: Writing<'a>,
    /// How long each object is waited for.
    pub limit: Duration,
    /// Whether the CSVs are waited for; custom resources are in any case.
    pub wait: bool,
}

/// Removes what a preview shows: custom resources where that is asked for, the Subscription, and then its CSVs.
///
/// # Errors
/// The API server refuses something, or something is not gone in time: [`NotInTime`].
pub async fn remove(cluster: &Cluster, preview: &Preview, removal: Removal<'_>) -> Result<()> {
    let (home, parameters) = (preview.namespace.as_str(), removal.how.delete());
    if removal.operands == Operands::Delete {
        delete_operands(cluster, preview, &parameters, removal.limit).await?;
    }
    let csvs = deleted_csvs(preview);
    let subscriptions: Api<Subscription> = cluster.api(Some(home));
    delete(cluster, &subscriptions, &preview.subscription, &parameters).await?;
    let api: Api<ClusterServiceVersion> = cluster.api(Some(home));
    for csv in &csvs {
        delete(cluster, &api, csv, &parameters).await?;
    }
    if removal.how.dry_run || !removal.wait {
        return Ok(());
    }
    for csv in &csvs {
        gone(cluster, &api, csv, removal.limit).await?;
    }
    Ok(())
}

/// Custom resources may be a reason to stop. Those that were not read may be as well.
///
/// # Errors
/// There are some, or they were not read.
pub fn check_operands(operands: Operands, preview: &Preview) -> Result<()> {
    if operands == Operands::Keep {
        return Ok(());
    }
    let uncounted = preview.crds.iter().find(|crd| crd.custom_resources.is_none());
    if let Some(crd) = uncounted {
        bail!("the custom resources of {} cannot be read; --operands=keep leaves them", crd.name);
    }
    ensure!(
        operands == Operands::Delete || preview.operands.is_empty(),
        "there are {} custom resources; --operands=keep leaves them, delete deletes them",
        preview.operands.len()
    );
    Ok(())
}

/// The CSVs that go.
#[must_use]
pub fn deleted_csvs(preview: &Preview) -> Vec<String> {
    let deleted = preview.changes.iter().filter(|change| {
        change.action == Action::Delete && change.kind == ClusterServiceVersion::KIND
    });
    deleted.map(|change| change.name.clone()).collect()
}

/// Deletes the custom resources while the operator still runs, so that it can take its finalizers away.
async fn delete_operands(
    cluster: &Cluster,
    preview: &Preview,
    parameters: &DeleteParams,
    limit: Duration,
) -> Result<()> {
    for crd in &preview.crds {
        let definitions: Api<CustomResourceDefinition> = Api::all(cluster.client.clone());
        let Some(found) = cluster.answer(definitions.get_opt(&crd.name)).await? else { continue };
        let Some(version) = found.spec.versions.iter().find(|version| version.storage) else {
            continue;
        };
        let (group, names) = (&found.spec.group, &found.spec.names);
        let kind = Resource::new(group, &version.name, &names.kind, &names.plural);
        let objects = cluster.list(&cluster.objects(&kind, None)).await?;
        for object in &objects {
            let name = object.metadata.name.clone().unwrap_or_default();
            let api = cluster.objects(&kind, object.metadata.namespace.as_deref());
            delete(cluster, &api, &name, parameters).await?;
        }
        if parameters.dry_run {
            continue;
        }
        for object in &objects {
            let name = object.metadata.name.clone().unwrap_or_default();
            let api = cluster.objects(&kind, object.metadata.namespace.as_deref());
            let waited = gone(cluster, &api, &name, limit).await;
            waited.with_context(|| format!("the operator was not removed; {name} is left"))?;
        }
    }
    Ok(())
}

/// Deletes an object; one that is gone already is no error.
///
/// # Errors
/// The API server refuses it, or does not answer.
pub async fn delete<K>(
    cluster: &Cluster,
    api: &Api<K>,
    name: &str,
    parameters: &DeleteParams,
) -> Result<()>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    match cluster.answer(api.delete(name, parameters)).await {
        Ok(_) => Ok(()),
        Err(error) if is_not_found(&error) => Ok(()),
        Err(error) => Err(error.context(format!("cannot delete {name}"))),
    }
}

/// Waits until an object is gone.
///
/// # Errors
/// Time runs out: [`NotInTime`], or the object cannot be read.
pub async fn gone<K>(cluster: &Cluster, api: &Api<K>, name: &str, limit: Duration) -> Result<()>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let deadline = Instant::now() + limit;
    while let Some(found) = cluster.answer(api.get_opt(name)).await? {
        if Instant::now() >= deadline {
            let finalizers = found.meta().finalizers.clone().unwrap_or_default();
            let what = format!("{name} is not gone (finalizers: {})", finalizers.join(", "));
            return Err(NotInTime::new(&what, limit).into());
        }
        sleep(LOOK).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use olm_plan::preview::CrdVerdict;
    use rstest::rstest;

    use super::*;

    fn preview(counted: Option<usize>) -> Preview {
        let crd = CrdVerdict {
            name: "kettles.example.com".to_owned(),
            verdict: "stays",
            detail: String::new(),
            custom_resources: counted,
        };
        let operands = counted.into_iter().flat_map(|count| 0..count);
        let operands = operands.map(|number| format!("Kettle ns/{number}")).collect();
        Preview { crds: vec![crd], operands, ..Preview::default() }
    }

    #[rstest]
    #[case::kept(Operands::Keep, Some(2), None)]
    #[case::kept_unread(Operands::Keep, None, None)]
    #[case::none(Operands::Abort, Some(0), None)]
    #[case::some(Operands::Abort, Some(2), Some("there are 2 custom resources"))]
    #[case::unread(Operands::Abort, None, Some("kettles.example.com cannot be read"))]
    #[case::deleted(Operands::Delete, Some(2), None)]
    #[case::deleted_unread(Operands::Delete, None, Some("kettles.example.com cannot be read"))]
    fn custom_resources_may_be_a_reason_to_stop(
        #[case] operands: Operands,
        #[case] counted: Option<usize>,
        #[case] expected: Option<&str>,
    ) {
        let checked = check_operands(operands, &preview(counted));
        match (checked, expected) {
            (Ok(()), None) => {}
            (Err(error), Some(text)) => assert!(error.to_string().contains(text), "{error}"),
            (found, _) => panic!("{found:?}, not {expected:?}"),
        }
    }
}
