//! `cleanup`: removes what `run bundle`, or operator-sdk's command of that name, has made.

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams};
use olm_client::catalogs::REGISTRY_POD;
use olm_client::cluster::{Cluster, one_namespace};
use olm_client::reading::Reading;
use olm_plan::observed::name;
use olm_plan::preview::{Action, Change, Operation, Preview, PreviewRequest};
use olm_types::api::{CatalogSource, ClusterServiceVersion, OperatorGroup, Subscription};
use olm_types::gvk::Gvk;

use super::super::act::{agreed, with_findings};
use super::super::plan::{outcome, show, verdict};
use super::super::uninstall::{delete, deleted_csvs, gone};
use super::objects::INJECTED;
use crate::Outcome;
use crate::args::{CleanupArgs, DryRun, Operands};
use crate::output::Output;
use crate::plan::in_cluster;

/// What goes beside the operator.
struct DevelopmentObjects {
    catalog: String,
    crds: Vec<String>,
    groups: Vec<String>,
}

/// Removes an operator that was run from a bundle.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &CleanupArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let (catalog, is_subscribed) = catalog(cluster, home, &asked.package).await?;
    if !is_subscribed {
        return catalog_alone(cluster, home, asked, &catalog, output).await;
    }
    let settings = cluster.settings(None).await?;
    let (wanted, now) =
        (Operation::Uninstall { operator: asked.package.clone() }, Timestamp::now());
    let question = PreviewRequest { namespace: home.to_owned(), settings, now, wanted };
    let preview = in_cluster(cluster, &question, &Reading::default()).await?;
    // With its CRDs all custom resources go.
    let operands = if asked.delete_all { Operands::Delete } else { Operands::Keep };
    show(&preview, operands, output)?;
    let beside = beside(cluster, home, asked, &preview, catalog).await?;
    output.progress(&beside.describe(&preview))?;
    verdict(&preview)?;
    if asked.acting.dry_run == DryRun::Client || !agreed(&asked.acting, &preview)? {
        return Ok(outcome(&preview));
    }
    let removed = remove(cluster, home, asked, &preview, &beside).await;
    with_findings(cluster, home, removed).await?;
    output.progress(&format!("{} is removed\n", asked.package))?;
    Ok(outcome(&preview))
}

/// The catalog of the package, which has to be one of an author's bundle.
async fn catalog(cluster: &Cluster, home: &str, package: &str) -> Result<(String, bool)> {
    let subscriptions: Vec<Subscription> = cluster.list(&cluster.api(Some(home))).await?;
    let subscription = subscriptions.iter().find(|one| one.spec.name == package);
    let source = match subscription {
        Some(found) if found.spec.source_namespace != home => {
            bail!(
                "{package} comes from a catalog of another namespace; `kubectl olm uninstall` removes it"
            )
        }
        Some(found) => found.spec.source.clone(),
        None => format!("{package}-catalog"),
    };
    let api: Api<CatalogSource> = cluster.api(Some(home));
    let found = cluster.answer(api.get_opt(&source)).await?;
    let found = found.with_context(|| format!("there is no CatalogSource {source}"))?;
    let annotations = found.metadata.annotations.unwrap_or_default();
    if ![REGISTRY_POD, INJECTED].iter().any(|key| annotations.contains_key(*key)) {
        bail!(
            "CatalogSource {source} was not made for a bundle; `kubectl olm uninstall {package}` removes it"
        );
    }
    Ok((source, subscription.is_some()))
}

/// What an earlier run has left that got no further.
async fn catalog_alone(
    cluster: &Cluster,
    home: &str,
    asked: &CleanupArgs,
    catalog: &str,
    output: Output,
) -> Result<Outcome> {
    let preview = of_catalog(home, &asked.package, catalog);
    show(&preview, Operands::Keep, output)?;
    if asked.acting.dry_run == DryRun::Client || !agreed(&asked.acting, &preview)? {
        return Ok(Outcome::Fine);
    }
    let dry_run = asked.acting.dry_run == DryRun::Server;
    let parameters = DeleteParams { dry_run, ..DeleteParams::default() };
    let sources: Api<CatalogSource> = cluster.api(Some(home));
    delete(cluster, &sources, catalog, &parameters).await?;
    output.progress(&format!("{} is removed\n", asked.package))?;
    Ok(Outcome::Fine)
}

