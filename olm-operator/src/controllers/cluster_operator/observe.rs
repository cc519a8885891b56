//! Gathers what a ClusterOperator says. Decides nothing.

use std::sync::Arc;

use olm_lifecycle::cluster_operator::{OlmReport, PackageServerReport};
use olm_opgroup::TenantPolicy;
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::CLUSTER_OPERATOR_NAME;
use serde_json::Value;

use super::Report;
use crate::stores::Stores;

/// What OLM says of itself.
pub fn olm(stores: &Stores, report: &Report, live: Option<Value>) -> OlmReport {
    OlmReport {
        name: report.names.olm.clone(),
        live,
        csvs: stores.csvs.list(),
        namespace: report.namespace.clone(),
        has_worked: report.has_worked(),
        release: report.release.clone(),
        olm_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the CSVs of the package server say: those that are labelled, as in v0; under the strict
/// policy those in OLM's namespace, since every user may label his own.
pub fn package_server(
    stores: &Stores,
    report: &Report,
    live: Option<Value>,
) -> PackageServerReport {
    let name = report.names.package_server.clone();
    let is_labelled = |csv: &ClusterServiceVersion| {
        let labels = csv.metadata.labels.as_ref();
        let is_ours = csv.metadata.namespace.as_ref() == Some(&report.namespace);
        (stores.policy == TenantPolicy::V0 || is_ours)
            && labels.and_then(|labels| labels.get(CLUSTER_OPERATOR_NAME)) == Some(&name)
    };
    let csvs: Vec<Arc<ClusterServiceVersion>> = stores.csvs.list_where(is_labelled);
    PackageServerReport { name: name.clone(), live, csvs, release: report.release.clone() }
}

#[cfg(test)]
mod tests {
    use olm_kit::watch::Store;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::controllers::cluster_operator::Names;

    #[rstest]
    #[case::as_in_v0(TenantPolicy::V0, &["olm", "tenant"])]
    #[case::a_tenant_reports_nothing(TenantPolicy::Strict, &["olm"])]
    fn who_reports_of_the_package_server(#[case] policy: TenantPolicy, #[case] expected: &[&str]) {
        let csv = |namespace: &str| {
            let labels = json!({CLUSTER_OPERATOR_NAME: "packages"});
            let metadata =
                json!({"name": "packageserver", "namespace": namespace, "labels": labels});
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap()
        };
        let csvs = Store::with_objects([csv("olm"), csv("tenant")]);
        let stores = Stores { csvs, policy, ..Stores::default() };
        let names = Names { package_server: "packages".to_owned(), ..Names::default() };
        let reported = package_server(&stores, &Report::new(names, "olm"), None).csvs;
        let reported: Vec<_> =
            reported.iter().filter_map(|csv| csv.metadata.namespace.as_deref()).collect();
        assert_eq!(reported, expected);
    }
}
