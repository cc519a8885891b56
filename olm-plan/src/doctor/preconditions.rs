//! What is looked at before OLM is installed, or takes over from another one.

use std::collections::BTreeSet;

use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase,
};
use serde_json::json;

use super::{Fix, Found, View, fix};
use crate::observed::{name, namespace};

/// Rights without which OLM cannot be installed.
pub(super) fn denied(view: &View<'_>) -> Vec<Found> {
    let found = view.observed.denied.iter().map(|what| {
        let evidence = format!("the user of this command may not {what}");
        let ask = "ask an administrator of the cluster to install OLM".to_owned();
        Found::of_cluster("User", "", evidence, Fix::AskTheAuthor(ask))
    });
    found.collect()
}

/// InstallPlans that are executed, and CSVs that are installed or replaced: a cluster at rest is easier to
/// judge.
pub(super) fn under_way(view: &View<'_>) -> Vec<Found> {
    let wait = || Fix::Wait("wait until it is done, or has failed".to_owned());
    let plans = view.observed.install_plans.iter();
    let plans = plans.filter(|plan| plan.phase() == InstallPlanPhase::Installing).map(|plan| {
        Found::of(InstallPlan::KIND, &plan.metadata, "it is Installing".to_owned(), wait())
    });
    let phases =
        [CsvPhase::InstallReady, CsvPhase::Installing, CsvPhase::Replacing, CsvPhase::Deleting];
    let csvs = view.csvs().filter(|csv| phases.contains(&csv.phase())).map(|csv| {
        let evidence = format!("it is {}", csv.phase().as_str());
        Found::of(ClusterServiceVersion::KIND, &csv.metadata, evidence, wait())
    });
    plans.chain(csvs).collect()
}

/// Catalogs in OLM's namespace whose Pods ask for more than the Pod security `restricted` allows, which the
/// manifests set there.
pub(super) fn legacy_pods(view: &View<'_>) -> Vec<Found> {
    let homes: BTreeSet<&str> =
        view.observed.olm_deployments.iter().map(|one| namespace(&one.metadata)).collect();
    let catalogs = view.observed.catalog_sources.iter().filter(|source| {
        let config = source.spec.grpc_pod_config.as_ref();
        let context = config.and_then(|config| config.security_context_config.as_deref());
        homes.contains(namespace(&source.metadata)) && context == Some("legacy")
    });
    let found = catalogs.map(|source| {
        let (home, own) = (namespace(&source.metadata), name(&source.metadata));
        let config = json!({"spec": {"grpcPodConfig": {"securityContextConfig": "restricted"}}});
        let evidence =
            "securityContextConfig is legacy, and its namespace is going to be restricted"
                .to_owned();
        let fix = fix::patch(home, "catalogsource", own, &config);
        Found::of(CatalogSource::KIND, &source.metadata, evidence, fix)
    });
    found.collect()
}