/// The plan for a catalog to which no Subscription refers; its Pod goes with it.
fn of_catalog(home: &str, package: &str, catalog: &str) -> Preview {
    let gone = Change {
        action: Action::Delete,
        group: Gvk::from_api_version(CatalogSource::API_VERSION, "").group,
        kind: CatalogSource::KIND.to_owned(),
        namespace: home.to_owned(),
        name: catalog.to_owned(),
        fields: Vec::new(),
        contents: String::new(),
        not_checked: None,
    };
    let preview = Preview {
        action: "uninstall",
        namespace: home.to_owned(),
        package: package.to_owned(),
        changes: vec![gone],
        notes: vec![format!("no Subscription asks for {package}")],
        ..Preview::default()
    };
    preview.hashed()
}

async fn beside(
    cluster: &Cluster,
    home: &str,
    asked: &CleanupArgs,
    preview: &Preview,
    catalog: String,
) -> Result<DevelopmentObjects> {
    let mut beside = DevelopmentObjects { catalog, crds: Vec::new(), groups: Vec::new() };
    if !asked.delete_all {
        return Ok(beside);
    }
    beside.crds = preview.crds.iter().map(|crd| crd.name.clone()).collect();
    let others: Vec<Subscription> = cluster.list(&cluster.api(Some(home))).await?;
    let is_other = |one: &Subscription| name(&one.metadata) != preview.subscription;
    if !others.iter().any(is_other) {
        let groups: Vec<OperatorGroup> = cluster.list(&cluster.api(Some(home))).await?;
        beside.groups = groups.iter().map(|one| name(&one.metadata).to_owned()).collect();
    }
    Ok(beside)
}

impl DevelopmentObjects {
    fn describe(&self, preview: &Preview) -> String {
        let mut text = format!("Beside it CatalogSource {} with its Pod\n", self.catalog);
        for crd in &self.crds {
            let found = preview.crds.iter().find(|one| one.name == *crd);
            let count = found.and_then(|one| one.custom_resources);
            let count = count.map_or("all".to_owned(), |count| format!("all {count}"));
            text.push_str(&format!(
                "! CRD {crd}, and with it {count} custom resources of all namespaces\n"
            ));
        }
        self.groups.iter().for_each(|group| text.push_str(&format!("OperatorGroup {group}\n")));
        text
    }
}

async fn remove(
    cluster: &Cluster,
    home: &str,
    asked: &CleanupArgs,
    preview: &Preview,
    beside: &DevelopmentObjects,
) -> Result<()> {
    let dry_run = asked.acting.dry_run == DryRun::Server;
    let parameters = DeleteParams { dry_run, ..DeleteParams::default() };
    let limit = asked.acting.following.timeout;
    let subscriptions: Api<Subscription> = cluster.api(Some(home));
    delete(cluster, &subscriptions, &preview.subscription, &parameters).await?;
    // While the operator still runs, it can take its finalizers away.
    let crds: Api<CustomResourceDefinition> = Api::all(cluster.client.clone());
    for crd in &beside.crds {
        delete(cluster, &crds, crd, &parameters).await?;
    }
    for crd in beside.crds.iter().filter(|_| !dry_run) {
        gone(cluster, &crds, crd, limit).await?;
    }
    let csvs: Api<ClusterServiceVersion> = cluster.api(Some(home));
    for csv in deleted_csvs(preview) {
        delete(cluster, &csvs, &csv, &parameters).await?;
        if !dry_run && asked.acting.following.wait {
            gone(cluster, &csvs, &csv, limit).await?;
        }
    }
    let sources: Api<CatalogSource> = cluster.api(Some(home));
    delete(cluster, &sources, &beside.catalog, &parameters).await?;
    let groups: Api<OperatorGroup> = cluster.api(Some(home));
    for group in &beside.groups {
        delete(cluster, &groups, group, &parameters).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_alone_is_a_plan_with_a_hash() {
        let plan = of_catalog("ns", "urn", "urn-catalog");
        let text = crate::plan::describe(&plan, Operands::Keep);
        assert!(text.contains("  -   CatalogSource ns/urn-catalog\n"), "{text}");
        assert!(text.contains("no Subscription asks for urn"), "{text}");
        assert_ne!(plan.plan_hash, of_catalog("ns", "urn", "other").plan_hash);
    }
}
